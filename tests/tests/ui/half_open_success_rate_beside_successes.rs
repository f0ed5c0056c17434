use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", half_open_successes = 2, half_open_success_rate = 60)]
fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
