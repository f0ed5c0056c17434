//! Other settings while the program runs.

use std::sync::Arc;

use super::sources::{Merged, Sources};
use super::{Registry, read, write};
use crate::breaker::CircuitBreaker;
use crate::config::Config;
use crate::conflict::{Conflict, ConflictKind};
use crate::error::ConfigError;
use crate::keys::Keys;
use crate::layers::{Layer, Layers};
use crate::sync::lock;

/// What has a configuration: a breaker, or those of all keys of a name.
#[derive(Clone)]
pub(super) enum Configured {
    Breaker(CircuitBreaker),
    Keys(Arc<Keys>),
}

impl Configured {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Breaker(breaker) => breaker.name(),
            Self::Keys(keys) => keys.name(),
        }
    }

    pub(super) fn layers(&self) -> Arc<Layers> {
        match self {
            Self::Breaker(breaker) => breaker.inner.layers(),
            Self::Keys(keys) => keys.layers(),
        }
    }

    fn apply(&self, layers: Arc<Layers>) {
        match self {
            Self::Breaker(breaker) => breaker.inner.reconfigure(layers),
            Self::Keys(keys) => keys.reconfigure(layers),
        }
    }

    fn announce(&self) {
        match self {
            Self::Breaker(breaker) => breaker.inner.announce(),
            Self::Keys(keys) => keys.all().iter().for_each(|one| one.inner.announce()),
        }
    }
}

/// What a change has led to, told when nothing is held: listeners may use the registry.
#[must_use]
pub(super) struct Aftermath {
    conflicts: Vec<Conflict>,
    changed: Vec<Configured>,
}

impl Aftermath {
    pub(super) fn tell(self, registry: &Registry) {
        self.changed.iter().for_each(Configured::announce);
        registry.report_all(self.conflicts);
    }
}

impl Registry {
    /// Changes the settings that this configuration chooses, on top of all other layers, of the
    /// breaker `name` or of all breakers of a name with a `key`, while it works. Replaces an earlier
    /// change of the name; a name that has no breaker yet starts with it.
    ///
    /// State, window and calls in flight stay. Limits apply from the next outcome on; a count window
    /// that is resized keeps the newest outcomes, one of another kind, length or number of buckets
    /// starts empty; an OPEN stay gets the new wait from its entry on, a HALF_OPEN stay ends under the
    /// settings it began with. `mode` matters for new breakers only. A breaker keeps the memory of each
    /// window that it has had, to use it again for one of the same kind and size.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cb_runtime::{Config, Registry};
    ///
    /// let registry = Registry::new();
    /// let breaker = registry.create("stock", &Config::new().min_calls(20))?;
    /// registry.configure("stock", Config::new().wait(Duration::from_secs(60)))?;
    /// let settings: Vec<_> = breaker.config().iter().map(ToString::to_string).collect();
    /// assert_eq!(settings, ["min_calls = 20 (code)", "wait = 60s (run-time change)"]);
    ///
    /// // Nothing changes if the whole would make no sense.
    /// let error = registry.configure("stock", Config::new().failure_rate(0.0)).unwrap_err();
    /// assert_eq!(error.field(), "failure_rate");
    /// registry.unconfigure("stock");
    /// assert_eq!(breaker.config().len(), 1);
    /// # Ok::<(), cb_runtime::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the breaker's configuration would make no sense; nothing changes then.
    pub fn configure(&self, name: &str, config: Config) -> Result<(), ConfigError> {
        self.make_announced(name);
        let aftermath = {
            let _turn = lock(&self.shared.changing);
            let targets = self.configured(|one| one == name);
            let mut sources = write(&self.shared.sources);
            let before = sources.changes.insert(name.to_owned(), config.clone());
            let refused = match targets.is_empty() {
                true => config.validate().err(),
                false => targets.iter().find_map(|target| {
                    let left_out = remerge(&mut sources, target).left_out;
                    let mut refused = left_out.into_iter();
                    refused.find_map(|(layer, error)| (layer == Layer::Runtime).then_some(error))
                }),
            };
            if let Some(error) = refused {
                match before {
                    Some(before) => sources.changes.insert(name.to_owned(), before),
                    None => sources.changes.remove(name),
                };
                return Err(error);
            }
            sources.version += 1;
            drop(sources);
            self.refresh(targets)
        };
        aftermath.tell(self);
        Ok(())
    }

    /// Takes back what [`configure`](Self::configure) has changed, and says whether that was
    /// anything.
    pub fn unconfigure(&self, name: &str) -> bool {
        self.change(
            |sources| sources.changes.remove(name).is_some(),
            |one| one == name,
        )
    }

    /// The names whose settings were changed while the program runs, each with the change; sorted.
    #[must_use]
    pub fn changes(&self) -> Vec<(String, Config)> {
        let changes = &read(&self.shared.sources).changes;
        let copy = |(name, config): (&String, &Config)| (name.clone(), config.clone());
        changes.iter().map(copy).collect()
    }

    /// The layer below all others. Breakers that exist are changed as
    /// [`configure`](Self::configure) says, where no later layer chooses otherwise. If that leaves one
    /// of their own layers at odds with it, that layer is left out and reported as a [`Conflict`].
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense on top of the built-in defaults; nothing changes then.
    pub fn set_default(&self, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        self.change(|sources| sources.default = config, |_| true);
        Ok(())
    }

    /// A named configuration to start from: the attribute's `base`, or
    /// [`create_from`](Self::create_from). `"resilience4j"` is there from the start. Breakers that
    /// exist and start from it are changed as [`configure`](Self::configure) says.
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense on top of the built-in defaults; nothing changes then.
    pub fn set_template(&self, name: &str, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        self.change(
            |sources| {
                sources.templates.insert(name.to_owned(), config);
            },
            |_| true,
        );
        Ok(())
    }

    /// Changes the sources, then all breakers that this makes a difference to.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Sources) -> T,
        concerned: impl Fn(&str) -> bool,
    ) -> T {
        let (answer, aftermath) = {
            let _turn = lock(&self.shared.changing);
            let answer = {
                let mut sources = write(&self.shared.sources);
                sources.version += 1;
                change(&mut sources)
            };
            (answer, self.refresh(self.configured(concerned)))
        };
        aftermath.tell(self);
        answer
    }

    /// Brings a breaker up to date that was made from layers of that version.
    pub(super) fn refresh_if_changed(&self, version: u64, made: Configured) {
        if read(&self.shared.sources).version != version {
            let (aftermath, changed) = {
                let mut suspended = lock(&self.shared.changing);
                let aftermath = self.refresh(vec![made.clone()]);
                (aftermath, self.follow_suspensions(&mut suspended, &made))
            };
            changed.iter().for_each(|breaker| breaker.inner.announce());
            aftermath.tell(self);
        }
    }

    /// The caller has its turn, so that of two changes the later one has the last word.
    pub(super) fn refresh(&self, targets: Vec<Configured>) -> Aftermath {
        let mut conflicts = Vec::new();
        for target in &targets {
            let merged = remerge(&mut write(&self.shared.sources), target);
            if !Arc::ptr_eq(&merged.layers, &target.layers()) {
                target.apply(Arc::clone(&merged.layers));
            }
            conflicts.extend(conflicts_of(target.name(), merged));
        }
        Aftermath {
            conflicts,
            changed: targets,
        }
    }

    pub(super) fn configured(&self, concerned: impl Fn(&str) -> bool) -> Vec<Configured> {
        let mut all = Vec::new();
        for breaker in read(&self.shared.entries).all() {
            if concerned(breaker.name()) {
                all.push(Configured::Breaker(breaker.clone()));
            }
        }
        for (name, entry) in read(&self.shared.keyed).iter() {
            if concerned(name) {
                all.push(Configured::Keys(Arc::clone(&entry.keys)));
            }
        }
        all
    }
}

fn remerge(sources: &mut Sources, target: &Configured) -> Merged {
    let layers = target.layers();
    sources.merge(target.name(), &layers.own(), layers.timeout())
}

/// What is to be reported about merged layers.
pub(super) fn conflicts_of(name: &str, merged: Merged) -> Vec<Conflict> {
    let missing = merged.missing_template.map(ConflictKind::MissingTemplate);
    let missing = missing.map(|kind| Conflict::new(name, kind));
    let left_out = merged.left_out.into_iter();
    missing
        .into_iter()
        .chain(left_out.map(|left| Conflict::left_out(name, left)))
        .collect()
}
