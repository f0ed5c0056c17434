//! Settings that change while the program runs, from the registry's side.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, CircuitBreaker, Config, ConflictKind, Interest, Registry, State, Window,
    circuit_breaker,
};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn registry() -> (Registry, TestClock) {
    let clock = TestClock::new();
    (Registry::with_clock(&clock), clock)
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

fn succeed(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Ok::<_, ()>(()));
    }
}

fn settings(breaker: &CircuitBreaker) -> Vec<String> {
    breaker.config().iter().map(ToString::to_string).collect()
}

/// In a window of time a bucket that was judged once is not judged again by each success.
#[test]
fn a_larger_minimum_is_judged_once_it_is_reached() {
    let (registry, _clock) = registry();
    let limits = |min_calls, rate| {
        Config::new()
            .window(Window::Time(s(60)))
            .min_calls(min_calls)
            .failure_rate(rate)
            .consecutive_failures_off()
    };
    registry.configure("a", limits(2, 100.0)).unwrap();
    let breaker = registry.get_or_create("a");
    fail(&breaker, 1);
    succeed(&breaker, 1);
    registry.configure("a", limits(6, 10.0)).unwrap();
    succeed(&breaker, 3);
    assert_eq!(breaker.state(), State::Closed);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "1 of 6 is more than a tenth");
}

#[test]
fn a_change_is_in_force_at_once_and_can_be_taken_back() {
    let (registry, _) = registry();
    let breaker = registry
        .create("a", &Config::new().consecutive_failures(5))
        .unwrap();
    fail(&breaker, 2);
    registry
        .configure("a", Config::new().consecutive_failures(3))
        .unwrap();
    assert_eq!(
        settings(&breaker),
        ["consecutive_failures = 3 (run-time change)"]
    );
    assert_eq!(breaker.snapshot().consecutive_failures, 2);
    registry
        .configure("a", Config::new().consecutive_failures(4))
        .unwrap();
    fail(&breaker, 1);
    assert_eq!(
        breaker.state(),
        State::Closed,
        "the second change replaced the first"
    );
    assert!(registry.unconfigure("a") && !registry.unconfigure("a"));
    assert_eq!(settings(&breaker), ["consecutive_failures = 5 (code)"]);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn the_default_and_templates_reach_breakers_that_exist() {
    let (registry, clock) = registry();
    registry
        .set_template("slow", Config::new().wait(s(30)))
        .unwrap();
    let plain = registry.get_or_create("plain");
    let based = registry
        .create_from("based", "slow", &Config::new())
        .unwrap();
    registry
        .set_default(Config::new().wait(s(20)).consecutive_failures(1))
        .unwrap();
    assert_eq!(
        settings(&based),
        [
            "consecutive_failures = 1 (registry default)",
            "wait = 30s (template \"slow\")"
        ]
    );
    fail(&plain, 1);
    fail(&based, 1);
    assert_eq!(plain.snapshot().retry_after, Some(s(20)));
    clock.advance(s(5));
    registry
        .set_template("slow", Config::new().wait(s(60)))
        .unwrap();
    assert_eq!(plain.snapshot().retry_after, Some(s(15)));
    assert_eq!(based.snapshot().retry_after, Some(s(55)));
}

#[test]
fn what_makes_no_sense_changes_nothing() {
    let (registry, _) = registry();
    let own = Config::new().window(Window::Calls(10));
    let breaker = registry.create("a", &own).unwrap();
    registry.configure("a", Config::new().min_calls(5)).unwrap();
    let error = registry
        .configure("a", Config::new().min_calls(11))
        .unwrap_err();
    assert_eq!(error.field(), "min_calls");
    assert_eq!(settings(&breaker)[1], "min_calls = 5 (run-time change)");
    assert_eq!(
        registry.changes(),
        [("a".to_owned(), Config::new().min_calls(5))]
    );
    assert!(
        registry
            .configure("nobody's", Config::new().failure_rate(101.0))
            .is_err()
    );
    assert_eq!(registry.changes().len(), 1);
    assert!(registry.conflicts().is_empty());
}

#[test]
fn a_layer_that_a_new_default_puts_at_odds_is_left_out_and_reported() {
    let (registry, _) = registry();
    let breaker = registry.create("a", &Config::new().min_calls(50)).unwrap();
    registry
        .set_default(Config::new().window(Window::Calls(20)))
        .unwrap();
    assert_eq!(settings(&breaker), ["window = 20 (registry default)"]);
    let conflicts = registry.conflicts();
    assert!(
        matches!(&conflicts[0].kind, ConflictKind::LeftOut { error, .. } if error.field() == "min_calls"),
        "{conflicts:?}"
    );
    registry.set_default(Config::new()).unwrap();
    assert_eq!(
        settings(&breaker),
        ["min_calls = 50 (code)"],
        "it is back when it fits"
    );
}

#[test]
fn a_name_without_a_breaker_starts_with_the_change() {
    let (registry, _) = registry();
    registry
        .configure("later", Config::new().consecutive_failures(1))
        .unwrap();
    let breaker = registry.create("later", &Config::new().wait(s(3))).unwrap();
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
    let _same = registry.create("later", &Config::new().wait(s(3))).unwrap();
    assert!(
        registry.conflicts().is_empty(),
        "it was asked for with the same"
    );
}

type Reply = Result<(), CallError<()>>;

#[circuit_breaker(name = "changes.plain", consecutive_failures = 3)]
fn plain() -> Reply {
    Err(CallError::Failed(()))
}

#[circuit_breaker(name = "changes.shard", key = shard, consecutive_failures = 3)]
fn shard(shard: u32) -> Reply {
    Err(CallError::Failed(()))
}

#[test]
fn annotated_functions_follow_also_those_never_called() {
    let scope = Scope::new();
    let registry = scope.registry();
    registry
        .configure("changes.plain", Config::new().consecutive_failures(1))
        .unwrap();
    let _ = plain();
    assert_eq!(scope.breaker("changes.plain").state(), State::Open);
    let refused = Config::new().min_calls(30).window(Window::Calls(20));
    assert!(registry.configure("changes.plain", refused).is_err());
}

#[test]
fn all_keys_follow_and_those_that_come_later() {
    let scope = Scope::new();
    let registry = scope.registry();
    let state = |key| registry.keyed("changes.shard", key).unwrap().state();
    let _ = shard(1);
    registry
        .configure("changes.shard", Config::new().consecutive_failures(2))
        .unwrap();
    let _ = (shard(1), shard(2));
    assert_eq!((state("1"), state("2")), (State::Open, State::Closed));
    let _ = shard(2);
    assert_eq!(state("2"), State::Open);
}

/// Listeners run where nothing is held: one may change settings itself.
#[test]
fn a_listener_may_change_settings() {
    let (registry, clock) = registry();
    let breaker = registry.create("a", &Config::new().warmup(s(5))).unwrap();
    let (inner, heard) = (registry.clone(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&heard);
    let _subscription = registry.subscribe(Interest::ALL, move |_| {
        if !flag.swap(true, Ordering::Relaxed) {
            inner.configure("a", Config::new().wait(s(7))).unwrap();
        }
    });
    fail(&breaker, 1);
    assert!(heard.load(Ordering::Relaxed));
    clock.advance(s(60));
    registry.set_default(Config::new().wait(s(8))).unwrap();
    registry.create("b", &Config::new().min_calls(50)).unwrap();
    heard.store(false, Ordering::Relaxed);
    registry
        .set_default(Config::new().window(Window::Calls(10)))
        .unwrap();
    assert!(heard.load(Ordering::Relaxed), "a conflict was told");
}
