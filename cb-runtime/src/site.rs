//! The static that each annotated function owns: its name and settings, and, once it was called,
//! its breaker.

use std::panic::Location;
use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::breaker::CircuitBreaker;
use crate::config::Config;
use crate::function::{FallbackOn, FunctionSettings, Place};
use crate::keys::Keys;
use crate::sync::OnceRef;

// The statics of functions refer to these: the compiler examines each field of each static's value.
static NOTHING: Config = Config::new();
static UNANSWERED: FunctionSettings = FunctionSettings::new();
static ANSWERED: FunctionSettings = FunctionSettings::new().fallback(FallbackOn::Rejected);

/// To the next function of a list. `OnceRef` pairs the release of `set` with the acquire of `get`.
pub(crate) type Link = OnceRef<'static, Site>;

/// One annotated function.
pub struct Site {
    pub(crate) name: &'static str,
    module: &'static str,
    location: &'static Location<'static>,
    pub(crate) base: Option<&'static str>,
    pub(crate) config: &'static Config,
    pub(crate) function: &'static FunctionSettings,
    /// The breaker in the global registry. It stays there as long as the process runs.
    breaker: OnceCell<CircuitBreaker>,
    /// Or its breakers, if it has a key.
    keys: OnceCell<Arc<Keys>>,
    /// The next one in the list of all.
    pub(crate) next: Link,
}

impl Site {
    /// For a static inside the function, with nothing set: only what is written costs the compiler
    /// anything. File and line are the caller's.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str, module: &'static str) -> Self {
        Self {
            name,
            module,
            location: Location::caller(),
            base: None,
            config: &NOTHING,
            function: &UNANSWERED,
            breaker: OnceCell::new(),
            keys: OnceCell::new(),
            next: Link::new(),
        }
    }

    /// The same, with a fallback for rejections.
    #[must_use]
    #[track_caller]
    pub const fn answered(name: &'static str, module: &'static str) -> Self {
        let mut site = Self::new(name, module);
        site.function = &ANSWERED;
        site
    }

    /// The template that the breaker starts from.
    #[must_use]
    pub const fn base(mut self, base: &'static str) -> Self {
        self.base = Some(base);
        self
    }

    /// What belongs to the breaker.
    #[must_use]
    pub const fn config(mut self, config: &'static Config) -> Self {
        self.config = config;
        self
    }

    /// What belongs to the function.
    #[must_use]
    pub const fn function(mut self, function: &'static FunctionSettings) -> Self {
        self.function = function;
        self
    }

    /// Where it stands.
    pub(crate) const fn place(&self) -> Place {
        Place {
            module: self.module,
            line: self.location.line(),
            file: self.location.file(),
        }
    }

    /// The breaker in the global registry, once it is known.
    pub(crate) fn breaker(&'static self) -> &'static OnceCell<CircuitBreaker> {
        &self.breaker
    }

    /// The breakers in the global registry, once they are known.
    pub(crate) fn keys(&'static self) -> &'static OnceCell<Arc<Keys>> {
        &self.keys
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.function.max_keys.is_some()
    }

    /// Whether the function sets anything that belongs to its breaker.
    pub(crate) fn sets_policy(&self) -> bool {
        self.base.is_some() || !self.config.sets_no_policy()
    }

    /// Whether two functions want the same of their breaker.
    pub(crate) fn same_policy(&self, other: &Self) -> bool {
        let policy = |site: &Self| Config {
            on_cancel: None,
            ..site.config.clone()
        };
        self.base == other.base && policy(self) == policy(other)
    }
}
