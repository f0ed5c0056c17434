//! How breakers get into a registry: for annotated functions, for their keys, and by code.

use std::sync::Arc;
use std::time::Duration;

use super::changing::{Configured, conflicts_of};
use super::entry::{Functions, KeyedEntry, ruling};
use super::sources::Merged;
use super::{Registry, read, write};
use crate::announced;
use crate::breaker::{CircuitBreaker, Surroundings};
use crate::config::{Config, limits};
use crate::conflict::{Conflict, ConflictKind};
use crate::event::{Event, EventKind};
use crate::keys::Keys;
use crate::layers::Layer;
use crate::name::Name;
use crate::site::Site;
use crate::sync::lock;

impl Registry {
    /// The breaker of an annotated function without a key.
    pub(crate) fn at_site(&self, site: &'static Site) -> CircuitBreaker {
        let known = read(&self.shared.entries).at_site(site).cloned();
        known.unwrap_or_else(|| self.make_for_sites(site.name, &self.functions(site)))
    }

    /// The breakers of an annotated function with a key.
    pub(crate) fn keys_at_site(&self, site: &'static Site) -> Arc<Keys> {
        let known = read(&self.shared.keyed)
            .get(site.name)
            .and_then(|entry| entry.functions.know(site).then(|| Arc::clone(&entry.keys)));
        known.unwrap_or_else(|| self.make_keys(site.name, &self.functions(site)))
    }

    /// The functions that share the breaker, or the breakers, of this one, in the order in which
    /// they rule.
    fn functions(&self, site: &'static Site) -> Vec<&'static Site> {
        let mut sites = self.announced(site.name, site.is_keyed());
        if !sites.iter().any(|one| std::ptr::eq(*one, site)) {
            // The linker has left it out of the list.
            sites.push(site);
        }
        sites
    }

    /// The announced functions of a name, with a key or without.
    pub(super) fn announced(&self, name: &str, keyed: bool) -> Vec<&'static Site> {
        if !self.shared.announced {
            return Vec::new();
        }
        let sites = announced::announced(name).into_iter();
        sites.filter(|site| site.is_keyed() == keyed).collect()
    }

    /// Whether the name has a breaker for each key, called so far or not.
    pub(crate) fn is_keyed_name(&self, name: &str) -> bool {
        self.key_figures(name).is_some() || !self.announced(name, true).is_empty()
    }

    pub(super) fn make_for_sites(
        &self,
        name: &'static str,
        sites: &[&'static Site],
    ) -> CircuitBreaker {
        let layers = self.layers_of(ruling(sites));
        self.report_mixture(name);
        self.make_unless_there(Name::literal(name), layers, sites)
    }

    pub(super) fn make(&self, name: &str, layers: Vec<(Layer, Config)>) -> CircuitBreaker {
        self.make_unless_there(Name::of(name), layers, &[])
    }

    fn make_unless_there(
        &self,
        name: Name,
        layers: Vec<(Layer, Config)>,
        sites: &[&'static Site],
    ) -> CircuitBreaker {
        let merged = self.merge(name.as_str(), &layers, sites);
        let version = merged.version;
        let (breaker, conflicts) = {
            let layers = Arc::clone(&merged.layers);
            let make = || CircuitBreaker::new(name.clone(), layers, self.surroundings());
            write(&self.shared.entries).join(name.as_str(), sites, make)
        };
        self.report_all(conflicts_of(breaker.name(), merged));
        self.report_all(conflicts);
        self.refresh_if_changed(version, Configured::Breaker(breaker.clone()));
        breaker
    }

    pub(super) fn make_keys(&self, name: &'static str, sites: &[&'static Site]) -> Arc<Keys> {
        let layers = self.layers_of(ruling(sites));
        self.report_mixture(name);
        let merged = self.merge(name, &layers, sites);
        let version = merged.version;
        let max = sites.iter().filter_map(|site| site.function.max_keys).max();
        let max = max.unwrap_or(limits::DEFAULT_MAX_KEYS);
        let (keys, conflicts) = {
            let mut keyed = write(&self.shared.keyed);
            let entry = keyed.get_or_insert(name, || {
                let layers = Arc::clone(&merged.layers);
                KeyedEntry {
                    keys: Arc::new(Keys::new(name, layers, max, self.surroundings())),
                    functions: Functions::new(ruling(sites)),
                }
            });
            let conflicts = entry.functions.join(name, sites);
            (Arc::clone(&entry.keys), conflicts)
        };
        self.report_all(conflicts_of(name, merged));
        self.report_all(conflicts);
        self.refresh_if_changed(version, Configured::Keys(Arc::clone(&keys)));
        keys
    }

    /// A function's own layers.
    pub(super) fn layers_of(&self, ruling: Option<&'static Site>) -> Vec<(Layer, Config)> {
        let mut layers = Vec::new();
        if let Some(site) = ruling {
            let template = site.base.map(|base| Layer::Template(base.to_owned()));
            layers.extend(template.map(|template| (template, Config::new())));
            layers.push((Layer::Attribute, site.config.clone()));
        }
        layers
    }

    fn merge(&self, name: &str, own: &[(Layer, Config)], sites: &[&'static Site]) -> Merged {
        let timeout: Option<Duration> = sites.iter().filter_map(|site| site.function.timeout).max();
        write(&self.shared.sources).merge(name, own, timeout)
    }

    fn report_mixture(&self, name: &str) {
        let (keyed, bare) = (self.announced(name, true), self.announced(name, false));
        if let (Some(keyed), Some(other)) = (keyed.first(), bare.first()) {
            let (keyed, other) = (keyed.place(), other.place());
            self.report(Conflict::new(
                name,
                ConflictKind::KeyedAndNot { keyed, other },
            ));
        }
    }

    /// Listeners may use the registry, so not under its lock.
    pub(super) fn report_all(&self, conflicts: Vec<Conflict>) {
        conflicts
            .into_iter()
            .for_each(|conflict| self.report(conflict));
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            clock: self.shared.clock.clone(),
            hub: Arc::clone(&self.shared.hub),
            shards: true,
        }
    }

    /// Each conflict once.
    pub(super) fn report(&self, conflict: Conflict) {
        {
            let mut conflicts = lock(&self.shared.conflicts);
            if conflicts.contains(&conflict) {
                return;
            }
            conflicts.push(conflict.clone());
        }
        crate::report::warn(&conflict.to_string());
        self.shared.hub.deliver(&Event {
            breaker: Name::of(&conflict.breaker),
            at: self.shared.clock.elapsed(),
            generation: 0,
            kind: EventKind::Conflict(conflict),
            figures: None,
        });
    }
}
