//! The probes of a HALF_OPEN stay. Behind the stay's lock.

use std::collections::VecDeque;

use crate::clock::Nanos;
use crate::outcome::Mark;
use crate::policy::ProbeCounts;

#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// Permits given out and not given back; a probe that returned keeps its permit.
    pub(crate) issued: u32,
    pub(crate) returned: ProbeCounts,
    /// When the first of those that count was admitted.
    pub(crate) first: Option<Nanos>,
    /// The failed ones and when they returned, with `half_open_failure_window`.
    failed: VecDeque<(Nanos, Mark)>,
}

impl Probes {
    pub(crate) const NONE: Self = Self {
        issued: 0,
        returned: ProbeCounts::NONE,
        first: None,
        failed: VecDeque::new(),
    };

    pub(crate) fn in_flight(&self) -> u32 {
        self.issued.saturating_sub(self.returned.counts.total)
    }

    /// Gives a permit out.
    pub(crate) fn issue(&mut self, now: Nanos) {
        self.issued += 1;
        self.first.get_or_insert(now);
    }

    /// Takes a permit back whose probe says nothing.
    pub(crate) fn give_back(&mut self) {
        self.issued = self.issued.saturating_sub(1);
        if self.issued == 0 {
            self.first = None;
        }
    }

    /// Records one; `window` is how long its failure is remembered.
    pub(crate) fn record(&mut self, mark: Mark, now: Nanos, window: Option<Nanos>) {
        self.returned.add(mark);
        if mark.failed() && window.is_some() {
            self.failed.push_back((now, mark));
        }
    }

    /// When the oldest failure is forgotten that is remembered for so long.
    pub(crate) fn next_forgotten(&self, window: Nanos) -> Option<Nanos> {
        let (at, _) = self.failed.front()?;
        Some(at.saturating_add(window))
    }

    /// Forgets the failures that are older than the window, and takes their permits back.
    pub(crate) fn forget(&mut self, now: Nanos, window: Nanos) {
        while let Some((at, mark)) = self.failed.front().copied() {
            if at.saturating_add(window) > now {
                break;
            }
            self.failed.pop_front();
            self.returned.forget(mark);
            self.give_back();
        }
    }
}
