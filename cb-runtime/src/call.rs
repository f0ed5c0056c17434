//! Running a guarded call: what a panic, a dropped future and a timeout mean.

use std::future::{Future, poll_fn};
use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::breaker::{AtOnce, CircuitBreaker, Inner, Ticket};
use crate::current;
use crate::error::{CallError, CallNotPermitted, Reason, Why};
use crate::fault;
use crate::function::FallbackOn;
use crate::outcome::Outcome;
use crate::permit::Handle;
use crate::site::Site;
use crate::testing::faults;
use crate::watch;

#[cfg(feature = "tokio")]
mod timeout;

/// A permit with a call under way.
///
/// Dropped without an outcome while the body is running, that is by a panic which left the body or
/// a predicate that judged its value, it records a failure. Dropped between two polls, the call was
/// cancelled.
///
/// Small, since every guarded future holds one.
pub struct Guard<'a> {
    /// `None` once the call has ended.
    breaker: Option<Handle<'a>>,
    ticket: Ticket,
    site: Option<&'static Site>,
    /// From when the body of a sync call, or a poll of an async one, begins, until it is known that
    /// the body waits.
    place: Place,
}

/// Where a guarded call is. A word, as the other parts are: between a guard and the rejection that can
/// come instead of it, smaller parts would be moved one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Place {
    /// Its body waits.
    Outside,
    /// In its body, or in the judgement of what it returned.
    Body,
}

impl Place {
    #[inline]
    const fn of(in_body: bool) -> Self {
        if in_body { Self::Body } else { Self::Outside }
    }
}

/// What a call is told in the plain case.
pub(crate) enum Plainly<'a> {
    Permitted(Guard<'a>),
    Refused(Why),
    /// There is more to look at.
    Unknown,
}

impl<'a> Guard<'a> {
    /// Permission in the plain case. Apart from [`enter`](Self::enter), so that a guard is built where
    /// it stays: taking it out of a `Result` that another function wrote costs more than the rest.
    #[inline]
    pub(crate) fn plainly(
        breaker: &'a Inner,
        site: Option<&'static Site>,
        in_body: bool,
    ) -> Plainly<'a> {
        if !watch::nobody() {
            return Plainly::Unknown;
        }
        match breaker.admit_plainly() {
            AtOnce::Permitted(ticket) => Plainly::Permitted(Self {
                ticket,
                breaker: Some(Handle::Borrowed(breaker)),
                site,
                place: Place::of(in_body),
            }),
            AtOnce::Refused(why) => Plainly::Refused(why),
            AtOnce::Unknown => Plainly::Unknown,
        }
    }

    /// What a rejected call gets.
    #[inline(always)]
    pub(crate) fn refused(
        breaker: &Inner,
        site: Option<&'static Site>,
        why: Why,
    ) -> Result<Self, CallNotPermitted> {
        if site.is_some_and(|site| site.function.fallback.is_some()) {
            breaker.count_fallback();
        }
        breaker.rejected(why, Err)
    }

    /// Permission from a breaker without a site, after [`plainly`](Self::plainly).
    #[inline(never)]
    fn of_breaker(breaker: &'a Inner, in_body: bool) -> Result<Self, CallNotPermitted> {
        Self::enter(Handle::Borrowed(breaker), None, in_body)
    }

    #[inline(never)]
    pub(crate) fn enter(
        breaker: Handle<'a>,
        site: Option<&'static Site>,
        in_body: bool,
    ) -> Result<Self, CallNotPermitted> {
        match breaker.admit() {
            Ok(ticket) => {
                if fault::any() {
                    meet_fault(&breaker, ticket, site, in_body)?;
                }
                let breaker = breaker.traced(ticket.state());
                if in_body {
                    surround(&breaker, ticket);
                }
                Ok(Self {
                    breaker: Some(breaker),
                    ticket,
                    site,
                    place: Place::of(in_body),
                })
            }
            Err(why) => Self::refused(&breaker, site, why),
        }
    }

    #[inline]
    fn end(&mut self, outcome: Outcome) -> Option<u64> {
        if let (Some(Handle::Borrowed(breaker)), Outcome::Success) = (&self.breaker, outcome) {
            if breaker.finish_at_once(self.ticket) {
                // Borrowed: there is nothing to drop, and the code for the others stays away.
                std::mem::forget(self.breaker.take());
                return None;
            }
        }
        self.end_slowly(outcome)
    }

    /// With the guard as it is in memory: then the short way has nothing to keep in registers for this.
    #[inline(never)]
    fn end_slowly(&mut self, outcome: Outcome) -> Option<u64> {
        let breaker = self.breaker.take()?;
        end_slowly(breaker, self.ticket, self.site, outcome)
    }

    /// The call ended like this, and `value` is what it returned.
    #[inline]
    pub fn done<R>(&mut self, outcome: Outcome, value: R) -> R {
        // What ends a call does not panic. If it should, `value` is leaked rather than dropped: that it
        // could be dropped there would keep it in memory, to be copied from there to the caller's place.
        let value = ManuallyDrop::new(value);
        let _ = self.end(outcome);
        ManuallyDrop::into_inner(value)
    }

    /// The call ended like this. Tells if that has opened the breaker.
    pub fn finish_and_tell(&mut self, outcome: Outcome) -> Option<Opened<'a>> {
        let breaker = self.breaker.clone()?;
        let stay = self.end(outcome)?;
        Some(Opened { breaker, stay })
    }

    /// Polls the body of an async call.
    #[inline]
    pub fn poll<F: Future>(&mut self, body: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.holds(cx) {
            return Poll::Pending;
        }
        let polled = body.poll(cx);
        self.polled(polled.is_ready());
        polled
    }

    /// Before the body is polled; whether it must not be, yet.
    #[inline]
    pub fn holds(&mut self, cx: &mut Context<'_>) -> bool {
        if self.place == Place::Body {
            // Just permitted, while nobody watched: there is nobody to hold it, and nothing to mark.
            return false;
        }
        if fault::any() && self.is_held(cx) {
            return true;
        }
        self.place = Place::Body;
        if let Some(breaker) = &self.breaker {
            surround(breaker, self.ticket);
        }
        false
    }

    /// After the body was polled.
    #[inline]
    pub fn polled(&mut self, ready: bool) {
        // Once the body is done, only judging its value can go wrong, and that is a failure too.
        if !ready {
            self.place = Place::Outside;
            if let Some(breaker) = &self.breaker {
                uncover(breaker, self.ticket);
            }
        }
    }

    #[cold]
    fn is_held(&self, cx: &mut Context<'_>) -> bool {
        let breaker = self.breaker.as_deref();
        breaker.is_some_and(|breaker| faults::holds(breaker, self.ticket.start(), cx))
    }
}

/// Marks what runs now as the body of a probe, and as within the call's span.
#[inline]
fn surround(breaker: &Handle<'_>, ticket: Ticket) {
    if ticket.is_probe() {
        current::begin_probe(breaker, ticket.word());
    }
    breaker.enter_span();
}

/// Takes the marks back.
#[inline]
fn uncover(breaker: &Handle<'_>, ticket: Ticket) {
    breaker.exit_span();
    if ticket.is_probe() {
        current::end_probe(breaker, ticket.word());
    }
}

/// What a test's scope makes of the call.
#[cold]
fn meet_fault(
    breaker: &Inner,
    ticket: Ticket,
    site: Option<&'static Site>,
    sync: bool,
) -> Result<(), CallNotPermitted> {
    if !faults::strikes(breaker, sync) {
        return Ok(());
    }
    if answers(site, FallbackOn::Rejected) {
        breaker.count_fallback();
    }
    let _ = end(breaker, ticket, site, Outcome::Failure);
    Err(breaker.rejection(Why::new(Reason::Fault, None)))
}

#[inline(always)]
fn rejected<T, E>(rejection: CallNotPermitted) -> Result<T, CallError<E>> {
    Err(CallError::NotPermitted(rejection))
}

fn answers(site: Option<&'static Site>, on: FallbackOn) -> bool {
    site.is_some_and(|site| site.function.fallback == Some(on))
}

#[inline]
fn end_slowly(
    breaker: Handle<'_>,
    ticket: Ticket,
    site: Option<&'static Site>,
    outcome: Outcome,
) -> Option<u64> {
    if let (Handle::Borrowed(inner), Outcome::Failure) = (&breaker, outcome) {
        if !answers(site, FallbackOn::Failure) {
            if let Some(opened) = inner.fail_at_once(ticket) {
                std::mem::forget(breaker);
                return opened;
            }
        }
    }
    uncover(&breaker, ticket);
    breaker.tell_outcome(match outcome {
        Outcome::Success => "success",
        Outcome::Failure => "failure",
        Outcome::Ignored => "ignored",
    });
    if let Handle::Borrowed(inner) = breaker {
        // The usual case, with nothing to drop, and the short ways are not open.
        count_fallback(inner, site, outcome);
        return inner.finish_with_care(ticket, outcome);
    }
    end(&breaker, ticket, site, outcome)
}

#[inline]
fn end(
    breaker: &Inner,
    ticket: Ticket,
    site: Option<&'static Site>,
    outcome: Outcome,
) -> Option<u64> {
    count_fallback(breaker, site, outcome);
    breaker.finish(ticket, outcome)
}

fn count_fallback(breaker: &Inner, site: Option<&'static Site>, outcome: Outcome) {
    if outcome == Outcome::Failure && answers(site, FallbackOn::Failure) {
        breaker.count_fallback();
    }
}

/// Dropped before it ended.
#[cold]
#[inline(never)]
fn abandon(breaker: Handle<'_>, ticket: Ticket, site: Option<&'static Site>, place: Place) {
    if place == Place::Body {
        uncover(&breaker, ticket);
        breaker.tell_outcome("panic");
        let _ = breaker.finish(ticket, Outcome::Failure);
    } else {
        breaker.tell_outcome("cancelled");
        let own = site.and_then(|site| site.function.on_cancel);
        breaker.cancel(
            ticket,
            own.unwrap_or_else(|| breaker.limits.flags().on_cancel()),
        );
    }
}

/// An opening that a call has just caused.
pub struct Opened<'a> {
    breaker: Handle<'a>,
    stay: u64,
}

impl Opened<'_> {
    /// What the downstream asked for, if anything, replaces the computed wait.
    pub fn wait_for(self, asked: Option<Duration>) {
        if let Some(asked) = asked {
            self.breaker.wait_as_asked(self.stay, asked);
        }
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(breaker) = self.breaker.take() {
            abandon(breaker, self.ticket, self.site, self.place);
        }
    }
}

/// Every error is a failure.
fn judge<T, E>(result: &Result<T, E>) -> Outcome {
    if result.is_ok() {
        Outcome::Success
    } else {
        Outcome::Failure
    }
}

impl CircuitBreaker {
    /// Runs `call` if the breaker permits it. Every `Err` is a failure; to classify, use
    /// [`call_with`](Self::call_with). A panic is recorded as a failure and goes on.
    ///
    /// # Errors
    ///
    /// [`CallError::NotPermitted`] if `call` did not run, [`CallError::Failed`] with its error if
    /// it did.
    pub fn call<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.call_with(judge, call)
    }

    /// The same as [`call`](Self::call), with the outcome as `judge` sees it. A `judge` that
    /// panics makes the call a failure, and the panic goes on.
    ///
    /// ```
    /// use cb_runtime::{Outcome, Registry};
    ///
    /// let breaker = Registry::new().get_or_create("stock");
    /// let result = breaker.call_with(
    ///     |result: &Result<(), &str>| match result {
    ///         Ok(()) => Outcome::Success,
    ///         Err(error) if *error == "out of stock" => Outcome::Ignored,
    ///         Err(_) => Outcome::Failure,
    ///     },
    ///     || Err("out of stock"),
    /// );
    /// assert!(result.is_err());
    /// assert_eq!(breaker.snapshot().calls, 0);
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call); an ignored error is returned all the same.
    pub fn call_with<T, E>(
        &self,
        judge: impl FnOnce(&Result<T, E>) -> Outcome,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let mut guard = match Guard::plainly(&self.inner, None, true) {
            Plainly::Permitted(guard) => guard,
            Plainly::Refused(why) => return self.inner.rejected(why, rejected),
            Plainly::Unknown => Guard::of_breaker(&self.inner, true)?,
        };
        let result = call();
        let outcome = judge(&result);
        guard.done(outcome, result).map_err(CallError::Failed)
    }

    /// Runs the future if the breaker permits it, which is asked at the first poll. Every `Err` is
    /// a failure.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops `call`, and follows the configuration's `on_cancel`:
    /// by default the call counts as slow if it had run past `slow`, and otherwise not at all.
    /// The permit is given back.
    pub async fn call_async<T, E>(
        &self,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallError<E>> {
        self.call_async_with(judge, call).await
    }

    /// The same as [`call_async`](Self::call_async), with the outcome as `judge` sees it.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// As for [`call_async`](Self::call_async).
    pub async fn call_async_with<T, E>(
        &self,
        judge: impl FnOnce(&Result<T, E>) -> Outcome,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallError<E>> {
        let mut guard = match Guard::plainly(&self.inner, None, true) {
            Plainly::Permitted(guard) => guard,
            Plainly::Refused(why) => return self.inner.rejected(why, rejected),
            Plainly::Unknown => Guard::of_breaker(&self.inner, false)?,
        };
        let mut call = pin!(call);
        let result = poll_fn(|cx| guard.poll(call.as_mut(), cx)).await;
        let outcome = judge(&result);
        guard.done(outcome, result).map_err(CallError::Failed)
    }
}
