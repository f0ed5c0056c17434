//! Totals that many threads count at once without sharing a word.
//!
//! Each thread leases a block of cells and is the only one that writes to it: counting is a load and
//! a store. A breaker has a number, the place of its cells in every block; the total is the sum over
//! the blocks. Blocks are never freed: at the end of a thread its block goes, with its counts, to the
//! next thread. The number of a breaker that is gone goes to another one, which starts from what it
//! finds there.

use std::cell::{Cell, OnceCell};

use crate::sync::{AtomicU32, AtomicU64, Mutex, OnceBox, OnceLock, Ordering, lock};

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Rejected,
    Fallback,
}

const KINDS: usize = 2;
type Counts = [AtomicU64; KINDS];
/// One kind's cells within a block.
type First = [AtomicU64; FIRST];
/// How many cells are within a block: those of the first breakers that count anything. Part `n` of the
/// others has 2^n times as many.
const FIRST: usize = if cfg!(cb_loom) { 16 } else { 64 };
/// A model has few breakers, and blocks that are never freed.
const PARTS: usize = if cfg!(cb_loom) { 0 } else { 26 };
/// In place of a number.
const NONE: u32 = u32::MAX;

/// One thread's cells.
struct Block {
    first: [First; KINDS],
    /// Made when they are first written to.
    parts: [OnceLock<Box<[Counts]>>; PARTS],
}

impl Block {
    fn new() -> Self {
        Self {
            first: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))),
            parts: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// Part, and place in it, of a number that is not within the block.
    fn split(number: u32) -> (usize, usize) {
        let number = number as usize;
        let part = (number / FIRST).ilog2();
        (part as usize, number - (FIRST << part))
    }

    fn cell(&self, number: u32, what: usize) -> Option<&AtomicU64> {
        if let Some(cell) = self.first[what].get(number as usize) {
            return Some(cell);
        }
        let (part, place) = Self::split(number);
        Some(&self.parts.get(part)?.get()?.get(place)?[what])
    }

    /// Returns what it was.
    fn count(&self, number: u32, what: What) -> u64 {
        let what = what as usize;
        let cell = self.cell(number, what);
        cell.or_else(|| self.grow(number, what)).map_or(0, count)
    }

    #[cold]
    fn grow(&self, number: u32, what: usize) -> Option<&AtomicU64> {
        let (part, place) = Self::split(number);
        let cells = (0..FIRST << part).map(|_| Counts::default());
        let cells = self.parts.get(part)?.get_or_init(|| cells.collect());
        Some(&cells.get(place)?[what])
    }
}

/// In a cell of this thread's.
#[inline]
fn count(cell: &AtomicU64) -> u64 {
    // Relaxed: nobody else writes it, and readers take what they find.
    let before = cell.load(Ordering::Relaxed);
    cell.store(before + 1, Ordering::Relaxed);
    before
}

fn read(cell: &AtomicU64) -> u64 {
    // Relaxed: a count of the moment. Those of threads that were joined are all there.
    if cfg!(cb_loom) {
        // A load would not be tried after what another thread writes later.
        cell.fetch_add(0, Ordering::Relaxed)
    } else {
        cell.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Blocks {
    all: Vec<&'static Block>,
    /// Those of threads that have ended.
    free: Vec<&'static Block>,
    numbers: u32,
    free_numbers: Vec<u32>,
}

#[cfg(not(cb_loom))]
static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks::NONE);
#[cfg(cb_loom)]
loom::lazy_static! {
    static ref BLOCKS: Mutex<Blocks> = Mutex::new(Blocks::NONE);
}

impl Blocks {
    const NONE: Self = Self {
        all: Vec::new(),
        free: Vec::new(),
        numbers: 0,
        free_numbers: Vec::new(),
    };

    fn sum(&self, number: u32) -> [u64; KINDS] {
        let mut sum = [0_u64; KINDS];
        for block in &self.all {
            for (what, sum) in sum.iter_mut().enumerate() {
                *sum = sum.wrapping_add(block.cell(number, what).map_or(0, read));
            }
        }
        sum
    }
}

/// Of each kind.
type Mine = [&'static [AtomicU64]; KINDS];
const NO_CELLS: Mine = [&[]; KINDS];

/// A thread's block, given back at its end.
struct Lease(&'static Block);

impl Lease {
    fn take() -> Self {
        let mut blocks = lock(&BLOCKS);
        let block = blocks.free.pop().unwrap_or_else(|| {
            let block: &Block = Box::leak(Box::new(Block::new()));
            blocks.all.push(block);
            block
        });
        MINE.with(|mine| mine.set(block.first.each_ref().map(|first| &first[..])));
        Self(block)
    }
}

// In a model the list of blocks is gone before its last thread is.
#[cfg(not(cb_loom))]
impl Drop for Lease {
    fn drop(&mut self) {
        MINE.with(|mine| mine.set(NO_CELLS));
        lock(&BLOCKS).free.push(self.0);
    }
}

#[cfg(not(cb_loom))]
thread_local! {
    /// The cells within the block that `LEASE` holds, to be found without a look at whether that is still
    /// there; none if it is not.
    static MINE: Cell<Mine> = const { Cell::new(NO_CELLS) };
    static LEASE: OnceCell<Lease> = const { OnceCell::new() };
}
#[cfg(cb_loom)]
loom::thread_local! {
    static MINE: Cell<Mine> = Cell::new(NO_CELLS);
    static LEASE: OnceCell<Lease> = OnceCell::new();
}

/// The totals of one breaker.
pub(crate) struct Tally {
    /// [`NONE`] while nothing was counted.
    number: AtomicU32,
    rest: OnceBox<Rest>,
}

struct Rest {
    /// What the cells held when the number was taken.
    before: [u64; KINDS],
    /// Counted by threads that have no block any more.
    without: Counts,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            number: AtomicU32::new(NONE),
            rest: OnceBox::default(),
        }
    }
}

impl Tally {
    /// Counts one more. Returns how many this thread has counted before, more or less.
    #[inline]
    pub(crate) fn count(&self, what: What) -> u64 {
        let counted = MINE.with(|mine| {
            let cells = mine.get()[what as usize];
            // Acquire pairs with the store in `begin`.
            let number = self.number.load(Ordering::Acquire);
            // No breaker has that number, so `NONE` finds no cell.
            cells.get(number as usize).map(count).ok_or(number)
        });
        counted.unwrap_or_else(|number| self.count_elsewhere(number, what))
    }

    /// Where the cell is not within the block, or the breaker or the thread has none yet.
    #[cold]
    #[inline(never)]
    fn count_elsewhere(&self, number: u32, what: What) -> u64 {
        let number = match number {
            NONE => self.begin(),
            number => number,
        };
        LEASE
            .try_with(|lease| lease.get_or_init(Lease::take).0.count(number, what))
            .unwrap_or_else(|_| self.count_without(what))
    }

    /// Takes a number, unless it has one.
    fn begin(&self) -> u32 {
        let mut blocks = lock(&BLOCKS);
        // Relaxed: written under the lock.
        let number = self.number.load(Ordering::Relaxed);
        if number != NONE {
            return number;
        }
        let number = blocks.free_numbers.pop().unwrap_or_else(|| {
            blocks.numbers += 1;
            blocks.numbers - 1
        });
        let before = blocks.sum(number);
        let without = Counts::default();
        self.rest.get_or_init(|| Box::new(Rest { before, without }));
        // Release pairs with the load in `count`: what others count by this number comes after the sum, so
        // none of it is in there.
        self.number.store(number, Ordering::Release);
        number
    }

    /// The thread is being torn down.
    #[cold]
    fn count_without(&self, what: What) -> u64 {
        // Relaxed: a total for reports.
        let count = |rest: &Rest| rest.without[what as usize].fetch_add(1, Ordering::Relaxed);
        self.rest.get().map_or(0, count)
    }

    pub(crate) fn total(&self, what: What) -> u64 {
        // Relaxed: who sees the number and not yet the rest reads as if nothing had been counted. The sum is
        // under the lock under which both were made.
        let number = self.number.load(Ordering::Relaxed);
        let Some(rest) = self.rest.get().filter(|_| number != NONE) else {
            return 0;
        };
        let sum = lock(&BLOCKS).sum(number);
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
        if number != NONE {
            lock(&BLOCKS).free_numbers.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn parts_follow_one_another() {
        assert_eq!(Block::split(64), (0, 0));
        assert_eq!(Block::split(127), (0, 63));
        assert_eq!(Block::split(128), (1, 0));
        assert_eq!(Block::split(255), (1, 127));
        assert_eq!(Block::split(256), (2, 0));
        assert!(Block::split(NONE - 1).0 < PARTS);
        assert!(Block::new().cell(NONE, 0).is_none());
    }

    #[test]
    fn each_number_has_a_cell_of_its_own() {
        let block = Block::new();
        for number in 0..1000 {
            assert_eq!(block.count(number, What::Rejected), 0, "{number}");
        }
        for number in 0..1000 {
            assert_eq!(block.count(number, What::Rejected), 1, "{number}");
            assert_eq!(block.count(number, What::Fallback), 0, "{number}");
        }
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
