use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", wait_jitter = 120)]
fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
