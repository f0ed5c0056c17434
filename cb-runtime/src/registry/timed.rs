//! What the timer sees of a registry.

use std::sync::{Arc, Weak};

use super::Shared;
use crate::bell::Bell;
use crate::clock::{Clock, Nanos};

/// A registry that may be gone.
pub(crate) struct Registry(Weak<Shared>);

impl Registry {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Applies what is due.
    pub(crate) fn settle(&self) -> Option<Settled> {
        let shared = self.0.upgrade()?;
        let heard = shared.timer.rings();
        let registry = super::Registry {
            shared: Arc::clone(&shared),
        };
        let breakers = registry.made();
        let next = breakers
            .iter()
            .filter_map(|breaker| breaker.inner.next_due())
            .min();
        Some(Settled {
            clock: shared.clock.clone(),
            changed: Arc::clone(&shared.timer),
            heard,
            next,
        })
    }
}

/// What is known once all that was due has been applied.
pub(crate) struct Settled {
    pub(crate) clock: Clock,
    /// Rung when the next transition may fall due at another time.
    pub(crate) changed: Arc<Bell>,
    /// The rings that this has taken account of.
    pub(crate) heard: u64,
    /// When the next transition falls due.
    pub(crate) next: Option<Nanos>,
}
