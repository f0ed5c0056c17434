//! Transitions that several threads want at once, and their events.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cb_runtime::{EventKind, Interest, Permit, State};
use cb_tests::harness::{Log, lock};

use crate::gang::{self, equal};
use crate::support::*;

#[test]
fn ev_01_the_end_of_the_wait_is_one_transition() {
    let bench = bench("");
    let log = bench.log(Interest::TRANSITIONS);
    let errors = AtomicUsize::new(0);
    gang::rounds(
        100,
        rounds() / 2,
        |_| {
            bench.breaker.reset();
            bench.breaker.open().unwrap();
            bench.advance(s(10));
            let _ = log.take();
        },
        |number, round| {
            if number == round % 100 && bench.breaker.half_open().is_err() {
                errors.fetch_add(1, Ordering::SeqCst);
            }
            bench.breaker.try_acquire().ok()
        },
        |_| {
            equal("events", log.names(), vec!["OPEN->HALF_OPEN".to_owned()])?;
            equal("errors", errors.load(Ordering::SeqCst), 0)
        },
    );
}

#[test]
fn ev_02_failures_at_once_open_once() {
    let bench = bench("C=5");
    let log = bench.log(Interest::TRANSITIONS);
    let calls: Vec<Mutex<Option<Permit<'_>>>> = (0..6).map(|_| Mutex::new(None)).collect();
    gang::rounds(
        6,
        rounds(),
        |_| {
            bench.breaker.reset();
            for call in &calls {
                *lock(call) = Some(bench.permit());
            }
            let _ = log.take();
        },
        |number, _| {
            let call = lock(&calls[number]).take();
            call.expect("prepared").failure();
        },
        |_| {
            equal("events", log.names(), vec!["CLOSED->OPEN".to_owned()])?;
            equal("openings", bench.breaker.snapshot().attempt, 1)?;
            bench.advance(s(10));
            bench.succeed(1);
            equal("state", bench.state(), State::Closed)
        },
    );
}

#[test]
fn ev_04_several_failing_probes_open_once() {
    let bench = Bench::new(&given("W=10 M=3 P=3").half_open_failures(1));
    bench.until_probe();
    let probes: Vec<_> = (0..3).map(|_| bench.permit()).collect();
    let log = bench.log(Interest::TRANSITIONS);
    for probe in probes {
        probe.failure();
        bench.advance(s(1));
    }
    assert_eq!(log.names(), ["HALF_OPEN->OPEN"]);
    assert_eq!(
        bench.breaker.snapshot().retry_after,
        Some(s(7)),
        "from the first one"
    );
    assert_eq!(bench.breaker.snapshot().late, 2);
    assert_eq!(bench.breaker.snapshot().attempt, 2);

    // Without the veto the third one decides.
    let bench = crate::support::bench("W=10 M=3 P=3");
    bench.until_probe();
    let probes: Vec<_> = (0..3).map(|_| bench.permit()).collect();
    let log = bench.log(Interest::TRANSITIONS);
    for probe in probes {
        bench.advance(s(1));
        probe.failure();
    }
    assert_eq!(log.names(), ["HALF_OPEN->OPEN"]);
    assert_eq!(bench.breaker.snapshot().retry_after, Some(s(10)));
}

/// From each transition to the next, and to the state at the end.
fn chain(log: &Log, end: State) {
    let mut at = State::Closed;
    for event in log.take() {
        if let EventKind::Transition { from, to, .. } = event.kind {
            assert_eq!(from, at);
            assert_ne!(from, to);
            at = to;
        }
    }
    assert_eq!(at, end);
}

#[test]
fn ev_05_the_events_form_a_chain() {
    let bench = bench("O=5ms P=2 M=2 H=20ms");
    let log = bench.log(Interest::TRANSITIONS);
    thread::scope(|scope| {
        for seed in 1..=8_u64 {
            let bench = &bench;
            scope.spawn(move || {
                let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                for _ in 0..rounds() {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let breaker = &bench.breaker;
                    match random % 20 {
                        0 => breaker.reset(),
                        1 => drop(breaker.open()),
                        2 => drop(breaker.half_open()),
                        3 => breaker.close(),
                        4 => breaker.force_open(),
                        5 => breaker.metrics_only(),
                        6 => breaker.disable(),
                        7..10 => bench.advance(ms(1)),
                        10 => drop(breaker.snapshot()),
                        11 => drop(breaker.try_acquire()),
                        _ => {
                            if let Ok(permit) = breaker.try_acquire() {
                                if random % 3 == 0 {
                                    permit.success()
                                } else {
                                    permit.failure()
                                }
                            }
                        }
                    }
                }
            });
        }
    });
    let end = bench.state();
    chain(&log, end);
}

#[test]
fn ev_06_successes_are_no_transitions() {
    let bench = bench("");
    let log = bench.log(Interest::TRANSITIONS);
    bench.succeed(10);
    assert!(log.names().is_empty());
}

/// The event belongs to the admission; with `auto_half_open` it belongs to whoever looks first.
#[test]
fn ev_07_reading_the_state_tells_nothing_new() {
    let bench = bench("C=1");
    let log = bench.log(Interest::TRANSITIONS);
    bench.until_probe();
    assert_eq!([bench.state(), bench.state()], [State::Open, State::Open]);
    assert!(bench.breaker.would_permit());
    assert_eq!(log.names(), ["CLOSED->OPEN"]);
    let probe = bench.permit();
    assert_eq!(log.names(), ["OPEN->HALF_OPEN"]);
    probe.success();

    let auto = Bench::new(&given("C=1").auto_half_open(true));
    auto.until_probe();
    let log = auto.log(Interest::TRANSITIONS);
    assert_eq!(
        [auto.state(), auto.state()],
        [State::HalfOpen, State::HalfOpen]
    );
    assert_eq!(log.names(), ["OPEN->HALF_OPEN"]);
}
