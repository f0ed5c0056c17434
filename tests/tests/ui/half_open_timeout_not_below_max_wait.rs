use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", half_open_timeout = "20s", half_open_max_wait = "20s")]
async fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
