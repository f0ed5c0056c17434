use cb_runtime::circuit_breaker;

struct Host(u32);

#[circuit_breaker(name = "query", key = host)]
fn query(host: &Host) -> Result<u32, cb_runtime::CallError<()>> {
    let _ = host.0;
    Ok(1)
}

fn main() {}
