//! What Resilience4j's defaults do, and ours with the same traffic, on a clock that only moves when
//! told to. Every figure is measured; the first column is checked against what Resilience4j 2.4.0
//! itself answered. Exit code 0 if it agrees.
//!
//! ```sh
//! cargo run -p cb-examples --bin resilience4j_defaults
//! ```
#![allow(clippy::print_stdout)]

mod bench;
mod scenarios;
mod services;

use std::process::ExitCode;

use cb_examples::table::Table;

use crate::scenarios::SCENARIOS;

fn main() -> ExitCode {
    let mut table = Table::new(&["", "base = \"resilience4j\"", "our defaults"]).left();
    let mut differences = 0;
    for scenario in &SCENARIOS {
        let theirs = (scenario.run)(scenario.services.theirs);
        let ours = (scenario.run)(scenario.services.ours);
        let agrees = theirs == scenario.published;
        table.row([scenario.what.to_string(), theirs, ours]);
        if !agrees {
            differences += 1;
            table.text(format!("    DIFFERS, published: {}", scenario.published));
        }
    }
    print!("{table}");
    println!(
        "{} experiments, {differences} differ from Resilience4j",
        SCENARIOS.len()
    );
    if differences == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
