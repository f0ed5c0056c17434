//! Time in OPEN: how long, how exactly, and how it grows.

use std::time::Duration;

use cb_runtime::{Config, Outcome, Reason, State, Window};
use cb_tests::harness::{Bench, NANO, ms, s};

fn config() -> Config {
    Config::new()
        .window(Window::Calls(2))
        .min_calls(1)
        .half_open_calls(1)
}

/// A call made when `retry_after` is over is permitted, a nanosecond earlier it is not.
#[test]
fn retry_after_is_exact() {
    for wait in [
        ms(1),
        ms(1) + NANO,
        s(10),
        s(3600) - NANO,
        s(30 * 365 * 86_400),
    ] {
        for earlier in [Duration::ZERO, NANO, wait / 3, wait - NANO] {
            let bench = Bench::new(&config().wait(wait));
            bench.advance(Duration::from_nanos(123_456_789));
            bench.fail(1);
            bench.advance(earlier);
            let rejection = bench.rejection();
            assert_eq!(rejection.reason(), Reason::Open);
            let left = rejection.retry_after().expect("OPEN ends");
            assert_eq!(left, wait - earlier);
            assert_eq!(bench.breaker.snapshot().retry_after, Some(left));
            bench.advance(left - NANO);
            assert_eq!(bench.rejection().retry_after(), Some(NANO));
            assert!(!bench.breaker.would_permit());
            bench.advance(NANO);
            assert!(bench.breaker.would_permit());
            bench.succeed(1);
            assert_eq!(bench.breaker.state(), State::Closed);
        }
    }
}

#[test]
fn after_the_wait_it_is_open_until_a_call_comes() {
    let bench = Bench::new(&config());
    bench.fail(1);
    bench.advance(s(1000));
    for _ in 0..5 {
        assert!(bench.breaker.would_permit());
        assert_eq!(bench.breaker.state(), State::Open);
        assert_eq!(bench.breaker.snapshot().retry_after, Some(Duration::ZERO));
    }
    let probe = bench.permit();
    assert_eq!(bench.breaker.state(), State::HalfOpen);
    assert!(!bench.breaker.would_permit());
    probe.success();
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn with_auto_half_open_it_is_half_open_when_the_wait_ends() {
    let bench = Bench::new(&config().auto_half_open(true).half_open_max_wait_off());
    bench.fail(1);
    bench.advance(s(10) - NANO);
    assert_eq!(bench.breaker.state(), State::Open);
    bench.advance(NANO + s(3));
    assert_eq!(bench.breaker.state(), State::HalfOpen);
    assert_eq!(bench.breaker.snapshot().in_state_for, s(3));
}

#[test]
fn rejections_do_not_prolong_the_wait() {
    let bench = Bench::new(&config());
    bench.fail(1);
    for _ in 0..10 {
        let _ = bench.rejection();
        bench.advance(s(1));
    }
    bench.succeed(1);
}

#[test]
fn waiting_for_ever_is_legal() {
    let by_config = Bench::new(&config().wait(Duration::MAX));
    by_config.fail(1);
    let by_hand = Bench::new(&config());
    by_hand.breaker.open_for(Duration::MAX).expect("legal");
    for bench in [by_config, by_hand] {
        for _ in 0..5 {
            bench.advance(s(100 * 365 * 86_400));
            let rejection = bench.rejection();
            assert_eq!(
                (rejection.reason(), rejection.retry_after()),
                (Reason::Open, None)
            );
            assert_eq!(bench.breaker.state(), State::Open);
            assert!(!bench.breaker.would_permit());
        }
        bench.breaker.half_open().expect("legal");
        bench.succeed(1);
        assert_eq!(bench.breaker.state(), State::Closed);
    }
}

/// Opens again and again and writes down the waits.
fn waits(bench: &Bench, openings: usize) -> Vec<Duration> {
    let mut waits = Vec::new();
    for _ in 0..openings {
        bench.fail(1);
        let wait = bench.breaker.snapshot().wait.expect("OPEN");
        assert_eq!(bench.rejection().retry_after(), Some(wait));
        bench.advance(wait);
        waits.push(wait);
    }
    waits
}

#[test]
fn waits_grow_over_openings_in_a_row_up_to_the_cap() {
    let growing = config().wait(ms(333)).wait_multiplier(1.5).wait_max(s(1));
    let bench = Bench::new(&growing);
    // Whole milliseconds, rounded down at each step.
    let row = [ms(333), ms(499), ms(748), s(1), s(1)];
    assert_eq!(waits(&bench, 5), row);
    assert_eq!(bench.breaker.snapshot().attempt, 5);
    // Closing starts over.
    bench.succeed(1);
    assert_eq!(bench.breaker.snapshot().attempt, 0);
    assert_eq!(waits(&bench, 2), row[..2]);
}

#[test]
fn a_day_of_failing_probes_ends_with_a_probe_a_minute() {
    let bench = Bench::new(&config().wait(s(1)).wait_multiplier(2.0).wait_max(s(60)));
    waits(&bench, 24 * 60);
    assert_eq!(bench.breaker.snapshot().wait, None.or(Some(s(60))));
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn the_attempt_rises_with_openings_by_hand_but_not_with_open_for() {
    let bench = Bench::new(&config().wait(s(1)).wait_multiplier(2.0).wait_max(s(100)));
    let attempt = || bench.breaker.snapshot().attempt;
    let wait = || bench.breaker.snapshot().wait;
    bench.breaker.open().expect("legal");
    assert_eq!((attempt(), wait()), (1, Some(s(1))));
    bench.breaker.open().expect("legal");
    assert_eq!((attempt(), wait()), (2, Some(s(2))));
    bench.breaker.open_for(s(7)).expect("legal");
    assert_eq!((attempt(), wait()), (2, Some(s(7))));
    bench.breaker.half_open().expect("legal");
    assert_eq!(attempt(), 2);
    bench.breaker.force_open();
    assert_eq!(attempt(), 3);
    bench.breaker.open().expect("legal");
    assert_eq!((attempt(), wait()), (4, Some(s(8))));
    bench.breaker.disable();
    assert_eq!(attempt(), 0);
    bench.breaker.open_for(s(7)).expect("legal");
    assert_eq!((attempt(), wait()), (0, Some(s(7))));
    bench.breaker.half_open().expect("legal");
    bench.calls(1, Outcome::Failure);
    assert_eq!((attempt(), wait()), (1, Some(s(1))));
}

/// Only the transition sets the deadline: outcomes that come later do not.
#[test]
fn late_failures_do_not_move_the_deadline() {
    let bench = Bench::new(&config());
    let running: Vec<_> = (0..4).map(|_| bench.permit()).collect();
    bench.fail(1);
    for permit in running {
        bench.advance(s(2));
        permit.failure();
    }
    assert_eq!(bench.rejection().retry_after(), Some(s(2)));
}
