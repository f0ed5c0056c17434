//! Threads that make calls at the same time, each on a core of its own as far as there are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, available_parallelism, yield_now};
use std::time::{Duration, Instant};

use crate::answer::Seen;
use crate::quiet::{bind, preemptions};
use crate::subject::Subject;

/// Threads that are measured together must run at the same time for this part of a sample.
const TOGETHER: f64 = 0.9;

/// How many calls take a time, if so many took another.
pub(crate) fn scaled(calls: u64, wanted: Duration, taken: Duration) -> u64 {
    let scaled = calls as f64 * wanted.as_secs_f64() / taken.as_secs_f64();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    let scaled = scaled as u64;
    scaled.max(10)
}

pub(crate) struct Sample {
    /// For each call and thread; for each call and core if there are more threads than cores.
    pub(crate) ns: f64,
    pub(crate) whole: Duration,
    /// A thread lost its core, or was alone for too long.
    pub(crate) disturbed: bool,
}

pub(crate) struct Workers {
    workers: Vec<Worker>,
    cores: usize,
}

struct Worker {
    jobs: Option<Sender<Job>>,
    /// Nothing of a job that panicked.
    done: Receiver<Option<Done>>,
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
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            workers: (0..threads).map(Worker::new).collect(),
            cores: available_parallelism().map_or(1, usize::from),
        }
    }

    /// How many calls take about as long as a sample is to take.
    pub(crate) fn calibrate(
        &self,
        subject: &Arc<Subject>,
        threads: usize,
        sample: Duration,
    ) -> Result<u64, String> {
        let mut calls = 16;
        loop {
            let taken = self.sample(subject, threads, calls)?.whole;
            if taken >= sample / 4 || calls > 1 << 40 {
                return Ok(scaled(calls, sample, taken).max(subject.warm));
            }
            calls *= 4;
        }
    }

    pub(crate) fn sample(
        &self,
        subject: &Arc<Subject>,
        threads: usize,
        calls: u64,
    ) -> Result<Sample, String> {
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
        // All of them, so that none is still at it when the next job comes.
        let done: Vec<_> = workers.iter().map(Worker::end).collect();
        for done in done {
            let done = done.ok_or_else(|| subject.complaint("panicked"))?;
            subject.check_seen(calls, done.seen)?;
            disturbed |= done.preempted;
            times.push((done.from, done.to));
        }
        let started = times.iter().map(|&(from, _)| from);
        let ended = times.iter().map(|&(_, to)| to);
        let between = |from: Option<Instant>, to: Option<Instant>| {
            from.zip(to).map_or(Duration::ZERO, |(from, to)| {
                to.saturating_duration_since(from)
            })
        };
        if threads > self.cores {
            // They take turns on the cores anyway.
            let whole = between(started.min(), ended.max());
            let calls_of_a_core = calls as f64 * threads as f64 / self.cores as f64;
            return Ok(Sample {
                ns: whole.as_secs_f64() * 1e9 / calls_of_a_core,
                whole,
                disturbed: false,
            });
        }
        // The slower thread's: they share what is measured until both are through.
        let whole = times.iter().map(|&(from, to)| to - from).max();
        let whole = whole.unwrap_or_default();
        let together = between(started.max(), ended.min());
        Ok(Sample {
            ns: whole.as_secs_f64() * 1e9 / calls as f64,
            whole,
            disturbed: disturbed || together.as_secs_f64() < TOGETHER * whole.as_secs_f64(),
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
                let arrived = Arc::clone(&job.arrived);
                let all = job.all;
                let done = catch_unwind(AssertUnwindSafe(|| job.run())).ok();
                if done.is_none() {
                    // Relaxed, as at the start: the others must not wait for this one.
                    arrived.fetch_add(all, Ordering::Relaxed);
                }
                if finished.send(done).is_err() {
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
            // That a worker is gone is noticed when its result does not come.
            let _ = jobs.send(job);
        }
    }

    fn end(&self) -> Option<Done> {
        self.done.recv().ok().flatten()
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
        let _ = self.subject.run((self.calls / 16).max(self.subject.warm));
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
