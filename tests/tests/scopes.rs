//! What belongs to a test alone stays with it: scopes across threads, tasks and runtimes, and what
//! a test clock drives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, Config, EventKind, Interest, MaxWaitState, Registry, State, Window, circuit_breaker,
    registry,
};

fn open_soon() -> Config {
    Config::new()
        .window(Window::Calls(1))
        .auto_half_open(true)
        .half_open_max_wait_state(MaxWaitState::Open)
}

/// Whether this code runs in a registry that has the breaker.
fn sees(name: &str) -> bool {
    registry().get(name).is_some()
}

#[test]
fn a_scope_is_in_force_on_its_thread_until_it_is_dropped() {
    let outer = Scope::new();
    outer.registry().get_or_create("outer");
    {
        let inner = Scope::new();
        assert!(!sees("outer"));
        inner.registry().get_or_create("inner");
        assert!(sees("inner"));
    }
    assert!(sees("outer") && !sees("inner"));
    std::thread::scope(|threads| {
        threads.spawn(|| assert!(!sees("outer"), "another thread is not in the scope"));
        let handle = outer.handle();
        threads.spawn(move || {
            let _entered = handle.enter();
            assert!(sees("outer"));
        });
    });
    drop(outer);
    assert!(!sees("outer"));
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    let first = Scope::new();
    first.registry().get_or_create("first");
    let second = Scope::new();
    second.registry().get_or_create("second");
    drop(first);
    assert!(sees("second") && !sees("first"));
    drop(second);
    assert!(!sees("second"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scope_made_in_a_runtime_holds_for_all_its_tasks() {
    let scope = Scope::new();
    scope.registry().get_or_create("mine");
    for _ in 0..50 {
        tokio::spawn(async {
            tokio::task::yield_now().await;
            assert!(sees("mine"));
        })
        .await
        .unwrap();
    }
    tokio::task::spawn_blocking(|| assert!(sees("mine")))
        .await
        .unwrap();
    drop(scope);
    tokio::spawn(async { assert!(!sees("mine")) })
        .await
        .unwrap();
}

#[test]
fn run_takes_a_scope_into_a_foreign_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let scope = Scope::new();
    scope.registry().get_or_create("mine");
    let inside = runtime.spawn(scope.run(async {
        tokio::task::yield_now().await;
        sees("mine")
    }));
    let outside = runtime.spawn(async { sees("mine") });
    assert!(runtime.block_on(inside).unwrap());
    assert!(!runtime.block_on(outside).unwrap());
}

#[test]
#[should_panic(expected = "no circuit breaker is named \"nobody\"")]
fn asking_a_scope_for_a_name_that_nobody_has_says_so() {
    let scope = Scope::new();
    let _ = scope.breaker("nobody");
}

#[circuit_breaker(name = "scopes.shard", key = shard)]
fn read(shard: u32) -> Result<(), CallError<&'static str>> {
    let _ = shard;
    Ok(())
}

#[test]
#[should_panic(expected = "ask for \"scopes.shard[key]\"")]
fn asking_a_scope_for_a_name_with_keys_says_how_to_ask() {
    let scope = Scope::new();
    assert_eq!(read(7), Ok(()));
    assert_eq!(scope.breaker("scopes.shard[7]").snapshot().successful, 1);
    let _ = scope.breaker("scopes.shard");
}

#[tokio::test]
async fn the_timer_lets_listeners_hear_in_time_and_ends_with_the_registry() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let _subscription = registry.subscribe(Interest::TRANSITIONS, move |event| {
        if let EventKind::Transition { to, .. } = event.kind {
            log.lock().unwrap().push((to, event.at.as_secs()));
        }
    });
    let timer = tokio::spawn(registry.run_timer());
    let breaker = registry.create("stock", &open_soon()).unwrap();
    let settle = async || {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    };
    settle().await;
    let _ = breaker.call(|| Err::<(), _>(()));
    settle().await;
    clock.advance(Duration::from_secs(10));
    settle().await;
    assert_eq!(
        *heard.lock().unwrap(),
        [(State::Open, 0), (State::HalfOpen, 10)]
    );
    clock.advance(Duration::from_secs(30));
    settle().await;
    assert_eq!(heard.lock().unwrap().last(), Some(&(State::Open, 40)));
    drop((registry, breaker));
    timer.await.unwrap();
}

#[test]
fn conflicting_defaults_are_reported_once_and_the_breaker_works() {
    let registry = Registry::new();
    registry
        .set_default(Config::new().window(Window::Calls(5)))
        .unwrap();
    let error = registry
        .create("stock", &Config::new().min_calls(6))
        .unwrap_err();
    assert_eq!(error.field(), "min_calls");
    assert!(registry.get("stock").is_none());
    let breaker = registry
        .create_from("stock", "nowhere", &Config::new())
        .unwrap();
    assert!(breaker.call(|| Ok::<_, ()>(())).is_ok());
    registry
        .create_from("stock", "nowhere", &Config::new().min_calls(2))
        .unwrap();
    let conflicts: Vec<String> = registry
        .conflicts()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        conflicts,
        [
            "`stock`: there is no template \"nowhere\"; it counts as empty",
            "`stock`: it exists already and keeps a configuration other than the one given"
        ]
    );
}
