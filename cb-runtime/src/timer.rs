//! One timer for a whole registry.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::registry::{Registry, timed};
use crate::report::OnceWarning;

impl Registry {
    /// Applies `auto_half_open` and `half_open_max_wait` at their due times, so that listeners hear
    /// of them although nobody calls or reads. The breakers need no timer to behave; this is for
    /// who wants to be told in time. Spawn it once:
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # let _inside = runtime.enter();
    /// tokio::spawn(cb_runtime::registry().run_timer());
    /// ```
    ///
    /// It must run in a tokio runtime with its timer enabled, unless the registry is on a test
    /// clock. It runs the listeners itself, so a slow one delays the transitions of all breakers.
    ///
    /// Ends when the registry's last handle is gone, so for the process's registry never.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the timer and loses nothing.
    pub fn run_timer(&self) -> impl Future<Output = ()> + Send + 'static {
        run(self.timed())
    }
}

static NO_TIMER: OnceWarning = OnceWarning::new(
    "`run_timer` is not in a tokio runtime with its timer enabled: transitions that fall due are \
     applied when somebody calls or looks",
);

/// Until the registry is gone.
async fn run(registry: timed::Registry) {
    while let Some(settled) = registry.settle() {
        let clock = &settled.clock;
        let wait = settled.next.map_or(Duration::MAX, |next| {
            Duration::from_nanos(next).saturating_sub(clock.elapsed())
        });
        let mut sleep = pin!(clock.sleep(wait, &NO_TIMER));
        poll_fn(|cx| {
            let changed = settled.poll_changed(cx).is_ready();
            if changed || sleep.as_mut().poll(cx).is_ready() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
