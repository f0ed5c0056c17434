//! A candidate beside the active configuration: what it would have done, and that it does nothing.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    Cause, CircuitBreaker, Config, Event, EventKind, Interest, Mode, Registry, RehearsalError,
    State, Window,
};
use cb_tests::harness::Log;
use proptest::prelude::*;

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn registry() -> (Registry, TestClock) {
    let clock = TestClock::new();
    (Registry::with_clock(&clock), clock)
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

fn succeed(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Ok::<_, &str>(()));
    }
}

#[test]
fn a_stricter_rule_would_have_opened_rejected_and_closed_again() {
    let (registry, clock) = registry();
    let breaker = registry
        .create("a", &Config::new().consecutive_failures(50).min_calls(50))
        .unwrap();
    clock.advance(s(100));
    let strict = Config::new()
        .consecutive_failures(3)
        .wait(s(5))
        .half_open_calls(2);
    let rehearsal = registry.rehearse("a", &strict).unwrap();
    clock.advance(s(1));
    fail(&breaker, 5); // the third opens; two would have been rejected
    clock.advance(s(2));
    succeed(&breaker, 4); // likewise
    clock.advance(s(3));
    succeed(&breaker, 2); // the probes
    succeed(&breaker, 1);
    clock.advance(s(4));
    let report = rehearsal.report();
    assert_eq!(
        (report.calls, report.opened, report.state),
        (12, 1, State::Closed)
    );
    assert_eq!((report.rejected.failed, report.rejected.successful), (2, 4));
    let opening = report.openings[0];
    assert_eq!((opening.after, opening.closed_after), (s(1), Some(s(5))));
    assert_eq!(opening.cause, Cause::ConsecutiveFailures { failures: 3 });
    assert_eq!((report.lasted, report.not_closed_for), (s(10), s(5)));
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(
        report.to_string(),
        "`a`, rehearsed for 10s on 12 calls:\n  \
         The candidate would have opened once; the active breaker opened never.\n    \
         after 1s: 3 calls in a row failed, as many as `consecutive_failures`; closed 5s later\n  \
         It would have rejected 6 of these calls: 2 that failed, 4 that succeeded.\n  \
         It would be CLOSED now."
    );
}

#[test]
fn nothing_is_decided_and_nothing_stays_behind() {
    let (registry, _) = registry();
    let [with, without] = ["with", "without"]
        .map(|name| registry.create(name, &Config::new().min_calls(50)).unwrap());
    let strict = Config::new().consecutive_failures(1);
    let rehearsal = registry.rehearse("with", &strict).unwrap();
    for breaker in [&with, &without] {
        succeed(breaker, 3);
        fail(breaker, 9);
    }
    assert_eq!(rehearsal.report().opened, 1);
    let figures = |breaker: &CircuitBreaker| {
        let mut snapshot = breaker.snapshot();
        snapshot.name.clear();
        (snapshot, breaker.config())
    };
    assert_eq!(figures(&with), figures(&without));
    assert_eq!(registry.breakers().len(), 2, "the candidate's is nobody's");
    drop(rehearsal);
    // No one asks for durations any more: a listener that comes while a call runs hears none.
    let permit = with.try_acquire().unwrap();
    let log = Log::start(|listener| with.subscribe(Interest::CALLS, listener));
    permit.success();
    let heard = log.take();
    let unmeasured = EventKind::Success { duration: None };
    assert_eq!(heard[0].kind, unmeasured);
}

/// The calls that went on while the candidate would have closed the road.
#[test]
fn what_began_before_an_opening_is_late_and_what_was_under_way_at_the_start_is_left_out() {
    let (registry, clock) = registry();
    let breaker = registry
        .create("a", &Config::new().consecutive_failures_off().slow(s(60)))
        .unwrap();
    let before = breaker.try_acquire().unwrap();
    clock.advance(s(1));
    let rehearsal = registry
        .rehearse("a", &Config::new().consecutive_failures(2))
        .unwrap();
    clock.advance(s(1));
    let in_flight = breaker.try_acquire().unwrap();
    clock.advance(s(1));
    before.failure();
    assert_eq!(rehearsal.report().calls, 0);
    fail(&breaker, 2);
    clock.advance(s(1));
    in_flight.success();
    let report = rehearsal.report();
    assert_eq!(
        (report.calls, report.late, report.rejected.total()),
        (3, 1, 0)
    );
    assert_eq!(report.state, State::Open);
}

/// A probe counts from the end of the wait, though the candidate hears of it when it ends.
#[test]
fn overlapping_calls_after_the_wait_are_all_probes() {
    let (registry, clock) = registry();
    let breaker = registry
        .create("a", &Config::new().consecutive_failures_off())
        .unwrap();
    let candidate = Config::new()
        .consecutive_failures(1)
        .wait(s(5))
        .half_open_calls(3);
    let rehearsal = registry.rehearse("a", &candidate).unwrap();
    fail(&breaker, 1);
    clock.advance(s(4));
    let [early, long] = [0, 1].map(|_| breaker.try_acquire().unwrap());
    clock.advance(s(1));
    let probes = [0, 1, 2].map(|_| breaker.try_acquire().unwrap());
    let fourth = breaker.try_acquire().unwrap();
    clock.advance(s(1));
    early.success();
    assert_eq!(
        rehearsal.report().rejected.successful,
        1,
        "it began before the wait was over"
    );
    probes.into_iter().for_each(|probe| probe.success());
    let report = rehearsal.report();
    assert_eq!((report.state, report.late), (State::Closed, 0));
    fourth.success();
    assert_eq!(rehearsal.report().late, 1, "it began before the closing");
    long.success();
    let report = rehearsal.report();
    assert_eq!(
        (report.rejected.successful, report.late),
        (2, 1),
        "it began while the candidate was OPEN, whatever it is now"
    );
}

#[test]
fn what_the_active_breaker_rejects_is_not_known() {
    let (registry, _) = registry();
    let breaker = registry
        .create("a", &Config::new().consecutive_failures(2))
        .unwrap();
    let rehearsal = registry
        .rehearse("a", &Config::new().consecutive_failures(5))
        .unwrap();
    let late = breaker.try_acquire().unwrap();
    fail(&breaker, 6);
    late.failure();
    let report = rehearsal.report();
    assert_eq!((report.calls, report.opened), (2, 0));
    assert_eq!(
        (
            report.active.opened,
            report.active.rejected,
            report.active.late
        ),
        (1, 4, 1)
    );
    assert!(
        report
            .to_string()
            .contains("Not known is what it would have made of 5 more"),
        "{report}"
    );
}

#[test]
fn the_candidate_is_laid_over_what_the_breaker_has() {
    let (registry, _) = registry();
    let own = Config::new()
        .window(Window::Calls(10))
        .consecutive_failures(4)
        .mode(Mode::MetricsOnly);
    let breaker = registry.create("a", &own).unwrap();
    let same = registry.rehearse("a", &Config::new()).unwrap();
    fail(&breaker, 4);
    assert_eq!(
        same.report().opened,
        1,
        "it opens though the active one is METRICS_ONLY"
    );
    assert!(
        same.explain().to_string().contains("OPEN"),
        "{}",
        same.explain()
    );
    let error = registry
        .rehearse("a", &Config::new().min_calls(11))
        .unwrap_err();
    assert!(matches!(&error, RehearsalError::Config(error) if error.field() == "min_calls"));
    let error = registry.rehearse("b", &Config::new()).unwrap_err();
    assert_eq!(error.to_string(), "there is no circuit breaker `b`");
    assert!(registry.get("b").is_none());
}

/// A call of a random length that ends in one of four ways, after a random pause.
#[derive(Clone, Copy, Debug)]
struct Call {
    pause: u64,
    length: u64,
    end: u8,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = (
        prop_oneof![Just(0), 0..400_u64, 2000..6000_u64],
        0..300_u64,
        0..4_u8,
    );
    let call = call.prop_map(|(pause, length, end)| Call { pause, length, end });
    prop::collection::vec(call, 1..120)
}

fn candidates() -> impl Strategy<Value = Config> {
    let window = prop_oneof![
        (2..12_u32).prop_map(Window::Calls),
        (200..5000_u64).prop_map(|ms| Window::Time(Duration::from_millis(ms)))
    ];
    let half_open = (1..5_u32, prop::option::of(100..900_u64), any::<bool>());
    (window, 10..90_u32, 2..8_u32, 500..3000_u64, half_open).prop_map(
        |(window, rate, in_a_row, wait, (probes, delay, auto))| {
            let ms = Duration::from_millis;
            let config = Config::new()
                .window(window)
                .min_calls(2)
                .failure_rate(f64::from(rate))
                .slow(ms(250))
                .consecutive_failures(in_a_row)
                .wait(ms(wait))
                .half_open_calls(probes)
                .half_open_max_wait(s(4))
                .auto_half_open(auto);
            match delay {
                Some(delay) => config.half_open_delay(ms(delay)),
                None => config,
            }
        },
    )
}

/// When a breaker opened, and why; the clock began with it.
fn opening(event: &Event) -> Option<(Duration, Cause)> {
    match event.kind {
        EventKind::Transition {
            to: State::Open,
            cause,
            ..
        } => Some((event.at, cause)),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// While calls come one after the other, the candidate does what a breaker with its settings does
    /// that is in force: the same openings at the same times, the same calls rejected, the same state.
    #[test]
    fn one_after_the_other_it_is_what_the_candidate_does_in_force(
        calls in calls(),
        candidate in candidates(),
    ) {
        let (registry, clock) = registry();
        let active = registry.create("active", &Config::new().mode(Mode::MetricsOnly)).unwrap();
        let real = registry.create("real", &candidate).unwrap();
        let rehearsal = registry.rehearse("active", &candidate).unwrap();
        let log = Log::start(|listener| real.subscribe(Interest::TRANSITIONS, listener));
        let mut rejected = [0_u64; 3];
        for call in calls {
            clock.advance(Duration::from_millis(call.pause));
            let watched = active.try_acquire().unwrap();
            let own = real.try_acquire();
            clock.advance(Duration::from_millis(call.length));
            // What the rehearsal hears of first must be what happens first.
            match call.end {
                0 | 1 => watched.success(),
                2 => watched.failure(),
                _ => watched.ignore(),
            }
            match (own, call.end) {
                (Ok(permit), 0 | 1) => permit.success(),
                (Ok(permit), 2) => permit.failure(),
                (Ok(permit), _) => permit.ignore(),
                (Err(_), 0 | 1) => rejected[0] += 1,
                (Err(_), 2) => rejected[1] += 1,
                (Err(_), _) => rejected[2] += 1,
            }
        }
        let report = rehearsal.report();
        let would = [report.rejected.successful, report.rejected.failed, report.rejected.other];
        let openings: Vec<_> = log.take().iter().filter_map(opening).collect();
        prop_assert_eq!(report.opened, openings.len() as u64, "{}", &report);
        let told = report.openings.iter().map(|one| (one.after, one.cause));
        prop_assert_eq!(told.collect::<Vec<_>>(), openings);
        prop_assert_eq!(report.state, real.state(), "{}", &report);
        prop_assert_eq!(would, rejected, "{}", &report);
        prop_assert_eq!(report.late, real.snapshot().late);
    }
}

/// Several threads call; whatever the rehearsal hears, it accounts for every call.
#[test]
fn every_call_is_accounted_for() {
    let registry = Registry::new();
    let breaker = registry
        .create("a", &Config::new().mode(Mode::MetricsOnly))
        .unwrap();
    let candidate = Config::new()
        .consecutive_failures(5)
        .wait(Duration::from_micros(300));
    let rehearsal = registry.rehearse("a", &candidate).unwrap();
    const CALLS: u64 = 3000;
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let breaker = &breaker;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let fails = (call + thread) % 50 < 10;
                    let answer = breaker.call(|| if fails { Err(()) } else { Ok(()) });
                    assert_eq!(answer.is_err(), fails, "METRICS_ONLY rejects nothing");
                }
            });
        }
    });
    // What is still in the queue is delivered with the next event.
    let _ = breaker.call(|| Ok::<_, ()>(()));
    let report = rehearsal.report();
    assert_eq!(report.calls + report.missed, 2 * CALLS + 1, "{report}");
    assert!(report.opened > 0);
}
