use cb_runtime::circuit_breaker;

struct Request;

#[circuit_breaker(name = "query", fallback = cached, fallback_on = "failure")]
fn query(request: Request) -> Result<u32, ()> {
    drop(request);
    Err(())
}

fn cached(_: Request) -> Result<u32, ()> {
    Ok(0)
}

fn main() {}
