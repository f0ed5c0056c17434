//! The right to make one call, for those who run the call themselves.

use std::fmt;
use std::sync::Arc;

use crate::breaker::{CircuitBreaker, Inner, Ticket};
use crate::error::CallNotPermitted;
use crate::outcome::Outcome;
use crate::slot::SharedSlot;

/// A breaker, borrowed or shared.
#[derive(Clone)]
pub(crate) enum Handle<'a> {
    Borrowed(&'a Inner),
    Shared(Arc<Inner>),
    OfKey(SharedSlot),
    #[cfg(feature = "tracing")]
    Traced(Arc<crate::tracing::Traced<'a>>),
}

impl std::ops::Deref for Handle<'_> {
    type Target = Inner;

    #[inline]
    fn deref(&self) -> &Inner {
        match self {
            Self::Borrowed(inner) => inner,
            Self::Shared(inner) => inner,
            Self::OfKey(slot) => &slot.breaker.inner,
            #[cfg(feature = "tracing")]
            Self::Traced(traced) => &traced.breaker,
        }
    }
}

/// The right to make one call. Say how the call ended; dropping the permit without a word means
/// that the call was cancelled, and follows the configuration's `on_cancel`.
///
/// The call's duration runs from the moment the permit was given to the moment it ends.
///
/// ```
/// use cb_runtime::{Outcome, Registry};
///
/// let breaker = Registry::new().get_or_create("search");
/// match breaker.try_acquire() {
///     Ok(permit) => {
///         let answer = "200 OK"; // make the call
///         permit.finish(if answer == "200 OK" { Outcome::Success } else { Outcome::Failure });
///     }
///     Err(rejection) => println!("{rejection}"),
/// }
/// assert_eq!(breaker.snapshot().successful, 1);
/// ```
#[must_use = "a permit dropped without an outcome is a cancelled call"]
pub struct Permit<'a> {
    breaker: Handle<'a>,
    /// [`Ticket::ENDED`] once the outcome was told.
    ticket: Ticket,
}

impl CircuitBreaker {
    /// Asks for permission to make one call.
    ///
    /// # Errors
    ///
    /// [`CallNotPermitted`] in OPEN and FORCED_OPEN, and in HALF_OPEN when all probes are given
    /// out.
    pub fn try_acquire(&self) -> Result<Permit<'_>, CallNotPermitted> {
        Permit::new(Handle::Borrowed(&self.inner))
    }

    /// The same as [`try_acquire`](Self::try_acquire), with a permit that can be moved to another
    /// thread or task.
    ///
    /// # Errors
    ///
    /// As for [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(&self) -> Result<Permit<'static>, CallNotPermitted> {
        Permit::new(Handle::Shared(Arc::clone(&self.inner)))
    }
}

impl<'a> Permit<'a> {
    #[inline]
    pub(crate) fn new(breaker: Handle<'a>) -> Result<Self, CallNotPermitted> {
        let ticket = match breaker.admit() {
            Ok(ticket) => ticket,
            Err(refused) => return Err(breaker.rejection(refused)),
        };
        Ok(Self { breaker, ticket })
    }

    /// The call ended like this.
    pub fn finish(mut self, outcome: Outcome) {
        let ticket = std::mem::replace(&mut self.ticket, Ticket::ENDED);
        let _ = self.breaker.finish(ticket, outcome);
    }

    /// The downstream answered.
    pub fn success(self) {
        self.finish(Outcome::Success);
    }

    /// The downstream is to blame.
    pub fn failure(self) {
        self.finish(Outcome::Failure);
    }

    /// The call says nothing about the downstream.
    pub fn ignore(self) {
        self.finish(Outcome::Ignored);
    }

    /// Whether the call is a probe: it was permitted in HALF_OPEN, and its outcome decides about the
    /// recovery. An answer from a cache would pass for one.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.ticket.is_probe()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.ticket.has_ended() {
            let on_cancel = self.breaker.limits.flags().on_cancel();
            self.breaker.cancel(self.ticket, on_cancel);
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("breaker", &self.breaker.name)
            .finish_non_exhaustive()
    }
}
