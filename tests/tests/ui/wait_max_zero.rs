use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", base = "resilience4j", wait_max = "0s")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
