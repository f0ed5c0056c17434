//! The registry and what it keeps.

use std::process::Command;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{ConflictKind, Interest, Registry, State, circuit_breaker};

use crate::support::*;

/// Runs this test alone in a process of its own, and says whether this is that process. A minute is
/// the longest it may take.
pub(crate) fn in_own_process(test: &str) -> bool {
    if std::env::var_os("CB_OWN_PROCESS").is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let name = test.to_owned();
    let ended = watched(move || {
        Command::new(program)
            .args(["--exact", &name, "--test-threads=1"])
            .env("CB_OWN_PROCESS", "1")
            .output()
            .unwrap()
    });
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && output.contains("1 passed"),
        "{output}"
    );
    false
}

#[circuit_breaker(name = "many", key = host, max_keys = 100, window = "10s", min_calls = 2)]
fn many(host: u32, ok: bool) -> Answer {
    if ok { Ok(host) } else { DOWN }
}

#[test]
fn rg_01_keys_are_bounded_and_can_be_removed() {
    let scope = Scope::new();
    let registry = scope.registry();
    for host in 0..100_000 {
        many(host, true).unwrap();
        scope.clock().advance(ms(1));
    }
    // Besides, there is the one that those share which found no room.
    assert!(
        registry
            .breakers()
            .iter()
            .filter(|one| one.name().starts_with("many"))
            .count()
            <= 101
    );
    assert_eq!(registry.key_figures("many").unwrap().keys, 100);

    assert!(registry.remove("many"));
    for _ in 0..2 {
        many(7, false).unwrap_err();
    }
    assert_eq!(registry.keyed("many", "7").unwrap().state(), State::Open);
    assert!(registry.remove("many[7]"));
    assert_eq!(many(7, true), Ok(7));
    assert_eq!(registry.keyed("many", "7").unwrap().snapshot().calls, 1);
}

#[test]
fn rg_02_a_removed_breaker_leaves_nothing_behind() {
    let registry = Registry::new();
    let breaker = registry.create("a", &given("")).unwrap();
    let kept = Arc::new(());
    let alive: Weak<()> = Arc::downgrade(&kept);
    breaker
        .subscribe(Interest::ALL, move |_| drop(Arc::clone(&kept)))
        .forever();
    breaker.call(|| Ok::<(), ()>(())).unwrap();
    assert!(registry.remove("a"));
    assert!(alive.upgrade().is_some(), "a handle is left");
    drop(breaker);
    assert!(alive.upgrade().is_none(), "its listener is gone");
    assert!(registry.get("a").is_none());
    assert_eq!(registry.get_or_create("a").snapshot().calls, 0);
}

#[circuit_breaker(name = "capped", key = host, max_keys = 3, window = "10s")]
fn capped(host: u32) -> Answer {
    Ok(host)
}

#[test]
fn rg_04_the_oldest_idle_key_makes_room() {
    let scope = Scope::new();
    for host in 1..=3 {
        capped(host).unwrap();
        scope.clock().advance(s(11));
    }
    capped(4).unwrap();
    let keys = |host: &str| scope.registry().keyed("capped", host).is_some();
    assert_eq!(["1", "2", "3", "4"].map(keys), [false, true, true, true]);
    assert_eq!(scope.registry().key_figures("capped").unwrap().keys, 3);
}

/// The threads of this process, where the system lists them.
fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[test]
fn rg_05_breakers_have_no_threads() {
    if !in_own_process("registry::rg_05_breakers_have_no_threads") {
        return;
    }
    let before = threads();
    let registry = Registry::new();
    let breakers: Vec<_> = (0..10_000)
        .map(|number| {
            registry
                .create(&number.to_string(), &given("W=100 M=100"))
                .unwrap()
        })
        .collect();
    for breaker in &breakers {
        for _ in 0..10 {
            breaker.call(|| Ok::<(), ()>(())).unwrap();
        }
    }
    assert_eq!(threads(), before);
    drop((breakers, registry));
    assert_eq!(threads(), before);
}

#[test]
fn rg_06_calls_add_nothing_to_the_registry() {
    let scope = Scope::new();
    let before = scope.registry().breakers().len();
    for _ in 0..10_000 {
        guarded(|| Ok(1)).unwrap();
    }
    assert_eq!(scope.registry().breakers().len(), before);
}

#[circuit_breaker(name = "twice", window = 4, min_calls = 2, failure_rate = 50)]
fn first_of_two(ok: bool) -> Answer<&'static str> {
    if ok { Ok("first") } else { Err(Api::Down) }
}

#[circuit_breaker(name = "twice", window = 4, min_calls = 2, failure_rate = 90)]
fn second_of_two(ok: bool) -> Answer<&'static str> {
    if ok { Ok("second") } else { Err(Api::Down) }
}

#[circuit_breaker(name = "generic", window = 4, min_calls = 2)]
fn generic<T: Default>(ok: bool) -> Answer<T> {
    if ok { Ok(T::default()) } else { Err(Api::Down) }
}

#[test]
fn rg_07_one_name_with_two_policies_is_reported() {
    let scope = Scope::new();
    assert_eq!(
        (first_of_two(true), second_of_two(true)),
        (Ok("first"), Ok("second"))
    );
    let conflicts = scope.registry().conflicts();
    let found = conflicts.iter().find(|one| one.breaker == "twice").unwrap();
    assert!(matches!(found.kind, ConflictKind::Policies { .. }));
    first_of_two(false).unwrap_err();
    second_of_two(false).unwrap_err();
    assert_eq!(
        scope.breaker("twice").state(),
        State::Open,
        "2 of 4: the first one rules"
    );
    assert!(refused(&first_of_two(true)) && refused(&second_of_two(true)));

    generic::<u32>(false).unwrap_err();
    generic::<String>(false).unwrap_err();
    assert!(
        refused(&generic::<Duration>(true)),
        "one breaker for all its instances"
    );

    // One made at each call is the same one.
    for _ in 0..2 {
        let breaker = scope.registry().create("each.call", &given("")).unwrap();
        breaker.call(|| Err::<(), ()>(())).unwrap_err();
    }
    assert_eq!(scope.breaker("each.call").state(), State::Open);
}

/// There is no default name that could collide.
#[test]
fn rg_08_a_name_must_be_given() {
    compile_error("name_missing", "`name` is missing");
}
