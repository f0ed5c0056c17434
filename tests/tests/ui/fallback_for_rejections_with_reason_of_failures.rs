use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", fallback = cached)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn cached(_: cb_runtime::CallError<Error>) -> Result<u32, Error> {
    Ok(0)
}

fn main() {}
