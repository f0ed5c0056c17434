//! What the messages about fallbacks say to write, written. Each breaker is named after the mistake.

use cb_runtime::{CallError, CallNotPermitted, TimedOut, circuit_breaker};

type Error = CallError<()>;

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

#[circuit_breaker(name = "rejection_without_place")]
fn call_error() -> Result<u32, CallError<String>> {
    Err(CallError::Failed("text".into()))
}

#[circuit_breaker(name = "rejection_of_async_without_place")]
async fn error_carries_to_async() -> Result<u32, ApiError> {
    Ok(1)
}

#[circuit_breaker(name = "timeout_without_place", timeout = "2s")]
async fn error_carries_timeout() -> Result<u32, ApiError> {
    Ok(1)
}

#[circuit_breaker(name = "rejection_of_parameter_without_place")]
fn parameter_carries<E: From<CallNotPermitted>>() -> Result<u32, E> {
    Ok(1)
}

#[circuit_breaker(name = "rejection_of_parameter_without_place", timeout = "1s")]
async fn parameter_carries_timeout<E>() -> Result<u32, E>
where
    E: From<CallNotPermitted> + From<TimedOut>,
{
    Ok(1)
}

#[circuit_breaker(name = "rejection_of_foreign_type_without_place")]
async fn read() -> Result<u32, CallError<std::io::Error>> {
    Ok(1)
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

fn cached(_: u32) -> Result<String, Error> {
    Ok(String::new())
}

fn cached_because(_: u32, why: CallNotPermitted) -> Result<String, Error> {
    Ok(why.to_string())
}

async fn cached_later(_: u32) -> Result<String, Error> {
    Ok(String::new())
}

#[circuit_breaker(name = "fallback_async_for_sync", fallback = cached)]
fn sync_for_sync(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_called", fallback = cached)]
fn not_called(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

mod stale {
    pub fn price(_: u32) -> Result<String, super::Error> {
        Ok(String::new())
    }
}

#[circuit_breaker(
    name = "fallback_for_rejections_with_reason_of_failures",
    fallback = rescue,
    fallback_on = "failure"
)]
fn rescued_by(id: u32) -> Result<String, String> {
    Ok(id.to_string())
}

fn rescue(_: u32, _: CallError<String>) -> Result<String, String> {
    Ok(String::new())
}

#[circuit_breaker(name = "fallback_in_quotes", fallback = stale::price)]
fn not_in_quotes(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_itself", fallback = cached)]
fn another(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

struct Client;

impl Client {
    const MIN: u32 = 20;

    #[circuit_breaker(name = "fallback_itself_as_method", fallback = Self::cached)]
    fn query(&self) -> Result<String, Error> {
        Ok("fresh".into())
    }

    #[circuit_breaker(name = "constant_of_self", min_calls = Client::MIN)]
    fn cached(&self) -> Result<String, Error> {
        Ok("cached".into())
    }
}

#[circuit_breaker(name = "fallback_of_async_with_wrong_parameters", fallback = cached_later)]
async fn same_parameters_async(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_on_without_fallback", fallback_on = "rejected", fallback = cached)]
fn with_fallback(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_unknown", fallback = self::cached)]
fn known(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_with_wrong_parameter", fallback = cached)]
fn same_parameter(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_with_wrong_reason", fallback = cached_because)]
fn right_reason(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "fallback_with_wrong_return", fallback = cached)]
fn same_return(id: u32) -> Result<String, Error> {
    Ok(id.to_string())
}

#[circuit_breaker(name = "parameters_too_many_for_fallback", fallback = last_of)]
fn twelve(
    _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, last: u8,
) -> u8 {
    last
}

#[rustfmt::skip]
#[allow(clippy::too_many_arguments)]
fn last_of(
    _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, _: u8, last: u8,
    _: CallNotPermitted,
) -> u8 {
    last
}

struct Shop;

impl Shop {
    #[circuit_breaker(name = "fallback_behind_self", fallback = Self::cached)]
    fn by_path(&self) -> u32 {
        1
    }

    #[circuit_breaker(name = "fallback_method_without_self", fallback = Self::cached)]
    fn query(&self) -> u32 {
        1
    }

    fn cached(&self) -> u32 {
        0
    }

    #[circuit_breaker(name = "fallback_of_method_with_wrong_parameters", fallback = Self::none)]
    fn find(&self, id: u32) -> Option<u32> {
        Some(id)
    }

    fn none(&self, _: u32) -> Option<u32> {
        None
    }

    #[circuit_breaker(name = "fallback_generic_of_method", fallback = generic::<&Self, u32>)]
    fn find_generic(&self, id: u32) -> Option<u32> {
        Some(id)
    }
}

fn generic<T, U>(_: T, _: U) -> Option<u32> {
    None
}

fn main() {
    let _ = (error_carries(), call_error(), error_carries_timeout(), option(), number());
    let _ = (parameter_carries::<Error>(), parameter_carries_timeout::<Error>(), read());
    unit();
    let _ = (consumes(Request), sync_for_sync(1), not_called(1), another(1), with_fallback(1));
    let _ = (same_parameters_async(1), known(1), same_parameter(1), right_reason(1), same_return(1));
    let _ = (twelve(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), Shop.query(), Shop.find(1));
    let _ = (Shop.find_generic(1), Client.query(), Client.cached());
}
