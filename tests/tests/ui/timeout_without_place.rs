use cb_runtime::circuit_breaker;

struct ApiError;

impl From<cb_runtime::CallNotPermitted> for ApiError {
    fn from(_: cb_runtime::CallNotPermitted) -> Self {
        Self
    }
}

#[circuit_breaker(name = "query", timeout = "2s")]
async fn query() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {}
