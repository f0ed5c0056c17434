//! The static that each annotated function owns: its name and settings, and, once it was called,
//! its breaker.

use std::panic::Location;
use std::sync::Arc;

use once_cell::race;

use crate::breaker::{CircuitBreaker, Inner};
use crate::config::Config;
use crate::function::{FallbackOn, FunctionSettings, Place};
use crate::keys::Keys;
use crate::sync::OnceRef;
use crate::sync::plain::{Mutex, lock};

// The compiler evaluates and examines each field of each function's static. So what is mostly unset
// is behind references to these, and what is found out at run time behind single words.
static NOTHING: Config = Config::new();
static UNANSWERED: FunctionSettings = FunctionSettings::new();
static ANSWERED: FunctionSettings = FunctionSettings::new().fallback(FallbackOn::Rejected);

/// To the next function of a list. `OnceRef` pairs the release of `set` with the acquire of `get`.
pub(crate) type Link = OnceRef<'static, Site>;

/// Held while the first call of a function leaves its breaker there, so that only one is leaked.
static FIRST: Mutex<()> = Mutex::new(());

// To be copied. Evaluated once, where a call would be evaluated for every function.
#[allow(clippy::declare_interior_mutable_const)]
const NO_BREAKER: race::OnceRef<'static, Inner> = race::OnceRef::new();
#[allow(clippy::declare_interior_mutable_const)]
const NO_KEYS: race::OnceRef<'static, Keys> = race::OnceRef::new();
#[allow(clippy::declare_interior_mutable_const)]
const LAST: Link = Link::new();

/// One annotated function.
pub struct Site {
    pub(crate) name: &'static str,
    module: &'static str,
    location: &'static Location<'static>,
    pub(crate) base: Option<&'static str>,
    pub(crate) config: &'static Config,
    pub(crate) function: &'static FunctionSettings,
    /// The breaker in the global registry. It stays there as long as the process runs. Paired as
    /// [`Link`] is.
    breaker: race::OnceRef<'static, Inner>,
    /// Or its breakers, if it has a key.
    keys: race::OnceRef<'static, Keys>,
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
            breaker: NO_BREAKER,
            keys: NO_KEYS,
            next: LAST,
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
    #[inline]
    pub(crate) fn breaker(&self) -> Option<&'static Inner> {
        self.breaker.get()
    }

    /// The breaker in the global registry is `found`, unless it is known already.
    pub(crate) fn is_guarded_by(&self, found: CircuitBreaker) -> &'static Inner {
        known(&self.breaker, || &Box::leak(Box::new(found)).inner)
    }

    /// The breakers in the global registry, once they are known.
    pub(crate) fn keys(&self) -> Option<&'static Keys> {
        self.keys.get()
    }

    /// The breakers in the global registry are `found`, unless they are known already.
    pub(crate) fn has_keys(&self, found: Arc<Keys>) -> &'static Keys {
        known(&self.keys, || Box::leak(Box::new(found)))
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

/// What is in `cell`; `leaked` if it is empty.
fn known<T>(cell: &race::OnceRef<'static, T>, leaked: impl FnOnce() -> &'static T) -> &'static T {
    let _alone = lock(&FIRST);
    cell.get_or_init(leaked)
}
