use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

const WAIT: u32 = 5;

#[circuit_breaker(name = "query", wait = WAIT)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
