//! What most breakers of a process never have: made when it is first written to.

use crate::clock::Nanos;
use crate::sync::{AtomicU64, OnceLock, Ordering};

use super::marks::Exceeded;
use super::ramp::Ramp;

#[derive(Default)]
pub(super) struct Rare(OnceLock<Box<Things>>);

pub(super) struct Things {
    pub(super) late: AtomicU64,
    pub(super) ignored: AtomicU64,
    pub(super) timed_out: AtomicU64,
    pub(super) exceeded: Exceeded,
    ramp: Ramp,
}

impl Default for Things {
    fn default() -> Self {
        Self {
            late: AtomicU64::new(0),
            ignored: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
            exceeded: Exceeded::default(),
            ramp: Ramp::new(),
        }
    }
}

impl Rare {
    /// To write to.
    pub(super) fn things(&self) -> &Things {
        self.0.get_or_init(Box::default)
    }

    /// A total for reports.
    pub(super) fn total(&self, which: impl Fn(&Things) -> &AtomicU64) -> u64 {
        // Relaxed: nothing else depends on it.
        let things = self.0.get();
        things.map_or(0, |things| which(things).load(Ordering::Relaxed))
    }

    /// The caller holds the breaker's lock.
    pub(super) fn begin_ramp(&self, now: Nanos) {
        self.things().ramp.begin(now);
    }

    /// The caller holds the breaker's lock.
    pub(super) fn end_ramp(&self) {
        if let Some(things) = self.0.get() {
            things.ramp.end();
        }
    }

    /// The ramp, if there has been one.
    pub(super) fn ramp(&self) -> Option<&Ramp> {
        Some(&self.0.get()?.ramp)
    }
}
