//! One line for each transition.

use std::fmt;
use std::time::Duration;

use super::{Rejections, TARGET, isolated, seconds};
use crate::event::{Cause, Event, EventFigures, EventKind, rounded};
use crate::state::State;

/// Tells of an event, if it is one that is told.
pub(crate) fn tell(event: &Event, rejections: &Rejections) {
    match &event.kind {
        EventKind::Transition { from, to, cause } => {
            let told = Transition {
                event,
                from: *from,
                to: *to,
                cause: *cause,
                figures: event.figures,
            };
            isolated(|| told.tell(rejections));
        }
        EventKind::Reset => isolated(|| {
            ::tracing::info!(
                target: TARGET,
                name = event.breaker(),
                generation = event.generation,
                "circuit breaker `{}` was reset",
                event.breaker(),
            );
        }),
        EventKind::FailureRateExceeded { rate } => isolated(|| {
            ::tracing::debug!(
                target: TARGET,
                name = event.breaker(),
                failure_rate = rate,
                generation = event.generation,
                "circuit breaker `{}` reached its failure rate",
                event.breaker(),
            );
        }),
        EventKind::SlowRateExceeded { rate } => isolated(|| {
            ::tracing::debug!(
                target: TARGET,
                name = event.breaker(),
                slow_rate = rate,
                generation = event.generation,
                "circuit breaker `{}` reached its rate of slow calls",
                event.breaker(),
            );
        }),
        EventKind::CyclesSkipped { cycles } => isolated(|| {
            ::tracing::debug!(
                target: TARGET,
                name = event.breaker(),
                cycles,
                generation = event.generation,
                "circuit breaker `{}` skipped rounds of OPEN and HALF_OPEN that nobody saw",
                event.breaker(),
            );
        }),
        // Conflicts are told where they are found, and calls have a span of their own.
        _ => {}
    }
}

struct Transition<'a> {
    event: &'a Event,
    from: State,
    to: State,
    cause: Cause,
    figures: Option<EventFigures>,
}

/// The level has to be a constant.
macro_rules! line {
    ($macro:ident, $told:expr, $rejected:expr) => {{
        let told: &Transition<'_> = $told;
        let figures = told.figures;
        let counted = figures.filter(|figures| figures.calls > 0);
        ::tracing::$macro!(
            target: TARGET,
            name = told.event.breaker(),
            from = told.from.as_str(),
            to = told.to.as_str(),
            rule = told.cause.rule(),
            cause = %told.cause,
            limit = told.cause.limit(),
            calls = counted.map(|figures| figures.calls),
            failed = counted.map(|figures| figures.failed),
            slow = counted.map(|figures| figures.slow),
            failure_rate = counted.map(|figures| rounded(figures.failed, figures.calls)),
            slow_rate = counted.map(|figures| rounded(figures.slow, figures.calls)),
            wait = figures.and_then(|figures| figures.wait).map(seconds),
            rejected = $rejected,
            generation = told.event.generation,
            "{told}",
        );
    }};
}

impl Transition<'_> {
    fn tell(&self, rejections: &Rejections) {
        let enabled = match self.to {
            State::Open => ::tracing::enabled!(target: TARGET, ::tracing::Level::ERROR),
            State::Closed => ::tracing::enabled!(target: TARGET, ::tracing::Level::INFO),
            _ => ::tracing::enabled!(target: TARGET, ::tracing::Level::WARN),
        };
        if !enabled {
            // Else the rejections would be taken for told.
            return;
        }
        let total = self.figures.map(|figures| figures.not_permitted_total);
        let rejected = total.map(|total| rejections.take(total));
        let rejected = rejected.filter(|rejected| *rejected > 0);
        match self.to {
            State::Open => line!(error, self, rejected),
            State::Closed => line!(info, self, rejected),
            _ => line!(warn, self, rejected),
        }
    }
}

impl fmt::Display for Transition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match (self.from, self.to) {
            (State::HalfOpen, State::Open) => "opened again",
            (_, State::Open) => "opened",
            (_, State::HalfOpen) => "is half-open",
            (_, State::Closed) => "closed",
            (_, State::ForcedOpen) => "was forced open",
            (_, State::Disabled) => "was disabled",
            (_, State::MetricsOnly) => "only records from now on",
        };
        write!(
            f,
            "circuit breaker `{}` {verb}: {}",
            self.event.breaker(),
            self.cause
        )?;
        let wait: Option<Duration> = self.figures.and_then(|figures| figures.wait);
        match (self.to, wait) {
            (State::Open, Some(wait)) => write!(f, "; first probe in {wait:.1?}"),
            (State::Open, None) => f.write_str("; until it is told otherwise"),
            _ => Ok(()),
        }
    }
}
