use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", timeout = "2s", fallback = cached)]
async fn query() -> u32 {
    1
}

fn cached() -> u32 {
    0
}

fn main() {}
