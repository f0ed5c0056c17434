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
mod hanging;
mod running;
mod time;
mod versions;

pub(crate) use hanging::Hanging;

use count::CountWindow;
pub(crate) use count::{Base, Quickly};
use time::TimeWindow;
use versions::Versions;

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
    pub(crate) const NONE: Self = Self {
        total: 0,
        failed: 0,
        slow: 0,
        slow_failed: 0,
        cancelled: 0,
        running: 0,
    };

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
    /// The stay is over, or has another window by now. Nothing was recorded.
    Late,
    /// The same came to light when the outcome had its place. In another window it is a success.
    Displaced,
    /// A verdict is being reached on this window, or has been: wait for it, then look again.
    Frozen,
}

/// The windows that a breaker has had, one of each shape. One is in use; another one takes its place
/// when the configuration changes.
pub(crate) struct Sliding(Versions<Shaped>);

enum Shaped {
    Count(CountWindow),
    Time(Box<TimeWindow>),
}

/// What tells one shape from another.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    window: Window,
    /// Of a time window.
    buckets: u32,
}

impl Shape {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            window: settings.window,
            buckets: settings.buckets,
        }
    }
}

/// The window in use. What is recorded through it is tagged with the stay and the window's version,
/// which rises with each change: the sums rise with both, so that a later stay or version is told from
/// an earlier one. Whoever takes this before looking at the breaker's word can never reach a stay later
/// than the one that the word shows.
#[derive(Clone, Copy)]
pub(crate) struct Present<'a> {
    window: &'a Shaped,
    version: u64,
}

impl Sliding {
    /// The grid of time buckets is the clock's, but they are numbered from `birth`. `shards` allows a
    /// time window to spread over more memory when threads contend for it.
    pub(crate) fn new(settings: &Settings, birth: Nanos, shards: bool) -> Self {
        Self(Versions::new(Shaped::new(settings, birth, shards)))
    }

    #[inline]
    pub(crate) fn present(&self) -> Present<'_> {
        let (window, version) = self.0.present();
        Present { window, version }
    }

    /// The same, if it is a count window and the first one that the breaker has had, as it mostly is.
    #[inline(always)]
    pub(crate) fn first_of_calls(&self) -> Option<(&CountWindow, u64)> {
        match self.0.first()? {
            (Shaped::Count(window), version) => Some((window, version)),
            (Shaped::Time(_), _) => None,
        }
    }

    /// Whether calls may be slow from now on. The caller has the breaker's lock.
    pub(crate) fn expect_slow(&self) {
        if let Shaped::Time(window) = self.present().window {
            window.expect_slow();
        }
    }

    /// Puts a window of this shape in the place of the present one, which is frozen. From one number of
    /// calls to another the newest are kept if `keep` is the stay; otherwise it begins empty. The
    /// caller has the breaker's lock.
    pub(crate) fn reshape(
        &self,
        settings: &Settings,
        keep: Option<u64>,
        birth: Nanos,
        shards: bool,
    ) {
        let old = self.present();
        let shape = Shape::of(settings);
        self.0.replace(
            |window| window.shape() == shape,
            || Shaped::new(settings, birth, shards),
            |new, version| {
                if let (Shaped::Count(old_window), Shaped::Count(new), Some(stay)) =
                    (old.window, new, keep)
                {
                    let newest = old_window.take(old.tag(stay), stay.wrapping_add(version));
                    new.refill(stay.wrapping_add(version), &newest);
                }
            },
        );
        if settings.slow.is_some() {
            self.expect_slow();
        }
    }
}

impl Shaped {
    fn new(settings: &Settings, birth: Nanos, shards: bool) -> Self {
        match settings.window {
            Window::Calls(calls) => Self::Count(CountWindow::new(calls)),
            Window::Time(time) => {
                let window = TimeWindow::new(time, settings.buckets, birth, shards);
                if settings.slow.is_some() {
                    window.expect_slow();
                }
                Self::Time(Box::new(window))
            }
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Count(window) => Shape {
                window: Window::Calls(window.size()),
                buckets: 1,
            },
            Self::Time(window) => Shape {
                window: Window::Time(window.time()),
                buckets: window.buckets(),
            },
        }
    }
}

impl Present<'_> {
    pub(crate) fn shape(self) -> Shape {
        self.window.shape()
    }

    #[inline]
    fn tag(self, stay: u64) -> u64 {
        stay.wrapping_add(self.version)
    }

    /// Whether [`record`](Self::record) looks at the time it is given.
    #[inline]
    pub(crate) fn needs_time(self) -> bool {
        matches!(self.window, Shaped::Time(_))
    }

    #[inline]
    pub(crate) fn record(self, stay: u64, mark: Mark, now: Nanos, min_calls: u32) -> Recorded {
        match self.window {
            Shaped::Count(window) => window.record(self.tag(stay), mark, min_calls),
            Shaped::Time(window) => window.record(self.tag(stay), mark, now),
        }
    }

    /// Finds a place for an outcome that was [`Displaced`](Recorded::Displaced), in a frozen window.
    pub(crate) fn amend(self, stay: u64, mark: Mark) {
        if let Shaped::Count(window) = self.window {
            window.amend(self.tag(stay), mark);
        }
    }

    /// Whether a coarse reading of the clock is as good as an exact one.
    #[inline]
    pub(crate) fn is_settled(self, now: Coarse) -> bool {
        match self.window {
            Shaped::Count(_) => true,
            Shaped::Time(window) => window.is_settled(now),
        }
    }

    /// The next outcome is to be judged, whatever was judged before.
    pub(crate) fn not_judged(self) {
        if let Shaped::Time(window) = self.window {
            window.not_judged();
        }
    }

    /// Somebody has judged the stay by enough calls, and it stays.
    #[inline]
    pub(crate) fn judged(self, stay: u64, now: Nanos) {
        if let Shaped::Time(window) = self.window {
            window.judged(self.tag(stay), now);
        }
    }

    /// Whether another success would change nothing.
    pub(crate) fn is_calm(self, stay: u64) -> bool {
        match self.window {
            Shaped::Count(window) => window.is_calm(self.tag(stay)),
            Shaped::Time(_) => false,
        }
    }

    /// `total`, `failed` and `slow`, quickly. Under contention the others may be caught between
    /// two steps, so a verdict against the downstream is to be confirmed by [`counts`].
    ///
    /// [`counts`]: Self::counts
    #[inline(always)]
    pub(crate) fn estimate(self, stay: u64, now: Nanos) -> Counts {
        match self.window {
            Shaped::Count(window) => window.estimate(self.tag(stay)),
            Shaped::Time(window) => window.counts(self.tag(stay), now),
        }
    }

    /// A recount. Exact when nobody records meanwhile, and always exact between
    /// [`freeze`](Self::freeze) and [`thaw`](Self::thaw).
    pub(crate) fn counts(self, stay: u64, now: Nanos) -> Counts {
        match self.window {
            Shaped::Count(window) => window.counts(self.tag(stay)),
            Shaped::Time(window) => window.counts(self.tag(stay), now),
        }
    }

    /// Holds up whoever wants to record in this stay, until [`thaw`](Self::thaw) or a later stay.
    /// The caller has the lock on which they wait. A time window has no need of it: what it reads
    /// never overestimates a rate.
    pub(crate) fn freeze(self, stay: u64) {
        if let Shaped::Count(window) = self.window {
            window.freeze(self.tag(stay));
        }
    }

    pub(crate) fn thaw(self, stay: u64) {
        if let Shaped::Count(window) = self.window {
            window.thaw(self.tag(stay));
        }
    }
}
