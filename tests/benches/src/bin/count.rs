//! Makes a fixed number of calls of each of our subjects, for callgrind to count the instructions;
//! `scripts/instructions` runs it. Callgrind writes two parts for each: what comes before the calls
//! that count, and those calls. Prints the name of the subject and the number of calls.

#![allow(clippy::print_stdout)]

use std::hint::black_box;

use cb_benches::{Case, Through, Who, subjects};

/// Enough for what is left of loops and starts to vanish in the average.
const CALLS: u64 = 10_000;

/// Callgrind writes what it has counted when this returns, and begins anew.
#[inline(never)]
fn end_of_part(number: usize) {
    black_box(number);
}

fn main() {
    let wanted = subjects().into_iter().filter_map(|subject| {
        let name = match subject.who {
            Who::Ours(Through::Attribute) => format!("{}.attribute", subject.case.id()),
            Who::Ours(Through::Call) => format!("{}.call", subject.case.id()),
            Who::Baseline("bare call") if subject.case == Case::Closed => "bare".into(),
            _ => return None,
        };
        Some((subject, name))
    });
    for (number, (subject, name)) in wanted.enumerate() {
        // Afterwards every key has its breaker, and every window is full.
        let _ = black_box(subject.run(CALLS));
        end_of_part(2 * number);
        let _ = black_box(subject.run(CALLS));
        end_of_part(2 * number + 1);
        println!("{name} {CALLS}");
    }
}
