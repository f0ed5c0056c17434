//! Measures ours beside baselines and rivals and prints tables; `scripts/benchmark` runs it.
//!
//! ```text
//! compare [--rounds N] [--sample-us N] [--seed N] [--only CASE] [--smoke]
//! ```
//!
//! Exits with 1 if a target is missed or a rival is ahead, with 2 if a subject did not do what its
//! case promises. `--smoke` only checks that all of them do, whatever their speed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{IsTerminal as _, stderr};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cb_benches::{Case, Plan, Who, details, measure, subjects, summary, verdicts};

struct Options {
    plan: Plan,
    only: Option<Case>,
    smoke: bool,
}

fn options() -> Result<Options, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut options = Options {
        plan: Plan {
            rounds: 101,
            sample: Duration::from_micros(500),
            seed: now.map_or(0, |now| now.as_secs()),
        },
        only: None,
        smoke: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("not a number: {text}"));
        match argument.as_str() {
            "--rounds" => {
                options.plan.rounds = usize::try_from(number(value()?)?).unwrap_or(usize::MAX);
            }
            "--sample-us" => options.plan.sample = Duration::from_micros(number(value()?)?),
            "--seed" => options.plan.seed = number(value()?)?,
            "--only" => {
                let wanted = value()?;
                let found = Case::ALL.into_iter().find(|case| case.id() == wanted);
                let known = Case::ALL.map(Case::id).join(", ");
                options.only = Some(found.ok_or(format!("no case {wanted}, but: {known}"))?);
            }
            "--smoke" => {
                options.smoke = true;
                options.plan.rounds = 1;
                options.plan.sample = Duration::from_micros(200);
            }
            _ => return Err(format!("unknown argument {argument}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let Options { plan, only, smoke } = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut subjects = subjects();
    if let Some(only) = only {
        subjects.retain(|subject| subject.case == only || matches!(subject.who, Who::Baseline(_)));
    }
    let count = subjects.len();
    let seen = stderr().is_terminal();
    let progress = |round| {
        if seen {
            eprint!("\rround {} of {} ", round + 1, plan.rounds);
        }
    };
    let figures = match measure(subjects, plan, progress) {
        Ok(figures) => figures,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if seen {
        eprintln!();
    }
    for it in figures.left_out() {
        println!("left out: {it}");
    }
    if smoke {
        println!("{count} subjects do what their cases promise, on 1 and 2 threads");
        return ExitCode::SUCCESS;
    }

    let verdicts = verdicts(&figures);
    println!(
        "Nanoseconds for each call and thread, medians of {} rounds.\n",
        plan.rounds
    );
    println!("{}\n{}", summary(&figures, &verdicts), details(&figures));
    println!(
        "seed {}; quartiles of the median subject ±{:.0} %; disturbed samples {:.0} %",
        plan.seed,
        figures.spread() * 100.0,
        figures.disturbed() * 100.0
    );
    let missed: Vec<_> = verdicts.iter().filter(|verdict| !verdict.met()).collect();
    println!(
        "{} of {} demands met",
        verdicts.len() - missed.len(),
        verdicts.len()
    );
    for it in &missed {
        println!(
            "MISSED: {}, {} thread{}: {:.1} ns, wanted {} = {:.1} ns",
            it.case.label(),
            it.threads,
            if it.threads == 1 { "" } else { "s" },
            it.measured,
            it.what,
            it.bound
        );
    }
    if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
