//! The sliding windows of a CLOSED or METRICS_ONLY stay.
//!
//! Recording takes no lock and allocates nothing. Nobody empties a window when a stay begins:
//! everything in it is tagged with its stay, and the first outcome of a later stay replaces what
//! it finds. So an outcome can never reach a stay other than its own, however long its thread was
//! held up.

use crate::clock::{Coarse, Nanos};
use crate::config::{Settings, Window};
use crate::outcome::Mark;

mod count;
mod running;
mod time;

pub(crate) use count::CountWindow;
pub(crate) use running::Running;
pub(crate) use time::TimeWindow;

/// How many calls of which kind. `slow` includes those that failed or were cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) total: u32,
    pub(crate) failed: u32,
    pub(crate) slow: u32,
    pub(crate) slow_failed: u32,
    pub(crate) cancelled: u32,
    /// Those of the slow ones that are still running.
    pub(crate) running: u32,
}

impl Counts {
    pub(crate) fn add(&mut self, mark: Mark) {
        self.total += 1;
        self.failed += u32::from(mark.failed());
        self.slow += u32::from(mark.slow());
        self.slow_failed += u32::from(mark.slow() && mark.failed());
        self.cancelled += u32::from(mark.cancelled());
    }

    /// Adds calls that are still running and slow already.
    pub(crate) fn add_running(&mut self, overdue: u32) {
        self.total = self.total.saturating_add(overdue);
        self.slow = self.slow.saturating_add(overdue);
        self.running = overdue;
    }

    /// Takes back one that was added.
    pub(crate) fn remove(&mut self, mark: Mark) {
        self.total -= 1;
        self.failed -= u32::from(mark.failed());
        self.slow -= u32::from(mark.slow());
        self.slow_failed -= u32::from(mark.slow() && mark.failed());
        self.cancelled -= u32::from(mark.cancelled());
    }

    pub(crate) fn successful(&self) -> u32 {
        self.total
            .saturating_sub(self.failed)
            .saturating_sub(self.cancelled)
    }
}

/// What recording an outcome led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// Recorded, and nothing in the window counts against the downstream: no rate can be reached.
    Clean,
    /// Recorded, and no rate can have been reached by it.
    Harmless,
    /// Recorded, as far as there was room; the stay is to be judged.
    Counted,
    /// The stay is over.
    Late,
    /// A verdict is being reached on this window, or has been: wait for it, then look again.
    Frozen,
}

pub(crate) enum Sliding {
    Count(CountWindow),
    Time(TimeWindow),
}

impl Sliding {
    /// `birth` is where the breaker's time begins: the grid of time buckets is the clock's, but
    /// they are numbered from there.
    pub(crate) fn new(settings: &Settings, birth: Nanos) -> Self {
        match settings.window {
            Window::Calls(calls) => Self::Count(CountWindow::new(calls)),
            Window::Time(time) => Self::Time(TimeWindow::new(
                time,
                settings.buckets,
                settings.slow.is_some(),
                birth,
            )),
        }
    }

    /// Whether [`record`](Self::record) looks at the time it is given.
    #[inline]
    pub(crate) fn needs_time(&self) -> bool {
        matches!(self, Self::Time(_))
    }

    #[inline]
    pub(crate) fn record(&self, stay: u64, mark: Mark, now: Nanos, min_calls: u32) -> Recorded {
        match self {
            Self::Count(window) => window.record(stay, mark, min_calls),
            Self::Time(window) => window.record(stay, mark, now),
        }
    }

    /// The same, for a plain success that needs no time. Does nothing, and says `Late`, in a window
    /// that does.
    #[inline(always)]
    pub(crate) fn record_success(&self, stay: u64, min_calls: u32) -> Recorded {
        match self {
            Self::Count(window) => window.record(stay, Mark::SUCCESS, min_calls),
            Self::Time(_) => Recorded::Late,
        }
    }

    /// Whether a coarse reading of the clock is as good as an exact one.
    #[inline]
    pub(crate) fn is_settled(&self, now: Coarse) -> bool {
        match self {
            Self::Count(_) => true,
            Self::Time(window) => window.is_settled(now),
        }
    }

    /// Somebody has judged the stay by enough calls, and it stays.
    #[inline]
    pub(crate) fn judged(&self, stay: u64, now: Nanos) {
        if let Self::Time(window) = self {
            window.judged(stay, now);
        }
    }

    /// Whether another success would change nothing.
    pub(crate) fn is_calm(&self, stay: u64) -> bool {
        match self {
            Self::Count(window) => window.is_calm(stay),
            Self::Time(_) => false,
        }
    }

    /// `total`, `failed` and `slow`, quickly. Under contention the others may be caught between
    /// two steps, so a verdict against the downstream is to be confirmed by [`counts`].
    ///
    /// [`counts`]: Self::counts
    pub(crate) fn estimate(&self, stay: u64, now: Nanos) -> Counts {
        match self {
            Self::Count(window) => window.estimate(stay),
            Self::Time(window) => window.counts(stay, now),
        }
    }

    /// A recount. Exact when nobody records meanwhile, and always exact between
    /// [`freeze`](Self::freeze) and [`thaw`](Self::thaw).
    pub(crate) fn counts(&self, stay: u64, now: Nanos) -> Counts {
        match self {
            Self::Count(window) => window.counts(stay),
            Self::Time(window) => window.counts(stay, now),
        }
    }

    /// Holds up whoever wants to record in this stay, until [`thaw`](Self::thaw) or a later stay.
    /// The caller has the lock on which they wait. A time window has no need of it: what it reads
    /// never overestimates a rate.
    pub(crate) fn freeze(&self, stay: u64) {
        if let Self::Count(window) = self {
            window.freeze(stay);
        }
    }

    pub(crate) fn thaw(&self, stay: u64) {
        if let Self::Count(window) = self {
            window.thaw(stay);
        }
    }
}
