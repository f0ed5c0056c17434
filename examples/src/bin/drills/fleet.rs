//! A fleet recovers: what the downstream gets in its worst second.

use std::time::Duration;

use cb_runtime::{Config, State};

use crate::sim::{Answer, Sent, Sim};

/// Instances; each makes ten calls a second.
pub(crate) const INSTANCES: usize = 100;
const SLOT: Duration = Duration::from_millis(1);
const SLOTS_A_SECOND: usize = 1000;
/// Each instance calls once in so many slots.
const PERIOD: usize = 100;
/// Sick until then, as seen from the first second of the outage.
const HEALED: usize = 60 * SLOTS_A_SECOND;
const END: usize = 180 * SLOTS_A_SECOND;
/// So long takes an answer while the downstream is overloaded; errors too.
const LATENCY: Duration = Duration::from_millis(800);

/// What arrived at the downstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Probes in the worst second.
    pub(crate) peak_probes: u32,
    /// How much more there was in one second than in the one before, at the most, after healing.
    pub(crate) steepest: u32,
    /// From healing until all instances were CLOSED.
    pub(crate) all_closed: Duration,
    /// From healing until nine tenths of the normal traffic were back.
    pub(crate) traffic_back: Duration,
}

/// An outage that hits all instances at once.
pub(crate) fn outage(config: &Config) -> Load {
    let mut sim = Sim::new(config, INSTANCES);
    for instance in 0..INSTANCES {
        // On a test clock all breakers draw the same random numbers. Those of a fleet do not: each
        // instance has drawn another number of them before.
        for _ in 0..instance {
            let _ = sim.breaker(instance).open();
            sim.breaker(instance).close();
        }
    }
    // By slots of a millisecond: all that arrived, and the probes among them.
    let (mut all, mut probes) = (vec![0_u32; END], vec![0_u32; END]);
    let mut closed_at = HEALED;
    for slot in 0..END {
        let ok = slot >= HEALED;
        for instance in (slot % PERIOD..INSTANCES).step_by(PERIOD) {
            let after = LATENCY;
            let sent = sim.call(instance, || Answer { after, ok });
            all[slot] += u32::from(sent != Sent::Rejected);
            probes[slot] += u32::from(sent == Sent::Probe);
        }
        let look = ok && slot % PERIOD == 0;
        if look && (0..INSTANCES).any(|instance| sim.breaker(instance).state() != State::Closed) {
            closed_at = slot + PERIOD;
        }
        sim.advance(SLOT);
    }
    let seconds = |slots: usize| SLOT * u32::try_from(slots).unwrap_or(u32::MAX);
    let normal = u32::try_from(INSTANCES * SLOTS_A_SECOND / PERIOD).unwrap_or(u32::MAX);
    let after_healing: Vec<u32> = all[HEALED..]
        .chunks(SLOTS_A_SECOND)
        .map(|second| second.iter().sum())
        .collect();
    let back = after_healing
        .iter()
        .position(|calls| *calls >= normal / 10 * 9)
        .unwrap_or(after_healing.len());
    Load {
        peak_probes: worst_second(&probes),
        steepest: after_healing
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .max()
            .unwrap_or_default(),
        all_closed: seconds(closed_at - HEALED),
        traffic_back: seconds(back * SLOTS_A_SECOND),
    }
}

/// The largest sum over a second, wherever it begins.
fn worst_second(slots: &[u32]) -> u32 {
    let mut sum = 0;
    let mut worst = 0;
    for (end, calls) in slots.iter().enumerate() {
        sum += calls;
        if let Some(begin) = end.checked_sub(SLOTS_A_SECOND) {
            sum -= slots[begin];
        }
        worst = worst.max(sum);
    }
    worst
}

/// The configurations that are compared.
pub(crate) fn configurations() -> Vec<(&'static str, Config)> {
    let new = Config::new;
    let ramp = Duration::from_secs(30);
    vec![
        ("our defaults", new()),
        ("wait_jitter = 20", new().wait_jitter(20.0)),
        ("wait_jitter = 50", new().wait_jitter(50.0)),
        ("half_open_concurrency = 1", new().half_open_concurrency(1)),
        (
            "  and wait_jitter = 50",
            new().half_open_concurrency(1).wait_jitter(50.0),
        ),
        ("ramp = 30s", new().ramp(ramp)),
        (
            "all three",
            new().half_open_concurrency(1).wait_jitter(50.0).ramp(ramp),
        ),
        ("base = \"resilience4j\"", Config::resilience4j()),
    ]
}
