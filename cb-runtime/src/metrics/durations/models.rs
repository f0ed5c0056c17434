//! Durations on their own, see `crate::models`.

use std::sync::Arc;
use std::time::Duration;

use super::{AllTold, Durations};
use crate::models::both;
use crate::sync::modelled::explore;

const LONG: Duration = Duration::from_millis(100);

/// Two calls end while an exporter asks. It tells of each once, with a time of its cell, and of all their
/// time.
#[test]
fn durations_are_told_once_and_with_their_time() {
    explore(|| {
        let durations = Arc::new(Durations::default());
        let other = Arc::clone(&durations);
        let mut all = AllTold::new();
        let (mut count, mut sum) = (0.0, 0.0);
        let mut hear = |mean: f64, new: usize| {
            assert!((0.09..0.11).contains(&mean), "{mean}");
            let new = new as f64;
            count += new;
            sum += mean * new;
        };
        both(
            move || (0..2).for_each(|_| other.add(LONG)),
            || durations.tell(&mut all, &mut hear),
        );
        durations.tell(&mut all, &mut hear);
        assert!(
            (count - 2.0).abs() < 1e-6 && (sum - 0.2).abs() < 1e-6,
            "{count} {sum}"
        );
    });
}

/// Two calls that are the first ones of their length end at once.
#[test]
fn no_duration_is_lost_where_there_are_no_cells_yet() {
    explore(|| {
        let durations = Arc::new(Durations::default());
        let other = Arc::clone(&durations);
        both(move || other.add(LONG), || durations.add(LONG));
        let mut count = 0;
        durations.tell(&mut AllTold::new(), |_, new| count += new);
        assert_eq!(count, 2);
    });
}
