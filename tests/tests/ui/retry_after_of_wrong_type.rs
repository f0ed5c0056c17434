use cb_runtime::{CallError, circuit_breaker};

fn seconds(_: &Result<u32, CallError<()>>) -> Option<u64> {
    Some(5)
}

#[circuit_breaker(name = "query", retry_after = seconds)]
fn query() -> Result<u32, CallError<()>> {
    Ok(1)
}

fn main() {}
