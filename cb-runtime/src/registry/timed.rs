//! What the timer sees of a registry.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use super::Shared;
use crate::clock::{Clock, Nanos};
use crate::listeners::Hub;

/// A registry that may be gone.
pub(crate) struct Registry(Weak<Shared>);

impl Registry {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Applies what is due.
    pub(crate) fn settle(&self) -> Option<Settled> {
        let shared = self.0.upgrade()?;
        let heard = shared.hub.bell.rings();
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
            hub: Arc::clone(&shared.hub),
            heard,
            next,
        })
    }
}

/// What is known once all that was due has been applied.
pub(crate) struct Settled {
    pub(crate) clock: Clock,
    /// Its bell is rung when the next transition may fall due at another time.
    hub: Arc<Hub>,
    /// The rings that this has taken account of.
    heard: u64,
    /// When the next transition falls due.
    pub(crate) next: Option<Nanos>,
}

impl Settled {
    /// Ready when the next transition may fall due at another time.
    pub(crate) fn poll_changed(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.hub.bell.poll(self.heard, cx)
    }
}
