use cb_runtime::circuit_breaker;

struct Request {
    host: String,
}

#[circuit_breaker(name = "query", key = host)]
fn query(Request { host }: &Request) -> Result<u32, cb_runtime::CallError<()>> {
    let _ = host;
    Ok(1)
}

fn main() {}
