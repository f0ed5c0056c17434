//! A guarded call that may take only so long.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Guard, end};
use crate::clock::Sleep;
use crate::error::TimedOut;
use crate::name::Name;
use crate::outcome::Outcome;
use crate::report::OnceWarning;

static NO_TIMER: OnceWarning = OnceWarning::new(
    "a guarded call has a `timeout`, but there is no tokio runtime with its timer enabled: such \
     calls run without a timeout",
);

impl Guard<'_> {
    fn timeout(&self) -> Duration {
        let timeout = self.site.and_then(|site| {
            let function = site.function;
            let probe = function.half_open_timeout;
            probe
                .filter(|_| self.ticket.is_probe())
                .or(function.timeout)
        });
        timeout.unwrap_or(Duration::MAX)
    }

    /// Polls the body, then the timeout; `None` when that is over. The timer is set when the
    /// body first has to wait, so a call that never waits costs none.
    pub fn poll_timeout<F: Future>(
        &mut self,
        body: Pin<&mut F>,
        mut sleep: Pin<&mut Option<Sleep>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        if let Poll::Ready(value) = self.poll(body, cx) {
            return Poll::Ready(Some(value));
        }
        if sleep.is_none() {
            if let Some(breaker) = &self.breaker {
                sleep.set(Some(breaker.clock.sleep(self.timeout(), &NO_TIMER)));
            }
        }
        match sleep.as_pin_mut() {
            Some(sleep) => sleep.poll(cx).map(|()| None),
            None => Poll::Pending,
        }
    }

    /// The call was dropped at its timeout.
    pub fn timed_out(mut self) -> TimedOut {
        let name = match self.breaker.take() {
            Some(breaker) => {
                breaker.count_timeout();
                breaker.tell_outcome("timeout");
                let _ = end(&breaker, self.ticket, self.site, Outcome::Failure);
                breaker.name.clone()
            }
            // It had ended before.
            None => Name::literal(""),
        };
        TimedOut {
            name,
            after: self.timeout(),
        }
    }
}
