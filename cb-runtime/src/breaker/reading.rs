//! The figures of a moment.

use std::time::Duration;

use crate::event::percent;
use crate::policy;
use crate::snapshot::{Probes, Snapshot};
use crate::state::State;
use crate::window::Counts;

use super::Inner;
use super::history::History;
use super::stay::{Figures, Stay};

impl Inner {
    /// All of one moment: the caller holds the lock.
    pub(super) fn snapshot(&self, stay: &Stay) -> Snapshot {
        let now = self.clock.now();
        let word = self.word();
        let state = word.state();
        let layers = stay.layers();
        let settings = layers.settings();
        let (counts, min_calls) = match stay.figures {
            Figures::Nothing => (Counts::default(), settings.min_calls),
            Figures::Window(number) => (
                self.window.present().counts(number, now),
                settings.min_calls,
            ),
            Figures::Probes => (stay.probes.returned.counts, policy::deciding(settings)),
        };
        let rate = |part| (counts.total >= min_calls).then(|| percent(part, counts.total));
        let recording = matches!(state, State::Closed | State::MetricsOnly);
        let hanging = self.rare.hanging().filter(|_| recording);
        let in_flight = hanging.and_then(|hanging| hanging.now(stay.number, now));
        let totals = self.totals();
        let rest = self.rest_of_wait(now);
        let none = History::default();
        let history = stay.history().unwrap_or(&none);
        let in_half_open = state == State::HalfOpen;
        Snapshot {
            name: self.name.as_str().to_owned(),
            state,
            generation: stay.number,
            in_state_for: Duration::from_nanos(now.saturating_sub(stay.entered)),
            calls: counts.total,
            failed: counts.failed,
            slow: counts.slow,
            slow_failed: counts.slow_failed,
            successful: counts.successful(),
            cancelled: counts.cancelled,
            not_permitted: stay.rejected(totals.rejected),
            failure_rate: rate(counts.failed),
            slow_rate: rate(counts.slow),
            min_calls,
            in_flight: in_flight.map(|running| running.calls),
            overdue: in_flight.map(|running| running.overdue),
            oldest: in_flight
                .and_then(|running| running.oldest)
                .map(|began| Duration::from_nanos(now.saturating_sub(began))),
            warming: (recording && self.warm_at() != 0 && self.is_warming(now))
                .then(|| Duration::from_nanos(self.warm_at().saturating_sub(now))),
            admitted: settings
                .ramp
                .filter(|_| state == State::Closed)
                .and_then(|length| self.rare.ramp()?.share(now, length)),
            consecutive_failures: self.streak.failures(stay.number),
            attempt: stay.attempt,
            wait: rest.map(|_| Duration::from_nanos(stay.served_wait)),
            retry_after: rest.map(Duration::from_nanos),
            probes: in_half_open.then(|| Probes {
                permitted: settings.half_open_calls,
                in_flight: stay.probes.in_flight(),
                returned: stay.probes.returned.counts.total,
                deciding: policy::deciding(settings),
                good_in_a_row: stay.probes.returned.good_in_a_row,
                ends_in: self
                    .due(stay)
                    .map(|due| Duration::from_nanos(due.saturating_sub(now))),
                pause: self.rest_of_pause(stay, now).map(Duration::from_nanos),
            }),
            late: totals.late,
            ignored: totals.ignored,
            timed_out: totals.timed_out,
            fallbacks: totals.fallbacks,
            states: history.states(self.first, state, now.saturating_sub(stay.entered)),
            probe_totals: history.probes(),
            last_recovery: history.last_recovery(),
            not_permitted_total: totals.rejected,
            rejected_within_probes: totals.within_probes,
            dropped_events: self.events.dropped(),
        }
    }
}
