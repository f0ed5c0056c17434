use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query")]
fn query() {}

fn main() {}
