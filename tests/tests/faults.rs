//! Guarded functions drilled as they are: faults in place of their bodies.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cb_runtime::testing::{Fault, Scope};
use cb_runtime::{CallError, CallNotPermitted, Reason, Registry, State, TimedOut, circuit_breaker};

const S: fn(u64) -> Duration = Duration::from_secs;

#[derive(Debug, PartialEq)]
enum Error {
    Rejected(Reason),
    TimedOut,
}

impl From<CallNotPermitted> for Error {
    fn from(why: CallNotPermitted) -> Self {
        Self::Rejected(why.reason())
    }
}

impl From<TimedOut> for Error {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

#[circuit_breaker(name = "faults.plain", consecutive_failures = 3)]
fn plain(ran: &AtomicU32) -> Result<u32, Error> {
    Ok(ran.fetch_add(1, Ordering::Relaxed))
}

#[circuit_breaker(name = "faults.rejected", consecutive_failures = 3, fallback = instead)]
fn with_fallback() -> Option<Reason> {
    None
}

fn instead(why: CallNotPermitted) -> Option<Reason> {
    Some(why.reason())
}

#[circuit_breaker(
    name = "faults.failed",
    consecutive_failures = 3,
    fallback = answer,
    fallback_on = "failure"
)]
async fn with_failure_fallback() -> Result<Option<Reason>, Error> {
    Ok(None)
}

fn answer(why: CallError<Error>) -> Result<Option<Reason>, Error> {
    match why {
        CallError::NotPermitted(why) => Ok(Some(why.reason())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_is_a_failure_without_the_body_and_answered_like_a_rejection() {
    let scope = Scope::new();
    let ran = AtomicU32::new(0);
    scope.fault("faults.plain", Fault::Error);
    for _ in 0..3 {
        assert_eq!(plain(&ran), Err(Error::Rejected(Reason::Fault)));
    }
    let breaker = scope.breaker("faults.plain");
    assert_eq!(
        (breaker.state(), breaker.snapshot().failed),
        (State::Open, 3)
    );
    assert_eq!(breaker.snapshot().not_permitted, 0);
    assert_eq!(plain(&ran), Err(Error::Rejected(Reason::Open)));
    assert_eq!(ran.load(Ordering::Relaxed), 0);

    assert!(scope.clear_fault("faults.plain") && !scope.clear_fault("faults.plain"));
    scope.clock().advance(S(10));
    assert_eq!(plain(&ran), Ok(0));
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[test]
fn the_fallback_answers_an_error() {
    let scope = Scope::new();
    scope.fault("faults.rejected", Fault::Error);
    let answers = [(); 4].map(|()| with_fallback());
    let fault = Some(Reason::Fault);
    assert_eq!(answers, [fault, fault, fault, Some(Reason::Open)]);
}

#[tokio::test]
async fn so_does_one_for_failures() {
    let scope = Scope::new();
    scope.fault("faults.failed", Fault::Error);
    for _ in 0..3 {
        assert_eq!(with_failure_fallback().await, Ok(Some(Reason::Fault)));
    }
    assert_eq!(with_failure_fallback().await, Ok(Some(Reason::Open)));
}

#[circuit_breaker(name = "faults.slow", slow = "2s", min_calls = 4)]
fn slow() -> Result<u32, Error> {
    Ok(7)
}

#[test]
fn a_slow_sync_call_takes_the_time_of_the_scopes_clock() {
    let scope = Scope::new();
    scope.fault("faults.slow", Fault::Slow(S(2)));
    assert_eq!(slow(), Ok(7));
    assert_eq!(scope.clock().elapsed(), S(2));
    scope.fault("faults.slow", Fault::Slow(S(3)));
    for _ in 0..3 {
        assert_eq!(slow(), Ok(7));
    }
    let breaker = scope.breaker("faults.slow");
    assert_eq!((breaker.state(), breaker.snapshot().slow), (State::Open, 3));
}

#[circuit_breaker(name = "faults.async", slow = "1s", timeout = "5s", min_calls = 2)]
async fn remote() -> Result<u32, Error> {
    Ok(7)
}

/// Lets the runtime's other tasks run until they all wait.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_slow_async_call_waits_until_the_clock_was_moved() {
    let scope = Scope::new();
    scope.fault("faults.async", Fault::Slow(S(2)));
    let call = tokio::spawn(remote());
    settle().await;
    scope.clock().advance(S(1));
    settle().await;
    assert!(!call.is_finished());
    scope.clock().advance(S(1));
    assert_eq!(call.await.unwrap(), Ok(7));
    let figures = scope.breaker("faults.async").snapshot();
    assert_eq!((figures.successful, figures.slow), (1, 1));
}

#[tokio::test]
async fn a_hanging_async_call_ends_with_its_timeout_or_with_the_fault() {
    let scope = Scope::new();
    scope.fault("faults.async", Fault::Hang);
    let first = tokio::spawn(remote());
    settle().await;
    scope.clock().advance(S(5));
    assert_eq!(first.await.unwrap(), Err(Error::TimedOut));

    let second = tokio::spawn(remote());
    settle().await;
    scope.clock().advance(S(4));
    settle().await;
    assert!(!second.is_finished());
    scope.clear_fault("faults.async");
    assert_eq!(second.await.unwrap(), Ok(7));
    let breaker = scope.breaker("faults.async");
    assert_eq!(breaker.state(), State::Open, "2 of 2 were slow");
}

#[tokio::test]
async fn a_hanging_call_that_is_dropped_is_cancelled() {
    let scope = Scope::new();
    scope.fault("faults.async", Fault::Hang);
    let call = tokio::spawn(remote());
    settle().await;
    scope.clock().advance(S(2));
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let figures = scope.breaker("faults.async").snapshot();
    assert_eq!((figures.cancelled, figures.slow, figures.failed), (1, 1, 0));
}

#[circuit_breaker(name = "faults.hang", slow = "2s", min_calls = 2, count_running = true)]
fn blocking() -> Result<u32, Error> {
    Ok(7)
}

#[test]
fn threads_that_hang_open_the_breaker_while_they_hang() {
    let scope = Scope::new();
    scope.fault("faults.hang", Fault::Hang);
    let breaker = scope.breaker("faults.hang");
    std::thread::scope(|threads| {
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let handle = scope.handle();
                threads.spawn(move || {
                    let _entered = handle.enter();
                    blocking()
                })
            })
            .collect();
        while breaker.snapshot().in_flight != Some(2) {
            std::thread::yield_now();
        }
        scope.clock().advance(S(3));
        assert_eq!(blocking(), Err(Error::Rejected(Reason::Open)));
        scope.clear_fault("faults.hang");
        for call in calls {
            assert_eq!(call.join().unwrap(), Ok(7));
        }
    });
    assert_eq!((breaker.state(), breaker.snapshot().late), (State::Open, 2));
}

#[circuit_breaker(name = "faults.shard", key = shard, consecutive_failures = 1)]
fn shard(shard: &str) -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_key_has_its_own_fault_or_that_of_all() {
    let scope = Scope::new();
    scope.fault("faults.shard[b[1]]", Fault::Error);
    assert_eq!(shard("a"), Ok(()));
    assert!(shard("b[1]").is_err());
    scope.fault("faults.shard", Fault::Error);
    assert_eq!(shard("a"), Err(Error::Rejected(Reason::Fault)));
}

#[test]
fn a_fault_may_come_before_the_first_call_of_its_name() {
    let scope = Scope::new();
    scope.registry().get_or_create("faults[by hand]");
    for name in [
        "faults.plain",
        "faults.shard",
        "faults.shard[never]",
        "faults[by hand]",
    ] {
        scope.fault(name, Fault::Error);
    }
    assert_eq!(shard("never"), Err(Error::Rejected(Reason::Fault)));
}

#[test]
#[should_panic(expected = "no circuit breaker is named \"faults.plan\"")]
fn a_fault_for_a_name_that_nobody_has_says_so() {
    Scope::new().fault("faults.plan", Fault::Error);
}

#[test]
#[should_panic(expected = "no circuit breaker is named \"faults.plain[key]\"")]
fn so_does_one_for_a_key_of_a_name_without_keys() {
    Scope::new().fault("faults.plain[key]", Fault::Error);
}

#[test]
fn a_fault_stays_in_its_scope() {
    let scope = Scope::new();
    scope.fault("faults.plain", Fault::Error);
    let ran = AtomicU32::new(0);
    {
        let _inner = Scope::new();
        assert_eq!(plain(&ran), Ok(0));
    }
    let other = std::thread::scope(|threads| threads.spawn(|| plain(&ran)).join().unwrap());
    assert_eq!(other, Ok(1));
    let foreign = Registry::new().get_or_create("faults.plain");
    assert_eq!(foreign.call(|| Ok::<_, ()>(3)), Ok(3));
    assert!(plain(&ran).is_err());
    drop(scope);
    assert_eq!(plain(&ran), Ok(2));
}
