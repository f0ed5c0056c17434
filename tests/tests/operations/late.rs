//! Outcomes that come when the stay of their call is over.

use cb_runtime::{Config, OnCancel, Outcome, Permit, State, Window};
use cb_tests::harness::{Bench, s};

fn config() -> Config {
    Config::new()
        .window(Window::Calls(10))
        .min_calls(2)
        .half_open_calls(2)
        .consecutive_failures(3)
        .on_cancel(OnCancel::Failure)
}

/// Every way in which a call can end.
const ENDS: [Option<Outcome>; 4] = [
    Some(Outcome::Success),
    Some(Outcome::Failure),
    Some(Outcome::Ignored),
    None,
];

fn end(permit: Permit<'_>, outcome: Option<Outcome>) {
    match outcome {
        Some(outcome) => permit.finish(outcome),
        None => drop(permit),
    }
}

/// Takes permits in CLOSED, goes to `state`, and ends them there.
fn changes_nothing(state: State, outcome: Option<Outcome>) {
    let bench = Bench::new(&config());
    let running: Vec<_> = (0..20).map(|_| bench.permit()).collect();
    match state {
        State::Closed => bench.breaker.close(),
        State::ForcedOpen => bench.breaker.force_open(),
        State::Disabled => bench.breaker.disable(),
        State::MetricsOnly => bench.breaker.metrics_only(),
        _ => bench.fail(2),
    }
    if state == State::HalfOpen {
        bench.advance(s(10));
        // One of two probes is under way.
        bench.permit().success();
    }
    let before = bench.breaker.snapshot();
    assert_eq!(before.state, state);
    for permit in running {
        end(permit, outcome);
    }
    let mut after = bench.breaker.snapshot();
    assert_eq!(after.late, before.late + 20, "{outcome:?} in {state}");
    after.late = before.late;
    assert_eq!(after, before, "{outcome:?} in {state}");
    if state == State::HalfOpen {
        // No permit has come out of nothing.
        let _probe = bench.permit();
        let _ = bench.rejection();
    }
}

#[test]
fn late_outcomes_change_nothing() {
    for state in [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::MetricsOnly,
    ] {
        for outcome in ENDS {
            changes_nothing(state, outcome);
        }
    }
}

/// A probe of one HALF_OPEN stay says nothing in the next one.
#[test]
fn a_probe_belongs_to_its_stay() {
    for outcome in ENDS {
        let bench = Bench::new(&config());
        bench.fail(2);
        bench.advance(s(10));
        let old = [bench.permit(), bench.permit()];
        // Nobody answers within the longest stay: OPEN, and after the wait the next stay.
        bench.advance(s(30) + s(10));
        let new = bench.permit();
        for permit in old {
            end(permit, outcome);
        }
        let probes = bench.breaker.snapshot().probes.expect("HALF_OPEN");
        assert_eq!((probes.in_flight, probes.returned), (1, 0), "{outcome:?}");
        let second = bench.permit();
        let _ = bench.rejection();
        new.success();
        second.success();
        assert_eq!(bench.breaker.state(), State::Closed);
    }
}

/// Also an outcome that comes before anybody noticed that the longest stay is over.
#[test]
fn an_outcome_after_the_longest_stay_is_late_although_nobody_looked() {
    let bench = Bench::new(&config());
    bench.fail(2);
    bench.advance(s(10));
    let probes = [bench.permit(), bench.permit()];
    bench.advance(s(30));
    for probe in probes {
        probe.success();
    }
    assert_eq!(bench.breaker.state(), State::Open);
    assert_eq!(bench.breaker.snapshot().late, 2);
}

#[test]
fn a_call_may_end_after_its_breaker_has_left_the_registry() {
    let bench = Bench::new(&config());
    let permit = bench.permit();
    assert!(bench.registry.remove("bench"));
    permit.failure();
    assert_eq!(bench.breaker.snapshot().failed, 1);
}
