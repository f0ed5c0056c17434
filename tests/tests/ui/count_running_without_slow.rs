use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", count_running = true)]
fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
