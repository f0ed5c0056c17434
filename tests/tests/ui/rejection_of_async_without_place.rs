//! One message, although more than one part of the guard needs it.

use cb_runtime::circuit_breaker;

#[derive(Debug)]
struct ApiError;

#[circuit_breaker(name = "api")]
async fn query() -> Result<u32, ApiError> {
    Err(ApiError)
}

#[circuit_breaker(name = "api.plain")]
async fn plain() -> u32 {
    1
}

#[circuit_breaker(name = "api.handle")]
async fn handle() -> std::future::Ready<u32> {
    std::future::ready(1)
}

fn main() {
    let _ = (query(), plain(), handle());
}
