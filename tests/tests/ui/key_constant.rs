use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", key = "eu")]
fn query(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

#[circuit_breaker(name = "number", key = 1)]
fn number(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

fn main() {}
