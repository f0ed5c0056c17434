//! Measures subjects in one process: every round takes a short sample of each, in a shuffled order,
//! and what counts is the median over the rounds. So a change of the machine's mood during the run
//! touches all of them alike.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;

use crate::case::Case;
use crate::subject::{Subject, Who};
use crate::workers::{Workers, scaled};

/// So many calls are checked before anything is measured.
pub(crate) const CHECKED: u64 = 1_000;
/// A sample during which a thread lost its core is taken again, at most so often.
const RETRIES: usize = 16;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Samples of each subject.
    pub rounds: usize,
    /// How long a sample takes, about.
    pub sample: Duration,
    /// Seeds the order.
    pub seed: u64,
}

/// Medians, in nanoseconds for each call and thread.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    medians: HashMap<(Who, Case, usize), f64>,
    order: Vec<Who>,
    spread: f64,
    disturbed: f64,
    left_out: Vec<String>,
}

impl Figures {
    /// Nanoseconds for each call and thread.
    #[must_use]
    pub fn get(&self, who: Who, case: Case, threads: usize) -> Option<f64> {
        self.medians.get(&(who, case, threads)).copied()
    }

    /// Whose figures there are, in the order of the subjects.
    pub fn who(&self) -> impl Iterator<Item = Who> {
        self.order.iter().copied()
    }

    /// How far the samples of a subject lie apart: half the distance of their quartiles, in parts of
    /// their median, for the median subject.
    #[must_use]
    pub fn spread(&self) -> f64 {
        self.spread
    }

    /// The part of the samples in which a thread lost its core or was alone for too long, after all
    /// attempts.
    #[must_use]
    pub fn disturbed(&self) -> f64 {
        self.disturbed
    }

    /// Rivals without a figure, since they panicked or did what their case does not allow.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

/// Measures every subject on one thread and on two. `progress` hears of each round.
///
/// # Errors
///
/// If a subject did not do what its case promises: what it did, in words. A rival is only left out if
/// that happened while it was measured.
pub fn measure(
    subjects: Vec<Subject>,
    plan: Plan,
    progress: impl FnMut(usize),
) -> Result<Figures, String> {
    let complaints: Vec<_> = subjects
        .iter()
        .filter_map(|subject| subject.check(CHECKED).err())
        .collect();
    if !complaints.is_empty() {
        return Err(complaints.join("\n"));
    }
    let mut points = Vec::new();
    for subject in subjects {
        let subject = Arc::new(subject);
        points.push((Arc::clone(&subject), 1));
        points.push((subject, 2));
    }
    let slots = samples(points, plan, progress)?;

    let mut figures = Figures::default();
    let mut spreads = Vec::new();
    let mut disturbed = 0;
    for slot in &slots {
        if let Some(complaint) = &slot.failed {
            let threads = slot.threads;
            figures
                .left_out
                .push(format!("{complaint} (on {threads} threads)"));
            continue;
        }
        let at = |part: f64| quantile(&slot.samples, part);
        spreads.push((at(0.75) - at(0.25)) / 2.0 / at(0.5));
        disturbed += slot.disturbed;
        let who = slot.subject.who;
        let key = (who, slot.subject.case, slot.threads);
        figures.medians.insert(key, at(0.5));
        if !figures.order.contains(&who) {
            figures.order.push(who);
        }
    }
    spreads.sort_by(f64::total_cmp);
    figures.spread = quantile(&spreads, 0.5);
    figures.disturbed = disturbed as f64 / (slots.len() * plan.rounds).max(1) as f64;
    Ok(figures)
}

/// Measures each subject on so many threads: nanoseconds for each call and thread, in this order.
///
/// # Errors
///
/// As for [`measure`].
pub fn medians(
    points: Vec<(Arc<Subject>, usize)>,
    plan: Plan,
    progress: impl FnMut(usize),
) -> Result<Vec<f64>, String> {
    let slots = samples(points, plan, progress)?;
    Ok(slots
        .iter()
        .map(|slot| quantile(&slot.samples, 0.5))
        .collect())
}

/// A subject on a number of threads.
pub(crate) struct Slot {
    subject: Arc<Subject>,
    threads: usize,
    calls: u64,
    /// Sorted, once they are all there.
    pub(crate) samples: Vec<f64>,
    disturbed: usize,
    failed: Option<String>,
}

fn samples(
    points: Vec<(Arc<Subject>, usize)>,
    plan: Plan,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Slot>, String> {
    let most = points.iter().map(|&(_, threads)| threads).max();
    let workers = Workers::new(most.unwrap_or(0));
    let mut slots = Vec::new();
    for (subject, threads) in points {
        slots.push(Slot::new(subject, threads, &workers, plan)?);
    }
    let mut random = Rng::with_seed(plan.seed);
    let mut order: Vec<usize> = (0..slots.len()).collect();
    for round in 0..plan.rounds {
        progress(round);
        random.shuffle(&mut order);
        for &index in &order {
            let slot = &mut slots[index];
            if slot.failed.is_none()
                && let Err(complaint) = slot.sample(&workers, plan.sample)
            {
                slot.fail(complaint)?;
            }
        }
    }
    for slot in &mut slots {
        if let Err(complaint) = slot.subject.check_state() {
            slot.fail(complaint)?;
        }
        slot.samples.sort_by(f64::total_cmp);
    }
    Ok(slots)
}

impl Slot {
    pub(crate) fn new(
        subject: Arc<Subject>,
        threads: usize,
        workers: &Workers,
        plan: Plan,
    ) -> Result<Self, String> {
        let mut slot = Self {
            subject,
            threads,
            calls: 0,
            samples: Vec::with_capacity(plan.rounds),
            disturbed: 0,
            failed: None,
        };
        match workers.calibrate(&slot.subject, threads, plan.sample) {
            Ok(calls) => slot.calls = calls,
            Err(complaint) => slot.fail(complaint)?,
        }
        Ok(slot)
    }

    /// Only of a rival that is something one can go on with.
    fn fail(&mut self, complaint: String) -> Result<(), String> {
        if !matches!(self.subject.who, Who::Rival(_)) {
            return Err(complaint);
        }
        self.failed.get_or_insert(complaint);
        Ok(())
    }

    pub(crate) fn sample(&mut self, workers: &Workers, length: Duration) -> Result<(), String> {
        let mut sample = workers.sample(&self.subject, self.threads, self.calls)?;
        for _ in 0..RETRIES {
            // In a long one, the kernel's other work is a small part.
            if !sample.disturbed || sample.whole > length * 20 {
                break;
            }
            sample = workers.sample(&self.subject, self.threads, self.calls)?;
        }
        self.disturbed += usize::from(sample.disturbed);
        self.samples.push(sample.ns);
        if sample.whole > length * 3 {
            // It grows with every call that was ever made: fewer, so that the run ends.
            let calls = scaled(self.calls, length, sample.whole);
            self.calls = calls.max(self.subject.warm);
        }
        Ok(())
    }
}

/// Of sorted values; 0 if there are none.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the slice
    let index = (last * part).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}
