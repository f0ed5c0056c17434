//! What is counted of one breaker's calls while an exporter is attached to its registry.
//!
//! Callers add to atomics of ours; the exporter reads them when it refreshes. So no foreign code runs
//! in a caller's path, nothing waits, and nothing is allocated but once for each power of two that
//! durations come to lie in.

use std::sync::OnceLock;
use std::time::Duration;

use super::durations::Durations;
use crate::breaker::Ending;
use crate::error::Reason;
use crate::event::EventKind;
use crate::state::State;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// The outcomes that `calls_total` tells apart, each with whether it was slow.
pub(super) const CALLS: [(&str, bool); 9] = [
    ("success", false),
    ("success", true),
    ("failure", false),
    ("failure", true),
    ("cancelled", false),
    ("cancelled", true),
    ("ignored", false),
    ("late", false),
    ("unrecorded", false),
];

/// The reasons that `rejections_total` tells apart.
pub(super) const REASONS: [Reason; 5] = [
    Reason::Open,
    Reason::ForcedOpen,
    Reason::HalfOpenFull,
    Reason::Ramping,
    Reason::Pausing,
];

/// The outcomes that durations are kept for.
pub(super) const TIMED: [&str; 4] = ["success", "failure", "cancelled", "ignored"];

/// From, to and the rule that decided.
pub(super) type Turn = (State, State, &'static str);

/// Relaxed everywhere: totals for reports, nothing else depends on them.
#[derive(Default)]
pub(crate) struct Meter {
    begun: AtomicU64,
    ended: AtomicU64,
    calls: [AtomicU64; CALLS.len()],
    rejections: [AtomicU64; REASONS.len()],
    durations: [OnceLock<Box<Durations>>; TIMED.len()],
    turns: Mutex<Vec<(Turn, u64)>>,
}

impl Meter {
    #[inline]
    pub(crate) fn begin(&self) {
        add(&self.begun);
    }

    /// A call that has been counted when it began is not running any more.
    #[inline]
    pub(crate) fn leave(&self) {
        add(&self.ended);
    }

    #[inline]
    pub(crate) fn end(&self, ending: Ending, duration: Option<Duration>) {
        let (call, timed) = match ending {
            Ending::Recorded(mark) if mark.cancelled() => (5, Some(2)),
            Ending::Recorded(mark) => {
                let failed = usize::from(mark.failed());
                (2 * failed + usize::from(mark.slow()), Some(failed))
            }
            Ending::Cancelled => (4, Some(2)),
            Ending::Ignored => (6, Some(3)),
            Ending::Late => (7, None),
            Ending::Unrecorded => (8, None),
        };
        add(&self.calls[call]);
        if let (Some(timed), Some(duration)) = (timed, duration) {
            self.durations[timed]
                .get_or_init(Box::default)
                .add(duration);
        }
    }

    pub(crate) fn reject(&self, reason: Reason) {
        let at = REASONS.iter().position(|one| *one == reason);
        if let Some(count) = at.and_then(|at| self.rejections.get(at)) {
            add(count);
        }
    }

    /// Counts transitions. The caller may hold the breaker's lock; nothing is called from under
    /// this one.
    pub(crate) fn event(&self, kind: &EventKind) {
        let EventKind::Transition { from, to, cause } = kind else {
            return;
        };
        let turn = (*from, *to, cause.rule());
        let mut turns = lock(&self.turns);
        match turns.iter_mut().find(|(known, _)| *known == turn) {
            Some((_, count)) => *count += 1,
            None => turns.push((turn, 1)),
        }
    }

    /// Calls begun, less calls ended: below zero if some began before anybody counted.
    pub(super) fn in_flight(&self) -> i64 {
        // In this order, so that a call that ends in between is not seen to end only.
        let ended = read(&self.ended);
        let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
        signed(read(&self.begun)).saturating_sub(signed(ended))
    }

    pub(super) fn calls(&self) -> [u64; CALLS.len()] {
        self.calls.each_ref().map(read)
    }

    pub(super) fn rejections(&self) -> [u64; REASONS.len()] {
        self.rejections.each_ref().map(read)
    }

    pub(super) fn turns(&self) -> Vec<(Turn, u64)> {
        lock(&self.turns).clone()
    }

    pub(super) fn durations(&self) -> [Option<&Durations>; TIMED.len()] {
        self.durations
            .each_ref()
            .map(|one| one.get().map(Box::as_ref))
    }
}

fn add(total: &AtomicU64) {
    total.fetch_add(1, Ordering::Relaxed);
}

fn read(total: &AtomicU64) -> u64 {
    total.load(Ordering::Relaxed)
}
