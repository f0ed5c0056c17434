//! One line for each transition.

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, Outcome, Registry, State, Window};
use tracing::Level;

use crate::heard::{Heard, Line, hear};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn make(config: &Config) -> (TestClock, CircuitBreaker) {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    (clock, registry.create("stock", config).unwrap())
}

fn call(breaker: &CircuitBreaker, outcome: Outcome) {
    if let Ok(permit) = breaker.try_acquire() {
        permit.finish(outcome);
    }
}

fn one(heard: &Heard) -> Line {
    let mut lines = heard.take();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines.remove(0)
}

#[test]
fn an_outage_from_opening_to_closing() {
    let heard = hear(Level::INFO);
    let config = Config::new()
        .window(Window::Calls(10))
        .min_calls(10)
        .failure_rate(30.0)
        .half_open_calls(2);
    let (clock, breaker) = make(&config);
    for number in 0..10 {
        let failed = number >= 7;
        call(
            &breaker,
            if failed {
                Outcome::Failure
            } else {
                Outcome::Success
            },
        );
    }
    let line = one(&heard);
    assert_eq!(
        (line.level, line.target.as_str()),
        (Level::ERROR, "cb_runtime")
    );
    assert_eq!(
        line.message,
        "circuit breaker `stock` opened: 3 of 10 calls failed (30%), `failure_rate` is 30%; first \
         probe in 10.0s"
    );
    let mut expected = std::collections::BTreeMap::new();
    for (field, value) in [
        ("name", "stock"),
        ("from", "CLOSED"),
        ("to", "OPEN"),
        ("rule", "failure_rate"),
        ("cause", "3 of 10 calls failed (30%), `failure_rate` is 30%"),
        ("limit", "30.0"),
        ("calls", "10"),
        ("failed", "3"),
        ("slow", "0"),
        ("failure_rate", "30.0"),
        ("slow_rate", "0.0"),
        ("wait", "10.0"),
        ("generation", "2"),
    ] {
        expected.insert(field.to_owned(), value.to_owned());
    }
    assert_eq!(line.fields, expected);

    clock.advance(s(10));
    call(&breaker, Outcome::Success);
    let line = one(&heard);
    assert_eq!(line.level, Level::WARN);
    assert_eq!(
        line.message,
        "circuit breaker `stock` is half-open: the wait is over"
    );
    assert_eq!(
        (line.get("rule"), line.get("generation")),
        ("wait_over", "3")
    );
    // Those that were shown in OPEN.
    assert_eq!(
        (line.get("calls"), line.get("failed"), line.get("limit")),
        ("10", "3", "")
    );

    call(&breaker, Outcome::Failure);
    let line = one(&heard);
    assert_eq!(line.level, Level::ERROR);
    assert!(
        line.message
            .starts_with("circuit breaker `stock` opened again: 1 of 2")
    );
    assert_eq!(
        (line.get("from"), line.get("calls"), line.get("failed")),
        ("HALF_OPEN", "2", "1")
    );

    clock.advance(s(10));
    call(&breaker, Outcome::Success);
    call(&breaker, Outcome::Success);
    let lines = heard.take();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1].level, Level::INFO);
    assert_eq!(
        lines[1].message,
        "circuit breaker `stock` closed: 2 probes returned, 0 of them failed"
    );
    assert_eq!(
        (lines[1].get("rule"), lines[1].get("wait")),
        ("probes_succeeded", "")
    );
}

#[test]
fn manual_states_are_warnings() {
    let heard = hear(Level::INFO);
    let (_clock, breaker) = make(&Config::new());
    breaker.force_open();
    breaker.disable();
    breaker.metrics_only();
    breaker.close();
    breaker.open_for(Duration::MAX).unwrap();
    breaker.reset();
    let told: Vec<_> = heard
        .take()
        .into_iter()
        .map(|line| (line.level, line.message))
        .collect();
    let warn = |what: &str| {
        (
            Level::WARN,
            format!("circuit breaker `stock` {what}: by hand"),
        )
    };
    let info = |what: &str| (Level::INFO, format!("circuit breaker `stock` {what}"));
    assert_eq!(
        told,
        [
            warn("was forced open"),
            warn("was disabled"),
            warn("only records from now on"),
            info("closed: by hand"),
            (
                Level::ERROR,
                "circuit breaker `stock` opened: by hand; until it is told otherwise".to_owned()
            ),
            info("closed: by hand"),
            info("was reset"),
        ]
    );
}

#[test]
fn what_was_due_earlier_is_told_once_and_in_order() {
    let heard = hear(Level::INFO);
    let (clock, breaker) = make(&Config::new().auto_half_open(true).half_open_calls(1));
    breaker.open().unwrap();
    clock.advance(s(11));
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(breaker.state(), State::HalfOpen);
    call(&breaker, Outcome::Success);
    let to: Vec<_> = heard
        .take()
        .iter()
        .map(|line| line.get("to").to_owned())
        .collect();
    assert_eq!(to, ["OPEN", "HALF_OPEN", "CLOSED"]);
}

#[test]
fn conflicts_are_warnings() {
    let heard = hear(Level::INFO);
    let registry = Registry::new();
    let config = Config::new().min_calls(3);
    registry.create("tracing.conflict", &config).unwrap();
    registry
        .create("tracing.conflict", &Config::new().min_calls(4))
        .unwrap();
    let line = one(&heard);
    assert_eq!(line.level, Level::WARN);
    assert_eq!(line.message, registry.conflicts()[0].to_string());
}
