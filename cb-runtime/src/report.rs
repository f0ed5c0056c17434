//! Warnings: to standard error, or to `tracing` with that feature.

use std::io::Write as _;
use std::sync::Once;

use crate::sync::plain::{Mutex, lock};

/// For what a user must learn although nobody asked: a timeout that cannot work, functions that
/// disagree about their breaker. Each such thing is said once in the process.
pub(crate) fn warn(text: &str) {
    /// Names made at run time must not fill the memory; what comes after so many is not said.
    const MOST: usize = 1000;
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    {
        let mut said = lock(&SAID);
        if said.len() >= MOST || said.iter().any(|one| one == text) {
            return;
        }
        said.push(text.to_owned());
    }
    #[cfg(feature = "tracing")]
    if crate::tracing::warn(text) {
        return;
    }
    // Not `eprintln`, which panics where standard error is closed.
    let _ = writeln!(std::io::stderr(), "warning: circuit breaker: {text}");
}

/// A warning that is given the first time it is due.
#[cfg_attr(not(feature = "tokio"), allow(dead_code))]
pub(crate) struct OnceWarning {
    given: Once,
    text: &'static str,
}

#[cfg_attr(not(feature = "tokio"), allow(dead_code))]
impl OnceWarning {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            given: Once::new(),
            text,
        }
    }

    pub(crate) fn give(&self) {
        self.given.call_once(|| warn(self.text));
    }
}
