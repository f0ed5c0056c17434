//! What a returned value means, decided by its type: aliases of `Result` are seen through.
//!
//! The first of several types, each a `Deref` to the next, that has the method and fits decides:
//! a `Result` with a future in it, any other `Result`, a future, anything else.

use std::convert::Infallible;
use std::future::IntoFuture;
use std::ops::Deref;

use super::find::Errors;
use crate::outcome::Outcome;

/// A reference to what the body returned.
pub struct Returned<'a, R>(PerhapsResult<'a, R>);
/// It is no `Result` with a future in it.
pub struct PerhapsResult<'a, R>(PerhapsFuture<'a, R>);
/// It is no `Result`.
pub struct PerhapsFuture<'a, R>(Plain<'a, R>);
/// It is no future either.
pub struct Plain<'a, R>(&'a R);

impl<'a, R> Returned<'a, R> {
    /// Of this value.
    pub const fn new(value: &'a R) -> Self {
        Self(PerhapsResult(PerhapsFuture(Plain(value))))
    }
}

impl<'a, R> Deref for Returned<'a, R> {
    type Target = PerhapsResult<'a, R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, R> Deref for PerhapsResult<'a, R> {
    type Target = PerhapsFuture<'a, R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, R> Deref for PerhapsFuture<'a, R> {
    type Target = Plain<'a, R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, T, E> PerhapsResult<'a, Result<T, E>> {
    /// `Err` is a failure.
    pub fn outcome(&self) -> Outcome {
        if self.parts().is_ok() {
            Outcome::Success
        } else {
            Outcome::Failure
        }
    }

    /// The value that `failure_if` judges, or the error.
    pub fn parts(&self) -> Result<&'a T, &'a E> {
        self.0.0.0.as_ref()
    }

    /// The error, for `ignore` and `record`.
    pub fn errors(&self) -> Errors<'a, E> {
        Errors::of(self.parts().err())
    }
}

/// No future has it.
#[diagnostic::on_unimplemented(
    message = "this function returns a future, of which only the making would be guarded",
    label = "`{Self}` is a future",
    note = "write an `async fn`, so that the breaker sees how the work ends, or return `Pin<Box<dyn Future<Output = …> + Send>>`, written out"
)]
pub trait Finished {}

impl<'a, T: IntoFuture, E> Returned<'a, Result<T, E>> {
    /// Refused.
    pub fn outcome(&self) -> Outcome
    where
        T: Finished,
    {
        self.0.outcome()
    }

    /// Refused.
    pub fn parts(&self) -> Result<&'a T, &'a E>
    where
        T: Finished,
    {
        self.0.parts()
    }

    /// Refused.
    pub fn errors(&self) -> Errors<'a, E>
    where
        T: Finished,
    {
        self.0.errors()
    }
}

impl<'a, R: IntoFuture> PerhapsFuture<'a, R> {
    /// Refused.
    pub fn outcome(&self) -> Outcome
    where
        R: Finished,
    {
        Outcome::Success
    }

    /// Refused.
    pub fn parts(&self) -> Result<&'a R, &'a Infallible>
    where
        R: Finished,
    {
        Ok(self.0.0)
    }

    /// Refused.
    pub fn errors(&self) -> Errors<'a, Infallible>
    where
        R: Finished,
    {
        Errors::of(None)
    }
}

/// Only a `Result` has it.
#[diagnostic::on_unimplemented(
    message = "`ignore` and `record` tell errors apart, but this function returns none",
    label = "needs a `Result`, not a `{Self}`",
    note = "to judge the returned value itself, use `failure_if`"
)]
pub trait HasErrors {}

impl<'a, R> Plain<'a, R> {
    /// Any value is a success.
    pub fn outcome(&self) -> Outcome {
        Outcome::Success
    }

    /// The value that `failure_if` judges.
    pub fn parts(&self) -> Result<&'a R, &'a Infallible> {
        Ok(self.0)
    }

    /// Refused.
    pub fn errors(&self) -> Errors<'a, Infallible>
    where
        R: HasErrors,
    {
        Errors::of(None)
    }
}
