//! What a function that returns an `R` can say instead of the body.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::error::{CallError, CallNotPermitted, TimedOut};

/// The answers of a function that returns an `R`: those of `Result<T, E>`, else of `PlainReply`.
pub struct Reply<R>(PlainReply<R>);
/// `R` is no `Result`.
pub struct PlainReply<R>(PhantomData<fn() -> R>);

impl<R> Reply<R> {
    /// No choice yet.
    #[allow(clippy::new_without_default)] // expansions only
    pub const fn new() -> Self {
        Self(PlainReply(PhantomData))
    }
}

impl<R> PlainReply<R> {
    /// Of a type that cannot be named, and is known to be no `Result`.
    #[allow(clippy::new_without_default)] // expansions only
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R> Deref for Reply<R> {
    type Target = PlainReply<R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An error type that can carry a rejection.
#[diagnostic::on_unimplemented(
    message = "a rejected call cannot be returned as an error of type `{Self}`",
    label = "this error type does not implement `From<CallNotPermitted>`",
    note = "either answer rejected calls with `fallback = some_function`",
    note = "or return a `cb_runtime::CallError<{Self}>`, which carries them beside your errors",
    note = "or let the error carry them, `{Self}: From<cb_runtime::CallNotPermitted>`: in a `where` clause if it is a parameter, by an `impl` if it is a type of yours"
)]
pub trait CarriesRejection {
    /// The error.
    fn rejected(rejection: CallNotPermitted) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<CallNotPermitted>> CarriesRejection for E {
    fn rejected(rejection: CallNotPermitted) -> Self {
        rejection.into()
    }
}

/// An error type that can carry a timeout.
#[diagnostic::on_unimplemented(
    message = "a call that timed out cannot be returned as an error of type `{Self}`",
    label = "this error type does not implement `From<TimedOut>`",
    note = "either answer timeouts too with `fallback = some_function, fallback_on = \"failure\"`",
    note = "or return a `cb_runtime::CallError<{Self}>`, which carries them beside your errors",
    note = "or let the error carry them, `{Self}: From<cb_runtime::TimedOut>`: in a `where` clause if it is a parameter, by an `impl` if it is a type of yours"
)]
pub trait CarriesTimeout {
    /// The error.
    fn timed_out(timeout: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<TimedOut>> CarriesTimeout for E {
    fn timed_out(timeout: TimedOut) -> Self {
        timeout.into()
    }
}

impl<T, E> Reply<Result<T, E>> {
    /// The rejection as an error.
    pub fn rejected(&self, rejection: CallNotPermitted) -> Result<T, E>
    where
        E: CarriesRejection,
    {
        Err(E::rejected(rejection))
    }

    /// The timeout as an error.
    pub fn timed_out(&self, timeout: TimedOut) -> Result<T, E>
    where
        E: CarriesTimeout,
    {
        Err(E::timed_out(timeout))
    }

    /// The rejection as a fallback's reason.
    pub fn rejected_because(&self, rejection: CallNotPermitted) -> CallError<E> {
        CallError::NotPermitted(rejection)
    }

    /// The timeout as a fallback's reason.
    pub fn timed_out_because(&self, timeout: TimedOut) -> CallError<E> {
        CallError::TimedOut(timeout)
    }

    /// A failure as a fallback's reason.
    pub fn failed(&self, value: Result<T, E>) -> CallError<E> {
        match value {
            Err(error) => CallError::Failed(error),
            Ok(_) => CallError::FailedValue,
        }
    }
}

/// Only a `Result` can say that a call was rejected.
#[diagnostic::on_unimplemented(
    message = "a rejected call has nothing to return: `{Self}` is no `Result`",
    label = "cannot carry a rejection",
    note = "answer rejected calls with `fallback = some_function`, or return a `Result`"
)]
pub trait AnswersRejection {}

/// Only a `Result` can say that a call timed out.
#[diagnostic::on_unimplemented(
    message = "a call that timed out has nothing to return: `{Self}` is no `Result`",
    label = "cannot carry a timeout",
    note = "answer timeouts too with `fallback = some_function, fallback_on = \"failure\"`, or return a `Result`"
)]
pub trait AnswersTimeout {}

impl<R> PlainReply<R> {
    /// Refused.
    pub fn rejected(&self, _: CallNotPermitted) -> R
    where
        R: AnswersRejection,
    {
        unreachable!("nothing implements the bound")
    }

    /// Refused.
    pub fn timed_out(&self, _: TimedOut) -> R
    where
        R: AnswersTimeout,
    {
        unreachable!("nothing implements the bound")
    }

    /// The rejection as a fallback's reason.
    pub fn rejected_because(&self, rejection: CallNotPermitted) -> CallError<Infallible> {
        CallError::NotPermitted(rejection)
    }

    /// The timeout as a fallback's reason.
    pub fn timed_out_because(&self, timeout: TimedOut) -> CallError<Infallible> {
        CallError::TimedOut(timeout)
    }

    /// A failure as a fallback's reason.
    pub fn failed<V>(&self, _: V) -> CallError<Infallible> {
        CallError::FailedValue
    }
}
