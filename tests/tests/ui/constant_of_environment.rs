use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", min_calls = std::env::var("MIN_CALLS").unwrap().parse().unwrap())]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
