use std::future::Future;
use std::pin::Pin;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

trait Service {
    type Future: Future<Output = Result<u32, Error>>;
    fn call(&mut self) -> Self::Future;
}

struct Client;

impl Service for Client {
    type Future = Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>>;

    #[circuit_breaker(name = "query")]
    fn call(&mut self) -> Self::Future {
        Box::pin(async { Ok(1) })
    }
}

fn main() {}
