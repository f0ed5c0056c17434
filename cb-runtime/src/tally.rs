//! Totals that many threads count at once without sharing a word.
//!
//! Each thread leases a block of cells and is the only one that writes to it: counting is a load and
//! a store. A breaker has a number, the place of its cells in every block; the total is the sum over
//! the blocks. Blocks are never freed: at the end of a thread its block goes, with its counts, to the
//! next thread. The number of a breaker that is gone goes to another one, which starts from what it
//! finds there.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use crate::sync::Ordering;
use crate::sync::plain::{AtomicU32, AtomicU64, Mutex, lock};

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Rejected,
    Fallback,
}

const KINDS: usize = 2;
type Cell = [AtomicU64; KINDS];
/// The cells of the first part of a block; each next part has twice as many.
const FIRST: u32 = 16;
const PARTS: usize = 28;

/// One thread's cells. A part is made when it is first written to.
#[derive(Default)]
struct Block {
    parts: [OnceLock<Box<[Cell]>>; PARTS],
}

/// Part and place of a number, which counts from 0.
fn place(number: u32) -> (usize, usize) {
    let shifted = u64::from(number) + u64::from(FIRST);
    let part = shifted.ilog2() - FIRST.ilog2();
    let place = shifted - (u64::from(FIRST) << part);
    // 2^32 at the most.
    #[allow(clippy::cast_possible_truncation)]
    (part as usize, place as usize)
}

impl Block {
    fn cell(&self, number: u32) -> Option<&Cell> {
        let (part, place) = place(number);
        let part = self.parts.get(part)?;
        part.get()?.get(place)
    }

    /// Returns what it was.
    #[inline]
    fn count(&self, number: u32, what: What) -> u64 {
        let Some(cell) = self.cell(number).or_else(|| self.grow(number)) else {
            return 0;
        };
        let count = &cell[what as usize];
        // Relaxed: nobody else writes it, and readers take what they find.
        let before = count.load(Ordering::Relaxed);
        count.store(before + 1, Ordering::Relaxed);
        before
    }

    #[cold]
    fn grow(&self, number: u32) -> Option<&Cell> {
        let (part, place) = place(number);
        let cells = (0..u64::from(FIRST) << part).map(|_| Cell::default());
        self.parts
            .get(part)?
            .get_or_init(|| cells.collect())
            .get(place)
    }
}

#[derive(Default)]
struct Blocks {
    all: Vec<Arc<Block>>,
    /// Those of threads that have ended.
    free: Vec<Arc<Block>>,
    numbers: u32,
    free_numbers: Vec<u32>,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks {
    all: Vec::new(),
    free: Vec::new(),
    numbers: 0,
    free_numbers: Vec::new(),
});

impl Blocks {
    fn sum(&self, number: u32) -> [u64; KINDS] {
        let mut sum = [0_u64; KINDS];
        for cell in self.all.iter().filter_map(|block| block.cell(number)) {
            for (sum, count) in sum.iter_mut().zip(cell) {
                // Relaxed: a count of the moment. Those of threads that were joined are all there.
                *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
            }
        }
        sum
    }
}

/// A thread's block, given back at its end.
struct Lease(Arc<Block>);

impl Lease {
    fn take() -> Self {
        let mut blocks = lock(&BLOCKS);
        let block = blocks.free.pop().unwrap_or_else(|| {
            let block = Arc::<Block>::default();
            blocks.all.push(Arc::clone(&block));
            block
        });
        Self(block)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock(&BLOCKS).free.push(Arc::clone(&self.0));
    }
}

thread_local! {
    static MINE: OnceCell<Lease> = const { OnceCell::new() };
}

/// The totals of one breaker.
#[derive(Default)]
pub(crate) struct Tally {
    /// One more than its number; 0 while nothing was counted.
    number: AtomicU32,
    rest: OnceLock<Box<Rest>>,
}

struct Rest {
    /// What the cells held when the number was taken.
    before: [u64; KINDS],
    /// Counted by threads that have no block any more.
    without: Cell,
}

impl Tally {
    /// Counts one more. Returns how many this thread has counted before, more or less.
    #[inline]
    pub(crate) fn count(&self, what: What) -> u64 {
        // Acquire pairs with the store in `begin`.
        let number = self.number.load(Ordering::Acquire);
        let number = if number == 0 { self.begin() } else { number };
        MINE.try_with(|mine| mine.get_or_init(Lease::take).0.count(number - 1, what))
            .unwrap_or_else(|_| self.count_without(what))
    }

    /// Takes a number.
    #[cold]
    fn begin(&self) -> u32 {
        self.rest.get_or_init(|| {
            let mut blocks = lock(&BLOCKS);
            let number = blocks.free_numbers.pop().unwrap_or_else(|| {
                blocks.numbers += 1;
                blocks.numbers - 1
            });
            // Release pairs with the load in `count`.
            self.number.store(number + 1, Ordering::Release);
            Box::new(Rest {
                before: blocks.sum(number),
                without: Cell::default(),
            })
        });
        // Relaxed: written above, or by the thread that was waited for.
        self.number.load(Ordering::Relaxed)
    }

    /// The thread is being torn down.
    #[cold]
    fn count_without(&self, what: What) -> u64 {
        // Relaxed: a total for reports.
        let count = |rest: &Rest| rest.without[what as usize].fetch_add(1, Ordering::Relaxed);
        self.rest.get().map_or(0, |rest| count(rest))
    }

    pub(crate) fn total(&self, what: What) -> u64 {
        let Some(rest) = self.rest.get() else {
            return 0;
        };
        // Relaxed: written before `rest` was.
        let number = self.number.load(Ordering::Relaxed);
        let sum = lock(&BLOCKS).sum(number - 1);
        let kind = what as usize;
        // Relaxed: as in `sum`.
        let without = rest.without[kind].load(Ordering::Relaxed);
        sum[kind].wrapping_sub(rest.before[kind]) + without
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        // Relaxed: nobody else has it any more.
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            lock(&BLOCKS).free_numbers.push(number - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(15), (0, 15));
        assert_eq!(place(16), (1, 0));
        assert_eq!(place(47), (1, 31));
        assert_eq!(place(48), (2, 0));
        assert!(place(u32::MAX).0 < PARTS + 1);
    }

    #[test]
    fn the_total_is_that_of_all_threads_also_of_those_that_have_ended() {
        let tally = Tally::default();
        assert_eq!(tally.total(What::Rejected), 0);
        for _ in 0..3 {
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        for _ in 0..1000 {
                            tally.count(What::Rejected);
                        }
                    });
                }
            });
        }
        tally.count(What::Fallback);
        assert_eq!(tally.total(What::Rejected), 12_000);
        assert_eq!(tally.total(What::Fallback), 1);
    }

    #[test]
    fn who_takes_a_number_over_begins_with_nothing() {
        for i in 0..100_u64 {
            let tally = Tally::default();
            for _ in 0..i {
                tally.count(What::Rejected);
            }
            assert_eq!(tally.total(What::Rejected), i);
        }
        let used = lock(&BLOCKS).numbers;
        assert!(used < 50, "{used} numbers");
    }

    #[test]
    fn a_thread_that_is_being_torn_down_counts_too() {
        struct AtEnd(Arc<Tally>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                self.0.count(What::Rejected);
            }
        }
        thread_local! {
            static LAST: OnceCell<AtEnd> = const { OnceCell::new() };
        }
        let tally = Arc::new(Tally::default());
        let shared = Arc::clone(&tally);
        let thread = std::thread::spawn(move || {
            LAST.with(|last| {
                last.get_or_init(|| AtEnd(Arc::clone(&shared)))
                    .0
                    .count(What::Rejected)
            });
        });
        thread.join().unwrap();
        assert_eq!(tally.total(What::Rejected), 2);
    }
}
