//! Snapshots, events, settings and conflicts as JSON.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    CircuitBreaker, Config, EventKind, Interest, OnCancel, Registry, Snapshot, State, Window,
};
use serde_json::{Value, json};

/// Half a second of binary fraction, so that the expected numbers are exact.
const HALF: Duration = Duration::from_millis(500);

fn registry() -> (Registry, TestClock) {
    let clock = TestClock::new();
    (Registry::with_clock(&clock), clock)
}

fn config() -> Config {
    Config::new()
        .window(Window::Calls(4))
        .min_calls(4)
        .slow(Duration::from_secs(1))
        .count_running(true)
        .wait(Duration::from_secs(2))
        .half_open_calls(2)
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

fn value(of: &impl serde::Serialize) -> Value {
    serde_json::to_value(of).expect("a value")
}

/// Every duration must be a number; what serde makes of them by itself is an object.
fn assert_no_parts_of_durations(json: &Value) {
    match json {
        Value::Object(fields) => {
            assert!(!fields.contains_key("nanos"), "{json}");
            fields.values().for_each(assert_no_parts_of_durations);
        }
        Value::Array(items) => items.iter().for_each(assert_no_parts_of_durations),
        _ => {}
    }
}

#[test]
fn a_snapshot_is_written_with_its_units_and_comes_back_the_same() {
    let (registry, clock) = registry();
    let breaker = registry.create("stock\"\n", &config()).unwrap();
    let seen = |breaker: &CircuitBreaker| {
        let snapshot = breaker.snapshot();
        let json = value(&snapshot);
        assert_no_parts_of_durations(&json);
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
        json
    };

    let running = breaker.try_acquire().unwrap();
    clock.advance(HALF);
    let json = seen(&breaker);
    assert_eq!(json["name"], "stock\"\n");
    assert_eq!(json["state"], "CLOSED");
    assert_eq!(json["oldest"], 0.5);
    assert_eq!(json["failure_rate"], Value::Null);
    assert_eq!(json["probes"], Value::Null);
    running.success();

    fail(&breaker, 3);
    clock.advance(HALF);
    let json = seen(&breaker);
    assert_eq!(json["state"], "OPEN");
    assert_eq!(json["in_state_for"], 0.5);
    assert_eq!(json["wait"], 2.0);
    assert_eq!(json["retry_after"], 1.5);
    assert_eq!(json["failure_rate"], 75.0);
    assert_eq!((&json["calls"], &json["failed"]), (&json!(4), &json!(3)));

    clock.advance(Duration::from_secs(2));
    breaker.call(|| Ok::<_, ()>(())).unwrap();
    let json = seen(&breaker);
    assert_eq!(json["state"], "HALF_OPEN");
    assert_eq!(json["probes"]["returned"], 1);
    assert_eq!(json["probes"]["ends_in"], 30.0);
}

#[test]
fn waits_without_an_end_and_of_any_length_come_back() {
    let (registry, clock) = registry();
    let breaker = registry.get_or_create("stock");
    for wait in [
        Duration::MAX,
        Duration::from_nanos(1_000_001),
        Duration::from_secs(86_400 * 365 * 100),
    ] {
        breaker.open_for(wait).unwrap();
        clock.advance(Duration::from_nanos(1));
        let text = serde_json::to_string(&breaker.snapshot()).unwrap();
        let back: Snapshot = serde_json::from_str(&text).unwrap();
        let left = breaker.snapshot().retry_after;
        match (back.retry_after, left) {
            (Some(back), Some(left)) => assert!(back.abs_diff(left) <= left / 1_000_000_000),
            (back, left) => assert_eq!(back, left),
        }
    }
}

#[test]
fn a_client_may_know_more_or_less_than_the_server() {
    let (registry, _clock) = registry();
    let json = value(&registry.get_or_create("stock").snapshot());
    let with = |field: &str, change: Value| {
        let mut json = json.clone();
        json[field] = change;
        serde_json::from_value::<Snapshot>(json)
    };
    assert!(with("of_a_later_version", json!(1)).is_ok());
    let longest = with("in_state_for", json!(1e300)).unwrap();
    assert_eq!(longest.in_state_for, Duration::MAX);
    for wrong in [json!(-1.0), json!("1s"), json!({"secs": 1, "nanos": 0})] {
        assert!(with("in_state_for", wrong.clone()).is_err(), "{wrong}");
        assert!(with("retry_after", wrong.clone()).is_err(), "{wrong}");
    }
    assert!(with("state", json!("AJAR")).is_err());

    let mut without = json.clone();
    without.as_object_mut().unwrap().remove("retry_after");
    assert_eq!(
        serde_json::from_value::<Snapshot>(without)
            .unwrap()
            .retry_after,
        None
    );
}

#[test]
fn states_are_written_as_they_are_called() {
    for state in [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::MetricsOnly,
    ] {
        assert_eq!(value(&state), state.as_str());
        assert_eq!(
            serde_json::from_value::<State>(json!(state.as_str())).unwrap(),
            state
        );
    }
}

#[test]
fn events_name_what_happened() {
    let (registry, clock) = registry();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let _subscription = registry.subscribe(Interest::ALL, move |event| {
        let json = value(event);
        assert_no_parts_of_durations(&json);
        assert_eq!(json["breaker"], event.breaker());
        assert!(json["generation"].is_u64());
        log.lock().unwrap().push(json);
    });
    let kinds = || {
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        heard
            .into_iter()
            .map(|mut event| event["kind"].take())
            .collect::<Vec<_>>()
    };

    let config = config().count_running(false).on_cancel(OnCancel::Slow);
    let breaker = registry.create("stock", &config).unwrap();
    let ending_late = breaker.try_acquire().unwrap();
    let dropped = breaker.try_acquire().unwrap();
    clock.advance(HALF);
    breaker.call(|| Ok::<_, ()>(())).unwrap();
    breaker.try_acquire().unwrap().ignore();
    assert_eq!(
        kinds(),
        [
            json!({"type": "success", "duration": 0.0}),
            json!({"type": "ignored", "duration": 0.0}),
        ]
    );
    clock.advance(Duration::from_secs(1));
    drop(dropped);
    assert_eq!(kinds(), [json!({"type": "cancelled", "duration": 1.5})]);

    fail(&breaker, 2);
    ending_late.success();
    fail(&breaker, 1);
    let told = kinds();
    assert_eq!(told[0], json!({"type": "error", "duration": 0.0}));
    assert_eq!(
        told[2..],
        [
            json!({"type": "failure_rate_exceeded", "rate": 50.0}),
            json!({"type": "transition", "from": "CLOSED", "to": "OPEN",
                   "cause": {"type": "failure_rate", "failed": 2, "calls": 4, "limit": 50.0}}),
            json!({"type": "late"}),
            json!({"type": "not_permitted", "reason": "open"}),
        ]
    );

    breaker.reset();
    assert_eq!(
        kinds(),
        [
            json!({"type": "transition", "from": "OPEN", "to": "CLOSED", "cause": {"type": "manual"}}),
            json!({"type": "reset"}),
        ]
    );

    let _ = registry.create("stock", &Config::new()).unwrap();
    assert_eq!(
        kinds(),
        [json!({"type": "conflict", "breaker": "stock", "kind": {"type": "already_made"}})]
    );
}

#[test]
fn settings_and_conflicts_name_their_layer() {
    let (registry, _clock) = registry();
    let breaker = registry.create_from("stock", "none", &config()).unwrap();
    assert_eq!(
        value(&breaker.config()[0]),
        json!({"setting": "window", "value": "4", "layer": "code"})
    );
    let conflicts = value(&registry.conflicts());
    assert_eq!(
        conflicts,
        json!([{"breaker": "stock", "kind": {"type": "missing_template", "detail": "none"}}])
    );
    assert_eq!(
        value(&breaker.explain()),
        Value::String(breaker.explain().to_string())
    );
    let error = Config::new().min_calls(0).validate().unwrap_err();
    assert_eq!(value(&error)["field"], "min_calls");
    assert_eq!(value(&error)["value"], "0");
}

#[test]
fn event_kinds_are_all_told_apart() {
    let kinds = [
        EventKind::Late,
        EventKind::Reset,
        EventKind::CyclesSkipped { cycles: 7 },
        EventKind::SlowRateExceeded { rate: 12.5 },
    ];
    assert_eq!(
        value(&kinds),
        json!([
            {"type": "late"},
            {"type": "reset"},
            {"type": "cycles_skipped", "cycles": 7},
            {"type": "slow_rate_exceeded", "rate": 12.5},
        ])
    );
}
