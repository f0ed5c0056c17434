use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", auto_half_open = "yes")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
