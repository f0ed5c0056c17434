//! The packed word: which state, and which stay or until when. No atomics here.

use std::fmt;

use crate::clock::Nanos;

/// A breaker's state. With the feature `serde` it is written as [`as_str`](Self::as_str) writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "SCREAMING_SNAKE_CASE"))]
#[non_exhaustive]
pub enum State {
    /// Calls go through and are judged.
    Closed,
    /// Calls are rejected until the wait is over.
    Open,
    /// A few calls go through as probes and decide.
    HalfOpen,
    /// Calls are rejected until somebody says otherwise.
    ForcedOpen,
    /// Calls go through, nothing is recorded.
    Disabled,
    /// Calls go through and are recorded; nothing is ever rejected.
    MetricsOnly,
}

impl State {
    /// As Resilience4j writes it: `HALF_OPEN`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Open => "OPEN",
            Self::HalfOpen => "HALF_OPEN",
            Self::ForcedOpen => "FORCED_OPEN",
            Self::Disabled => "DISABLED",
            Self::MetricsOnly => "METRICS_ONLY",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// State and stay, or state and deadline, in 64 bits, so that nobody sees one without the other.
///
/// | bits | OPEN | the others |
/// |---|---|---|
/// | 61–63 | kind | kind |
/// | 0–60 | deadline: ns since the breaker's birth; all ones means never | number of the stay |
///
/// OPEN hands out no permits, so it needs no stay. For the others the word is itself the mark of
/// the stay: equal words mean the same stay. 2^61 ns are 73 years. The highest bit is that of OPEN and
/// DISABLED alone, so that a rejection is told from the rest by the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

const PAYLOAD_BITS: u32 = 61;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;

impl Word {
    /// The kind of OPEN, in its place.
    pub(crate) const OPEN: u64 = 6 << PAYLOAD_BITS;
    /// All times in words are below.
    pub(crate) const TIMES: Nanos = 1 << PAYLOAD_BITS;

    /// With deadlines that count from `birth`, entered at `from`. A wait that does not fit is for ever; a finite one
    /// ends, however late it begins: at the latest when a clock comes to its end.
    pub(crate) const fn open(birth: Nanos, from: Nanos, wait: Nanos) -> Self {
        let payload = if wait >= PAYLOAD {
            PAYLOAD
        } else {
            let deadline = from.saturating_add(wait).saturating_sub(birth);
            if deadline < PAYLOAD {
                deadline
            } else {
                PAYLOAD - 1
            }
        };
        Self(Self::OPEN | payload)
    }

    /// Of any state but OPEN.
    pub(crate) const fn in_stay(state: State, stay: u64) -> Self {
        let kind = match state {
            State::Closed => 0,
            State::MetricsOnly => 1,
            State::ForcedOpen => 2,
            State::HalfOpen => 3,
            State::Disabled => 4,
            State::Open => Self::OPEN >> PAYLOAD_BITS,
        };
        Self(kind << PAYLOAD_BITS | stay & PAYLOAD)
    }

    /// No state: a kind that there is not.
    pub(crate) const NONE: Self = Self(u64::MAX);
    /// Another one.
    pub(crate) const REFUSED: Self = Self(u64::MAX - 1);

    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// Kind 0: one comparison on the hot path.
    pub(crate) const fn is_closed(self) -> bool {
        self.0 >> PAYLOAD_BITS == 0
    }

    /// Whether it is OPEN or DISABLED: one comparison.
    #[inline]
    pub(crate) const fn may_be_open(self) -> bool {
        self.0 >> 63 == 1
    }

    pub(crate) const fn state(self) -> State {
        match self.0 >> PAYLOAD_BITS {
            0 => State::Closed,
            1 => State::MetricsOnly,
            2 => State::ForcedOpen,
            3 => State::HalfOpen,
            4 => State::Disabled,
            _ => State::Open,
        }
    }

    /// The stay, unless OPEN.
    pub(crate) const fn stay(self) -> u64 {
        self.0 & PAYLOAD
    }

    /// When the wait is over, if OPEN; `None` means never.
    pub(crate) const fn deadline(self) -> Option<Nanos> {
        match self.0 & PAYLOAD {
            PAYLOAD => None,
            deadline => Some(deadline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for state in [
            State::Closed,
            State::HalfOpen,
            State::ForcedOpen,
            State::Disabled,
            State::MetricsOnly,
        ] {
            let word = Word::in_stay(state, 7);
            assert_eq!((word.state(), word.stay()), (state, 7));
            assert_ne!(word, Word::in_stay(state, 8));
            assert_eq!(word.may_be_open(), state == State::Disabled);
        }
        let word = Word::open(1, 3, 3);
        assert_eq!((word.state(), word.deadline()), (State::Open, Some(5)));
    }

    #[test]
    fn only_a_wait_without_end_is_never() {
        assert_eq!(Word::open(0, 0, PAYLOAD - 1).deadline(), Some(PAYLOAD - 1));
        assert_eq!(Word::open(0, 0, PAYLOAD).deadline(), None);
        assert_eq!(Word::open(0, 7, u64::MAX).deadline(), None);
        assert_eq!(Word::open(0, 7, u64::MAX).state(), State::Open);
        // After 73 years waits end at once.
        assert_eq!(Word::open(0, u64::MAX, 10).deadline(), Some(PAYLOAD - 1));
        // A clock that is near its end does not come further.
        let birth = u64::MAX - 9;
        assert_eq!(Word::open(birth, birth + 2, 10).deadline(), Some(9));
    }
}
