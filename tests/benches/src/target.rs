//! What our figures must reach, in units of what the machine takes for simpler things in the same
//! run.
//!
//! The targets were set on a machine where a fetch-add takes 8.1 ns, or 35 ns with two threads on
//! one word, and a pair of precise clock readings 44 ns. Each is restated in the unit that the path is
//! made of: atomic operations for what needs no precise clock, readings of that for what does. A
//! machine that is slower at these moves the bound along; one whose clock alone is slow does not excuse
//! a slow path without a clock.

use crate::baseline::{BARE, BARE_FUTURE, FETCH_ADD, PRECISE};
use crate::case::Case;
use crate::measure::Figures;
use crate::subject::{Through, Who};

const US: Who = Who::Ours(Through::Attribute);

/// Two threads on one breaker must not be slower than one by more than this where nothing is shared
/// but reads: two busy cores also share caches and power.
const FLAT: f64 = 1.2;

/// Whether something that was asked for was reached.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was asked for.
    pub what: String,
    /// The case that it is about.
    pub case: Case,
    /// On so many threads.
    pub threads: usize,
    /// What was measured, in nanoseconds.
    pub measured: f64,
    /// The most that it may be.
    pub bound: f64,
}

impl Verdict {
    /// Whether it was reached.
    #[must_use]
    pub fn met(&self) -> bool {
        self.measured <= self.bound
    }
}

/// What was asked for and what came of it: the targets, and to be ahead of every rival in every case
/// that it supports.
#[must_use]
pub fn verdicts(figures: &Figures) -> Vec<Verdict> {
    let mut verdicts = targets(figures);
    for case in Case::ALL {
        for threads in [1, 2] {
            let Some(measured) = ours(figures, case, threads) else {
                continue;
            };
            for who in figures.who().filter(|who| matches!(who, Who::Rival(_))) {
                if let Some(bound) = figures.get(who, case, threads) {
                    verdicts.push(Verdict {
                        what: format!("ahead of {who}"),
                        case,
                        threads,
                        measured,
                        bound,
                    });
                }
            }
        }
    }
    verdicts
}

/// What is measured through the attribute, or through `call` where there is no annotated function.
pub(crate) fn ours(figures: &Figures, case: Case, threads: usize) -> Option<f64> {
    figures
        .get(US, case, threads)
        .or_else(|| figures.get(Who::Ours(Through::Call), case, threads))
}

fn targets(figures: &Figures) -> Vec<Verdict> {
    let mut found = Vec::new();
    let mut target = |case, threads, what: &str, bound: Option<f64>| {
        if let (Some(measured), Some(bound)) = (figures.get(US, case, threads), bound) {
            found.push(Verdict {
                what: what.to_owned(),
                case,
                threads,
                measured,
                bound,
            });
        }
    };
    let base = |who, case, threads| figures.get(who, case, threads);
    let add = base(FETCH_ADD, Case::Closed, 1);
    let contended = base(FETCH_ADD, Case::Closed, 2);
    let precise = base(PRECISE, Case::Closed, 1);
    let alone = |case| figures.get(US, case, 1);

    // 4 ns of 8.1.
    let half = add.map(|add| 0.5 * add);
    target(Case::Closed, 1, "half a fetch-add", half);
    target(Case::MetricsOnly, 1, "half a fetch-add", half);
    // 15 ns of 8.1.
    target(Case::Tenth, 1, "1.85 fetch-adds", add.map(|add| 1.85 * add));
    target(
        Case::Tenth,
        2,
        "4 contended fetch-adds",
        contended.map(|add| 4.0 * add),
    );
    // 16 ns of 8.1. Not in coarse readings, which differ by as much as a factor of two with how they are put to use.
    target(
        Case::SlowFar,
        1,
        "1.98 fetch-adds",
        add.map(|add| 1.98 * add),
    );
    // A quarter of a fetch-add is 2 ns.
    let with_precise = precise
        .zip(add)
        .map(|(pair, add)| 1.3 * (pair + 0.25 * add));
    target(
        Case::SlowNear,
        1,
        "1.3 × (a precise pair and a quarter of a fetch-add)",
        with_precise,
    );
    // 40 ns of 44.
    target(
        Case::Time,
        1,
        "0.9 precise pairs",
        precise.map(|pair| 0.9 * pair),
    );
    let half_more = |case| alone(case).map(|alone| 1.5 * alone);
    target(
        Case::Time,
        2,
        "1.5 × its figure on one thread",
        half_more(Case::Time),
    );
    // 10 ns of 8.1.
    target(Case::Open, 1, "1.23 fetch-adds", add.map(|add| 1.23 * add));
    for case in [Case::Closed, Case::MetricsOnly, Case::Open] {
        let flat = alone(case).map(|alone| FLAT * alone);
        target(case, 2, "1.2 × its figure on one thread", flat);
    }
    // What is sync and CLOSED beyond its bare call, and 3 ns of 8.1, on top of the bare future.
    let bare = base(BARE, Case::Closed, 1);
    let future = base(BARE_FUTURE, Case::Async, 1);
    let sync = alone(Case::Closed)
        .zip(bare)
        .map(|(sync, bare)| (sync - bare).max(0.0));
    let above = future
        .zip(sync)
        .zip(add)
        .map(|((future, sync), add)| future + sync + 0.37 * add);
    target(
        Case::Async,
        1,
        "the bare future, the sync guard and 0.37 fetch-adds",
        above,
    );
    // A name that was made at run time is handed out with each rejection too.
    let called = |threads| figures.get(Who::Ours(Through::Call), Case::Open, threads);
    if let (Some(measured), Some(alone)) = (called(2), called(1)) {
        found.push(Verdict {
            what: "1.2 × `call` on one thread, through `call`".to_owned(),
            case: Case::Open,
            threads: 2,
            measured,
            bound: FLAT * alone,
        });
    }
    found
}
