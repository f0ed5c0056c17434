//! Drills: what a breaker does in an outage, in figures.
//!
//! ```sh
//! cargo run --release -p cb-examples --bin drills [opening|recovery|flapping|fleet|load]
//! ```
//!
//! All but `load` run on a clock that only moves when told to, and print the same each time. `load`
//! runs on real threads for a few seconds; exit code 1 if it shows that something grows.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod flapping;
mod fleet;
mod load;
mod opening;
mod print;
mod recovery;
mod sim;

use std::process::ExitCode;

/// A drill's name and what runs it; `false` is a failure.
type Drill = (&'static str, fn() -> bool);

const DRILLS: [Drill; 5] = [
    ("opening", print::opening),
    ("recovery", print::recovery),
    ("flapping", print::flapping),
    ("fleet", print::fleet),
    ("load", print::load),
];

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1);
    let chosen: Vec<Drill> = DRILLS
        .into_iter()
        .filter(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted == name))
        .collect();
    if chosen.is_empty() {
        let names = DRILLS.map(|(name, _)| name).join(", ");
        eprintln!("no such drill; there are {names}");
        return ExitCode::FAILURE;
    }
    let mut passed = true;
    for (_, run) in chosen {
        passed &= run();
        println!();
    }
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
