use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", min_calls = 2k)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
