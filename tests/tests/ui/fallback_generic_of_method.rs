use cb_runtime::circuit_breaker;

struct Shop;

impl Shop {
    #[circuit_breaker(name = "query", fallback = none)]
    fn query(&self, id: u32) -> Option<u32> {
        Some(id)
    }
}

fn none<T, U>(_: T, _: U) -> Option<u32> {
    None
}

fn main() {}
