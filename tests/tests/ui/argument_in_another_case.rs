use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", min-calls = 20, halfOpenCalls = 3, wiat-max = "1m")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
