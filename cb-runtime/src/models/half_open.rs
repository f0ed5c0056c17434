//! Probes, and the end of the wait.

use std::sync::Arc;

use super::{WAIT, both, breaker, two};
use crate::breaker::CircuitBreaker;
use crate::clock::TestClock;
use crate::config::{Config, Window};
use crate::error::Reason;
use crate::state::State;
use crate::sync::modelled::explore;
use crate::sync::{AtomicU64, Ordering};

/// A breaker that is OPEN and admits the next call.
fn after_the_wait(config: &Config) -> CircuitBreaker {
    let clock = TestClock::new();
    let breaker = breaker(config, &clock);
    breaker.open().expect("it is CLOSED");
    clock.advance(WAIT);
    breaker
}

/// Whoever sees OPEN after a probe has failed sees the deadline of that, and nobody is let through by
/// the one before.
#[test]
fn open_is_never_seen_with_an_old_deadline() {
    explore(|| {
        let breaker = after_the_wait(&two());
        let admitted = Arc::new(AtomicU64::new(0));
        let ask = |breaker: &CircuitBreaker, admitted: &AtomicU64| match breaker.try_acquire() {
            Ok(permit) => {
                admitted.fetch_add(1, Ordering::SeqCst);
                permit.failure();
            }
            Err(rejection) if rejection.reason() == Reason::Open => {
                assert_eq!(rejection.retry_after(), Some(WAIT));
            }
            Err(rejection) => assert_eq!(rejection.reason(), Reason::HalfOpenFull),
        };
        let (other, count) = (breaker.clone(), Arc::clone(&admitted));
        both(move || ask(&other, &count), || ask(&breaker, &admitted));
        assert_eq!(admitted.load(Ordering::SeqCst), 1);
        assert_eq!(breaker.snapshot().attempt, 2);
    });
}

#[test]
fn probes_are_never_more_than_their_limit() {
    explore(|| {
        let breaker = after_the_wait(&two().half_open_calls(2).half_open_concurrency(1));
        let running = Arc::new(AtomicU64::new(0));
        let probe = |breaker: &CircuitBreaker, running: &AtomicU64| {
            if let Ok(permit) = breaker.try_acquire() {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                running.fetch_add(u64::MAX, Ordering::SeqCst);
                permit.ignore();
            }
        };
        let (other, count) = (breaker.clone(), Arc::clone(&running));
        both(move || probe(&other, &count), || probe(&breaker, &running));
        let permit = breaker.try_acquire().expect("both permits were given back");
        assert!(breaker.try_acquire().is_err());
        permit.ignore();
    });
}

#[test]
fn a_probe_of_an_earlier_stay_gives_nothing_back() {
    explore(|| {
        let breaker = after_the_wait(&two());
        let late = breaker.try_acquire_owned().expect("the wait is over");
        let other = breaker.clone();
        both(
            move || late.ignore(),
            || {
                other.open().expect("legal");
                other.half_open().expect("legal");
                let first = other.try_acquire();
                let second = other.try_acquire();
                assert!(first.is_ok() && second.is_err());
                std::mem::forget((first, second));
            },
        );
        assert!(breaker.try_acquire().is_err(), "it is still out");
    });
}

/// Who sees CLOSED sees that a ramp has begun: of two calls the second one is rejected.
#[test]
fn closed_is_never_seen_without_its_ramp() {
    explore(|| {
        let breaker = after_the_wait(&two().ramp(WAIT));
        let probe = breaker.try_acquire_owned().expect("the wait is over");
        let other = breaker.clone();
        both(
            move || probe.success(),
            || {
                let admitted = [other.try_acquire().is_ok(), other.try_acquire().is_ok()];
                assert_ne!(admitted, [true, true]);
            },
        );
    });
}

/// Two have returned, which takes nothing from the limit on all of them.
#[test]
fn probes_that_returned_count_towards_the_limit() {
    explore(|| {
        let config = two()
            .window(Window::Calls(3))
            .min_calls(3)
            .half_open_calls(3)
            .half_open_concurrency(2);
        let breaker = after_the_wait(&config);
        for _ in 0..2 {
            breaker.try_acquire().expect("there is room").success();
        }
        let admitted = Arc::new(AtomicU64::new(0));
        let ask = |breaker: &CircuitBreaker, admitted: &AtomicU64| {
            if let Ok(permit) = breaker.try_acquire_owned() {
                admitted.fetch_add(1, Ordering::Relaxed);
                std::mem::forget(permit);
            }
        };
        let (other, count) = (breaker.clone(), Arc::clone(&admitted));
        both(move || ask(&other, &count), || ask(&breaker, &admitted));
        assert_eq!(admitted.load(Ordering::SeqCst), 1);
    });
}

/// A probe that returned makes room for the next one, whoever closes the gate meanwhile.
#[test]
fn a_probe_that_returned_makes_room() {
    explore(|| {
        let breaker = after_the_wait(&two().half_open_calls(2).half_open_concurrency(1));
        let probe = breaker.try_acquire_owned().expect("the wait is over");
        both(
            move || probe.success(),
            || {
                if let Ok(permit) = breaker.try_acquire() {
                    permit.ignore();
                }
            },
        );
        assert!(breaker.try_acquire().is_ok());
    });
}

/// The gate that was closed in one stay is open in the next one.
#[test]
fn a_later_stay_gives_out_its_permits() {
    explore(|| {
        let breaker = after_the_wait(&two());
        let probe = breaker.try_acquire_owned().expect("the wait is over");
        assert!(breaker.try_acquire().is_err());
        let first = breaker.inner.word();
        let other = breaker.clone();
        both(
            move || {
                other.open().expect("legal");
                other.half_open().expect("legal");
            },
            || {
                let word = breaker.inner.word();
                if word != first && word.state() == State::HalfOpen {
                    breaker.try_acquire().expect("it is free").ignore();
                }
            },
        );
        drop(probe);
        assert!(breaker.try_acquire().is_ok());
    });
}
