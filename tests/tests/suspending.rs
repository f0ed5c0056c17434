//! Breakers out of the way, by one call, and back by another.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use cb_runtime::testing::Scope;
use cb_runtime::{
    CallError, CircuitBreaker, Config, Interest, Mode, Registry, State, circuit_breaker,
};

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

fn states(registry: &Registry) -> Vec<(String, State)> {
    let breakers = registry.breakers();
    let state = |breaker: &CircuitBreaker| (breaker.name().to_owned(), breaker.state());
    breakers.iter().map(state).collect()
}

/// One breaker in each state, named after it.
fn one_in_each_state() -> Registry {
    let registry = Registry::new();
    let made = |name| registry.get_or_create(name);
    made("closed");
    fail(&made("open"), 10);
    made("half_open").open().unwrap();
    made("half_open").half_open().unwrap();
    made("forced").force_open();
    made("disabled").disable();
    made("metrics").metrics_only();
    registry
        .create("born_disabled", &Config::new().mode(Mode::Disabled))
        .unwrap();
    registry
}

#[test]
fn what_breakers_decide_is_suspended_and_what_people_decided_stays() {
    let registry = one_in_each_state();
    let before = states(&registry);
    assert_eq!(registry.disable_all(), ["closed", "half_open", "open"]);
    let disabled = states(&registry);
    for (name, state) in &disabled {
        let stays = ["forced", "metrics"].contains(&name.as_str());
        assert_eq!(*state == State::Disabled, !stays, "{name}");
    }
    assert!(registry.disable_all().is_empty(), "nothing is left to do");
    assert_eq!(registry.restore_all(), ["closed", "half_open", "open"]);
    for ((name, before), (_, after)) in before.into_iter().zip(states(&registry)) {
        let expected = match before {
            State::Open | State::HalfOpen => State::Closed,
            other => other,
        };
        assert_eq!(after, expected, "{name}");
    }
    assert!(registry.restore_all().is_empty() && registry.suspensions().is_empty());
}

#[test]
fn who_has_intervened_meanwhile_has_the_last_word() {
    let registry = Registry::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| registry.get_or_create(name));
    registry.disable_all();
    a.force_open();
    b.disable(); // disabled by hand now
    assert_eq!(registry.restore_all(), ["c"]);
    assert_eq!(
        [a.state(), b.state(), c.state()],
        [State::ForcedOpen, State::Disabled, State::Closed]
    );
}

#[test]
fn breakers_made_meanwhile_start_so_and_come_back_too() {
    let registry = Registry::new();
    registry.disable_all();
    let later = registry
        .create("later", &Config::new().consecutive_failures(1))
        .unwrap();
    let own = registry
        .create("own", &Config::new().mode(Mode::MetricsOnly))
        .unwrap();
    fail(&later, 5);
    assert_eq!(
        (later.state(), own.state()),
        (State::Disabled, State::MetricsOnly)
    );
    let mode = later
        .config()
        .into_iter()
        .find(|chosen| chosen.setting == "mode")
        .unwrap();
    assert_eq!(mode.to_string(), "mode = disabled (suspension)");
    assert!(registry.conflicts().is_empty());
    assert_eq!(registry.restore_all(), ["later"]);
    assert_eq!(
        (later.state(), own.state()),
        (State::Closed, State::MetricsOnly)
    );
    fail(&later, 1);
    assert_eq!(later.state(), State::Open);
    assert_eq!(registry.get_or_create("afterwards").state(), State::Closed);
}

#[test]
fn patterns_and_names_and_the_latest_counts() {
    let registry = Registry::new();
    let names = ["payments.card", "payments.bank", "orders"];
    let [card, bank, orders] = names.map(|name| registry.get_or_create(name));
    let now = || [card.state(), bank.state(), orders.state()];
    assert_eq!(
        registry.metrics_only("payments.*"),
        ["payments.bank", "payments.card"]
    );
    assert_eq!(
        now(),
        [State::MetricsOnly, State::MetricsOnly, State::Closed]
    );
    assert_eq!(registry.disable("payments.card"), ["payments.card"]);
    assert_eq!(now(), [State::Disabled, State::MetricsOnly, State::Closed]);
    registry.disable_all();
    assert_eq!(now(), [State::Disabled; 3]);
    let all: Vec<_> = registry.suspensions();
    assert_eq!(all.last(), Some(&("*".to_owned(), Mode::Disabled)));
    assert_eq!(registry.restore("*"), ["orders", "payments.bank"]);
    assert_eq!(now(), [State::Disabled, State::MetricsOnly, State::Closed]);
    assert_eq!(registry.restore("payments.card"), ["payments.card"]);
    assert_eq!(
        now(),
        [State::MetricsOnly, State::MetricsOnly, State::Closed]
    );
    assert!(
        registry.restore("payments").is_empty(),
        "it was not called with this"
    );
    registry.restore_all();
    assert_eq!(now(), [State::Closed; 3]);
}

type Reply = Result<(), CallError<()>>;

#[circuit_breaker(name = "suspending.plain", consecutive_failures = 1)]
fn plain() -> Reply {
    Err(CallError::Failed(()))
}

#[circuit_breaker(name = "suspending.shard", key = shard, consecutive_failures = 1)]
fn shard(shard: u32) -> Reply {
    Err(CallError::Failed(()))
}

#[test]
fn annotated_functions_and_all_keys_follow() {
    let scope = Scope::new();
    let registry = scope.registry();
    let _ = (shard(1), shard(1));
    assert_eq!(registry.disable("suspending.*"), ["suspending.shard[1]"]);
    for _ in 0..3 {
        let _ = (plain(), shard(1), shard(2));
    }
    let names = [
        "suspending.plain",
        "suspending.shard[1]",
        "suspending.shard[2]",
    ];
    let states = || names.map(|name| registry.get(name).unwrap().state());
    assert_eq!(states(), [State::Disabled; 3]);
    assert_eq!(registry.restore_all(), names);
    assert_eq!(states(), [State::Closed; 3]);
    let _ = (plain(), shard(2));
    assert_eq!(states(), [State::Open, State::Closed, State::Open]);
}

#[test]
fn settings_can_change_meanwhile() {
    let registry = Registry::new();
    let breaker = registry.get_or_create("a");
    registry.disable_all();
    registry
        .configure("a", Config::new().consecutive_failures(1))
        .unwrap();
    assert_eq!(breaker.state(), State::Disabled);
    registry.restore_all();
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_listener_may_restore() {
    let registry = Registry::new();
    let breaker = registry.get_or_create("a");
    let inner = registry.clone();
    let heard = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&heard);
    let _subscription = registry.subscribe(Interest::TRANSITIONS, move |_| {
        told.fetch_add(1, Ordering::Relaxed);
        inner.restore_all();
    });
    registry.disable_all();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(heard.load(Ordering::Relaxed), 2, "there and back");
}

/// Breakers that are made just then are neither missed nor left behind.
#[test]
fn none_is_missed_whenever_it_is_made() {
    for _ in 0..60 {
        let registry = Registry::new();
        let made = AtomicU64::new(0);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let maker = scope.spawn(|| {
                for number in 0..40 {
                    registry.get_or_create(&format!("breaker {number}"));
                    made.store(number + 1, Ordering::Relaxed);
                }
                done.store(true, Ordering::Relaxed);
            });
            while !done.load(Ordering::Relaxed) {
                registry.disable_all();
                registry.restore_all();
            }
            maker.join().unwrap();
        });
        assert_eq!(registry.breakers().len(), 40);
        for (name, state) in states(&registry) {
            assert_eq!(state, State::Closed, "{name} was left behind");
        }
        registry.disable_all();
        for (name, state) in states(&registry) {
            assert_eq!(state, State::Disabled, "{name} was missed");
        }
    }
}
