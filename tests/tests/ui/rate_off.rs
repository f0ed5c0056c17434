use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", failure_rate = off, slow_rate = off)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
