use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

fn is_business(error: &str) -> bool {
    error.is_empty()
}

#[circuit_breaker(name = "query", ignore = is_business)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
