//! What a call holds that was permitted, or is told instead.

use std::time::Duration;

use crate::clock::{self, Clock, Coarse, Nanos};
use crate::error::Why;
use crate::state::{State, Word};

/// The right to make one call, and when it was given: two words, to stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// The breaker's word when permission was given: the mark of the stay.
    pub(super) word: Word,
    start: Start,
}

/// A reading of the clock. With the highest bit set it is a [glance](clock::glance) at the system's; those
/// never have it themselves. All ones: not read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start(u64);

const NOT_MEASURED: u64 = u64::MAX;
const GLANCE: u64 = 1 << 63;

/// What a call that nobody watches is told at once.
pub(crate) enum AtOnce {
    Permitted(Ticket),
    Refused(Why),
    /// There is more to look at.
    Unknown,
}

/// A ticket as one value: so functions can end with a jump to the next one, where with two they would
/// call it and return both.
#[derive(Clone, Copy)]
pub(super) struct Packed(u128);

impl Packed {
    pub(super) const ENDED: Self = Ticket::ENDED.packed();

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // its halves
    pub(super) const fn at_once(self) -> AtOnce {
        let ticket = Ticket::new(Word::from_raw(self.0 as u64), (self.0 >> 64) as u64);
        if ticket.word.raw() == Word::NONE.raw() {
            AtOnce::Unknown
        } else if ticket.word.raw() == Word::REFUSED.raw() {
            AtOnce::Refused(Why::from_raw(ticket.start.0))
        } else {
            AtOnce::Permitted(ticket)
        }
    }
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

    /// Begun at a glance at the system's clock.
    #[inline]
    pub(super) const fn at_a_glance(word: Word, glance: Nanos) -> Self {
        Self::new(word, glance | GLANCE)
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
    pub(super) const fn packed(self) -> Packed {
        Packed((self.start.0 as u128) << 64 | self.word.raw() as u128)
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

    /// The glance at which the call began, if it did so and the clock is the system's.
    #[inline]
    pub(super) fn glance(self) -> Option<Nanos> {
        (self.start.0 & GLANCE != 0).then_some(self.start.0 & !GLANCE)
    }

    /// When the call began at the earliest, and how much later it may have been.
    pub(super) fn began(self, clock: &Clock) -> Option<Coarse> {
        match self.start.0 {
            NOT_MEASURED => None,
            start if start & GLANCE != 0 && !clock.is_test() => Some(Coarse {
                at: clock::since_origin(start & !GLANCE),
                lag: clock.lag(),
            }),
            at => Some(Coarse { at, lag: 0 }),
        }
    }
}
