//! Rejections in OPEN, and in a full HALF_OPEN, decided by one glance at the system's clock.

use crate::clock::{Clock, Nanos};
use crate::state::Word;

/// What is added to a breaker's word, less a [glance](crate::clock::glance) at the clock, to give what is left of its
/// wait. It takes away the kind, the clock's origin, the clock's lag and a nanosecond at once.
///
/// For a breaker on a test's clock it gives less than nothing, so that nobody has to ask which clock it is.
pub(super) struct Glance(Nanos);

impl Glance {
    pub(super) fn new(clock: &Clock) -> Self {
        let from = match clock.glanced_from() {
            Some(from) => from.wrapping_sub(clock.lag()),
            None => Word::TIMES.wrapping_neg(),
        };
        Self(from.wrapping_sub(Word::OPEN).wrapping_sub(1))
    }

    /// What is surely left of the wait, less the clock's lag and a nanosecond, if the word is OPEN's. `None` if
    /// there is more to look at: so it is also with more than 36 years, which may be for ever. The word
    /// [may be](Word::may_be_open) OPEN's, and was loaded before the glance: what is not over by this was not
    /// over then.
    #[inline]
    pub(super) fn left(&self, word: Word, glance: Nanos) -> Option<Nanos> {
        let left = word.raw().wrapping_sub(glance).wrapping_add(self.0);
        // One test: the other kind comes out below zero, and so does a wait that may be over.
        (left < Word::TIMES / 2).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use crate::state::State;

    const DAY: Nanos = 86_400_000_000_000;

    #[test]
    fn surely_left_is_what_the_lag_does_not_reach() {
        let clock = Clock::system();
        let from = clock.glanced_from().unwrap_or_default();
        let glance = Glance::new(&clock);
        for age in [0, 1, DAY, 13_000 * DAY] {
            let reached = age + clock.lag();
            for over in [0, 1, DAY] {
                let word = Word::open(0, reached.saturating_sub(over), 0);
                assert_eq!(glance.left(word, from + age), None, "{age} {over}");
            }
            for left in [1, DAY] {
                let word = Word::open(0, reached, left);
                assert_eq!(glance.left(word, from + age), Some(left - 1), "{age}");
            }
            for long in [
                Word::open(0, reached, Word::TIMES / 2 + 1),
                Word::open(0, 0, Nanos::MAX),
            ] {
                assert_eq!(glance.left(long, from + age), None, "{age} {long:?}");
            }
        }
    }

    #[test]
    fn only_open_on_the_systems_clock_is_decided() {
        let test = Glance::new(&Clock::from(TestClock::new()));
        let system = Glance::new(&Clock::system());
        for age in [0, 1, DAY, 26_000 * DAY] {
            for time in [0, 1, Word::TIMES - 1] {
                let disabled = Word::in_stay(State::Disabled, time);
                assert!(disabled.may_be_open());
                assert_eq!(system.left(disabled, age), None, "{time} {age}");
                assert_eq!(test.left(disabled, age), None, "{time} {age}");
                let open = Word::open(0, time, 0);
                assert!(open.may_be_open());
                assert_eq!(test.left(open, age), None, "{time} {age}");
            }
        }
    }
}
