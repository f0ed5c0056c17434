use cb_runtime::circuit_breaker;

struct Shop;
struct ApiError;

impl Shop {
    #[circuit_breaker(name = "query", fallback = Self::cached)]
    fn query(&self, id: u32) -> Result<String, ApiError> {
        Ok(id.to_string())
    }

    fn cached(&self, _: u64) -> Result<String, ApiError> {
        Err(ApiError)
    }
}

fn main() {}
