//! A service dies in every way a service can, over real HTTP, and two functions call it: a
//! blocking and an async one, each behind a circuit breaker. Then the same traffic again without
//! breakers. Exit code 0 if the breakers did their job in every phase.
//!
//! ```sh
//! cargo run -p cb-examples --bin outage
//! ```
#![allow(clippy::print_stdout)]

mod api;
mod caller;
mod checks;
mod client;
mod drill;
mod guarded;
mod policy;
mod report;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use crate::caller::Caller;
use crate::checks::Checks;

fn main() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    println!("Behind breakers, both functions at once ...");
    let guarded = [Caller::blocking(true), Caller::asynchronous(true)?];
    let with = drill::run_both(&guarded)?;
    for (caller, reports) in guarded.iter().zip(&with) {
        println!(
            "\n{} calls behind the breaker `{}`",
            caller.title,
            caller.breaker.unwrap_or("-")
        );
        print!("{}", report::timeline(caller, reports));
        if let Some(explanation) = report::explanation(reports, "hang") {
            println!("  What the breaker said of itself when it opened in the hang:");
            explanation.lines().for_each(|line| println!("    {line}"));
        }
    }

    println!("\nThe same without breakers ...");
    let bare = [Caller::blocking(false), Caller::asynchronous(false)?];
    let without = drill::run_both(&bare)?;
    for (caller, reports) in bare.iter().zip(&without) {
        println!("\n{} calls without a breaker", caller.title);
        print!("{}", report::timeline(caller, reports));
    }

    let mut checks = Checks::default();
    for ((caller, with), without) in guarded.iter().zip(&with).zip(&without) {
        println!("\nWhat the breaker saved the {} callers", caller.title);
        print!("{}", report::comparison(with, without));
        checks.run(caller, with, without);
    }

    println!();
    for failed in &checks.failed {
        println!("FAILED {failed}");
    }
    println!("{} checks, {} failed", checks.made, checks.failed.len());
    Ok(if checks.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
