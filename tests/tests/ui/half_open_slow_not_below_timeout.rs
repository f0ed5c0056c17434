use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", slow = "5s", half_open_slow = "2s", half_open_timeout = "2s")]
async fn query() -> Result<u32, cb_runtime::CallError<()>> {
    Ok(1)
}

fn main() {}
