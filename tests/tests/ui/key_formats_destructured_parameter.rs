use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", key = format!("{host}:{port:>5}"))]
fn query((host, port): (&str, u16)) -> Result<u32, cb_runtime::CallError<()>> {
    let _ = (host, port);
    Ok(1)
}

fn main() {}
