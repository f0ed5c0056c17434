use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", ignore = BusinessError, fallback = cached)]
fn query() {}

fn cached() {}

fn main() {}
