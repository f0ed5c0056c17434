//! One breaker, as it is looked at.

use std::sync::Arc;
use std::time::Duration;

use crate::breaker::CircuitBreaker;
use crate::config::{Settings, Window};
use crate::layers::Layers;
use crate::snapshot::Snapshot;
use crate::state::State;

/// A window of calls is looked at after so long.
const WHILE: Duration = Duration::from_secs(60);

pub(super) struct Patient {
    pub(super) snapshot: Snapshot,
    pub(super) layers: Arc<Layers>,
}

impl Patient {
    pub(super) fn new(breaker: &CircuitBreaker) -> Self {
        Self {
            snapshot: breaker.snapshot(),
            layers: breaker.inner.layers(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.snapshot.name
    }

    pub(super) fn settings(&self) -> &Settings {
        self.layers.settings()
    }

    /// Time since it was made.
    pub(super) fn age(&self) -> Duration {
        self.snapshot.states.iter().map(|state| state.time).sum()
    }

    pub(super) fn records(&self) -> bool {
        matches!(self.snapshot.state, State::Closed | State::MetricsOnly)
    }

    /// Whether it has recorded for long enough to tell the traffic by.
    pub(super) fn is_observed(&self) -> bool {
        let enough = match self.settings().window {
            Window::Time(time) => time,
            Window::Calls(_) => WHILE,
        };
        self.records() && self.snapshot.warming.is_none() && self.snapshot.in_state_for >= enough
    }

    /// Calls a second, where that can be told: a full window of calls says nothing of the time.
    pub(super) fn rate(&self) -> Option<f64> {
        if !self.is_observed() || self.snapshot.calls == 0 {
            return None;
        }
        let span = match self.settings().window {
            Window::Time(time) => time,
            Window::Calls(calls) if self.snapshot.calls < calls => self.snapshot.in_state_for,
            Window::Calls(_) => return None,
        };
        Some(f64::from(self.snapshot.calls) / span.as_secs_f64())
    }

    /// The window in words: "the last 30s hold".
    pub(super) fn window(&self) -> String {
        match self.settings().window {
            Window::Time(time) => {
                format!("the last {} hold", crate::explain::Seconds(time))
            }
            Window::Calls(calls) => format!("the window of {calls} calls holds"),
        }
    }
}
