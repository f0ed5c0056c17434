//! `ignore` and `record`: is the error of a type, or does it hold one?
//!
//! The first of several types, each a `Deref` to the next, that fits decides: the error is an `X`;
//! it is an error and dereferences to another; it dereferences to an error (`anyhow::Error`,
//! `Box<dyn Error>`); it is an error with sources; it is a `CallError` around something that is no
//! error.

use std::error::Error;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::error::{CallError, CallNotPermitted, TimedOut};
use crate::outcome::Outcome;

/// A chain of sources longer than this is taken to be endless.
const LONGEST_CHAIN: usize = 32;

/// The error that was returned, if one was.
pub struct Errors<'a, E>(pub Option<&'a E>);

impl<'a, E> Errors<'a, E> {
    /// This one.
    pub const fn of(error: Option<&'a E>) -> Self {
        Self(error)
    }

    /// Looks for an `X` in it.
    pub fn seek<X>(&self) -> Find<'a, X, E> {
        Find(Both(Behind(Along(Never(self.0, PhantomData)))))
    }

    /// Asks a predicate. A closure's parameter gets its type from here.
    pub fn holds(&self, predicate: impl FnOnce(&E) -> bool) -> bool {
        self.0.is_some_and(predicate)
    }

    /// What the call is if nothing else is said.
    pub fn rest(&self) -> Outcome {
        if self.0.is_some() {
            Outcome::Failure
        } else {
            Outcome::Success
        }
    }
}

/// Looks for an `X` in an `E`.
pub struct Find<'a, X, E>(Both<'a, X, E>);
/// `E` is no `X`.
pub struct Both<'a, X, E>(Behind<'a, X, E>);
/// `E` is no error that dereferences to another.
pub struct Behind<'a, X, E>(Along<'a, X, E>);
/// `E` does not dereference to an error.
pub struct Along<'a, X, E>(Never<'a, X, E>);
/// `E` is no error, but perhaps a `CallError`.
pub struct Never<'a, X, E>(Option<&'a E>, PhantomData<fn() -> X>);

impl<'a, X, E> Deref for Find<'a, X, E> {
    type Target = Both<'a, X, E>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, X, E> Deref for Both<'a, X, E> {
    type Target = Behind<'a, X, E>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, X, E> Deref for Behind<'a, X, E> {
    type Target = Along<'a, X, E>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, X, E> Deref for Along<'a, X, E> {
    type Target = Never<'a, X, E>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, X> Find<'a, X, X> {
    /// It is one.
    pub fn found(&self) -> bool {
        self.all().next().is_some()
    }

    /// That one.
    pub fn all(&self) -> One<'a, X> {
        One(self.0.0.0.0.0)
    }
}

/// What an error type can dereference to.
pub trait AsError {
    /// As the start of a chain.
    fn as_error(&self) -> &(dyn Error + 'static);
}

impl<E: Error + 'static> AsError for E {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl AsError for dyn Error + 'static {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl AsError for dyn Error + Send + 'static {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl AsError for dyn Error + Send + Sync + 'static {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl<'a, X: Error + 'static, E: Error + Deref<Target: AsError> + 'static> Both<'a, X, E> {
    /// Behind the reference or along the sources.
    pub fn found(&self) -> bool {
        self.all().next().is_some()
    }

    /// All of them, likewise. Some may come twice.
    pub fn all(&self) -> Chain<'a, X> {
        let error = self.0.0.0.0;
        let mut chain = Chain::from(error.map(|error| (**error).as_error()));
        chain.then = error.map(|error| error as _);
        chain
    }
}

impl<'a, X: Error + 'static, E: Deref<Target: AsError>> Behind<'a, X, E> {
    /// Behind the reference or along its sources.
    pub fn found(&self) -> bool {
        self.all().next().is_some()
    }

    /// All of them, likewise.
    pub fn all(&self) -> Chain<'a, X> {
        Chain::from(self.0.0.0.map(|error| error.as_error()))
    }
}

impl<'a, X: Error + 'static, E: Error + 'static> Along<'a, X, E> {
    /// Along the sources.
    pub fn found(&self) -> bool {
        self.all().next().is_some()
    }

    /// All of them, likewise.
    pub fn all(&self) -> Chain<'a, X> {
        Chain::from(self.0.0.map(|error| error as _))
    }
}

/// An error that can hold an `X`.
#[diagnostic::on_unimplemented(
    message = "a `{X}` can never be found in an error of type `{Self}`",
    label = "never found",
    note = "a type is found if the error is that type or a `CallError` of it, or if both implement `std::error::Error` and the error returns it from `source()`",
    note = "to decide otherwise, name a function: `fn(&{Self}) -> bool`"
)]
pub trait Holds<X, Part> {
    /// It, if that is what the error holds.
    fn held(&self) -> Option<&X>;
}

/// What failed.
pub struct Failed;
/// What the breaker says instead of the call.
pub struct Said;

#[diagnostic::do_not_recommend]
impl<E> Holds<E, Failed> for CallError<E> {
    fn held(&self) -> Option<&E> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E> Holds<CallNotPermitted, Said> for CallError<E> {
    fn held(&self) -> Option<&CallNotPermitted> {
        match self {
            Self::NotPermitted(rejection) => Some(rejection),
            _ => None,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E> Holds<TimedOut, Said> for CallError<E> {
    fn held(&self) -> Option<&TimedOut> {
        match self {
            Self::TimedOut(timeout) => Some(timeout),
            _ => None,
        }
    }
}

/// Where there is no error at all, that is what the message is about.
#[diagnostic::do_not_recommend]
impl<X> Holds<X, ()> for std::convert::Infallible {
    fn held(&self) -> Option<&X> {
        match *self {}
    }
}

impl<'a, X, E> Never<'a, X, E> {
    /// In what it holds; refused if it can hold none.
    pub fn found<Part>(&self) -> bool
    where
        E: Holds<X, Part>,
    {
        self.all::<Part>().next().is_some()
    }

    /// That one, likewise.
    pub fn all<Part>(&self) -> One<'a, X>
    where
        E: Holds<X, Part>,
    {
        One(self.0.and_then(E::held))
    }
}

/// The error itself.
pub struct One<'a, X>(Option<&'a X>);

impl<'a, X> One<'a, X> {
    /// It, then nothing.
    #[allow(clippy::should_implement_trait)] // a trait's method costs the compiler more
    pub fn next(&mut self) -> Option<&'a X> {
        self.0.take()
    }
}

/// What is left of a chain of sources.
pub struct Chain<'a, X> {
    rest: Option<&'a (dyn Error + 'static)>,
    /// Another one to follow it.
    then: Option<&'a (dyn Error + 'static)>,
    left: usize,
    of: PhantomData<fn() -> X>,
}

impl<'a, X: Error + 'static> Chain<'a, X> {
    fn from(start: Option<&'a (dyn Error + 'static)>) -> Self {
        Self {
            rest: start,
            then: None,
            left: LONGEST_CHAIN,
            of: PhantomData,
        }
    }

    /// The next `X` along it.
    #[allow(clippy::should_implement_trait)] // likewise
    pub fn next(&mut self) -> Option<&'a X> {
        while self.left > 0 {
            let error = self.rest.or_else(|| self.then.take())?;
            (self.rest, self.left) = (behind(error), self.left - 1);
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
        }
        None
    }
}

/// The next one along a chain. What an `io::Error` was made of is not among its sources: those are
/// the sources of that.
fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let made_of = error.downcast_ref().and_then(io::Error::get_ref);
    match made_of {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// Asks a predicate. A closure's parameter gets its type from here.
pub fn holds<T: ?Sized>(value: &T, predicate: impl FnOnce(&T) -> bool) -> bool {
    predicate(value)
}

/// Asks what was returned how long the downstream wants to be left alone.
pub fn ask<T: ?Sized>(
    value: &T,
    wait: impl FnOnce(&T) -> Option<std::time::Duration>,
) -> Option<std::time::Duration> {
    wait(value)
}
