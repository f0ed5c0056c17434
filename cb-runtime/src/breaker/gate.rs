//! HALF_OPEN without a permit to give out, in one word, so that rejections take no lock.
//!
//! | word | meaning |
//! |---|---|
//! | 0 | not known: ask under the lock |
//! | as that of an OPEN breaker | all permits are given out |
//! | kind 1 | the pause before the first probe |
//!
//! Bits 0–60 are until when that is so, in nanoseconds since the breaker's [birth](Inner); all ones: until a
//! probe ends. By then the stay may be over, a failure forgotten, or the pause over.
//!
//! The word is stored only under the stay's lock: closed by a call that finds no permit there, and
//! opened by whoever gives one back or ends the stay. So a call that finds it closed is rejected as of
//! that load, at which no permit was free, whatever comes after. Permits are given out under the lock.
//!
//! All accesses are relaxed: nothing is read by what the word says. Who was there when a permit was given
//! back sees that by single-location order, and who sees a later stay by the breaker's word, which is
//! stored after this one.

use crate::clock::Nanos;
use crate::error::Reason;
use crate::state::Word;
use crate::sync::{AtomicU64, Ordering};

use super::Inner;
use super::permission::Barrier;
use super::stay::Stay;

const PAUSING: u64 = Word::TIMES;
const NEVER: Nanos = Word::TIMES - 1;

pub(super) struct Gate(AtomicU64);

impl Gate {
    pub(super) fn open() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Somebody gives a permit back, or the stay ends.
    pub(super) fn set_open(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// What calls have to wait for; `None` if they have to ask under the lock.
    #[inline]
    pub(super) fn barrier(&self) -> Option<Barrier> {
        let word = self.0.load(Ordering::Relaxed);
        if word == 0 {
            return None;
        }
        Some(Barrier {
            reason: if word & PAUSING == 0 {
                Reason::HalfOpenFull
            } else {
                Reason::Pausing
            },
            until: Word::from_raw(word).deadline(),
        })
    }

    /// For a [`Glance`](super::Glance), if all permits are given out.
    #[inline]
    pub(super) fn full(&self) -> Option<Word> {
        let word = Word::from_raw(self.0.load(Ordering::Relaxed));
        word.may_be_open().then_some(word)
    }
}

impl Inner {
    /// For the holder of the lock who has found no permit to give out at `now`, with what is left of the
    /// pause.
    pub(super) fn close_gate(&self, stay: &Stay, now: Nanos, pause: Option<Nanos>) {
        let end = self.due(stay).unwrap_or(Nanos::MAX);
        let (kind, until) = match pause {
            Some(rest) => (PAUSING, now.saturating_add(rest)),
            None => {
                let window = stay.settings().half_open_failure_window;
                let forgotten = window.and_then(|window| stay.probes.next_forgotten(window));
                (Word::OPEN, end.min(forgotten.unwrap_or(Nanos::MAX)))
            }
        };
        let never = until == Nanos::MAX && kind == Word::OPEN;
        let since_birth = until.saturating_sub(self.birth);
        // What does not fit, and a stay that ends during its pause, are left to the lock.
        if never || (until <= end && since_birth < NEVER) {
            let word = kind | if never { NEVER } else { since_birth };
            self.gate.0.store(word, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::breaker::CircuitBreaker;
    use crate::clock::TestClock;
    use crate::config::Config;
    use crate::registry::Registry;

    fn half_open(config: &Config) -> (CircuitBreaker, TestClock) {
        let clock = TestClock::starting_at(Duration::from_secs(1000));
        let breaker = Registry::with_clock(&clock).create("gate", config).unwrap();
        breaker.open().unwrap();
        breaker.half_open().unwrap();
        (breaker, clock)
    }

    fn is_shut(breaker: &CircuitBreaker) -> bool {
        breaker.inner.gate.barrier().is_some()
    }

    #[test]
    fn shut_from_the_first_rejection_until_a_permit_is_back() {
        let limits = [
            Config::new().half_open_calls(1),
            Config::new().half_open_calls(1).half_open_max_wait_off(),
            Config::new().half_open_concurrency(1),
        ];
        for config in limits {
            let (breaker, _clock) = half_open(&config);
            let probe = breaker.try_acquire().unwrap();
            assert!(!is_shut(&breaker));
            assert!(breaker.try_acquire().is_err());
            assert!(is_shut(&breaker));
            probe.ignore();
            assert!(!is_shut(&breaker));
        }
    }

    #[test]
    fn only_until_something_falls_due() {
        let pausing = Config::new().half_open_delay(Duration::from_secs(7));
        let (breaker, clock) = half_open(&pausing);
        let first = breaker.try_acquire().unwrap_err();
        clock.advance(Duration::from_nanos(6_999_999_999));
        assert!(is_shut(&breaker));
        let last = breaker.try_acquire().unwrap_err();
        assert_eq!(first.reason(), last.reason());
        assert_eq!(last.retry_after(), Some(Duration::from_nanos(1)));
        clock.advance(Duration::from_nanos(1));
        assert!(breaker.try_acquire().is_ok());
    }
}
