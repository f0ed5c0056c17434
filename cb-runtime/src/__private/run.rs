//! Running the body of an async function. A type of its own is cheaper to compile than a closure in
//! every function, and one that owns the body is cheaper than pinning the body in every function.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Sleep;
use crate::call::Guard;

/// In what never runs: tells the compiler a type.
pub fn never<R>() -> R {
    unreachable!("it is only named")
}

pin_project! {
    /// A body under a guard. Made by expansions as it stands, and polled as [`Guard::poll`] does:
    /// another function in between would be compiled for every guarded one.
    pub struct Run<'a, F> {
        pub guard: &'a mut Guard<'static>,
        #[pin]
        pub body: F,
    }
}

pin_project! {
    /// A body under a guard, with a timeout.
    pub struct Timed<'a, F> {
        guard: &'a mut Guard<'static>,
        #[pin]
        body: F,
        #[pin]
        sleep: Option<Sleep>,
    }
}

pin_project! {
    /// A body under a guard, or the answer in its stead. Waiting for either in one place costs the
    /// compiler less than waiting in two.
    #[project = AttemptNow]
    pub enum Attempt<'a, F, A> {
        /// The body.
        Body { guard: &'a mut Guard<'static>, #[pin] body: F },
        /// The fallback's answer.
        Answer { #[pin] answer: A },
    }
}

/// Polls `body` under `guard`, which stays in `slot`.
pub fn attempt<'a, F: Future, A>(
    slot: &'a mut Option<Guard<'static>>,
    guard: Guard<'static>,
    body: F,
) -> Attempt<'a, F, A> {
    let guard = slot.insert(guard);
    Attempt::Body { guard, body }
}

impl<F: Future, A: Future<Output = F::Output>> Future for Attempt<'_, F, A> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            AttemptNow::Body { guard, body } => guard.poll(body, cx),
            AttemptNow::Answer { answer } => answer.poll(cx),
        }
    }
}

/// Polls `body` under `guard`, for as long as it may take; `None` when that is over.
pub fn run_timed<'a, F: Future>(guard: &'a mut Guard<'static>, body: F) -> Timed<'a, F> {
    Timed {
        guard,
        body,
        sleep: None,
    }
}

impl<F: Future> Future for Timed<'_, F> {
    type Output = Option<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let this = self.project();
        this.guard.poll_timeout(this.body, this.sleep, cx)
    }
}

impl<F: Future> Future for Run<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.guard.holds(cx) {
            return Poll::Pending;
        }
        let polled = this.body.poll(cx);
        this.guard.polled(polled.is_ready());
        polled
    }
}
