//! What happened to a breaker.

use std::fmt;
use std::time::Duration;

use crate::conflict::Conflict;
use crate::counted::{counted, was};
use crate::error::Reason;
use crate::name::Name;

use crate::state::State;

/// Something that happened to a breaker.
///
/// With the feature `serde` it is written under the names of its fields, times as seconds; what
/// has variants names them in `type`, in `snake_case`:
///
/// ```json
/// {"breaker":"inventory","at":12.5,"generation":2,"kind":{
///   "type":"transition","from":"CLOSED","to":"OPEN",
///   "cause":{"type":"failure_rate","failed":12,"calls":20,"limit":50.0}},
///  "figures":{"calls":20,"failed":12,"slow":0,"not_permitted_total":0,"wait":10.0}}
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Event {
    pub(crate) breaker: Name,
    /// When, on the breaker's clock, to be compared with
    /// [`Registry::clock`](crate::Registry::clock)'s `elapsed`. A transition that was due earlier than it was noticed has the
    /// time at which it was due.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub at: Duration,
    /// The stay it belongs to; for a transition, the new one.
    pub generation: u64,
    /// What.
    pub kind: EventKind,
    /// With a transition, the figures of that moment.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub figures: Option<EventFigures>,
}

/// The figures of the moment of a transition: those of the stay that has ended, and the wait that
/// has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EventFigures {
    /// Recorded calls in the window, or probes that returned.
    pub calls: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that were slow, with whatever result.
    pub slow: u32,
    /// All rejections since the breaker was made.
    pub not_permitted_total: u64,
    /// To OPEN: how long until the first probe; `None` if the wait has no end, and in other states.
    /// A `retry_after` of the downstream may yet replace it.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
    pub wait: Option<Duration>,
}

impl Event {
    /// The breaker's name.
    #[must_use]
    pub fn breaker(&self) -> &str {
        self.breaker.as_str()
    }
}

/// What happened.
///
/// Durations of calls are `None` where nothing needed them when the call began: they are measured
/// only with `slow`, or while somebody has subscribed to [`Interest::CALLS`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "type", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum EventKind {
    /// A call was recorded as a success.
    Success {
        /// How long it took.
        #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
        duration: Option<Duration>,
    },
    /// A call was recorded as a failure.
    Error {
        /// How long it took.
        #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
        duration: Option<Duration>,
    },
    /// A call was classified as saying nothing about the downstream.
    Ignored {
        /// How long it took.
        #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
        duration: Option<Duration>,
    },
    /// A call was dropped before it ended and is recorded as slow.
    Cancelled {
        /// How long it ran.
        #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
        duration: Option<Duration>,
    },
    /// A call ended in a later stay than the one it was permitted in; it is not recorded.
    Late,
    /// A call was rejected.
    NotPermitted {
        /// Why.
        reason: Reason,
    },
    /// The failure rate reached its limit. In METRICS_ONLY at most once a stay.
    FailureRateExceeded {
        /// In percent.
        rate: f64,
    },
    /// The rate of slow calls reached its limit. In METRICS_ONLY at most once a stay.
    SlowRateExceeded {
        /// In percent.
        rate: f64,
    },
    /// The breaker went from one state to another.
    Transition {
        /// The state it left.
        from: State,
        /// The state it is in now.
        to: State,
        /// Why.
        cause: Cause,
    },
    /// The breaker was reset by hand.
    Reset,
    /// So many rounds of OPEN and HALF_OPEN fell due while nobody looked that they were counted
    /// rather than published.
    CyclesSkipped {
        /// How many rounds.
        cycles: u64,
    },
    /// The breaker's configuration is in conflict with itself; see
    /// [`Registry::conflicts`](crate::Registry::conflicts).
    Conflict(Conflict),
}

impl EventKind {
    pub(crate) fn class(&self) -> Interest {
        match self {
            Self::Success { .. }
            | Self::Error { .. }
            | Self::Ignored { .. }
            | Self::Cancelled { .. }
            | Self::Late
            | Self::NotPermitted { .. } => Interest::CALLS,
            _ => Interest::TRANSITIONS,
        }
    }
}

/// Why a breaker changed its state, with the figures of that moment. Displays as a phrase.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "type", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Cause {
    /// The failure rate reached its limit.
    FailureRate {
        /// Failed calls in the window, or failed probes.
        failed: u32,
        /// Calls in the window, or probes that returned.
        calls: u32,
        /// The limit in percent.
        limit: f64,
    },
    /// The rate of slow calls reached its limit.
    SlowRate {
        /// Slow calls in the window, or slow probes.
        slow: u32,
        /// Those of them that were still running, with `count_running`.
        running: u32,
        /// Calls in the window, those included, or probes that returned.
        calls: u32,
        /// The limit in percent.
        limit: f64,
    },
    /// That many calls in the window failed.
    FailureCount {
        /// Failed calls in the window.
        failed: u32,
        /// The limit.
        limit: u32,
    },
    /// That many calls in a row failed.
    ConsecutiveFailures {
        /// How many.
        failures: u32,
    },
    /// The wait in OPEN was over.
    WaitOver,
    /// The probes did not reach a limit.
    ProbesSucceeded {
        /// Probes that returned.
        returned: u32,
        /// How many of them failed.
        failed: u32,
    },
    /// So many probes failed.
    ProbeFailures {
        /// How many.
        failed: u32,
        /// The limit, `half_open_failures`.
        limit: u32,
    },
    /// All probes are in, and never were enough of them in a row good.
    ProbesFellShort {
        /// Probes that succeeded and were not slow.
        good: u32,
        /// Probes that returned.
        returned: u32,
        /// How many good ones in a row were wanted, `half_open_successes`.
        wanted: u32,
    },
    /// All probes are in, and too few of them were good.
    ProbeSuccessRate {
        /// Probes that succeeded and were not slow.
        good: u32,
        /// Probes that returned.
        returned: u32,
        /// The limit in percent, `half_open_success_rate`.
        limit: f64,
    },
    /// HALF_OPEN lasted for `half_open_max_wait` without a decision.
    HalfOpenMaxWait {
        /// Probes that had returned.
        returned: u32,
    },
    /// Somebody said so.
    Manual,
}

impl Cause {
    /// The setting or the event that decided, as a fixed word: `failure_rate`, `slow_rate`,
    /// `failure_count`, `consecutive_failures`, `wait_over`, `probes_succeeded`,
    /// `half_open_failures`, `half_open_successes`, `half_open_success_rate`,
    /// `half_open_max_wait`, `manual`.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::FailureRate { .. } => "failure_rate",
            Self::SlowRate { .. } => "slow_rate",
            Self::FailureCount { .. } => "failure_count",
            Self::ConsecutiveFailures { .. } => "consecutive_failures",
            Self::WaitOver => "wait_over",
            Self::ProbesSucceeded { .. } => "probes_succeeded",
            Self::ProbeFailures { .. } => "half_open_failures",
            Self::ProbesFellShort { .. } => "half_open_successes",
            Self::ProbeSuccessRate { .. } => "half_open_success_rate",
            Self::HalfOpenMaxWait { .. } => "half_open_max_wait",
            Self::Manual => "manual",
        }
    }

    /// The limit of that rule: in percent for rates, else a number of calls. `None` where the rule
    /// has no limit.
    #[must_use]
    pub fn limit(&self) -> Option<f64> {
        match *self {
            Self::FailureRate { limit, .. }
            | Self::SlowRate { limit, .. }
            | Self::ProbeSuccessRate { limit, .. } => Some(limit),
            Self::FailureCount { limit, .. } | Self::ProbeFailures { limit, .. } => {
                Some(f64::from(limit))
            }
            Self::ConsecutiveFailures { failures } => Some(f64::from(failures)),
            Self::ProbesFellShort { wanted, .. } => Some(f64::from(wanted)),
            Self::WaitOver
            | Self::ProbesSucceeded { .. }
            | Self::HalfOpenMaxWait { .. }
            | Self::Manual => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FailureRate {
                failed,
                calls,
                limit,
            } => write!(
                f,
                "{failed} of {} failed ({}%), `failure_rate` is {limit}%",
                counted(calls, "call"),
                rounded(failed, calls)
            ),
            Self::SlowRate {
                slow,
                running,
                calls,
                limit,
            } => {
                write!(
                    f,
                    "{slow} of {} {} slow ({}%",
                    counted(calls, "call"),
                    was(slow),
                    rounded(slow, calls)
                )?;
                if running > 0 {
                    write!(f, ", {running} of them still running")?;
                }
                write!(f, "), `slow_rate` is {limit}%")
            }
            Self::FailureCount { failed, limit } => {
                write!(
                    f,
                    "{} in the window failed, `failure_count` is {limit}",
                    counted(failed, "call")
                )
            }
            Self::ConsecutiveFailures { failures } => {
                write!(
                    f,
                    "{} in a row failed, as many as `consecutive_failures`",
                    counted(failures, "call")
                )
            }
            Self::WaitOver => f.write_str("the wait is over"),
            Self::ProbesSucceeded { returned, failed } => {
                let returned = counted(returned, "probe");
                write!(f, "{returned} returned, {failed} of them failed")
            }
            Self::ProbeFailures { failed, limit } => {
                let failed = counted(failed, "probe");
                write!(f, "{failed} failed, `half_open_failures` is {limit}")
            }
            Self::ProbesFellShort {
                good,
                returned,
                wanted,
            } => write!(
                f,
                "{good} of {} {} good, never {wanted} in a row (`half_open_successes`)",
                counted(returned, "probe"),
                was(good)
            ),
            Self::ProbeSuccessRate {
                good,
                returned,
                limit,
            } => write!(
                f,
                "{good} of {} {} good ({}%), `half_open_success_rate` is {limit}%",
                counted(returned, "probe"),
                was(good),
                rounded(good, returned)
            ),
            Self::HalfOpenMaxWait { returned } => {
                let returned = counted(returned, "probe");
                write!(f, "`half_open_max_wait` is over, {returned} returned")
            }
            Self::Manual => f.write_str("by hand"),
        }
    }
}

pub(crate) fn percent(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        0.0
    } else {
        f64::from(part) * 100.0 / f64::from(whole)
    }
}

/// A percentage for people: two decimals at the most.
pub(crate) fn rounded(part: u32, whole: u32) -> f64 {
    (percent(part, whole) * 100.0).round() / 100.0
}

/// Which events a subscriber wants. Per-call events are not even made while nobody wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Transitions, resets, exceeded rates, skipped rounds and conflicts.
    pub const TRANSITIONS: Self = Self(1);
    /// Outcomes, late outcomes and rejections: one event for each call.
    pub const CALLS: Self = Self(2);
    /// Everything.
    pub const ALL: Self = Self(3);

    /// Counts of each call, for an exporter; no event is made for it.
    pub(crate) const METERED: Self = Self(4);
    /// Whatever makes each call be looked at.
    pub(crate) const EACH_CALL: Self = Self(Self::CALLS.0 | Self::METERED.0);
    /// Durations of each call, for an exporter.
    pub(crate) const TIMED: Self = Self(8);
    /// Whatever makes each call be timed.
    pub(crate) const DURATIONS: Self = Self(Self::CALLS.0 | Self::TIMED.0);

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn covers(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
