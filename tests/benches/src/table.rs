//! The figures as tables, in Markdown.

use std::fmt::Write as _;

use crate::case::Case;
use crate::measure::Figures;
use crate::subject::{Through, Who};
use crate::target::{Verdict, ours};

/// One row for each case and number of threads: ours, the target, and the best of the others.
#[must_use]
pub fn summary(figures: &Figures, verdicts: &[Verdict]) -> String {
    let mut rows = vec![
        [
            "case",
            "threads",
            "attribute",
            "`call`",
            "target",
            "best rival",
            "slower by",
        ]
        .map(str::to_owned),
    ];
    for case in Case::ALL {
        for threads in [1, 2] {
            let Some(us) = ours(figures, case, threads) else {
                continue;
            };
            let through = |through| ns(figures.get(Who::Ours(through), case, threads));
            let target = verdicts.iter().find(|it| {
                it.case == case && it.threads == threads && !it.what.starts_with("ahead")
            });
            let target = target.map_or_else(
                || "–".into(),
                |it| format!("{:.1}{}", it.bound, if it.met() { "" } else { " missed" }),
            );
            let best = best(figures, case, threads);
            let (name, factor) = best.map_or_else(
                || ("–".into(), "–".into()),
                |(who, best)| (format!("{who} {best:.1}"), format!("{:.1} ×", best / us)),
            );
            rows.push([
                case.label().into(),
                threads.to_string(),
                through(Through::Attribute),
                through(Through::Call),
                target,
                name,
                factor,
            ]);
        }
    }
    markdown(&rows)
}

/// The baselines in nanoseconds, and every rival as a multiple of ours, on one thread and on two.
#[must_use]
pub fn details(figures: &Figures) -> String {
    let mut rows = vec![["baseline", "1 thread", "2 threads"].map(str::to_owned)];
    for who in figures.who().filter(|who| matches!(who, Who::Baseline(_))) {
        for case in Case::ALL {
            if let Some(one) = figures.get(who, case, 1) {
                let note = if case == Case::Tenth {
                    ", 1 of 10 fails"
                } else {
                    ""
                };
                let two = ns(figures.get(who, case, 2));
                rows.push([format!("{who}{note}"), format!("{one:.1}"), two]);
            }
        }
    }
    let mut text = markdown(&rows);
    text.push('\n');

    let rivals: Vec<_> = figures
        .who()
        .filter(|who| matches!(who, Who::Rival(_)))
        .collect();
    let cases: Vec<_> = Case::ALL
        .into_iter()
        .filter(|&case| {
            rivals
                .iter()
                .any(|&who| figures.get(who, case, 1).is_some())
        })
        .collect();
    let mut rows = vec![vec!["times ours, on 1 / 2 threads".to_owned()]];
    rows[0].extend(cases.iter().map(|case| case.label().to_owned()));
    for who in rivals {
        let mut row = vec![who.to_string()];
        row.extend(cases.iter().map(|&case| {
            let times = |threads| {
                let us = ours(figures, case, threads)?;
                figures
                    .get(who, case, threads)
                    .map(|ns| format!("{:.1}", ns / us))
            };
            match (times(1), times(2)) {
                (Some(one), Some(two)) => format!("{one} / {two}"),
                (Some(one), None) => one,
                _ => "–".to_owned(),
            }
        }));
        rows.push(row);
    }
    if rows.len() > 1 {
        text += &markdown(&rows);
    }
    text
}

fn best(figures: &Figures, case: Case, threads: usize) -> Option<(Who, f64)> {
    figures
        .who()
        .filter(|who| matches!(who, Who::Rival(_)))
        .filter_map(|who| figures.get(who, case, threads).map(|ns| (who, ns)))
        .min_by(|one, other| one.1.total_cmp(&other.1))
}

fn ns(figure: Option<f64>) -> String {
    figure.map_or_else(|| "–".into(), |ns| format!("{ns:.1}"))
}

/// The first row is the head. Columns are padded, so that it reads well as it is.
pub(crate) fn markdown<Row: AsRef<[String]>>(rows: &[Row]) -> String {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (cell, width) in row.as_ref().iter().zip(&widths) {
            let _ = write!(text, "| {cell:width$} ");
        }
        text += "|\n";
        if index == 0 {
            for width in &widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text += "|\n";
        }
    }
    text
}
