//! The engine under the operations of a trace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    CircuitBreaker, ConfigError, EventKind, IllegalTransition, Interest, Outcome, Permit, Reason,
    Registry, Snapshot, State, Subscription,
};

use super::mapping;
use super::shown::Shown;
use crate::harness::{event_name, lock};
use crate::trace::{Figures, Op, Scenario, StateName, Step};

const MILLI: Duration = Duration::from_millis(1);

/// A breaker made for a scenario, in its initial state.
pub(super) struct Driver {
    clock: TestClock,
    breaker: CircuitBreaker,
    /// Whether every wait is made 1 ms longer.
    stretch: bool,
}

impl Driver {
    pub(super) fn new(scenario: &Scenario) -> Result<Self, ConfigError> {
        let settings = &scenario.config;
        let clock = TestClock::starting_at(Duration::from_millis(settings.start_ms));
        let registry = Registry::with_clock(&clock);
        let breaker = registry.create(&scenario.id, &mapping::config(settings))?;
        let initial = settings.initial_state;
        if matches!(initial, Some(StateName::Open | StateName::HalfOpen)) {
            breaker.open().expect("CLOSED may be opened");
        }
        if initial == Some(StateName::HalfOpen) {
            breaker.half_open().expect("OPEN may be half-opened");
        }
        Ok(Self {
            clock,
            breaker,
            stretch: !settings.automatic_transition,
        })
    }

    pub(super) fn run(&self) -> Run<'_> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&events);
        let subscription = self.breaker.subscribe(Interest::ALL, move |event| {
            if !passed_over(&event.kind) {
                lock(&sink).push(event_name(&event.kind));
            }
        });
        let mut run = Run {
            driver: self,
            permits: HashMap::new(),
            events,
            _subscription: subscription,
            stretched: None,
            state: self.breaker.state().to_string(),
            figures: Figures::NONE,
        };
        run.stretch_wait();
        run
    }
}

/// The calls in flight, and what the trace showed last.
pub(super) struct Run<'a> {
    driver: &'a Driver,
    permits: HashMap<u64, Permit<'a>>,
    events: Arc<Mutex<Vec<String>>>,
    _subscription: Subscription,
    /// The OPEN stay whose wait has its extra millisecond.
    stretched: Option<u64>,
    state: String,
    figures: Figures,
}

impl Run<'_> {
    /// Does what the step says and compares what both sides show then.
    pub(super) fn compare(&mut self, step: &Step) -> Result<(), String> {
        if let Some(state) = step.state {
            self.state = state.to_string();
        }
        self.figures = step.figures.unwrap_or(self.figures);
        let expected = Shown {
            permitted: match step.op {
                Op::Acquire { p, .. } => Some(p == 1),
                _ => None,
            },
            refused: step.throws.is_some(),
            state: self.state.clone(),
            figures: self.figures,
            events: step.events.clone(),
        };

        let (permitted, refused) = self.apply(step.op)?;
        // Reading the state applies what has become due, so it comes before the rest.
        let state = self.driver.breaker.state().to_string();
        let figures = figures(&self.driver.breaker.snapshot());
        let events = std::mem::take(&mut *lock(&self.events));
        self.stretch_wait();
        expected.compare(&Shown {
            permitted,
            refused,
            state,
            figures,
            events,
        })
    }

    /// Whether the call was permitted, if one was asked for, and whether the operation was refused.
    fn apply(&mut self, op: Op) -> Result<(Option<bool>, bool), String> {
        let breaker = &self.driver.breaker;
        let outcome = match op {
            Op::Success { .. } | Op::UnrecordedError { .. } => Some(Outcome::Success),
            Op::Error { .. } | Op::FailedResult { .. } => Some(Outcome::Failure),
            Op::IgnoredError { .. } => Some(Outcome::Ignored),
            _ => None,
        };
        if let Some(call) = op.ends() {
            let permit = self
                .permits
                .remove(&call)
                .ok_or(format!("call {call} is not running"))?;
            match outcome {
                Some(outcome) => permit.finish(outcome),
                None => drop(permit),
            }
            return Ok((None, false));
        }
        let manual: Result<(), IllegalTransition> = match op {
            Op::Acquire { c, .. } => {
                let permit = breaker.try_acquire();
                let permitted = permit.is_ok();
                self.permits.extend(permit.ok().map(|permit| (c, permit)));
                return Ok((Some(permitted), false));
            }
            Op::Advance { ms } => {
                let ms = u64::try_from(ms).map_err(|_| "the clock cannot be set back")?;
                self.driver.clock.advance(Duration::from_millis(ms));
                Ok(())
            }
            Op::ToOpen => breaker.open(),
            Op::ToHalfOpen => breaker.half_open(),
            Op::ToOpenFor { ms } => breaker.open_for(Duration::from_millis(ms)),
            other => {
                match other {
                    Op::Reset => breaker.reset(),
                    Op::ForceOpen => breaker.force_open(),
                    Op::Disable => breaker.disable(),
                    Op::MetricsOnly => breaker.metrics_only(),
                    _ => breaker.close(),
                }
                Ok(())
            }
        };
        Ok((None, manual.is_err()))
    }

    /// Makes the wait of a new OPEN stay 1 ms longer, with an operation that changes nothing else:
    /// from OPEN to OPEN window, rejections and attempt stay, and there is no event. The stay may
    /// have begun at an instant that the step has left behind.
    fn stretch_wait(&mut self) {
        let breaker = &self.driver.breaker;
        if !self.driver.stretch || breaker.state() != State::Open {
            return;
        }
        let stay = breaker.snapshot();
        if self.stretched == Some(stay.generation) {
            return;
        }
        let rest = stay
            .wait
            .and_then(|wait| wait.checked_sub(stay.in_state_for));
        if let Some(rest) = rest {
            breaker
                .open_for(rest.saturating_add(MILLI))
                .expect("OPEN may be opened again");
        }
        self.stretched = Some(breaker.snapshot().generation);
    }
}

#[expect(clippy::cast_possible_truncation)] // to what the reference holds
fn figures(shown: &Snapshot) -> Figures {
    let rate = |rate: Option<f64>| rate.map_or(-1.0, |rate| rate as f32);
    Figures(
        rate(shown.failure_rate),
        rate(shown.slow_rate),
        shown.calls.into(),
        shown.failed.into(),
        shown.slow.into(),
        shown.slow_failed.into(),
        shown.successful.into(),
        shown.not_permitted,
    )
}

/// Whether the reference has no such event: it only counts rejections in FORCED_OPEN, and a call
/// that is cancelled leaves no trace.
fn passed_over(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::NotPermitted {
            reason: Reason::ForcedOpen
        } | EventKind::Cancelled { .. }
    )
}
