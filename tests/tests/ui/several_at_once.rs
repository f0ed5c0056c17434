use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(
    min_call = 20,
    window = 50,
    min_calls = 100,
    failure_rate = 0.5,
    slow_rate = 200,
    wait = 5,
    timeout = "2s",
    mode = "disable",
    fallback_on = "failure"
)]
fn query() -> Result<u32, Error> {
    Ok(1)
}

// The function is still there, so this is no error.
#[allow(dead_code)]
fn caller() -> Result<u32, Error> {
    query()
}

fn main() {}
