//! How the cost of a call grows with the window, the number of breakers, threads and listeners:
//! prints a table and writes a chart.
//!
//! ```sh
//! cargo run --release -p cb-benches --bin growth [-- chart.svg]
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)]
// Figures become floats only to be drawn.
#![allow(clippy::cast_precision_loss)]

use std::process::ExitCode;
use std::time::Duration;

use cb_benches::{Plan, medians, panels};

mod picture;

/// The figures of one panel: a name and one value for each of the panel's.
pub(crate) struct Curves {
    pub(crate) title: &'static str,
    pub(crate) values: Vec<u64>,
    pub(crate) lines: Vec<(&'static str, Vec<f64>)>,
}

fn main() -> ExitCode {
    let plan = Plan {
        rounds: 15,
        sample: Duration::from_millis(2),
        seed: 1,
    };
    let mut curves = Vec::new();
    for panel in panels() {
        let mut lines = Vec::new();
        for line in &panel.lines {
            let mut figures = Vec::new();
            for &value in &panel.values {
                match medians(vec![line.point(value)], plan, |_| {}) {
                    Ok(medians) => figures.extend(medians),
                    Err(error) => {
                        eprintln!("{error}");
                        return ExitCode::from(2);
                    }
                }
            }
            lines.push((line.name, figures));
        }
        curves.push(Curves {
            title: panel.title,
            values: panel.values,
            lines,
        });
    }
    for curve in &curves {
        print(curve);
    }
    if let Some(path) = std::env::args().nth(1)
        && let Err(error) = std::fs::write(&path, picture::of(&curves))
    {
        eprintln!("{path}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn print(curves: &Curves) {
    print!("| ns a call; {} ", curves.title);
    for value in &curves.values {
        print!("| {} ", short(*value));
    }
    print!("|\n|---");
    println!("{}|", "|---".repeat(curves.values.len()));
    for (name, figures) in &curves.lines {
        print!("| {name} ");
        for figure in figures {
            print!("| {figure:.1} ");
        }
        println!("|");
    }
    println!();
}

/// `10k` for 10 000.
pub(crate) fn short(value: u64) -> String {
    match value {
        0..1_000 => value.to_string(),
        1_000..1_000_000 => format!("{}k", value / 1_000),
        _ => format!("{}M", value / 1_000_000),
    }
}
