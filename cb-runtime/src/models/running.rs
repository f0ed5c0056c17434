//! Calls that are counted while they run.

use std::sync::Arc;
use std::time::Duration;

use super::{both, breaker, two};
use crate::clock::{Clock, TestClock};
use crate::config::Window;
use crate::state::State;
use crate::sync::modelled::explore;
use crate::window::Hanging;

/// A slow call that returns leaves before it is recorded, so whoever sees it recorded sees it gone.
#[test]
fn a_call_counts_as_running_or_as_returned() {
    explore(|| {
        let clock = TestClock::new();
        let config = two()
            .window(Window::Calls(4))
            .slow(Duration::from_secs(1))
            .slow_rate(100.0)
            .count_running(true);
        let breaker = breaker(&config, &clock);
        let permit = breaker.try_acquire_owned().expect("it is CLOSED");
        clock.advance(Duration::from_secs(5));
        let other = breaker.clone();
        both(
            move || permit.success(),
            // Judges what hangs.
            || drop(other.try_acquire()),
        );
        assert_eq!(breaker.state(), State::Closed);
    });
}

/// A call that began before running calls were counted takes away none that is counted.
#[test]
fn a_change_of_the_limit_miscounts_no_running_call() {
    const SLOW: u64 = 1_000_000_000;
    explore(|| {
        let clock = Clock::from(&TestClock::new());
        let hanging = Arc::new(Hanging::off());
        let (other, time) = (Arc::clone(&hanging), clock.clone());
        both(
            move || {
                other.change(Some(SLOW), 1, 0, &time);
                let _ = other.begin(1, &time);
            },
            || {
                if let Some(start) = hanging.begin(1, &clock) {
                    hanging.end(1, start);
                }
            },
        );
        let running = hanging.now(1, 0).expect("it is on");
        assert_eq!(running.calls, 1);
    });
}

/// A hanging call ends while its bucket is on its way to the pool, which had nothing of this stay before.
#[test]
fn a_call_that_ends_on_its_way_to_the_pool_is_gone() {
    const SLOW: u64 = 1_600_000_000;
    explore(|| {
        let clock = TestClock::new();
        let hanging = Arc::new(Hanging::off());
        hanging.start(SLOW, 0);
        let time = Clock::from(&clock);
        let hung = hanging.begin(1, &time).expect("nobody changes it");
        // The same bucket's turn again.
        clock.advance(Duration::from_nanos(SLOW / 16 * 18));
        let other = Arc::clone(&hanging);
        both(
            move || {
                let _ = other.begin(1, &time);
            },
            || hanging.end(1, hung),
        );
        let running = hanging.now(1, SLOW / 16 * 18).expect("it is on");
        assert_eq!((running.calls, running.overdue), (1, 0));
    });
}
