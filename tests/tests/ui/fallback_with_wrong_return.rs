use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = cached)]
fn query(id: u32) -> Result<String, ApiError> {
    Ok(id.to_string())
}

struct ApiError;

fn cached(_: u32) -> Option<String> {
    None
}

fn main() {}
