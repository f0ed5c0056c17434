//! Whether a function fits as a fallback, and how it is called.
//!
//! One trait with an implementation for each [kind](Plain) of function and number of parameters: the
//! compiler drops those whose conditions fail, and finds the one that is left. What they have in
//! common is not taken out of them, since each step on the way is compiled again for every fallback.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

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
    note = "its fallback takes the same parameters, optionally followed by the reason, a `{Reason}`, and returns the same type; it is not async",
    note = "the reason is a `CallError` if the attribute says `fallback_on = \"failure\"`"
)]
pub trait Fallback<Args, Reason, Ret, Kind>: Sized {
    /// Calls it.
    fn answer(args: Args, reason: Reason, fallback: Self) -> Ret;
}

/// A fallback of an async function.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded async function takes `{Args}` and returns `{Ret}`",
    note = "its fallback, async or not, takes the same parameters, optionally followed by the reason, a `{Reason}`, and returns the same type",
    note = "the reason is a `CallError` if the attribute says `fallback_on = \"failure\"`"
)]
pub trait AsyncFallback<Args, Reason, Ret, Kind>: Sized {
    /// What it returns.
    type Answer: Future<Output = Ret>;
    /// Calls it.
    fn answer(args: Args, reason: Reason, fallback: Self) -> Self::Answer;
}

/// The answer of a fallback that is not async. It is called when this is polled, so that what it
/// returns is not kept in the future of the guarded function.
pub struct Later<F, Args, Reason, Ret, Kind>(
    Option<(Args, Reason, F)>,
    PhantomData<fn() -> (Ret, Kind)>,
);

impl<F, Args, Reason, Ret, Kind> Unpin for Later<F, Args, Reason, Ret, Kind> {}

impl<F, Args, Reason, Ret, Kind> Future for Later<F, Args, Reason, Ret, Kind>
where
    F: Fallback<Args, Reason, Ret, Kind>,
{
    type Output = Ret;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Ret> {
        let (args, reason, fallback) = self.0.take().expect("polled after it was done");
        Poll::Ready(F::answer(args, reason, fallback))
    }
}

/// The parameters of a method.
pub trait Tuple {
    /// With the receiver in front.
    type With<Receiver>;
    /// Puts it in front.
    fn with<Receiver>(self, receiver: Receiver) -> Self::With<Receiver>;
}

macro_rules! arities {
    ($($name:ident)*) => {
        arities!(@kind Plain ($($name)*) ($($name)*) _reason);
        arities!(@kind WithReason ($($name)*) ($($name)* Reason) Reason);
        arities!(@tuple $($name)*);
        arities!(@shorter $($name)*);
    };
    (@shorter) => {};
    (@shorter $first:ident $($rest:ident)*) => { arities!($($rest)*); };
    (@kind $kind:ident ($($name:ident)*) ($($given:ident)*) $reason:ident) => {
        #[allow(non_snake_case)]
        impl<Function, Reason, Ret, $($name),*> Fallback<($($name,)*), Reason, Ret, $kind> for Function
        where
            Function: FnOnce($($given),*) -> Ret,
        {
            fn answer(($($name,)*): ($($name,)*), $reason: Reason, fallback: Self) -> Ret {
                fallback($($given),*)
            }
        }

        #[allow(non_snake_case)]
        impl<Function, Reason, Ret, $($name),*> AsyncFallback<($($name,)*), Reason, Ret, $kind> for Function
        where
            Function: FnOnce($($given),*) -> Ret,
        {
            type Answer = Later<Function, ($($name,)*), Reason, Ret, $kind>;
            fn answer(args: ($($name,)*), reason: Reason, fallback: Self) -> Self::Answer {
                Later(Some((args, reason, fallback)), PhantomData)
            }
        }

        #[allow(non_snake_case)]
        impl<Function, Answer, Reason, Ret, $($name),*>
            AsyncFallback<($($name,)*), Reason, Ret, Async<$kind>> for Function
        where
            Function: FnOnce($($given),*) -> Answer,
            Answer: Future<Output = Ret>,
        {
            type Answer = Answer;
            fn answer(($($name,)*): ($($name,)*), $reason: Reason, fallback: Self) -> Answer {
                fallback($($given),*)
            }
        }
    };
    (@tuple $($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($name),*> Tuple for ($($name,)*) {
            type With<Receiver> = (Receiver, $($name,)*);
            fn with<Receiver>(self, receiver: Receiver) -> Self::With<Receiver> {
                let ($($name,)*) = self;
                (receiver, $($name,)*)
            }
        }
    };
}

// A receiver and twelve parameters.
arities!(A B C D E F G H I J K L M);

/// A fallback of a method.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded method takes `{Receiver}` and `{Args}` and returns `{Ret}`",
    note = "its fallback takes the same, with or without the receiver, optionally followed by the reason, a `{Reason}`, and returns the same type; it is not async",
    note = "the reason is a `CallError` if the attribute says `fallback_on = \"failure\"`"
)]
pub trait MethodFallback<Receiver, Args, Reason, Ret, Kind>: Sized {
    /// Calls it.
    fn answer(receiver: Receiver, args: Args, reason: Reason, fallback: Self) -> Ret;
}

impl<F, S, Args: Tuple, Reason, Ret, Kind> MethodFallback<S, Args, Reason, Ret, WithSelf<Kind>>
    for F
where
    F: Fallback<Args::With<S>, Reason, Ret, Kind>,
{
    fn answer(receiver: S, args: Args, reason: Reason, fallback: Self) -> Ret {
        Fallback::answer(args.with(receiver), reason, fallback)
    }
}

impl<F, S, Args, Reason, Ret, Kind> MethodFallback<S, Args, Reason, Ret, NoSelf<Kind>> for F
where
    F: Fallback<Args, Reason, Ret, Kind>,
{
    fn answer(_: S, args: Args, reason: Reason, fallback: Self) -> Ret {
        Fallback::answer(args, reason, fallback)
    }
}

/// A fallback of an async method.
#[diagnostic::on_unimplemented(
    message = "this function does not fit as the fallback",
    label = "the fallback is `{Self}`",
    note = "the guarded async method takes `{Receiver}` and `{Args}` and returns `{Ret}`",
    note = "its fallback, async or not, takes the same, with or without the receiver, optionally followed by the reason, a `{Reason}`, and returns the same type",
    note = "the reason is a `CallError` if the attribute says `fallback_on = \"failure\"`"
)]
pub trait AsyncMethodFallback<Receiver, Args, Reason, Ret, Kind>: Sized {
    /// What it returns.
    type Answer: Future<Output = Ret>;
    /// Calls it.
    fn answer(receiver: Receiver, args: Args, reason: Reason, fallback: Self) -> Self::Answer;
}

impl<F, S, Args: Tuple, Reason, Ret, Kind> AsyncMethodFallback<S, Args, Reason, Ret, WithSelf<Kind>>
    for F
where
    F: AsyncFallback<Args::With<S>, Reason, Ret, Kind>,
{
    type Answer = F::Answer;
    fn answer(receiver: S, args: Args, reason: Reason, fallback: Self) -> Self::Answer {
        AsyncFallback::answer(args.with(receiver), reason, fallback)
    }
}

impl<F, S, Args, Reason, Ret, Kind> AsyncMethodFallback<S, Args, Reason, Ret, NoSelf<Kind>> for F
where
    F: AsyncFallback<Args, Reason, Ret, Kind>,
{
    type Answer = F::Answer;
    fn answer(_: S, args: Args, reason: Reason, fallback: Self) -> Self::Answer {
        AsyncFallback::answer(args, reason, fallback)
    }
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
