use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", window = 50, failure_count = 51)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
