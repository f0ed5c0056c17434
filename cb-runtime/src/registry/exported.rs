//! What an exporter of metrics sees of a registry.

use std::sync::{Arc, Weak};

use super::{Registry, Shared, read};
use crate::breaker::CircuitBreaker;
use crate::metrics::Attached;
use crate::sync::Mutex;

/// A registry that may be gone.
pub(crate) struct WeakRegistry(Weak<Shared>);

impl WeakRegistry {
    pub(crate) fn upgrade(&self) -> Option<Registry> {
        let shared = self.0.upgrade()?;
        Some(Registry { shared })
    }
}

impl Registry {
    pub(crate) fn exporters(&self) -> &Mutex<Vec<Arc<Attached>>> {
        &self.shared.exporters
    }

    pub(crate) fn downgrade(&self) -> WeakRegistry {
        WeakRegistry(Arc::downgrade(&self.shared))
    }

    /// All breakers as [`breakers`](Self::breakers), in no order; those of keys with the name that
    /// they share.
    pub(crate) fn listed(&self) -> Vec<(CircuitBreaker, Option<&'static str>)> {
        self.make_all_announced();
        let alone = read(&self.shared.entries);
        let alone = alone.all().map(|breaker| (breaker.clone(), None));
        let mut listed: Vec<_> = alone.collect();
        for (name, entry) in read(&self.shared.keyed).iter() {
            let all = entry.keys.all().into_iter();
            listed.extend(all.map(|breaker| (breaker, Some(*name))));
        }
        listed
    }
}
