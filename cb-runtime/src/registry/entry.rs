//! Places in the registry.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::breaker::CircuitBreaker;
use crate::conflict::{Conflict, ConflictKind};
use crate::few::Few;
use crate::keys::Keys;
use crate::site::Site;

/// The breakers without a key, by name, and the functions that have them: most breakers that are made
/// by code have none.
#[derive(Default)]
pub(super) struct Entries {
    breakers: HashSet<Named>,
    functions: Few<&'static str, Functions>,
}

/// A breaker that is looked up by its name.
struct Named(CircuitBreaker);

impl Borrow<str> for Named {
    fn borrow(&self) -> &str {
        self.0.name()
    }
}

impl Hash for Named {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for Named {}

impl Entries {
    pub(super) fn get(&self, name: &str) -> Option<&CircuitBreaker> {
        self.breakers.get(name).map(|named| &named.0)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &CircuitBreaker> {
        self.breakers.iter().map(|named| &named.0)
    }

    /// The breaker of a function, if it has joined it.
    pub(super) fn at_site(&self, site: &'static Site) -> Option<&CircuitBreaker> {
        let functions = self.functions.get(site.name)?;
        functions.know(site).then(|| self.get(site.name))?
    }

    pub(super) fn has_functions(&self, name: &str) -> bool {
        self.functions.get(name).is_some()
    }

    /// The breaker of this name, made if there is none, and what these functions want of it that is not
    /// in force.
    pub(super) fn join(
        &mut self,
        name: &str,
        sites: &[&'static Site],
        make: impl FnOnce() -> CircuitBreaker,
    ) -> (CircuitBreaker, Vec<Conflict>) {
        let (breaker, ruling) = match self.get(name) {
            Some(breaker) => (breaker.clone(), None),
            None => {
                let breaker = make();
                self.breakers.insert(Named(breaker.clone()));
                (breaker, ruling(sites))
            }
        };
        let Some(first) = sites.first() else {
            return (breaker, Vec::new());
        };
        let functions = self
            .functions
            .get_or_insert(first.name, || Functions::new(ruling));
        let conflicts = functions.join(name, sites);
        (breaker, conflicts)
    }

    /// Only of one without functions.
    pub(super) fn remove(&mut self, name: &str) -> Option<CircuitBreaker> {
        self.breakers.take(name).map(|named| named.0)
    }
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
