use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", failure_rate = "inf%")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
