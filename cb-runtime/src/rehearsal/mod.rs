//! A candidate configuration beside the one in force, on the same outcomes, deciding nothing.

mod report;
mod shadow;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::breaker::CircuitBreaker;
use crate::config::{Config, Mode, resolve};
use crate::error::ConfigError;
use crate::event::Interest;
use crate::explain::Explanation;
use crate::listeners::Subscription;
use crate::registry::Registry;
use crate::sync::{Mutex, lock};

pub use report::{ActiveTotals, RehearsalReport, WouldHaveRejected, WouldOpen};
use shadow::Shadow;

/// A configuration that is tried on the outcomes of a working breaker, until this is dropped.
///
/// A second breaker, which nobody else sees, takes the outcomes as the active one publishes them, and
/// goes by the candidate. A call is looked at when it ends, for the state that the candidate was in when
/// it began:
///
/// - The candidate CLOSED: recorded.
/// - OPEN, before its wait was over: it would have been rejected. It is counted as such, with how it
///   really ended, and acts as nothing.
/// - OPEN after that, or HALF_OPEN: one of its probes, up to as many as it permits.
///
/// What cannot be known: while the active breaker rejects calls there are no outcomes, and the candidate
/// learns nothing; the report says how many those were. So rehearse on a breaker that is CLOSED, or in
/// METRICS_ONLY, which rejects nothing. Calls that were under way when the rehearsal began are left out,
/// as are calls that were dropped before they were slow by the active breaker's limit. A wait is the
/// computed one, without `retry_after`. `count_running` and `mode` of the candidate do not matter.
/// Settings that change meanwhile do not reach the candidate; `Registry::remove` ends what it hears.
///
/// While it runs, each call of this breaker costs an event and the decision of a second breaker, for which
/// callers take turns: microseconds, where a call otherwise costs nanoseconds. Without a rehearsal it costs
/// nothing.
#[must_use = "the rehearsal ends when this is dropped"]
pub struct Rehearsal {
    active: CircuitBreaker,
    shadow: Arc<Mutex<Shadow>>,
    _subscription: Subscription,
}

impl Registry {
    /// Tries a configuration on live outcomes: what the breaker `name` would do if
    /// [`configure`](Self::configure) were given the candidate, on top of all its layers as they are
    /// now. Decides nothing and changes nothing.
    ///
    /// ```
    /// use cb_runtime::{Config, Registry, State};
    ///
    /// let registry = Registry::new();
    /// let breaker = registry.get_or_create("stock");
    /// let strict = registry.rehearse("stock", &Config::new().consecutive_failures(2))?;
    /// for _ in 0..5 {
    ///     let _ = breaker.call(|| Err::<(), _>("connection refused"));
    /// }
    /// assert_eq!(breaker.state(), State::Closed);
    /// let report = strict.report();
    /// assert_eq!((report.opened, report.rejected.failed), (1, 3));
    /// println!("{report}");
    /// # Ok::<(), cb_runtime::RehearsalError>(())
    /// ```
    ///
    /// For one of many, of a function with a `key`, the name is `name[key]`.
    ///
    /// # Errors
    ///
    /// If there is no such breaker, or its configuration would make no sense with the candidate.
    pub fn rehearse(&self, name: &str, candidate: &Config) -> Result<Rehearsal, RehearsalError> {
        let Some(active) = self.get(name) else {
            return Err(RehearsalError::NoSuchBreaker(name.to_owned()));
        };
        let layers = active.inner.layers();
        let config = layers.merged().overlay(candidate);
        resolve(&config, layers.timeout())?;
        // An active breaker in METRICS_ONLY is the best one to rehearse on, but the candidate is to open.
        let config = config.mode(Mode::Enabled).count_running(false);
        let shadow = Shadow::new(&active, config, layers.timeout());
        let shadow = Arc::new(Mutex::new(shadow));
        let fed = Arc::clone(&shadow);
        // Not under the shadow's lock: a call that ends now is delivered by its own thread.
        let subscription = active.subscribe(Interest::ALL, move |event| lock(&fed).hear(event));
        Ok(Rehearsal {
            active,
            shadow,
            _subscription: subscription,
        })
    }
}

impl Rehearsal {
    /// What the candidate would have done since the rehearsal began.
    #[must_use]
    pub fn report(&self) -> RehearsalReport {
        let now = self.active.inner.clock.elapsed();
        let snapshot = self.active.snapshot();
        lock(&self.shadow).report(&snapshot, now)
    }

    /// In words, why the candidate would be in the state it would be in now.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        let now = self.active.inner.clock.elapsed();
        lock(&self.shadow).explain(now)
    }

    /// The name of the breaker.
    #[must_use]
    pub fn breaker(&self) -> &str {
        self.active.name()
    }
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal")
            .field("breaker", &self.breaker())
            .finish_non_exhaustive()
    }
}

/// Why there is no rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RehearsalError {
    /// There is no breaker of this name.
    NoSuchBreaker(String),
    /// With the candidate the breaker's configuration would make no sense.
    Config(ConfigError),
}

impl From<ConfigError> for RehearsalError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl fmt::Display for RehearsalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchBreaker(name) => write!(f, "there is no circuit breaker `{name}`"),
            Self::Config(_) => f.write_str("the candidate makes no sense"),
        }
    }
}

impl Error for RehearsalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoSuchBreaker(_) => None,
            Self::Config(error) => Some(error),
        }
    }
}
