//! Calls that pass by in a calm window.

use super::{both, breaker, call, two};
use crate::breaker::AtOnce;
use crate::clock::TestClock;
use crate::outcome::Outcome;
use crate::sync::modelled::explore;

/// A full window of successes, in which calls pass by, and a failure that ends that.
#[test]
fn a_calm_window_forgets_no_failure() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        (0..3).for_each(|_| call(&breaker, true));
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.snapshot().failed, 1);
        // Two more successes push it out, whether or not it was the last.
        (0..2).for_each(|_| call(&breaker, true));
        assert_eq!(breaker.snapshot().failed, 0);
    });
}

/// The same while one finds out whether the window is calm, which is full with this success.
#[test]
fn a_window_is_not_taken_for_calm_while_a_failure_comes() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        call(&breaker, true);
        let other = breaker.clone();
        both(move || call(&other, true), || call(&breaker, false));
        assert_eq!(breaker.snapshot().failed, 1);
        (0..2).for_each(|_| call(&breaker, true));
        assert_eq!(breaker.snapshot().failed, 0);
    });
}

/// Who is admitted by the word for calm stays is late in none of them.
#[test]
fn a_call_that_passes_by_comes_after_the_beginning_of_its_stay() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        breaker.force_open();
        let other = breaker.clone();
        both(
            move || {
                other.close();
                (0..3).for_each(|_| call(&other, true));
            },
            || {
                // Rejected plainly while it is FORCED_OPEN.
                if let AtOnce::Permitted(ticket) = breaker.inner.admit_plainly() {
                    breaker.inner.finish(ticket, Outcome::Failure);
                }
            },
        );
        assert_eq!(breaker.snapshot().late, 0);
    });
}

/// One success finds the window calm while the stay ends.
#[test]
fn a_stay_that_has_ended_is_not_calm() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        call(&breaker, true);
        let other = breaker.clone();
        both(move || call(&other, true), || breaker.force_open());
        assert!(matches!(breaker.inner.admit_plainly(), AtOnce::Refused(_)));
    });
}
