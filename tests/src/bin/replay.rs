//! Replays trace files on the engine: `replay FILE…`.
//!
//! Exits with 0 if every compared step agrees, 1 on any difference, 2 if a file is no trace file.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use cb_tests::replay::Summary;
use cb_tests::trace;

fn main() -> ExitCode {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: replay FILE…");
        return ExitCode::from(2);
    }
    let mut scenarios = Vec::new();
    for file in &files {
        match trace::read(Path::new(file)) {
            Ok(read) => scenarios.extend(read),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    let mut summary = Summary::default();
    for scenario in &scenarios {
        summary.add(scenario);
    }
    for difference in &summary.differences {
        println!("{difference}");
    }
    println!("{summary}");
    if summary.differences.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
