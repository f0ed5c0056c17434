use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query")]
fn query() -> Option<u32> {
    Some(1)
}

fn main() {}
