//! What the ring holds, by its counts and by a look at each mark.

use crate::sync::{AtomicU64, Ordering};
use crate::window::Counts;

use super::{BITS_PER_MARK, CountWindow, FIRST_BITS, LOW, MARKS_PER_SLOT, tag, tag_of};

impl CountWindow {
    #[inline]
    pub(crate) fn estimate(&self, stay: u64) -> Counts {
        let tag = tag(stay);
        // SeqCst: see `claim`.
        let count = |cell: &AtomicU64| {
            let word = cell.load(Ordering::SeqCst);
            if tag_of(word) == tag { signed(word) } else { 0 }
        };
        let ring = self.ring();
        let (failed, slow) = (count(ring.failed), count(ring.slow));
        let total = self.total(self.cursor().load(Ordering::SeqCst), tag);
        Counts {
            total,
            failed,
            slow,
            ..Counts::default()
        }
    }

    pub(super) fn total(&self, cursor: u64, tag: u64) -> u32 {
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
        // most twice more, by who claimed it before. Unfrozen, a busy ring may never hold still,
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
        // Acquire pairs with `claim`: a call that is counted here has left those that run.
        let cursor = self.cursor().load(Ordering::Acquire);
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
        for slot in self.ring().slots {
            // Relaxed: who has recorded before this is seen by single-location order, and of the others
            // `counts` takes what holds still.
            let word = slot.load(Ordering::Relaxed);
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
