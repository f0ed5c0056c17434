use std::future::Future;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query")]
async fn query() -> impl Future<Output = Result<u32, Error>> {
    async { Ok(1) }
}

fn main() {}
