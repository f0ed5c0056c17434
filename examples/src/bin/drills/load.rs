//! Thousands of calls a second on real threads, with a downstream that is sick every other moment:
//! what a call costs, and what memory is used, must not grow.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cb_examples::figures::percentile;
use cb_runtime::{CallError, EventKind, Interest, State, circuit_breaker};

const WORKERS: usize = 2;
const THIRD: Duration = Duration::from_secs(2);
/// Calls that a worker makes before it sleeps for a millisecond.
const BATCH: u32 = 100;
/// What a call costs is the median of slices of this length, so that what else runs on the machine
/// has little say.
const SLICE: Duration = Duration::from_millis(50);
/// So long the downstream is well, and then sick.
const MOOD: u128 = 50;

/// A third of the time.
#[derive(Debug, Default)]
pub(crate) struct Third {
    pub(crate) calls: u64,
    pub(crate) rejected: u64,
    pub(crate) trips: u64,
    /// Processor time of a call in each slice.
    per_call: Vec<Duration>,
    /// Memory of the process at the end, in KiB.
    pub(crate) resident: u64,
}

impl Third {
    /// Processor time of a call.
    pub(crate) fn cpu(&self) -> Duration {
        percentile(&mut self.per_call.clone(), 50)
    }
}

#[circuit_breaker(name = "drills.load", wait = "20ms")]
fn query(up: bool) -> Result<(), CallError<&'static str>> {
    if up {
        Ok(())
    } else {
        Err(CallError::Failed("down"))
    }
}

pub(crate) fn run() -> io::Result<[Third; 3]> {
    let _ = query(true);
    let trips = Arc::new(AtomicU64::new(0));
    let sink = Arc::clone(&trips);
    let _subscription = cb_runtime::registry().subscribe(Interest::ALL, move |event| {
        if matches!(
            event.kind,
            EventKind::Transition {
                to: State::Open,
                ..
            }
        ) {
            // Relaxed, here and below: totals.
            sink.fetch_add(1, Ordering::Relaxed);
        }
    });
    let begin = Instant::now();
    let mut thirds: [Third; 3] = Default::default();
    for (third, end) in thirds.iter_mut().zip(1..) {
        let before = trips.load(Ordering::Relaxed);
        let end = begin + THIRD * end;
        let parts = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|_| scope.spawn(move || work(begin, end)))
                .collect();
            workers
                .into_iter()
                .map(|worker| {
                    worker
                        .join()
                        .unwrap_or_else(|_| Err(io::Error::other("a panic")))
                })
                .collect::<io::Result<Vec<_>>>()
        })?;
        for part in parts {
            third.calls += part.calls;
            third.rejected += part.rejected;
            third.per_call.extend(part.per_call);
        }
        third.trips = trips.load(Ordering::Relaxed) - before;
        third.resident = resident()?;
    }
    Ok(thirds)
}

fn work(begin: Instant, end: Instant) -> io::Result<Third> {
    let mut part = Third::default();
    while Instant::now() < end {
        let (slice, before) = (Instant::now(), cpu_of_this_thread()?);
        let mut calls = 0;
        while slice.elapsed() < SLICE {
            let up = (begin.elapsed().as_millis() / MOOD).is_multiple_of(2);
            for _ in 0..BATCH {
                let rejected = matches!(query(up), Err(CallError::NotPermitted(_)));
                part.rejected += u64::from(rejected);
            }
            calls += BATCH;
            thread::sleep(Duration::from_millis(1));
        }
        part.calls += u64::from(calls);
        part.per_call.push((cpu_of_this_thread()? - before) / calls);
    }
    Ok(part)
}

/// From Linux, which counts it in nanoseconds.
fn cpu_of_this_thread() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok());
    nanos
        .map(Duration::from_nanos)
        .ok_or_else(|| io::Error::other(format!("schedstat: {text}")))
}

fn resident() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .ok_or_else(|| io::Error::other("no VmRSS"))
}

/// Whether the last third is as good as the first: less than twice as much of anything.
pub(crate) fn flat(thirds: &[Third; 3]) -> bool {
    let [first, _, last] = thirds;
    last.cpu() < 2 * first.cpu() && last.resident < 2 * first.resident
}
