//! The marks on their way to a ring of another size.

use crate::outcome::Mark;
use crate::sync::Ordering;

use super::{
    BITS_PER_MARK, CountWindow, IN_SLOT, LOW, MARKS_PER_SLOT, ODD_LAP, TAG_SHIFT, add, tag, tag_of,
    with_mark,
};

impl CountWindow {
    /// The marks of a frozen ring, the oldest first. Whoever has claimed a position and not written it
    /// yet finds its slot taken by `new`, a later tag, and its outcome here as a success.
    pub(crate) fn take(&self, stay: u64, new: u64) -> Vec<Mark> {
        let (tag, new) = (tag(stay), tag(new));
        // Relaxed: by single-location order each mark is either in the word that is taken, or its writer
        // finds the new tag.
        let words: Vec<u64> = self
            .ring()
            .slots
            .iter()
            .map(|slot| slot.swap(new << TAG_SHIFT, Ordering::Relaxed))
            .collect();
        // Relaxed: this thread has frozen it.
        let cursor = self.cursor().load(Ordering::Relaxed);
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
            .ring()
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
        self.ring()
            .failed
            .store(tag << TAG_SHIFT | failed, Ordering::Relaxed);
        self.ring()
            .slow
            .store(tag << TAG_SHIFT | slow, Ordering::Relaxed);
        let begun = tag << TAG_SHIFT | newest.len() as u64;
        self.moved.store(begun, Ordering::Relaxed);
        self.cursor().store(begun, Ordering::Relaxed);
    }

    /// Puts a mark in the place of the newest success that this frozen ring began with, if one is left.
    /// One that was recorded since may belong to a call that has not written its mark yet.
    pub(crate) fn amend(&self, stay: u64, mark: Mark) {
        let tag = tag(stay);
        // Relaxed: this thread has frozen it.
        let cursor = self.cursor().load(Ordering::Relaxed);
        let seen = cursor & LOW;
        // Relaxed: who was displaced has seen the version that it was stored for.
        let moved = match self.moved.load(Ordering::Relaxed) {
            moved if tag_of(moved) == tag => moved & LOW,
            _ => 0,
        };
        for claimed in (seen - u64::from(self.total(cursor, tag))..moved).rev() {
            let (slot, shift, lap) = self.place(claimed);
            let Some(slot) = self.ring().slots.get(slot) else {
                continue;
            };
            // Relaxed: the ring is frozen, and this exchanges what is there.
            let taken = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                let free = tag_of(word) == tag && read_mark(word, tag, shift, lap) == Mark::SUCCESS;
                let marks = with_mark(word & IN_SLOT, shift, lap, mark);
                free.then_some(tag << TAG_SHIFT | marks)
            });
            if let Ok(before) = taken {
                let before = Mark::from_bits((before & LOW) >> shift);
                add(self.ring().failed, tag, mark.failed(), before.failed());
                add(self.ring().slow, tag, mark.slow(), before.slow());
                return;
            }
        }
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
