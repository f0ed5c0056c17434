//! Whether a function fits as a fallback, and how it is called.
//!
//! One trait with one implementation for each [kind](Plain) of function: the compiler drops the
//! kinds whose conditions fail, and finds the one that is left.

use std::future::{Future, Ready, ready};

/// A function that takes the tuple `Args`.
pub trait Apply<Args>: Sized {
    /// What it returns.
    type Output;
    /// Calls it.
    fn apply(self, args: Args) -> Self::Output;
}

/// A tuple with one more in front or behind.
pub trait Tuple: Sized {
    /// With `First` in front.
    type With<First>;
    /// With `Last` behind.
    type And<Last>;
    /// Puts one in front.
    fn with<First>(self, first: First) -> Self::With<First>;
    /// Puts one behind.
    fn and<Last>(self, last: Last) -> Self::And<Last>;
}

macro_rules! arities {
    ($($name:ident)*) => {
        arities!(@apply $($name)*);
        arities!(@tuple $($name)*);
        arities!(@shorter $($name)*);
    };
    (@shorter) => {};
    (@shorter $first:ident $($rest:ident)*) => { arities!($($rest)*); };
    (@apply $($name:ident)*) => {
        impl<Function, Output, $($name),*> Apply<($($name,)*)> for Function
        where
            Function: FnOnce($($name),*) -> Output,
        {
            type Output = Output;
            #[allow(non_snake_case)]
            fn apply(self, ($($name,)*): ($($name,)*)) -> Output {
                self($($name),*)
            }
        }
    };
    (@tuple $($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($name),*> Tuple for ($($name,)*) {
            type With<First> = (First, $($name,)*);
            type And<Last> = ($($name,)* Last,);
            fn with<First>(self, first: First) -> Self::With<First> {
                let ($($name,)*) = self;
                (first, $($name,)*)
            }
            fn and<Last>(self, last: Last) -> Self::And<Last> {
                let ($($name,)*) = self;
                ($($name,)* last,)
            }
        }
    };
}

// A receiver, twelve parameters, the reason. `Tuple` is not needed for that many, but does no harm.
arities!(A B C D E F G H I J K L M N);

/// It takes the function's parameters.
pub struct Plain;
/// It takes them and the reason.
pub struct WithReason;
/// It is async.
pub struct Async<Kind>(Kind);
/// It takes the method's receiver first.
pub struct WithSelf<Kind>(Kind);
/// It leaves the receiver out.
pub struct NoSelf<Kind>(Kind);

/// A fallback of a function.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded function takes `{Args}` and returns `{Ret}`",
    note = "its fallback takes the same parameters, optionally followed by the reason, a `{Reason}`, and returns the same type; it is not async"
)]
pub trait Fallback<Args, Reason, Ret, Kind> {
    /// Calls it.
    fn call(self, args: Args, reason: Reason) -> Ret;
}

impl<F, Args, Reason, Ret> Fallback<Args, Reason, Ret, Plain> for F
where
    F: Apply<Args, Output = Ret>,
{
    fn call(self, args: Args, _: Reason) -> Ret {
        self.apply(args)
    }
}

impl<F, Args: Tuple, Reason, Ret> Fallback<Args, Reason, Ret, WithReason> for F
where
    F: Apply<Args::And<Reason>, Output = Ret>,
{
    fn call(self, args: Args, reason: Reason) -> Ret {
        self.apply(args.and(reason))
    }
}

/// A fallback of an async function.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded async function takes `{Args}` and returns `{Ret}`",
    note = "its fallback, async or not, takes the same parameters, optionally followed by the reason, a `{Reason}`, and returns the same type"
)]
pub trait AsyncFallback<Args, Reason, Ret, Kind> {
    /// What it returns.
    type Answer: Future<Output = Ret>;
    /// Calls it.
    fn call(self, args: Args, reason: Reason) -> Self::Answer;
}

impl<F, Args, Reason, Ret> AsyncFallback<Args, Reason, Ret, Plain> for F
where
    F: Apply<Args, Output = Ret>,
{
    type Answer = Ready<Ret>;
    fn call(self, args: Args, _: Reason) -> Self::Answer {
        ready(self.apply(args))
    }
}

impl<F, Args: Tuple, Reason, Ret> AsyncFallback<Args, Reason, Ret, WithReason> for F
where
    F: Apply<Args::And<Reason>, Output = Ret>,
{
    type Answer = Ready<Ret>;
    fn call(self, args: Args, reason: Reason) -> Self::Answer {
        ready(self.apply(args.and(reason)))
    }
}

impl<F, Args, Reason, Ret> AsyncFallback<Args, Reason, Ret, Async<Plain>> for F
where
    F: Apply<Args, Output: Future<Output = Ret>>,
{
    type Answer = F::Output;
    fn call(self, args: Args, _: Reason) -> Self::Answer {
        self.apply(args)
    }
}

impl<F, Args: Tuple, Reason, Ret> AsyncFallback<Args, Reason, Ret, Async<WithReason>> for F
where
    F: Apply<Args::And<Reason>, Output: Future<Output = Ret>>,
{
    type Answer = F::Output;
    fn call(self, args: Args, reason: Reason) -> Self::Answer {
        self.apply(args.and(reason))
    }
}

/// A fallback of a method.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded method takes `{Receiver}` and `{Args}` and returns `{Ret}`",
    note = "its fallback takes the same, with or without the receiver, optionally followed by the reason, a `{Reason}`, and returns the same type; it is not async"
)]
pub trait MethodFallback<Receiver, Args, Reason, Ret, Kind> {
    /// Calls it.
    fn call(self, receiver: Receiver, args: Args, reason: Reason) -> Ret;
}

impl<F, S, Args: Tuple, Reason, Ret, Kind> MethodFallback<S, Args, Reason, Ret, WithSelf<Kind>>
    for F
where
    F: Fallback<Args::With<S>, Reason, Ret, Kind>,
{
    fn call(self, receiver: S, args: Args, reason: Reason) -> Ret {
        Fallback::call(self, args.with(receiver), reason)
    }
}

impl<F, S, Args, Reason, Ret, Kind> MethodFallback<S, Args, Reason, Ret, NoSelf<Kind>> for F
where
    F: Fallback<Args, Reason, Ret, Kind>,
{
    fn call(self, _: S, args: Args, reason: Reason) -> Ret {
        Fallback::call(self, args, reason)
    }
}

/// A fallback of an async method.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded async method takes `{Receiver}` and `{Args}` and returns `{Ret}`",
    note = "its fallback, async or not, takes the same, with or without the receiver, optionally followed by the reason, a `{Reason}`, and returns the same type"
)]
pub trait AsyncMethodFallback<Receiver, Args, Reason, Ret, Kind> {
    /// What it returns.
    type Answer: Future<Output = Ret>;
    /// Calls it.
    fn call(self, receiver: Receiver, args: Args, reason: Reason) -> Self::Answer;
}

impl<F, S, Args: Tuple, Reason, Ret, Kind> AsyncMethodFallback<S, Args, Reason, Ret, WithSelf<Kind>>
    for F
where
    F: AsyncFallback<Args::With<S>, Reason, Ret, Kind>,
{
    type Answer = F::Answer;
    fn call(self, receiver: S, args: Args, reason: Reason) -> Self::Answer {
        AsyncFallback::call(self, args.with(receiver), reason)
    }
}

impl<F, S, Args, Reason, Ret, Kind> AsyncMethodFallback<S, Args, Reason, Ret, NoSelf<Kind>> for F
where
    F: AsyncFallback<Args, Reason, Ret, Kind>,
{
    type Answer = F::Answer;
    fn call(self, _: S, args: Args, reason: Reason) -> Self::Answer {
        AsyncFallback::call(self, args, reason)
    }
}

// The function comes last: by then the other types are known, and messages can name them.

/// The fallback's answer.
pub fn answer<Ret, Args, Reason, Kind, F>(args: Args, reason: Reason, fallback: F) -> Ret
where
    F: Fallback<Args, Reason, Ret, Kind>,
{
    fallback.call(args, reason)
}

/// The fallback's answer, for an async function.
pub fn answer_async<Ret, Args, Reason, Kind, F>(
    args: Args,
    reason: Reason,
    fallback: F,
) -> F::Answer
where
    F: AsyncFallback<Args, Reason, Ret, Kind>,
{
    fallback.call(args, reason)
}

/// The fallback's answer, for a method.
pub fn answer_method<Ret, Receiver, Args, Reason, Kind, F>(
    receiver: Receiver,
    args: Args,
    reason: Reason,
    fallback: F,
) -> Ret
where
    F: MethodFallback<Receiver, Args, Reason, Ret, Kind>,
{
    fallback.call(receiver, args, reason)
}

/// The fallback's answer, for an async method.
pub fn answer_method_async<Ret, Receiver, Args, Reason, Kind, F>(
    receiver: Receiver,
    args: Args,
    reason: Reason,
    fallback: F,
) -> F::Answer
where
    F: AsyncMethodFallback<Receiver, Args, Reason, Ret, Kind>,
{
    fallback.call(receiver, args, reason)
}

/// A parameter that both the body and the fallback can have.
#[diagnostic::on_unimplemented(
    message = "with `fallback_on = \"failure\"` the body and the fallback both need this parameter, but `{Self}` is not `Clone`",
    label = "cannot be kept for the fallback",
    note = "take it by reference, make it `Clone`, or answer rejections only: `fallback_on = \"rejected\"`"
)]
pub trait Keep: Sized {
    /// The fallback's copy.
    #[must_use]
    fn kept(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Keep for T {
    fn kept(&self) -> Self {
        self.clone()
    }
}

/// The fallback's copy of a parameter.
pub fn keep<T: Keep>(value: &T) -> T {
    value.kept()
}

/// Likewise for a future that takes the parameters when it is made.
#[diagnostic::on_unimplemented(
    message = "the future is made before it is known who answers, so the body and the fallback both need this parameter, but `{Self}` is not `Clone`",
    label = "cannot be kept for the fallback",
    note = "write an `async fn`, or let the whole body be one `async move` block; or take this by reference, or make it `Clone`"
)]
pub trait KeepEarly: Sized {
    /// The fallback's copy.
    #[must_use]
    fn kept(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> KeepEarly for T {
    fn kept(&self) -> Self {
        self.clone()
    }
}

/// The fallback's copy of a parameter.
pub fn keep_early<T: KeepEarly>(value: &T) -> T {
    value.kept()
}

/// Runs a body. A closure passed to a function may return what it was lent.
#[inline]
pub fn call_once<Ret>(body: impl FnOnce() -> Ret) -> Ret {
    body()
}
