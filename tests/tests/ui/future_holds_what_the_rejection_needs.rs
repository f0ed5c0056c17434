use std::future::Future;

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", fallback = cached)]
fn query(list: &mut Vec<u32>) -> impl Future<Output = Result<u32, Error>> {
    list.push(1);
    async move { Ok(list[0]) }
}

fn cached(_: &mut Vec<u32>) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
