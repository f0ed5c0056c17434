use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(name = "query", window = 30s, min_calls = 20u32, wait = 500ms)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
