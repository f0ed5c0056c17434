use cb_runtime::circuit_breaker;

#[circuit_breaker(name = "query", fallback = cached)]
fn query(
    _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, last: u8,
) -> u8 {
    last
}

fn main() {}
