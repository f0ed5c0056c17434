//! The last N outcomes, in a ring of four-bit marks.
//!
//! | word | bits 23–63 | bits 0–22 |
//! |---|---|---|
//! | `cursor` | stay | 22: frozen; 0–21: outcomes recorded, folded once the ring is full |
//! | `slots[i]` | stay | 0–19: five marks, each failed, slow, cancelled, odd lap |
//! | `failed`, `slow` | stay | 0–21: how many marks of the ring have that bit |
//!
//! An outcome claims a position by moving the cursor, exchanges the mark at that position, and adds
//! the difference to the counts. The differences telescope, so when nobody is between two of those
//! steps the counts equal a recount of the ring. While somebody is they may be off, which is why an
//! opening is decided on a recount of the frozen ring.
//!
//! A thread that was held up after its claim until the whole ring has been claimed again finds that
//! its outcome has left the window, and does not write it. The fold leaves it room to tell: for a
//! large ring two laps, for a small one millions of outcomes.
//!
//! A position that was claimed and not yet written still has the mark of the lap before, although
//! younger ones may have left the ring already. The lap tells: a bad mark of another lap than its
//! position's is not counted. Whatever its writer will put there, the true rate is no lower, and
//! once it is there its writer judges again. Good marks have no lap, they count as nothing anyway.
//!
//! A full ring without a failed or slow mark does not change when a success is recorded: then the
//! record is three loads, and takes effect at the last of them.

use crate::outcome::Mark;
use crate::sync::{AtomicU64, Ordering};

use super::{Counts, Recorded};

const TAG_SHIFT: u32 = 23;
const TAG_BITS: u32 = 64 - TAG_SHIFT;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
const FROZEN: u64 = 1 << LOW_BITS;
const LOW_BITS: u32 = 22;
/// Three times the largest window fits.
const LOW: u64 = (1 << LOW_BITS) - 1;
const MARKS_PER_SLOT: u32 = 5;
const BITS_PER_MARK: u32 = 4;
/// The lowest bit of each of five marks.
const FIRST_BITS: u64 = 0x1_1111;
/// Of a mark: written in an odd lap.
const ODD_LAP: u64 = 0b1000;

/// The stay, as the words carry it. Of two stays the later one is told
/// unless 2^40 others lie between them.
fn tag(stay: u64) -> u64 {
    stay & TAG_MASK
}

fn tag_of(word: u64) -> u64 {
    word >> TAG_SHIFT
}

/// Whether `a` is a later stay than `b`.
fn later(a: u64, b: u64) -> bool {
    let ahead = a.wrapping_sub(b) & TAG_MASK;
    ahead != 0 && ahead < 1 << (TAG_BITS - 1)
}

pub(crate) struct CountWindow {
    size: u32,
    cursor: AtomicU64,
    failed: AtomicU64,
    slow: AtomicU64,
    slots: Box<[AtomicU64]>,
}

impl CountWindow {
    pub(crate) fn new(size: u32) -> Self {
        let size = size.max(1);
        Self {
            size,
            cursor: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            slots: (0..size.div_ceil(MARKS_PER_SLOT))
                .map(|_| AtomicU64::new(0))
                .collect(),
        }
    }

    #[inline]
    pub(crate) fn record(&self, stay: u64, mark: Mark) -> Recorded {
        let tag = tag(stay);
        if mark == Mark::SUCCESS && self.is_full(tag) && self.is_clean(tag) {
            return Recorded::Clean;
        }
        self.record_in_ring(tag, mark)
    }

    fn record_in_ring(&self, tag: u64, mark: Mark) -> Recorded {
        let claimed = match self.claim(tag) {
            Ok(claimed) => claimed,
            Err(refused) => return refused,
        };
        let Some(old) = self.exchange(tag, claimed, mark) else {
            return Recorded::Late;
        };
        add(&self.failed, tag, mark.failed(), old.failed());
        add(&self.slow, tag, mark.slow(), old.slow());
        if mark == Mark::SUCCESS && self.is_clean(tag) {
            Recorded::Clean
        } else {
            Recorded::Counted
        }
    }

    #[inline]
    fn is_full(&self, tag: u64) -> bool {
        // Acquire pairs with the cursor's updates in `claim`: the counts read after this are at
        // least as new as the stay it shows.
        let cursor = self.cursor.load(Ordering::Acquire);
        tag_of(cursor) == tag && cursor & FROZEN == 0 && cursor & LOW >= u64::from(self.size)
    }

    /// Whether no mark of the ring is failed or slow. SeqCst: see `claim`.
    #[inline]
    fn is_clean(&self, tag: u64) -> bool {
        let none = |count: &AtomicU64| {
            let word = count.load(Ordering::SeqCst);
            word & LOW == 0 || tag_of(word) != tag
        };
        none(&self.failed) && none(&self.slow)
    }

    /// How many outcomes of a full ring the cursor tells apart: whole pairs of laps, so that laps go
    /// on being odd and even in turn when it folds.
    fn span(&self) -> u64 {
        let two_laps = 2 * u64::from(self.size);
        (LOW - u64::from(self.size)) / two_laps * two_laps
    }

    /// Whether the whole ring was claimed again since `claimed` was.
    fn has_left(&self, claimed: u32, cursor: u64) -> bool {
        let (claimed, seen) = (u64::from(claimed), cursor & LOW);
        let since = if seen >= claimed {
            seen - claimed
        } else {
            seen + self.span() - claimed
        };
        since > u64::from(self.size)
    }

    /// Takes the next position in the ring, and returns how many were taken before in this stay,
    /// folded. The first outcome of a stay begins the ring anew.
    ///
    /// SeqCst, with the update in `add` and the loads in `is_clean` and `estimate`: of a success
    /// that completes the minimum and a failure that completes the rate, each first writes its own
    /// word and then reads the other's; in a single total order at least one of the two sees both.
    fn claim(&self, tag: u64) -> Result<u32, Recorded> {
        let size = u64::from(self.size);
        let mut cursor = self.cursor.load(Ordering::Acquire);
        loop {
            let seen = if tag_of(cursor) == tag {
                if cursor & FROZEN != 0 {
                    return Err(Recorded::Frozen);
                }
                cursor & LOW
            } else if later(tag, tag_of(cursor)) {
                0
            } else {
                return Err(Recorded::Late);
            };
            let next = if seen + 1 == size + self.span() {
                size
            } else {
                seen + 1
            };
            let claimed = tag << TAG_SHIFT | next;
            match self.cursor.compare_exchange_weak(
                cursor,
                claimed,
                Ordering::SeqCst,
                Ordering::Acquire,
            ) {
                // Masked to 22 bits.
                #[allow(clippy::cast_possible_truncation)]
                Ok(_) => return Ok(seen as u32),
                Err(now) => cursor = now,
            }
        }
    }

    /// Puts the mark in its place and returns the one it replaces; `None` if the stay is over.
    fn exchange(&self, tag: u64, claimed: u32, mark: Mark) -> Option<Mark> {
        let position = claimed % self.size;
        let slot = self.slots.get((position / MARKS_PER_SLOT) as usize)?;
        let shift = position % MARKS_PER_SLOT * BITS_PER_MARK;
        let lap = if mark != Mark::SUCCESS && claimed / self.size % 2 == 1 {
            ODD_LAP
        } else {
            0
        };
        // Acquire and AcqRel: pairs among the writers of this slot and with `recount`.
        let mut word = slot.load(Ordering::Acquire);
        loop {
            let marks = if tag_of(word) == tag {
                word & LOW
            } else if later(tag, tag_of(word)) {
                0
            } else {
                return None;
            };
            // Acquire pairs with `claim`. After the slot, so that a later claim than the one seen here
            // writes the slot after this, and the exchange below fails.
            let cursor = self.cursor.load(Ordering::Acquire);
            if tag_of(cursor) != tag {
                return None;
            }
            if self.has_left(claimed, cursor) {
                // As if it had been written and replaced since.
                return Some(mark);
            }
            let old = Mark::from_bits(marks >> shift);
            let new = tag << TAG_SHIFT | marks & !(0b1111 << shift) | (mark.bits() | lap) << shift;
            if new == word {
                return Some(old);
            }
            match slot.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(old),
                Err(now) => word = now,
            }
        }
    }

    pub(crate) fn estimate(&self, stay: u64) -> Counts {
        let tag = tag(stay);
        // SeqCst: see `claim`.
        let count = |cell: &AtomicU64| {
            let word = cell.load(Ordering::SeqCst);
            if tag_of(word) == tag { signed(word) } else { 0 }
        };
        let (failed, slow) = (count(&self.failed), count(&self.slow));
        let total = self.total(self.cursor.load(Ordering::SeqCst), tag);
        Counts {
            total,
            failed,
            slow,
            ..Counts::default()
        }
    }

    fn total(&self, cursor: u64, tag: u64) -> u32 {
        if tag_of(cursor) != tag {
            return 0;
        }
        // Masked to 22 bits.
        #[allow(clippy::cast_possible_truncation)]
        {
            ((cursor & LOW) as u32).min(self.size)
        }
    }

    pub(crate) fn counts(&self, stay: u64) -> Counts {
        // Two equal passes are one moment's picture: in a frozen ring each position is written at
        // most once more, by who claimed it before. Unfrozen, a busy ring may never hold still,
        // and then the last pass is as good an answer as any.
        const PASSES: u32 = 16;
        let tag = tag(stay);
        let mut last = self.recount(tag);
        for _ in 0..PASSES {
            let again = self.recount(tag);
            if again == last {
                break;
            }
            last = again;
        }
        last.0
    }

    /// One pass over the ring, with a digest of all that it saw.
    fn recount(&self, tag: u64) -> (Counts, u64) {
        // Acquire pairs with `claim` and `exchange`.
        let cursor = self.cursor.load(Ordering::Acquire);
        let mut counts = Counts {
            total: self.total(cursor, tag),
            ..Counts::default()
        };
        let mut digest = cursor;
        let seen = cursor & LOW;
        let (next, odd) = (
            seen % u64::from(self.size),
            seen / u64::from(self.size) % 2 == 1,
        );
        let mut first = 0;
        for slot in &self.slots {
            let word = slot.load(Ordering::Acquire);
            digest = digest.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word;
            if tag_of(word) == tag {
                let here = counted(word, next.saturating_sub(first), odd);
                counts.failed += (word & here).count_ones();
                counts.slow += (word >> 1 & here).count_ones();
                counts.slow_failed += (word & word >> 1 & here).count_ones();
                counts.cancelled += (word >> 2 & here).count_ones();
            }
            first += u64::from(MARKS_PER_SLOT);
        }
        (counts, digest)
    }

    pub(crate) fn freeze(&self, stay: u64) {
        let tag = tag(stay);
        // AcqRel pairs with `claim`: claims before this are seen by the recount that follows, and
        // there are none after it. The closure answers `None` only for a stay that is over.
        let _ = self
            .cursor
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |cursor| {
                if tag_of(cursor) == tag {
                    Some(cursor | FROZEN)
                } else {
                    later(tag, tag_of(cursor)).then_some(tag << TAG_SHIFT | FROZEN)
                }
            });
    }

    pub(crate) fn thaw(&self, stay: u64) {
        let tag = tag(stay);
        // Release pairs with the load in `claim`.
        let _ = self
            .cursor
            .fetch_update(Ordering::Release, Ordering::Relaxed, |cursor| {
                (tag_of(cursor) == tag).then_some(cursor & !FROZEN)
            });
    }
}

/// Which marks of a slot are of the lap in which their position was claimed last: the first
/// `in_this_lap` of them in the present lap, the others in the one before. As a mask of first bits.
fn counted(slot: u64, in_this_lap: u64, odd: bool) -> u64 {
    let in_this_lap = in_this_lap.min(u64::from(MARKS_PER_SLOT)) * u64::from(BITS_PER_MARK);
    let this_lap = FIRST_BITS & ((1 << in_this_lap) - 1);
    let expected_odd = if odd {
        this_lap
    } else {
        FIRST_BITS & !this_lap
    };
    !(slot >> 3 ^ expected_odd) & FIRST_BITS
}

/// A count, which is below zero while another thread's `-1` has overtaken its `+1`.
#[allow(clippy::cast_possible_truncation)] // masked to 22 bits
fn signed(word: u64) -> u32 {
    let count = word & LOW;
    if count > LOW / 2 { 0 } else { count as u32 }
}

/// Adds the difference between a mark's bit and that of the mark it replaced.
fn add(count: &AtomicU64, tag: u64, new: bool, old: bool) {
    let step = match (new, old) {
        (true, false) => 1,
        (false, true) => LOW, // minus one, in 22 bits
        _ => return,
    };
    // SeqCst: see `claim`. The closure answers `None` only for a stay that is over.
    let _ = count.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |word| {
        let before = if tag_of(word) == tag {
            word & LOW
        } else if later(tag, tag_of(word)) {
            0
        } else {
            return None;
        };
        Some(tag << TAG_SHIFT | (before + step) & LOW)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

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
            window.record(1, *mark);
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
                window.record(1, FAIL);
            }
            let claimed = window.claim(1).unwrap();
            assert_eq!(window.counts(1).failed, 8);
            window.record(1, OK);
            assert_eq!(window.counts(1).failed, 7);
            assert!(window.exchange(1, claimed, FAIL).is_some());
            assert_eq!(window.counts(1).failed, 8);
            assert_eq!(window.counts(1).total, 9);
        }
    }

    #[test]
    fn a_thread_that_was_held_up_for_a_lap_changes_nothing() {
        for held_up_for in [3, 4, 5, 6, 7, 100, 1_000_000] {
            let window = CountWindow::new(3);
            window.record(1, FAIL);
            let claimed = window.claim(1).unwrap();
            for i in 0..held_up_for {
                window.record(1, if i % 2 == 0 { FAIL } else { OK });
            }
            let before = window.counts(1);
            assert_eq!(window.exchange(1, claimed, FAIL), Some(FAIL));
            assert_eq!(window.counts(1), before, "{held_up_for}");
        }
    }

    #[test]
    fn a_ring_is_exact_where_the_cursor_folds() {
        for size in [1, 2, 3, 1_000, 1_000_000] {
            let window = CountWindow::new(size);
            assert!(window.span() >= 2 * u64::from(size));
            window.record(1, OK);
            let fold = u64::from(size) + window.span();
            assert!(fold <= LOW);
            let near = fold - 3;
            window
                .cursor
                .store(tag(1) << TAG_SHIFT | near, Ordering::SeqCst);
            for failures in 1..=6 {
                window.record(1, FAIL);
                assert_eq!(window.counts(1).failed, size.min(failures), "{size}");
            }
        }
    }

    #[test]
    fn a_clean_full_window_is_not_written_to() {
        let window = CountWindow::new(3);
        for _ in 0..3 {
            window.record(1, OK);
        }
        let before = window.cursor.load(Ordering::SeqCst);
        assert_eq!(window.record(1, OK), Recorded::Clean);
        assert_eq!(window.cursor.load(Ordering::SeqCst), before);
        assert_eq!(window.record(1, FAIL), Recorded::Counted);
        assert_eq!(counts(&window, 1).failed, 1);
    }

    #[test]
    fn a_later_stay_begins_empty_and_an_earlier_one_leaves_no_trace() {
        let window = CountWindow::new(4);
        for _ in 0..6 {
            window.record(1, SLOW_FAIL);
        }
        assert_eq!(counts(&window, 3), Counts::default());
        window.record(3, FAIL);
        let one = Counts {
            total: 1,
            failed: 1,
            ..Counts::default()
        };
        assert_eq!(counts(&window, 3), one);
        assert_eq!(window.record(1, SLOW_FAIL), Recorded::Late);
        assert_eq!(counts(&window, 3), one);
    }

    #[test]
    fn frozen_until_thawed_or_a_later_stay() {
        let window = CountWindow::new(4);
        window.record(1, FAIL);
        window.freeze(1);
        assert_eq!(window.record(1, FAIL), Recorded::Frozen);
        assert_eq!(window.record(1, OK), Recorded::Frozen);
        window.thaw(1);
        assert_eq!(window.record(1, FAIL), Recorded::Counted);
        window.freeze(1);
        assert_eq!(window.record(2, FAIL), Recorded::Counted);
        assert_eq!(window.record(1, FAIL), Recorded::Late);
        assert_eq!(counts(&window, 2).total, 1);
    }

    #[test]
    fn freezing_a_stay_without_outcomes_holds_its_first_one_up() {
        let window = CountWindow::new(4);
        window.record(1, FAIL);
        window.freeze(2);
        assert_eq!(window.record(2, FAIL), Recorded::Frozen);
        assert_eq!(counts(&window, 2), Counts::default());
    }
}
