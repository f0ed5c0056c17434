//! What the messages say to write, done.

use cb_runtime::{CallError, CallNotPermitted, TimedOut, circuit_breaker};

struct ApiError;

impl From<CallNotPermitted> for ApiError {
    fn from(_: CallNotPermitted) -> Self {
        Self
    }
}

impl From<TimedOut> for ApiError {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

#[circuit_breaker(name = "rejection_without_place")]
fn error_carries() -> Result<u32, ApiError> {
    Ok(1)
}

#[circuit_breaker(name = "timeout_without_place", timeout = "2s")]
async fn error_carries_timeout() -> Result<u32, ApiError> {
    Ok(1)
}

#[circuit_breaker(name = "call_error")]
fn call_error() -> Result<u32, CallError<String>> {
    Err(CallError::Failed("text".into()))
}

#[circuit_breaker(name = "no_result_without_fallback", fallback = none)]
fn option() -> Option<u32> {
    Some(1)
}

fn none() -> Option<u32> {
    None
}

#[circuit_breaker(name = "nothing_returned_without_fallback", fallback = nothing)]
fn unit() {}

fn nothing(why: CallNotPermitted) {
    let _ = why.retry_after();
}

#[circuit_breaker(name = "timeout_without_result", timeout = "2s", fallback = zero, fallback_on = "failure")]
async fn number() -> u32 {
    1
}

fn zero() -> u32 {
    0
}

#[circuit_breaker(name = "returns_type_parameter", failure_if = |_| false, fallback = T::default)]
fn generic<T: Default>() -> T {
    T::default()
}

#[derive(Clone)]
struct Request;

#[circuit_breaker(name = "failure_fallback_needs_clone", fallback = rescued, fallback_on = "failure")]
fn consumes(request: Request) -> Result<u32, String> {
    drop(request);
    Ok(1)
}

fn rescued(_: Request, why: CallError<String>) -> Result<u32, String> {
    match why {
        CallError::Failed(error) => Err(error),
        _ => Ok(0),
    }
}

#[circuit_breaker(name = "slow_rate_without_slow", base = "slow", slow_rate = 80)]
fn template_may_have_it() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {
    let _ = (error_carries(), error_carries_timeout(), call_error(), option(), number());
    unit();
    let _: (u32, _, _) = (generic(), consumes(Request), template_may_have_it());
}
