use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query")]
fn query() -> Result<u32, String> {
    Ok(1)
}

#[circuit_breaker(name = "read")]
async fn read() -> std::io::Result<u32> {
    Ok(1)
}

fn main() {}
