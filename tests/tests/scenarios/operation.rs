//! Changes while it runs, health, composition with other layers.

use std::cell::Cell;
use std::sync::mpsc;

use cb_runtime::testing::Scope;
use cb_runtime::{State, circuit_breaker};

use crate::support::*;

#[test]
fn rc_03_old_handles_stay_usable_and_touch_nothing_new() {
    let bench = bench("");
    let running = bench.permit();
    assert!(bench.registry.remove("bench"));
    let new = bench.registry.create("bench", &given("")).unwrap();
    running.failure();
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
    assert_eq!((new.state(), new.snapshot().calls), (State::Closed, 0));
}

#[test]
fn rc_04_operations_by_name_reach_every_handle_at_once() {
    let bench = bench("");
    let clones: Vec<_> = (0..3).map(|_| bench.breaker.clone()).collect();
    bench.registry.get("bench").unwrap().force_open();
    assert!(clones.iter().all(|one| one.try_acquire().is_err()));
    bench.advance(s(3600));
    assert!(clones.iter().all(|one| one.try_acquire().is_err()));
    bench.registry.get("bench").unwrap().reset();
    assert!(
        clones
            .iter()
            .all(|one| one.state() == State::Closed && one.try_acquire().is_ok())
    );
}

#[circuit_breaker(
    name = "node",
    key = node,
    window = 10,
    min_calls = 10,
    consecutive_failures = off
)]
fn by_node(node: u32, sick: bool) -> Answer {
    if sick { DOWN } else { Ok(node) }
}

#[circuit_breaker(name = "nodes", window = 10, min_calls = 10)]
fn all_nodes(node: u32, sick: bool) -> Answer {
    if sick { DOWN } else { Ok(node) }
}

#[test]
fn sc_01_a_breaker_for_each_node_finds_the_sick_one() {
    let scope = Scope::new();
    for _ in 0..10 {
        for node in 0..10 {
            let _ = by_node(node, node == 3);
            let _ = all_nodes(node, node == 3);
        }
    }
    let state = |node: &str| scope.registry().keyed("node", node).unwrap().state();
    assert_eq!((state("3"), state("4")), (State::Open, State::Closed));
    assert_eq!(
        scope.breaker("nodes").state(),
        State::Closed,
        "1 of 10 never opens a shared one"
    );
}

/// With the downstream hanging, what workers lose is what the probes wait: P timeouts a wait.
#[test]
fn sc_03_what_probes_cost_follows_from_the_settings() {
    const TIMEOUT: u64 = 2;
    for probes in 1..=3_u64 {
        for wait in [1, 5, 30] {
            let bench = bench(&format!("W=10 M={probes} P={probes} O={wait}s"));
            bench.breaker.open().unwrap();
            let (mut lost, mut running) = (0, Vec::new());
            for second in 0..600 {
                running.retain_mut(
                    |(end, permit): &mut (u64, Option<cb_runtime::Permit<'_>>)| {
                        let over = *end == second;
                        if over && let Some(permit) = permit.take() {
                            permit.failure();
                        }
                        !over
                    },
                );
                // Four workers, each of which calls if it is free.
                for _ in running.len()..4 {
                    if let Ok(permit) = bench.breaker.try_acquire() {
                        running.push((second + TIMEOUT, Some(permit)));
                        lost += TIMEOUT;
                    }
                }
                bench.advance(s(1));
            }
            let most = probes * TIMEOUT * 600_u64.div_ceil(wait + TIMEOUT);
            assert!(
                lost > 0 && lost <= most,
                "P={probes} O={wait}: {lost} s of at most {most} s"
            );
        }
    }
}

#[circuit_breaker(
    name = "attempts",
    window = 100,
    min_calls = 100,
    consecutive_failures = 5
)]
fn attempt(made: &Cell<u32>) -> Answer {
    made.set(made.get() + 1);
    DOWN
}

#[circuit_breaker(
    name = "loops",
    window = 100,
    min_calls = 100,
    consecutive_failures = 5
)]
fn whole_loop(made: &Cell<u32>) -> Answer {
    thrice(|| {
        made.set(made.get() + 1);
        DOWN
    })
}

fn thrice(mut call: impl FnMut() -> Answer) -> Answer {
    call().or_else(|_| call()).or_else(|_| call())
}

#[test]
fn cp_01_where_the_retry_stands_decides_what_is_counted() {
    let scope = Scope::new();
    let made = Cell::new(0);
    let calls = (1..10).find(|_| {
        let _ = thrice(|| attempt(&made));
        scope.breaker("attempts").state() == State::Open
    });
    assert_eq!((calls, made.take()), (Some(2), 5));
    let calls = (1..10).find(|_| {
        let _ = whole_loop(&made);
        scope.breaker("loops").state() == State::Open
    });
    assert_eq!((calls, made.take()), (Some(5), 15));
}

/// The permit follows the future. To keep it for the thread, give it to the thread.
#[test]
fn cp_02_a_permit_does_not_follow_a_blocking_thread() {
    let scope = Scope::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let breaker = scope.breaker("async");
    let half_open = || {
        breaker.open().unwrap();
        breaker.half_open().unwrap();
    };
    let _entered = runtime.enter();

    half_open();
    let (end, work) = mpsc::channel::<()>();
    let thread = tokio::task::spawn_blocking(move || work.recv().is_ok());
    let call = hanging(guarded_async(async {
        thread.await.map_or(DOWN, |_| Ok(1))
    }));
    assert!(!breaker.would_permit());
    drop(call);
    assert!(breaker.would_permit(), "though the thread still works");
    end.send(()).unwrap();

    half_open();
    let (end, work) = mpsc::channel::<()>();
    let permit = breaker.try_acquire_owned().unwrap();
    let thread = tokio::task::spawn_blocking(move || {
        work.recv().unwrap();
        permit.success();
    });
    assert!(!breaker.would_permit());
    end.send(()).unwrap();
    runtime.block_on(thread).unwrap();
    assert_eq!(breaker.state(), State::Closed);
}
