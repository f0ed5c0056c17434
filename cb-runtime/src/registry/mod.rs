//! Breakers by name, the defaults and templates they are made from, and what was found wrong.

mod entry;
#[cfg(feature = "tokio")]
pub(crate) mod timed;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use once_cell::sync::Lazy;

use crate::breaker::{CircuitBreaker, Surroundings};
use crate::clock::Clock;
use crate::config::Config;
use crate::conflict::{Conflict, ConflictKind};
use crate::error::{ConfigError, Name};
use crate::event::{Event, EventKind, Interest};
use crate::layers::{Layer, Layers};
use crate::listeners::{Hub, Subscription};
use crate::site::{self, Site};
use crate::state::State;
use crate::sync::{Mutex, lock};

use entry::Entry;

static GLOBAL: Lazy<Registry> = Lazy::new(|| Registry::build(Clock::system(), true));

/// The registry of the process, whatever scope this is.
pub(crate) fn global() -> &'static Registry {
    &GLOBAL
}

/// Circuit breakers by name, with the configuration they are made from. Clones are handles to the
/// same one.
///
/// Every annotated function's breaker is in the registry of the process from the start of the
/// program: it is made when somebody first asks for it or calls the function.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Clock,
    /// Whether the breakers of annotated functions belong here.
    announced: bool,
    entries: RwLock<HashMap<String, Entry>>,
    default: RwLock<Config>,
    templates: RwLock<HashMap<String, Config>>,
    conflicts: Mutex<Vec<Conflict>>,
    hub: Arc<Hub>,
    #[cfg(feature = "tokio")]
    timer: Arc<tokio::sync::Notify>,
}

#[cfg(feature = "tokio")]
impl Drop for Shared {
    fn drop(&mut self) {
        // Lets the timer see that there is nothing left to do.
        self.timer.notify_one();
    }
}

impl Registry {
    /// An empty registry of its own, on the system's clock. Annotated functions do not use it.
    #[must_use]
    pub fn new() -> Self {
        Self::build(Clock::system(), false)
    }

    /// An empty registry of its own, on this clock.
    ///
    /// ```
    /// use cb_runtime::{Registry, testing::TestClock};
    ///
    /// let clock = TestClock::new();
    /// let registry = Registry::with_clock(&clock);
    /// ```
    #[must_use]
    pub fn with_clock(clock: impl Into<Clock>) -> Self {
        Self::build(clock.into(), false)
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn timed(&self) -> timed::Registry {
        timed::Registry::new(&self.shared)
    }

    pub(crate) fn build(clock: Clock, announced: bool) -> Self {
        let templates = HashMap::from([("resilience4j".to_owned(), Config::resilience4j())]);
        Self {
            shared: Arc::new(Shared {
                clock,
                announced,
                entries: RwLock::default(),
                default: RwLock::default(),
                templates: RwLock::new(templates),
                conflicts: Mutex::default(),
                hub: Arc::default(),
                #[cfg(feature = "tokio")]
                timer: Arc::default(),
            }),
        }
    }

    /// The clock of all breakers in this registry.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock.clone()
    }

    /// The breaker of this name: one that was made before, or an annotated function's.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<CircuitBreaker> {
        let made = read(&self.shared.entries)
            .get(name)
            .map(|entry| entry.breaker.clone());
        made.or_else(|| {
            let sites = self.announced(name);
            (!sites.is_empty()).then(|| self.make_for_sites(sites[0].name, sites))
        })
    }

    /// The breaker of this name, made from the registry's default if there is none.
    pub fn get_or_create(&self, name: &str) -> CircuitBreaker {
        self.get(name)
            .unwrap_or_else(|| self.make(name, Vec::new()))
    }

    /// The breaker of this name, made from this configuration on top of the registry's default if
    /// there is none. One that exists keeps its own; if that differs, it is reported as a
    /// [`Conflict`].
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense; no breaker is made then.
    pub fn create(&self, name: &str, config: &Config) -> Result<CircuitBreaker, ConfigError> {
        self.create_from_layers(name, vec![(Layer::Code, config.clone())])
    }

    /// The same as [`create`](Self::create), with a template below the configuration. A template
    /// that does not exist counts as empty, and is reported as a [`Conflict`].
    ///
    /// # Errors
    ///
    /// If the configuration, or the template, makes no sense; no breaker is made then.
    pub fn create_from(
        &self,
        name: &str,
        template: &str,
        config: &Config,
    ) -> Result<CircuitBreaker, ConfigError> {
        let layers = vec![
            self.template_layer(name, template),
            (Layer::Code, config.clone()),
        ];
        self.create_from_layers(name, layers)
    }

    fn create_from_layers(
        &self,
        name: &str,
        layers: Vec<(Layer, Config)>,
    ) -> Result<CircuitBreaker, ConfigError> {
        let merged = Layers::merge(self.with_default(&layers), None);
        if let Some((_, error)) = merged
            .1
            .into_iter()
            .find(|(layer, _)| *layer != Layer::Default)
        {
            return Err(error);
        }
        if let Some(breaker) = self.get(name) {
            if *breaker.inner.layers().settings() != *merged.0.settings() {
                self.report(Conflict::new(name, ConflictKind::AlreadyMade));
            }
            return Ok(breaker);
        }
        Ok(self.make(name, layers))
    }

    /// Takes the breaker out of the registry and says whether there was one. Handles to it stay
    /// usable, and it is not listed any more.
    ///
    /// The breaker of an annotated function stays: it is reset and its listeners are dropped.
    pub fn remove(&self, name: &str) -> bool {
        let owned = !self.announced(name).is_empty();
        let found = {
            let mut entries = write(&self.shared.entries);
            match entries.get(name) {
                Some(entry) if owned || !entry.known.is_empty() => {
                    Some((entry.breaker.clone(), true))
                }
                Some(_) => entries.remove(name).map(|entry| (entry.breaker, false)),
                None => None,
            }
        };
        if let Some((breaker, true)) = &found {
            breaker.reset();
            breaker.inner.events.hub().clear();
        }
        found.is_some()
    }

    /// All breakers, sorted by name, including those of annotated functions that were not called
    /// yet.
    #[must_use]
    pub fn breakers(&self) -> Vec<CircuitBreaker> {
        let mut names: BTreeSet<String> = read(&self.shared.entries).keys().cloned().collect();
        if self.shared.announced {
            names.extend(site::announced_names().map(str::to_owned));
        }
        names.iter().filter_map(|name| self.get(name)).collect()
    }

    /// The layer below all others, for breakers made from now on. Call it early: those that exist
    /// keep what they have.
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense on top of the built-in defaults; nothing changes then.
    pub fn set_default(&self, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        *write(&self.shared.default) = config;
        Ok(())
    }

    /// A named configuration to start from, for breakers made from now on: the attribute's
    /// `base`, or [`create_from`](Self::create_from). `"resilience4j"` is there from the start.
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense on top of the built-in defaults; nothing changes then.
    pub fn set_template(&self, name: &str, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        write(&self.shared.templates).insert(name.to_owned(), config);
        Ok(())
    }

    /// The template of this name.
    pub fn template(&self, name: &str) -> Option<Config> {
        read(&self.shared.templates).get(name).cloned()
    }

    /// What was found wrong with the configurations of this registry's breakers, in the order in
    /// which it was found. Each conflict is also published as an event and written once to
    /// standard error.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        // Those of functions that were not called yet come to light when their breakers are made.
        let _ = self.breakers();
        lock(&self.shared.conflicts).clone()
    }

    /// Calls `listener` with every event of the interest, of all breakers, also of those made
    /// later. For one breaker the events come in order, as
    /// [`CircuitBreaker::subscribe`] says.
    pub fn subscribe(
        &self,
        interest: Interest,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.hub.subscribe(interest, listener)
    }

    /// The breaker of an annotated function.
    pub(crate) fn at_site(&self, site: &'static Site) -> CircuitBreaker {
        let known = read(&self.shared.entries).get(site.name).and_then(|entry| {
            let known = entry.known.iter().any(|one| std::ptr::eq(*one, site));
            known.then(|| entry.breaker.clone())
        });
        known.unwrap_or_else(|| {
            let announced = self.announced(site.name);
            if announced.iter().any(|one| std::ptr::eq(*one, site)) {
                self.make_for_sites(site.name, announced)
            } else {
                // The linker has left it out of the list.
                let mut sites = announced.to_vec();
                sites.push(site);
                self.make_for_sites(site.name, &sites)
            }
        })
    }

    /// The breaker of these functions, which are in the order in which they rule.
    fn make_for_sites(&self, name: &'static str, sites: &[&'static Site]) -> CircuitBreaker {
        let ruling = sites.iter().copied().find(|site| site.sets_policy());
        let ruling = ruling.or(sites.first().copied());
        let mut layers = Vec::new();
        if let Some(site) = ruling {
            layers.extend(site.base.map(|base| self.template_layer(name, base)));
            layers.push((Layer::Attribute, site.config.clone()));
        }
        self.make_unless_there(Name::Static(name), layers, ruling, sites)
    }

    fn make(&self, name: &str, layers: Vec<(Layer, Config)>) -> CircuitBreaker {
        self.make_unless_there(Name::Shared(name.into()), layers, None, &[])
    }

    fn make_unless_there(
        &self,
        name: Name,
        layers: Vec<(Layer, Config)>,
        ruling: Option<&'static Site>,
        sites: &[&'static Site],
    ) -> CircuitBreaker {
        let timeout = sites.iter().filter_map(|site| site.function.timeout).max();
        let (merged, left_out) = Layers::merge(self.with_default(&layers), timeout);
        let mut conflicts = Vec::new();
        let breaker = {
            let mut entries = write(&self.shared.entries);
            let entry = entries.entry(name.as_str().to_owned()).or_insert_with(|| {
                let left_out = left_out.into_iter();
                conflicts.extend(left_out.map(|left| Conflict::left_out(name.as_str(), left)));
                let breaker = CircuitBreaker::new(name, merged, self.surroundings());
                Entry {
                    breaker,
                    ruling,
                    known: Vec::new(),
                }
            });
            conflicts.extend(entry.join(sites));
            entry.breaker.clone()
        };
        // Listeners may use the registry, so not under its lock.
        conflicts
            .into_iter()
            .for_each(|conflict| self.report(conflict));
        breaker
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            clock: self.shared.clock.clone(),
            hub: Arc::clone(&self.shared.hub),
            #[cfg(feature = "tokio")]
            timer: Arc::clone(&self.shared.timer),
        }
    }

    fn announced(&self, name: &str) -> &'static [&'static Site] {
        if self.shared.announced {
            site::announced(name)
        } else {
            &[]
        }
    }

    fn with_default(&self, layers: &[(Layer, Config)]) -> Vec<(Layer, Config)> {
        let default = read(&self.shared.default).clone();
        std::iter::once((Layer::Default, default))
            .chain(layers.iter().cloned())
            .collect()
    }

    fn template_layer(&self, breaker: &str, template: &str) -> (Layer, Config) {
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
    fn report(&self, conflict: Conflict) {
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
        });
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Listeners may hear of a transition that reading the state applies, so not under the lock.
        let breakers: Vec<_> = read(&self.shared.entries)
            .values()
            .map(|entry| entry.breaker.clone())
            .collect();
        let states: BTreeMap<&str, State> = breakers
            .iter()
            .map(|breaker| (breaker.name(), breaker.state()))
            .collect();
        f.debug_struct("Registry")
            .field("breakers", &states)
            .finish_non_exhaustive()
    }
}

/// Reads, also after a panic elsewhere: no user code runs under these locks.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
