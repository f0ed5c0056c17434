//! Marks that were written after they had left the ring.

use crate::outcome::Mark;
use crate::sync::Ordering;

use super::{CountWindow, WRITTEN, add, tag_of, with_mark};

impl CountWindow {
    /// Takes back a bad mark that this thread has written to a position which was claimed again before.
    #[cold]
    pub(super) fn withdraw(&self, tag: u64, claimed: u32, mark: Mark, written: u64) {
        let ring = self.ring();
        let (slot, shift, _) = self.place(u64::from(claimed));
        let Some(slot) = ring.slots.get(slot) else {
            return;
        };
        let bits = |word: u64| word >> shift & 0b1111;
        // Acquire, here and where the exchange fails, pairs with the release of `exchange`: who sees the
        // mark of a later lap sees its claim.
        let mut word = slot.load(Ordering::Acquire);
        while tag_of(word) == tag && bits(word) == bits(written) {
            // Relaxed, after the slot: see above.
            let cursor = ring.cursor.load(Ordering::Relaxed);
            let in_next_lap = self.since(claimed, cursor) <= 2 * u64::from(self.size());
            // Two laps later an equal mark may be another's.
            if tag_of(cursor) != tag || (!in_next_lap && word & WRITTEN != written & WRITTEN) {
                return;
            }
            let without = with_mark(word, shift, 0, Mark::SUCCESS);
            // Relaxed: it only makes way for a success, and goes on with the release of who wrote it.
            match slot.compare_exchange_weak(word, without, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => {
                    add(ring.failed, tag, false, mark.failed());
                    add(ring.slow, tag, false, mark.slow());
                    return;
                }
                Err(now) => word = now,
            }
        }
    }
}
