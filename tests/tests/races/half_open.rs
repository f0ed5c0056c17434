//! HALF_OPEN under 64 threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use cb_runtime::{Config, Interest, OnCancel, Outcome, Permit, State, Window};
use cb_tests::harness::{Bench, s};

use super::gang::{equal, rounds};

const THREADS: usize = 64;
const ROUNDS: usize = 5000;
/// Different numbers of probes, in turn.
const PROBES: [u32; 4] = [1, 3, 10, 63];

fn benches(config: &Config) -> Vec<Bench> {
    PROBES
        .iter()
        .map(|&probes| Bench::new(&config.clone().half_open_calls(probes)))
        .collect()
}

fn config() -> Config {
    Config::new()
        .window(Window::Calls(100))
        .min_calls(100)
        .on_cancel(OnCancel::Ignore)
}

/// A fresh OPEN stay whose wait is over.
fn wait_is_over(bench: &Bench) {
    bench.breaker.reset();
    bench.breaker.open().expect("CLOSED may be opened");
    bench.advance(s(10));
}

/// All ask at once, some of them while they end calls of the stay before: as many as may probe are
/// admitted, no more and no fewer.
#[test]
fn exactly_so_many_probes_are_admitted() {
    for auto in [false, true] {
        let benches = benches(&config().auto_half_open(auto));
        let old: Vec<std::sync::Mutex<Option<Permit<'_>>>> =
            (0..THREADS).map(|_| std::sync::Mutex::new(None)).collect();
        let admitted = AtomicUsize::new(0);
        let collided = AtomicUsize::new(0);
        rounds(
            THREADS,
            ROUNDS / 2,
            |round| {
                let bench = &benches[round % PROBES.len()];
                bench.breaker.reset();
                for slot in old.iter().take(round % THREADS) {
                    *cb_tests::harness::lock(slot) = Some(bench.permit());
                }
                bench.breaker.open().expect("CLOSED may be opened");
                bench.advance(s(10));
                admitted.store(0, Ordering::SeqCst);
            },
            |number, round| {
                let breaker = &benches[round % PROBES.len()].breaker;
                let late = cb_tests::harness::lock(&old[number]).take();
                match (late, (number + round) % 4) {
                    (Some(permit), 0) => permit.success(),
                    (Some(permit), 1) => permit.failure(),
                    (Some(permit), 2) => permit.ignore(),
                    (late, _) => drop(late),
                }
                let permit = breaker.try_acquire().ok();
                if permit.is_some() {
                    admitted.fetch_add(1, Ordering::SeqCst);
                } else {
                    collided.fetch_add(1, Ordering::SeqCst);
                }
                permit
            },
            |round| {
                let breaker = &benches[round % PROBES.len()].breaker;
                let probes = PROBES[round % PROBES.len()];
                equal("admitted", admitted.load(Ordering::SeqCst), probes as usize)?;
                let shown = breaker.snapshot();
                equal("state", shown.state, State::HalfOpen)?;
                equal("in flight", shown.probes.map(|p| p.in_flight), Some(probes))
            },
        );
        assert_ne!(collided.load(Ordering::SeqCst), 0, "the threads never met");
    }
}

/// Probes that are dropped or ignored give their permit back, and it is given out again: there
/// are never more at a time than may be.
#[test]
fn never_more_at_a_time_although_permits_come_back() {
    let benches = benches(&config());
    let in_flight = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let admitted = AtomicUsize::new(0);
    rounds(
        THREADS,
        1000,
        |round| {
            wait_is_over(&benches[round % PROBES.len()]);
            most.store(0, Ordering::SeqCst);
            admitted.store(0, Ordering::SeqCst);
        },
        |number, round| {
            let breaker = &benches[round % PROBES.len()].breaker;
            for turn in 0..4 {
                let Ok(permit) = breaker.try_acquire() else {
                    continue;
                };
                admitted.fetch_add(1, Ordering::SeqCst);
                most.fetch_max(
                    in_flight.fetch_add(1, Ordering::SeqCst) + 1,
                    Ordering::SeqCst,
                );
                if (number + turn) % 3 == 0 {
                    std::thread::yield_now();
                }
                in_flight.fetch_sub(1, Ordering::SeqCst);
                if turn % 2 == 0 {
                    drop(permit)
                } else {
                    permit.ignore()
                }
            }
        },
        |round| {
            let shown = benches[round % PROBES.len()].breaker.snapshot();
            let probes = PROBES[round % PROBES.len()];
            if most.load(Ordering::SeqCst) > probes as usize {
                return Err(format!("{most:?} at a time instead of {probes}"));
            }
            if admitted.load(Ordering::SeqCst) == 0 {
                return Err("nobody was admitted".to_owned());
            }
            equal("state", shown.state, State::HalfOpen)?;
            equal("in flight", shown.probes.map(|p| p.in_flight), Some(0))
        },
    );
}

/// All probes come back at once, with good news and bad: one of them decides, once.
#[test]
fn one_decision_a_stay() {
    let bench = Bench::new(
        &config()
            .half_open_calls(64)
            .min_calls(10)
            .auto_half_open(false),
    );
    let log = bench.log(Interest::TRANSITIONS);
    let permits: Vec<std::sync::Mutex<Option<Permit<'_>>>> =
        (0..THREADS).map(|_| std::sync::Mutex::new(None)).collect();
    rounds(
        THREADS,
        1000,
        |_| {
            wait_is_over(&bench);
            for slot in &permits {
                *cb_tests::harness::lock(slot) = Some(bench.permit());
            }
            let _ = log.take();
        },
        |number, round| {
            let permit = cb_tests::harness::lock(&permits[number]).take();
            let bad = (number * 7 + round) % 3 == 0;
            if let Some(permit) = permit {
                permit.finish(if bad {
                    Outcome::Failure
                } else {
                    Outcome::Success
                });
            }
        },
        |_| {
            let names = log.names();
            let decided = matches!(
                names.iter().map(String::as_str).collect::<Vec<_>>()[..],
                ["HALF_OPEN->OPEN"] | ["HALF_OPEN->CLOSED"]
            );
            if decided {
                Ok(())
            } else {
                Err(format!("{names:?}"))
            }
        },
    );
}

/// Whoever looks first applies what is due; it happens and is told once.
#[test]
fn what_is_due_happens_once() {
    let bench = Bench::new(
        &config()
            .half_open_calls(1)
            .auto_half_open(true)
            .half_open_max_wait(s(7))
            .half_open_max_wait_state(cb_runtime::MaxWaitState::Open),
    );
    let log = bench.log(Interest::TRANSITIONS);
    rounds(
        THREADS,
        1000,
        |_| {
            bench.breaker.reset();
            bench.breaker.open().expect("CLOSED may be opened");
            let _ = log.take();
            // The wait, the longest stay, and the next wait.
            bench.advance(s(10 + 7 + 10));
        },
        |number, _| match number % 4 {
            0 => drop(bench.breaker.state()),
            1 => drop(bench.breaker.snapshot()),
            2 => drop(bench.breaker.would_permit()),
            _ => drop(bench.breaker.try_acquire()),
        },
        |_| {
            let expected = ["OPEN->HALF_OPEN", "HALF_OPEN->OPEN", "OPEN->HALF_OPEN"];
            equal("events", log.names(), expected.map(str::to_owned).to_vec())
        },
    );
}
