//! Models of what threads do to a breaker at the same time. loom runs each in every order of steps that
//! differs, up to a number of preemptions. What each is known to catch is in `internals`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loom::thread;

use crate::breaker::CircuitBreaker;
use crate::clock::TestClock;
use crate::config::{Config, Window};
use crate::error::Reason;
use crate::event::{EventKind, Interest};
use crate::layers::{Layer, Layers};
use crate::outcome::Mark;
use crate::registry::Registry;
use crate::state::State;
use crate::sync::{AtomicU64, Ordering};

const WAIT: Duration = Duration::from_secs(10);

/// The last two calls; opens when both have failed.
fn two() -> Config {
    Config::new()
        .window(Window::Calls(2))
        .min_calls(2)
        .failure_rate(100.0)
        .consecutive_failures_off()
        .wait(WAIT)
        .half_open_calls(1)
}

fn breaker(config: &Config, clock: &TestClock) -> CircuitBreaker {
    Registry::with_clock(clock)
        .create("model", config)
        .expect("it is valid")
}

/// Through a guard, as annotated functions do, so that it can pass by in a calm window.
fn call(breaker: &CircuitBreaker, good: bool) {
    let _ = breaker.call(|| if good { Ok(()) } else { Err(()) });
}

/// Runs both at the same time, the second one here.
fn both(first: impl FnOnce() + 'static, second: impl FnOnce()) {
    let thread = thread::spawn(first);
    second();
    thread.join().expect("no panic");
}

#[test]
fn two_failures_open_once() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let other = breaker.clone();
        both(move || call(&other, false), || call(&breaker, false));
        let now = breaker.snapshot();
        assert_eq!(now.state, State::Open);
        assert_eq!((now.attempt, now.generation), (1, 2));
        assert_eq!((now.calls, now.failed), (2, 2));
    });
}

/// Whichever comes last makes the rate count or makes it bad enough, and judges it.
#[test]
fn a_success_and_a_failure_that_complete_a_verdict_open() {
    loom::model(|| {
        let config = two()
            .window(Window::Calls(3))
            .min_calls(3)
            .failure_rate(60.0);
        let breaker = breaker(&config, &TestClock::new());
        call(&breaker, false);
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.state(), State::Open);
    });
}

/// Whoever sees OPEN after a probe has failed sees the deadline of that, and nobody is let through by
/// the one before.
#[test]
fn open_is_never_seen_with_an_old_deadline() {
    loom::model(|| {
        let clock = TestClock::new();
        let breaker = breaker(&two(), &clock);
        breaker.open().expect("it is CLOSED");
        clock.advance(WAIT);
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
    loom::model(|| {
        let clock = TestClock::new();
        let breaker = breaker(&two(), &clock);
        breaker.open().expect("it is CLOSED");
        clock.advance(WAIT);
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
    loom::model(|| {
        let clock = TestClock::new();
        let breaker = breaker(&two(), &clock);
        breaker.open().expect("it is CLOSED");
        clock.advance(WAIT);
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

/// A success that belongs to a stay which ends meanwhile must not reach the next one.
#[test]
fn outcomes_stay_in_their_stay() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let permit = breaker.try_acquire_owned().expect("it is CLOSED");
        let other = breaker.clone();
        both(move || permit.failure(), || other.reset());
        assert_eq!(breaker.snapshot().calls, 0);
    });
}

/// A full window of successes, in which calls pass by, and a failure that ends that.
#[test]
fn a_calm_window_forgets_no_failure() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        (0..3).for_each(|_| call(&breaker, true));
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.snapshot().failed, 1);
        // Two more successes push it out, whether or not it was the last.
        (0..2).for_each(|_| call(&breaker, true));
        assert_eq!(breaker.snapshot().failed, 0);
    });
}

/// The same while one finds out whether the window is calm, which is full with this success.
#[test]
fn a_window_is_not_taken_for_calm_while_a_failure_comes() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        call(&breaker, true);
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.snapshot().failed, 1);
        (0..2).for_each(|_| call(&breaker, true));
        assert_eq!(breaker.snapshot().failed, 0);
    });
}

#[test]
fn a_window_when_quiet_equals_its_recount() {
    use crate::window::CountWindow;
    loom::model(|| {
        let window = Arc::new(CountWindow::new(2));
        window.record(1, Mark::of(true, true), 2);
        let other = Arc::clone(&window);
        both(
            move || {
                other.record(1, Mark::SUCCESS, 2);
                other.record(1, Mark::of(true, false), 2);
            },
            || {
                window.record(1, Mark::of(false, true), 2);
            },
        );
        let (counts, estimate) = (window.counts(1), window.estimate(1));
        assert_eq!(
            (counts.total, counts.failed, counts.slow),
            (estimate.total, estimate.failed, estimate.slow)
        );
        assert_eq!(counts.total, 2);
    });
}

#[test]
fn events_come_in_the_order_of_the_transitions() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        breaker
            .subscribe(Interest::TRANSITIONS, move |event| {
                if let EventKind::Transition { from, to, .. } = event.kind {
                    log.lock().expect("no panic").push((from, to));
                }
            })
            .forever();
        let other = breaker.clone();
        both(move || other.force_open(), || breaker.disable());
        let heard = heard.lock().expect("no panic");
        assert_eq!(heard.len(), 2);
        assert_eq!(heard[0].0, State::Closed);
        assert_eq!(heard[0].1, heard[1].0);
        assert_eq!(heard[1].1, breaker.state());
    });
}

#[test]
fn a_name_is_made_once() {
    loom::model(|| {
        let registry = Registry::with_clock(&TestClock::new());
        let other = registry.clone();
        let made = thread::spawn(move || other.get_or_create("model"));
        let here = registry.get_or_create("model");
        let there = made.join().expect("no panic");
        assert!(Arc::ptr_eq(&here.inner, &there.inner));
        call(&here, false);
        assert_eq!(there.snapshot().failed, 1);
    });
}

fn of_calls(size: u32) -> Arc<Layers> {
    let config = two().window(Window::Calls(size));
    Arc::new(Layers::merge([(Layer::Code, config)], None).0)
}

#[test]
fn no_outcome_is_lost_or_doubled_by_another_window() {
    loom::model(|| {
        let breaker = breaker(&two().window(Window::Calls(3)), &TestClock::new());
        call(&breaker, true);
        let other = breaker.clone();
        both(
            move || call(&other, false),
            || breaker.inner.reconfigure(of_calls(4)),
        );
        let now = breaker.snapshot();
        assert_eq!((now.calls, now.failed, now.late), (2, 1, 0));
    });
}

#[test]
fn a_calm_window_that_grows_is_filled() {
    loom::model(|| {
        let breaker = breaker(&two(), &TestClock::new());
        (0..3).for_each(|_| call(&breaker, true));
        let other = breaker.clone();
        both(
            move || call(&other, true),
            || breaker.inner.reconfigure(of_calls(3)),
        );
        call(&breaker, true);
        assert_eq!(breaker.snapshot().calls, 3);
    });
}
