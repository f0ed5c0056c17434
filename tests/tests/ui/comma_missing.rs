use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query" min_calls = 5 window = 20 wait = 5)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(
    name = "lines",
    ignore = Ignored
    fallback = cached
)]
fn lines() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
