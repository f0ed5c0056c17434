//! What a rejected caller is told.

use std::error::Error;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, Interest, Reason, State, circuit_breaker};

use crate::support::*;

#[test]
fn er_01_rejections_tell_nobody_but_the_caller() {
    let bench = bench("");
    let log = bench.log(Interest::TRANSITIONS);
    bench.trip();
    for _ in 0..rounds() * 50 {
        let _ = bench.rejection();
    }
    assert_eq!(log.names(), ["FAILURE_RATE_EXCEEDED", "CLOSED->OPEN"]);
    assert!(
        size_of::<cb_runtime::CallNotPermitted>() <= 48,
        "no backtrace, no text"
    );
}

#[circuit_breaker(name = "around")]
fn around() -> Answer {
    guarded(|| Ok(1))
}

#[test]
fn er_02_a_rejection_says_who_why_and_how_long() {
    let scope = Scope::new();
    let rejection = || match around() {
        Err(Api::Refused(rejection)) => rejection,
        other => panic!("{other:?}"),
    };
    let inner = scope.breaker("sync");
    inner.open().unwrap();
    scope.clock().advance(s(4));
    let why = rejection();
    assert_eq!((why.breaker(), why.reason()), ("sync", Reason::Open));
    assert_eq!(why.retry_after(), Some(s(6)));
    assert!(why.to_string().contains("`sync`"));
    inner.half_open().unwrap();
    let _probe = inner.try_acquire().unwrap();
    assert_eq!(
        (rejection().reason(), rejection().retry_after()),
        (Reason::HalfOpenFull, None)
    );
    inner.force_open();
    assert_eq!(
        (rejection().reason(), rejection().retry_after()),
        (Reason::ForcedOpen, None)
    );
}

#[test]
fn er_03_a_rejection_is_told_apart_from_the_function_s_own_error() {
    let bench = bench("");
    let call = || bench.breaker.call(|| Err::<(), _>("own"));
    assert_eq!(call(), Err(CallError::Failed("own")));
    assert_eq!(call(), Err(CallError::Failed("own")));
    assert!(matches!(call(), Err(CallError::NotPermitted(_))));
    compile_error(
        "rejection_without_place",
        "does not implement `From<CallNotPermitted>`",
    );
    compile_error("rejection_without_place", "fallback = some_function");
}

#[test]
fn er_04_nested_breakers_do_not_pile_up_causes() {
    let (outer, inner) = (bench("W=10 M=10 C=20"), bench("C=1"));
    inner.trip();
    for _ in 0..1000 {
        let error = outer
            .breaker
            .call(|| inner.breaker.call(|| Err::<(), _>(Api::Down)))
            .unwrap_err();
        let mut depth = 0;
        let mut cause: Option<&(dyn Error + 'static)> = error.source();
        while let Some(next) = cause {
            depth += 1;
            cause = next.source();
        }
        assert!(depth <= 2, "{depth}");
    }
    assert_eq!(
        outer.state(),
        State::Open,
        "rejections of the inner one are failures"
    );
}

/// Up to three attempts, as long as the error says that another one may help.
fn retried(mut call: impl FnMut() -> Answer) -> u32 {
    for attempt in 1..=3 {
        match call() {
            Err(Api::Refused(why)) if !why.is_retryable() => return attempt,
            Ok(_) => return attempt,
            Err(_) => {}
        }
    }
    3
}

#[test]
fn er_05_a_rejection_is_not_to_be_retried() {
    let scope = Scope::new();
    assert_eq!(retried(|| guarded(|| MISSING)), 3);
    scope.breaker("sync").open().unwrap();
    assert_eq!(retried(|| guarded(|| Ok(1))), 1);
    assert_eq!(scope.breaker("sync").snapshot().not_permitted_total, 1);
}
