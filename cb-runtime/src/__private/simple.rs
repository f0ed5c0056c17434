//! The call of a function whose attribute says nothing of answers, errors or values: it returns a
//! `Result`, and every error is a failure.
//!
//! All of it is in here: what stands in the user's function is compiled with each of them.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::reply::CarriesRejection;
use super::returned::Finished;
use crate::call::{Guard, Plainly};
use crate::error::CallNotPermitted;
use crate::outcome::Outcome;
use crate::site::Site;

/// What such a function returns.
#[diagnostic::on_unimplemented(
    message = "a rejected call has nothing to return: `{Self}` is no `Result`",
    label = "cannot carry a rejection",
    note = "answer rejected calls with `fallback = some_function`, or return a `Result`"
)]
pub trait SimpleResult: Sized {
    /// Instead of the body's value.
    fn rejected(rejection: CallNotPermitted) -> Self;
    /// What the body's value means.
    fn outcome(&self) -> Outcome;
}

#[diagnostic::do_not_recommend]
impl<T, E: CarriesRejection> SimpleResult for Result<T, E> {
    #[inline]
    fn rejected(rejection: CallNotPermitted) -> Self {
        Err(E::rejected(rejection))
    }

    #[inline]
    fn outcome(&self) -> Outcome {
        if self.is_ok() {
            Outcome::Success
        } else {
            Outcome::Failure
        }
    }
}

/// [`Finished`], and that it is no [`SimpleResult`] follows from that: one message is enough.
#[diagnostic::on_unimplemented(
    message = "this function returns a future, of which only the making would be guarded",
    label = "`{Self}` is a future",
    note = "write an `async fn`, so that the breaker sees how the work ends, or return `Pin<Box<dyn Future<Output = …> + Send>>`, written out"
)]
pub trait FinishedResult: SimpleResult {}

/// A function returns an `R`. The first of these types, each a `Deref` to the next, that fits
/// decides, as for [`Returned`](super::Returned).
pub struct Returns<R>(PerhapsResult<R>);
/// It is no `Result` with a future in it.
pub struct PerhapsResult<R>(PerhapsFuture<R>);
/// It is no `Result`.
pub struct PerhapsFuture<R>(Plain<R>);
/// It is no future either.
pub struct Plain<R>(PhantomData<fn() -> R>);

impl<R> Returns<R> {
    /// One such function.
    pub const NEW: Self = Self(PerhapsResult(PerhapsFuture(Plain(PhantomData))));
}

impl<R> Deref for Returns<R> {
    type Target = PerhapsResult<R>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<R> Deref for PerhapsResult<R> {
    type Target = PerhapsFuture<R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<R> Deref for PerhapsFuture<R> {
    type Target = Plain<R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: IntoFuture, E> Returns<Result<T, E>> {
    /// Refused.
    pub fn call(&self, _: &'static Site, _: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        T: Finished,
    {
        unreachable!("nothing implements the bound")
    }

    /// Refused.
    pub fn never(&self) -> Result<T, E>
    where
        T: Finished,
    {
        unreachable!("nothing implements the bound")
    }
}

impl<T, E> PerhapsResult<Result<T, E>> {
    /// Runs the body of a sync call, if it may run.
    #[inline]
    pub fn call(&self, site: &'static Site, body: impl FnOnce() -> Result<T, E>) -> Result<T, E>
    where
        E: CarriesRejection,
    {
        let mut guard = match site.plainly(true) {
            Plainly::Permitted(guard) => guard,
            Plainly::Refused(why) => return SimpleResult::rejected(site.refusal(why)),
            Plainly::Unknown => match site.enter_with_care(true) {
                Ok(guard) => guard,
                Err(rejection) => return SimpleResult::rejected(rejection),
            },
        };
        let value = body();
        guard.done(value.outcome(), value)
    }

    /// In what never runs: tells the compiler the type that the body of an async call ends with.
    pub fn never(&self) -> Result<T, E>
    where
        E: CarriesRejection,
    {
        unreachable!("it is only named")
    }
}

impl<R: IntoFuture> PerhapsFuture<R> {
    /// Refused.
    pub fn call(&self, _: &'static Site, _: impl FnOnce() -> R) -> R
    where
        R: FinishedResult,
    {
        unreachable!("nothing implements the bound")
    }

    /// Refused.
    pub fn never(&self) -> R
    where
        R: FinishedResult,
    {
        unreachable!("nothing implements the bound")
    }
}

impl<R> Plain<R> {
    /// Refused.
    pub fn call(&self, _: &'static Site, _: impl FnOnce() -> R) -> R
    where
        R: SimpleResult,
    {
        unreachable!("nothing implements the bound")
    }

    /// Refused.
    pub fn never(&self) -> R
    where
        R: SimpleResult,
    {
        unreachable!("nothing implements the bound")
    }
}

pin_project! {
    /// An async call. Made by expansions as it stands, like [`Run`](super::Run).
    pub struct Simple<F> {
        pub site: &'static Site,
        #[pin]
        pub body: F,
        // While the body waits. Behind the body, to be dropped after it.
        pub guard: Option<Guard<'static>>,
    }
}

impl<F: Future<Output: SimpleResult>> Future for Simple<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        // On the stack while the body runs: a panic that leaves it drops it at once, and a body that
        // never waits leaves it there.
        let mut guard = match this.guard.take() {
            Some(guard) => guard,
            None => match this.site.plainly(true) {
                Plainly::Permitted(guard) => guard,
                Plainly::Refused(why) => {
                    return Poll::Ready(SimpleResult::rejected(this.site.refusal(why)));
                }
                Plainly::Unknown => match this.site.enter_with_care(false) {
                    Ok(guard) => guard,
                    Err(rejection) => return Poll::Ready(SimpleResult::rejected(rejection)),
                },
            },
        };
        match guard.poll(this.body, cx) {
            Poll::Ready(value) => Poll::Ready(guard.done(value.outcome(), value)),
            Poll::Pending => {
                *this.guard = Some(guard);
                Poll::Pending
            }
        }
    }
}
