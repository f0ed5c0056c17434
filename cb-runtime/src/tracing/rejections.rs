//! Rejections, told often enough to be noticed and seldom enough not to flood.

use super::{TARGET, isolated, seconds};
use crate::clock::Nanos;
use crate::error::Why;
use crate::name::Name;
use crate::sync::{AtomicU64, Ordering};

/// Where the rejection itself needs no clock, one in so many looks at it.
const LOOKS: u64 = 16;
/// While nobody listens, it is asked again after so long at the most.
const ASK_AGAIN: Nanos = 1_000_000_000;

/// How long until the next line of rejections.
pub(crate) struct Interval(AtomicU64);

impl Default for Interval {
    fn default() -> Self {
        Self(AtomicU64::new(10_000_000_000))
    }
}

impl Interval {
    pub(super) fn set(&self, interval: Nanos) {
        // Relaxed: a setting, nothing else depends on it.
        self.0.store(interval, Ordering::Relaxed);
    }

    fn get(&self) -> Nanos {
        // Relaxed: see `set`.
        self.0.load(Ordering::Relaxed)
    }
}

/// What has been told of one breaker's rejections.
#[derive(Default)]
pub(crate) struct Rejections {
    /// When the next line is due, on the breaker's clock.
    next: AtomicU64,
    /// How many of the rejections have been told of.
    told: AtomicU64,
}

impl Rejections {
    /// Whether a line may be due: for every rejection that has come, so it is one comparison.
    #[inline]
    pub(crate) fn is_worth_a_look(&self, now: Option<Nanos>, before: u64) -> bool {
        // Relaxed: `claim` decides, by compare and exchange.
        let next = self.next.load(Ordering::Relaxed);
        match now {
            Some(now) => now >= next,
            None => next == 0 || before % LOOKS == 0,
        }
    }

    /// Writes a line if one is due. `total` counts all rejections, this one included.
    #[cold]
    pub(crate) fn tell(
        &self,
        name: &Name,
        why: Why,
        now: Nanos,
        interval: &Interval,
        total: impl FnOnce() -> u64,
    ) {
        isolated(|| {
            let interval = interval.get();
            if !::tracing::enabled!(target: TARGET, ::tracing::Level::WARN) {
                self.claim(now, interval.min(ASK_AGAIN));
            } else if self.claim(now, interval) {
                let rejected = self.take(total());
                let calls = if rejected == 1 { "call" } else { "calls" };
                ::tracing::warn!(
                    target: TARGET,
                    name = name.as_str(),
                    reason = why.reason().as_str(),
                    rejected,
                    retry_after = why.retry_after().map(seconds),
                    "circuit breaker `{}` rejected {rejected} {calls}",
                    name.as_str(),
                );
            }
        });
    }

    /// Whether this thread is the one to write the line that is due.
    fn claim(&self, now: Nanos, interval: Nanos) -> bool {
        // Relaxed: one location decides who writes; the counts are taken by read-modify-write.
        let next = self.next.load(Ordering::Relaxed);
        let after = now.saturating_add(interval).max(1);
        now >= next
            && self
                .next
                .compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// How many of `total` have not been told of; they have then.
    pub(super) fn take(&self, total: u64) -> u64 {
        // Relaxed: who raises it tells of the difference, so each rejection is told of once.
        total.saturating_sub(self.told.fetch_max(total, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rejection_is_told_of_once() {
        let told = Rejections::default();
        assert_eq!((told.take(3), told.take(3), told.take(2)), (3, 0, 0));
        assert_eq!(told.take(10), 7);
    }

    #[test]
    fn one_thread_claims_a_line() {
        let told = Rejections::default();
        assert!(told.is_worth_a_look(Some(0), 1) && told.is_worth_a_look(None, 1));
        assert!(told.claim(5, 10));
        assert!(!told.claim(5, 10) && !told.claim(14, 10));
        assert!(!told.is_worth_a_look(Some(14), 16) && told.is_worth_a_look(None, 16));
        assert!(told.is_worth_a_look(Some(15), 1) && !told.is_worth_a_look(None, 1));
        assert!(told.claim(15, 10) && !told.claim(24, 10));
    }
}
