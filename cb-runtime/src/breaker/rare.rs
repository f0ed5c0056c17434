//! What most breakers of a process never have: made when it is first written to.

use crate::clock::Nanos;
use crate::config::Settings;
use crate::sync::{AtomicU64, OnceBox, Ordering};
use crate::window::Hanging;

use super::marks::Exceeded;
use super::ramp::Ramp;

#[derive(Default)]
pub(super) struct Rare(OnceBox<Things>);

pub(super) struct Things {
    pub(super) late: AtomicU64,
    pub(super) ignored: AtomicU64,
    pub(super) timed_out: AtomicU64,
    /// Calls that were rejected within a probe of this breaker.
    pub(super) within_probes: AtomicU64,
    pub(super) exceeded: Exceeded,
    /// With `count_running`.
    pub(super) hanging: Hanging,
    /// When the warm-up ends; 0 before the first call, `Nanos::MAX` once it is over, or if there is none.
    pub(super) warm_at: AtomicU64,
    /// The settings that calls look at; `Nanos::MAX` if off.
    warmup: AtomicU64,
    ramp_length: AtomicU64,
    ramp: Ramp,
}

impl Default for Things {
    fn default() -> Self {
        Self {
            late: AtomicU64::new(0),
            ignored: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
            within_probes: AtomicU64::new(0),
            exceeded: Exceeded::default(),
            hanging: Hanging::off(),
            warm_at: AtomicU64::new(Nanos::MAX),
            warmup: AtomicU64::new(Nanos::MAX),
            ramp_length: AtomicU64::new(Nanos::MAX),
            ramp: Ramp::new(),
        }
    }
}

impl Rare {
    /// For a new breaker.
    pub(super) fn new(settings: &Settings, now: Nanos) -> Self {
        let rare = Self::default();
        rare.set(settings);
        if settings.warmup.is_some() {
            // Relaxed: nobody else has it yet.
            rare.things().warm_at.store(0, Ordering::Relaxed);
        }
        if let Some(slow) = settings.slow.filter(|_| settings.count_running) {
            rare.things().hanging.start(slow, now);
        }
        rare
    }

    /// What calls look at of the settings. Once the breaker is in use the caller holds its lock, and
    /// changes the [`Limits`](super::Limits) after this.
    pub(super) fn set(&self, settings: &Settings) {
        if self.0.get().is_none() && settings.warmup.is_none() && settings.ramp.is_none() {
            return;
        }
        let things = self.things();
        // Relaxed: as the limits.
        let warmup = settings.warmup.unwrap_or(Nanos::MAX);
        things.warmup.store(warmup, Ordering::Relaxed);
        let ramp = settings.ramp.unwrap_or(Nanos::MAX);
        things.ramp_length.store(ramp, Ordering::Relaxed);
    }

    fn time(&self, which: impl Fn(&Things) -> &AtomicU64) -> Nanos {
        let things = self.0.get();
        // Relaxed: as the limits; and who must not miss the end of the warm-up looks again under the lock.
        things.map_or(Nanos::MAX, |things| which(things).load(Ordering::Relaxed))
    }

    pub(super) fn warmup(&self) -> Option<Nanos> {
        let warmup = self.time(|things| &things.warmup);
        (warmup != Nanos::MAX).then_some(warmup)
    }

    pub(super) fn ramp_length(&self) -> Option<Nanos> {
        let length = self.time(|things| &things.ramp_length);
        (length != Nanos::MAX).then_some(length)
    }

    pub(super) fn warm_at(&self) -> Nanos {
        self.time(|things| &things.warm_at)
    }

    /// The running calls, if they are, or were, counted.
    pub(super) fn hanging(&self) -> Option<&Hanging> {
        Some(&self.0.get()?.hanging)
    }

    /// The same, if they are counted now.
    pub(super) fn counted(&self) -> Option<&Hanging> {
        self.hanging().filter(|hanging| hanging.is_on())
    }

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
