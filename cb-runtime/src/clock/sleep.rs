//! Sleeping on a clock: on tokio's timer, or until a test clock is moved.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::runtime::{Handle, Id};

use super::sleepers::Sleeper;
use super::{Clock, Nanos, Source, TestClock, nanos};
use crate::report::OnceWarning;
use crate::sync::Ordering;
use crate::sync::plain::{Mutex, lock};

pin_project! {
    /// Ends when the clock has moved on by the time it was made for.
    #[project = SleepProject]
    #[allow(missing_docs)]
    pub enum Sleep {
        Timer { #[pin] timer: tokio::time::Sleep },
        Test { clock: TestClock, until: Nanos, id: u64 },
        Never,
    }

    impl PinnedDrop for Sleep {
        fn drop(this: Pin<&mut Self>) {
            if let SleepProject::Test { clock, id, .. } = this.project() {
                clock.shared.sleepers.remove(*id);
            }
        }
    }
}

impl Clock {
    /// `missing` is what to say where there is no usable timer; the sleep then never ends.
    pub(crate) fn sleep(&self, time: Duration, missing: &OnceWarning) -> Sleep {
        match &self.0 {
            Source::System => match timer(time) {
                Some(timer) => Sleep::Timer { timer },
                None => {
                    missing.give();
                    Sleep::Never
                }
            },
            Source::Test(clock) => {
                let clock = clock.clone();
                let until = clock.now().saturating_add(nanos(time));
                let id = clock.shared.sleepers.next_id();
                Sleep::Test { clock, until, id }
            }
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.project() {
            SleepProject::Timer { timer } => timer.poll(cx),
            SleepProject::Test { clock, until, id } => {
                let sleeper = Sleeper {
                    id: *id,
                    until: *until,
                };
                clock.shared.sleepers.poll(clock, sleeper, cx)
            }
            SleepProject::Never => Poll::Pending,
        }
    }
}

/// `None` where there is no usable timer: outside a runtime, or in one whose timer is not enabled.
fn timer(time: Duration) -> Option<tokio::time::Sleep> {
    timer_of(Handle::try_current().ok()?.id(), time)
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
