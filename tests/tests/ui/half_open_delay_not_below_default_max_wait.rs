use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", half_open_delay = "40s")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
