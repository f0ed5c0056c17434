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
pub(crate) struct FunctionSettings {
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

/// What a fallback answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallbackOn {
    /// Rejections.
    Rejected,
    /// Rejections, timeouts and recorded failures.
    Failure,
}
