//! Failures that are answered by a fallback, and values that are failures.

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker};

use crate::{ApiError, Bare, now};

#[circuit_breaker(name = "free.failure", fallback = rescued, fallback_on = "failure", ignore = is_two)]
async fn rescue(kept: String, mut count: u32, _: Vec<u8>) -> Result<String, Bare> {
    count += 1;
    if count == 1 {
        Ok(kept)
    } else {
        Err(Bare(count))
    }
}

fn is_two(error: &Bare) -> bool {
    error.0 == 2
}

async fn rescued(
    kept: String,
    count: u32,
    bytes: Vec<u8>,
    why: CallError<Bare>,
) -> Result<String, Bare> {
    Ok(format!("{kept} {count} {} {why:?}", bytes.len()))
}

#[test]
fn a_failure_fallback_answers_failures_and_rejections_but_not_ignored_errors() {
    let scope = Scope::new();
    let call = |count| now(rescue("text".into(), count, vec![1, 2]));
    assert_eq!(call(0).unwrap(), "text");
    assert_eq!(call(1), Err(Bare(2)));
    assert_eq!(call(5).unwrap(), "text 5 2 Failed(Bare(6))");
    let breaker = scope.breaker("free.failure");
    assert_eq!(
        (breaker.snapshot().calls, breaker.snapshot().failed),
        (2, 1)
    );
    breaker.force_open();
    assert!(call(0).unwrap().starts_with("text 0 2 NotPermitted"));
}

#[circuit_breaker(name = "free.value", failure_if = |code| *code >= 500, fallback = zero, fallback_on = "failure")]
fn status(code: u16) -> u16 {
    code
}

fn zero(_: u16, why: CallError<std::convert::Infallible>) -> u16 {
    u16::from(!matches!(why, CallError::FailedValue))
}

#[circuit_breaker(name = "free.ok_value", failure_if = u16_is_bad)]
fn ok_status(code: u16) -> Result<u16, ApiError> {
    Ok(code)
}

fn u16_is_bad(code: &u16) -> bool {
    *code >= 500
}

#[test]
fn a_value_can_be_a_failure() {
    let scope = Scope::new();
    assert_eq!((status(200), status(503)), (200, 0));
    let failed = |name| scope.breaker(name).snapshot().failed;
    assert_eq!(failed("free.value"), 1);
    scope.breaker("free.value").force_open();
    assert_eq!(status(200), 1);
    assert_eq!((ok_status(200), ok_status(503)), (Ok(200), Ok(503)));
    assert_eq!(failed("free.ok_value"), 1);
}
