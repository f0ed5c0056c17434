//! What is told of a breaker besides its events.

use std::time::Duration;

use crate::clock::Nanos;
use crate::error::Reason;
use crate::event::EventFigures;
use crate::window::Counts;

use super::Inner;
use super::stay::{Figures, Stay};

impl Inner {
    /// The figures of a stay that is about to end.
    pub(super) fn figures(&self, stay: &Stay, at: Nanos) -> EventFigures {
        let counts = match stay.figures {
            Figures::Nothing => Counts::default(),
            Figures::Window(number) => self.window.counts(number, at),
            Figures::Probes(counts) => counts,
        };
        EventFigures {
            calls: counts.total,
            failed: counts.failed,
            slow: counts.slow,
            not_permitted_total: self.totals().rejected,
            wait: None,
        }
    }

    /// A call was rejected, after `before` others. Reads no clock for most of them.
    #[inline]
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
    pub(super) fn tell_rejection(
        &self,
        reason: Reason,
        retry_after: Option<Duration>,
        now: Option<Nanos>,
        before: u64,
    ) {
        #[cfg(feature = "tracing")]
        if self.events.rejections.is_worth_a_look(now, before) {
            let now = now.unwrap_or_else(|| self.clock.now());
            let total = || self.totals().rejected;
            self.events
                .tell_rejection(&self.name, reason, retry_after, now, total);
        }
    }
}
