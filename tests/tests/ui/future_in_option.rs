use std::future::Future;

use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = cached)]
fn query() -> Option<impl Future<Output = u32>> {
    Some(async { 1 })
}

fn cached() -> Option<std::future::Ready<u32>> {
    None
}

fn main() {}
