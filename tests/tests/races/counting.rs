//! When it is quiet the figures are those of a recount.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use cb_runtime::{Config, EventKind, Interest, Outcome, Window};
use cb_tests::harness::{Bench, ms, s};

use super::gang::Meeting;

const WORKERS: u32 = 8;

/// Every thread records so many outcomes, every fifth a failure, every seventh ignored.
fn record(bench: &Bench, each: u32, also: impl Fn() + Sync) -> (u32, u32, u64) {
    let done = AtomicBool::new(false);
    let meeting = Meeting::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                meeting.during(&also);
                thread::yield_now();
            }
        });
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| {
                scope.spawn(|| {
                    for call in 0..each {
                        meeting.during(|| {
                            let permit = bench.permit();
                            if call % 32 == 0 {
                                // The others have their turn while this call is running.
                                thread::yield_now();
                            }
                            permit.finish(outcome(call));
                        });
                    }
                })
            })
            .collect();
        for worker in workers {
            let _ = worker.join();
        }
        done.store(true, Ordering::SeqCst);
    });
    meeting.assert();
    let count = |what: Outcome| (0..each).filter(|&call| outcome(call) == what).count();
    let all = |what| u32::try_from(count(what)).expect("small") * WORKERS;
    (
        all(Outcome::Success),
        all(Outcome::Failure),
        all(Outcome::Ignored).into(),
    )
}

fn outcome(call: u32) -> Outcome {
    match call {
        call if call % 7 == 6 => Outcome::Ignored,
        call if call % 5 == 4 => Outcome::Failure,
        _ => Outcome::Success,
    }
}

fn nothing_opens(window: Window) -> Bench {
    let config = Config::new()
        .window(window)
        .min_calls(900_000)
        .consecutive_failures_off();
    Bench::new(&config)
}

#[test]
fn a_window_that_holds_all_has_counted_all() {
    for window in [
        Window::Calls(900_000),
        Window::Time(s(86_400)),
        Window::Time(s(10)),
    ] {
        let bench = nothing_opens(window);
        let (good, bad, ignored) = record(&bench, 20_000, || drop(bench.breaker.snapshot()));
        let shown = bench.breaker.snapshot();
        assert_eq!(
            (shown.successful, shown.failed, shown.calls),
            (good, bad, good + bad)
        );
        assert_eq!(shown.ignored, ignored);
    }
}

/// The clock goes on meanwhile, through thousands of buckets that all are within the window.
#[test]
fn a_time_window_loses_nothing_at_the_ends_of_its_buckets() {
    let bench = nothing_opens(Window::Time(s(24 * 3600)));
    let advanced = AtomicU64::new(0);
    let (good, bad, _) = record(&bench, 20_000, || {
        // A bucket is 24 minutes; never further than the window.
        if advanced.fetch_add(1, Ordering::SeqCst) < 55 {
            bench.advance(s(1440));
        }
    });
    let shown = bench.breaker.snapshot();
    assert_eq!((shown.successful, shown.failed), (good, bad));
    bench.advance(s(24 * 3600));
    assert_eq!(bench.breaker.snapshot().calls, 0);
}

/// Calls leave the window while others come: at the end it holds just what came last.
#[test]
fn a_full_count_window_holds_the_last_ones() {
    let bench = Bench::new(
        &Config::new()
            .window(Window::Calls(100))
            .min_calls(100)
            .failure_rate(100.0)
            .consecutive_failures_off(),
    );
    for _ in 0..20 {
        let _ = record(&bench, 2000, || drop(bench.breaker.snapshot()));
        assert_eq!(bench.breaker.snapshot().calls, 100);
        bench.succeed(63);
        bench.fail(37);
        let shown = bench.breaker.snapshot();
        assert_eq!((shown.calls, shown.failed, shown.successful), (100, 37, 63));
    }
}

/// Old buckets leave while calls are recorded into new ones; what is left is exact.
#[test]
fn a_rolling_time_window_is_exact_when_quiet() {
    let config = Config::new()
        .window(Window::Time(s(1)))
        .min_calls(900_000)
        .consecutive_failures_off();
    let bench = Bench::new(&config);
    for _ in 0..20 {
        let _ = record(&bench, 1000, || bench.advance(ms(10)));
        bench.advance(s(1));
        assert_eq!(bench.breaker.snapshot().calls, 0);
        bench.succeed(5);
        bench.fail(3);
        bench.advance(ms(100));
        bench.fail(1);
        let shown = bench.breaker.snapshot();
        assert_eq!((shown.calls, shown.failed), (9, 4));
    }
}

/// Stays end while calls are running: each outcome belongs to its own stay or is late, once.
#[test]
fn every_outcome_is_either_recorded_or_late() {
    let bench = nothing_opens(Window::Calls(900_000));
    let heard: Arc<[AtomicU64; 2]> = Arc::default();
    let counters = Arc::clone(&heard);
    let _subscription = bench.breaker.subscribe(Interest::CALLS, move |event| {
        let late = matches!(event.kind, EventKind::Late);
        counters[usize::from(late)].fetch_add(1, Ordering::SeqCst);
    });
    // At least this one is late.
    let long = bench.permit();
    bench.breaker.close();
    let (good, bad, ignored) = record(&bench, 5000, || {
        bench.breaker.metrics_only();
        bench.breaker.close();
    });
    long.success();
    let shown = bench.breaker.snapshot();
    let [in_time, late] = [0, 1].map(|i| heard[i].load(Ordering::SeqCst));
    assert_eq!(
        in_time + late + shown.dropped_events,
        u64::from(good + bad) + ignored + 1
    );
    assert!(late > 0);
    assert!((late..=late + shown.dropped_events).contains(&shown.late));
}
