//! Measures what all features of the runtime cost calls that use none of them; `scripts/benchmark` runs it.
//!
//! ```text
//! builds PLAIN EVERYTHING [--rounds N] [--smoke]
//! builds --serve
//! ```
//!
//! The two are this program as it is built without the feature `everything` and with it; the second form is
//! how they are run. Exits with 1 if a bound is missed, with 2 if something went wrong.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cb_benches::{Build, Cost, Plan, costs, serve};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all bounds are kept.
fn run() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let mut executables = Vec::new();
    let (mut rounds, mut smoke) = (101, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--serve" => {
                let plan = Plan {
                    rounds: 1,
                    sample: Duration::from_micros(500),
                    seed: 0,
                };
                serve(plan, stdin().lock(), stdout().lock()).map_err(|error| error.to_string())?;
                return Ok(true);
            }
            "--smoke" => (rounds, smoke) = (1, true),
            "--rounds" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                rounds = number.ok_or("`--rounds` needs a number")?;
            }
            _ => executables.push(argument),
        }
    }
    let [plain, everything] = &executables[..] else {
        return Err("wanted: the executables of the two builds".into());
    };
    let start = |executable: &str| {
        Build::start(Path::new(executable), &["--serve".into()])
            .map_err(|error| format!("{executable}: {error}"))
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = now.map_or(0, |now| now.as_secs());
    let costs = costs(start(plain)?, start(everything)?, rounds, seed);
    let costs = costs.map_err(|error| error.to_string())?;
    if smoke {
        println!("{} subjects are measured in both builds", costs.len());
        return Ok(true);
    }
    println!(
        "What all features cost calls that use none, in nanoseconds, medians of {rounds} rounds.\n"
    );
    println!("{}", Cost::table(&costs));
    Ok(costs.iter().all(Cost::met))
}
