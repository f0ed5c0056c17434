//! Threads that do something at the same moment, again and again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use cb_tests::harness::lock;

/// In each round `before` prepares, then every thread acts at once, then `after` looks at the
/// result while the threads still hold what their act returned.
///
/// # Panics
///
/// In the first round in which an act panics or `after` finds an error.
pub(crate) fn rounds<T>(
    threads: usize,
    rounds: usize,
    mut before: impl FnMut(usize),
    act: impl Fn(usize, usize) -> T + Sync,
    mut after: impl FnMut(usize) -> Result<(), String>,
) {
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
            scope.spawn(move || {
                for round in 0..rounds {
                    barrier.wait();
                    let kept = catch_unwind(AssertUnwindSafe(|| act(number, round)));
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
        for round in 0..rounds {
            before(round);
            barrier.wait();
            barrier.wait();
            let checked = catch_unwind(AssertUnwindSafe(|| after(round)));
            match checked {
                Ok(Ok(())) => {}
                Ok(Err(what)) => fail(round, what),
                Err(_) => fail(round, "the check panicked".to_owned()),
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
