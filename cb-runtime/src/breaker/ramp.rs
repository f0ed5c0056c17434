//! After closing: admit a part of the calls, growing from a tenth to all.

use crate::clock::Nanos;
use crate::sync::{AtomicU64, Ordering};

/// One call, in the unit of the shares.
const WHOLE: u64 = 1_000_000;
const FIRST_SHARE: u64 = WHOLE / 10;

/// Spreads the admitted calls evenly among the others: each call adds its share to an account, and
/// is admitted when that passes a whole number.
pub(crate) struct Ramp {
    /// When it began; `Nanos::MAX` if there is none.
    began: AtomicU64,
    account: AtomicU64,
}

impl Ramp {
    pub(crate) fn new() -> Self {
        Self {
            began: AtomicU64::new(Nanos::MAX),
            account: AtomicU64::new(0),
        }
    }

    /// The caller holds the breaker's lock.
    pub(crate) fn begin(&self, now: Nanos) {
        // Relaxed, both: published with the state's word, which is stored after them.
        // The first call after closing is admitted.
        self.account.store(WHOLE - FIRST_SHARE, Ordering::Relaxed);
        self.began.store(now, Ordering::Relaxed);
    }

    /// The caller holds the breaker's lock.
    pub(crate) fn end(&self) {
        // Relaxed: as in `begin`.
        self.began.store(Nanos::MAX, Ordering::Relaxed);
    }

    /// The share of calls that are admitted, in percent; `None` when there is no ramp.
    pub(crate) fn share(&self, now: Nanos, length: Nanos) -> Option<f64> {
        let share = self.part(now, length)?;
        // At most a million.
        #[allow(clippy::cast_precision_loss)]
        Some(share as f64 * 100.0 / WHOLE as f64)
    }

    /// Whether the next call is admitted, without taking its turn.
    pub(crate) fn would_admit(&self, now: Nanos, length: Nanos) -> bool {
        self.part(now, length).is_none_or(|share| {
            // Relaxed: an answer for the moment.
            let account = self.account.load(Ordering::Relaxed);
            passes(account, share)
        })
    }

    /// Whether this call is admitted.
    pub(crate) fn admit(&self, now: Nanos, length: Nanos) -> bool {
        self.part(now, length).is_none_or(|share| {
            // Relaxed: only the sum matters, and single-location order gives each call its turn.
            let account = self.account.fetch_add(share, Ordering::Relaxed);
            passes(account, share)
        })
    }

    fn part(&self, now: Nanos, length: Nanos) -> Option<u64> {
        // Relaxed: see `begin`.
        let began = self.began.load(Ordering::Relaxed);
        if began == Nanos::MAX {
            return None;
        }
        let passed = now.saturating_sub(began);
        (passed < length).then(|| {
            let rest = u128::from(WHOLE - FIRST_SHARE);
            let grown = rest * u128::from(passed) / u128::from(length.max(1));
            // Below `rest`.
            #[allow(clippy::cast_possible_truncation)]
            {
                FIRST_SHARE + grown as u64
            }
        })
    }
}

fn passes(account: u64, share: u64) -> bool {
    account.wrapping_add(share) / WHOLE != account / WHOLE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(ramp: &Ramp, now: Nanos, calls: u32) -> u32 {
        (0..calls).map(|_| u32::from(ramp.admit(now, 100))).sum()
    }

    #[test]
    fn the_share_grows_from_a_tenth_to_all() {
        let ramp = Ramp::new();
        assert_eq!(admitted(&ramp, 0, 100), 100);
        ramp.begin(1000);
        assert!(ramp.would_admit(1000, 100));
        assert_eq!(admitted(&ramp, 1000, 100), 10);
        assert_eq!(admitted(&ramp, 1050, 100), 55);
        assert_eq!(admitted(&ramp, 1099, 1000), 991);
        assert_eq!(ramp.share(1050, 100), Some(55.0));
        assert_eq!(admitted(&ramp, 1100, 100), 100);
        assert_eq!(ramp.share(1100, 100), None);
        ramp.begin(2000);
        ramp.end();
        assert_eq!(admitted(&ramp, 2000, 100), 100);
    }

    #[test]
    fn those_that_are_admitted_are_spread() {
        let ramp = Ramp::new();
        ramp.begin(0);
        let turns: Vec<_> = (0..40).filter(|_| ramp.admit(0, 100)).collect();
        assert_eq!(turns, [0, 10, 20, 30]);
    }
}
