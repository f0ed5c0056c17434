use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query")]
fn query<E>() -> Result<u32, E> {
    Ok(1)
}

#[circuit_breaker(name = "later", timeout = "1s")]
async fn later<E>() -> Result<u32, E> {
    Ok(1)
}

fn main() {}
