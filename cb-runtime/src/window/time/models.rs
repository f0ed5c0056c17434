//! A window of time on its own, see `crate::models`.

use std::sync::Arc;
use std::time::Duration;

use super::{Recorded, TimeWindow};
use crate::models::both;
use crate::outcome::Mark;
use crate::sync::modelled::explore;
use crate::sync::{AtomicU64, Ordering};

/// A success completes the minimum and a failure the rate, in shards that have no word in common: at
/// least one of the two finds both.
#[test]
fn a_verdict_on_shards_is_reached() {
    explore(|| {
        let window = Arc::new(TimeWindow::new(Duration::from_secs(1), 1, 0, true));
        window.spread();
        let reached = Arc::new(AtomicU64::new(0));
        let record = |window: &TimeWindow, mark: Mark, reached: &AtomicU64| {
            if window.record(1, mark, 0) == Recorded::Counted {
                let counts = window.counts(1, 0);
                let both = (counts.total, counts.failed) == (2, 1);
                reached.fetch_add(both.into(), Ordering::Relaxed);
            }
        };
        let (other, count) = (Arc::clone(&window), Arc::clone(&reached));
        both(
            move || record(&other, Mark::SUCCESS, &count),
            || record(&window, Mark::of(true, false), &reached),
        );
        assert_ne!(reached.load(Ordering::SeqCst), 0);
    });
}
