//! Listens to the registry while the drill runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cb_runtime::{Cause, EventKind, Interest, State, Subscription, registry};

/// A state change of a breaker.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// By the registry's clock.
    pub(crate) at: Duration,
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) why: String,
    pub(crate) by_slow_rate: bool,
    /// Requests that had reached the server.
    pub(crate) reached: u64,
    /// The breaker's own account, if it has just opened.
    pub(crate) explanation: Option<String>,
}

/// The state changes of one breaker, collected while this lives.
pub(crate) struct Watch {
    changes: Arc<Mutex<Vec<Change>>>,
    _subscription: Subscription,
}

impl Watch {
    pub(crate) fn start(
        breaker: &'static str,
        reached: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        let changes = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&changes);
        let subscription = registry().subscribe(Interest::TRANSITIONS, move |event| {
            let EventKind::Transition {
                from, to, cause, ..
            } = &event.kind
            else {
                return;
            };
            if event.breaker() != breaker {
                return;
            }
            let open = *to == State::Open;
            let change = Change {
                at: event.at,
                from: *from,
                to: *to,
                why: cause.to_string(),
                by_slow_rate: matches!(cause, Cause::SlowRate { .. }),
                reached: reached(),
                explanation: registry()
                    .get(breaker)
                    .filter(|_| open)
                    .map(|breaker| breaker.explain().to_string()),
            };
            list.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(change);
        });
        Self {
            changes,
            _subscription: subscription,
        }
    }

    /// The changes since the last time.
    pub(crate) fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
