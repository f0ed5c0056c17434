use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", half_open_failures = 2, half_open_failure_rate = 60)]
fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
