//! Stands in for the timer without the feature `tokio`, so that [`timer`](super::timer)'s message
//! at the argument is the only one.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Guard;
use crate::error::TimedOut;

/// No timer.
pub struct Sleep(Infallible);

impl Guard<'_> {
    /// Polls the body.
    pub fn poll_timeout<F: Future>(
        &mut self,
        body: Pin<&mut F>,
        _: Pin<&mut Option<Sleep>>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        self.poll(body, cx).map(Some)
    }

    /// Never happens.
    pub fn timed_out(self) -> TimedOut {
        unreachable!("there is no timer")
    }
}
