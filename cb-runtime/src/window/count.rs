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
/// Exact for what is folded to 22 bits and sizes of up to 2^20.
const RECIPROCAL_SHIFT: u32 = 42;
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
    /// To divide by the size: 2^42 / size, rounded up.
    reciprocal: u64,
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
            reciprocal: (1 << RECIPROCAL_SHIFT) / u64::from(size) + 1,
            cursor: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            slots: (0..size.div_ceil(MARKS_PER_SLOT))
                .map(|_| AtomicU64::new(0))
                .collect(),
        }
    }

    #[inline(always)]
    pub(crate) fn record(&self, stay: u64, mark: Mark, min_calls: u32) -> Recorded {
        if mark == Mark::SUCCESS && self.is_calm(stay) {
            return Recorded::Clean;
        }
        self.record_in_ring(tag(stay), mark, min_calls)
    }

    /// Whether another success would change nothing.
    #[inline]
    pub(crate) fn is_calm(&self, stay: u64) -> bool {
        let tag = tag(stay);
        self.is_full(tag) && self.is_clean(tag)
    }

    #[inline(always)]
    fn record_in_ring(&self, tag: u64, mark: Mark, min_calls: u32) -> Recorded {
        let claimed = match self.claim(tag) {
            Ok(claimed) => claimed,
            Err(refused) => return refused,
        };
        let Some(old) = self.exchange(tag, claimed, mark) else {
            return Recorded::Displaced;
        };
        add(&self.failed, tag, mark.failed(), old.failed());
        add(&self.slow, tag, mark.slow(), old.slow());
        if mark != Mark::SUCCESS {
            Recorded::Counted
        } else if self.is_clean(tag) {
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
        let cursor = self.cursor.load(Ordering::Relaxed);
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
        let size = u64::from(self.size);
        self.lap(LOW - size) / 2 * 2 * size
    }

    /// In which lap a position of 22 bits is: a division by the size.
    #[inline]
    fn lap(&self, position: u64) -> u64 {
        // At most 2^22 − 1 times 2^42 + 1.
        (position * self.reciprocal) >> RECIPROCAL_SHIFT
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
    #[inline]
    fn claim(&self, tag: u64) -> Result<u32, Recorded> {
        let size = u64::from(self.size);
        // Acquire pairs with the exchange of a later stay: who is late sees that stay when it looks at the
        // breaker's word again. Relaxed where the exchange fails: the next attempt begins with this load.
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
                Ordering::Relaxed,
            ) {
                // Masked to 22 bits.
                #[allow(clippy::cast_possible_truncation)]
                Ok(_) => return Ok(seen as u32),
                Err(now) => cursor = now,
            }
        }
    }

    /// Puts the mark in its place and returns the one it replaces; `None` if the stay is over.
    #[inline(always)]
    fn exchange(&self, tag: u64, claimed: u32, mark: Mark) -> Option<Mark> {
        let (slot, shift, lap_number) = self.place(u64::from(claimed));
        let slot = self.slots.get(slot)?;
        let lap = if mark != Mark::SUCCESS && lap_number % 2 == 1 {
            ODD_LAP
        } else {
            0
        };
        // Acquire, here and where the exchange fails, pairs with the release of the exchange: who sees a
        // mark sees the claim that it was written for.
        let mut word = slot.load(Ordering::Acquire);
        loop {
            let marks = if tag_of(word) == tag {
                word & LOW
            } else if later(tag, tag_of(word)) {
                0
            } else {
                return None;
            };
            let old = Mark::from_bits(marks >> shift);
            let new = tag << TAG_SHIFT | marks & !(0b1111 << shift) | (mark.bits() | lap) << shift;
            if new == word {
                return Some(old);
            }
            // Relaxed, after the slot: it is as new as the marks that were seen, and a later claim than
            // the one seen here writes the slot after this, so that the exchange below fails.
            let cursor = self.cursor.load(Ordering::Relaxed);
            if tag_of(cursor) != tag {
                return None;
            }
            if self.has_left(claimed, cursor) {
                // As if it had been written and replaced since.
                return Some(mark);
            }
            match slot.compare_exchange_weak(word, new, Ordering::Release, Ordering::Acquire) {
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
        // Acquire pairs with `claim`: a call that is counted here has left those that run.
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

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// The marks of a frozen ring, the oldest first. Whoever has claimed a position and not written it
    /// yet finds its slot taken by `new`, a later tag, and its outcome here as a success.
    pub(crate) fn take(&self, stay: u64, new: u64) -> Vec<Mark> {
        let (tag, new) = (tag(stay), tag(new));
        // Relaxed: by single-location order each mark is either in the word that is taken, or its writer
        // finds the new tag.
        let words: Vec<u64> = self
            .slots
            .iter()
            .map(|slot| slot.swap(new << TAG_SHIFT, Ordering::Relaxed))
            .collect();
        // Relaxed: this thread has frozen it.
        let cursor = self.cursor.load(Ordering::Relaxed);
        let seen = cursor & LOW;
        let total = u64::from(self.total(cursor, tag));
        (seen.saturating_sub(total)..seen)
            .map(|claimed| {
                let (slot, shift, lap) = self.place(claimed);
                let word = words.get(slot).copied().unwrap_or_default();
                read_mark(word, tag, shift, lap)
            })
            .collect()
    }

    /// Begins a tag that was never there before with the newest of these, the oldest first.
    pub(crate) fn refill(&self, stay: u64, marks: &[Mark]) {
        let tag = tag(stay);
        let room = marks.len().saturating_sub(self.size as usize);
        let newest = marks.get(room..).unwrap_or_default();
        let (mut failed, mut slow) = (0, 0);
        // Relaxed, all of it: nobody has the tag before the version is stored, which publishes it.
        for (slot, marks) in self
            .slots
            .iter()
            .zip(newest.chunks(MARKS_PER_SLOT as usize))
        {
            let mut word = tag << TAG_SHIFT;
            for (place, mark) in (0..).zip(marks) {
                word |= mark.bits() << (place * BITS_PER_MARK);
                failed += u64::from(mark.failed());
                slow += u64::from(mark.slow());
            }
            slot.store(word, Ordering::Relaxed);
        }
        self.failed
            .store(tag << TAG_SHIFT | failed, Ordering::Relaxed);
        self.slow.store(tag << TAG_SHIFT | slow, Ordering::Relaxed);
        self.cursor
            .store(tag << TAG_SHIFT | newest.len() as u64, Ordering::Relaxed);
    }

    /// Puts a mark in the place of the newest success of a frozen ring, if there is one left.
    pub(crate) fn amend(&self, stay: u64, mark: Mark) {
        let tag = tag(stay);
        // Relaxed: this thread has frozen it.
        let cursor = self.cursor.load(Ordering::Relaxed);
        let seen = cursor & LOW;
        for back in 1..=u64::from(self.total(cursor, tag)) {
            let claimed = seen - back;
            let (slot, shift, lap) = self.place(claimed);
            let Some(slot) = self.slots.get(slot) else {
                continue;
            };
            let bits = (mark.bits() | if lap % 2 == 1 { ODD_LAP } else { 0 }) << shift;
            // Relaxed: the ring is frozen, and this exchanges what is there.
            let taken = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                let free = tag_of(word) == tag && read_mark(word, tag, shift, lap) == Mark::SUCCESS;
                free.then_some(word & !(0b1111 << shift) | bits)
            });
            if let Ok(before) = taken {
                let before = Mark::from_bits((before & LOW) >> shift);
                add(&self.failed, tag, mark.failed(), before.failed());
                add(&self.slow, tag, mark.slow(), before.slow());
                return;
            }
        }
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
            .cursor
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
            .cursor
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |cursor| {
                (tag_of(cursor) == tag).then_some(cursor & !FROZEN)
            });
    }
}

/// The mark that a position has had since it was claimed in this lap; a success if none was written
/// since.
fn read_mark(word: u64, tag: u64, shift: u32, lap: u64) -> Mark {
    let bits = (word & LOW) >> shift & 0b1111;
    let mark = Mark::from_bits(bits);
    let of_this_lap = (bits & ODD_LAP != 0) == (lap % 2 == 1);
    if tag_of(word) == tag && of_this_lap {
        mark
    } else {
        Mark::SUCCESS
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

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests;
