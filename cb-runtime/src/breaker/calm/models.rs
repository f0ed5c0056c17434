//! The word for calm stays on its own, see `crate::models`.

use std::sync::Arc;

use super::Calm;
use crate::models::both;
use crate::state::{State, Word};
use crate::sync::modelled::explore;
use crate::sync::{AtomicU64, Ordering};

/// Whoever writes something and then disturbs is seen by who looks, or takes away what that one enters.
#[test]
fn a_disturbance_is_not_overlooked() {
    explore(|| {
        let calm = Arc::new(Calm::new());
        let failures = Arc::new(AtomicU64::new(0));
        let (other, written) = (Arc::clone(&calm), Arc::clone(&failures));
        let stay = Word::in_stay(State::Closed, 1);
        both(
            move || {
                written.fetch_add(1, Ordering::SeqCst);
                other.disturb();
            },
            || {
                calm.find_out(stay, false, || failures.load(Ordering::SeqCst) == 0);
            },
        );
        assert!(!calm.covers(stay, false));
    });
}
