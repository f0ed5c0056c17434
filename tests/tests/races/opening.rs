//! The way into OPEN: once, and with its own deadline.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cb_runtime::{Config, EventKind, Interest, Outcome, State, Window};
use cb_tests::harness::{Bench, ms, s};

use super::gang::{Meeting, equal, rounds};

const THREADS: usize = 64;

/// All fail at once: one transition, told once, whichever rule opens.
fn opens_once(config: &Config, times: usize) {
    // With per-call events there is more to do between an outcome and its verdict.
    for interest in [Interest::TRANSITIONS, Interest::ALL] {
        opens_once_with(config, THREADS, times / 2, interest);
        // A pair keeps at it until it is rejected, so both are at work when it opens.
        opens_once_with(config, 2, times, interest);
    }
}

fn opens_once_with(config: &Config, threads: usize, times: usize, interest: Interest) {
    let bench = Bench::new(config);
    let log = bench.log(interest);
    let each = if threads == 2 { usize::MAX } else { 1 };
    rounds(
        threads,
        times,
        |_| {
            bench.breaker.reset();
            bench.advance(ms(700));
            let _ = log.take();
        },
        |_, _| {
            for _ in 0..each {
                match bench.breaker.try_acquire() {
                    Ok(permit) => permit.failure(),
                    Err(_) => break,
                }
            }
        },
        |_| {
            let shown = bench.breaker.snapshot();
            equal("state", shown.state, State::Open)?;
            // From OPEN to OPEN there would be no event, but another attempt.
            equal("attempt", shown.attempt, 1)?;
            let names = log.names();
            let count = |what: &str| names.iter().filter(|name| *name == what).count();
            equal("opened", count("CLOSED->OPEN"), 1)?;
            equal(
                "all transitions",
                names.iter().filter(|name| name.contains("->")).count(),
                1,
            )?;
            match count("FAILURE_RATE_EXCEEDED") {
                0 | 1 => Ok(()),
                exceeded => Err(format!("exceeded {exceeded} times")),
            }
        },
    );
}

#[test]
fn a_count_window_opens_once() {
    opens_once(
        &Config::new()
            .window(Window::Calls(100))
            .min_calls(10)
            .consecutive_failures_off(),
        2000,
    );
}

#[test]
fn a_time_window_opens_once() {
    opens_once(
        &Config::new().min_calls(10).consecutive_failures_off(),
        2000,
    );
}

#[test]
fn a_streak_opens_once() {
    opens_once(
        &Config::new().min_calls(1000).consecutive_failures(10),
        1000,
    );
}

/// The minimum is as many calls as there are threads: the last outcome opens, whichever that is,
/// so none may be overlooked.
#[test]
fn no_outcome_is_overlooked_by_the_verdict() {
    for window in [Window::Calls(64), Window::Time(s(10))] {
        opens_once(
            &Config::new()
                .window(window)
                .min_calls(64)
                .consecutive_failures_off(),
            1000,
        );
    }
    let failures = Config::new()
        .min_calls(1000)
        .failure_count(64)
        .consecutive_failures_off();
    opens_once(&failures, 500);
    opens_once(&Config::new().min_calls(1000).consecutive_failures(64), 500);
}

/// One thread's successes complete the minimum while another's failures complete the rate: whoever
/// comes last opens.
#[test]
fn a_success_and_a_failure_at_once_are_both_seen() {
    for window in [Window::Calls(10), Window::Time(s(30))] {
        let config = Config::new()
            .window(window)
            .min_calls(10)
            .consecutive_failures_off();
        let bench = Bench::new(&config);
        rounds(
            2,
            5000,
            |_| bench.breaker.reset(),
            |number, _| {
                let outcome = [Outcome::Success, Outcome::Failure][number];
                for _ in 0..5 {
                    bench.permit().finish(outcome);
                }
            },
            |_| {
                let shown = bench.breaker.snapshot();
                equal("state", shown.state, State::Open)?;
                equal("calls", (shown.failed, shown.successful), (5, 5))
            },
        );
    }
}

/// Each thread fails every third call. However the calls interleave, no 100 in a row have more than
/// 38 failures; and where every other call fails, no 9 failures are in a row.
#[test]
fn nothing_opens_without_reason() {
    const WORKERS: usize = 8;
    /// The 38, and calls in other threads that are being recorded at the moment of the verdict.
    const RATE: f64 = 39.0;
    let rate = Config::new()
        .window(Window::Calls(100))
        .min_calls(100)
        .failure_rate(RATE);
    for (config, failing) in [
        (rate.consecutive_failures_off(), 3),
        (
            Config::new().min_calls(1_000_000).consecutive_failures(9),
            2,
        ),
    ] {
        let bench = Bench::new(&config);
        let log = bench.log(Interest::TRANSITIONS);
        let meeting = Meeting::default();
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    for call in 0..30_000 {
                        let bad = call % failing == failing - 1;
                        let outcome = [Outcome::Success, Outcome::Failure][usize::from(bad)];
                        meeting.during(|| {
                            if let Ok(permit) = bench.breaker.try_acquire() {
                                permit.finish(outcome);
                            }
                        });
                    }
                });
            }
        });
        meeting.assert();
        let events = log.take();
        assert!(events.is_empty(), "{events:?}");
        assert_eq!(bench.breaker.state(), State::Closed);
    }
}

/// The clock jumps only while the breaker is CLOSED, so in OPEN the whole wait is always ahead.
/// Who saw OPEN with the deadline of an earlier stay would take the wait to be over.
#[test]
fn state_and_deadline_are_published_as_one() {
    let bench = Bench::new(&Config::new().min_calls(1000).consecutive_failures_off());
    let log = bench.log(Interest::TRANSITIONS);
    let (done, rejected) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    if let Err(rejection) = bench.breaker.try_acquire() {
                        assert_eq!(rejection.retry_after(), Some(s(100)));
                        rejected.fetch_add(1, Ordering::SeqCst);
                    }
                    let shown = bench.breaker.snapshot();
                    let wait = (shown.state == State::Open).then_some(s(100));
                    assert_eq!(shown.retry_after, wait);
                }
            });
        }
        // Until enough rejections were seen, and some thousand times anyway.
        let mut turns = 0;
        while turns < 3000 || rejected.load(Ordering::SeqCst) < 100 {
            bench
                .breaker
                .open_for(s(100))
                .expect("CLOSED may be opened");
            thread::yield_now();
            bench.breaker.close();
            bench.advance(s(5000));
            turns += 1;
        }
        done.store(true, Ordering::SeqCst);
    });
    let half_opened = log.take().into_iter().any(|event| {
        matches!(
            event.kind,
            EventKind::Transition {
                to: State::HalfOpen,
                ..
            }
        )
    });
    assert!(!half_opened, "a wait was over that had just begun");
}
