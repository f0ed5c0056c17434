//! Sleeping on a clock: on tokio's timer, or until a test clock is moved.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::runtime::{Handle, Id};

use super::{Clock, Nanos, Source, TestClock, nanos};
use crate::sync::{Mutex, Ordering, lock};

pin_project! {
    /// Ends when the clock has moved on by the time it was made for.
    #[project = SleepProject]
    #[allow(missing_docs)]
    pub enum Sleep {
        Timer { #[pin] timer: tokio::time::Sleep },
        Test { clock: TestClock, until: Nanos },
        Never,
    }
}

impl Clock {
    pub(crate) fn sleep(&self, time: Duration) -> Sleep {
        match &self.0 {
            Source::System => timer(time).map_or(Sleep::Never, |timer| Sleep::Timer { timer }),
            Source::Test(clock) => {
                let until = clock.now().saturating_add(nanos(time));
                Sleep::Test {
                    clock: clock.clone(),
                    until,
                }
            }
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            SleepProject::Timer { timer } => timer.poll(cx),
            SleepProject::Test { clock, until } => clock.shared.sleepers.poll(clock, *until, cx),
            SleepProject::Never => Poll::Pending,
        }
    }
}

/// `None` where there is no usable timer: outside a runtime, or in one whose timer is not enabled.
/// A call then runs without its timeout rather than not at all.
fn timer(time: Duration) -> Option<tokio::time::Sleep> {
    static WARN: Once = Once::new();
    let timer = Handle::try_current()
        .ok()
        .and_then(|runtime| timer_of(runtime.id(), time));
    if timer.is_none() {
        WARN.call_once(|| {
            crate::report::warn(
                "a guarded call has a `timeout`, but there is no tokio runtime with its timer \
                 enabled: such calls run without a timeout",
            );
        });
    }
    timer
}

/// tokio panics in a runtime whose timer is not enabled, and cannot be asked before. So it is asked
/// once a runtime.
fn timer_of(runtime: Id, time: Duration) -> Option<tokio::time::Sleep> {
    static ANY: AtomicBool = AtomicBool::new(false);
    static WITHOUT_TIMER: Mutex<Vec<Id>> = Mutex::new(Vec::new());
    // Relaxed: a stale `false` means asking once more. The list is behind the mutex.
    if ANY.load(Ordering::Relaxed) && lock(&WITHOUT_TIMER).contains(&runtime) {
        return None;
    }
    let timer = catch_unwind(AssertUnwindSafe(|| tokio::time::sleep(time))).ok();
    if timer.is_none() {
        lock(&WITHOUT_TIMER).push(runtime);
        ANY.store(true, Ordering::Relaxed);
    }
    timer
}

/// Who sleeps on a test clock.
#[derive(Default)]
pub(super) struct Sleepers(Mutex<Vec<(Nanos, Waker)>>);

impl Sleepers {
    fn poll(&self, clock: &TestClock, until: Nanos, cx: &mut Context<'_>) -> Poll<()> {
        if until == Nanos::MAX {
            return Poll::Pending;
        }
        let mut sleepers = lock(&self.0);
        // Under the lock, so that an `advance` either is seen here or finds the waker.
        if clock.now() >= until {
            return Poll::Ready(());
        }
        if !sleepers
            .iter()
            .any(|(at, waker)| *at == until && waker.will_wake(cx.waker()))
        {
            sleepers.push((until, cx.waker().clone()));
        }
        Poll::Pending
    }

    /// Wakes, in the order of their deadlines, those that are due.
    pub(super) fn wake_due(&self, now: Nanos) {
        let mut due: Vec<(Nanos, Waker)> = {
            let mut sleepers = lock(&self.0);
            let (due, rest) = sleepers.drain(..).partition(|(at, _)| *at <= now);
            *sleepers = rest;
            due
        };
        due.sort_by_key(|(at, _)| *at);
        // Outside the lock: waking may poll at once.
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
