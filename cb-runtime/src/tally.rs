//! Totals that many threads count at once without sharing a word.
//!
//! Each thread leases a block of cells and is the only one that writes to it: counting is a load and
//! a store. A breaker has a number, the place of its cells in every block; the total is the sum over
//! the blocks. Blocks are never freed: at the end of a thread its block goes, with its counts, to the
//! next thread. The number of a breaker that is gone goes to another one, which starts from what it
//! finds there.

use std::cell::{Cell, OnceCell};

use crate::sync::{AtomicU64, Mutex, OnceBox, OnceLock, Ordering, lock};

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Rejected,
    Fallback,
}

const KINDS: usize = 2;
type Counts = [AtomicU64; KINDS];
/// The cells of the first part of a block; each next part has twice as many.
const FIRST: u32 = 16;
/// A model has few breakers, and blocks that are never freed.
const PARTS: usize = if cfg!(cb_loom) { 1 } else { 28 };

/// One thread's cells. A part is made when it is first written to.
#[derive(Default)]
struct Block {
    parts: [OnceLock<Box<[Counts]>>; PARTS],
}

/// Where the cells of a number are, in one word: `[1 | part: 31 bits | place in it: 32 bits]`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place(u64);

impl Place {
    /// Of a number, which counts from 0.
    fn of(number: u32) -> Self {
        let shifted = u64::from(number) + u64::from(FIRST);
        let part = shifted.ilog2() - FIRST.ilog2();
        let place = shifted - (u64::from(FIRST) << part);
        Self(1 << 63 | u64::from(part) << 32 | place)
    }

    fn number(self) -> u32 {
        let shifted = (u64::from(FIRST) << self.part()) + self.place() as u64;
        // As it was.
        #[allow(clippy::cast_possible_truncation)]
        {
            (shifted - u64::from(FIRST)) as u32
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // 31 bits
    fn part(self) -> usize {
        (self.0 >> 32) as usize & 0x7fff_ffff
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // as was meant
    fn place(self) -> usize {
        self.0 as u32 as usize
    }
}

impl Block {
    #[inline]
    fn cell(&self, place: Place) -> Option<&Counts> {
        self.parts.get(place.part())?.get()?.get(place.place())
    }

    /// Returns what it was.
    #[inline]
    fn count(&self, place: Place, what: What) -> u64 {
        let cell = self.cell(place).or_else(|| self.grow(place));
        cell.map_or(0, |cell| count(&cell[what as usize]))
    }

    #[cold]
    fn grow(&self, place: Place) -> Option<&Counts> {
        let cells = (0..u64::from(FIRST) << place.part()).map(|_| Counts::default());
        self.parts
            .get(place.part())?
            .get_or_init(|| cells.collect())
            .get(place.place())
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

    fn sum(&self, place: Place) -> [u64; KINDS] {
        let mut sum = [0_u64; KINDS];
        for cell in self.all.iter().filter_map(|block| block.cell(place)) {
            for (sum, count) in sum.iter_mut().zip(cell) {
                // Relaxed: a count of the moment. Those of threads that were joined are all there.
                *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
            }
        }
        sum
    }
}

/// A thread's block, given back at its end.
struct Lease(&'static Block);

impl Lease {
    fn take() -> Self {
        let mut blocks = lock(&BLOCKS);
        let block = blocks.free.pop().unwrap_or_else(|| {
            let block: &Block = Box::leak(Box::default());
            blocks.all.push(block);
            block
        });
        MINE.with(|mine| mine.set(Some(block)));
        Self(block)
    }
}

// In a model the list of blocks is gone before its last thread is.
#[cfg(not(cb_loom))]
impl Drop for Lease {
    fn drop(&mut self) {
        MINE.with(|mine| mine.set(None));
        lock(&BLOCKS).free.push(self.0);
    }
}

#[cfg(not(cb_loom))]
thread_local! {
    /// What `LEASE` holds, to be found without a look at whether that is still there.
    static MINE: Cell<Option<&'static Block>> = const { Cell::new(None) };
    static LEASE: OnceCell<Lease> = const { OnceCell::new() };
}
#[cfg(cb_loom)]
loom::thread_local! {
    static MINE: Cell<Option<&'static Block>> = Cell::new(None);
    static LEASE: OnceCell<Lease> = OnceCell::new();
}

/// The totals of one breaker.
#[derive(Default)]
pub(crate) struct Tally {
    /// A [`Place`]; 0 while nothing was counted.
    place: AtomicU64,
    rest: OnceBox<Rest>,
}

struct Rest {
    /// What the cells held when the number was taken.
    before: [u64; KINDS],
    /// Counted by threads that have no block any more.
    without: Counts,
}

impl Tally {
    /// Counts one more. Returns how many this thread has counted before, more or less.
    #[inline]
    pub(crate) fn count(&self, what: What) -> u64 {
        // Acquire pairs with the store in `begin`.
        let place = self.place.load(Ordering::Acquire);
        let mine = MINE.with(Cell::get).filter(|_| place != 0);
        match mine.and_then(|block| block.cell(Place(place))) {
            Some(cell) => count(&cell[what as usize]),
            None => self.count_first(what),
        }
    }

    /// The breaker's first or the thread's.
    #[cold]
    fn count_first(&self, what: What) -> u64 {
        let place = self.begin();
        LEASE
            .try_with(|lease| lease.get_or_init(Lease::take).0.count(place, what))
            .unwrap_or_else(|_| self.count_without(what))
    }

    /// Takes a number, unless it has one.
    fn begin(&self) -> Place {
        let mut blocks = lock(&BLOCKS);
        // Relaxed: written under the lock.
        let place = self.place.load(Ordering::Relaxed);
        if place != 0 {
            return Place(place);
        }
        let number = blocks.free_numbers.pop().unwrap_or_else(|| {
            blocks.numbers += 1;
            blocks.numbers - 1
        });
        let place = Place::of(number);
        let before = blocks.sum(place);
        let without = Counts::default();
        self.rest.get_or_init(|| Box::new(Rest { before, without }));
        // Release pairs with the load in `count`: what others count by this place comes after the sum, so
        // none of it is in there.
        self.place.store(place.0, Ordering::Release);
        place
    }

    /// The thread is being torn down.
    #[cold]
    fn count_without(&self, what: What) -> u64 {
        // Relaxed: a total for reports.
        let count = |rest: &Rest| rest.without[what as usize].fetch_add(1, Ordering::Relaxed);
        self.rest.get().map_or(0, count)
    }

    pub(crate) fn total(&self, what: What) -> u64 {
        // Relaxed: who sees the place and not yet the rest reads as if nothing had been counted. The sum is
        // under the lock under which both were made.
        let place = self.place.load(Ordering::Relaxed);
        let Some(rest) = self.rest.get().filter(|_| place != 0) else {
            return 0;
        };
        let sum = lock(&BLOCKS).sum(Place(place));
        let kind = what as usize;
        // Relaxed: as in `sum`.
        let without = rest.without[kind].load(Ordering::Relaxed);
        sum[kind].wrapping_sub(rest.before[kind]) + without
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        // Relaxed: nobody else has it any more.
        let place = self.place.load(Ordering::Relaxed);
        if place != 0 {
            lock(&BLOCKS).free_numbers.push(Place(place).number());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn parts_follow_one_another() {
        let place = |number| {
            let place = Place::of(number);
            assert_eq!(place.number(), number);
            (place.part(), place.place())
        };
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
