use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

use std::future::Future;
use std::pin::Pin;

#[circuit_breaker(name = "query")]
fn query() -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
    Box::pin(async { Ok(1) })
}

fn main() {}
