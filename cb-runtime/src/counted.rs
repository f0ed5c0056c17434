//! Numbers of things, in words.

use std::fmt;

/// So many of them: `1 call`, `2 calls`.
pub(crate) struct Counted(u64, &'static str);

/// `noun` takes an s.
pub(crate) fn counted(number: impl Into<u64>, noun: &'static str) -> Counted {
    Counted(number.into(), noun)
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

/// The verb that goes with the number.
pub(crate) fn was(number: impl Into<u64>) -> &'static str {
    if number.into() == 1 { "was" } else { "were" }
}
