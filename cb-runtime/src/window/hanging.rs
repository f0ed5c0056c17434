//! The running calls of a breaker with `count_running`, while `slow`, and whether they are counted at
//! all, may change.

use super::running::{InFlight, Running};
use super::versions::Versions;
use crate::clock::{Clock, Nanos};
use crate::sync::{AtomicU64, OnceBox, Ordering};

/// A change is under way.
const CHANGING: Nanos = Nanos::MAX;

/// One ring for each limit that there was, in the order of the first use; the first is for off.
///
/// A call that began before the latest change is in another ring than the present one, or in none,
/// and does not count any more. Its start tells: the present ring has calls from `since` on.
pub(crate) struct Hanging {
    rings: OnceBox<Versions<Option<Ring>>>,
    since: AtomicU64,
}

struct Ring {
    slow: Nanos,
    running: Running,
}

impl Hanging {
    pub(crate) fn off() -> Self {
        Self {
            rings: OnceBox::new(),
            since: AtomicU64::new(0),
        }
    }

    /// Counts running calls from the first one on.
    pub(crate) fn start(&self, slow: Nanos, birth: Nanos) {
        let running = Running::new(slow, birth);
        let ring = Some(Ring { slow, running });
        self.rings.get_or_init(|| Box::new(Versions::new(ring)));
    }

    fn present(&self) -> Option<(&Ring, u64)> {
        let (ring, version) = self.rings.get()?.present();
        Some((ring.as_ref()?, version))
    }

    /// Whether running calls are counted.
    pub(crate) fn is_on(&self) -> bool {
        self.present().is_some()
    }

    /// `slow` if running calls are counted from now on. Those that are running are not. The caller has
    /// the breaker's lock.
    pub(crate) fn change(&self, slow: Option<Nanos>, stay: u64, birth: Nanos, clock: &Clock) {
        if self.present().map(|(ring, _)| ring.slow) == slow {
            return;
        }
        let rings = self.rings.get_or_init(|| Box::new(Versions::new(None)));
        // SeqCst, both, and the store of the version between them, pair with the loads in `begin` and
        // `end`: who sees the new version sees this, and who reads the clock and then finds nothing
        // changed has a start before the time that is read here.
        let before = self.since.swap(CHANGING, Ordering::SeqCst);
        rings.replace(
            |ring| ring.as_ref().map(|ring| ring.slow) == slow,
            || {
                slow.map(|slow| Ring {
                    slow,
                    running: Running::new(slow, birth),
                })
            },
            |ring, version| {
                if let Some(ring) = ring {
                    ring.running.begin_stay(stay + version, clock.now());
                }
            },
        );
        // Later than the one before also where the clock stands still: it tells one change from another.
        let since = clock.now().max(before).saturating_add(1);
        self.since.store(since.min(CHANGING - 1), Ordering::SeqCst);
    }

    /// A stay begins. The caller has the breaker's lock and has not published the stay yet.
    pub(crate) fn begin_stay(&self, stay: u64, now: Nanos) {
        if let Some((ring, version)) = self.present() {
            ring.running.begin_stay(stay + version, now);
        }
    }

    /// A call begins now. Returns what to take for its start; `None` if there is a change meanwhile, which
    /// has the breaker's lock.
    pub(crate) fn begin(&self, stay: u64, clock: &Clock) -> Option<Nanos> {
        // SeqCst, both: see `change`. Before the ring and after it: the start has to be on the same side
        // of a change as the ring is.
        let since = self.since.load(Ordering::SeqCst);
        let now = clock.now();
        let present = self.present();
        if since == CHANGING || self.since.load(Ordering::SeqCst) != since {
            return None;
        }
        let start = now.max(since);
        if let Some((ring, version)) = present {
            ring.running.begin(stay + version, start);
        }
        Some(start)
    }

    /// A call ends that began at `start`.
    pub(crate) fn end(&self, stay: u64, start: Nanos) {
        let Some((ring, version)) = self.present() else {
            return;
        };
        // SeqCst: see `change`. After the ring.
        if start >= self.since.load(Ordering::SeqCst) {
            ring.running.end(stay + version, start);
        }
    }

    /// What is running of this stay.
    pub(crate) fn now(&self, stay: u64, now: Nanos) -> Option<InFlight> {
        let (ring, version) = self.present()?;
        Some(ring.running.now(stay + version, now, ring.slow))
    }
}
