use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query")]
struct Query;

fn main() {}
