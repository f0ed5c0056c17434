//! How soon a recovered downstream gets its traffic back, and what a sick one gets meanwhile.

use std::time::Duration;

use cb_runtime::{Config, State};

use crate::sim::{Answer, Sent, Sim};

const EVERY: Duration = Duration::from_millis(100);
const LATENCY: Duration = Duration::from_millis(50);
/// Healing at this time or up to a minute later.
const OUTAGE: Duration = Duration::from_secs(300);

/// What an outage was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recovery {
    /// From healing to CLOSED.
    pub(crate) took: Duration,
    /// Probes that the sick downstream got.
    pub(crate) hits: u32,
}

/// Ten calls a second; all fail until `healed_at`.
pub(crate) fn recovers(config: &Config, healed_at: Duration) -> Recovery {
    let mut sim = Sim::new(config, 1);
    let mut hits = 0;
    loop {
        let ok = sim.now() >= healed_at;
        let after = LATENCY;
        if sim.call(0, || Answer { after, ok }) == Sent::Probe && !ok {
            hits += 1;
        }
        sim.advance(EVERY);
        if ok && sim.breaker(0).state() == State::Closed {
            let took = sim.now() - healed_at;
            return Recovery { took, hits };
        }
    }
}

/// The outages that end at each second of a minute.
pub(crate) fn curve(config: &Config) -> Vec<Recovery> {
    (0..60)
        .map(|second| recovers(config, OUTAGE + Duration::from_secs(second)))
        .collect()
}

/// The configurations that are compared.
pub(crate) fn configurations() -> Vec<(String, Config)> {
    let mut all: Vec<_> = [1, 5, 10, 30]
        .map(|wait| {
            let config = Config::new().wait(Duration::from_secs(wait));
            (format!("wait = {wait}s"), config)
        })
        .into();
    let growing = Config::new()
        .wait(Duration::from_secs(1))
        .wait_multiplier(2.0)
        .wait_max(Duration::from_secs(30));
    all.push(("wait = 1s, doubling up to 30s".into(), growing));
    all.push(("base = \"resilience4j\"".into(), Config::resilience4j()));
    all
}
