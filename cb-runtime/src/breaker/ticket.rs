//! What a call holds that was permitted, or is told instead.

use std::time::Duration;

use crate::clock::{Clock, Coarse, Nanos};
use crate::error::Why;
use crate::state::{State, Word};

/// The right to make one call, and when it was given: two words, to stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// The breaker's word when permission was given: the mark of the stay.
    pub(super) word: Word,
    start: Start,
}

/// A reading of the clock, of the coarse one if the highest bit is set; that clock's readings never
/// have it themselves. All ones: not read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start(u64);

const NOT_MEASURED: u64 = u64::MAX;
const COARSE: u64 = 1 << 63;

/// What a call that nobody watches is told at once.
pub(crate) enum AtOnce {
    Permitted(Ticket),
    Refused(Why),
    /// There is more to look at.
    Unknown,
}

impl Ticket {
    /// Of a call that has ended.
    pub(crate) const ENDED: Self = Self {
        word: Word::NONE,
        start: Start(NOT_MEASURED),
    };

    #[inline]
    pub(super) const fn new(word: Word, start: Nanos) -> Self {
        Self {
            word,
            start: Start(start),
        }
    }

    /// Begun by the coarse clock.
    #[inline]
    pub(super) const fn coarsely(word: Word, start: Nanos) -> Self {
        Self::new(word, start | COARSE)
    }

    #[inline]
    pub(super) const fn unmeasured(word: Word) -> Self {
        Self::new(word, NOT_MEASURED)
    }

    /// None, and why. A ticket like the others, to come out of a function in two registers.
    #[inline]
    pub(super) const fn refused(why: Why) -> Self {
        Self::new(Word::REFUSED, why.raw())
    }

    #[inline]
    pub(super) const fn at_once(self) -> AtOnce {
        if self.word.raw() == Word::NONE.raw() {
            AtOnce::Unknown
        } else if self.word.raw() == Word::REFUSED.raw() {
            AtOnce::Refused(Why::from_raw(self.start.0))
        } else {
            AtOnce::Permitted(self)
        }
    }

    #[inline]
    pub(crate) fn has_ended(self) -> bool {
        self.word.raw() == Word::NONE.raw()
    }

    /// On a test's clock, when the call began.
    pub(crate) fn start(self) -> Option<Duration> {
        self.is_measured()
            .then(|| Duration::from_nanos(self.start.0))
    }

    /// The same for a call that began earlier.
    pub(crate) fn begun_at(mut self, start: Nanos) -> Self {
        self.start = Start(start);
        self
    }

    /// The mark of the stay in which it was given.
    #[inline]
    pub(crate) fn word(self) -> Word {
        self.word
    }

    /// The state in which it was given.
    #[inline]
    pub(crate) fn state(self) -> State {
        self.word.state()
    }

    #[inline]
    pub(crate) fn is_probe(self) -> bool {
        self.word.state() == State::HalfOpen
    }

    #[inline]
    pub(super) fn is_measured(self) -> bool {
        self.start.0 != NOT_MEASURED
    }

    /// When the call began at the earliest, and how much later it may have been.
    pub(super) fn began(self, clock: &Clock) -> Option<Coarse> {
        match self.start.0 {
            NOT_MEASURED => None,
            start if start & COARSE != 0 && !clock.is_test() => Some(Coarse {
                at: start & !COARSE,
                lag: clock.lag(),
            }),
            at => Some(Coarse { at, lag: 0 }),
        }
    }
}
