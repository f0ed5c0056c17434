use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

use std::future::Future;

#[circuit_breaker(name = "query")]
fn query() -> impl Future<Output = Result<u32, Error>> {
    async { Ok(1) }
}

fn main() {}
