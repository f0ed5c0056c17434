//! How soon a breaker opens while the downstream gets worse within a minute, or dies at once.

use std::time::Duration;

use cb_runtime::{Config, State};

use crate::sim::{Answer, Share, Sim};

/// The downstream gets worse for so long, and stays as bad.
const RISE: Duration = Duration::from_secs(60);
/// Watched for so long.
const END: Duration = Duration::from_secs(600);
/// The client gives up after so long, and that is a failure.
const TIMEOUT: Duration = Duration::from_secs(30);
const NORMAL: Duration = Duration::from_millis(50);

/// How the downstream gets worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sickness {
    /// All calls fail at once.
    Dead,
    /// All calls run into the client's timeout at once.
    Hangs,
    /// More and more errors, up to all.
    Errors,
    /// Slower and slower, up to the client's timeout.
    Latency,
}

/// The moment of opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// After so long.
    pub(crate) after: Duration,
    /// Calls that were made until then.
    pub(crate) calls: u32,
    /// Calls that hung at that moment.
    pub(crate) under_way: usize,
}

/// One call every so often; `None` if it does not open.
pub(crate) fn opens(config: &Config, sickness: Sickness, every: Duration) -> Option<Opened> {
    let mut sim = Sim::new(config, 1);
    let mut errors = Share::default();
    let mut calls = 0;
    while sim.now() < END {
        let part = match sickness {
            Sickness::Dead | Sickness::Hangs => 1.0,
            _ => (sim.now().as_secs_f64() / RISE.as_secs_f64()).min(1.0),
        };
        let answer = match sickness {
            Sickness::Errors | Sickness::Dead => Answer {
                after: NORMAL,
                ok: !errors.of(part),
            },
            Sickness::Latency | Sickness::Hangs => {
                let after = NORMAL + (TIMEOUT - NORMAL).mul_f64(part);
                let ok = after < TIMEOUT;
                Answer { after, ok }
            }
        };
        sim.call(0, || answer);
        if sim.breaker(0).state() == State::Open {
            return Some(Opened {
                after: sim.now(),
                calls,
                under_way: sim.under_way(),
            });
        }
        calls += 1;
        sim.advance(every);
    }
    None
}

/// The configurations that are compared.
pub(crate) fn configurations() -> [(&'static str, Config); 7] {
    let slow = Config::new().slow(Duration::from_secs(2));
    [
        ("our defaults", Config::new()),
        ("slow = 2s", slow.clone()),
        ("slow = 2s, count_running", slow.clone().count_running(true)),
        (
            "slow = 2s, slow_rate = 20",
            slow.slow_rate(20.0).count_running(true),
        ),
        ("failure_rate = 20", Config::new().failure_rate(20.0)),
        ("failure_count = 5", Config::new().failure_count(5)),
        ("base = \"resilience4j\"", Config::resilience4j()),
    ]
}
