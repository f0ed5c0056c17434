use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", window = 50, min_calls = 100)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
