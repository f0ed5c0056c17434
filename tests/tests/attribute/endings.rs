//! Calls that do not return: panics, timeouts, dropped futures.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker};

use crate::{Answer, ApiError, failed, now};

#[circuit_breaker(name = "panics.sync")]
fn panics() -> Answer<u32> {
    panic!("body")
}

#[circuit_breaker(name = "panics.async", fallback = never)]
async fn panics_async() -> Answer<u32> {
    std::future::ready(()).await;
    panic!("body")
}

fn never() -> Answer<u32> {
    Ok(0)
}

#[circuit_breaker(name = "panics.predicate", ignore = |_| panic!("predicate"))]
async fn panics_in_predicate() -> Answer<u32> {
    failed(1)
}

#[test]
fn a_panic_is_a_failure_and_goes_on() {
    let scope = Scope::new();
    let calls: [(&str, &dyn Fn()); 3] = [
        ("panics.sync", &|| drop(panics())),
        ("panics.async", &|| drop(now(panics_async()))),
        ("panics.predicate", &|| drop(now(panics_in_predicate()))),
    ];
    for (name, call) in calls {
        catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert_eq!(scope.breaker(name).snapshot().failed, 1, "{name}");
    }
}

#[circuit_breaker(name = "timeout.error", timeout = "1s", slow = "500ms")]
async fn hangs() -> Answer<u32> {
    std::future::pending().await
}

#[circuit_breaker(name = "timeout.fallback", timeout = "1s", fallback = late, fallback_on = "failure")]
async fn hangs_without_result(echo: &str) -> String {
    std::future::pending::<()>().await;
    echo.into()
}

fn late(echo: &str, why: CallError<std::convert::Infallible>) -> String {
    format!("{echo} {}", matches!(why, CallError::TimedOut(_)))
}

#[tokio::test]
async fn a_timeout_drops_the_call_and_is_a_failure() {
    let scope = Scope::new();
    let task = tokio::spawn(async { (hangs().await, hangs_without_result("late").await) });
    for _ in 0..4 {
        tokio::task::yield_now().await;
        scope.clock().advance(Duration::from_secs(1));
    }
    assert!(task.is_finished(), "the timeouts end it");
    let (error, value) = task.await.unwrap();
    assert!(matches!(error, Err(ApiError::TimedOut(_))));
    assert_eq!(value, "late true");
    assert_eq!(scope.breaker("timeout.error").snapshot().failed, 1);
    assert_eq!(scope.breaker("timeout.fallback").snapshot().failed, 1);
}

#[circuit_breaker(name = "cancel.failure", on_cancel = "failure")]
async fn dropped() -> Answer<u32> {
    std::future::pending().await
}

#[circuit_breaker(name = "cancel.slow", slow = "1s")]
async fn dropped_slow() -> Answer<u32> {
    std::future::pending().await
}

#[test]
fn a_dropped_future_is_what_on_cancel_says() {
    let scope = Scope::new();
    let mut context = Context::from_waker(Waker::noop());
    let mut drop_after = |mut future: Pin<Box<dyn Future<Output = Answer<u32>>>>, seconds| {
        assert!(future.as_mut().poll(&mut context).is_pending());
        scope.clock().advance(Duration::from_secs(seconds));
    };
    drop_after(Box::pin(dropped()), 0);
    drop_after(Box::pin(dropped_slow()), 0);
    drop_after(Box::pin(dropped_slow()), 2);
    assert_eq!(scope.breaker("cancel.failure").snapshot().failed, 1);
    let snapshot = scope.breaker("cancel.slow").snapshot();
    assert_eq!((snapshot.calls, snapshot.slow, snapshot.failed), (1, 1, 0));
}
