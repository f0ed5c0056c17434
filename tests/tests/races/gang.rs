//! Threads that do something at the same moment, again and again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use cb_tests::harness::lock;

/// Whether threads really were at something at the same time.
#[derive(Default)]
pub(crate) struct Meeting {
    inside: AtomicUsize,
    met: AtomicUsize,
}

impl Meeting {
    pub(crate) fn during<T>(&self, act: impl FnOnce() -> T) -> T {
        struct Leaving<'a>(&'a AtomicUsize);
        impl Drop for Leaving<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        // Relaxed, to order nothing of what the threads do.
        let others = self.inside.fetch_add(1, Ordering::Relaxed);
        let _leaving = Leaving(&self.inside);
        if others > 0 {
            self.met.fetch_add(1, Ordering::Relaxed);
        }
        act()
    }

    pub(crate) fn happened(&self) -> bool {
        self.met.load(Ordering::Relaxed) > 0
    }

    /// # Panics
    ///
    /// If no two threads were at it at the same time.
    pub(crate) fn assert(&self) {
        assert!(self.happened(), "the threads never met");
    }
}

/// In each round `before` prepares, then every thread acts at once, then `after` looks at the
/// result while the threads still hold what their act returned. There are so many rounds, and more until
/// two acts have been under way at the same time.
///
/// # Panics
///
/// In the first round in which an act panics or `after` finds an error, and if the threads never meet.
pub(crate) fn rounds<T>(
    threads: usize,
    rounds: usize,
    mut before: impl FnMut(usize),
    act: impl Fn(usize, usize) -> T + Sync,
    mut after: impl FnMut(usize) -> Result<(), String>,
) {
    /// So many times the rounds, at most: on a busy machine the threads can miss each other for long.
    const PATIENCE: usize = 200;
    let meeting = Meeting::default();
    let line = StartingLine::new(threads);
    let barrier = Barrier::new(threads + 1);
    let stop = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let fail = |round: usize, what: String| {
        lock(&failure).get_or_insert(format!("round {round}: {what}"));
        stop.store(true, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        for number in 0..threads {
            let (barrier, stop, act, fail) = (&barrier, &stop, &act, &fail);
            let (line, meeting) = (&line, &meeting);
            scope.spawn(move || {
                for round in 0.. {
                    barrier.wait();
                    line.wait(round);
                    let kept =
                        catch_unwind(AssertUnwindSafe(|| meeting.during(|| act(number, round))));
                    if kept.is_err() {
                        fail(round, format!("thread {number} panicked"));
                    }
                    barrier.wait();
                    // Now the result is looked at.
                    barrier.wait();
                    // What a result does when it is dropped belongs to this round.
                    drop(kept);
                    barrier.wait();
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        for round in 0.. {
            before(round);
            barrier.wait();
            barrier.wait();
            let checked = catch_unwind(AssertUnwindSafe(|| after(round)));
            match checked {
                Ok(Ok(())) => {}
                Ok(Err(what)) => fail(round, what),
                Err(_) => fail(round, "the check panicked".to_owned()),
            }
            let done = round + 1;
            if done >= rounds && (meeting.happened() || done >= PATIENCE * rounds) {
                stop.store(true, Ordering::SeqCst);
            }
            barrier.wait();
            barrier.wait();
            if stop.load(Ordering::SeqCst) {
                return;
            }
        }
    });
    let failure = lock(&failure).take();
    assert!(failure.is_none(), "{}", failure.unwrap_or_default());
    meeting.assert();
}

/// Where threads that a barrier woke one after the other wait for each other, so that they start at the
/// same moment, if there are processors for all of them.
struct StartingLine {
    threads: Option<usize>,
    there: AtomicUsize,
}

impl StartingLine {
    fn new(threads: usize) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads: (threads <= processors).then_some(threads),
            there: AtomicUsize::new(0),
        }
    }

    fn wait(&self, round: usize) {
        /// Then it is some other program's turn.
        const SPINS: usize = 10_000;
        let Some(threads) = self.threads else { return };
        let all = (round + 1) * threads;
        self.there.fetch_add(1, Ordering::SeqCst);
        for spin in 1.. {
            if self.there.load(Ordering::SeqCst) >= all {
                return;
            }
            if spin % SPINS == 0 {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// An error unless both are equal.
pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: T,
    expected: T,
) -> Result<(), String> {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what}: {got:?} instead of {expected:?}"))
    }
}
