//! The last N outcomes, in a ring of four-bit marks.
//!
//! | word | bits 23–63 | bits 0–22 |
//! |---|---|---|
//! | `cursor` | stay | 22: frozen; 0–21: outcomes recorded, folded once the ring is full |
//! | `slots[i]` | stay | 0–19: five marks, each failed, slow, cancelled, odd lap; 20–22: bad marks written |
//! | `failed`, `slow` | stay | 0–21: how many marks of the ring have that bit |
//!
//! An outcome claims a position by moving the cursor, exchanges the mark at that position, and adds
//! the difference to the counts. The differences telescope, so when nobody is between two of those
//! steps the counts equal a recount of the ring. While somebody is they may be off, which is why an
//! opening is decided on a recount of the frozen ring.
//!
//! A thread that was held up after its claim until the whole ring has been claimed again finds that
//! its outcome has left the window, and does not write it. The fold leaves it room to tell: for a
//! large ring two laps, for a small one millions of outcomes. If it is held up just before it writes,
//! whoever claimed the position after it has either changed the slot, and the exchange fails, or has
//! found a success where it would have put one. Then a bad mark is there that nobody else will look
//! at in time, and its writer, who looks at the cursor again, takes it back. That the slot changes
//! with each bad mark is what its highest bits are for.
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

use super::Recorded;
pub(crate) use quick::{Base, Quickly};

mod moving;
mod quick;
mod recount;
mod withdrawal;

const TAG_SHIFT: u32 = 23;
const TAG_BITS: u32 = 64 - TAG_SHIFT;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
const FROZEN: u64 = 1 << LOW_BITS;
const LOW_BITS: u32 = 22;
/// Three times the largest window fits.
const LOW: u64 = (1 << LOW_BITS) - 1;
/// Exact for what is folded to 22 bits and sizes of up to 2^20.
const RECIPROCAL_SHIFT: u32 = 42;
const MARKS_PER_SLOT: u32 = 5;
const BITS_PER_MARK: u32 = 4;
/// The lowest bit of each of five marks.
const FIRST_BITS: u64 = 0x1_1111;
/// Of a slot: all but the stay.
const IN_SLOT: u64 = (1 << TAG_SHIFT) - 1;
/// Of a slot: one bad mark more has been written, of eight that are told apart.
const ONE_WRITTEN: u64 = 1 << 20;
const WRITTEN: u64 = IN_SLOT & !(ONE_WRITTEN - 1);
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
    /// How many positions of a full ring come before the one at which the cursor goes back to `size`.
    room: u32,
    /// To divide by the size: 2^42 / size, rounded up.
    reciprocal: u64,
    /// With a stay: how many marks the ring began with, see [`refill`](Self::refill).
    moved: AtomicU64,
    /// A [`Ring`]: what calls write, apart from what they only read.
    words: Box<[AtomicU64]>,
}

#[derive(Clone, Copy)]
struct Ring<'a> {
    cursor: &'a AtomicU64,
    failed: &'a AtomicU64,
    slow: &'a AtomicU64,
    slots: &'a [AtomicU64],
}

impl Ring<'_> {
    /// Whether no mark of the ring is failed or slow. SeqCst: see `claim`.
    #[inline(always)]
    fn is_clean(self, base: u64) -> bool {
        // Of another stay it is above.
        let none = |count: &AtomicU64| {
            let marks = count.load(Ordering::SeqCst).wrapping_sub(base);
            marks.wrapping_sub(1) >= LOW
        };
        none(self.failed) && none(self.slow)
    }
}

impl CountWindow {
    pub(crate) fn new(size: u32) -> Self {
        let size = size.max(1);
        let mut window = Self {
            size,
            room: 0,
            reciprocal: (1 << RECIPROCAL_SHIFT) / u64::from(size) + 1,
            moved: AtomicU64::new(0),
            words: (0..3 + size.div_ceil(MARKS_PER_SLOT))
                .map(|_| AtomicU64::new(0))
                .collect(),
        };
        // Less than 22 bits.
        #[allow(clippy::cast_possible_truncation)]
        {
            window.room = window.span() as u32 - 1;
        }
        window
    }

    #[inline(always)]
    fn cursor(&self) -> &AtomicU64 {
        self.ring().cursor
    }

    #[inline(always)]
    fn ring(&self) -> Ring<'_> {
        match &*self.words {
            [cursor, failed, slow, slots @ ..] => Ring {
                cursor,
                failed,
                slow,
                slots,
            },
            _ => unreachable!("it is made with them"),
        }
    }

    #[inline]
    pub(crate) fn record(&self, stay: u64, mark: Mark, min_calls: u32) -> Recorded {
        if mark == Mark::SUCCESS {
            match self.record_success_quickly(Base::of(stay), min_calls) {
                Quickly::Harmless => return Recorded::Harmless,
                Quickly::Clean => return Recorded::Clean,
                Quickly::Claimed(claimed) => return self.put_success(Base::of(stay), claimed),
                Quickly::Refused => {}
            }
        }
        self.record_in_ring(tag(stay), mark, min_calls)
    }

    /// Whether another success would change nothing.
    #[inline]
    pub(crate) fn is_calm(&self, stay: u64) -> bool {
        let tag = tag(stay);
        self.is_full(tag) && self.is_clean(tag)
    }

    #[inline]
    fn record_in_ring(&self, tag: u64, mark: Mark, min_calls: u32) -> Recorded {
        let claimed = match self.claim(tag) {
            Ok(claimed) => claimed,
            Err(refused) => return refused,
        };
        if !self.put(tag, claimed, mark) {
            Recorded::Displaced
        } else if mark == Mark::SUCCESS {
            self.after_success(tag, claimed, min_calls)
        } else {
            Recorded::Counted
        }
    }

    /// Writes the mark and counts the difference; `false` if the stay is over.
    #[inline(never)]
    fn put(&self, tag: u64, claimed: u32, mark: Mark) -> bool {
        let (old, written) = match self.exchange(tag, claimed, mark) {
            Exchanged::Replaced { old, written } => (old, written),
            Exchanged::HasLeft => return true,
            Exchanged::StayIsOver => return false,
        };
        let ring = self.ring();
        add(ring.failed, tag, mark.failed(), old.failed());
        add(ring.slow, tag, mark.slow(), old.slow());
        if mark != Mark::SUCCESS {
            // SeqCst: see `claim`. Who left a success there, and is not seen here, has seen the mark.
            let cursor = ring.cursor.load(Ordering::SeqCst);
            if self.has_left(claimed, cursor) {
                self.withdraw(tag, claimed, mark, written);
            }
        }
        true
    }

    #[inline(always)]
    fn after_success(&self, tag: u64, claimed: u32, min_calls: u32) -> Recorded {
        if self.is_clean(tag) {
            Recorded::Clean
        } else if claimed + 1 == min_calls {
            // Whoever makes the rate worse judges it, and here so does who makes it count.
            Recorded::Counted
        } else {
            Recorded::Harmless
        }
    }

    #[inline]
    fn is_full(&self, tag: u64) -> bool {
        // Relaxed: whoever's outcome is not seen in the counts that are read after this had not returned
        // yet, so this call may have ended before it.
        let cursor = self.cursor().load(Ordering::Relaxed);
        tag_of(cursor) == tag && cursor & FROZEN == 0 && cursor & LOW >= u64::from(self.size)
    }

    #[inline]
    fn is_clean(&self, tag: u64) -> bool {
        self.ring().is_clean(tag << TAG_SHIFT)
    }

    /// How many outcomes of a full ring the cursor tells apart: whole pairs of laps, so that laps go
    /// on being odd and even in turn when it folds.
    fn span(&self) -> u64 {
        let size = u64::from(self.size);
        self.lap(LOW - size) / 2 * 2 * size
    }

    /// How many outcomes there are after one more, folded.
    #[inline]
    fn after(&self, seen: u64) -> u64 {
        if seen == u64::from(self.size) + u64::from(self.room) {
            u64::from(self.size)
        } else {
            seen + 1
        }
    }

    /// In which lap a position of 22 bits is: a division by the size.
    #[inline]
    fn lap(&self, position: u64) -> u64 {
        // At most 2^22 − 1 times 2^42 + 1.
        (position * self.reciprocal) >> RECIPROCAL_SHIFT
    }

    /// How many positions were claimed since `claimed` was, that included.
    fn since(&self, claimed: u32, cursor: u64) -> u64 {
        let (claimed, seen) = (u64::from(claimed), cursor & LOW);
        if seen >= claimed {
            seen - claimed
        } else {
            seen + self.span() - claimed
        }
    }

    /// Whether the whole ring was claimed again since `claimed` was.
    fn has_left(&self, claimed: u32, cursor: u64) -> bool {
        self.since(claimed, cursor) > u64::from(self.size)
    }

    /// Takes the next position in the ring, and returns how many were taken before in this stay,
    /// folded. The first outcome of a stay begins the ring anew.
    ///
    /// SeqCst, with the update in `add` and the loads in `is_clean` and `estimate`: of a success
    /// that completes the minimum and a failure that completes the rate, each first writes its own
    /// word and then reads the other's; in a single total order at least one of the two sees both.
    /// Likewise, with the slots: who claims the same position in the next lap sees the mark, or is
    /// seen by who puts it there.
    #[inline]
    fn claim(&self, tag: u64) -> Result<u32, Recorded> {
        let ring = self.ring();
        // Acquire pairs with the exchange of a later stay: who is late sees that stay when it looks at the
        // breaker's word again. Relaxed where the exchange fails: the next attempt begins with this load.
        let mut cursor = ring.cursor.load(Ordering::Acquire);
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
            let claimed = tag << TAG_SHIFT | self.after(seen);
            match ring
                .cursor
                .compare_exchange(cursor, claimed, Ordering::SeqCst, Ordering::Relaxed)
            {
                // Masked to 22 bits.
                #[allow(clippy::cast_possible_truncation)]
                Ok(_) => return Ok(seen as u32),
                Err(now) => cursor = now,
            }
        }
    }

    /// Puts the mark in its place.
    #[inline(always)]
    fn exchange(&self, tag: u64, claimed: u32, mark: Mark) -> Exchanged {
        let (slot, shift, lap) = self.place(u64::from(claimed));
        let Some(slot) = self.ring().slots.get(slot) else {
            return Exchanged::StayIsOver;
        };
        // Acquire, here and where the exchange fails, pairs with the release of the exchange: who sees a
        // mark sees the claim that it was written for. SeqCst here: as in `record_success_quickly`.
        let mut word = slot.load(Ordering::SeqCst);
        loop {
            let marks = if tag_of(word) == tag {
                word & IN_SLOT
            } else if later(tag, tag_of(word)) {
                0
            } else {
                return Exchanged::StayIsOver;
            };
            let old = Mark::from_bits(marks >> shift);
            let new = tag << TAG_SHIFT | with_mark(marks, shift, lap, mark);
            if new == word {
                return Exchanged::Replaced { old, written: new };
            }
            // Relaxed, after the slot: it is as new as the marks that were seen, and a later claim than
            // the one seen here writes the slot after this, so that the exchange below fails.
            let cursor = self.cursor().load(Ordering::Relaxed);
            if tag_of(cursor) != tag {
                return Exchanged::StayIsOver;
            }
            if self.has_left(claimed, cursor) {
                return Exchanged::HasLeft;
            }
            // SeqCst: see `put`.
            match slot.compare_exchange_weak(word, new, Ordering::SeqCst, Ordering::Acquire) {
                Ok(_) => return Exchanged::Replaced { old, written: new },
                Err(now) => word = now,
            }
        }
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Slot, shift and lap of a position that was claimed.
    fn place(&self, claimed: u64) -> (usize, u32, u64) {
        let lap = self.lap(claimed);
        // Below the size.
        #[allow(clippy::cast_possible_truncation)]
        let position = (claimed - lap * u64::from(self.size)) as u32;
        let slot = (position / MARKS_PER_SLOT) as usize;
        (slot, position % MARKS_PER_SLOT * BITS_PER_MARK, lap)
    }

    pub(crate) fn freeze(&self, stay: u64) {
        let tag = tag(stay);
        // Relaxed: by single-location order each claim is seen by the recount that follows, or finds
        // the ring frozen. The closure answers `None` only for a stay that is over.
        let _ = self
            .cursor()
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |cursor| {
                if tag_of(cursor) == tag {
                    Some(cursor | FROZEN)
                } else {
                    later(tag, tag_of(cursor)).then_some(tag << TAG_SHIFT | FROZEN)
                }
            });
    }

    pub(crate) fn thaw(&self, stay: u64) {
        let tag = tag(stay);
        // Relaxed: who finds it frozen waits for the lock.
        let _ = self
            .cursor()
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |cursor| {
                (tag_of(cursor) == tag).then_some(cursor & !FROZEN)
            });
    }
}

/// What became of a mark.
enum Exchanged {
    Replaced {
        old: Mark,
        /// The slot's word with it.
        written: u64,
    },
    /// It was not written, as if it had been and were replaced since.
    HasLeft,
    StayIsOver,
}

/// A slot's marks, without the stay, after one of them was written.
fn with_mark(marks: u64, shift: u32, lap: u64, mark: Mark) -> u64 {
    let others = marks & !(0b1111 << shift);
    if mark == Mark::SUCCESS {
        return others;
    }
    let lap = if lap % 2 == 1 { ODD_LAP } else { 0 };
    // Although it may be the same that is there: who has seen that one must not replace this one.
    let counted = others.wrapping_add(ONE_WRITTEN) & IN_SLOT;
    counted | (mark.bits() | lap) << shift
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

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests;
