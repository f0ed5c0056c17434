//! What is known of an annotated function besides its breaker.

use std::fmt;
use std::time::Duration;

use crate::outcome::OnCancel;

/// Where an annotated function stands. In the order of module and line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Place {
    /// The path of its module.
    pub module: &'static str,
    /// Its line.
    pub line: u32,
    /// Its file.
    pub file: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} (in {})", self.file, self.line, self.module)
    }
}

/// What belongs to one function rather than to its breaker.
#[derive(Clone, Copy)]
pub struct FunctionSettings {
    /// The call is dropped when it has run for so long.
    pub(crate) timeout: Option<Duration>,
    /// The same for probes.
    pub(crate) half_open_timeout: Option<Duration>,
    /// Wins over the breaker's.
    pub(crate) on_cancel: Option<OnCancel>,
    /// Whether there is a breaker for each value of a key, and of how many at the most.
    pub(crate) max_keys: Option<u32>,
    /// Whether a fallback answers rejections, and perhaps failures too.
    pub(crate) fallback: Option<FallbackOn>,
}

impl FunctionSettings {
    /// Nothing is set.
    #[must_use]
    #[allow(clippy::new_without_default)] // expansions only
    pub const fn new() -> Self {
        Self {
            timeout: None,
            half_open_timeout: None,
            on_cancel: None,
            max_keys: None,
            fallback: None,
        }
    }

    /// After how long a call is dropped.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// After how long a probe is dropped.
    #[must_use]
    pub const fn half_open_timeout(mut self, timeout: Duration) -> Self {
        self.half_open_timeout = Some(timeout);
        self
    }

    /// What becomes of dropped calls of this function.
    #[must_use]
    pub const fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.on_cancel = Some(on_cancel);
        self
    }

    /// A breaker for each key, of so many.
    #[must_use]
    pub const fn max_keys(mut self, max_keys: u32) -> Self {
        self.max_keys = Some(max_keys);
        self
    }

    /// There is a fallback.
    #[must_use]
    pub const fn fallback(mut self, on: FallbackOn) -> Self {
        self.fallback = Some(on);
        self
    }
}

/// What a fallback answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackOn {
    /// Rejections.
    Rejected,
    /// Rejections, timeouts and recorded failures.
    Failure,
}
