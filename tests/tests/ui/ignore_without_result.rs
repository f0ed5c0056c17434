use cb_runtime::circuit_breaker;

struct BusinessError;

#[circuit_breaker(name = "query", ignore = BusinessError, fallback = cached)]
fn query() -> u32 {
    1
}

fn cached() -> u32 {
    0
}

fn main() {}
