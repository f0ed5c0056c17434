//! A rehearsal does not write to the log. Alone in its process: while one thread brings `tracing` a
//! subscriber, another that meets an event for the first time may settle that nobody wants it.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{Config, Registry};

/// Counts what goes to the log.
struct Lines(Arc<AtomicU64>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        // Relaxed: read by the thread that wrote it.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// Nothing has opened, so nobody is to be woken at night.
#[test]
fn the_log_hears_nothing_of_it() {
    let lines = Arc::new(AtomicU64::new(0));
    let count = || lines.load(Ordering::Relaxed);
    tracing::subscriber::with_default(Lines(Arc::clone(&lines)), || {
        let clock = TestClock::new();
        let registry = Registry::with_clock(&clock);
        let breaker = registry.create("a", &Config::new().min_calls(50)).unwrap();
        let candidate = Config::new()
            .consecutive_failures(2)
            .ramp(Duration::from_secs(60));
        let rehearsal = registry.rehearse("a", &candidate).unwrap();
        for _ in 0..5 {
            let _ = breaker.call(|| Err::<(), _>("connection refused"));
        }
        clock.advance(Duration::from_secs(10));
        for _ in 0..30 {
            // The first close it, then some are rejected by the ramp.
            let _ = breaker.call(|| Ok::<_, &str>(()));
        }
        assert!(rehearsal.report().rejected.successful > 0);
        assert_eq!(count(), 0);
        breaker.force_open();
        assert_eq!(count(), 1, "the breaker itself is heard");
    });
}
