use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", key = host.ok_or(cb_runtime::CallError::Failed(()))?)]
fn query(host: Option<&str>) -> Result<u32, Error> {
    let _ = host;
    Ok(1)
}

fn main() {}
