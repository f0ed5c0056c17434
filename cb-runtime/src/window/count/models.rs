//! A window of calls on its own, see `crate::models`.

use std::sync::Arc;

use loom::thread;

use super::{CountWindow, tag};
use crate::models::both;
use crate::outcome::Mark;
use crate::sync::modelled::explore;

const FAILED: Mark = Mark::of(true, false);

#[test]
fn a_window_when_quiet_equals_its_recount() {
    explore(|| {
        let window = Arc::new(CountWindow::new(2));
        window.record(1, Mark::of(true, true), 2);
        let other = Arc::clone(&window);
        both(
            move || {
                other.record(1, Mark::SUCCESS, 2);
                other.record(1, Mark::of(true, false), 2);
            },
            || {
                window.record(1, Mark::of(false, true), 2);
            },
        );
        let (counts, estimate) = (window.counts(1), window.estimate(1));
        assert_eq!(
            (counts.total, counts.failed, counts.slow),
            (estimate.total, estimate.failed, estimate.slow)
        );
        assert_eq!(counts.total, 2);
    });
}

/// A thread that has claimed a position and is held up until others have claimed the whole ring twice.
#[test]
fn an_outcome_that_has_left_replaces_none_that_came_later() {
    explore(|| {
        let window = Arc::new(CountWindow::new(1));
        let claimed = window.claim(tag(1)).expect("it is not frozen");
        let other = Arc::clone(&window);
        let late = thread::spawn(move || other.exchange(tag(1), claimed, FAILED));
        window.record_in_ring(tag(1), Mark::SUCCESS, 1);
        window.record_in_ring(tag(1), Mark::SUCCESS, 1);
        late.join().expect("no panic");
        assert_eq!(window.counts(1).failed, 0);
    });
}
