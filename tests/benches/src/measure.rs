//! Measures subjects in one process: every round takes a short sample of each, in a shuffled order,
//! and what counts is the median over the rounds. So a change of the machine's mood during the run
//! touches all of them alike.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, yield_now};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::answer::Seen;
use crate::case::Case;
use crate::quiet::{bind, preemptions};
use crate::subject::{Subject, Who};

/// So many calls are checked before anything is measured.
const CHECKED: u64 = 1_000;
/// A sample during which a thread lost its core is taken again, at most so often.
const RETRIES: usize = 16;
/// Threads that are measured together must run at the same time for this part of a sample.
const TOGETHER: f64 = 0.9;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Samples of each subject.
    pub rounds: usize,
    /// How long a sample takes, about.
    pub sample: Duration,
    /// The most threads: all numbers from 1 are measured.
    pub threads: usize,
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
}

/// Measures.
///
/// # Errors
///
/// If a subject did not do what its case promises: what it did, in words.
pub fn measure(
    subjects: Vec<Subject>,
    plan: Plan,
    mut progress: impl FnMut(usize),
) -> Result<Figures, String> {
    let complaints: Vec<_> = subjects
        .iter()
        .filter_map(|subject| subject.check(CHECKED).err())
        .collect();
    if !complaints.is_empty() {
        return Err(complaints.join("\n"));
    }
    let workers = Workers::new(plan.threads);
    let mut slots = Vec::new();
    for subject in subjects {
        let subject = Arc::new(subject);
        for threads in 1..=plan.threads {
            let calls = workers.calibrate(&subject, threads, plan.sample)?;
            slots.push(Slot {
                subject: Arc::clone(&subject),
                threads,
                calls,
                samples: Vec::with_capacity(plan.rounds),
            });
        }
    }

    let mut random = Rng::with_seed(plan.seed);
    let mut order: Vec<usize> = (0..slots.len()).collect();
    let mut disturbed = 0;
    for round in 0..plan.rounds {
        progress(round);
        random.shuffle(&mut order);
        for &index in &order {
            let slot = &mut slots[index];
            let mut sample = workers.sample(&slot.subject, slot.threads, slot.calls)?;
            for _ in 0..RETRIES {
                if !sample.disturbed {
                    break;
                }
                sample = workers.sample(&slot.subject, slot.threads, slot.calls)?;
            }
            disturbed += usize::from(sample.disturbed);
            slot.samples.push(sample.ns);
            if sample.whole > plan.sample * 3 {
                // It grows with every call that was ever made: fewer, so that the run ends.
                slot.calls = scaled(slot.calls, plan.sample, sample.whole);
            }
        }
    }
    for slot in &slots {
        slot.subject.check_state()?;
    }

    let mut figures = Figures::default();
    let mut spreads = Vec::new();
    let taken = slots.len() * plan.rounds;
    for mut slot in slots {
        slot.samples.sort_by(f64::total_cmp);
        let at = |part: f64| quantile(&slot.samples, part);
        spreads.push((at(0.75) - at(0.25)) / 2.0 / at(0.5));
        let who = slot.subject.who;
        figures
            .medians
            .insert((who, slot.subject.case, slot.threads), at(0.5));
        if !figures.order.contains(&who) {
            figures.order.push(who);
        }
    }
    spreads.sort_by(f64::total_cmp);
    figures.spread = quantile(&spreads, 0.5);
    figures.disturbed = disturbed as f64 / taken.max(1) as f64;
    Ok(figures)
}

/// Of sorted values; 0 if there are none.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the slice
    let index = (last * part).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

/// How many calls take a time, if so many took another.
fn scaled(calls: u64, wanted: Duration, taken: Duration) -> u64 {
    let scaled = calls as f64 * wanted.as_secs_f64() / taken.as_secs_f64();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    let scaled = scaled as u64;
    scaled.max(10)
}

/// A subject on a number of threads.
struct Slot {
    subject: Arc<Subject>,
    threads: usize,
    calls: u64,
    samples: Vec<f64>,
}

struct Sample {
    /// For each call and thread.
    ns: f64,
    whole: Duration,
    disturbed: bool,
}

/// Threads that live as long as the measurement.
struct Workers {
    workers: Vec<Worker>,
}

struct Worker {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    subject: Arc<Subject>,
    calls: u64,
    /// How many threads have arrived at the start, and how many there are.
    arrived: Arc<AtomicUsize>,
    all: usize,
}

struct Done {
    seen: Seen,
    from: Instant,
    to: Instant,
    preempted: bool,
}

impl Workers {
    fn new(threads: usize) -> Self {
        Self {
            workers: (0..threads).map(Worker::new).collect(),
        }
    }

    /// How many calls take about as long as a sample is to take.
    fn calibrate(
        &self,
        subject: &Arc<Subject>,
        threads: usize,
        sample: Duration,
    ) -> Result<u64, String> {
        let mut calls = 16;
        loop {
            let taken = self.sample(subject, threads, calls)?.whole;
            if taken >= sample / 4 || calls > 1 << 40 {
                return Ok(scaled(calls, sample, taken).max(2 * subject.case.breakers()));
            }
            calls *= 4;
        }
    }

    fn sample(&self, subject: &Arc<Subject>, threads: usize, calls: u64) -> Result<Sample, String> {
        let arrived = Arc::new(AtomicUsize::new(0));
        let workers = &self.workers[..threads];
        for worker in workers {
            worker.begin(Job {
                subject: Arc::clone(subject),
                calls,
                arrived: Arc::clone(&arrived),
                all: threads,
            });
        }
        let mut disturbed = false;
        let mut times = Vec::with_capacity(threads);
        for worker in workers {
            let done = worker
                .done
                .recv()
                .map_err(|_| format!("{}, {}: panicked", subject.who, subject.case.label()))?;
            subject.check_seen(calls, done.seen)?;
            disturbed |= done.preempted;
            times.push((done.from, done.to));
        }
        // The slower thread's: they share what is measured until both are through.
        let whole = times.iter().map(|&(from, to)| to - from).max();
        let whole = whole.unwrap_or_default();
        let last_start = times.iter().map(|&(from, _)| from).max();
        let first_end = times.iter().map(|&(_, to)| to).min();
        if let (Some(start), Some(end)) = (last_start, first_end) {
            let together = end.saturating_duration_since(start);
            disturbed |= together.as_secs_f64() < TOGETHER * whole.as_secs_f64();
        }
        Ok(Sample {
            ns: whole.as_secs_f64() * 1e9 / calls as f64,
            whole,
            disturbed,
        })
    }
}

impl Worker {
    fn new(index: usize) -> Self {
        let (jobs, todo) = channel::<Job>();
        let (finished, done) = channel();
        let thread = std::thread::spawn(move || {
            bind(index);
            for job in todo {
                if finished.send(job.run()).is_err() {
                    break;
                }
            }
        });
        Self {
            jobs: Some(jobs),
            done,
            thread: Some(thread),
        }
    }

    fn begin(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // A worker that has panicked is noticed when its result does not come.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Job {
    fn run(self) -> Done {
        // Caches, branch predictors and this thread's part of the breaker.
        let warm = (self.calls / 16).max(self.subject.case.breakers());
        let _ = self.subject.run(warm);
        let before = preemptions();
        // Relaxed: only to start at the same time; the channel orders everything else.
        self.arrived.fetch_add(1, Ordering::Relaxed);
        let mut spins = 0_u32;
        while self.arrived.load(Ordering::Relaxed) < self.all {
            spins += 1;
            if spins.is_multiple_of(1_000) {
                yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        let from = Instant::now();
        let seen = self.subject.run(self.calls);
        let to = Instant::now();
        Done {
            seen,
            from,
            to,
            preempted: preemptions() != before,
        }
    }
}
