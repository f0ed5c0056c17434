//! A downstream that recovers only in part: how often each rule closes and opens again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cb_runtime::{Config, EventKind, Interest, State};

use crate::sim::{Answer, Dice, Sent, Sim};

const EVERY: Duration = Duration::from_millis(100);
const LATENCY: Duration = Duration::from_millis(50);
/// What happened within the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flapping {
    /// From HALF_OPEN to CLOSED.
    pub(crate) closings: u32,
    /// From HALF_OPEN back to OPEN.
    pub(crate) failed_stays: u32,
    /// Calls that reached the downstream and failed.
    pub(crate) failed: u32,
    /// Calls that reached it and succeeded.
    pub(crate) succeeded: u32,
}

/// Ten calls a second for so many hours; so many percent of those that reach the downstream fail, at
/// random.
pub(crate) fn flaps(config: &Config, failing: u64, hours: u32) -> Flapping {
    let mut sim = Sim::new(config, 1);
    let counters = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let sink = Arc::clone(&counters);
    let _subscription = sim
        .breaker(0)
        .subscribe(Interest::TRANSITIONS, move |event| {
            if let EventKind::Transition { from, to, .. } = event.kind
                && from == State::HalfOpen
            {
                // Relaxed: one thread.
                sink[usize::from(to == State::Open)].fetch_add(1, Ordering::Relaxed);
            }
        });
    let (mut dice, mut failed, mut succeeded) = (Dice::default(), 0, 0);
    // It begins in the middle of an outage.
    let _ = sim.breaker(0).open();
    let end = Duration::from_secs(3600) * hours;
    while sim.now() < end {
        let ok = !dice.percent(failing);
        let after = LATENCY;
        if sim.call(0, || Answer { after, ok }) != Sent::Rejected {
            *(if ok { &mut succeeded } else { &mut failed }) += 1;
        }
        sim.advance(EVERY);
    }
    let [closings, failed_stays] = [0, 1].map(|which| counters[which].load(Ordering::Relaxed));
    Flapping {
        closings,
        failed_stays,
        failed,
        succeeded,
    }
}

/// The rules that are compared.
pub(crate) fn rules() -> Vec<(&'static str, Config)> {
    let new = Config::new;
    let minute = Duration::from_secs(60);
    let growing = new().wait_multiplier(2.0).wait_max(minute);
    vec![
        ("our defaults", new()),
        ("half_open_successes = 3", new().half_open_successes(3)),
        ("half_open_successes = 5", new().half_open_successes(5)),
        (
            "half_open_success_rate = 80",
            new().half_open_success_rate(80.0),
        ),
        ("half_open_failures = 1", new().half_open_failures(1)),
        (
            "half_open_calls = 20",
            new().half_open_calls(20).min_calls(20),
        ),
        ("wait doubling up to 60s", growing.clone()),
        (
            "  and wait_recover = 60s",
            growing.clone().wait_recover(minute),
        ),
        (
            "  and half_open_failures = 1",
            growing.half_open_failures(1),
        ),
        (
            "half_open_attempts = 3, wait_max = 60s",
            new().wait_max(minute).half_open_attempts(3),
        ),
        ("ramp = 60s", new().ramp(minute)),
        ("base = \"resilience4j\"", Config::resilience4j()),
    ]
}
