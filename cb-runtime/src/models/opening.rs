//! The verdict that opens.

use std::time::Duration;

use super::{both, breaker, call, two};
use crate::clock::TestClock;
use crate::config::{Config, Window};
use crate::state::State;
use crate::sync::modelled::explore;

#[test]
fn two_failures_open_once() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let other = breaker.clone();
        both(move || call(&other, false), || call(&breaker, false));
        let now = breaker.snapshot();
        assert_eq!(now.state, State::Open);
        assert_eq!((now.attempt, now.generation), (1, 2));
        assert_eq!((now.calls, now.failed), (2, 2));
    });
}

/// Of the failures that were there before it, it leaves none, whatever comes between.
#[test]
fn a_success_ends_the_row_beside_a_failure() {
    explore(|| {
        let config = two().window(Window::Calls(8)).min_calls(8);
        let breaker = breaker(&config.consecutive_failures(4), &TestClock::new());
        call(&breaker, false);
        call(&breaker, false);
        let other = breaker.clone();
        both(move || call(&other, false), || call(&breaker, true));
        assert!(breaker.snapshot().consecutive_failures <= 1);
    });
}

/// Whichever comes last makes the rate count or makes it bad enough, and judges it.
#[test]
fn a_success_and_a_failure_that_complete_a_verdict_open() {
    complete_a_verdict(&two().window(Window::Calls(3)));
}

/// The same in a window of time.
#[test]
fn a_success_and_a_failure_that_complete_a_verdict_of_seconds_open() {
    let second = Window::Time(Duration::from_secs(1));
    complete_a_verdict(&two().window(second).buckets(1));
}

fn complete_a_verdict(config: &Config) {
    let config = config.clone().min_calls(3).failure_rate(60.0);
    explore(move || {
        let breaker = breaker(&config, &TestClock::new());
        call(&breaker, false);
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.state(), State::Open);
    });
}

/// The same where the success may begin the ring, and so claims its place as failures do.
#[test]
fn a_success_that_begins_the_ring_and_failures_open() {
    explore(|| {
        let config = two()
            .window(Window::Calls(3))
            .min_calls(3)
            .failure_rate(60.0);
        let breaker = breaker(&config, &TestClock::new());
        let other = breaker.clone();
        both(
            move || call(&other, true),
            || (0..2).for_each(|_| call(&breaker, false)),
        );
        assert_eq!(breaker.state(), State::Open);
    });
}

/// A success that belongs to a stay which ends meanwhile must not reach the next one.
#[test]
fn outcomes_stay_in_their_stay() {
    // What is measured does not take the short way.
    for config in [two(), two().slow(Duration::from_secs(1))] {
        explore(move || {
            let breaker = breaker(&config, &TestClock::new());
            let permit = breaker.try_acquire_owned().expect("it is CLOSED");
            let other = breaker.clone();
            both(move || permit.failure(), || other.reset());
            assert_eq!(breaker.snapshot().calls, 0);
        });
    }
}

/// An outcome that is held up until a later stay has begun to record takes nothing away from it.
#[test]
fn an_earlier_stay_takes_nothing_from_a_later_one() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let permit = breaker.try_acquire_owned().expect("it is CLOSED");
        let other = breaker.clone();
        both(
            move || permit.success(),
            || {
                other.reset();
                call(&other, false);
            },
        );
        let now = breaker.snapshot();
        assert_eq!((now.calls, now.failed), (1, 1));
    });
}

/// Whichever comes last makes the rate of slow calls count or makes it bad enough. The window has failed
/// calls too, which are looked at first.
#[test]
fn a_success_and_a_slow_call_that_complete_a_verdict_open() {
    explore(|| {
        let clock = TestClock::new();
        let config = two()
            .window(Window::Calls(3))
            .min_calls(3)
            .slow(Duration::from_secs(1))
            .slow_rate(60.0);
        let breaker = breaker(&config, &clock);
        let [first, second] = [(); 2].map(|()| breaker.try_acquire_owned().expect("CLOSED"));
        clock.advance(Duration::from_secs(2));
        first.failure();
        let other = breaker.clone();
        both(move || call(&other, true), || second.success());
        assert_eq!(breaker.state(), State::Open);
    });
}
