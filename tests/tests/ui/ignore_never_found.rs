use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

struct NotAnError;

#[circuit_breaker(name = "query", ignore = NotAnError)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
