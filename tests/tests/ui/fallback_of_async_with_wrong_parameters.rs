use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = cached)]
async fn query(id: u32) -> Result<String, ApiError> {
    Ok(id.to_string())
}

struct ApiError;

async fn cached() -> Result<String, ApiError> {
    Err(ApiError)
}

fn main() {}
