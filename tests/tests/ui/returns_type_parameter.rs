use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = cached)]
fn query<T: Default>() -> T {
    T::default()
}

fn cached<T: Default>() -> T {
    T::default()
}

fn main() {}
