//! One test for every shape of function: its calls are counted, open the breaker, are rejected and
//! answered by the fallback. Every test fails if the attribute left the function as it was.

#![allow(
    clippy::boxed_local,
    clippy::double_must_use,
    clippy::needless_arbitrary_self_type,
    clippy::needless_question_mark,
    clippy::never_loop,
    clippy::redundant_pattern,
    clippy::type_complexity,
    clippy::unwrap_used
)] // odd shapes are shapes too

mod bodies;
mod classes;
mod fallbacks;
mod generics;
mod items;
mod made;
mod parameters;
mod receivers;
mod recursion;
mod results;
mod sizes;
mod traits;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, State, TimedOut};

type Answer<T> = Result<T, ApiError>;

#[derive(Debug, Clone, PartialEq)]
enum ApiError {
    Http(u16),
    Business(BusinessError),
    NotPermitted(CallNotPermitted),
    TimedOut(TimedOut),
}

/// "Out of stock" is an answer, not an outage.
#[derive(Debug, Clone, PartialEq)]
struct BusinessError;

/// Has nowhere to put a rejection.
#[derive(Debug, Clone, PartialEq)]
struct Bare(u32);

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl fmt::Display for BusinessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}

impl fmt::Display for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bare {}", self.0)
    }
}

impl Error for BusinessError {}
impl Error for Bare {}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Business(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CallNotPermitted> for ApiError {
    fn from(rejection: CallNotPermitted) -> Self {
        Self::NotPermitted(rejection)
    }
}

impl From<TimedOut> for ApiError {
    fn from(timeout: TimedOut) -> Self {
        Self::TimedOut(timeout)
    }
}

/// What most of the functions here call.
fn reach(fail: bool) -> Answer<u32> {
    if fail {
        Err(ApiError::Http(503))
    } else {
        Ok(1)
    }
}

/// Runs a future that never has to wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future had to wait"),
    }
}

/// A function without a fallback: a success and nine failures are counted, which open the breaker;
/// then it rejects.
#[track_caller]
fn rejects<T: fmt::Debug>(name: &str, mut call: impl FnMut(bool) -> Answer<T>) {
    let scope = Scope::new();
    call(false).unwrap();
    let breaker = scope.breaker(name);
    assert_eq!(breaker.snapshot().calls, 1, "{name} is counted");
    for _ in 0..9 {
        let error = call(true).unwrap_err();
        assert!(matches!(error, ApiError::Http(503)), "{name}: {error:?}");
    }
    assert_eq!(breaker.state(), State::Open, "{name} opens");
    let error = call(false).unwrap_err();
    assert!(
        matches!(error, ApiError::NotPermitted(_)),
        "{name}: {error:?}"
    );
    assert_eq!(breaker.snapshot().not_permitted, 1, "{name} rejects");
}

/// Likewise a function with a fallback, which answers `instead`.
#[track_caller]
fn falls_back<T: fmt::Debug + PartialEq, E: fmt::Debug>(
    name: &str,
    instead: &T,
    mut call: impl FnMut(bool) -> Result<T, E>,
) {
    let scope = Scope::new();
    assert_ne!(call(false).unwrap(), *instead, "{name} answers itself");
    let breaker = scope.breaker(name);
    assert_eq!(breaker.snapshot().calls, 1, "{name} is counted");
    for _ in 0..9 {
        call(true).unwrap_err();
    }
    assert_eq!(breaker.state(), State::Open, "{name} opens");
    assert_eq!(call(true).unwrap(), *instead, "{name} falls back");
    assert_eq!(breaker.snapshot().calls, 10, "{name} does not run");
}

/// Likewise a function that has no errors: it is forced open.
#[track_caller]
fn answers<T: fmt::Debug + PartialEq>(
    name: &str,
    own: &T,
    instead: &T,
    mut call: impl FnMut() -> T,
) {
    let scope = Scope::new();
    assert_eq!(call(), *own, "{name}");
    let breaker = scope.breaker(name);
    assert_eq!(breaker.snapshot().calls, 1, "{name} is counted");
    breaker.force_open();
    assert_eq!(call(), *instead, "{name} falls back");
}
