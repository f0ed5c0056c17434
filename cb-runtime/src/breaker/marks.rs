//! Two small memories of a stay, each one word tagged with it, so that a new stay begins without
//! anybody clearing them.

use crate::policy::Verdict;
use crate::sync::{AtomicU64, Ordering};

/// Failures in a row: `[stay: 43 bits | failures: 21 bits]`, more than any limit on them.
#[derive(Default)]
pub(crate) struct Streak(AtomicU64);

const COUNT_BITS: u32 = 21;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

impl Streak {
    /// One more failure. Returns how many in a row this makes; none if the stay is over.
    #[inline]
    pub(crate) fn extend(&self, stay: u64) -> u32 {
        let none = stay << COUNT_BITS;
        // Relaxed: the word depends on nothing else and nothing else on it; single-location order
        // makes each failure see the ones before it.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let next = match word.wrapping_sub(none) {
                COUNT => word,
                row if row < COUNT => word + 1,
                // Wrapping, and so right unless 2^42 stays lie in between.
                _ if none.wrapping_sub(word & !COUNT) < 1 << 63 => none | 1,
                _ => return 0,
            };
            match self
                .0
                .compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return count(next),
                Err(now) => word = now,
            }
        }
    }

    /// A success: the row has ended.
    #[inline]
    pub(crate) fn end(&self, stay: u64) {
        let none = stay << COUNT_BITS;
        // Relaxed: as in `extend`. A row of another stay needs no end. The row ends at the exchange, and with
        // it failures that came after the load: as if they had come before this success, beside which they
        // were under way.
        let mut word = self.0.load(Ordering::Relaxed);
        while word.wrapping_sub(none).wrapping_sub(1) < COUNT {
            match self
                .0
                .compare_exchange(word, none, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    pub(crate) fn failures(&self, stay: u64) -> u32 {
        // Relaxed: for reports.
        let word = self.0.load(Ordering::Relaxed);
        if word & !COUNT == stay << COUNT_BITS {
            count(word)
        } else {
            0
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // masked to 21 bits
fn count(word: u64) -> u32 {
    (word & COUNT) as u32
}

/// Which rates have been announced as exceeded: `[stay: 62 bits | slow | failure]`.
#[derive(Default)]
pub(crate) struct Exceeded(AtomicU64);

const FAILURE: u64 = 1;
const SLOW: u64 = 2;

impl Exceeded {
    fn bits(verdict: Verdict) -> u64 {
        u64::from(verdict.failure_rate) * FAILURE + u64::from(verdict.slow_rate) * SLOW
    }

    fn announced(&self, stay: u64) -> u64 {
        // Relaxed: a stale answer leads to a second look, under the lock.
        let word = self.0.load(Ordering::Relaxed);
        if word >> 2 == stay {
            word & (FAILURE | SLOW)
        } else {
            0
        }
    }

    /// Whether the verdict has a rate that was not announced in this stay.
    pub(crate) fn is_news(&self, stay: u64, verdict: Verdict) -> bool {
        Self::bits(verdict) & !self.announced(stay) != 0
    }

    /// Marks the verdict's rates as announced, and returns those that had not been. The caller
    /// holds the breaker's lock.
    pub(crate) fn announce(&self, stay: u64, verdict: Verdict) -> Verdict {
        let before = self.announced(stay);
        let bits = Self::bits(verdict);
        // Relaxed: written under the lock only.
        self.0.store(stay << 2 | before | bits, Ordering::Relaxed);
        let news = bits & !before;
        Verdict {
            failure_rate: news & FAILURE != 0,
            slow_rate: news & SLOW != 0,
            ..Verdict::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_with_a_success_or_its_stay() {
        let streak = Streak::default();
        assert_eq!([streak.extend(1), streak.extend(1)], [1, 2]);
        streak.end(1);
        assert_eq!(streak.failures(1), 0);
        assert_eq!(streak.extend(1), 1);
        assert_eq!(streak.failures(2), 0);
        streak.end(2);
        assert_eq!(streak.failures(1), 1);
        assert_eq!(streak.extend(2), 1);
        assert_eq!(streak.extend(2), 2);
        assert_eq!(streak.extend(1), 0, "an earlier stay has no say");
        assert_eq!(streak.failures(2), 2);
    }

    #[test]
    fn a_row_that_cannot_be_counted_on_stays_at_the_end() {
        let streak = Streak(AtomicU64::new((1 << COUNT_BITS) | (COUNT - 1)));
        assert_eq!(u64::from(streak.extend(1)), COUNT);
        assert_eq!(u64::from(streak.extend(1)), COUNT);
        assert_eq!(streak.extend(2), 1);
    }

    #[test]
    fn each_rate_is_news_once_a_stay() {
        let exceeded = Exceeded::default();
        let failure = Verdict {
            failure_rate: true,
            ..Verdict::default()
        };
        let both = Verdict {
            slow_rate: true,
            ..failure
        };
        assert!(exceeded.is_news(1, failure));
        assert!(exceeded.announce(1, failure).failure_rate);
        assert!(!exceeded.is_news(1, failure));
        let news = exceeded.announce(1, both);
        assert!(news.slow_rate && !news.failure_rate);
        assert!(exceeded.is_news(2, failure));
    }
}
