//! The same calls in two builds of the runtime: with its default features, and with all of them, which nobody
//! uses. Each build is a process of its own that takes a sample when it is asked to, so that the samples of
//! both are taken in turn.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use fastrand::Rng;

use crate::measure::{CHECKED, Plan, Slot, quantile};
use crate::subject::{Through, Who};
use crate::subjects;
use crate::table::markdown;
use crate::workers::Workers;

/// The most that all features may cost: a part of what a call takes, or so many nanoseconds.
const PART: f64 = 0.1;
const LEAST: f64 = 0.5;

/// In the process of a build: tells what can be measured, one a line, and an empty line after them. Then for
/// each line with the number of one of them takes a sample, and tells the nanoseconds of a call.
///
/// # Errors
///
/// If the other side is gone, or a subject does not do what its case promises.
pub fn serve(plan: Plan, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let workers = Workers::new(1);
    let mut slots = Vec::new();
    for subject in subjects() {
        if let Who::Ours(through) = subject.who {
            subject.check(CHECKED).map_err(io::Error::other)?;
            let through = match through {
                Through::Attribute => "attribute",
                Through::Call => "`call`",
            };
            writeln!(output, "{}, {through}", subject.case.label())?;
            let slot = Slot::new(Arc::new(subject), 1, &workers, plan);
            slots.push(slot.map_err(io::Error::other)?);
        }
    }
    writeln!(output)?;
    output.flush()?;
    for line in input.lines() {
        let wanted = line?.parse::<usize>().map_err(io::Error::other)?;
        let slot = slots
            .get_mut(wanted)
            .ok_or_else(|| io::Error::other("no such subject"))?;
        slot.sample(&workers, plan.sample)
            .map_err(io::Error::other)?;
        let ns = slot.samples.pop().unwrap_or(f64::NAN);
        writeln!(output, "{ns}")?;
        output.flush()?;
    }
    Ok(())
}

/// A build whose process is ready to take samples.
pub struct Build {
    process: Child,
    requests: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    subjects: Vec<String>,
}

impl Build {
    /// Starts the executable of a build, which is to [`serve`] with these arguments.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends at once.
    pub fn start(executable: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut process = Command::new(executable)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let gone = || io::Error::other("it has no pipes");
        let requests = Some(process.stdin.take().ok_or_else(gone)?);
        let answers = BufReader::new(process.stdout.take().ok_or_else(gone)?).lines();
        let mut build = Self {
            process,
            requests,
            answers,
            subjects: Vec::new(),
        };
        loop {
            match build.answer()? {
                subject if subject.is_empty() => return Ok(build),
                subject => build.subjects.push(subject),
            }
        }
    }

    fn answer(&mut self) -> io::Result<String> {
        let answer = self.answers.next();
        answer.ok_or_else(|| io::Error::other("a build has ended"))?
    }

    fn sample(&mut self, subject: usize) -> io::Result<f64> {
        let requests = self.requests.as_mut();
        let requests = requests.ok_or_else(|| io::Error::other("a build has ended"))?;
        writeln!(requests, "{subject}")?;
        self.answer()?.parse().map_err(io::Error::other)
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        // At the end of its input it ends.
        self.requests = None;
        let _ = self.process.wait();
    }
}

/// What all features cost a call.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The case and the way of calling.
    pub subject: String,
    /// Nanoseconds with the default features.
    pub plain: f64,
    /// With all of them.
    pub everything: f64,
}

impl Cost {
    /// The most that it may take with all features.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.plain + (PART * self.plain).max(LEAST)
    }

    /// Whether it takes no more than that.
    #[must_use]
    pub fn met(&self) -> bool {
        self.everything <= self.bound()
    }

    /// The costs as a table.
    #[must_use]
    pub fn table(costs: &[Self]) -> String {
        let head = ["case", "default features", "all features", "at most"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(costs.iter().map(|cost| {
            let mut bound = format!("{:.1}", cost.bound());
            if !cost.met() {
                let _ = write!(bound, " missed");
            }
            [
                cost.subject.clone(),
                format!("{:.1}", cost.plain),
                format!("{:.1}", cost.everything),
                bound,
            ]
        }));
        markdown(&rows)
    }
}

/// Measures all that both builds have, in shuffled rounds.
///
/// # Errors
///
/// If a build ends, or the two have different subjects.
pub fn costs(plain: Build, everything: Build, rounds: usize, seed: u64) -> io::Result<Vec<Cost>> {
    if plain.subjects != everything.subjects {
        return Err(io::Error::other("the builds have different subjects"));
    }
    let subjects = plain.subjects.clone();
    let mut builds = [plain, everything];
    let mut samples = vec![[Vec::new(), Vec::new()]; subjects.len()];
    let mut order: Vec<_> = (0..subjects.len())
        .flat_map(|it| [(it, 0), (it, 1)])
        .collect();
    let mut random = Rng::with_seed(seed);
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for &(subject, build) in &order {
            samples[subject][build].push(builds[build].sample(subject)?);
        }
    }
    let median = |samples: &mut Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        quantile(samples, 0.5)
    };
    let cost = |(subject, [plain, everything]): (String, &mut [Vec<f64>; 2])| Cost {
        subject,
        plain: median(plain),
        everything: median(everything),
    };
    Ok(subjects.into_iter().zip(&mut samples).map(cost).collect())
}
