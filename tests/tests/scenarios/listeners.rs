//! Listeners.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use cb_runtime::{CircuitBreaker, Interest, State, Subscription};
use cb_tests::harness::lock;

use crate::support::*;

/// A listener that uses its breaker in every way, once.
fn using_listener(breaker: &CircuitBreaker, calls: &Arc<AtomicUsize>) -> Subscription {
    let (own, calls, first) = (breaker.clone(), Arc::clone(calls), AtomicBool::new(true));
    breaker.subscribe(Interest::TRANSITIONS, move |_| {
        if first.swap(false, Ordering::SeqCst) {
            assert_eq!(own.state(), State::Open);
            assert_eq!(own.snapshot().state, State::Open);
            assert!(own.call(|| Ok::<(), ()>(())).is_err());
            own.reset();
            own.call(|| Ok::<(), ()>(())).unwrap();
            now(own.call_async(async { Ok::<(), ()>(()) })).unwrap();
            calls.fetch_add(1, Ordering::SeqCst);
        }
    })
}

#[test]
fn ls_01_a_listener_may_use_the_breaker() {
    for asynchronous in [false, true] {
        let calls = Arc::new(AtomicUsize::new(0));
        let heard = Arc::clone(&calls);
        let state = watched(move || {
            let bench = bench("C=1");
            let _listening = using_listener(&bench.breaker, &heard);
            if asynchronous {
                now(bench.breaker.call_async(async { Err::<(), ()>(()) })).unwrap_err();
            } else {
                bench.fail(1);
            }
            bench.state()
        });
        assert_eq!(state, State::Closed);
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn ls_02_a_listener_that_panics_harms_nobody() {
    let bench = bench("");
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    let _first = bench
        .breaker
        .subscribe(Interest::TRANSITIONS, |_| panic!("in the listener"));
    let _second = bench
        .breaker
        .subscribe(Interest::TRANSITIONS, move |event| {
            if matches!(event.kind, cb_runtime::EventKind::Transition { .. }) {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
    for _ in 0..2 {
        let answer = bench.breaker.call(|| Err::<(), _>("own"));
        assert_eq!(answer, Err(cb_runtime::CallError::Failed("own")));
    }
    assert_eq!(bench.state(), State::Open);
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

/// What one listener heard: the first and the last generation, and how many.
#[derive(Default)]
struct Heard {
    first: AtomicU64,
    last: AtomicU64,
    events: AtomicU64,
}

#[test]
fn ls_03_listeners_may_come_while_events_are_delivered() {
    let bench = bench("");
    let heard: Mutex<Vec<(u64, Arc<Heard>, Subscription)>> = Mutex::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds() / 4 {
                let one = Arc::new(Heard::default());
                let shared = Arc::clone(&one);
                let subscription = bench
                    .breaker
                    .subscribe(Interest::TRANSITIONS, move |event| {
                        let _ = shared.first.compare_exchange(
                            0,
                            event.generation,
                            Ordering::SeqCst,
                            Ordering::SeqCst,
                        );
                        shared.last.store(event.generation, Ordering::SeqCst);
                        shared.events.fetch_add(1, Ordering::SeqCst);
                    });
                let since = bench.breaker.snapshot().generation;
                lock(&heard).push((since, one, subscription));
            }
        });
        for _ in 0..rounds() {
            bench.breaker.force_open();
            bench.breaker.close();
        }
    });
    bench.breaker.force_open();
    let end = bench.breaker.snapshot().generation;
    for (since, one, _subscription) in lock(&heard).iter() {
        let [first, last, events] =
            [&one.first, &one.last, &one.events].map(|figure| figure.load(Ordering::SeqCst));
        assert_eq!(last, end);
        assert!(first <= since + 1, "{first} after {since}");
        assert_eq!(events, last - first + 1, "every event since the first one");
    }
}

#[test]
fn ls_04_dropping_the_subscription_unregisters() {
    let bench = bench("");
    let heard = Arc::new(AtomicUsize::new(0));
    let listener = || {
        let heard = Arc::clone(&heard);
        move |_: &cb_runtime::Event| {
            heard.fetch_add(1, Ordering::SeqCst);
        }
    };
    for _ in 0..1000 {
        let breaker = bench.registry.get_or_create("bench");
        drop(breaker.subscribe(Interest::TRANSITIONS, listener()));
    }
    assert_eq!(Arc::strong_count(&heard), 1, "no listener is left");
    bench.breaker.force_open();
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    let _kept = bench.breaker.subscribe(Interest::TRANSITIONS, listener());
    bench.breaker.close();
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

#[test]
fn ls_05_a_late_listener_of_the_registry_hears_old_breakers() {
    let bench = bench("");
    let log = cb_tests::harness::Log::start(|listener| {
        bench.registry.subscribe(Interest::TRANSITIONS, listener)
    });
    bench.trip();
    assert_eq!(log.names(), ["FAILURE_RATE_EXCEEDED", "CLOSED->OPEN"]);
}
