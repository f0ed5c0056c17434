use std::future::Future;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query")]
fn query() -> Box<dyn Future<Output = Result<u32, Error>> + Unpin> {
    Box::new(std::future::ready(Ok(1)))
}

fn main() {}
