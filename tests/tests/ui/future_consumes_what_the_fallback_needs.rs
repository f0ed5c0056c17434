use std::future::Future;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

struct Request;

#[circuit_breaker(name = "query", fallback = cached)]
fn query(request: Request) -> impl Future<Output = Result<u32, Error>> {
    send(request)
}

async fn send(_: Request) -> Result<u32, Error> {
    Ok(1)
}

fn cached(_: Request) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
