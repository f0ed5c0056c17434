//! How a call ended, as the breaker sees it.

/// What a finished call means for the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The downstream answered.
    Success,
    /// The downstream is to blame: counts towards the failure rate.
    Failure,
    /// Says nothing about the downstream: not recorded at all.
    Ignored,
}

/// What becomes of a call whose future, or whose [`Permit`](crate::Permit), is dropped before it
/// ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnCancel {
    /// Counted as slow if it had run for longer than `slow`; otherwise it leaves no trace. The
    /// default: callers that give up on a hanging downstream are how a hang is noticed.
    #[default]
    Slow,
    /// Leaves no trace.
    Ignore,
    /// Counted as a failure.
    Failure,
}

/// One recorded outcome, as the windows store it: three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Mark(u8);

impl Mark {
    pub(crate) const SUCCESS: Self = Self(0);
    const FAILED: u8 = 0b001;
    const SLOW: u8 = 0b010;
    const CANCELLED: u8 = 0b100;

    pub(crate) const fn of(failed: bool, slow: bool) -> Self {
        Self((if failed { Self::FAILED } else { 0 }) | (if slow { Self::SLOW } else { 0 }))
    }

    /// A cancelled call that had run past the slow limit: slow, neither success nor failure.
    pub(crate) const fn cancelled_slow() -> Self {
        Self(Self::SLOW | Self::CANCELLED)
    }

    #[allow(clippy::cast_possible_truncation)] // masked to three bits
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self((bits & 0b111) as u8)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0 as u64
    }

    pub(crate) const fn failed(self) -> bool {
        self.0 & Self::FAILED != 0
    }

    pub(crate) const fn slow(self) -> bool {
        self.0 & Self::SLOW != 0
    }

    pub(crate) const fn cancelled(self) -> bool {
        self.0 & Self::CANCELLED != 0
    }
}
