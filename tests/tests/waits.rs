//! Waits and stays that nobody watches, and what cannot be configured about them.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::time::{Duration, Instant};

use cb_runtime::testing::TestClock;
use cb_runtime::{CallError, Config, MaxWaitState, Reason, Registry, State, Window};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn on_the_systems_clock_instances_do_not_wait_alike() {
    let config = Config::new().wait_jitter(50.0);
    let mut waits: Vec<_> = (0..20)
        .map(|_| {
            let breaker = Registry::new().create("stock", &config).unwrap();
            breaker.open().unwrap();
            breaker.snapshot().wait.unwrap()
        })
        .collect();
    waits.dedup();
    assert!(waits.len() > 10, "{waits:?}");
}

/// There, rejections are decided and told by a clock that lags.
#[test]
fn on_the_systems_clock_a_rejection_tells_what_is_left_of_the_wait() {
    let config = Config::new().half_open_calls(2);
    let breaker = Registry::new().create("stock", &config).unwrap();
    let rejection = || match breaker.call(|| Ok::<_, ()>(())) {
        Err(CallError::NotPermitted(rejection)) => rejection,
        other => panic!("{other:?}"),
    };
    let before = Instant::now();
    breaker.open_for(s(3600)).unwrap();
    let (first, second) = (rejection(), rejection());
    let passed = before.elapsed();
    for rejection in [&first, &second] {
        assert_eq!(rejection.reason(), Reason::Open);
        let rest = rejection.retry_after().unwrap();
        assert!(rest >= s(3600) - passed, "{rest:?} after {passed:?}");
        assert!(rest < s(3601), "{rest:?}");
    }
    // Also where that is very long, or for ever.
    breaker.open_for(s(40 * YEAR)).unwrap();
    let rest = rejection().retry_after().unwrap();
    assert!(
        rest > s(40 * YEAR - 3600) && rest < s(40 * YEAR + 1),
        "{rest:?}"
    );
    breaker.open_for(Duration::MAX).unwrap();
    assert_eq!(rejection().retry_after(), None);
    assert_eq!(rejection().reason(), Reason::Open);
    assert_eq!(breaker.try_acquire().unwrap_err(), rejection());

    breaker.half_open().unwrap();
    let probes: Vec<_> = std::iter::from_fn(|| breaker.try_acquire().ok()).collect();
    assert_eq!(probes.len(), 2);
    assert_eq!(rejection().reason(), Reason::HalfOpenFull);
    assert_eq!(rejection().retry_after(), None);
    assert_eq!(breaker.snapshot().not_permitted_total, 2 + 1 + 4 + 3);

    drop(probes);
    breaker.disable();
    assert!(breaker.call(|| Ok::<_, ()>(())).is_ok());
    breaker.open_for(Duration::from_millis(1)).unwrap();
    while breaker.call(|| Ok::<_, ()>(())).is_err() {}
    assert_eq!(breaker.state(), State::HalfOpen);
}

const YEAR: u64 = 365 * 86_400;

/// The breaker counts from when it is made, wherever its clock is.
#[test]
fn a_breaker_that_is_made_late_waits_as_long_as_others() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    clock.advance(s(20 * YEAR));
    let long = registry.create("long", &Config::new()).unwrap();
    long.open_for(s(60 * YEAR)).unwrap();
    clock.advance(s(54 * YEAR));
    assert!(long.try_acquire().is_err());
    let config = Config::new()
        .wait(s(10))
        .auto_half_open(true)
        .half_open_max_wait(s(5))
        .half_open_max_wait_state(MaxWaitState::Open);
    let late = registry.create("late", &config).unwrap();
    late.open().unwrap();
    let rejection = late.try_acquire().unwrap_err();
    assert_eq!(rejection.retry_after(), Some(s(10)));
    clock.advance(s(10));
    assert_eq!(late.state(), State::HalfOpen);
    clock.advance(s(6 * YEAR));
    assert!(long.try_acquire().is_ok());
    // After 73 years waits end at once. They do end, also where one follows the other.
    clock.advance(s(74 * YEAR));
    late.open().unwrap();
    assert_eq!(late.state(), State::HalfOpen);
}

/// So do the buckets of running calls.
#[test]
fn running_calls_can_be_counted_from_later_on_an_old_clock() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    clock.advance(s(18 * YEAR));
    let config = Config::new()
        .slow(Duration::from_millis(10))
        .slow_rate(50.0)
        .min_calls(4);
    let breaker = registry.create("stock", &config).unwrap();
    registry
        .configure("stock", Config::new().count_running(true))
        .unwrap();
    let running: Vec<_> = (0..10).map(|_| breaker.try_acquire().unwrap()).collect();
    assert_eq!(breaker.snapshot().overdue, Some(0));
    drop(running);
}

/// Rounds that nobody saw count as failed stays too, and what is skipped ends where it would have.
#[test]
fn skipped_rounds_reach_the_longest_wait() {
    let clock = TestClock::new();
    let config = Config::new()
        .window(Window::Calls(1))
        .auto_half_open(true)
        .half_open_attempts(1000)
        .wait_max(s(600))
        .half_open_max_wait(s(20))
        .half_open_max_wait_state(MaxWaitState::Open);
    let breaker = Registry::with_clock(&clock)
        .create("stock", &config)
        .unwrap();
    breaker.open().unwrap();
    // 999 rounds of 30 s, and one stay that ends in the wait of 600 s.
    clock.advance(s(30) * 999 + s(29));
    assert_eq!(breaker.snapshot().attempt, 1000);
    assert_eq!(breaker.state(), State::HalfOpen);
    clock.advance(s(1));
    assert_eq!(breaker.snapshot().wait, Some(s(600)));
    clock.advance(s(620) * 1_000_000);
    assert_eq!(breaker.snapshot().attempt, 1_001_001);
}

/// Calls that come just when an idle stay would end must not find it ended each time.
#[test]
fn a_stay_in_which_nobody_asks_goes_on_until_somebody_does() {
    for every in [s(40), s(41), s(3600)] {
        let clock = TestClock::new();
        let config = Config::new().window(Window::Calls(1)).auto_half_open(true);
        let breaker = Registry::with_clock(&clock)
            .create("stock", &config)
            .unwrap();
        let _ = breaker.call(|| Err::<(), _>("down"));
        let mut calls = 0;
        while breaker.state() != State::Closed {
            clock.advance(every);
            assert!(breaker.call(|| Ok::<_, ()>(())).is_ok(), "every {every:?}");
            calls += 1;
        }
        assert_eq!(calls, 1);
        // Probes that hang end it all the same.
        breaker.open().unwrap();
        clock.advance(every);
        let _hanging = breaker.try_acquire().unwrap();
        clock.advance(s(30));
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn contradictions_name_the_setting_to_change() {
    let refused = |config: Config| config.validate().unwrap_err().field();
    let two = Config::new().half_open_calls(2).half_open_max_wait(s(5));
    assert_eq!(
        refused(two.clone().half_open_concurrency(3)),
        "half_open_concurrency"
    );
    assert_eq!(
        refused(two.clone().half_open_delay(s(5))),
        "half_open_delay"
    );
    assert_eq!(
        refused(two.clone().half_open_successes(3)),
        "half_open_successes"
    );
    assert_eq!(
        refused(two.clone().half_open_failures(3)),
        "half_open_failures"
    );
    let both = two
        .clone()
        .half_open_successes(1)
        .half_open_success_rate(50.0);
    assert_eq!(refused(both), "half_open_success_rate");
    let both = two
        .clone()
        .half_open_failures(1)
        .half_open_failure_rate(50.0);
    assert_eq!(refused(both), "half_open_failure_rate");
    let both = two
        .clone()
        .half_open_success_rate(50.0)
        .half_open_failure_rate(50.0);
    assert_eq!(refused(both), "half_open_failure_rate");
    assert_eq!(
        refused(two.clone().half_open_failure_window(s(1))),
        "half_open_failure_window"
    );
    assert_eq!(refused(two.clone().half_open_slow(s(1))), "half_open_slow");
    assert_eq!(
        refused(two.clone().slow(s(1)).half_open_slow(s(2))),
        "half_open_slow"
    );
    assert_eq!(
        refused(two.clone().half_open_attempts(1)),
        "half_open_attempts"
    );
    assert_eq!(
        refused(two.clone().wait_by_failure_rate(true)),
        "wait_by_failure_rate"
    );
    assert_eq!(refused(two.clone().wait_jitter(101.0)), "wait_jitter");
    assert_eq!(
        refused(two.clone().wait_recover(Duration::ZERO)),
        "wait_recover"
    );
    assert!(
        two.half_open_successes(2)
            .half_open_failures(1)
            .validate()
            .is_ok()
    );
}

/// A clock that starts late stops at its end; a wait that reaches beyond that is over there.
#[test]
fn a_wait_that_reaches_beyond_the_end_of_time_ends_there() {
    let clock = TestClock::starting_at(Duration::from_nanos(u64::MAX) - Duration::from_secs(5));
    let registry = Registry::with_clock(&clock);
    let wait = Duration::from_secs(60);
    let by_call = registry.create("call", &Config::new().wait(wait)).unwrap();
    let alone = Config::new().wait(wait).auto_half_open(true);
    let alone = registry.create("alone", &alone).unwrap();
    by_call.open().unwrap();
    alone.open().unwrap();
    let rejection = by_call.call(|| Ok::<_, ()>(())).unwrap_err();
    assert_eq!(rejection.retry_after(), Some(Duration::from_secs(5)));

    clock.advance(wait);
    assert_eq!(by_call.call(|| Ok::<_, ()>(())), Ok(()));
    assert_eq!(alone.state(), State::HalfOpen);
    assert_eq!(alone.call(|| Ok::<_, ()>(())), Ok(()));
}
