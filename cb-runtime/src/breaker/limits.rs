//! What calls read of the settings: a copy in atomics, so that it can change while they run.
//!
//! The settings themselves are behind the stay's lock, and an opening is decided under it. So a call
//! that reads some limits before and others after a change can at most miss its turn to look under
//! the lock, or take it in vain.

use crate::clock::{Clock, Nanos};
use crate::config::{Percent, Settings, Window};
use crate::outcome::OnCancel;
use crate::policy::Rules;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Off, for a count.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub(crate) struct Flags(u32);

impl Flags {
    /// `slow` is set.
    const MEASURED: u32 = 1;
    /// `warmup`, `ramp` or `count_running`: rules that look at each call.
    const UNUSUAL: u32 = 2;
    const AUTO_HALF_OPEN: u32 = 4;
    const CANCEL_IGNORES: u32 = 8;
    const CANCEL_FAILS: u32 = 16;
    /// The limits have changed since an outcome was judged.
    const CHANGED: u32 = 32;
    /// `slow` is so long that the coarse clock tells most calls from slow ones.
    const COARSE: u32 = 64;
    /// The window is one of calls.
    const COUNTED: u32 = 128;

    fn of(settings: &Settings, clock: &Clock) -> Self {
        let coarse = settings
            .slow
            .is_some_and(|slow| clock.coarse_from().is_some_and(|from| slow >= from));
        let unusual =
            settings.warmup.is_some() || settings.ramp.is_some() || settings.count_running;
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        Self(
            flag(settings.slow.is_some(), Self::MEASURED)
                | flag(matches!(settings.window, Window::Calls(_)), Self::COUNTED)
                | flag(unusual, Self::UNUSUAL)
                | flag(coarse, Self::COARSE)
                | flag(settings.auto_half_open, Self::AUTO_HALF_OPEN)
                | flag(settings.on_cancel == OnCancel::Ignore, Self::CANCEL_IGNORES)
                | flag(settings.on_cancel == OnCancel::Failure, Self::CANCEL_FAILS),
        )
    }

    fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    pub(crate) fn measured(self) -> bool {
        self.has(Self::MEASURED)
    }

    pub(crate) fn unusual(self) -> bool {
        self.has(Self::UNUSUAL)
    }

    pub(crate) fn auto_half_open(self) -> bool {
        self.has(Self::AUTO_HALF_OPEN)
    }

    pub(crate) fn coarse(self) -> bool {
        self.has(Self::COARSE)
    }

    /// Whether the word for calm stays can be used: with a count window and without unusual rules.
    pub(crate) fn may_be_calm(self) -> bool {
        self.has(Self::COUNTED) && !self.unusual()
    }

    /// Whether calls in CLOSED are admitted without a look at the clock, or at anything else.
    pub(crate) fn admits(self) -> bool {
        !self.has(Self::MEASURED | Self::UNUSUAL)
    }

    /// Whether a success needs nothing but to be counted.
    #[inline]
    pub(crate) fn plain(self) -> bool {
        let bits = Self::COUNTED | Self::UNUSUAL | Self::MEASURED | Self::CHANGED;
        self.0 & bits == Self::COUNTED
    }

    pub(crate) fn same(self, other: Self) -> bool {
        self.0 == other.0
    }

    pub(crate) fn changed(self) -> bool {
        self.has(Self::CHANGED)
    }

    pub(crate) fn on_cancel(self) -> OnCancel {
        if self.has(Self::CANCEL_IGNORES) {
            OnCancel::Ignore
        } else if self.has(Self::CANCEL_FAILS) {
            OnCancel::Failure
        } else {
            OnCancel::Slow
        }
    }
}

/// Accesses are relaxed where nothing else is said: see above.
pub(crate) struct Limits {
    flags: AtomicU32,
    min_calls: AtomicU32,
    failure_rate: AtomicU32,
    slow_rate: AtomicU32,
    failure_count: AtomicU32,
    consecutive_failures: AtomicU32,
    /// Off: `Nanos::MAX`.
    slow: AtomicU64,
}

impl Limits {
    pub(crate) fn new(settings: &Settings, clock: &Clock) -> Self {
        let limits = Self {
            flags: AtomicU32::new(0),
            min_calls: AtomicU32::new(0),
            failure_rate: AtomicU32::new(0),
            slow_rate: AtomicU32::new(0),
            failure_count: AtomicU32::new(0),
            consecutive_failures: AtomicU32::new(0),
            slow: AtomicU64::new(0),
        };
        limits.set(settings, clock, 0);
        limits
    }

    /// The caller holds the breaker's lock, so there is one writer.
    pub(crate) fn change(&self, settings: &Settings, clock: &Clock) {
        self.set(settings, clock, Flags::CHANGED);
    }

    fn set(&self, settings: &Settings, clock: &Clock, flags: u32) {
        let rules = Rules::of(settings);
        let count = |cell: &AtomicU32, value: Option<u32>| {
            cell.store(value.unwrap_or(NONE), Ordering::Relaxed);
        };
        count(&self.min_calls, Some(rules.min_calls));
        count(&self.failure_rate, Some(rules.failure_rate.units()));
        count(&self.slow_rate, rules.slow_rate.map(Percent::units));
        count(&self.failure_count, rules.failure_count);
        count(&self.consecutive_failures, rules.consecutive_failures);
        // Release pairs with the load in `slow`: the window has room for slow calls by now.
        self.slow
            .store(settings.slow.unwrap_or(Nanos::MAX), Ordering::Release);
        // Release pairs with the update in `take_change`: who takes the change judges by it.
        self.flags
            .store(Flags::of(settings, clock).0 | flags, Ordering::Release);
    }

    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        Flags(self.flags.load(Ordering::Relaxed))
    }

    /// Whether the limits have changed since this was last asked.
    #[cold]
    pub(crate) fn take_change(&self) -> bool {
        // Acquire pairs with the last store in `set`.
        let before = self.flags.fetch_and(!Flags::CHANGED, Ordering::Acquire);
        Flags(before).changed()
    }

    pub(crate) fn min_calls(&self) -> u32 {
        self.min_calls.load(Ordering::Relaxed)
    }

    pub(crate) fn rules(&self) -> Rules {
        let count = |cell: &AtomicU32| {
            let value = cell.load(Ordering::Relaxed);
            (value != NONE).then_some(value)
        };
        Rules {
            min_calls: self.min_calls.load(Ordering::Relaxed),
            failure_rate: Percent::from_units(self.failure_rate.load(Ordering::Relaxed)),
            slow_rate: count(&self.slow_rate).map(Percent::from_units),
            failure_count: count(&self.failure_count),
            consecutive_failures: count(&self.consecutive_failures),
        }
    }

    pub(crate) fn slow(&self) -> Option<Nanos> {
        // Acquire pairs with the store in `set`.
        some(self.slow.load(Ordering::Acquire))
    }
}

fn some(time: Nanos) -> Option<Nanos> {
    (time != Nanos::MAX).then_some(time)
}
