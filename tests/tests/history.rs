//! What a breaker has been through: states, probes, recoveries, fallbacks.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, CallNotPermitted, CircuitBreaker, Config, Outcome, Registry, State, circuit_breaker,
};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn breaker(config: &Config) -> (CircuitBreaker, TestClock) {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    (registry.create("history", config).unwrap(), clock)
}

fn end(breaker: &CircuitBreaker, outcome: Outcome) {
    breaker.try_acquire().unwrap().finish(outcome);
}

fn totals(breaker: &CircuitBreaker, state: State) -> (u64, Duration) {
    let totals = breaker.snapshot().totals_of(state);
    (totals.entries, totals.time)
}

#[test]
fn states_have_their_entries_and_their_time() {
    let config = Config::new()
        .consecutive_failures(1)
        .half_open_calls(1)
        .wait(s(5));
    let (breaker, clock) = breaker(&config);
    assert_eq!(totals(&breaker, State::Closed), (1, s(0)));
    clock.advance(s(3));
    end(&breaker, Outcome::Failure);
    clock.advance(s(7));
    end(&breaker, Outcome::Failure);
    clock.advance(s(6));
    let probe = breaker.try_acquire().unwrap();
    clock.advance(s(2));
    probe.success();
    clock.advance(s(4));
    breaker.reset();
    clock.advance(s(1));
    assert_eq!(totals(&breaker, State::Closed), (2, s(8)));
    assert_eq!(totals(&breaker, State::Open), (2, s(13)));
    assert_eq!(totals(&breaker, State::HalfOpen), (2, s(2)));
    assert_eq!(totals(&breaker, State::Disabled), (0, s(0)));
    breaker.disable();
    clock.advance(s(9));
    assert_eq!(totals(&breaker, State::Disabled), (1, s(9)));
    assert_eq!(totals(&breaker, State::Closed), (2, s(8)));
}

#[test]
fn rounds_that_nobody_watched_are_counted_too() {
    let config = Config::new()
        .consecutive_failures(1)
        .wait(s(10))
        .auto_half_open(true)
        .half_open_max_wait(s(5))
        .half_open_max_wait_state(cb_runtime::MaxWaitState::Open);
    let (breaker, clock) = breaker(&config);
    end(&breaker, Outcome::Failure);
    clock.advance(s(15 * 1000));
    assert_eq!(totals(&breaker, State::Open), (1001, s(10_000)));
    assert_eq!(totals(&breaker, State::HalfOpen), (1000, s(5000)));
}

#[test]
fn a_recovery_lasts_from_the_opening_to_the_closing_by_probes() {
    let config = Config::new()
        .consecutive_failures(1)
        .half_open_calls(1)
        .wait(s(5));
    let (breaker, clock) = breaker(&config);
    assert_eq!(breaker.snapshot().last_recovery, None);
    end(&breaker, Outcome::Failure);
    clock.advance(s(5));
    end(&breaker, Outcome::Failure);
    clock.advance(s(8));
    end(&breaker, Outcome::Success);
    assert_eq!(breaker.snapshot().last_recovery, Some(s(13)));

    // Closed by hand is no recovery, and the latest one stays.
    end(&breaker, Outcome::Failure);
    clock.advance(s(1));
    breaker.close();
    assert_eq!(breaker.snapshot().last_recovery, Some(s(13)));
    breaker.open().unwrap();
    clock.advance(s(5));
    end(&breaker, Outcome::Success);
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(
        breaker.snapshot().last_recovery,
        Some(s(13)),
        "opened by hand"
    );
}

#[test]
fn probes_are_told_apart() {
    let config = Config::new().slow(s(2)).half_open_calls(4).min_calls(4);
    let (breaker, clock) = breaker(&config);
    breaker.open().unwrap();
    clock.advance(s(10));
    end(&breaker, Outcome::Success);
    end(&breaker, Outcome::Ignored);
    end(&breaker, Outcome::Failure);
    let slow = breaker.try_acquire().unwrap();
    let dropped = breaker.try_acquire().unwrap();
    clock.advance(s(3));
    slow.success();
    drop(dropped);
    let probes = breaker.snapshot().probe_totals;
    assert_eq!((probes.successful, probes.failed), (2, 1));
    assert_eq!((probes.cancelled, probes.slow), (1, 2));
}

type Reply = Result<u32, CallError<u32>>;

#[circuit_breaker(name = "history.rejected", consecutive_failures = 2, fallback = instead)]
fn answered_when_rejected(up: bool) -> Reply {
    if up { Ok(1) } else { Err(CallError::Failed(7)) }
}

fn instead(_up: bool, _why: CallNotPermitted) -> Reply {
    Ok(0)
}

#[circuit_breaker(
    name = "history.failed",
    consecutive_failures = 2,
    timeout = "5s",
    fallback = cached,
    fallback_on = "failure"
)]
async fn answered_when_failed(up: bool, hangs: bool) -> Reply {
    if hangs {
        std::future::pending::<()>().await;
    }
    if up { Ok(1) } else { Err(CallError::Failed(7)) }
}

fn cached(_up: bool, _hangs: bool) -> Reply {
    Ok(0)
}

#[test]
fn a_fallback_for_rejections_is_counted_then_only() {
    let scope = Scope::new();
    let fallbacks = || scope.breaker("history.rejected").snapshot().fallbacks;
    let _ = answered_when_rejected(true);
    for _ in 0..2 {
        assert!(answered_when_rejected(false).is_err());
    }
    assert_eq!(fallbacks(), 0);
    for _ in 0..3 {
        assert_eq!(answered_when_rejected(true), Ok(0));
    }
    assert_eq!(fallbacks(), 3);
}

#[tokio::test]
async fn one_for_failures_is_counted_for_each_of_its_answers() {
    let scope = Scope::new();
    let fallbacks = || scope.breaker("history.failed").snapshot().fallbacks;
    assert_eq!(answered_when_failed(true, false).await, Ok(1));
    assert_eq!(fallbacks(), 0);
    assert_eq!(answered_when_failed(false, false).await, Ok(0));
    assert_eq!(fallbacks(), 1);
    let hanging = tokio::spawn(answered_when_failed(true, true));
    while scope.clock().elapsed() < s(5) {
        tokio::task::yield_now().await;
        scope.clock().advance(s(1));
    }
    scope.clock().advance(s(5));
    assert_eq!(hanging.await.unwrap(), Ok(0));
    assert_eq!(fallbacks(), 2);
    assert_eq!(answered_when_failed(true, false).await, Ok(0));
    assert_eq!(fallbacks(), 3);
}
