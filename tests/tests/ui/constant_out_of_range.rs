use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

const MIN: u32 = 0;

#[circuit_breaker(name = "query", min_calls = MIN)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
