//! Durations of calls, in cells so narrow that a histogram made of them is as good as one made of
//! the durations.

use std::time::Duration;

use crate::clock::{Nanos, nanos};
use crate::sync::{AtomicU64, OnceLock, Ordering};

/// Each power of two is divided into so many cells: a cell's ends differ by 12 % at the most.
const CELLS: usize = 8;
const CELL_BITS: u32 = CELLS.trailing_zeros();
/// The first power holds everything below 2 µs, the last everything from 275 s.
const FIRST: u32 = 10;
const LAST: u32 = 38;
const POWERS: usize = (LAST - FIRST + 1) as usize;

#[derive(Default)]
struct Cell {
    count: AtomicU64,
    sum: AtomicU64,
}

/// Powers of two are made when they are first needed: a service needs a few of them.
#[derive(Default)]
pub(super) struct Durations {
    powers: [OnceLock<Box<[Cell; CELLS]>>; POWERS],
}

/// How much of a cell an exporter has told of.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    count: u64,
    sum: Nanos,
}

/// What an exporter has told of, by cell.
pub(super) type AllTold = Vec<Told>;

fn cell_of(duration: Nanos) -> (usize, usize) {
    let power = (duration | 1).ilog2();
    if power < FIRST {
        return (0, 0);
    }
    if power > LAST {
        return (POWERS - 1, CELLS - 1);
    }
    let cell = (duration >> (power - CELL_BITS)) & (CELLS as u64 - 1);
    // Below `CELLS`, by the mask.
    (
        (power - FIRST) as usize,
        usize::try_from(cell).unwrap_or_default(),
    )
}

/// The least duration of a cell; the cell's end is the least of the next one.
fn least(power: usize, cell: usize) -> Nanos {
    if (power, cell) == (0, 0) {
        return 0;
    }
    let base = 1_u64 << (FIRST as usize + power);
    base + (base >> CELL_BITS) * cell as u64
}

impl Durations {
    pub(super) fn add(&self, duration: Duration) {
        let duration = nanos(duration);
        let (power, cell) = cell_of(duration);
        let cells = self.powers[power].get_or_init(Box::default);
        let cell = &cells[cell];
        cell.sum.fetch_add(duration, Ordering::Relaxed);
        // Release pairs with the load in `tell`: who sees the count sees the sum.
        cell.count.fetch_add(1, Ordering::Release);
    }

    /// Calls `tell` with what has come since: a duration in seconds, and how often. It is the mean
    /// of its cell, so that sums are exact.
    pub(super) fn tell(&self, told: &mut AllTold, mut tell: impl FnMut(f64, usize)) {
        told.resize(POWERS * CELLS, Told::default());
        for (power, cells) in self.powers.iter().enumerate() {
            let Some(cells) = cells.get() else { continue };
            for (at, cell) in cells.iter().enumerate() {
                let told = &mut told[power * CELLS + at];
                // Acquire pairs with the release in `add`.
                let count = cell.count.load(Ordering::Acquire);
                let new = count.wrapping_sub(told.count);
                if new == 0 {
                    continue;
                }
                let sum = cell.sum.load(Ordering::Relaxed).wrapping_sub(told.sum);
                // Some of the sum may belong to calls that are not counted yet. They are told of
                // with the next, as what is more than the cell can hold.
                let (power, at) = (power, at);
                let end = if at + 1 < CELLS {
                    least(power, at + 1)
                } else {
                    least(power + 1, 0)
                };
                let last = power == POWERS - 1 && at == CELLS - 1;
                let most = if last { sum } else { end.saturating_mul(new) };
                let sum = sum.min(most);
                told.count = count;
                told.sum = told.sum.wrapping_add(sum);
                #[allow(clippy::cast_precision_loss)] // 2^53 ns are 104 days
                let mean = sum as f64 / new as f64 / 1e9;
                tell(mean, usize::try_from(new).unwrap_or(usize::MAX));
            }
        }
    }
}

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;

    fn told(durations: &Durations, told: &mut AllTold) -> Vec<(f64, usize)> {
        let mut all = Vec::new();
        durations.tell(told, |mean, count| all.push((mean, count)));
        all
    }

    #[test]
    fn a_duration_is_within_its_cell() {
        let mut duration = 1_u64;
        while duration < 1 << 39 {
            for near in [duration - 1, duration, duration + duration / 3] {
                let (power, cell) = cell_of(near);
                assert!(least(power, cell) <= near, "{near}");
                let last = (power, cell) == (POWERS - 1, CELLS - 1);
                let end = if cell + 1 < CELLS {
                    least(power, cell + 1)
                } else {
                    least(power + 1, 0)
                };
                assert!(near < end || last, "{near} {power} {cell} {end}");
                assert!(power == 0 || end - least(power, cell) <= near / 8, "{near}");
            }
            duration = duration * 9 / 8 + 1;
        }
        assert_eq!(cell_of(0), (0, 0));
        assert_eq!(cell_of(u64::MAX), (POWERS - 1, CELLS - 1));
    }

    #[test]
    fn sums_and_counts_are_exact_and_told_once() {
        let (durations, mut all) = (Durations::default(), AllTold::new());
        for ms in [100, 100, 100, 3_000, 0] {
            durations.add(Duration::from_millis(ms));
        }
        let first = told(&durations, &mut all);
        assert_eq!(first, [(0.0, 1), (0.1, 3), (3.0, 1)]);
        assert_eq!(told(&durations, &mut all), []);
        durations.add(Duration::from_millis(99));
        durations.add(Duration::from_secs(1_000_000));
        assert_eq!(told(&durations, &mut all), [(0.099, 1), (1e6, 1)]);
    }
}
