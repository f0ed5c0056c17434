//! Breakers by name, the defaults and templates they are made from, and what was found wrong.

mod changing;
mod entry;
#[cfg(feature = "metrics")]
mod exported;
#[cfg(feature = "config-file")]
mod file;
mod making;
mod sources;
mod suspending;
#[cfg(feature = "tokio")]
pub(crate) mod timed;

use std::fmt;
use std::sync::{Arc, PoisonError};

use once_cell::sync::Lazy;

use crate::announced;
use crate::breaker::{CircuitBreaker, Inner};
use crate::clock::Clock;
use crate::config::Config;
use crate::conflict::{Conflict, ConflictKind};
use crate::error::ConfigError;
use crate::event::{Event, Interest};
use crate::few::Few;
use crate::keys::{KeyFigures, Keys};
use crate::layers::Layer;
use crate::listeners::{Hub, Subscription};
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard, lock};

use entry::{Entries, KeyedEntry};
#[cfg(feature = "metrics")]
pub(crate) use exported::WeakRegistry;
use sources::Sources;
use suspending::Suspensions;

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
    entries: RwLock<Entries>,
    keyed: RwLock<Few<&'static str, KeyedEntry>>,
    sources: RwLock<Sources>,
    /// Held by who changes the sources, until all breakers have followed.
    changing: Mutex<Suspensions>,
    conflicts: Mutex<Vec<Conflict>>,
    hub: Arc<Hub>,
    #[cfg(feature = "metrics")]
    exporters: Mutex<Vec<Arc<crate::metrics::Attached>>>,
}

#[cfg(feature = "tokio")]
impl Drop for Shared {
    fn drop(&mut self) {
        // Lets the timer see that there is nothing left to do.
        self.hub.bell.ring();
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
        Self {
            shared: Arc::new(Shared {
                clock,
                announced,
                entries: RwLock::default(),
                keyed: RwLock::default(),
                sources: RwLock::new(Sources::new()),
                changing: Mutex::default(),
                conflicts: Mutex::default(),
                hub: Arc::default(),
                #[cfg(feature = "metrics")]
                exporters: Mutex::default(),
            }),
        }
    }

    /// The clock of all breakers in this registry.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.shared.clock.clone()
    }

    /// The breaker of this name: one that was made before, or an annotated function's. For one of
    /// many, of a function with a `key`, the name is `name[key]`; see also
    /// [`keyed`](Self::keyed).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<CircuitBreaker> {
        let made = read(&self.shared.entries).get(name).cloned();
        let made = made.or_else(|| {
            let sites = self.announced(name, false);
            let first = sites.first()?;
            Some(self.make_for_sites(first.name, &sites))
        });
        made.or_else(|| self.of_key(name).and_then(|(keys, key)| keys.get(key)))
    }

    /// The breaker that a function with a `key` has for this key, if it was called with it.
    ///
    /// ```
    /// use cb_runtime::{CallError, State, circuit_breaker};
    ///
    /// #[circuit_breaker(name = "shard.read", key = shard)]
    /// fn read(shard: u32) -> Result<(), CallError<&'static str>> {
    ///     if shard == 7 { Err(CallError::Failed("unreachable")) } else { Ok(()) }
    /// }
    ///
    /// for shard in [1, 7].repeat(10) {
    ///     let _ = read(shard);
    /// }
    /// let registry = cb_runtime::registry();
    /// assert_eq!(registry.keyed("shard.read", "7").unwrap().state(), State::Open);
    /// assert_eq!(registry.keyed("shard.read", "1").unwrap().state(), State::Closed);
    /// assert!(registry.keyed("shard.read", "2").is_none());
    /// ```
    #[must_use]
    pub fn keyed(&self, name: &str, key: &str) -> Option<CircuitBreaker> {
        self.keys(name)?.get(key)
    }

    /// How many breakers a name with a `key` has; `None` if no function with a `key` and this
    /// name was called.
    #[must_use]
    pub fn key_figures(&self, name: &str) -> Option<KeyFigures> {
        Some(self.keys(name)?.figures())
    }

    fn keys(&self, name: &str) -> Option<Arc<Keys>> {
        read(&self.shared.keyed)
            .get(name)
            .map(|entry| Arc::clone(&entry.keys))
    }

    /// Takes `name[key]` apart, if there is such a name with keys. A name may have brackets too.
    fn of_key<'a>(&self, full: &'a str) -> Option<(Arc<Keys>, &'a str)> {
        let inner = full.strip_suffix(']')?;
        // Through the names, which are few, rather than through the brackets: the text may come from
        // a request and hold nothing but those.
        let keyed = read(&self.shared.keyed);
        let keys_and_key = keyed.iter().filter_map(|(name, entry)| {
            let key = inner.strip_prefix(name)?.strip_prefix('[')?;
            Some((&entry.keys, key))
        });
        // The shortest name.
        let (keys, key) = keys_and_key.max_by_key(|(_, key)| key.len())?;
        Some((Arc::clone(keys), key))
    }

    /// The names that have a breaker for each key, with their figures.
    #[cfg(feature = "doctor")]
    pub(crate) fn key_names(&self) -> Vec<(&'static str, KeyFigures)> {
        let keyed = read(&self.shared.keyed);
        keyed
            .iter()
            .map(|(name, entry)| (*name, entry.keys.figures()))
            .collect()
    }

    pub(crate) fn owns(&self, breaker: &Inner) -> bool {
        breaker.events.are_told_to(&self.shared.hub)
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    fn make_all_announced(&self) {
        if self.shared.announced {
            announced::announced_names().for_each(|name| self.make_announced(name));
        }
    }

    /// Makes what the annotated functions of this name need.
    fn make_announced(&self, name: &str) {
        let _ = self.get(name);
        let keyed = self.announced(name, true);
        if let Some(first) = keyed.first() {
            self.make_keys(first.name, &keyed);
        }
    }

    /// The breakers that were made so far.
    fn made(&self) -> Vec<CircuitBreaker> {
        let mut made: Vec<_> = read(&self.shared.entries).all().cloned().collect();
        made.extend(
            read(&self.shared.keyed)
                .iter()
                .flat_map(|(_, entry)| entry.keys.all()),
        );
        made
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
            (Layer::Template(template.to_owned()), Config::new()),
            (Layer::Code, config.clone()),
        ];
        self.create_from_layers(name, layers)
    }

    fn create_from_layers(
        &self,
        name: &str,
        layers: Vec<(Layer, Config)>,
    ) -> Result<CircuitBreaker, ConfigError> {
        let wanted = write(&self.shared.sources).merge(name, &layers, None);
        let mut left_out = wanted.left_out.iter();
        let own = |layer: &Layer| matches!(layer, Layer::Template(_) | Layer::Code);
        if let Some((_, error)) = left_out.find(|(layer, _)| own(layer)) {
            return Err(error.clone());
        }
        let breaker = match self.get(name) {
            Some(breaker) => breaker,
            None => self.make(name, layers),
        };
        // Made before, or by another thread just now.
        if !breaker.inner.layers().agree_with(&wanted.layers) {
            self.report(Conflict::new(name, ConflictKind::AlreadyMade));
        }
        Ok(breaker)
    }

    /// Takes the breaker out of the registry and says whether there was one. Handles to it stay
    /// usable, and it is not listed any more.
    ///
    /// The breaker of an annotated function stays: it is reset and its listeners are dropped. A
    /// name with keys, or one of its keys, begins anew at the next call.
    pub fn remove(&self, name: &str) -> bool {
        if let Some(keys) = self.keys(name) {
            keys.clear();
            return true;
        }
        let owned = !self.announced(name, false).is_empty();
        let found = {
            let mut entries = write(&self.shared.entries);
            if owned || entries.has_functions(name) {
                entries.get(name).map(|breaker| (breaker.clone(), true))
            } else {
                entries.remove(name).map(|breaker| (breaker, false))
            }
        };
        match found {
            Some((breaker, true)) => {
                breaker.reset();
                breaker.inner.events.hub().clear();
                true
            }
            Some(_) => true,
            None if owned => true,
            None => self
                .of_key(name)
                .is_some_and(|(keys, key)| keys.remove(key)),
        }
    }

    /// All breakers, sorted by name, including those of annotated functions that were not called
    /// yet, and of every key that was.
    #[must_use]
    pub fn breakers(&self) -> Vec<CircuitBreaker> {
        self.make_all_announced();
        by_name(self.made())
    }

    /// The template of this name.
    #[must_use]
    pub fn template(&self, name: &str) -> Option<Config> {
        read(&self.shared.sources).template(name).cloned()
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
    /// [`CircuitBreaker::subscribe`] says; conflicts are told where they are found, beside them.
    pub fn subscribe(
        &self,
        interest: Interest,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.hub.subscribe(interest, listener)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("breakers", &by_name(self.made()))
            .finish_non_exhaustive()
    }
}

/// Sorted by name.
fn by_name(mut breakers: Vec<CircuitBreaker>) -> Vec<CircuitBreaker> {
    breakers.sort_by(|a, b| a.name().cmp(b.name()));
    breakers
}

/// Reads, also after a panic elsewhere: no user code runs under these locks.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
