//! How breakers get into a registry: for annotated functions, for their keys, and by code.

use std::sync::Arc;
use std::time::Duration;

use super::entry::{Entry, Functions, KeyedEntry, ruling};
use super::{Registry, read, write};
use crate::breaker::{CircuitBreaker, Surroundings};
use crate::config::{Config, limits};
use crate::conflict::{Conflict, ConflictKind};
use crate::error::Name;
use crate::event::{Event, EventKind};
use crate::keys::Keys;
use crate::layers::{Layer, Layers};
use crate::site::{self, Site};
use crate::sync::lock;

impl Registry {
    /// The breaker of an annotated function without a key.
    pub(crate) fn at_site(&self, site: &'static Site) -> CircuitBreaker {
        let known = read(&self.shared.entries)
            .get(site.name)
            .and_then(|entry| entry.functions.know(site).then(|| entry.breaker.clone()));
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
        let sites = site::announced(name).iter().copied();
        sites.filter(|site| site.is_keyed() == keyed).collect()
    }

    pub(super) fn make_for_sites(
        &self,
        name: &'static str,
        sites: &[&'static Site],
    ) -> CircuitBreaker {
        let layers = self.layers_of(name, ruling(sites));
        self.report_mixture(name);
        self.make_unless_there(Name::Static(name), layers, sites)
    }

    pub(super) fn make(&self, name: &str, layers: Vec<(Layer, Config)>) -> CircuitBreaker {
        self.make_unless_there(Name::Shared(name.into()), layers, &[])
    }

    fn make_unless_there(
        &self,
        name: Name,
        layers: Vec<(Layer, Config)>,
        sites: &[&'static Site],
    ) -> CircuitBreaker {
        let (merged, mut conflicts) = self.merge(name.as_str(), &layers, sites);
        let breaker = {
            let mut entries = write(&self.shared.entries);
            let text = name.as_str().to_owned();
            let entry = entries.entry(text.clone()).or_insert_with(|| Entry {
                breaker: CircuitBreaker::new(name, merged, self.surroundings()),
                functions: Functions::new(ruling(sites)),
            });
            conflicts.extend(entry.functions.join(&text, sites));
            entry.breaker.clone()
        };
        self.report_all(conflicts);
        breaker
    }

    pub(super) fn make_keys(&self, name: &'static str, sites: &[&'static Site]) -> Arc<Keys> {
        let layers = self.layers_of(name, ruling(sites));
        self.report_mixture(name);
        let (merged, mut conflicts) = self.merge(name, &layers, sites);
        let max = sites.iter().filter_map(|site| site.function.max_keys).max();
        let max = max.unwrap_or(limits::DEFAULT_MAX_KEYS);
        let keys = {
            let mut keyed = write(&self.shared.keyed);
            let entry = keyed.entry(name).or_insert_with(|| KeyedEntry {
                keys: Arc::new(Keys::new(name, merged, max, self.surroundings())),
                functions: Functions::new(ruling(sites)),
            });
            conflicts.extend(entry.functions.join(name, sites));
            Arc::clone(&entry.keys)
        };
        self.report_all(conflicts);
        keys
    }

    fn layers_of(&self, name: &str, ruling: Option<&'static Site>) -> Vec<(Layer, Config)> {
        let mut layers = Vec::new();
        if let Some(site) = ruling {
            layers.extend(site.base.map(|base| self.template_layer(name, base)));
            layers.push((Layer::Attribute, site.config.clone()));
        }
        layers
    }

    fn merge(
        &self,
        name: &str,
        layers: &[(Layer, Config)],
        sites: &[&'static Site],
    ) -> (Arc<Layers>, Vec<Conflict>) {
        let timeout: Option<Duration> = sites.iter().filter_map(|site| site.function.timeout).max();
        let (merged, left_out) = Layers::merge(self.with_default(layers), timeout);
        let left_out = left_out
            .into_iter()
            .map(|left| Conflict::left_out(name, left));
        (Arc::new(merged), left_out.collect())
    }

    fn report_mixture(&self, name: &str) {
        let (keyed, bare) = (self.announced(name, true), self.announced(name, false));
        if let (Some(keyed), Some(other)) = (keyed.first(), bare.first()) {
            let (keyed, other) = (keyed.place, other.place);
            self.report(Conflict::new(
                name,
                ConflictKind::KeyedAndNot { keyed, other },
            ));
        }
    }

    /// Listeners may use the registry, so not under its lock.
    fn report_all(&self, conflicts: Vec<Conflict>) {
        conflicts
            .into_iter()
            .for_each(|conflict| self.report(conflict));
    }

    pub(super) fn surroundings(&self) -> Surroundings {
        Surroundings {
            clock: self.shared.clock.clone(),
            hub: Arc::clone(&self.shared.hub),
            #[cfg(feature = "tokio")]
            timer: Arc::clone(&self.shared.timer),
        }
    }

    pub(super) fn with_default(&self, layers: &[(Layer, Config)]) -> Vec<(Layer, Config)> {
        let default = read(&self.shared.default).clone();
        std::iter::once((Layer::Default, default))
            .chain(layers.iter().cloned())
            .collect()
    }

    pub(super) fn template_layer(&self, breaker: &str, template: &str) -> (Layer, Config) {
        let config = self.template(template).unwrap_or_else(|| {
            self.report(Conflict {
                breaker: breaker.to_owned(),
                kind: ConflictKind::MissingTemplate(template.to_owned()),
            });
            Config::new()
        });
        (Layer::Template(template.to_owned()), config)
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
            breaker: Name::Shared(conflict.breaker.as_str().into()),
            at: self.shared.clock.elapsed(),
            generation: 0,
            kind: EventKind::Conflict(conflict),
            figures: None,
        });
    }
}
