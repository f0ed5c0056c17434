//! `ignore` and `record`: is the error of a type, or does it hold one?
//!
//! The first of several types, each a `Deref` to the next, that fits decides: the error is an `X`;
//! it dereferences to an error (`anyhow::Error`, `Box<dyn Error>`); it is an error with sources.

use std::error::Error;
use std::marker::PhantomData;
use std::ops::Deref;

/// A chain of sources longer than this is taken to be endless.
const LONGEST_CHAIN: usize = 32;

/// Looks for an `X` in an `E`.
pub struct Find<'a, X, E>(Behind<'a, X, E>);
/// `E` is no `X`.
pub struct Behind<'a, X, E>(Along<'a, X, E>);
/// `E` does not dereference to an error.
pub struct Along<'a, X, E>(Never<'a, X, E>);
/// `E` is no error.
pub struct Never<'a, X, E>(&'a E, PhantomData<fn() -> X>);

impl<'a, X, E> Find<'a, X, E> {
    /// In this error.
    pub const fn new(error: &'a E) -> Self {
        Self(Behind(Along(Never(error, PhantomData))))
    }
}

impl<'a, X, E> Deref for Find<'a, X, E> {
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

impl<X> Find<'_, X, X> {
    /// It is one.
    pub fn found(&self) -> bool {
        true
    }

    /// It is one; is it such a one?
    pub fn found_as(&self, is: impl Fn(&X) -> bool) -> bool {
        is(self.0.0.0.0)
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

impl<X: Error + 'static, E: Deref<Target: AsError>> Behind<'_, X, E> {
    /// Behind the reference or along its sources.
    pub fn found(&self) -> bool {
        self.found_as(|_| true)
    }

    /// Such a one, likewise.
    pub fn found_as(&self, is: impl Fn(&X) -> bool) -> bool {
        along(self.0.0.0.as_error(), is)
    }
}

impl<X: Error + 'static, E: Error + 'static> Along<'_, X, E> {
    /// Along the sources.
    pub fn found(&self) -> bool {
        self.found_as(|_| true)
    }

    /// Such a one, along the sources.
    pub fn found_as(&self, is: impl Fn(&X) -> bool) -> bool {
        along(self.0.0, is)
    }
}

/// An error that can hold an `X`.
#[diagnostic::on_unimplemented(
    message = "a `{X}` can never be found in an error of type `{Self}`",
    label = "never found",
    note = "a type is found if the error is that type, or if both implement `std::error::Error` and the error returns it from `source()`",
    note = "to decide otherwise, name a function: `fn(&{Self}) -> bool`"
)]
pub trait Holds<X> {}

/// Where there is no error at all, that is what the message is about.
impl<X> Holds<X> for std::convert::Infallible {}

impl<X, E> Never<'_, X, E> {
    /// Refused.
    pub fn found(&self) -> bool
    where
        E: Holds<X>,
    {
        false
    }

    /// Refused.
    pub fn found_as(&self, _: impl Fn(&X) -> bool) -> bool
    where
        E: Holds<X>,
    {
        false
    }
}

fn along<X: Error + 'static>(start: &(dyn Error + 'static), is: impl Fn(&X) -> bool) -> bool {
    std::iter::successors(Some(start), |&error| error.source())
        .take(LONGEST_CHAIN)
        .any(|error| error.downcast_ref().is_some_and(&is))
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
