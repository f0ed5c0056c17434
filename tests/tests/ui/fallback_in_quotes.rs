use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", fallback = "stale::price")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "sentence", fallback = "a stale price")]
fn sentence() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
