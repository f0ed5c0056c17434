//! The figures of one breaker, or of all breakers of one name, as numbers to export.

use std::sync::Arc;

use super::meter::{CALLS, Meter, REASONS};
use super::names;
use crate::breaker::CircuitBreaker;
use crate::snapshot::Snapshot;
use crate::state::State;

/// The states in the order of [`Snapshot::states`].
pub(super) fn label(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "half_open",
        State::ForcedOpen => "forced_open",
        State::Disabled => "disabled",
        State::MetricsOnly => "metrics_only",
    }
}

/// A breaker's figures at one moment.
pub(super) struct Reading {
    pub(super) breaker: CircuitBreaker,
    /// Whether its registry still has it.
    pub(super) listed: bool,
    pub(super) meter: Arc<Meter>,
    snapshot: Snapshot,
    in_flight: i64,
}

type Labels<'a> = &'a [(&'static str, &'static str)];

impl Reading {
    /// `None` if nobody has attached its registry.
    pub(super) fn of(breaker: CircuitBreaker, listed: bool) -> Option<Self> {
        let meter = Arc::clone(breaker.inner.events.meter()?);
        Some(Self {
            snapshot: breaker.snapshot(),
            in_flight: meter.in_flight(),
            breaker,
            listed,
            meter,
        })
    }

    /// Calls that are under way by the counts, with those that nobody counted when they began.
    pub(super) fn in_flight(&self) -> i64 {
        self.in_flight
    }

    /// Each counter, with its labels and its value, always in the same order.
    pub(super) fn counters(&self, tell: &mut impl FnMut(&'static str, Labels<'_>, u64)) {
        let snapshot = &self.snapshot;
        for ((outcome, slow), count) in CALLS.iter().zip(self.meter.calls()) {
            let slow = if *slow { "true" } else { "false" };
            tell(names::CALLS, &[("outcome", outcome), ("slow", slow)], count);
        }
        tell(names::TIMEOUTS, &[], snapshot.timed_out);
        for (reason, count) in REASONS.iter().zip(self.meter.rejections()) {
            tell(names::REJECTIONS, &[("reason", reason.as_str())], count);
        }
        tell(names::FALLBACKS, &[], snapshot.fallbacks);
        let probes = snapshot.probe_totals;
        for (outcome, count) in [
            ("success", probes.successful),
            ("failure", probes.failed),
            ("cancelled", probes.cancelled),
        ] {
            tell(names::PROBES, &[("outcome", outcome)], count);
        }
        tell(names::SLOW_PROBES, &[], probes.slow);
        for totals in &snapshot.states {
            let state = [("state", label(totals.state))];
            tell(names::ENTRIES, &state, totals.entries);
        }
        for totals in &snapshot.states {
            let state = [("state", label(totals.state))];
            tell(names::STATE_TIME, &state, totals.time.as_secs());
        }
        tell(names::DROPPED, &[], snapshot.dropped_events);
    }
}

/// Gauges of several breakers that share their labels, or of one.
#[derive(Default)]
pub(super) struct Gauges {
    states: [f64; 6],
    in_state: f64,
    calls: u32,
    failed: u32,
    slow: u32,
    /// Of those breakers that have a rate.
    rated: [f64; 3],
    min_calls: u32,
    consecutive: u32,
    openings: u64,
    next_probe: Option<f64>,
    probes: u32,
    in_flight: i64,
    recovery: Option<f64>,
}

impl Gauges {
    /// Adds a breaker: numbers are summed, and of times and streaks the most telling one is kept.
    pub(super) fn add(&mut self, reading: &Reading, in_flight: i64) {
        let one = &reading.snapshot;
        for (sum, totals) in self.states.iter_mut().zip(&one.states) {
            *sum += f64::from(u8::from(totals.state == one.state));
        }
        self.in_state = self.in_state.max(one.in_state_for.as_secs_f64());
        self.calls = self.calls.saturating_add(one.calls);
        self.failed = self.failed.saturating_add(one.failed);
        self.slow = self.slow.saturating_add(one.slow);
        if one.failure_rate.is_some() {
            let of = [one.calls, one.failed, one.slow];
            for (sum, count) in self.rated.iter_mut().zip(of) {
                *sum += f64::from(count);
            }
        }
        self.min_calls = self.min_calls.max(one.min_calls);
        self.consecutive = self.consecutive.max(one.consecutive_failures);
        self.openings = self.openings.max(one.attempt);
        if one.state == State::Open {
            let rest = one
                .retry_after
                .map_or(f64::INFINITY, |rest| rest.as_secs_f64());
            self.next_probe = Some(self.next_probe.map_or(rest, |least| least.min(rest)));
        }
        self.probes += one.probes.map_or(0, |probes| probes.in_flight);
        self.in_flight += in_flight.max(0);
        let recovery = one.last_recovery.map(|took| took.as_secs_f64());
        self.recovery = match (self.recovery, recovery) {
            (Some(most), Some(took)) => Some(most.max(took)),
            (most, took) => most.or(took),
        };
    }

    /// Each gauge, with its label and its value, always in the same order.
    pub(super) fn each(&self, tell: &mut impl FnMut(&'static str, Labels<'_>, f64)) {
        let states = [
            State::Closed,
            State::Open,
            State::HalfOpen,
            State::ForcedOpen,
            State::Disabled,
            State::MetricsOnly,
        ];
        for (state, value) in states.into_iter().zip(self.states) {
            tell(names::STATE, &[("state", label(state))], value);
        }
        let [calls, failed, slow] = self.rated;
        let ratio = |part| if calls > 0.0 { part / calls } else { f64::NAN };
        #[allow(clippy::cast_precision_loss)] // numbers of calls and openings
        let counts = (self.openings as f64, self.in_flight as f64);
        for (name, value) in [
            (names::IN_STATE, self.in_state),
            (names::FAILURE_RATIO, ratio(failed)),
            (names::SLOW_RATIO, ratio(slow)),
            (names::WINDOW_CALLS, self.calls.into()),
            (names::WINDOW_FAILED, self.failed.into()),
            (names::WINDOW_SLOW, self.slow.into()),
            (names::MIN_CALLS, self.min_calls.into()),
            (names::CONSECUTIVE, self.consecutive.into()),
            (names::OPENINGS, counts.0),
            (names::NEXT_PROBE, self.next_probe.unwrap_or(f64::NAN)),
            (names::PROBES_IN_FLIGHT, self.probes.into()),
            (names::CALLS_IN_FLIGHT, counts.1),
            (names::LAST_RECOVERY, self.recovery.unwrap_or(f64::NAN)),
        ] {
            tell(name, &[], value);
        }
    }
}
