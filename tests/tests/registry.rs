//! The registry: names, layers, and scopes that keep tests apart.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{CircuitBreaker, Config, EventKind, Interest, Registry, State, Window};
use cb_tests::harness::{Log, s};

/// How many failures in a row open the breaker, up to 200.
fn opens_after(breaker: &CircuitBreaker) -> Option<u32> {
    for failures in 1..=200 {
        let _ = breaker.call(|| Err::<(), _>("down"));
        if breaker.state() == State::Open {
            return Some(failures);
        }
    }
    None
}

fn names(registry: &Registry) -> Vec<String> {
    registry
        .breakers()
        .iter()
        .map(|breaker| breaker.name().to_owned())
        .collect()
}

#[test]
fn a_name_is_one_breaker() {
    let registry = Registry::new();
    assert!(registry.get("a").is_none());
    let made = registry.get_or_create("a");
    made.force_open();
    let again = [
        registry.get_or_create("a"),
        registry.get("a").expect("made"),
    ];
    for breaker in again {
        assert_eq!((breaker.name(), breaker.state()), ("a", State::ForcedOpen));
    }
    assert_eq!(
        registry.clone().get("a").map(|b| b.state()),
        Some(State::ForcedOpen)
    );
    assert!(Registry::new().get("a").is_none());
}

#[test]
fn breakers_are_listed_by_name() {
    let registry = Registry::new();
    for name in ["b", "c", "a", "b"] {
        registry.get_or_create(name);
    }
    assert_eq!(names(&registry), ["a", "b", "c"]);
}

#[test]
fn a_removed_breaker_is_gone_but_its_handles_work() {
    let registry = Registry::new();
    let old = registry.get_or_create("a");
    old.force_open();
    assert!(registry.remove("a"));
    assert!(!registry.remove("a"));
    assert_eq!(names(&registry), [""; 0]);
    let new = registry.get_or_create("a");
    assert_eq!(
        (old.state(), new.state()),
        (State::ForcedOpen, State::Closed)
    );
    old.close();
    assert!(old.call(|| Ok::<_, ()>(())).is_ok());
    assert_eq!((old.snapshot().calls, new.snapshot().calls), (1, 0));
}

#[test]
fn an_invalid_configuration_makes_no_breaker() {
    let registry = Registry::new();
    let five = Config::new().window(Window::Calls(5));
    for (config, field) in [
        (Config::new().min_calls(0), "min_calls"),
        (five.clone().min_calls(6), "min_calls"),
        (five.clone().buckets(5), "buckets"),
        (five.failure_count(6), "failure_count"),
        (Config::new().window(Window::Calls(0)), "window"),
        (
            Config::new().window(Window::Time(Duration::from_millis(99))),
            "window",
        ),
        (Config::new().failure_rate(0.0), "failure_rate"),
        (Config::new().failure_rate(100.1), "failure_rate"),
        (Config::new().failure_rate(f64::NAN), "failure_rate"),
        (Config::new().slow_rate(20.0), "slow_rate"),
        (Config::new().slow(Duration::ZERO), "slow"),
        (
            Config::new().consecutive_failures(0),
            "consecutive_failures",
        ),
        (Config::new().wait(Duration::ZERO), "wait"),
        (Config::new().wait_multiplier(2.0), "wait_multiplier"),
        (
            Config::new().wait_multiplier(0.5).wait_max(s(60)),
            "wait_multiplier",
        ),
        (Config::new().wait(s(10)).wait_max(s(9)), "wait_max"),
        (Config::new().half_open_calls(0), "half_open_calls"),
        (Config::new().half_open_calls(1001), "half_open_calls"),
        (
            Config::new().half_open_max_wait(Duration::ZERO),
            "half_open_max_wait",
        ),
    ] {
        let Err(error) = registry.create("a", &config) else {
            panic!("{field} is accepted")
        };
        assert_eq!(error.field(), field, "{error}");
        let text = error.to_string();
        assert!(
            text.contains(error.value()) && text.contains(error.allowed()),
            "{text}"
        );
        assert_eq!(
            registry.set_default(config.clone()).err(),
            Some(error.clone())
        );
        assert_eq!(registry.set_template("t", config).err(), Some(error));
    }
    assert_eq!(names(&registry), [""; 0]);
    assert_eq!(opens_after(&registry.get_or_create("a")), Some(10));
}

#[test]
fn the_default_is_below_what_is_chosen() {
    let registry = Registry::new();
    let before = registry.get_or_create("before");
    registry
        .set_default(Config::new().consecutive_failures(3))
        .expect("valid");
    assert_eq!(opens_after(&registry.get_or_create("plain")), Some(3));
    let chosen = Config::new().consecutive_failures(5);
    assert_eq!(
        opens_after(&registry.create("chosen", &chosen).expect("valid")),
        Some(5)
    );
    let off = Config::new().consecutive_failures_off();
    assert_eq!(
        opens_after(&registry.create("off", &off).expect("valid")),
        Some(10)
    );
    // Those that were there follow.
    assert_eq!(opens_after(&before), Some(3));
}

#[test]
fn a_template_is_between_default_and_choice() {
    let registry = Registry::new();
    registry
        .set_default(Config::new().consecutive_failures(2).wait(s(77)))
        .expect("valid");
    registry
        .set_template("patient", Config::new().consecutive_failures(4))
        .expect("valid");
    let plain = registry
        .create_from("plain", "patient", &Config::new())
        .expect("valid");
    assert_eq!(opens_after(&plain), Some(4));
    assert_eq!(plain.snapshot().wait, Some(s(77)));
    let chosen = Config::new().consecutive_failures(6);
    let chosen = registry
        .create_from("chosen", "patient", &chosen)
        .expect("valid");
    assert_eq!(opens_after(&chosen), Some(6));
}

#[test]
fn the_reference_is_a_template() {
    let registry = Registry::new();
    let breaker = registry
        .create_from("a", "resilience4j", &Config::new())
        .expect("valid");
    assert_eq!(opens_after(&breaker), Some(100));
    let snapshot = breaker.snapshot();
    assert_eq!((snapshot.calls, snapshot.wait), (100, Some(s(60))));
}

#[test]
fn a_missing_template_is_reported_and_the_call_goes_through() {
    let registry = Registry::new();
    let breaker = registry
        .create_from("a", "no such", &Config::new())
        .expect("counts as empty");
    assert!(breaker.call(|| Ok::<_, ()>(())).is_ok());
    let conflicts = registry.conflicts();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert!(
        conflicts[0].to_string().contains("no such"),
        "{}",
        conflicts[0]
    );
}

#[test]
fn two_configurations_for_one_name_are_a_conflict() {
    let registry = Registry::new();
    let log = Log::start(|listener| registry.subscribe(Interest::TRANSITIONS, listener));
    let three = Config::new().consecutive_failures(3);
    let first = registry.create("a", &three).expect("valid");
    let _same = registry.create("a", &three).expect("valid");
    assert!(registry.conflicts().is_empty());
    let second = registry
        .create("a", &Config::new().consecutive_failures(5))
        .expect("valid");
    assert_eq!(registry.conflicts().len(), 1);
    let events = log.take();
    assert!(
        events
            .iter()
            .any(|event| matches!(event.kind, EventKind::Conflict(_))),
        "{events:?}"
    );
    // The first one rules, for both handles.
    assert_eq!(opens_after(&second), Some(3));
    assert_eq!(first.state(), State::Open);
}

#[test]
fn the_effective_settings_name_their_layer() {
    let registry = Registry::new();
    registry
        .set_default(Config::new().wait(s(3)))
        .expect("valid");
    let config = Config::new().consecutive_failures_off();
    let breaker = registry.create("a", &config).expect("valid");
    let lines: Vec<_> = breaker.config().iter().map(ToString::to_string).collect();
    let has = |words: &[&str]| {
        lines
            .iter()
            .any(|line| words.iter().all(|w| line.contains(w)))
    };
    assert!(has(&["wait", "3s", "registry default"]), "{lines:?}");
    assert!(has(&["consecutive_failures", "off", "code"]), "{lines:?}");
}

#[test]
fn all_threads_get_the_same_breaker() {
    for _ in 0..50 {
        let registry = Registry::new();
        let barrier = Barrier::new(16);
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    barrier.wait();
                    let _ = registry.get_or_create("a").call(|| Ok::<_, ()>(()));
                });
            }
        });
        assert_eq!(
            registry.get("a").map(|breaker| breaker.snapshot().calls),
            Some(16)
        );
    }
}

#[test]
fn a_registry_has_one_clock() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    clock.advance(s(5));
    assert_eq!(registry.clock().elapsed(), s(5));
    let (a, b) = (registry.get_or_create("a"), registry.get_or_create("b"));
    a.force_open();
    b.force_open();
    clock.advance(s(7));
    assert_eq!(a.snapshot().in_state_for, s(7));
    assert_eq!(b.snapshot().in_state_for, s(7));
}

/// Each thread has a registry of its own while its scope lives, and the process's before and after.
#[test]
fn scopes_in_parallel_threads_do_not_meet() {
    let barrier = Barrier::new(8);
    thread::scope(|threads| {
        for number in 0..8u64 {
            let barrier = &barrier;
            threads.spawn(move || {
                let name = "scoped";
                {
                    let scope = Scope::new();
                    let breaker = cb_runtime::registry().get_or_create(name);
                    barrier.wait();
                    for _ in 0..=number {
                        let _ = breaker.call(|| Err::<(), _>("down"));
                    }
                    scope.clock().advance(s(number));
                    barrier.wait();
                    let shown = scope.breaker(name).snapshot();
                    assert_eq!(
                        (u64::from(shown.failed), shown.in_state_for),
                        (number + 1, s(number))
                    );
                }
                barrier.wait();
                assert!(cb_runtime::registry().get(name).is_none());
            });
        }
    });
}

#[test]
fn scopes_nest_and_can_be_taken_along() {
    let outer = Scope::new();
    cb_runtime::registry().get_or_create("outer").force_open();
    {
        let inner = Scope::new();
        assert!(inner.registry().get("outer").is_none());
        assert!(cb_runtime::registry().get("outer").is_none());
    }
    assert_eq!(
        cb_runtime::registry().get("outer").map(|b| b.state()),
        Some(State::ForcedOpen)
    );
    let handle = outer.handle();
    let elsewhere = thread::spawn(move || {
        let before = cb_runtime::registry().get("outer").is_some();
        let _entered = handle.enter();
        (before, cb_runtime::registry().get("outer").is_some())
    });
    assert_eq!(elsewhere.join().expect("no panic"), (false, true));
}

/// Two futures in two scopes, polled in turn on one thread.
#[test]
fn a_scope_follows_its_future() {
    let (first, second) = {
        let first = Scope::new();
        let second = Scope::new();
        let named = |name: &'static str| async move {
            for _ in 0..3 {
                cb_runtime::registry().get_or_create(name);
                tokio::task::yield_now().await;
            }
            names(&cb_runtime::registry())
        };
        let both = async { tokio::join!(first.run(named("a")), second.run(named("b"))) };
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
            .block_on(both)
    };
    let made_here = |names: Vec<String>, other: &str| names.iter().all(|name| name != other);
    assert!(first.contains(&"a".to_owned()) && made_here(first, "b"));
    assert!(second.contains(&"b".to_owned()) && made_here(second, "a"));
}
