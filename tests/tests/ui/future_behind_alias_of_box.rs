use std::future::Future;
use std::pin::Pin;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;
type Reply<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

#[circuit_breaker(name = "query")]
fn query() -> Reply<u32> {
    Box::pin(async { Ok(1) })
}

fn main() {}
