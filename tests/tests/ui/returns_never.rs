use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = query)]
fn query() -> ! {
    loop {}
}

fn main() {}
