//! Monotonic time, in nanoseconds. Wall time never decides anything.

use std::fmt;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use crate::sync::{AtomicU64, Ordering};

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(feature = "tokio")]
mod sleep;
mod sleepers;
mod system;
#[cfg(feature = "tokio")]
pub use sleep::Sleep;
pub(crate) use system::{glance, glanced, lag, since_origin};

/// A point in time: nanoseconds since the clock's origin. 2^64 ns are 584 years.
pub(crate) type Nanos = u64;

/// A reading that may be late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coarse {
    /// Not after the present.
    pub(crate) at: Nanos,
    /// The present is not after `at` and this.
    pub(crate) lag: Nanos,
}

impl Coarse {
    /// Nobody has looked.
    pub(crate) const UNKNOWN: Self = Self {
        at: 0,
        lag: Nanos::MAX,
    };

    /// Whether no more than `limit` has passed since `began`.
    #[inline]
    pub(crate) fn surely_within(self, began: Self, limit: Nanos) -> bool {
        self.at.saturating_sub(began.at).saturating_add(self.lag) <= limit
    }

    pub(crate) const fn exactly(at: Nanos) -> Self {
        Self { at, lag: 0 }
    }
}

/// Whole nanoseconds of a duration; what does not fit becomes the maximum, which means "for ever".
pub(crate) const fn nanos(duration: Duration) -> Nanos {
    let n = duration.as_nanos();
    if n > Nanos::MAX as u128 {
        Nanos::MAX
    } else {
        #[allow(clippy::cast_possible_truncation)] // compared just above
        {
            n as Nanos
        }
    }
}

/// The one source of time of a breaker: durations of calls, windows, waits and limits.
///
/// Either the system's monotonic clock, or a [`TestClock`] that moves only when told to. A clock
/// belongs to a registry, and all breakers of that registry use it.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System,
    Test(TestClock),
}

impl Clock {
    /// The system's monotonic clock. It is not affected by changes of the wall time.
    #[must_use]
    pub fn system() -> Self {
        system::begin();
        Self(Source::System)
    }

    /// Time since the clock's origin. For a system clock that is about when the process made the first
    /// one.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now())
    }

    /// What a [`glance`] at the clock shows at its origin, if it is the system's.
    pub(crate) fn glanced_from(&self) -> Option<Nanos> {
        match &self.0 {
            Source::System => Some(system::glanced(0)),
            Source::Test(_) => None,
        }
    }

    pub(crate) fn is_test(&self) -> bool {
        self.as_test().is_some()
    }

    pub(crate) fn as_test(&self) -> Option<&TestClock> {
        match &self.0 {
            Source::System => None,
            Source::Test(clock) => Some(clock),
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        match &self.0 {
            Source::System => system::now(),
            Source::Test(clock) => clock.now(),
        }
    }

    /// The time in a hurry. A test clock is always exact.
    #[inline]
    pub(crate) fn coarse(&self) -> Coarse {
        match &self.0 {
            Source::System => system::coarse(),
            Source::Test(clock) => Coarse::exactly(clock.now()),
        }
    }

    /// How late a coarse reading may be.
    #[inline]
    pub(crate) fn lag(&self) -> Nanos {
        match &self.0 {
            Source::System => system::lag(),
            Source::Test(_) => 0,
        }
    }

    /// From which length on durations are worth measuring with the coarse clock.
    pub(crate) fn coarse_from(&self) -> Option<Nanos> {
        match &self.0 {
            Source::System => system::coarse_from(),
            Source::Test(_) => None,
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl From<&TestClock> for Clock {
    fn from(clock: &TestClock) -> Self {
        Self(Source::Test(clock.clone()))
    }
}

impl From<TestClock> for Clock {
    fn from(clock: TestClock) -> Self {
        Self(Source::Test(clock))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::System => f.write_str("Clock::System"),
            Source::Test(clock) => clock.fmt(f),
        }
    }
}

/// A clock for tests: it stands still until [`advance`](TestClock::advance) moves it.
///
/// Clones share one time. What sleeps on the clock (a `timeout`, the registry's driver) is woken
/// by `advance`, in the order of the deadlines.
///
/// ```
/// use std::time::Duration;
/// use cb_runtime::testing::TestClock;
///
/// let clock = TestClock::new();
/// clock.advance(Duration::from_secs(10));
/// assert_eq!(clock.elapsed(), Duration::from_secs(10));
/// ```
#[derive(Clone, Default)]
pub struct TestClock {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    now: AtomicU64,
    sleepers: sleepers::Sleepers,
}

impl TestClock {
    /// A clock that stands at its origin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock that stands at `elapsed` after its origin. Time windows have their buckets on a
    /// grid that begins at the origin, so this chooses where on the grid a test begins.
    #[must_use]
    pub fn starting_at(elapsed: Duration) -> Self {
        let clock = Self::default();
        // Nobody else has the clock yet; publishing it to another thread orders this store.
        clock.shared.now.store(nanos(elapsed), Ordering::Relaxed);
        clock
    }

    /// Time since the origin.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now())
    }

    /// Moves the clock forward and wakes whoever slept until then. Saturates at 584 years.
    pub fn advance(&self, by: Duration) {
        // Release pairs with the load in `now`: who sees the new time also sees what the advancing
        // thread did before it moved the clock. The closure always answers `Some`.
        let _ = self
            .shared
            .now
            .fetch_update(Ordering::Release, Ordering::Relaxed, |now| {
                Some(now.saturating_add(nanos(by)))
            });
        self.shared.sleepers.wake_due(self.now());
    }

    /// Whether it is not yet `until`; then the task is woken when it is.
    pub(crate) fn wake_at(&self, until: Duration, cx: &mut Context<'_>) -> bool {
        let sleepers = &self.shared.sleepers;
        let sleeper = sleepers::Sleeper {
            id: sleepers.next_id(),
            until: nanos(until),
        };
        sleepers.poll(self, sleeper, cx).is_pending()
    }

    #[inline]
    fn now(&self) -> Nanos {
        // Pairs with the update in `advance`.
        self.shared.now.load(Ordering::Acquire)
    }
}

impl fmt::Debug for TestClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TestClock").field(&self.elapsed()).finish()
    }
}
