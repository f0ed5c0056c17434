//! The tables.

use std::time::Duration;

use cb_examples::figures::{percentile, short};
use cb_examples::table::Table;
use cb_runtime::State;

use crate::caller::{Answer, Caller};
use crate::drill::Report;

/// One run, phase by phase, with the state changes below each.
pub(crate) fn timeline(caller: &Caller, reports: &[Report]) -> Table {
    let mut table = Table::new(&[
        "phase",
        "start",
        "requests",
        "reached",
        "failed",
        "fallback",
        "rejected",
        "p50",
        "p99",
        "recovered",
    ]);
    for report in reports {
        let answered = |answers: &[Answer]| {
            report
                .calls
                .iter()
                .filter(|call| answers.contains(&call.answer))
                .count()
                .to_string()
        };
        let mut waits = waits(report);
        table.row([
            report.phase.name.to_string(),
            short(report.at),
            report.calls.len().to_string(),
            report.reached.to_string(),
            answered(&[Answer::TimedOut, Answer::Refused, Answer::Failed]),
            answered(&[Answer::Fallback]),
            answered(&[Answer::Rejected]),
            short(percentile(&mut waits, 50)),
            short(percentile(&mut waits, 99)),
            report.recovered_after.map_or_else(String::new, short),
        ]);
        let mut spared = report.spared_waits();
        if !spared.is_empty() {
            let p99 = short(percentile(&mut spared, 99));
            table.text(format!("    rejected callers waited {p99} (p99)"));
        }
        for change in &report.changes {
            table.text(format!(
                "    {} -> {}: {}",
                change.from, change.to, change.why
            ));
        }
    }
    if caller.breaker.is_none() {
        table.text(format!("    ({} callers at a time)", caller.workers));
    }
    table
}

/// The last account of itself that a breaker gave when it opened in the phase called `name`.
pub(crate) fn explanation<'a>(reports: &'a [Report], name: &str) -> Option<&'a str> {
    let report = reports.iter().find(|report| report.phase.name == name)?;
    let opening = report
        .changes
        .iter()
        .rfind(|change| change.to == State::Open)?;
    opening.explanation.as_deref()
}

/// The same traffic with and without a breaker.
pub(crate) fn comparison(guarded: &[Report], bare: &[Report]) -> Table {
    let mut table = Table::new(&[
        "phase",
        "reached with",
        "without",
        "p99 with",
        "without",
        "waited in all with",
        "without",
    ]);
    let mut sums = [(0, Duration::ZERO); 2];
    for (with, without) in guarded.iter().zip(bare) {
        let figures = [with, without].map(|report| (report.reached, report.total_wait()));
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum = (sum.0 + figure.0, sum.1 + figure.1);
        }
        let p99 = [with, without].map(|report| short(percentile(&mut waits(report), 99)));
        table.row(cells(with.phase.name, figures, p99));
    }
    table.row(cells("all", sums, [String::new(), String::new()]));
    table
}

fn cells(
    name: &str,
    [with, without]: [(u64, Duration); 2],
    [p99, bare_p99]: [String; 2],
) -> [String; 7] {
    [
        name.to_string(),
        with.0.to_string(),
        without.0.to_string(),
        p99,
        bare_p99,
        short(with.1),
        short(without.1),
    ]
}

fn waits(report: &Report) -> Vec<Duration> {
    report.calls.iter().map(|call| call.waited).collect()
}
