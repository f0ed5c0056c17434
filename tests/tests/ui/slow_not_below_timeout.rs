use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", slow = "2s", timeout = "2s")]
async fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
