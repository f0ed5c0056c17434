use super::*;
use crate::window::Counts;

const OK: Mark = Mark::SUCCESS;
const FAIL: Mark = Mark::of(true, false);
const SLOW_FAIL: Mark = Mark::of(true, true);

/// Both ways of counting, which must agree when nobody records.
fn counts(window: &CountWindow, stay: u64) -> Counts {
    let counts = window.counts(stay);
    let estimate = window.estimate(stay);
    assert_eq!(
        (estimate.total, estimate.failed, estimate.slow),
        (counts.total, counts.failed, counts.slow)
    );
    counts
}

#[test]
fn keeps_exactly_the_last_n() {
    let window = CountWindow::new(13);
    let marks: Vec<Mark> = (0..200)
        .map(|i| [OK, FAIL, OK, SLOW_FAIL, Mark::cancelled_slow()][i * i % 5])
        .collect();
    for (i, mark) in marks.iter().enumerate() {
        window.record(1, *mark, 0);
        let mut expected = Counts::default();
        marks[..=i]
            .iter()
            .rev()
            .take(13)
            .for_each(|mark| expected.add(*mark));
        assert_eq!(counts(&window, 1), expected, "after {} outcomes", i + 1);
    }
}

/// Between claiming and writing, a failure of the lap before must not stand beside the younger
/// outcomes that have outlived it.
#[test]
fn a_claimed_position_does_not_count_for_what_it_was() {
    for laps in 1..5 {
        let window = CountWindow::new(9);
        for _ in 0..laps * 9 {
            window.record(1, FAIL, 0);
        }
        let claimed = window.claim(1).unwrap();
        assert_eq!(window.counts(1).failed, 8);
        window.record(1, OK, 0);
        assert_eq!(window.counts(1).failed, 7);
        assert!(window.put(1, claimed, FAIL));
        assert_eq!(window.counts(1).failed, 8);
        assert_eq!(window.counts(1).total, 9);
    }
}

#[test]
fn a_thread_that_was_held_up_for_a_lap_changes_nothing() {
    for held_up_for in [3, 4, 5, 6, 7, 100, 1_000_000] {
        let window = CountWindow::new(3);
        window.record(1, FAIL, 0);
        let claimed = window.claim(1).unwrap();
        for i in 0..held_up_for {
            window.record(1, if i % 2 == 0 { FAIL } else { OK }, 0);
        }
        let before = window.counts(1);
        assert!(window.put(1, claimed, FAIL));
        assert_eq!(window.counts(1), before, "{held_up_for}");
    }
}

#[test]
fn a_ring_is_exact_where_the_cursor_folds() {
    for size in [1, 2, 3, 1_000, 1_000_000] {
        let window = CountWindow::new(size);
        assert!(window.span() >= 2 * u64::from(size));
        window.record(1, OK, 0);
        let fold = u64::from(size) + window.span();
        assert!(fold <= LOW);
        let near = fold - 3;
        window
            .cursor()
            .store(tag(1) << TAG_SHIFT | near, Ordering::SeqCst);
        for failures in 1..=6 {
            window.record(1, FAIL, 0);
            assert_eq!(window.counts(1).failed, size.min(failures), "{size}");
        }
    }
}

#[test]
fn a_clean_full_window_is_not_written_to() {
    let window = CountWindow::new(3);
    for _ in 0..3 {
        window.record(1, OK, 0);
    }
    let before = window.cursor().load(Ordering::SeqCst);
    assert_eq!(window.record(1, OK, 0), Recorded::Clean);
    assert_eq!(window.cursor().load(Ordering::SeqCst), before);
    assert_eq!(window.record(1, FAIL, 0), Recorded::Counted);
    assert_eq!(counts(&window, 1).failed, 1);
}

#[test]
fn a_later_stay_begins_empty_and_an_earlier_one_leaves_no_trace() {
    let window = CountWindow::new(4);
    for _ in 0..6 {
        window.record(1, SLOW_FAIL, 0);
    }
    assert_eq!(counts(&window, 3), Counts::default());
    window.record(3, FAIL, 0);
    let one = Counts {
        total: 1,
        failed: 1,
        ..Counts::default()
    };
    assert_eq!(counts(&window, 3), one);
    assert_eq!(window.record(1, SLOW_FAIL, 0), Recorded::Late);
    assert_eq!(counts(&window, 3), one);
}

#[test]
fn frozen_until_thawed_or_a_later_stay() {
    let window = CountWindow::new(4);
    window.record(1, FAIL, 0);
    window.freeze(1);
    assert_eq!(window.record(1, FAIL, 0), Recorded::Frozen);
    assert_eq!(window.record(1, OK, 0), Recorded::Frozen);
    window.thaw(1);
    assert_eq!(window.record(1, FAIL, 0), Recorded::Counted);
    window.freeze(1);
    assert_eq!(window.record(2, FAIL, 0), Recorded::Counted);
    assert_eq!(window.record(1, FAIL, 0), Recorded::Late);
    assert_eq!(counts(&window, 2).total, 1);
}

#[test]
fn freezing_a_stay_without_outcomes_holds_its_first_one_up() {
    let window = CountWindow::new(4);
    window.record(1, FAIL, 0);
    window.freeze(2);
    assert_eq!(window.record(2, FAIL, 0), Recorded::Frozen);
    assert_eq!(counts(&window, 2), Counts::default());
}
