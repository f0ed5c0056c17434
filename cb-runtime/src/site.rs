//! The static that each annotated function owns: its name and settings, and, once it was called,
//! its breaker.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use once_cell::race::OnceRef;
use once_cell::sync::OnceCell;

use crate::breaker::CircuitBreaker;
use crate::config::Config;
use crate::function::{FallbackOn, FunctionSettings, Place};
use crate::keys::Keys;
use crate::outcome::OnCancel;

/// The statics refer to it: the compiler examines each field of each static's value.
static NOTHING: Config = Config::new();

/// To the next function of a list. `OnceRef` pairs the release of `set` with the acquire of `get`.
pub(crate) type Link = OnceRef<'static, Site>;

/// One annotated function.
pub struct Site {
    pub(crate) name: &'static str,
    pub(crate) base: Option<&'static str>,
    pub(crate) config: &'static Config,
    pub(crate) place: Place,
    pub(crate) function: FunctionSettings,
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
        let here = Location::caller();
        Self {
            name,
            base: None,
            config: &NOTHING,
            place: Place {
                module,
                line: here.line(),
                file: here.file(),
            },
            function: FunctionSettings {
                timeout: None,
                half_open_timeout: None,
                on_cancel: None,
                max_keys: None,
                fallback: None,
            },
            breaker: OnceCell::new(),
            keys: OnceCell::new(),
            next: Link::new(),
        }
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

    /// After how long a call is dropped.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.function.timeout = Some(timeout);
        self
    }

    /// After how long a probe is dropped.
    #[must_use]
    pub const fn half_open_timeout(mut self, timeout: Duration) -> Self {
        self.function.half_open_timeout = Some(timeout);
        self
    }

    /// What becomes of dropped calls of this function.
    #[must_use]
    pub const fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.function.on_cancel = Some(on_cancel);
        self
    }

    /// A breaker for each key, of so many.
    #[must_use]
    pub const fn max_keys(mut self, max_keys: u32) -> Self {
        self.function.max_keys = Some(max_keys);
        self
    }

    /// There is a fallback.
    #[must_use]
    pub const fn fallback(mut self, on: FallbackOn) -> Self {
        self.function.fallback = Some(on);
        self
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
