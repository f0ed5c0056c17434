use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

const CALLS: u32 = 100;

#[circuit_breaker(name = "query", window = CALLS, buckets = 10)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
