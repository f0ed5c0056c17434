//! Whether anybody watches single calls: a scope of a test, a listener of per-call events, an exporter
//! of metrics, a subscriber that wants a span for each.
//! While nobody does, anywhere in the process, a call pays one load for all of them.

use std::sync::atomic::{AtomicU64, Ordering};

static WATCHERS: AtomicU64 = AtomicU64::new(0);

#[inline]
pub(crate) fn nobody() -> bool {
    // Relaxed: a call that has not seen a watcher yet behaves as if it had come a little earlier,
    // and the thread that watches sees itself.
    WATCHERS.load(Ordering::Relaxed) == 0
}

/// One that watches, until this is dropped.
pub(crate) struct Watch(());

impl Watch {
    pub(crate) fn new() -> Self {
        // Relaxed: see `nobody`.
        WATCHERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Relaxed: see `nobody`.
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}
