//! What the breakers are and what they did.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use axum::routing::{any, get};
use serde::Serialize;

use super::history::Records;
use super::name::Name;
use super::{Shared, answer, calls, live};
use crate::breaker::CircuitBreaker;
use crate::conflict::Conflict;
use crate::explain::Explanation;
use crate::layers::ChosenSetting;
use crate::snapshot::Snapshot;
use crate::state;

/// What `/health` names at most of each kind; the others are counted.
const NAMED: usize = 100;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/breakers", get(all))
        .route("/breakers/{name}", get(one))
        .route("/breakers/{name}/events", get(events))
        .route("/breakers/{name}/calls", get(calls::follow))
        // The same for names that no path carries.
        .route("/breaker", get(one))
        .route("/breaker/events", get(events))
        .route("/breaker/calls", get(calls::follow))
        // All others of these forms, operations that there are not among them.
        .route("/breakers/{name}/{other}", any(nothing))
        .route("/breaker/{other}", any(nothing))
        .route("/health", get(health))
        .route("/events", get(live::follow))
}

async fn nothing() -> Response<Body> {
    answer::refusal(StatusCode::NOT_FOUND, "there is no such route")
}

impl Shared {
    /// The time on the registry's clock, as every answer has it.
    pub(super) fn now(&self) -> f64 {
        self.registry.clock().elapsed().as_secs_f64()
    }

    /// Makes nothing but the breaker of an annotated function that nobody has called yet.
    pub(super) fn breaker(&self, name: &Name) -> Option<CircuitBreaker> {
        self.registry.get(name.0.as_deref()?)
    }
}

#[derive(Serialize)]
struct All {
    now: f64,
    /// Whether there are routes that write.
    writable: bool,
    breakers: Vec<Snapshot>,
}

async fn all(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let breakers = shared.registry.breakers();
    answer::json(&All {
        now: shared.now(),
        writable: shared.authoriser.is_some(),
        breakers: breakers.iter().map(CircuitBreaker::snapshot).collect(),
    })
}

#[derive(Serialize)]
struct One {
    now: f64,
    breaker: Snapshot,
    explanation: Explanation,
    /// The settings that were chosen somewhere.
    config: Vec<ChosenSetting>,
    events: Records,
    /// Since when events are kept.
    events_since: f64,
}

async fn one(State(shared): State<Arc<Shared>>, name: Name) -> Response<Body> {
    let Some(breaker) = shared.breaker(&name) else {
        return answer::unknown();
    };
    answer::json(&One {
        now: shared.now(),
        breaker: breaker.snapshot(),
        explanation: breaker.explain(),
        config: breaker.config(),
        events: shared.history.of(breaker.name()),
        events_since: shared.history.since.as_secs_f64(),
    })
}

#[derive(Serialize)]
struct Events {
    now: f64,
    events: Records,
}

async fn events(State(shared): State<Arc<Shared>>, name: Name) -> Response<Body> {
    let Some(breaker) = shared.breaker(&name) else {
        return answer::unknown();
    };
    answer::json(&Events {
        now: shared.now(),
        events: shared.history.of(breaker.name()),
    })
}

#[derive(Serialize)]
struct Health {
    now: f64,
    status: &'static str,
    breakers: usize,
    /// How many are in each state.
    states: BTreeMap<&'static str, usize>,
    /// Those that reject every call.
    rejecting: Vec<Rejecting>,
    rejecting_not_named: usize,
    conflicts: Vec<Told>,
    conflicts_not_named: usize,
}

#[derive(Serialize)]
struct Rejecting {
    name: String,
    state: state::State,
    #[serde(with = "crate::seconds")]
    in_state_for: Duration,
    #[serde(with = "crate::seconds::optional")]
    retry_after: Option<Duration>,
}

/// A conflict, as everywhere and in words.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    conflict: Conflict,
    text: String,
}

async fn health(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let breakers = shared.registry.breakers();
    let mut states = BTreeMap::new();
    let mut rejecting = Vec::new();
    for breaker in &breakers {
        let snapshot = breaker.snapshot();
        *states.entry(snapshot.state.as_str()).or_default() += 1;
        if matches!(
            snapshot.state,
            state::State::Open | state::State::ForcedOpen
        ) {
            rejecting.push(Rejecting {
                name: snapshot.name,
                state: snapshot.state,
                in_state_for: snapshot.in_state_for,
                retry_after: snapshot.retry_after,
            });
        }
    }
    let mut conflicts = shared.registry.conflicts();
    let status = if !rejecting.is_empty() {
        "rejecting"
    } else if states.contains_key(state::State::HalfOpen.as_str()) {
        "recovering"
    } else {
        "ok"
    };
    answer::json(&Health {
        now: shared.now(),
        status,
        breakers: breakers.len(),
        states,
        rejecting_not_named: rejecting.len().saturating_sub(NAMED),
        rejecting: {
            rejecting.truncate(NAMED);
            rejecting
        },
        conflicts_not_named: conflicts.len().saturating_sub(NAMED),
        conflicts: {
            conflicts.truncate(NAMED);
            let told = |conflict: Conflict| Told {
                text: conflict.to_string(),
                conflict,
            };
            conflicts.into_iter().map(told).collect()
        },
    })
}
