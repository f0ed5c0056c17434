//! What a flood of rejections costs while somebody listens.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use allocation_counter::measure;
use cb_runtime::{Registry, circuit_breaker};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

struct Counting(Arc<AtomicU64>);

impl Subscriber for Counting {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[circuit_breaker(name = "tracing.costs")]
fn guarded() -> Result<(), cb_runtime::CallNotPermitted> {
    Ok(())
}

/// On the system's clock.
#[test]
fn a_million_rejections_allocate_nothing() {
    const CALLS: u64 = 1_000_000;
    let registry: Registry = cb_runtime::registry();
    let lines = Arc::new(AtomicU64::new(0));
    let _hearing = tracing::subscriber::set_default(Counting(Arc::clone(&lines)));
    let breaker = registry.get("tracing.costs").unwrap();
    for forced in [false, true] {
        if forced {
            breaker.force_open();
        } else {
            breaker.open_for(Duration::from_secs(100_000)).unwrap();
        }
        // The first line makes the subscriber known to the line's place in the code.
        guarded().unwrap_err();
        lines.store(0, Ordering::Relaxed);
        let began = Instant::now();
        let allocated = measure(|| {
            for _ in 0..CALLS {
                guarded().unwrap_err();
            }
        });
        let due = began.elapsed().as_secs() / 10 + 1;
        assert_eq!(allocated.count_total, 0, "{allocated:?}");
        assert!(lines.load(Ordering::Relaxed) <= due);
    }
    assert_eq!(breaker.snapshot().not_permitted_total, 2 * (CALLS + 1));
}
