//! No sequence of operations leaves a breaker that never probes again, unless it was forced open or
//! waits for ever; and the engine's invariants hold after each step.
//!
//! Random settings, calls, panics, dropped permits and futures, steps of the clock from a
//! nanosecond to years, manual operations, other settings while it works. `CB_SEQUENCES=100000` runs that many sequences, `CB_SEED`
//! only the one that failed.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // in the helpers of the test

#[path = "never_stuck/ends.rs"]
mod ends;
#[path = "never_stuck/given.rs"]
mod given;
#[path = "never_stuck/invariants.rs"]
mod invariants;
#[path = "never_stuck/random.rs"]
mod random;
#[path = "never_stuck/world.rs"]
mod world;

use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use cb_runtime::Interest;

use given::{Given, YEAR};
use random::Random;
use world::{ByHand, Checked, End, Step, World};

const SEQUENCES: u64 = 3000;
/// A sequence takes less than a millisecond.
const NO_END: Duration = Duration::from_secs(60);

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_sequence_leaves_a_breaker_stuck() {
    if let Some(seed) = from_environment("CB_SEED") {
        return run(seed);
    }
    let sequences = from_environment("CB_SEQUENCES").unwrap_or(SEQUENCES);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let (begins, begun) = mpsc::channel();
    thread::scope(|scope| {
        for worker in 0..threads {
            let (begins, next) = (begins.clone(), &next);
            scope.spawn(move || {
                loop {
                    // Relaxed: each seed is taken once, nothing else depends on it.
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let _ = begins.send((worker, (seed < sequences).then_some(seed)));
                    if seed >= sequences {
                        break;
                    }
                    run(seed);
                }
            });
        }
        drop(begins);
        watch(&begun, threads);
    });
}

/// A sequence that never ends is a failure, too: names it and ends the process.
fn watch(begun: &Receiver<(usize, Option<u64>)>, threads: usize) {
    let mut under_way = vec![None; threads];
    loop {
        match begun.recv_timeout(NO_END) {
            Ok((worker, seed)) => under_way[worker] = seed,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let seeds: Vec<_> = under_way.iter().flatten().collect();
                eprintln!("no end within {NO_END:?}, CB_SEED is one of {seeds:?}");
                std::process::exit(101);
            }
        }
    }
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let given = Given::draw(&mut random);
    let (config, mode) = (given.config.clone(), given.mode);
    let start = random.nanos_below(2 * 365 * 86_400 * 1_000_000_000);
    let interest = random.pick(&[Interest::TRANSITIONS, Interest::ALL]);
    let mut steps = Vec::new();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        // Not dropped after a failure: that would end calls of a breaker which may be broken.
        let mut world = ManuallyDrop::new(World::new(given, Duration::from_nanos(start), interest));
        sequence(&mut world, &mut random, &mut steps)?;
        drop(ManuallyDrop::into_inner(world));
        Ok(())
    }));
    let failure = match ended {
        Ok(Ok(())) => return,
        Ok(Err(what)) => what,
        Err(panic) => format!("a panic: {}", message(&*panic)),
    };
    let steps: Vec<_> = steps.iter().map(|step| format!("    {step:?}")).collect();
    let steps = steps.join("\n");
    panic!("CB_SEED={seed}\n{config:?}\n{mode}, at {start} ns\n{steps}\n{failure}");
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    let made = panic.downcast_ref::<String>().map(String::as_str);
    literal.or(made).unwrap_or("without words")
}

fn sequence(world: &mut World, random: &mut Random, steps: &mut Vec<Step>) -> Checked {
    // Some downstreams are sick most of the time, else few breakers would get as far as OPEN.
    let health = random.pick(&[1, 3, 20]);
    for _ in 0..random.between(1, 60) {
        let step = step(random, health);
        steps.push(step);
        world.apply(step)?;
        let by_hand = matches!(step, Step::ByHand(_) | Step::OpenFor(_));
        invariants::hold(world, by_hand)?;
    }
    ends::admits(world)?;
    invariants::hold(world, false)?;
    ends::closes(world)?;
    invariants::hold(world, false)
}

fn step(random: &mut Random, health: u64) -> Step {
    match random.below(33) {
        0..4 => Step::Acquire,
        4..7 => Step::Spawn,
        7..13 => Step::Finish(random.between(0, 1000) as usize, end(random, health)),
        13..21 => Step::Call(end(random, health), time(random)),
        21..25 => Step::Advance(time(random)),
        25..29 => Step::ToDeadline(random.pick(&[0, 0, 1, 1_000_000])),
        29 => {
            let all = [
                ByHand::Reset,
                ByHand::Close,
                ByHand::Open,
                ByHand::Open,
                ByHand::HalfOpen,
                ByHand::HalfOpen,
                ByHand::Force,
                ByHand::Disable,
                ByHand::MetricsOnly,
            ];
            Step::ByHand(random.pick(&all))
        }
        30 => Step::OpenFor(match random.below(8) {
            0 => Duration::MAX,
            1 => Duration::ZERO,
            _ => time(random),
        }),
        31 => Step::Configure(random.next()),
        _ if random.one_in(4) => Step::Heal,
        _ => Step::Advance(Duration::from_secs(1)),
    }
}

fn end(random: &mut Random, health: u64) -> End {
    if random.one_in(health + 1) {
        return End::Success;
    }
    let ends = [
        End::Failure,
        End::Failure,
        End::Failure,
        End::Ignored,
        End::Panic,
        End::JudgePanic,
        End::Dropped,
    ];
    random.pick(&ends)
}

/// From nothing to three years, mostly short.
fn time(random: &mut Random) -> Duration {
    if random.one_in(3) {
        return Duration::ZERO;
    }
    let year = u64::try_from(YEAR.as_nanos()).unwrap();
    Duration::from_nanos(random.nanos_below(3 * year))
}
