//! The outcomes of the last so many seconds, in buckets on the clock's grid.
//!
//! A bucket's *number* counts buckets of time since a point in the past of the breaker, and jumps by more than a
//! window with every stay, so that all that an earlier stay recorded has long left the window. Each
//! cell packs `[number: 40 bits | count: 24 bits]`; the first outcome of a new number replaces what
//! an old one left, so beginning a bucket and recording in it are one step, and nobody sweeps.
//!
//! Writers add to `total` before `failed`, to that before `slow`, and to that before what is part
//! of it; readers read in the opposite order. So a rate that is read is never above the true one,
//! and no part is larger than its whole.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::clock::{Coarse, Nanos, nanos};
use crate::outcome::Mark;
use crate::sync::{AtomicU32, AtomicU64, OnceLock, Ordering};

use super::{Counts, Recorded};

const COUNT_BITS: u32 = 24;
/// 16 million outcomes: what comes on top within one bucket is left out, failures and all, so the
/// rate stays that of the ones before.
const COUNT_MAX: u64 = (1 << COUNT_BITS) - 1;
const SHARDS: usize = 4;
/// So many collisions make shards.
const COLLISIONS: u32 = 64;
/// No number of collisions makes any.
const NEVER: u32 = u32::MAX;
/// Of two numbers the newer one is told unless half of all lie between them: 174 years of buckets of
/// 10 ms, the shortest, or 900 million stays of the longest window.
const NUMBER_MASK: u64 = (1 << (64 - COUNT_BITS)) - 1;

#[derive(Default)]
struct Bucket {
    total: AtomicU64,
    failed: AtomicU64,
}

/// Only where something can be slow.
#[derive(Default)]
struct SlowBucket {
    slow: AtomicU64,
    slow_failed: AtomicU64,
    cancelled: AtomicU64,
}

pub(crate) struct TimeWindow {
    time: Duration,
    length: Nanos,
    first: u64,
    /// The number of the newest bucket with a failure or a slow call.
    last_bad: AtomicU64,
    /// The number of the newest bucket in which it was judged by enough calls; 0 if none.
    judged: AtomicU64,
    buckets: Box<[Bucket]>,
    slow_buckets: OnceLock<Box<[SlowBucket]>>,
    /// How often threads got in each other's way.
    collisions: AtomicU32,
    /// Rows of totals, one for some of the threads each, once threads contend.
    shards: OnceLock<Box<[AtomicU64]>>,
}

/// Which buckets a reader counts.
#[derive(Clone, Copy)]
struct Range {
    newest: u64,
    oldest: u64,
}

/// The bucket was replaced by a newer one while it was being read.
struct Moved(u64);

impl TimeWindow {
    pub(crate) fn new(time: Duration, buckets: u32, birth: Nanos, shards: bool) -> Self {
        let length = nanos(time).div_ceil(u64::from(buckets.max(1))).max(1);
        Self {
            time,
            length,
            first: birth / length,
            last_bad: AtomicU64::new(0),
            judged: AtomicU64::new(0),
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            slow_buckets: OnceLock::new(),
            collisions: AtomicU32::new(if shards { 0 } else { NEVER }),
            shards: OnceLock::new(),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    #[allow(clippy::cast_possible_truncation)] // made from that many
    pub(crate) fn buckets(&self) -> u32 {
        self.buckets.len() as u32
    }

    /// Makes room for slow calls.
    pub(crate) fn expect_slow(&self) {
        let buckets = self.buckets.iter();
        self.slow_buckets
            .get_or_init(|| buckets.map(|_| SlowBucket::default()).collect());
    }

    fn slow_buckets(&self) -> &[SlowBucket] {
        self.slow_buckets.get().map_or(&[], |buckets| buckets)
    }

    /// How many cells a row of shards has: whole cache lines.
    fn row(&self) -> usize {
        self.buckets.len().next_multiple_of(8)
    }

    /// Counts one more in total. `false` as [`add`] has it.
    #[inline]
    fn add_total(&self, bucket: &Bucket, index: usize, number: u64) -> bool {
        if let Some(shards) = self.shards.get() {
            let row = shard() % SHARDS * self.row();
            return shards
                .get(row + index)
                .is_some_and(|cell| add(cell, number).counted);
        }
        let added = add(&bucket.total, number);
        if added.collided {
            self.collide();
        }
        added.counted
    }

    #[cold]
    fn collide(&self) {
        // Relaxed: a measure of contention, nothing else depends on it.
        if self.collisions.load(Ordering::Relaxed) != NEVER
            && self.collisions.fetch_add(1, Ordering::Relaxed) >= COLLISIONS
        {
            self.spread();
        }
    }

    /// Makes the shards.
    fn spread(&self) {
        let cells = (0..SHARDS * self.row()).map(|_| AtomicU64::new(0));
        self.shards.get_or_init(|| cells.collect());
    }

    /// Buckets of a stay have numbers above those of every earlier stay by more than a window.
    fn number(&self, stay: u64, now: Nanos) -> u64 {
        let time = (now / self.length).saturating_sub(self.first);
        time.wrapping_add(stay.wrapping_mul(self.buckets.len() as u64 + 1))
    }

    /// Whether the whole of a coarse reading is in one bucket.
    #[inline]
    pub(crate) fn is_settled(&self, now: Coarse) -> bool {
        now.at % self.length + now.lag < self.length
    }

    pub(crate) fn record(&self, stay: u64, mark: Mark, now: Nanos) -> Recorded {
        let number = self.number(stay, now);
        #[allow(clippy::cast_possible_truncation)] // below the number of buckets
        let index = (number % self.buckets.len() as u64) as usize;
        let Some(bucket) = self.buckets.get(index) else {
            return Recorded::Late;
        };
        let bad = mark != Mark::SUCCESS;
        if bad {
            // SeqCst, before `total`: of a success that completes the minimum and a failure that
            // completes the rate, each writes and then reads the other's word; in a single total
            // order at least one of them sees both. Pairs with the load below.
            self.last_bad.fetch_max(number, Ordering::SeqCst);
        }
        if !self.add_total(bucket, index, number) {
            // The bucket is full, or the thread was held up until its outcome had left the window.
            // It is not counted, and judged all the same: failures in a row have no window.
            return Recorded::Counted;
        }
        if bad {
            if mark.failed() {
                add(&bucket.failed, number);
            }
            if let (true, Some(bucket)) = (mark.slow(), self.slow_buckets().get(index)) {
                add(&bucket.slow, number);
                if mark.failed() {
                    add(&bucket.slow_failed, number);
                }
                if mark.cancelled() {
                    add(&bucket.cancelled, number);
                }
            }
            return Recorded::Counted;
        }
        let oldest = number.saturating_sub(self.buckets.len() as u64 - 1);
        // SeqCst: pairs with the update above.
        if self.last_bad.load(Ordering::SeqCst) < oldest {
            Recorded::Clean
        } else if self.judged.load(Ordering::Relaxed) == number {
            // Relaxed: a rate rises by a failure or a slow call, which its own thread judges, by what
            // leaves the window, which is judged once a bucket, or as enough calls come together, which
            // they had, by the rules in force. So a success in the same bucket need not look.
            Recorded::Harmless
        } else {
            Recorded::Counted
        }
    }

    /// The stay was judged in this bucket, by enough calls, and goes on.
    pub(crate) fn judged(&self, stay: u64, now: Nanos) {
        // Relaxed: see `record`.
        self.judged.store(self.number(stay, now), Ordering::Relaxed);
    }

    /// There are other rules: the next outcomes are judged.
    pub(crate) fn not_judged(&self) {
        // Relaxed: whoever judges by the earlier rules just now may still store that it has. Then only the next
        // bucket is judged by the new ones.
        self.judged.store(0, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self, stay: u64, now: Nanos) -> Counts {
        let mut newest = self.number(stay, now);
        // Each new attempt means that another thread began a newer bucket meanwhile, which it does
        // once in a bucket's length. Should that go on for ever, the window is empty: a verdict is
        // then left to the next outcome.
        for _ in 0..16 {
            let oldest = newest.saturating_sub(self.buckets.len() as u64 - 1);
            match self.read(Range { newest, oldest }) {
                Ok(counts) => return counts,
                Err(Moved(to)) => newest = to,
            }
        }
        Counts::default()
    }

    fn read(&self, range: Range) -> Result<Counts, Moved> {
        let mut counts = Counts::default();
        for bucket in self.slow_buckets() {
            range.count(&bucket.cancelled, &mut counts.cancelled)?;
            range.count(&bucket.slow_failed, &mut counts.slow_failed)?;
        }
        for bucket in self.slow_buckets() {
            range.count(&bucket.slow, &mut counts.slow)?;
        }
        for bucket in &self.buckets {
            range.count(&bucket.failed, &mut counts.failed)?;
        }
        for bucket in &self.buckets {
            range.count(&bucket.total, &mut counts.total)?;
        }
        if let Some(shards) = self.shards.get() {
            for cell in shards {
                range.count(cell, &mut counts.total)?;
            }
        }
        Ok(counts)
    }
}

impl Range {
    /// Adds what the cell has for the window. A bucket that left the window while it was being read has
    /// been replaced by one beyond the newest, in `total` first of all.
    fn count(self, cell: &AtomicU64, sum: &mut u32) -> Result<(), Moved> {
        // SeqCst: after the reader's own writes in the order that `record` argues with.
        let word = cell.load(Ordering::SeqCst);
        let age = self.newest.wrapping_sub(word >> COUNT_BITS) & NUMBER_MASK;
        if age <= self.newest - self.oldest {
            #[allow(clippy::cast_possible_truncation)] // masked to 24 bits
            let count = (word & COUNT_MAX) as u32;
            *sum = sum.saturating_add(count);
            Ok(())
        } else if age > NUMBER_MASK / 2 && word != 0 {
            Err(Moved(self.newest + (NUMBER_MASK + 1 - age)))
        } else {
            Ok(())
        }
    }
}

/// What came of counting one.
struct Added {
    /// `false` if the cell has a newer number, or is full.
    counted: bool,
    /// Whether another thread wrote in between.
    collided: bool,
}

/// Counts one more under the number.
#[inline]
fn add(cell: &AtomicU64, number: u64) -> Added {
    let number = number & NUMBER_MASK;
    let mut collided = false;
    let mut word = cell.load(Ordering::Relaxed);
    loop {
        let ahead = number.wrapping_sub(word >> COUNT_BITS) & NUMBER_MASK;
        let full = ahead == 0 && word & COUNT_MAX == COUNT_MAX;
        if full || ahead > NUMBER_MASK / 2 {
            let counted = false;
            return Added { counted, collided };
        }
        let next = if ahead == 0 {
            word + 1
        } else {
            number << COUNT_BITS | 1
        };
        // SeqCst: see `record`. Success publishes the bucket's number and its first outcome at once.
        match cell.compare_exchange(word, next, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => {
                let counted = true;
                return Added { counted, collided };
            }
            Err(now) => word = now,
        }
        collided = true;
    }
}

/// This thread's number, to choose its shard by.
#[inline]
fn shard() -> usize {
    #[cfg(not(cb_loom))]
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    #[cfg(cb_loom)]
    loom::lazy_static! {
        static ref NEXT: AtomicUsize = AtomicUsize::new(0);
    }
    #[cfg(cb_loom)]
    loom::thread_local! {
        static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    #[cfg(not(cb_loom))]
    thread_local! {
        // Relaxed: only that neighbours differ matters.
        static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    // While a thread is being torn down any will do.
    MINE.try_with(|mine| *mine).unwrap_or_default()
}

#[cfg(all(test, cb_loom))]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    const OK: Mark = Mark::SUCCESS;
    const FAIL: Mark = Mark::of(true, false);

    fn window(seconds: u64, birth: Nanos) -> TimeWindow {
        let buckets = u32::try_from(seconds).unwrap();
        {
            let window = TimeWindow::new(Duration::from_secs(seconds), buckets, birth, true);
            window.expect_slow();
            window
        }
    }

    #[test]
    fn a_call_leaves_with_its_whole_bucket() {
        let birth = 7 * SECOND + 999_999_999;
        let window = window(2, birth);
        window.record(1, FAIL, birth);
        assert_eq!(window.counts(1, 8 * SECOND).total, 1);
        assert_eq!(window.counts(1, 9 * SECOND - 1).failed, 1);
        assert_eq!(window.counts(1, 9 * SECOND), Counts::default());
    }

    #[test]
    fn equals_a_recount_through_gaps_and_years() {
        let window = window(10, 0);
        let mut now = 0;
        let mut all: Vec<(Nanos, Mark)> = Vec::new();
        for i in 0..2_000_u64 {
            now += [
                0,
                SECOND / 3,
                SECOND,
                4 * SECOND,
                10 * SECOND,
                31_536_000 * SECOND,
            ][usize::try_from(i * i % 97 % 6).unwrap()]
                / if i % 50 == 0 { 1 } else { 3 };
            let mark = [OK, FAIL, Mark::of(true, true), Mark::cancelled_slow()]
                [usize::try_from(i * 7 % 4).unwrap()];
            window.record(1, mark, now);
            all.push((now, mark));
            let mut expected = Counts::default();
            all.iter()
                .filter(|(at, _)| at / SECOND + 10 > now / SECOND)
                .for_each(|(_, mark)| expected.add(*mark));
            assert_eq!(window.counts(1, now), expected, "outcome {i}");
        }
    }

    #[test]
    fn stays_do_not_mix() {
        let window = window(5, 0);
        for second in 0..5 {
            window.record(1, FAIL, second * SECOND);
        }
        assert_eq!(window.counts(2, 4 * SECOND), Counts::default());
        window.record(2, OK, 4 * SECOND);
        window.record(1, FAIL, 5 * SECOND);
        assert_eq!(
            window.counts(2, 5 * SECOND),
            Counts {
                total: 1,
                ..Counts::default()
            }
        );
    }

    #[test]
    fn a_reader_behind_the_newest_bucket_reads_the_newer_window() {
        let window = window(2, 0);
        window.record(1, FAIL, 0);
        window.record(1, FAIL, 3 * SECOND);
        let one = Counts {
            total: 1,
            failed: 1,
            ..Counts::default()
        };
        assert_eq!(window.counts(1, SECOND), one);
    }

    #[test]
    fn clean_while_no_failure_is_in_the_window() {
        let window = window(3, 0);
        assert_eq!(window.record(1, OK, 0), Recorded::Clean);
        assert_eq!(window.record(1, FAIL, SECOND), Recorded::Counted);
        assert_eq!(window.record(1, OK, 3 * SECOND), Recorded::Counted);
        assert_eq!(window.record(1, OK, 4 * SECOND), Recorded::Clean);
        assert_eq!(window.record(2, OK, 4 * SECOND), Recorded::Clean);
    }

    #[test]
    fn what_a_full_bucket_leaves_out_is_judged_all_the_same() {
        let window = window(1, 0);
        window.record(1, OK, 0);
        let total = &window.buckets[0].total;
        total.store(total.load(Ordering::SeqCst) | COUNT_MAX, Ordering::SeqCst);
        assert_eq!(window.record(1, FAIL, 0), Recorded::Counted);
        assert_eq!(window.counts(1, 0).failed, 0);
    }

    #[test]
    fn a_full_bucket_keeps_its_rate() {
        let cell = AtomicU64::new(5 << COUNT_BITS | COUNT_MAX);
        assert!(!add(&cell, 5).counted);
        assert!(add(&cell, 6).counted);
        assert_eq!(cell.load(Ordering::SeqCst), 6 << COUNT_BITS | 1);
    }
}
