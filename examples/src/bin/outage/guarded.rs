//! The functions under test: the same calls, each behind a breaker.

use cb_runtime::{CallNotPermitted, circuit_breaker};
use hyper::Uri;
use ureq::Agent;

use crate::api::{ApiError, BusinessError, Stock};
use crate::client::{AsyncClient, get_async, get_blocking};
use crate::policy::{HALF_OPEN_CALLS, MIN_CALLS, SLOW, TIMEOUT, WAIT, WINDOW};

pub(crate) const BLOCKING: &str = "stock.blocking";
pub(crate) const ASYNC: &str = "stock.async";

/// Blocking, and a rejected caller gets what the cache knows.
#[circuit_breaker(
    name = "stock.blocking",
    window = WINDOW,
    min_calls = MIN_CALLS,
    slow = SLOW,
    ignore = ApiError::Business,
    wait = WAIT,
    half_open_calls = HALF_OPEN_CALLS,
    fallback = cached_stock,
)]
pub(crate) fn query_blocking(agent: &Agent, uri: &Uri) -> Result<Stock, ApiError> {
    get_blocking(agent, uri)
}

fn cached_stock(_: &Agent, _: &Uri, _why: CallNotPermitted) -> Result<Stock, ApiError> {
    Ok(Stock {
        pieces: 11,
        cached: true,
    })
}

/// Async, and a rejected caller gets an error that says when to come back. `BusinessError` is in
/// the error's source chain.
#[circuit_breaker(
    name = "stock.async",
    window = WINDOW,
    min_calls = MIN_CALLS,
    slow = SLOW,
    timeout = TIMEOUT,
    ignore = BusinessError,
    wait = WAIT,
    half_open_calls = HALF_OPEN_CALLS,
)]
pub(crate) async fn query_async(client: &AsyncClient, uri: &Uri) -> Result<Stock, ApiError> {
    get_async(client, uri).await
}
