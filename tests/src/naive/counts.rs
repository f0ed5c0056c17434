//! Counting, from the whole list.

use super::Window;

/// One recorded outcome.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs)]
pub struct Entry {
    pub at: u64,
    pub failed: bool,
    pub slow: bool,
    pub cancelled: bool,
}

/// The figures of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub struct Counts {
    pub calls: u64,
    pub failed: u64,
    pub slow: u64,
    pub slow_failed: u64,
    pub successful: u64,
    pub cancelled: u64,
}

impl Counts {
    /// Of those entries that are inside the window at `now`.
    #[must_use]
    pub fn of(entries: &[Entry], through: Window, now: u64) -> Self {
        let seen: Vec<_> = match through {
            Window::Calls(calls) => entries.iter().rev().take(calls).collect(),
            Window::Time { bucket, buckets } => entries
                .iter()
                .filter(|e| now / bucket - e.at / bucket < buckets)
                .collect(),
        };
        let count = |what: fn(&Entry) -> bool| seen.iter().filter(|e| what(e)).count() as u64;
        Self {
            calls: seen.len() as u64,
            failed: count(|e| e.failed),
            slow: count(|e| e.slow),
            slow_failed: count(|e| e.slow && e.failed),
            successful: count(|e| !e.failed && !e.cancelled),
            cancelled: count(|e| e.cancelled),
        }
    }
}
