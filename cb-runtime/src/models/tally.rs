//! Totals of all threads.

use std::sync::Arc;

use super::both;
use crate::sync::modelled::explore;
use crate::tally::{Tally, What};

/// Two threads that have counted before: one of them takes a number for both.
#[test]
fn no_count_is_lost_while_a_number_is_taken() {
    explore(|| {
        let tally = Arc::new(Tally::default());
        let count = |tally: &Tally| {
            Tally::default().count(What::Rejected);
            tally.count(What::Rejected);
        };
        let other = Arc::clone(&tally);
        both(move || count(&other), || count(&tally));
        assert_eq!(tally.total(What::Rejected), 2);
    });
}
