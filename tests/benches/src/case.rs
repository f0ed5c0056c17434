//! What is measured.

use crate::answer::Seen;

/// A situation of the breaker and its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Case {
    /// CLOSED, every call succeeds; the last 100 calls, or failures in a row where that is all there is.
    Closed,
    /// The same, and one call of ten fails.
    Tenth,
    /// CLOSED with a limit for slow calls of 2 s.
    SlowFar,
    /// CLOSED with a limit for slow calls of 50 ms.
    SlowNear,
    /// CLOSED with a window of 30 s: our default configuration.
    Time,
    /// The same, and one call of ten fails.
    TimeTenth,
    /// OPEN: every call is refused.
    Open,
    /// HALF_OPEN with all its probes under way: every call is refused.
    HalfOpenFull,
    /// METRICS_ONLY.
    MetricsOnly,
    /// [`Closed`](Self::Closed), async on a current-thread runtime.
    Async,
    /// 1 000 breakers in turn.
    Breakers,
    /// One breaker for each of 10 000 keys, in turn.
    Keys,
}

impl Case {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Closed,
        Self::Tenth,
        Self::SlowFar,
        Self::SlowNear,
        Self::Time,
        Self::TimeTenth,
        Self::Open,
        Self::HalfOpenFull,
        Self::MetricsOnly,
        Self::Async,
        Self::Breakers,
        Self::Keys,
    ];

    /// The name in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED, success",
            Self::Tenth => "CLOSED, 1 of 10 fails",
            Self::SlowFar => "CLOSED, `slow = \"2s\"`",
            Self::SlowNear => "CLOSED, `slow = \"50ms\"`",
            Self::Time => "CLOSED, window of 30 s",
            Self::TimeTenth => "window of 30 s, 1 of 10 fails",
            Self::Open => "OPEN, rejection",
            Self::HalfOpenFull => "HALF_OPEN, full, rejection",
            Self::MetricsOnly => "METRICS_ONLY, success",
            Self::Async => "async, CLOSED, success",
            Self::Breakers => "1 000 breakers in turn",
            Self::Keys => "10 000 keys in turn",
        }
    }

    /// The name on a command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Tenth => "tenth",
            Self::SlowFar => "slow-far",
            Self::SlowNear => "slow-near",
            Self::Time => "time",
            Self::TimeTenth => "time-tenth",
            Self::Open => "open",
            Self::HalfOpenFull => "half-open-full",
            Self::MetricsOnly => "metrics-only",
            Self::Async => "async",
            Self::Breakers => "breakers",
            Self::Keys => "keys",
        }
    }

    /// What so many calls, numbered from 0, must be answered.
    #[must_use]
    pub fn expected(self, calls: u64) -> Seen {
        match self {
            Self::Open | Self::HalfOpenFull => Seen {
                rejected: calls,
                ..Seen::default()
            },
            Self::Tenth | Self::TimeTenth => Seen {
                ok: calls - calls / 10,
                failed: calls / 10,
                rejected: 0,
            },
            _ => Seen {
                ok: calls,
                ..Seen::default()
            },
        }
    }

    /// How many breakers have their turn.
    pub(crate) fn breakers(self) -> u64 {
        match self {
            Self::Breakers => crate::ours::BREAKERS as u64,
            Self::Keys => crate::ours::KEYS as u64,
            _ => 1,
        }
    }

    /// The state that a breaker must be in afterwards, as far as it tells.
    pub(crate) fn state(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::HalfOpenFull => "HALF_OPEN",
            Self::MetricsOnly => "METRICS_ONLY",
            _ => "CLOSED",
        }
    }
}
