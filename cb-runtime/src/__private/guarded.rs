//! The guard around a future that a function which is not async has made.
//!
//! A type of its own, since an `async` block would hold the future twice: as it came, and where it
//! is polled.

use std::convert::Infallible;
use std::future::{Future, Pending};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::Sleep;
use crate::call::Guard;
use crate::enter::Key;
use crate::error::{CallNotPermitted, TimedOut};

/// How an attempt ended, `T` being what a timeout is.
pub enum Ended<R, T> {
    /// The body was not polled.
    Rejected(CallNotPermitted),
    /// The body was dropped.
    TimedOut(T),
    /// The body's value, not judged yet.
    Returned(Guard<'static>, R),
}

/// What follows an attempt.
pub enum Step<R, A> {
    /// The future is done.
    Done(R),
    /// The fallback answers.
    Answer(A),
}

/// In place of a fallback's answer, where there is no fallback. `Send` whatever `R` is.
pub type Never<R> = Pending<R>;

/// How long the body may take.
pub trait Limit {
    /// What is known of a timeout.
    type Late;
    /// Polls the body; `None` when its time is over.
    fn poll<F: Future>(
        self: Pin<&mut Self>,
        guard: &mut Guard<'static>,
        body: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>>;
    /// Records the timeout.
    fn late(guard: Guard<'static>) -> Self::Late;
}

/// For ever.
pub struct Unlimited;

impl Limit for Unlimited {
    type Late = Infallible;

    #[inline]
    fn poll<F: Future>(
        self: Pin<&mut Self>,
        guard: &mut Guard<'static>,
        body: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        guard.poll(body, cx).map(Some)
    }

    fn late(_: Guard<'static>) -> Infallible {
        unreachable!("there is no limit")
    }
}

/// `timeout`.
impl Limit for Option<Sleep> {
    type Late = TimedOut;

    #[inline]
    fn poll<F: Future>(
        self: Pin<&mut Self>,
        guard: &mut Guard<'static>,
        body: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        guard.poll_timeout(body, self, cx)
    }

    fn late(guard: Guard<'static>) -> TimedOut {
        guard.timed_out()
    }
}

pin_project! {
    #[project = StateNow]
    enum State<F, L, A> {
        Attempt { #[pin] body: F, #[pin] limit: L },
        Answer { #[pin] answer: A },
        Over,
    }
}

pin_project! {
    /// A future under a guard. Permission is asked at its first poll.
    pub struct Guarded<F, L, A, Enter, End> {
        #[pin]
        state: State<F, L, A>,
        // While the body waits. Behind the body, to be dropped after it.
        guard: Option<Guard<'static>>,
        enter: Option<Enter>,
        end: Option<End>,
    }
}

/// A key, kept until permission is asked.
pub fn key_of<K: Key + ?Sized>(key: &K) -> String {
    key.text().as_str().to_owned()
}

/// Puts `body` under the guard that `enter` gives. `end` judges, and answers in the body's stead.
pub fn guarded<R, F, L, A, Enter, End>(
    body: F,
    limit: L,
    enter: Enter,
    end: End,
) -> Guarded<F, L, A, Enter, End>
where
    F: Future<Output = R>,
    L: Limit,
    A: Future<Output = R>,
    Enter: FnOnce() -> Result<Guard<'static>, CallNotPermitted>,
    End: FnOnce(Ended<R, L::Late>) -> Step<R, A>,
{
    Guarded {
        state: State::Attempt { body, limit },
        guard: None,
        enter: Some(enter),
        end: Some(end),
    }
}

impl<R, F, L, A, Enter, End> Future for Guarded<F, L, A, Enter, End>
where
    F: Future<Output = R>,
    L: Limit,
    A: Future<Output = R>,
    Enter: FnOnce() -> Result<Guard<'static>, CallNotPermitted>,
    End: FnOnce(Ended<R, L::Late>) -> Step<R, A>,
{
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let mut this = self.project();
        loop {
            let attempt = match this.state.as_mut().project() {
                StateNow::Attempt { body, limit } => {
                    // On the stack while the body runs: a panic that leaves it drops it at once.
                    let entered = match this.guard.take() {
                        Some(guard) => Ok(guard),
                        None => this.enter.take().expect("polled after a panic")(),
                    };
                    match entered {
                        Ok(mut guard) => match limit.poll(&mut guard, body, cx) {
                            Poll::Pending => {
                                *this.guard = Some(guard);
                                return Poll::Pending;
                            }
                            Poll::Ready(value) => Ok((guard, value)),
                        },
                        Err(rejection) => Err(rejection),
                    }
                }
                StateNow::Answer { answer } => {
                    let value = ready!(answer.poll(cx));
                    this.state.set(State::Over);
                    return Poll::Ready(value);
                }
                StateNow::Over => panic!("polled after it was done"),
            };
            // The body is dropped before its end is recorded.
            this.state.set(State::Over);
            let ended = match attempt {
                Ok((guard, Some(value))) => Ended::Returned(guard, value),
                Ok((guard, None)) => Ended::TimedOut(L::late(guard)),
                Err(rejection) => Ended::Rejected(rejection),
            };
            match this.end.take().expect("polled after a panic")(ended) {
                Step::Done(value) => return Poll::Ready(value),
                Step::Answer(answer) => this.state.set(State::Answer { answer }),
            }
        }
    }
}
