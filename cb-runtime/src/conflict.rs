//! What is wrong with a breaker's configuration.

use std::fmt;

use crate::error::ConfigError;
use crate::function::Place;
use crate::layers::{Layer, LeftOut};

/// Something wrong with the configuration of a breaker. The breaker works all the same: `Display`
/// says with what.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Conflict {
    /// The breaker's name.
    pub breaker: String,
    /// What is wrong.
    pub kind: ConflictKind,
}

/// What is wrong with a breaker's configuration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(
    feature = "serde",
    serde(tag = "type", content = "detail", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Two functions with this name set different policies. The first one, by module and line,
    /// rules.
    Policies {
        /// The function whose settings the breaker has.
        ruling: Place,
        /// The function whose settings it has not.
        other: Place,
    },
    /// A function with this name has a `key` and another one has none. Each has its own breakers:
    /// one for each key, and the one of the bare name.
    KeyedAndNot {
        /// The function with a key.
        keyed: Place,
        /// The function without.
        other: Place,
    },
    /// A layer would have made the configuration invalid and was left out, all of it.
    LeftOut {
        /// The layer.
        layer: Layer,
        /// What was wrong.
        error: ConfigError,
    },
    /// There is no such template; it counts as empty.
    MissingTemplate(String),
    /// A breaker with this name was asked for with another configuration than the one it has.
    AlreadyMade,
}

impl Conflict {
    pub(crate) fn new(breaker: &str, kind: ConflictKind) -> Self {
        let breaker = breaker.to_owned();
        Self { breaker, kind }
    }

    pub(crate) fn left_out(breaker: &str, (layer, error): LeftOut) -> Self {
        Self::new(breaker, ConflictKind::LeftOut { layer, error })
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.breaker)?;
        match &self.kind {
            ConflictKind::Policies { ruling, other } => write!(
                f,
                "two functions with this name set different policies; the one at {ruling} rules, \
                 the one at {other} has no effect on it"
            ),
            ConflictKind::KeyedAndNot { keyed, other } => write!(
                f,
                "the function at {keyed} has a `key` and the one at {other} has none, so they do \
                 not share breakers"
            ),
            ConflictKind::LeftOut { layer, error } => {
                write!(f, "the {layer} was left out as a whole: {error}")
            }
            ConflictKind::MissingTemplate(name) => {
                write!(f, "there is no template \"{name}\"; it counts as empty")
            }
            ConflictKind::AlreadyMade => {
                f.write_str("it exists already and keeps a configuration other than the one given")
            }
        }
    }
}
