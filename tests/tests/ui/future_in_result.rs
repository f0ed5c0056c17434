use std::future::Future;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query")]
fn query() -> Result<impl Future<Output = u32>, Error> {
    Ok(async { 1 })
}

fn main() {}
