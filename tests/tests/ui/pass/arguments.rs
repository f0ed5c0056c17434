//! Every argument, as literals and as constants.

use std::time::Duration;

use cb_runtime::{CallError, CallNotPermitted, circuit_breaker};

mod limits {
    pub const MIN: u32 = 20;
    pub const RATE: f64 = 33.3;
}

#[derive(Debug)]
struct BusinessError;

impl std::fmt::Display for BusinessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("business")
    }
}

impl std::error::Error for BusinessError {}

#[circuit_breaker(
    name = "literals",
    base = "resilience4j",
    window = 100,
    min_calls = 20,
    failure_rate = 33.3,
    slow = "1.5s",
    slow_rate = "80%",
    failure_count = 50,
    consecutive_failures = off,
    ignore = [BusinessError, type(std::io::Error), |error| error.is::<std::fmt::Error>()],
    record = std::num::ParseIntError,
    failure_if = |text| text.is_empty(),
    on_cancel = "ignore",
    timeout = "2s",
    wait = "1m 30s",
    wait_multiplier = 1.5,
    wait_max = "10m",
    auto_half_open = true,
    half_open_calls = 3,
    half_open_max_wait = "1h",
    half_open_max_wait_state = "open",
    fallback = cached,
    fallback_on = "failure",
    mode = "metrics_only",
    crate = ::cb_runtime,
)]
async fn literals() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    Ok(String::new())
}

type Reason = CallError<Box<dyn std::error::Error + Send + Sync>>;

async fn cached(why: Reason) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    Err(why.to_string().into())
}

#[circuit_breaker(
    name = "constants",
    window = Duration::from_secs(60),
    buckets = limits::MIN / 2,
    min_calls = limits::MIN,
    failure_rate = limits::RATE,
    slow_rate = limits::MIN,
    slow = Duration::from_millis(1500),
    auto_half_open = cfg!(test),
    wait = { Duration::from_secs(5) },
)]
fn constants() -> Result<u32, CallNotPermitted> {
    Ok(1)
}

#[circuit_breaker(name = "off", slow = off, failure_count = off, timeout = off, wait_max = off,
    half_open_max_wait = off, window = "30s")]
fn off() -> Result<u32, CallNotPermitted> {
    Ok(1)
}

fn main() {
    constants().unwrap();
    off().unwrap();
    drop(literals());
}
