//! From CLOSED to OPEN: the rules and the outcomes that they judge.

use cb_runtime::{Config, OnCancel, Outcome, State, Window};
use cb_tests::harness::{Bench, NANO, ms, s};

/// Count-based, no rule but the failure rate.
fn calls(window: u32, min_calls: u32) -> Config {
    Config::new()
        .window(Window::Calls(window))
        .min_calls(min_calls)
        .consecutive_failures_off()
}

fn opened(bench: &Bench) -> bool {
    bench.breaker.state() == State::Open
}

#[test]
fn the_call_that_reaches_the_minimum_decides() {
    for last in [Outcome::Failure, Outcome::Success] {
        let bench = Bench::new(&calls(10, 5));
        bench.fail(4);
        assert!(!opened(&bench));
        assert_eq!(bench.breaker.snapshot().failure_rate, None);
        bench.calls(1, last);
        assert!(opened(&bench), "{last:?}");
    }
}

/// As floats, 29 of 100 would miss 29 %.
#[test]
fn equality_opens_for_every_whole_percentage() {
    for percent in 1..=100 {
        let bench = Bench::new(&calls(100, 100).failure_rate(f64::from(percent)));
        bench.succeed(100 - percent);
        bench.fail(percent - 1);
        assert!(!opened(&bench), "{percent}%");
        bench.fail(1);
        assert!(opened(&bench), "{percent}%");
        let bench = Bench::new(&calls(100, 100).failure_rate(f64::from(percent)));
        bench.succeed(100 - percent + 1);
        bench.fail(percent - 1);
        assert!(!opened(&bench), "one less than {percent}%");
    }
}

/// The window slides: 100 good calls do not hide 50 bad ones for ever.
#[test]
fn old_calls_leave_a_count_window() {
    let bench = Bench::new(&calls(100, 100));
    bench.succeed(100);
    bench.fail(49);
    assert!(!opened(&bench));
    bench.fail(1);
    assert!(opened(&bench));
}

#[test]
fn slow_means_longer_than_the_limit() {
    let config = calls(2, 2).slow(s(2)).slow_rate(100.0);
    let bench = Bench::new(&config);
    bench.call_for(s(2), Outcome::Success);
    assert_eq!(bench.breaker.snapshot().slow, 0);
    bench.call_for(s(2) + NANO, Outcome::Success);
    assert_eq!(bench.breaker.snapshot().slow, 1);
    bench.call_for(s(2) + NANO, Outcome::Success);
    assert!(opened(&bench));
    assert_eq!(bench.breaker.snapshot().successful, 2);
}

#[test]
fn a_slow_failure_is_both() {
    let bench = Bench::new(&calls(10, 10).slow(s(1)));
    bench.call_for(s(2), Outcome::Failure);
    let snapshot = bench.breaker.snapshot();
    assert_eq!(
        (
            snapshot.calls,
            snapshot.failed,
            snapshot.slow,
            snapshot.slow_failed
        ),
        (1, 1, 1, 1)
    );
}

#[test]
fn failure_count_needs_no_minimum_and_sees_the_window() {
    let bench = Bench::new(&calls(4, 4).failure_rate(100.0).failure_count(2));
    for _ in 0..5 {
        bench.fail(1);
        bench.succeed(3);
    }
    assert!(!opened(&bench));
    bench.fail(2);
    assert!(opened(&bench));
}

#[test]
fn consecutive_failures_need_no_minimum_and_do_not_age() {
    let config = Config::new().min_calls(1000).consecutive_failures(3);
    let bench = Bench::new(&config);
    for _ in 0..5 {
        bench.fail(2);
        bench.succeed(1);
    }
    bench.advance(s(86_400));
    for _ in 0..2 {
        bench.fail(1);
        bench.calls(3, Outcome::Ignored);
        drop(bench.permit());
        bench.advance(s(86_400));
    }
    assert!(!opened(&bench));
    bench.fail(1);
    assert!(opened(&bench));
}

#[test]
fn ten_failures_in_a_row_are_the_default() {
    let bench = Bench::new(&Config::new());
    for _ in 0..9 {
        bench.fail(1);
        bench.advance(s(3600));
    }
    assert!(!opened(&bench));
    bench.fail(1);
    assert!(opened(&bench));
}

#[test]
fn ignored_calls_are_not_recorded() {
    let bench = Bench::new(&calls(4, 4));
    for _ in 0..10 {
        bench.calls(6, Outcome::Ignored);
        bench.succeed(1);
        bench.fail(1);
        bench.breaker.close();
    }
    bench.fail(1);
    bench.calls(60, Outcome::Ignored);
    let snapshot = bench.breaker.snapshot();
    assert_eq!(
        (snapshot.calls, snapshot.failed, snapshot.ignored),
        (1, 1, 120)
    );
}

#[test]
fn a_dropped_call_follows_the_policy() {
    let after = |policy: OnCancel, time| {
        let bench = Bench::new(&calls(10, 10).slow(s(1)).on_cancel(policy));
        let permit = bench.permit();
        bench.advance(time);
        drop(permit);
        let snapshot = bench.breaker.snapshot();
        (
            snapshot.calls,
            snapshot.failed,
            snapshot.slow,
            snapshot.cancelled,
            snapshot.successful,
        )
    };
    assert_eq!(after(OnCancel::Slow, s(1)), (0, 0, 0, 0, 0));
    assert_eq!(after(OnCancel::Slow, s(1) + NANO), (1, 0, 1, 1, 0));
    assert_eq!(after(OnCancel::Ignore, s(5)), (0, 0, 0, 0, 0));
    assert_eq!(after(OnCancel::Failure, ms(1)), (1, 1, 0, 0, 0));
    assert_eq!(after(OnCancel::Failure, s(5)), (1, 1, 1, 0, 0));
}

#[test]
fn what_a_window_holds_is_gone_when_it_closes_again() {
    let bench = Bench::new(&calls(4, 4).half_open_calls(1));
    bench.fail(4);
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.breaker.snapshot().calls, 0);
    bench.fail(3);
    assert!(!opened(&bench));
    bench.fail(1);
    assert!(opened(&bench));
}

#[test]
fn rejected_calls_are_counted_apart() {
    let bench = Bench::new(&calls(2, 2));
    bench.fail(2);
    for _ in 0..7 {
        let _ = bench.rejection();
    }
    let snapshot = bench.breaker.snapshot();
    assert_eq!((snapshot.calls, snapshot.not_permitted), (2, 7));
}
