//! What the timer sees of a registry.

use std::sync::{Arc, Weak};

use super::Shared;
use crate::clock::{Clock, Nanos};

/// A registry that may be gone.
pub(crate) struct Registry(Weak<Shared>);

impl Registry {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Applies what is due; when the next transition is.
    pub(crate) fn settle(&self) -> Option<(Clock, Arc<tokio::sync::Notify>, Option<Nanos>)> {
        let shared = self.0.upgrade()?;
        let registry = super::Registry {
            shared: Arc::clone(&shared),
        };
        let breakers = registry.made();
        let next = breakers
            .iter()
            .filter_map(|breaker| breaker.inner.next_due())
            .min();
        Some((shared.clock.clone(), Arc::clone(&shared.timer), next))
    }
}
