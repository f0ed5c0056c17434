//! One word that admits calls, and tells a call that its success will change nothing.
//!
//! In a full count window without a failed or slow outcome, and with no failures in a row, another
//! success replaces a success. While that is so the word holds the stay, and a call that finds it
//! there both before and after its body is done: it takes effect at the second load. Where it is not
//! so, the word can still say that a call of this stay needs no more to be admitted.
//!
//! | word | meaning |
//! |---|---|
//! | a stay of CLOSED or METRICS_ONLY | calm, and durations are not measured |
//! | kind 2 and a stay of CLOSED | not calm; calls need not be measured, nor looked at otherwise |
//! | kind 6 and a stay of CLOSED | calm, but for calls that were slow |
//! | kind 7 and a number | somebody is finding out whether it is calm |
//! | all ones | nothing is known |
//!
//! Who records anything but a success first writes it, then disturbs; who finds out first enters a
//! number that was never there before, then looks, then exchanges it for the stay. Either the one
//! who looks sees what was written, or the one who disturbs sees the number, or the stay, and takes
//! it away. All of it is sequentially consistent, since each side writes one word and then reads
//! another.

use crate::state::{State, Word};
use crate::sync::{AtomicU64, Ordering, plain};

const ADMITTED: u64 = 2 << 61;
const MEASURED: u64 = 6 << 61;
const LOOKING: u64 = 7 << 61;
const UNKNOWN: u64 = u64::MAX;
/// Of those who look.
const NUMBERS: u64 = (1 << 61) - 1;

/// How often anybody has looked, at any breaker.
static LOOKS: plain::AtomicU64 = plain::AtomicU64::new(0);

pub(crate) struct Calm(AtomicU64);

impl Calm {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(UNKNOWN))
    }

    /// The stay that admits calls which are not measured, if this word tells.
    #[inline]
    pub(crate) fn stay(&self) -> Option<Word> {
        // Acquire pairs with the exchange in `find_out`, and in `begin`: a call that is admitted by it comes
        // after the beginning of the stay.
        let raw = self.0.load(Ordering::Acquire);
        // One test: the others have the highest bit.
        (raw & (1 << 63) == 0).then_some(Word::from_raw(raw & !ADMITTED))
    }

    /// Whether a success of this stay changes nothing; one that was measured must not have been slow.
    #[inline]
    pub(crate) fn covers(&self, stay: Word, measured: bool) -> bool {
        // Relaxed: nothing is read after it. Each disturbance is seen in time by single-location order:
        // it is over before the outcome that caused it is. Only CLOSED has a mark for measured calls: that of
        // another state would read as one who looks.
        self.0.load(Ordering::Relaxed) == mark(stay, measured) && (!measured || stay.is_closed())
    }

    /// Admits calls from now on, without measuring them: this stay of CLOSED has begun, or its settings
    /// are such by now. The caller has the breaker's lock, under which it has ended what was before.
    pub(crate) fn begin(&self, stay: Word) {
        // Release pairs with the load in `stay`.
        self.0.swap(stay.raw() | ADMITTED, Ordering::Release);
    }

    /// Enters the stay if `look` finds it calm. It looks at what others write before they disturb.
    pub(crate) fn find_out(&self, stay: Word, measured: bool, look: impl FnOnce() -> bool) {
        let to = mark(stay, measured);
        // Relaxed: a glance, and the exchange looks again.
        let before = self.0.load(Ordering::Relaxed);
        let same = before == UNKNOWN || before == stay.raw() | ADMITTED;
        // METRICS_ONLY has no mark for measured calls.
        if to >= LOOKING || !same {
            return;
        }
        // Relaxed: only distinct numbers matter.
        let number = LOOKING | (LOOKS.fetch_add(1, Ordering::Relaxed) % NUMBERS);
        if self.exchange(before, number) {
            let found = look();
            self.exchange(number, if found { to } else { before });
        }
    }

    fn exchange(&self, from: u64, to: u64) -> bool {
        // SeqCst pairs with `disturb`: see above.
        self.0
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// After an outcome that is no plain success was recorded.
    #[inline]
    pub(crate) fn disturb(&self) {
        // SeqCst pairs with `find_out`: see above.
        let word = self.0.load(Ordering::SeqCst);
        if word != UNKNOWN && word & MEASURED != ADMITTED {
            self.unsettle();
        }
    }

    #[cold]
    fn unsettle(&self) {
        // Relaxed: who begins to look after this comes after the load in `disturb` by single-location order,
        // and sees what was written before that by the total order. Where it fails, only this word matters.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                if word == UNKNOWN || word & MEASURED == ADMITTED {
                    None
                } else if Word::from_raw(word).state() == State::Closed {
                    Some(word | ADMITTED)
                } else {
                    Some(UNKNOWN)
                }
            });
    }

    /// After the stay was closed to further outcomes, or its limits changed.
    #[cold]
    pub(crate) fn end(&self) {
        // Release pairs with the first exchange in `find_out`: who begins to look after this sees why it
        // was ended, and who began before does not enter the stay any more. No more is needed, since
        // this writes to the very word that the other side exchanges.
        self.0.swap(UNKNOWN, Ordering::Release);
    }
}

const fn mark(stay: Word, measured: bool) -> u64 {
    if measured {
        stay.raw() | MEASURED
    } else {
        stay.raw()
    }
}

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    #[test]
    fn calm_until_it_is_disturbed() {
        let calm = Calm::new();
        let stay = Word::in_stay(State::Closed, 3);
        assert_eq!(calm.stay(), None);
        calm.find_out(stay, false, || false);
        assert_eq!(calm.stay(), None);
        calm.find_out(stay, false, || true);
        assert_eq!(calm.stay(), Some(stay));
        assert!(calm.covers(stay, false) && !calm.covers(stay, true));
        assert!(!calm.covers(Word::in_stay(State::Closed, 4), false));
        calm.disturb();
        assert!(!calm.covers(stay, false));
        assert_eq!(calm.stay(), Some(stay), "it is still the stay");
        calm.end();
        assert_eq!(calm.stay(), None);
        calm.find_out(stay, true, || true);
        assert_eq!(calm.stay(), None);
        assert!(calm.covers(stay, true) && !calm.covers(stay, false));
    }

    #[test]
    fn a_stay_admits_calm_or_not() {
        let (calm, stay) = (Calm::new(), Word::in_stay(State::Closed, 3));
        calm.begin(stay);
        assert_eq!(calm.stay(), Some(stay));
        assert!(!calm.covers(stay, false));
        calm.disturb();
        calm.find_out(stay, false, || false);
        assert_eq!(calm.stay(), Some(stay));
        calm.find_out(Word::in_stay(State::Closed, 2), false, || true);
        assert!(!calm.covers(stay, false));
        calm.find_out(stay, false, || true);
        assert!(calm.covers(stay, false));
        calm.disturb();
        assert_eq!(calm.stay(), Some(stay));
        assert!(!calm.covers(stay, false));
    }

    #[test]
    fn what_comes_between_looking_and_entering_is_not_overlooked() {
        let calm = Calm::new();
        let stay = Word::in_stay(State::MetricsOnly, 3);
        calm.find_out(stay, false, || {
            calm.disturb();
            // Another one looks meanwhile, and does not find it calm.
            calm.find_out(stay, false, || false);
            true
        });
        assert_eq!(calm.stay(), None);
        calm.find_out(stay, true, || unreachable!("there is no word for that"));
        let looking = Calm(AtomicU64::new(LOOKING | 3));
        for state in [State::MetricsOnly, State::HalfOpen, State::Disabled] {
            let stay = Word::in_stay(state, 3);
            assert!(!looking.covers(stay, true), "{state:?}");
        }
        calm.find_out(stay, false, || true);
        assert_eq!(calm.stay(), Some(stay));
    }
}
