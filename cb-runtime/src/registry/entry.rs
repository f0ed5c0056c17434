//! A place in the registry.

use crate::breaker::CircuitBreaker;
use crate::conflict::{Conflict, ConflictKind};
use crate::site::Site;

/// A breaker and the functions that have it.
pub(super) struct Entry {
    pub(super) breaker: CircuitBreaker,
    /// The function whose settings the breaker has; none if it was made by code.
    pub(super) ruling: Option<&'static Site>,
    /// The functions that were compared with it.
    pub(super) known: Vec<&'static Site>,
}

impl Entry {
    /// Adds functions, and returns what they want that the breaker has not.
    pub(super) fn join(&mut self, sites: &[&'static Site]) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for site in sites {
            if self.known.iter().any(|known| std::ptr::eq(*known, *site)) {
                continue;
            }
            self.known.push(site);
            let kind = match self.ruling {
                _ if !site.sets_policy() => continue,
                Some(ruling) if site.same_policy(ruling) => continue,
                Some(ruling) => ConflictKind::Policies {
                    ruling: ruling.place,
                    other: site.place,
                },
                None => ConflictKind::AlreadyMade,
            };
            conflicts.push(Conflict::new(self.breaker.name(), kind));
        }
        conflicts
    }
}
