//! Events: which, in what order, to whom, and what a bad listener cannot do.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::{
    Cause, Config, EventKind, Interest, MaxWaitState, Outcome, Reason, Registry, State, Window,
};
use cb_tests::harness::{Bench, Log, NANO, lock, ms, s};

/// Opens at two failures of two, probes once.
fn small() -> Config {
    Config::new()
        .window(Window::Calls(2))
        .min_calls(2)
        .half_open_calls(1)
}

fn bench() -> Bench {
    Bench::new(&small())
}

#[test]
fn the_order_is_outcome_exceeded_rates_transition() {
    let bench = Bench::new(&small().slow(s(1)));
    let log = bench.log(Interest::ALL);
    bench.call_for(s(2), Outcome::Success);
    bench.call_for(s(2), Outcome::Failure);
    let _ = bench.rejection();
    assert_eq!(
        log.names(),
        [
            "SUCCESS",
            "ERROR",
            "FAILURE_RATE_EXCEEDED",
            "SLOW_CALL_RATE_EXCEEDED",
            "CLOSED->OPEN",
            "NOT_PERMITTED"
        ]
    );
}

#[test]
fn half_open_tells_no_exceeded_rates() {
    let bench = bench();
    bench.fail(2);
    bench.advance(s(10));
    let log = bench.log(Interest::ALL);
    bench.fail(1);
    assert_eq!(log.names(), ["OPEN->HALF_OPEN", "ERROR", "HALF_OPEN->OPEN"]);
}

#[test]
fn metrics_only_tells_an_exceeded_rate_once_a_stay() {
    let bench = bench();
    bench.breaker.metrics_only();
    let log = bench.log(Interest::TRANSITIONS);
    bench.fail(5);
    assert_eq!(log.names(), ["FAILURE_RATE_EXCEEDED"]);
    bench.breaker.metrics_only();
    bench.fail(5);
    assert_eq!(log.names(), ["FAILURE_RATE_EXCEEDED"]);
}

#[test]
fn disabled_tells_transitions_and_resets_only() {
    let bench = bench();
    let log = bench.log(Interest::ALL);
    bench.breaker.disable();
    bench.fail(3);
    bench.succeed(1);
    bench.calls(1, Outcome::Ignored);
    bench.breaker.reset();
    assert_eq!(
        log.names(),
        ["CLOSED->DISABLED", "DISABLED->CLOSED", "RESET"]
    );
}

#[test]
fn each_interest_hears_its_own_kinds() {
    let bench = bench();
    let transitions = bench.log(Interest::TRANSITIONS);
    let calls = bench.log(Interest::CALLS);
    bench.calls(1, Outcome::Ignored);
    let late = bench.permit();
    bench.fail(2);
    let _ = bench.rejection();
    late.success();
    assert_eq!(
        transitions.names(),
        ["FAILURE_RATE_EXCEEDED", "CLOSED->OPEN"]
    );
    assert_eq!(
        calls.names(),
        ["IGNORED_ERROR", "ERROR", "ERROR", "NOT_PERMITTED", "LATE"]
    );
}

/// A rejection in FORCED_OPEN is an event as well, and every rejection gives its reason.
#[test]
fn rejections_say_why() {
    let bench = bench();
    let log = bench.log(Interest::CALLS);
    bench.fail(2);
    let _ = bench.rejection();
    bench.advance(s(10));
    let _probe = bench.permit();
    let _ = bench.rejection();
    bench.breaker.force_open();
    let _ = bench.rejection();
    let reasons: Vec<_> = log
        .take()
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::NotPermitted { reason } => Some(reason),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [Reason::Open, Reason::HalfOpenFull, Reason::ForcedOpen]
    );
}

#[test]
fn a_dropped_subscription_hears_nothing_more() {
    let bench = bench();
    let log = bench.log(Interest::ALL);
    bench.succeed(1);
    let heard = log.stop();
    bench.fail(1);
    assert_eq!(bench.breaker.state(), State::Open);
    assert_eq!(lock(&heard).len(), 1);
}

#[test]
fn a_panicking_listener_disturbs_nobody() {
    let bench = bench();
    let _bad = bench
        .breaker
        .subscribe(Interest::ALL, |_| panic!("a bad listener"));
    let log = bench.log(Interest::ALL);
    bench.fail(2);
    assert_eq!(bench.breaker.state(), State::Open);
    assert_eq!(
        log.names(),
        ["ERROR", "ERROR", "FAILURE_RATE_EXCEEDED", "CLOSED->OPEN"]
    );
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Closed);
    assert_eq!(
        log.names(),
        ["OPEN->HALF_OPEN", "SUCCESS", "HALF_OPEN->CLOSED"]
    );
}

/// Outcomes are stored before listeners hear of them, and no lock is held meanwhile.
#[test]
fn a_listener_may_call_back() {
    let bench = bench();
    let breaker = bench.breaker.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let log = bench.log(Interest::TRANSITIONS);
    let _subscription = bench
        .breaker
        .subscribe(Interest::TRANSITIONS, move |event| {
            if let EventKind::Transition {
                to: State::Open, ..
            } = event.kind
            {
                lock(&sink).push((breaker.state(), breaker.snapshot().failed));
                assert!(breaker.try_acquire().is_err());
                breaker.close();
                assert!(breaker.call(|| Ok::<_, ()>(())).is_ok());
                let _ = breaker.explain().to_string();
            }
        });
    bench.fail(2);
    assert_eq!(*lock(&seen), [(State::Open, 2)]);
    assert_eq!(bench.breaker.snapshot().successful, 1);
    assert_eq!(
        log.names(),
        ["FAILURE_RATE_EXCEEDED", "CLOSED->OPEN", "OPEN->CLOSED"]
    );
}

/// While one event is being delivered the others queue up: per-call ones up to a bound, what is
/// beyond is counted; transitions always.
#[test]
fn the_queue_is_bounded_for_calls_and_complete_for_transitions() {
    let bench = bench();
    let breaker = bench.breaker.clone();
    let log = bench.log(Interest::ALL);
    let first = AtomicU32::new(0);
    let _flood = bench.breaker.subscribe(Interest::ALL, move |_| {
        if first.fetch_add(1, Ordering::Relaxed) == 0 {
            for _ in 0..2000 {
                breaker.try_acquire().expect("permitted").success();
            }
            breaker.force_open();
            breaker.reset();
        }
    });
    bench.succeed(1);
    let names = log.names();
    let dropped = bench.breaker.snapshot().dropped_events;
    assert_eq!(names.len(), 1 + 1024 + 3);
    assert_eq!(dropped, 2000 - 1024);
    assert_eq!(
        names[1025..],
        ["CLOSED->FORCED_OPEN", "FORCED_OPEN->CLOSED", "RESET"]
    );
    // Nothing is lost for good.
    bench.fail(2);
    assert_eq!(log.names().last().map(String::as_str), Some("CLOSED->OPEN"));
}

#[test]
fn a_registry_hears_all_its_breakers() {
    let registry = Registry::new();
    let log = Log::start(|listener| registry.subscribe(Interest::TRANSITIONS, listener));
    let (a, b) = (registry.get_or_create("a"), registry.get_or_create("b"));
    a.force_open();
    b.disable();
    let heard: Vec<_> = log
        .take()
        .iter()
        .map(|event| event.breaker().to_owned())
        .collect();
    assert_eq!(heard, ["a", "b"]);
}

#[test]
fn transitions_say_why_with_figures() {
    let causes = |config: &Config, act: &dyn Fn(&Bench)| -> Vec<String> {
        let bench = Bench::new(config);
        let log = bench.log(Interest::TRANSITIONS);
        act(&bench);
        let causes = log.take().into_iter().filter_map(|event| match event.kind {
            EventKind::Transition { cause, .. } => Some(cause.to_string()),
            _ => None,
        });
        causes.collect()
    };
    let ten = Config::new()
        .window(Window::Calls(10))
        .min_calls(4)
        .consecutive_failures_off();
    let cause = causes(&ten, &|bench| {
        bench.succeed(2);
        bench.fail(2);
    });
    assert!(
        cause[0].contains("2 of 4") && cause[0].contains("failure_rate"),
        "{cause:?}"
    );
    let cause = causes(&ten.clone().slow(s(1)).slow_rate(25.0), &|bench| {
        bench.succeed(3);
        bench.call_for(s(2), Outcome::Success);
    });
    assert!(
        cause[0].contains("1 of 4") && cause[0].contains("slow_rate"),
        "{cause:?}"
    );
    let cause = causes(&ten.clone().failure_count(3), &|bench| bench.fail(3));
    assert!(
        cause[0].contains('3') && cause[0].contains("failure_count"),
        "{cause:?}"
    );
    let cause = causes(&ten.consecutive_failures(3), &|bench| bench.fail(3));
    assert!(
        cause[0].contains('3') && cause[0].contains("consecutive_failures"),
        "{cause:?}"
    );
}

/// What falls due while nobody looks is told with the time at which it was due.
#[test]
fn a_late_look_tells_when_it_happened() {
    let config = small()
        .auto_half_open(true)
        .half_open_max_wait(s(30))
        .half_open_max_wait_state(MaxWaitState::Open);
    let bench = Bench::new(&config);
    bench.fail(2);
    let log = bench.log(Interest::TRANSITIONS);
    bench.advance(s(45));
    assert_eq!(bench.breaker.state(), State::Open);
    let events = log.take();
    let at: Vec<_> = events.iter().map(|event| event.at).collect();
    assert_eq!(at, [s(10), s(40)]);
    assert!(matches!(
        events[0].kind,
        EventKind::Transition {
            cause: Cause::WaitOver,
            ..
        }
    ));
    assert_eq!(bench.breaker.snapshot().in_state_for, s(5));
    assert_eq!(bench.breaker.snapshot().retry_after, Some(s(5)));
}

/// Rounds of OPEN and HALF_OPEN that nobody saw: 64 transitions are told, the rest is arithmetic.
#[test]
fn years_of_rounds_are_caught_up_with_at_once() {
    let config = small()
        .auto_half_open(true)
        .half_open_max_wait(s(20))
        .half_open_max_wait_state(MaxWaitState::Open);
    let bench = Bench::new(&config);
    bench.fail(2);
    let log = bench.log(Interest::TRANSITIONS);
    // A round is 10 s of OPEN and 20 s of HALF_OPEN.
    let rounds = 10_000_000;
    bench.advance(s(30 * rounds) + s(4));
    assert_eq!(bench.breaker.state(), State::Open);
    let snapshot = bench.breaker.snapshot();
    assert_eq!(
        (snapshot.in_state_for, snapshot.retry_after),
        (s(4), Some(s(6)))
    );
    assert_eq!(snapshot.attempt, 1 + rounds);
    let events = log.take();
    let skipped: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::CyclesSkipped { cycles } => Some(cycles),
            _ => None,
        })
        .collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let told = events.len() as u64 - 1;
    assert_eq!(told + 2 * skipped[0], 2 * rounds);
    assert!((64..70).contains(&told), "{told} transitions were told");
    // The rhythm goes on.
    bench.advance(s(6) - NANO);
    assert_eq!(bench.breaker.state(), State::Open);
    bench.advance(NANO);
    assert_eq!(bench.breaker.state(), State::HalfOpen);
}

/// Growing waits do not make a round of a fixed length; the result is the same as step by step.
#[test]
fn growing_waits_are_caught_up_with_too() {
    let config = small()
        .auto_half_open(true)
        .half_open_max_wait(ms(700))
        .half_open_max_wait_state(MaxWaitState::Open)
        .wait(ms(100))
        .wait_multiplier(1.5)
        .wait_max(s(60));
    let (patient, hasty) = (Bench::new(&config), Bench::new(&config));
    for bench in [&patient, &hasty] {
        bench.fail(2);
    }
    for _ in 0..5000 {
        patient.advance(s(7));
        let _ = patient.breaker.state();
    }
    hasty.advance(s(7 * 5000));
    let shown = |bench: &Bench| {
        let state = bench.breaker.state();
        let snapshot = bench.breaker.snapshot();
        (
            state,
            snapshot.in_state_for,
            snapshot.wait,
            snapshot.attempt,
        )
    };
    assert_eq!(shown(&patient), shown(&hasty));
}

#[test]
fn durations_are_told_when_somebody_wants_them() {
    let bench = bench();
    let log = bench.log(Interest::CALLS);
    bench.call_for(ms(1500), Outcome::Success);
    let duration: Option<Duration> = log.take().iter().find_map(|event| match event.kind {
        EventKind::Success { duration } => duration,
        _ => None,
    });
    assert_eq!(duration, Some(ms(1500)));
}

/// However many stays were passed over, the next one is told apart from those before.
#[test]
fn after_billions_of_rounds_calls_are_recorded() {
    for window in [Window::Calls(10), Window::Time(s(10)), Window::Time(s(600))] {
        for idle in [1, 7, 13, 20, 26, 33, 400, 4000] {
            let config = small()
                .window(window)
                .min_calls(10)
                .auto_half_open(true)
                .wait(ms(1))
                .half_open_max_wait(ms(1))
                .half_open_max_wait_state(MaxWaitState::Open);
            let bench = Bench::new(&config);
            bench.fail(3);
            bench.breaker.open().expect("CLOSED may be opened");
            bench.advance(s(idle * 86_400));
            bench.breaker.close();
            bench.succeed(5);
            bench.fail(4);
            let shown = bench.breaker.snapshot();
            assert_eq!(
                (shown.calls, shown.failed),
                (9, 4),
                "{window:?}, {idle} days"
            );
            bench.fail(1);
            assert_eq!(bench.breaker.state(), State::Open);
        }
    }
}
