use cb_runtime::circuit_breaker;
use tokio::task::JoinHandle;

#[circuit_breaker(name = "query", fallback = cached)]
fn query() -> JoinHandle<u32> {
    tokio::spawn(async { 1 })
}

fn cached() -> JoinHandle<u32> {
    tokio::spawn(async { 0 })
}

fn main() {}
