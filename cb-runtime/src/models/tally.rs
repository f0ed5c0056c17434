//! Totals of all threads.

use std::sync::Arc;

use super::both;
use crate::sync::modelled::explore;
use crate::tally::{Tally, What};

/// A thread that has counted before, while another one takes the number for both.
#[test]
fn no_count_is_lost_while_a_number_is_taken() {
    explore(|| {
        let tally = Arc::new(Tally::default());
        Tally::default().count(What::Rejected);
        let other = Arc::clone(&tally);
        both(
            move || {
                other.count(What::Rejected);
            },
            || {
                tally.count(What::Rejected);
            },
        );
        assert_eq!(tally.total(What::Rejected), 2);
    });
}
