//! The short way of a success that takes the place of another one.

use crate::outcome::Mark;
use crate::sync::Ordering;
use crate::window::Recorded;

use super::{CountWindow, IN_SLOT, TAG_SHIFT, tag, tag_of};

/// A word of a stay without anything else: of its other words at most `IN_SLOT` is left above it, and of
/// those of another stay more.
#[derive(Clone, Copy)]
pub(crate) struct Base(u64);

impl Base {
    #[inline]
    pub(crate) fn of(stay: u64) -> Self {
        Self(tag(stay) << TAG_SHIFT)
    }
}

/// How far a success was recorded.
#[derive(Clone, Copy)]
pub(crate) enum Quickly {
    /// It is: see [`Recorded::Harmless`].
    Harmless,
    /// It is: see [`Recorded::Clean`].
    Clean,
    /// It has its position, and is to be written there.
    Claimed(u32),
    /// Not at all.
    Refused,
}

impl CountWindow {
    /// Records a success, as far as it takes the place of another one or of none.
    #[inline(always)]
    pub(crate) fn record_success_quickly(&self, base: Base, min_calls: u32) -> Quickly {
        let Base(base) = base;
        let ring = self.ring();
        // Relaxed, here and where the exchange fails: see `is_full`; who is refused looks again in `claim`.
        let mut cursor = ring.cursor.load(Ordering::Relaxed);
        let claimed = loop {
            let seen = cursor.wrapping_sub(base);
            let size = u64::from(self.size);
            if seen.wrapping_sub(size) >= u64::from(self.room) {
                // Of another stay, frozen or to be folded; or it fills the ring, and with it a rate or the
                // calm may begin.
                if seen >= size || seen + 1 == size || seen + 1 == u64::from(min_calls) {
                    return Quickly::Refused;
                }
            } else if ring.is_clean(base) {
                return Quickly::Clean;
            }
            // SeqCst: as in `claim`.
            match ring.cursor.compare_exchange(
                cursor,
                cursor + 1,
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => break seen,
                Err(now) => cursor = now,
            }
        };
        let (slot, shift, _) = self.place(claimed);
        let marks = ring.slots.get(slot).map_or(0, |slot| {
            // SeqCst pairs with the load in `put`: who puts a bad mark there after this finds that it
            // has left.
            slot.load(Ordering::SeqCst)
        });
        let marks = marks.wrapping_sub(base);
        if marks <= IN_SLOT && Mark::from_bits(marks >> shift) == Mark::SUCCESS {
            return Quickly::Harmless;
        }
        // Masked to 22 bits.
        #[allow(clippy::cast_possible_truncation)]
        Quickly::Claimed(claimed as u32)
    }

    /// Records a success in any ring.
    pub(crate) fn record_success(&self, base: Base, min_calls: u32) -> Recorded {
        self.record_in_ring(tag_of(base.0), Mark::SUCCESS, min_calls)
    }

    /// Writes a success where it has claimed its place.
    pub(crate) fn put_success(&self, base: Base, claimed: u32) -> Recorded {
        let tag = tag_of(base.0);
        if !self.put(tag, claimed, Mark::SUCCESS) {
            Recorded::Displaced
        } else if self.is_clean(tag) {
            Recorded::Clean
        } else {
            Recorded::Harmless
        }
    }
}
