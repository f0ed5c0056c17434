//! What a configuration will do in an outage: a report, a table, and a timeline of each kind of
//! outage, as text or as a picture.
//!
//! ```sh
//! cargo run -p cb-examples --bin advise -- --base resilience4j --calls-per-second 1.5 --timeout 30s
//! cargo run -p cb-examples --bin advise -- --help
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod picture;
mod timeline;
mod units;

use std::process::ExitCode;

use cb_examples::table::Table;
use cb_runtime::advise::{Advice, Course};

use crate::args::Asked;
use crate::units::short;

fn main() -> ExitCode {
    let asked = match args::parse(std::env::args().skip(1)) {
        Ok(Asked::Help) => {
            print!("{}", args::help());
            return ExitCode::SUCCESS;
        }
        Ok(Asked::Advice(asked)) => *asked,
        Err(message) => return wrong(&message),
    };
    let advice = match cb_runtime::advise(&asked.config, &asked.traffic) {
        Ok(advice) => advice,
        Err(error) => return wrong(&error.to_string()),
    };
    print!("{advice}\n{}", table(&advice));
    for outage in &advice.outages {
        print!("\n{}", timeline::of(outage));
    }
    if let Some(path) = &asked.svg {
        let picture = picture::of(&advice);
        if let Err(error) = std::fs::write(path, picture) {
            eprintln!("advise: {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn wrong(message: &str) -> ExitCode {
    eprintln!("advise: {message}\nTry `--help`.");
    ExitCode::from(2)
}

fn table(advice: &Advice) -> Table {
    let mut table = Table::new(&[
        "outage", "started", "calls", "steady", "calls", "stuck", "noticed", "probes", "a second",
    ]);
    let opening = |course: &Course| match course.opening {
        Some(opening) => [short(opening.after), opening.ended.to_string()],
        None => ["never".into(), String::new()],
    };
    for outage in &advice.outages {
        let recovery = match outage.recovery {
            Some(time) => short(time),
            None if outage.fresh.opening.is_some() => "never".into(),
            None => String::new(),
        };
        let mut row = vec![outage.kind.to_string()];
        row.extend(opening(&outage.fresh));
        row.extend(opening(&outage.steady));
        row.extend([
            outage.worst().stuck.to_string(),
            recovery,
            outage.fleet_probes.to_string(),
            outage.fleet_probes_per_second.to_string(),
        ]);
        table.row(row);
    }
    table.text("  started, steady: opens so long after the outage began, after so many calls that ended badly;");
    table.text("  a breaker that has just started, and one with good calls in its window.");
    table
        .text("  stuck: calls under way until then. noticed: from healing to CLOSED, at the most.");
    table.text("  probes, a second: of all instances, at the same time and in one second.");
    table
}
