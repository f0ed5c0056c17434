//! The calls that are still running, by when they began, so that a hang is seen while it hangs.
//!
//! A ring of buckets, each a sixteenth of `slow` long but at least 1 ms, counts the running calls by the time at which
//! they began. What a bucket still holds when its turn comes again has been running for longer than
//! `slow`: it moves to a pool. Buckets are numbered as those of a time window are, so that calls of
//! an earlier stay never count in a later one. Beginning and ending a call is one exchange each.

use crate::clock::Nanos;
use crate::sync::{AtomicU64, Ordering};

const PARTS: u64 = 16;
/// One for each part of `slow`, one that is being filled, one to spare.
const BUCKETS: usize = 18;
/// A millisecond, so that the numbers of the buckets last for decades.
const SHORTEST: Nanos = 1_000_000;
const COUNT_BITS: u32 = 24;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const NUMBER_MASK: u64 = (1 << (64 - COUNT_BITS)) - 1;

pub(crate) struct Running {
    length: Nanos,
    first: u64,
    /// The number of the bucket in which the present stay began.
    base: AtomicU64,
    /// `[number: 40 bits | running calls: 24 bits]`
    buckets: [AtomicU64; BUCKETS],
    /// `[stay: 40 bits | running calls: 24 bits, which may be below zero for a moment]`
    pool: AtomicU64,
    /// When the oldest call that went into the pool of this stay began.
    pool_began: AtomicU64,
}

/// What is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) calls: u32,
    /// Those that have been running for longer than `slow`.
    pub(crate) overdue: u32,
    /// When the oldest of them began, to within a bucket.
    pub(crate) oldest: Option<Nanos>,
}

/// How many calls the pool holds; none while it is short of some that are on their way there.
#[allow(clippy::cast_possible_truncation)] // 24 bits
fn in_pool(word: u64) -> u32 {
    let calls = word & COUNT_MASK;
    if calls > COUNT_MASK / 2 {
        0
    } else {
        calls as u32
    }
}

/// Whether `a` is ahead of `b`, on a circle.
fn ahead(a: u64, b: u64) -> bool {
    let distance = a.wrapping_sub(b) & NUMBER_MASK;
    distance != 0 && distance <= NUMBER_MASK / 2
}

impl Running {
    pub(crate) fn new(slow: Nanos, birth: Nanos) -> Self {
        let length = slow.div_ceil(PARTS).max(SHORTEST);
        Self {
            length,
            first: birth / length,
            base: AtomicU64::new(BUCKETS as u64 + 1),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            pool: AtomicU64::new(0),
            pool_began: AtomicU64::new(Nanos::MAX),
        }
    }

    fn number(&self, stay: u64, time: Nanos) -> u64 {
        let time = (time / self.length).saturating_sub(self.first);
        time.wrapping_add(stay.wrapping_mul(BUCKETS as u64 + 1)) & NUMBER_MASK
    }

    fn bucket(&self, number: u64) -> &AtomicU64 {
        // Below the number of buckets.
        #[allow(clippy::cast_possible_truncation)]
        &self.buckets[(number % BUCKETS as u64) as usize]
    }

    /// A stay begins. The caller holds the breaker's lock and has not published the stay yet.
    pub(crate) fn begin_stay(&self, stay: u64, now: Nanos) {
        // Relaxed: published with the state's word.
        self.base.store(self.number(stay, now), Ordering::Relaxed);
    }

    /// How many buckets ago the stay began, as seen from one of its own.
    fn age_of_stay(&self, number: u64) -> u64 {
        // Relaxed: see `begin_stay`.
        number.wrapping_sub(self.base.load(Ordering::Relaxed)) & NUMBER_MASK
    }

    /// When a bucket of this stay began.
    fn time(&self, stay: u64, number: u64) -> Nanos {
        let since_birth = number.wrapping_sub(stay.wrapping_mul(BUCKETS as u64 + 1)) & NUMBER_MASK;
        let time = since_birth.saturating_add(self.first);
        time.saturating_mul(self.length)
    }

    /// A call begins.
    pub(crate) fn begin(&self, stay: u64, start: Nanos) {
        let number = self.number(stay, start);
        let bucket = self.bucket(number);
        // Relaxed, here and in `end`: single-location order, and a call leaves before it is recorded, by
        // which it is published.
        let before = bucket.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let there = word >> COUNT_BITS;
            if there == number {
                (word & COUNT_MASK < COUNT_MASK).then(|| word + 1)
            } else {
                ahead(number, there).then_some(number << COUNT_BITS | 1)
            }
        });
        match before {
            Ok(word) if word >> COUNT_BITS != number => self.retire(stay, number, word),
            Ok(_) => {}
            // The thread was held up so long that its call is overdue already.
            Err(_) => self.pool(stay, 1, start),
        }
    }

    /// Moves what an old bucket of the same stay still held to the pool.
    fn retire(&self, stay: u64, number: u64, old: u64) {
        let (there, held) = (old >> COUNT_BITS, old & COUNT_MASK);
        let age = number.wrapping_sub(there) & NUMBER_MASK;
        // Buckets of an earlier stay are older than the stay.
        if held > 0 && age <= self.age_of_stay(number) {
            self.pool(stay, held, self.time(stay, there));
        }
    }

    fn pool(&self, stay: u64, calls: u64, began: Nanos) {
        if let Some(word) = self.add_to_pool(stay, calls) {
            let empty = word >> COUNT_BITS != stay & NUMBER_MASK || in_pool(word) == 0;
            // Relaxed: for reports.
            if empty {
                self.pool_began.store(began, Ordering::Relaxed);
            } else {
                self.pool_began.fetch_min(began, Ordering::Relaxed);
            }
        }
    }

    /// Adds to the pool of a stay, which a stay that is over has no more. Returns the word before.
    fn add_to_pool(&self, stay: u64, calls: u64) -> Option<u64> {
        let tag = stay & NUMBER_MASK;
        // Relaxed: as in `begin`.
        self.pool
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                let there = word >> COUNT_BITS;
                let before = if there == tag { word } else { 0 };
                (there == tag || ahead(tag, there))
                    .then_some(tag << COUNT_BITS | before.wrapping_add(calls) & COUNT_MASK)
            })
            .ok()
    }

    /// A call ends.
    pub(crate) fn end(&self, stay: u64, start: Nanos) {
        let number = self.number(stay, start);
        // Relaxed: as in `begin`.
        let left = self
            .bucket(number)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                (word >> COUNT_BITS == number && word & COUNT_MASK > 0).then(|| word - 1)
            });
        if left.is_ok() {
            return;
        }
        // It is in the pool, or on its way there, perhaps as the first of its stay: then the pool is one short
        // for a moment. Minus one, in 24 bits.
        self.add_to_pool(stay, COUNT_MASK);
    }

    /// What is running of this stay, `slow` being the limit.
    pub(crate) fn now(&self, stay: u64, now: Nanos, slow: Nanos) -> InFlight {
        let newest = self.number(stay, now);
        let age_of_stay = self.age_of_stay(newest);
        let mut found = InFlight::default();
        for bucket in &self.buckets {
            // Relaxed: who has seen a call recorded sees it gone.
            let word = bucket.load(Ordering::Relaxed);
            let (number, calls) = (word >> COUNT_BITS, word & COUNT_MASK);
            let age = newest.wrapping_sub(number) & NUMBER_MASK;
            if calls == 0 || age > age_of_stay {
                continue;
            }
            let began = self.time(stay, number);
            let end = began.saturating_add(self.length);
            // 24 bits.
            #[allow(clippy::cast_possible_truncation)]
            let calls = calls as u32;
            found.calls += calls;
            // Even the last that can be in it began so long ago.
            if now.saturating_sub(end) >= slow {
                found.overdue += calls;
            }
            found.oldest = Some(found.oldest.map_or(began, |oldest| oldest.min(began)));
        }
        // Relaxed: as above.
        let pool = self.pool.load(Ordering::Relaxed);
        let calls = in_pool(pool);
        if pool >> COUNT_BITS == stay & NUMBER_MASK && calls > 0 {
            found.calls += calls;
            found.overdue += calls;
            // Relaxed: for reports.
            let began = self.pool_began.load(Ordering::Relaxed);
            found.oldest = Some(found.oldest.map_or(began, |oldest| oldest.min(began)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    const SLOW: Nanos = 1600 * MS;

    fn overdue(running: &Running, now: Nanos) -> u32 {
        running.now(1, now, SLOW).overdue
    }

    #[test]
    fn overdue_within_a_sixteenth() {
        let running = Running::new(SLOW, 0);
        running.begin(1, 50 * MS);
        assert_eq!(overdue(&running, 50 * MS + SLOW), 0);
        assert_eq!(overdue(&running, 150 * MS + SLOW), 1);
        running.end(1, 50 * MS);
        assert_eq!(running.now(1, 9999 * MS, SLOW), InFlight::default());
    }

    #[test]
    fn equals_a_recount_whatever_hangs_for_however_long() {
        for birth in [0, 12_345_678 * MS] {
            let running = Running::new(SLOW, birth);
            let mut calls: Vec<Nanos> = Vec::new();
            let mut now = birth;
            for i in 0..5_000_u64 {
                now += MS * [0, 7, 90, 100, 333, 1700, 50_000][usize::try_from(i * i % 7).unwrap()];
                if i * 7 % 5 < 3 || calls.is_empty() {
                    running.begin(1, now);
                    calls.push(now);
                } else {
                    let at = usize::try_from(i * 31).unwrap() % calls.len();
                    running.end(1, calls.swap_remove(at));
                }
                let found = running.now(1, now, SLOW);
                assert_eq!(found.calls as usize, calls.len(), "step {i}");
                let surely = calls
                    .iter()
                    .filter(|began| now - **began >= SLOW + 100 * MS)
                    .count();
                let at_most = calls.iter().filter(|began| now - **began >= SLOW).count();
                let overdue = found.overdue as usize;
                assert!(
                    (surely..=at_most).contains(&overdue),
                    "step {i}: {surely} {overdue}"
                );
            }
        }
    }

    #[test]
    fn calls_of_an_earlier_stay_do_not_count() {
        let running = Running::new(SLOW, 0);
        for start in 0..20 {
            running.begin(1, start * 100 * MS);
        }
        running.begin_stay(2, 2_000 * MS);
        assert_eq!(running.now(2, 2_000 * MS, SLOW), InFlight::default());
        running.begin(2, 5_000 * MS);
        running.end(1, 0);
        running.end(1, 1_900 * MS);
        let found = running.now(2, 5_000 * MS + SLOW + 100 * MS, SLOW);
        assert_eq!((found.calls, found.overdue), (1, 1));
        assert_eq!(found.oldest, Some(5_000 * MS));
        for start in 0..40 {
            running.begin(2, (5_000 + start * 100) * MS);
        }
        assert_eq!(running.now(2, 9_000 * MS, SLOW).calls, 41);
    }

    /// In each round the pool is used for the first time once more.
    #[test]
    fn threads_that_begin_and_end_leave_nothing_behind() {
        use std::collections::VecDeque;
        use std::sync::{Barrier, atomic::AtomicU64};
        const ROUNDS: u64 = 2_000;
        let running = Running::new(SLOW, 0);
        let (clock, round) = (AtomicU64::new(0), Barrier::new(4));
        let run = |stay| {
            let mut calls = VecDeque::new();
            for i in 0..150_u64 {
                let now = clock.fetch_add(i % 40 * MS, Ordering::SeqCst);
                running.begin(stay, now);
                calls.push_back(now);
                if calls.len() > 50 {
                    let first = calls.pop_front();
                    first.into_iter().for_each(|start| running.end(stay, start));
                }
            }
            calls.into_iter().for_each(|start| running.end(stay, start));
        };
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for stay in 1..=ROUNDS {
                        if round.wait().is_leader() {
                            running.begin_stay(stay, clock.load(Ordering::SeqCst));
                        }
                        round.wait();
                        run(stay);
                        round.wait();
                        let now = clock.load(Ordering::SeqCst);
                        assert_eq!(running.now(stay, now, SLOW), InFlight::default(), "{stay}");
                    }
                });
            }
        });
    }
}
