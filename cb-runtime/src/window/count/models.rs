//! A window of calls on its own, see `crate::models`.

use std::sync::Arc;

use super::{CountWindow, Exchanged, add, tag};
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

/// A thread that has claimed a position and is held up until another one has claimed it again. The
/// success that takes its place finds one there, and leaves it as it is.
#[test]
fn an_outcome_that_has_left_is_in_no_count() {
    for plainly in [true, false] {
        explore(move || {
            let window = Arc::new(CountWindow::new(2));
            window.record(1, Mark::SUCCESS, 0);
            window.record(1, FAILED, 0);
            let claimed = window.claim(tag(1)).expect("it is not frozen");
            window.record(1, FAILED, 0);
            let other = Arc::clone(&window);
            both(
                move || {
                    other.put(tag(1), claimed, FAILED);
                },
                || {
                    if plainly {
                        window.record(1, Mark::SUCCESS, 0);
                    } else {
                        window.record_in_ring(tag(1), Mark::SUCCESS, 0);
                    }
                },
            );
            assert_eq!(failed(&window), 1);
        });
    }
}

/// The success of the lap between is held up, and is about to replace a failure that looks the same.
#[test]
fn an_outcome_that_has_left_replaces_none_that_came_later() {
    explore(|| {
        let window = Arc::new(CountWindow::new(1));
        window.record(1, FAILED, 0);
        let claimed = window.claim(tag(1)).expect("it is not frozen");
        let other = Arc::clone(&window);
        both(
            move || {
                other.put(tag(1), claimed, Mark::SUCCESS);
            },
            || {
                window.record(1, FAILED, 0);
            },
        );
        assert_eq!(failed(&window), 1);
    });
}

/// A failure that was written too late is taken back, unless it stands for one of two laps later.
#[test]
fn an_outcome_that_has_left_takes_none_back_that_came_later() {
    explore(|| {
        let window = Arc::new(CountWindow::new(1));
        window.record(1, Mark::SUCCESS, 0);
        let claimed = window.claim(tag(1)).expect("it is not frozen");
        let Exchanged::Replaced { written, .. } = window.exchange(tag(1), claimed, FAILED) else {
            unreachable!("it is still there");
        };
        add(window.ring().failed, tag(1), true, false);
        // By a success that has found one there before.
        window.claim(tag(1)).expect("it is not frozen");
        let other = Arc::clone(&window);
        both(
            move || other.withdraw(tag(1), claimed, FAILED, written),
            || {
                window.record(1, FAILED, 0);
            },
        );
        assert_eq!(failed(&window), 1);
    });
}

/// By both ways of counting.
fn failed(window: &CountWindow) -> u32 {
    let (counts, estimate) = (window.counts(1), window.estimate(1));
    assert_eq!(counts.failed, estimate.failed);
    counts.failed
}
