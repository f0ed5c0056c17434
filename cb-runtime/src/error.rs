//! What a caller can be told.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::clock::{Clock, Nanos};
use crate::config::limits::Refused;
use crate::name::Name;
use crate::state::State;

mod call;
pub use call::CallError;

/// Why a call was not permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Reason {
    /// OPEN: the downstream is taken to be down until the wait is over.
    Open,
    /// FORCED_OPEN: somebody closed the road by hand.
    ForcedOpen,
    /// HALF_OPEN, and all probes of this stay are given out, or as many as may be under way.
    HalfOpenFull,
    /// CLOSED again, but not for all calls yet (`ramp`).
    Ramping,
    /// HALF_OPEN, in the pause before its first probe (`half_open_delay`).
    Pausing,
    /// The call was permitted and a [fault](crate::testing::Fault::Error) of a test's scope came in
    /// its place. Recorded as a failure, not as a rejection.
    Fault,
}

impl Reason {
    /// As a fixed word, for logs and labels: `open`, `forced_open`, `half_open_full`, `ramping`,
    /// `pausing`, `fault`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::ForcedOpen => "forced_open",
            Self::HalfOpenFull => "half_open_full",
            Self::Ramping => "ramping",
            Self::Pausing => "pausing",
            Self::Fault => "fault",
        }
    }
}

/// The breaker refused the call; the guarded function did not run.
#[derive(Clone, PartialEq, Eq)]
pub struct CallNotPermitted {
    name: Name,
    why: Why,
}

/// A reason and how long it lasts, in one word: made without a division, and moved without waiting for
/// parts of it to arrive. `[kind: 3 bits | nanoseconds: 61 bits]`; all ones: not known, or not told.
#[derive(Clone, Copy)]
pub(crate) struct Why(u64);

const REST_BITS: u32 = 61;
const NO_REST: Nanos = (1 << REST_BITS) - 1;

impl Why {
    #[inline]
    pub(crate) fn new(reason: Reason, rest: Option<Nanos>) -> Self {
        let kind = match reason {
            Reason::ForcedOpen => 1,
            Reason::HalfOpenFull => 2,
            Reason::Ramping => 3,
            Reason::Pausing => 4,
            Reason::Open => 5,
            Reason::Fault => 6,
        };
        let rest = rest.map_or(NO_REST, |rest| rest.min(NO_REST - 1));
        Self(kind << REST_BITS | rest)
    }

    /// In OPEN, with what a [`Glance`](crate::breaker::Glance) tells is left of the wait. Kind 0: there is nothing
    /// to put together.
    #[inline]
    pub(crate) const fn at_a_glance(left: Nanos) -> Self {
        Self(left)
    }

    /// The word itself, to be passed on as one.
    #[inline]
    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) fn reason(self) -> Reason {
        match self.0 >> REST_BITS {
            0 | 5 => Reason::Open,
            1 => Reason::ForcedOpen,
            2 => Reason::HalfOpenFull,
            3 => Reason::Ramping,
            4 => Reason::Pausing,
            _ => Reason::Fault,
        }
    }

    pub(crate) fn retry_after(self) -> Option<Duration> {
        self.rest().map(Duration::from_nanos)
    }

    fn rest(self) -> Option<Nanos> {
        match self.0 & NO_REST {
            left if self.0 == left => Some(left + 1 + Clock::system().lag()),
            NO_REST => None,
            rest => Some(rest),
        }
    }
}

impl PartialEq for Why {
    fn eq(&self, other: &Self) -> bool {
        (self.reason(), self.rest()) == (other.reason(), other.rest())
    }
}

impl Eq for Why {}

impl CallNotPermitted {
    #[inline]
    pub(crate) fn new(name: Name, why: Why) -> Self {
        Self { name, why }
    }

    /// The breaker's name.
    #[must_use]
    pub fn breaker(&self) -> &str {
        self.name.as_str()
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.why.reason()
    }

    /// How long until a probe is let through: `Some` in OPEN, unless it waits for ever, and in the
    /// pause before the first probe. A call made exactly then is admitted, if no other one comes
    /// first; with `half_open_delay` the one that ends the wait begins the pause.
    ///
    /// Never too short. On Linux it may be too long by up to four ticks of the kernel (16 ms with the
    /// usual 250 ticks a second), right after the opening also longer than the wait itself: mind that
    /// where it is rounded up to whole seconds. On a test clock it is exact.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.why.retry_after()
    }

    /// `false`: retrying at once is what the breaker exists to prevent. For retry libraries that
    /// ask.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        false
    }
}

impl fmt::Debug for CallNotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallNotPermitted")
            .field("breaker", &self.name)
            .field("reason", &self.reason())
            .field("retry_after", &self.retry_after())
            .finish()
    }
}

impl fmt::Display for CallNotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circuit breaker `{}` ", self.breaker())?;
        match (self.reason(), self.retry_after()) {
            (Reason::Open, Some(wait)) => write!(f, "is open, next probe in {wait:.1?}"),
            (Reason::Open, None) => f.write_str("is open until it is told otherwise"),
            (Reason::ForcedOpen, _) => f.write_str("is forced open"),
            (Reason::Ramping, _) => f.write_str("has just closed and admits a part of the calls"),
            (Reason::Pausing, rest) => {
                let rest = rest.unwrap_or_default();
                write!(f, "is half-open and pauses, first probe in {rest:.1?}")
            }
            (Reason::Fault, _) => f.write_str("permitted the call and a test made it fail"),
            (Reason::HalfOpenFull, _) => {
                f.write_str("is half-open and all its probes are under way")
            }
        }
    }
}

impl Error for CallNotPermitted {}

/// The call ran longer than its `timeout` and was dropped. Recorded as a failure.
#[derive(Clone, PartialEq, Eq)]
pub struct TimedOut {
    pub(crate) name: Name,
    pub(crate) after: Duration,
}

impl TimedOut {
    /// The breaker's name.
    #[must_use]
    pub fn breaker(&self) -> &str {
        self.name.as_str()
    }

    /// The timeout.
    #[must_use]
    pub fn after(&self) -> Duration {
        self.after
    }
}

impl fmt::Debug for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedOut")
            .field("breaker", &self.name)
            .field("after", &self.after)
            .finish()
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "call guarded by `{}` timed out after {:?}",
            self.breaker(),
            self.after
        )
    }
}

impl Error for TimedOut {}

/// A setting that is out of its range or contradicts another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    refused: Refused,
    value: String,
}

impl ConfigError {
    pub(crate) fn new(refused: Refused, value: String) -> Self {
        Self { refused, value }
    }

    /// The setting, as the attribute writes it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.refused.field
    }

    /// The value that was refused.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What is allowed, in words.
    #[must_use]
    pub fn allowed(&self) -> &'static str {
        self.refused.allowed
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is {}, but must be {}",
            self.field(),
            self.value,
            self.allowed()
        )
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ConfigError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct("ConfigError", 3)?;
        fields.serialize_field("field", self.field())?;
        fields.serialize_field("value", self.value())?;
        fields.serialize_field("allowed", self.allowed())?;
        fields.end()
    }
}

impl Error for ConfigError {}

/// A manual operation that the present state does not allow: CLOSED to HALF_OPEN, METRICS_ONLY to
/// OPEN, METRICS_ONLY to HALF_OPEN. Nothing has changed.
#[derive(Clone, PartialEq, Eq)]
pub struct IllegalTransition {
    pub(crate) name: Name,
    pub(crate) from: State,
    pub(crate) to: State,
}

impl IllegalTransition {
    /// The breaker's name.
    #[must_use]
    pub fn breaker(&self) -> &str {
        self.name.as_str()
    }

    /// The state the breaker is in.
    #[must_use]
    pub fn from_state(&self) -> State {
        self.from
    }

    /// The state that was asked for.
    #[must_use]
    pub fn to_state(&self) -> State {
        self.to
    }
}

impl fmt::Debug for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IllegalTransition")
            .field("breaker", &self.name)
            .field("from", &self.from)
            .field("to", &self.to)
            .finish()
    }
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, from, to) = (self.breaker(), self.from, self.to);
        let first = if from == State::MetricsOnly {
            "close"
        } else {
            "open"
        };
        write!(
            f,
            "circuit breaker `{name}` cannot go from {from} to {to} by hand; {first} it first"
        )
    }
}

impl Error for IllegalTransition {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_tells_the_lag_with_the_rest() {
        let lag = Clock::system().lag();
        let why = Why::at_a_glance(5);
        assert_eq!((why.reason(), why.rest()), (Reason::Open, Some(6 + lag)));
        assert!(why == Why::new(Reason::Open, Some(6 + lag)));
        assert!(why != Why::at_a_glance(6));
    }

    #[test]
    fn a_reason_and_its_rest_come_out_of_their_word() {
        for reason in [
            Reason::Open,
            Reason::ForcedOpen,
            Reason::HalfOpenFull,
            Reason::Ramping,
            Reason::Pausing,
            Reason::Fault,
        ] {
            for rest in [None, Some(0), Some(1), Some(NO_REST - 1)] {
                let why = Why::new(reason, rest);
                assert_eq!((why.reason(), why.rest()), (reason, rest));
            }
        }
        // 73 years, less the very least.
        let longest = Why::new(Reason::Fault, Some(u64::MAX));
        assert_eq!(longest.rest(), Some(NO_REST - 1));
    }
}
