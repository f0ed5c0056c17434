//! The figures of one moment.

use std::time::Duration;

use crate::state::State;

/// A breaker's figures, consistent with each other. Times are the breaker's clock's.
///
/// The counts are those of the window in CLOSED and METRICS_ONLY, and of the probes in HALF_OPEN.
/// In OPEN they are the ones that led there, a time window going on ageing. In FORCED_OPEN and
/// DISABLED nothing is recorded.
///
/// With the feature `serde` it is written under the names of its fields, durations as seconds:
///
#[cfg_attr(feature = "serde", doc = "```")]
#[cfg_attr(not(feature = "serde"), doc = "```text")]
/// let registry = cb_runtime::Registry::new();
/// let json = serde_json::to_value(registry.get_or_create("inventory").snapshot())?;
/// assert_eq!(json["state"], "CLOSED");
/// assert!(json["in_state_for"].as_f64().unwrap() < 60.0);
/// assert!(json["retry_after"].is_null());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Snapshot {
    /// The breaker's name.
    pub name: String,
    /// The state.
    pub state: State,
    /// The number of this stay: it rises with every transition and reset.
    pub generation: u64,
    /// How long this stay has lasted.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub in_state_for: Duration,
    /// Recorded calls.
    pub calls: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that were slow, with whatever result.
    pub slow: u32,
    /// Those that were slow and failed.
    pub slow_failed: u32,
    /// Those that succeeded, slow or not.
    pub successful: u32,
    /// Those that were dropped after they had run past `slow`: slow, neither success nor failure.
    pub cancelled: u32,
    /// Rejections; in OPEN including those of the stay before it.
    pub not_permitted: u64,
    /// In percent; `None` below the minimum number of calls.
    pub failure_rate: Option<f64>,
    /// In percent; `None` below the minimum number of calls.
    pub slow_rate: Option<f64>,
    /// The number of calls from which the rates above are given.
    pub min_calls: u32,
    /// With `count_running`, in CLOSED and METRICS_ONLY: calls under way.
    pub in_flight: Option<u32>,
    /// Those of them that have been running for longer than `slow`; to within a sixteenth of it.
    pub overdue: Option<u32>,
    /// How long the oldest of them has been running, likewise.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub oldest: Option<Duration>,
    /// The rest of the warm-up, once it has begun.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub warming: Option<Duration>,
    /// The share of calls that the ramp admits now, in percent.
    pub admitted: Option<f64>,
    /// Failures in a row, in CLOSED and METRICS_ONLY.
    pub consecutive_failures: u32,
    /// Openings in a row, without a closing in between.
    pub attempt: u64,
    /// In OPEN: the whole wait; `None` if it has no end.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub wait: Option<Duration>,
    /// In OPEN: the rest of the wait, zero when it is over; `None` if it has no end.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub retry_after: Option<Duration>,
    /// In HALF_OPEN.
    pub probes: Option<Probes>,
    /// Calls that ended in a later stay than the one they were permitted in, since the breaker was
    /// made. They are recorded nowhere else.
    pub late: u64,
    /// Calls classified as saying nothing about the downstream, since the breaker was made.
    pub ignored: u64,
    /// Calls dropped at their `timeout`, since the breaker was made. They are failures as well.
    pub timed_out: u64,
    /// Calls that a `fallback` of an annotated function answered, since the breaker was made: for a
    /// rejection, or with `fallback_on = "failure"` also for a failure.
    pub fallbacks: u64,
    /// How often each state was entered and for how long the breaker has been in it, since it was
    /// made.
    pub states: [StateTotals; 6],
    /// How probes ended, since the breaker was made.
    pub probe_totals: ProbeTotals,
    /// How long the latest recovery took, from the opening until probes closed the breaker.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub last_recovery: Option<Duration>,
    /// All rejections since the breaker was made.
    pub not_permitted_total: u64,
    /// Of all those, calls that found HALF_OPEN full within one of its own probes. The probe's function, or one
    /// that it called, called a function under the same breaker, whose rejection fails the probe: guard
    /// one of the two.
    pub rejected_within_probes: u64,
    /// Per-call events that were dropped because listeners could not keep up.
    pub dropped_events: u64,
}

impl Snapshot {
    /// How often this state was entered, and for how long the breaker has been in it.
    #[must_use]
    pub fn totals_of(&self, state: State) -> StateTotals {
        let found = self.states.iter().find(|totals| totals.state == state);
        found.copied().unwrap_or(StateTotals {
            state,
            entries: 0,
            time: Duration::ZERO,
        })
    }
}

/// What a breaker has had of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StateTotals {
    /// The state.
    pub state: State,
    /// How often it was entered from another one; the state that the breaker was made in has one
    /// more.
    pub entries: u64,
    /// The time in it, with the stay that is going on.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub time: Duration,
}

/// How probes that were recorded ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ProbeTotals {
    /// Those that succeeded, slow or not.
    pub successful: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that were dropped after they had run past the slow limit.
    pub cancelled: u64,
    /// Those that were slow, with whatever result.
    pub slow: u64,
}

/// The permits of a HALF_OPEN stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Probes {
    /// How many probes this stay may send.
    pub permitted: u32,
    /// How many are under way.
    pub in_flight: u32,
    /// How many returned.
    pub returned: u32,
    /// How many returned probes decide, if no rule decides before.
    pub deciding: u32,
    /// How many of the latest succeeded in a row and were not slow.
    pub good_in_a_row: u32,
    /// The rest of the pause before the first probe.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub pause: Option<Duration>,
    /// How long until the stay ends by `half_open_max_wait`, if that has begun to count.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional", default))]
    pub ends_in: Option<Duration>,
}
