use cb_runtime::circuit_breaker;

struct ApiError;

#[circuit_breaker(name = "query")]
fn query() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {}
