//! A place in the registry.

use std::sync::Arc;

use crate::breaker::CircuitBreaker;
use crate::conflict::{Conflict, ConflictKind};
use crate::keys::Keys;
use crate::site::Site;

/// A breaker and the functions that have it.
pub(super) struct Entry {
    pub(super) breaker: CircuitBreaker,
    pub(super) functions: Functions,
}

/// The breakers of a name with a key, and the functions that have them.
pub(super) struct KeyedEntry {
    pub(super) keys: Arc<Keys>,
    pub(super) functions: Functions,
}

/// Functions with one name.
pub(super) struct Functions {
    /// The one whose settings are in force; none if the breaker was made by code.
    ruling: Option<&'static Site>,
    /// Those that were compared with it.
    known: Vec<&'static Site>,
}

impl Functions {
    pub(super) fn new(ruling: Option<&'static Site>) -> Self {
        Self {
            ruling,
            known: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn know(&self, site: &'static Site) -> bool {
        self.known.iter().any(|known| std::ptr::eq(*known, site))
    }

    /// Adds functions, and returns what they want that is not in force.
    pub(super) fn join(&mut self, name: &str, sites: &[&'static Site]) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for site in sites {
            if self.know(site) {
                continue;
            }
            self.known.push(site);
            let kind = match self.ruling {
                _ if !site.sets_policy() => continue,
                Some(ruling) if site.same_policy(ruling) => continue,
                Some(ruling) => ConflictKind::Policies {
                    ruling: ruling.place(),
                    other: site.place(),
                },
                None => ConflictKind::AlreadyMade,
            };
            conflicts.push(Conflict::new(name, kind));
        }
        conflicts
    }
}

/// Which of these functions rules: the first one that sets anything, else the first.
pub(super) fn ruling(sites: &[&'static Site]) -> Option<&'static Site> {
    let setting = sites.iter().copied().find(|site| site.sets_policy());
    setting.or(sites.first().copied())
}
