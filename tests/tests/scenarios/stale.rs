//! Outcomes from an earlier state.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cb_runtime::{CallError, Interest, State};

use crate::support::*;

#[test]
fn st_01_failures_that_arrive_while_open_open_nothing() {
    let bench = bench("O=5s");
    let log = bench.log(Interest::TRANSITIONS);
    let mut calls: Vec<_> = (0..5).map(|_| bench.permit()).collect();
    for call in calls.drain(..2) {
        call.failure();
    }
    let opened = log.names();
    assert_eq!(opened, ["FAILURE_RATE_EXCEEDED", "CLOSED->OPEN"]);
    let before = bench.breaker.snapshot();
    bench.advance(s(1));
    for call in calls {
        call.failure();
    }
    assert!(log.names().is_empty());
    let after = bench.breaker.snapshot();
    assert_eq!((after.calls, after.failed), (before.calls, before.failed));
    assert_eq!(after.retry_after, Some(s(4)));
    assert_eq!(after.late, 3);
}

#[test]
fn st_02_only_a_probe_of_this_stay_closes() {
    let bench = bench("");
    let (first, second) = (bench.permit(), bench.permit());
    bench.trip();
    first.success();
    assert_eq!(bench.state(), State::Open);
    bench.advance(s(10));
    let probe = bench.permit();
    second.success();
    assert_eq!(bench.state(), State::HalfOpen);
    probe.failure();
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn st_04_recording_never_errs_in_any_state() {
    for _ in 0..rounds() / 100 {
        let bench = bench("O=1ms");
        let failed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let answer = bench.breaker.call(|| {
                            bench.advance(ms(1));
                            Err::<(), _>("own")
                        });
                        match answer {
                            Err(CallError::Failed("own")) => {
                                failed.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(CallError::NotPermitted(_)) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                });
            }
        });
        assert!(failed.load(Ordering::Relaxed) >= 2);
        // Every call has ended, so each of them is in a window or was late.
        assert!(matches!(bench.in_flight(), None | Some(0)));
        bench.breaker.open().unwrap();
        bench.advance(ms(1));
        bench.succeed(1);
        assert_eq!(bench.state(), State::Closed);
    }
}

#[test]
fn st_05_a_call_in_flight_at_a_reset_is_not_counted() {
    let bench = bench("");
    let running = bench.permit();
    bench.trip();
    bench.breaker.reset();
    running.failure();
    assert_eq!(bench.state(), State::Closed);
    assert_eq!(bench.counts(), (0, 0));
    bench.fail(1);
    assert_eq!(bench.state(), State::Closed);
    assert_eq!(bench.counts(), (1, 1));
}

#[test]
fn st_06_closing_starts_with_an_empty_window() {
    let bench = bench("W=60s O=5s");
    bench.fail(2);
    bench.advance(s(5));
    bench.succeed(1);
    bench.fail(1);
    assert_eq!(bench.state(), State::Closed);
    assert_eq!(bench.counts(), (1, 1));
}

#[test]
fn st_07_each_stay_wants_its_own_successes() {
    let bench = Bench::new(
        &given("W=10 M=3 P=3")
            .half_open_successes(3)
            .half_open_failures(1),
    );
    bench.until_probe();
    bench.succeed(2);
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.state(), State::HalfOpen);
    bench.succeed(1);
    assert_eq!(bench.state(), State::HalfOpen);
    bench.succeed(1);
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn st_08_after_recovery_the_threshold_is_what_it_was() {
    let bench = bench("C=3");
    for _ in 0..5 {
        bench.fail(2);
        assert_eq!(bench.state(), State::Closed);
        bench.fail(1);
        assert_eq!(bench.state(), State::Open);
        bench.advance(s(10));
        bench.succeed(1);
        assert_eq!(bench.state(), State::Closed);
    }
}
