use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

use std::future::Ready;

type Reply<T> = Ready<Result<T, Error>>;

#[circuit_breaker(name = "query", fallback = cached)]
fn query() -> Reply<u32> {
    std::future::ready(Ok(1))
}

fn cached() -> Reply<u32> {
    std::future::ready(Ok(0))
}

fn main() {}
