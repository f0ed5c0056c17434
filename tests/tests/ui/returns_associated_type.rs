use cb_runtime::circuit_breaker;

trait Service {
    type Reply: Default;

    #[circuit_breaker(name = "query", fallback = Self::cached)]
    fn query(&self) -> Self::Reply {
        Self::Reply::default()
    }

    fn cached(&self) -> Self::Reply {
        Self::Reply::default()
    }
}

fn main() {}
