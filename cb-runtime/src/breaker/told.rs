//! What is told of a breaker besides its events.

use crate::clock::Nanos;
use crate::error::{Reason, Why};
use crate::event::EventFigures;
use crate::outcome::Mark;
use crate::window::Counts;

use super::Inner;
use super::stay::{Figures, Stay};

/// How a call ended, as it is counted for an exporter.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "metrics"), allow(dead_code))]
pub(crate) enum Ending {
    /// In the window or as a probe.
    Recorded(Mark),
    /// Dropped before it was slow.
    Cancelled,
    /// Says nothing about the downstream.
    Ignored,
    /// Permitted in an earlier stay.
    Late,
    /// In DISABLED.
    Unrecorded,
}

impl Inner {
    /// The figures of a stay that is about to end.
    pub(super) fn figures(&self, stay: &Stay, at: Nanos) -> EventFigures {
        let counts = match stay.figures {
            Figures::Nothing => Counts::default(),
            Figures::Window(number) => self.window.present().counts(number, at),
            Figures::Probes => stay.probes.returned.counts,
        };
        EventFigures {
            calls: counts.total,
            failed: counts.failed,
            slow: counts.slow,
            not_permitted_total: self.totals().rejected,
            wait: None,
        }
    }

    /// A call was rejected, after `before` others. `now` is the time, if somebody has read it: most calls need
    /// none.
    #[inline]
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
    pub(super) fn tell_rejection(
        &self,
        why: Why,
        before: u64,
        now: impl FnOnce() -> Option<Nanos>,
    ) {
        #[cfg(feature = "tracing")]
        {
            let now = now();
            if self.events.rejections.is_worth_a_look(now, before) {
                let now = now.unwrap_or_else(|| self.clock.coarse().at);
                let total = || self.totals().rejected;
                self.events.tell_rejection(&self.name, why, now, total);
            }
        }
    }

    #[inline]
    #[cfg_attr(not(feature = "metrics"), allow(clippy::unused_self))]
    pub(super) fn count_begin(&self) {
        #[cfg(feature = "metrics")]
        if let Some(meter) = self.events.meter() {
            meter.begin();
        }
    }

    #[inline]
    #[cfg_attr(not(feature = "metrics"), allow(unused_variables, clippy::unused_self))]
    pub(super) fn count_end(&self, ending: Ending, took: Option<Nanos>) {
        #[cfg(feature = "metrics")]
        if let Some(meter) = self.events.meter() {
            let duration = took.map(std::time::Duration::from_nanos);
            // Without a duration it may have begun before anybody counted.
            if duration.is_some() || !self.events.wants(crate::event::Interest::DURATIONS) {
                meter.leave();
            }
            meter.end(ending, duration);
        }
    }

    #[inline]
    #[cfg_attr(not(feature = "metrics"), allow(unused_variables, clippy::unused_self))]
    pub(super) fn count_rejection(&self, reason: Reason) {
        #[cfg(feature = "metrics")]
        if let Some(meter) = self.events.meter() {
            meter.reject(reason);
        }
    }
}
