//! Listeners while many threads change the breaker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use cb_runtime::{CircuitBreaker, Config, EventKind, Interest, State, Window};
use cb_tests::harness::{Bench, Log};

use super::gang::Meeting;

fn small() -> Bench {
    Bench::new(
        &Config::new()
            .window(Window::Calls(4))
            .min_calls(2)
            .half_open_calls(2),
    )
}

/// Eight threads that change the state by hand, and by failing.
fn change(bench: &Bench, turns: usize) {
    let meeting = &Meeting::default();
    thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                for turn in 0..turns {
                    meeting.during(|| change_once(&bench.breaker, number + turn));
                }
            });
        }
    });
    meeting.assert();
}

fn change_once(breaker: &CircuitBreaker, turn: usize) {
    match turn % 8 {
        0 => breaker.force_open(),
        1 | 2 => breaker.close(),
        3 => drop(breaker.open()),
        4 => drop(breaker.half_open()),
        5 => breaker.reset(),
        6 => breaker.disable(),
        _ => {}
    }
    if let Ok(permit) = breaker.try_acquire() {
        permit.failure();
    }
}

/// Each transition begins where the one before ended, whoever caused them.
#[test]
fn transitions_are_heard_in_order() {
    let bench = small();
    let own = bench.log(Interest::TRANSITIONS);
    let all = Log::start(|listener| bench.registry.subscribe(Interest::TRANSITIONS, listener));
    change(&bench, 4000);
    for log in [own, all] {
        let mut state = State::Closed;
        let mut generation = 0;
        let mut transitions = 0;
        for event in log.take() {
            assert!(event.generation >= generation, "{event:?}");
            generation = event.generation;
            if let EventKind::Transition { from, to, .. } = event.kind {
                assert_eq!(from, state, "{event:?}");
                state = to;
                transitions += 1;
            }
        }
        assert_eq!(state, bench.breaker.state());
        assert!(transitions > 1000, "only {transitions} transitions");
    }
}

#[test]
fn listeners_are_called_one_at_a_time() {
    let bench = small();
    let busy = Arc::new(AtomicBool::new(false));
    let overlaps = Arc::new(AtomicUsize::new(0));
    let calls = Arc::new(AtomicUsize::new(0));
    let _subscription = bench.breaker.subscribe(Interest::ALL, {
        let (busy, overlaps, calls) =
            (Arc::clone(&busy), Arc::clone(&overlaps), Arc::clone(&calls));
        move |_| {
            if busy.swap(true, Ordering::SeqCst) {
                overlaps.fetch_add(1, Ordering::SeqCst);
            }
            calls.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            busy.store(false, Ordering::SeqCst);
        }
    });
    change(&bench, 1000);
    assert_eq!(overlaps.load(Ordering::SeqCst), 0);
    assert!(calls.load(Ordering::SeqCst) > 1000);
}

/// Whatever is not heard is counted: nothing gets lost in between.
#[test]
fn per_call_events_are_heard_or_counted() {
    let bench = Bench::new(
        &Config::new()
            .min_calls(1_000_000)
            .consecutive_failures_off(),
    );
    let heard = Arc::new(AtomicU64::new(0));
    let _subscription = bench.breaker.subscribe(Interest::CALLS, {
        let heard = Arc::clone(&heard);
        move |_| {
            heard.fetch_add(1, Ordering::SeqCst);
        }
    });
    let meeting = Meeting::default();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| meeting.during(|| bench.succeed(10_000)));
        }
    });
    meeting.assert();
    let dropped = bench.breaker.snapshot().dropped_events;
    assert_eq!(heard.load(Ordering::SeqCst) + dropped, 80_000);
    assert_eq!(bench.breaker.snapshot().calls, 80_000);
}

/// A listener that closes the breaker as soon as it opens, from many threads.
#[test]
fn a_listener_may_call_back_under_load() {
    let bench = small();
    let opened = Arc::new(AtomicUsize::new(0));
    let breaker = bench.breaker.clone();
    let _subscription = bench.breaker.subscribe(Interest::TRANSITIONS, {
        let opened = Arc::clone(&opened);
        move |event| {
            if let EventKind::Transition {
                to: State::Open, ..
            } = event.kind
            {
                opened.fetch_add(1, Ordering::SeqCst);
                let _ = (breaker.snapshot(), breaker.explain());
                breaker.close();
            }
        }
    });
    let meeting = Meeting::default();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    let _ = meeting.during(|| bench.breaker.call(|| Err::<(), _>("down")));
                }
            });
        }
    });
    meeting.assert();
    assert!(opened.load(Ordering::SeqCst) > 0);
    assert_eq!(bench.breaker.state(), State::Closed);
}

/// Subscriptions come and go while events are delivered.
#[test]
fn subscribing_and_leaving_is_safe_at_any_time() {
    let bench = small();
    let meeting = Meeting::default();
    thread::scope(|scope| {
        scope.spawn(|| meeting.during(|| change(&bench, 500)));
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    meeting.during(|| drop(bench.log(Interest::ALL)));
                }
            });
        }
    });
    meeting.assert();
    let log = bench.log(Interest::TRANSITIONS);
    bench.breaker.reset();
    assert_eq!(log.names().last().map(String::as_str), Some("RESET"));
}
