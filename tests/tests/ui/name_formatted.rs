use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = format!("query.{host}"))]
fn query(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

fn main() {}
