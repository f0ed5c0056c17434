//! Running the body of an async function. A type of its own is cheaper to compile than a closure in
//! every function.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::call::Guard;

/// A body under a guard.
pub struct Run<'a, F> {
    guard: &'a mut Guard<'static>,
    body: Pin<&'a mut F>,
}

/// Polls `body` under `guard`.
pub fn run<'a, F: Future>(guard: &'a mut Guard<'static>, body: Pin<&'a mut F>) -> Run<'a, F> {
    Run { guard, body }
}

impl<F: Future> Future for Run<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        this.guard.poll(this.body.as_mut(), cx)
    }
}
