use cb_runtime::circuit_breaker;

struct Shop;

impl Shop {
    #[circuit_breaker(name = "query", fallback = cached)]
    fn query(&self) -> u32 {
        1
    }

    fn cached(&self) -> u32 {
        0
    }
}

fn main() {}
