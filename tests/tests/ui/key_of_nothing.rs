use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", key = hots)]
fn query(host: &str) -> Result<u32, cb_runtime::CallError<()>> {
    let _ = host;
    Ok(1)
}

fn main() {}
