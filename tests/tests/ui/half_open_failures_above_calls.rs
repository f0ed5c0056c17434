use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", half_open_failures = 6)]
fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
