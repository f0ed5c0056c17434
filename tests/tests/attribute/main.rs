//! What the attribute makes of a function. Every test here fails if the function were left as it
//! was.

mod classes;
mod endings;
mod fallbacks;
mod listed;
mod methods;
mod shapes;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, State, TimedOut, circuit_breaker};

type Answer<T> = Result<T, ApiError>;

/// "Out of stock" is an answer, not an outage.
#[derive(Debug, Clone, PartialEq)]
struct BusinessError;

impl fmt::Display for BusinessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}

impl Error for BusinessError {}

#[derive(Debug, Clone, PartialEq)]
enum ApiError {
    Business(BusinessError),
    Http(u16),
    NotPermitted(CallNotPermitted),
    TimedOut(TimedOut),
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

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

/// Has nowhere to put a rejection.
#[derive(Debug, Clone, PartialEq)]
struct Bare(u32);

fn failed(code: u16) -> Result<u32, ApiError> {
    Err(ApiError::Http(code))
}

fn business() -> Result<u32, ApiError> {
    Err(ApiError::Business(BusinessError))
}

/// Runs a future that never has to wait.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future had to wait"),
    }
}

/// Fails `call` until the breaker opens, and once more.
fn opens<T>(scope: &Scope, name: &str, mut call: impl FnMut() -> Answer<T>) {
    scope.breaker(name).reset();
    for _ in 0..10 {
        assert!(
            matches!(call(), Err(ApiError::Http(_))),
            "{name} was not called"
        );
    }
    assert_eq!(scope.breaker(name).state(), State::Open, "{name}");
    assert!(
        matches!(call(), Err(ApiError::NotPermitted(_))),
        "{name} was not guarded"
    );
}

#[circuit_breaker(name = "card.sync", min_calls = 20, slow = "2s", ignore = BusinessError)]
fn card_sync(result: Result<u32, ApiError>) -> Result<u32, ApiError> {
    result
}

#[circuit_breaker(name = "card.async", min_calls = 20, slow = "2s", ignore = BusinessError)]
async fn card_async(result: Result<u32, ApiError>) -> Result<u32, ApiError> {
    result
}

#[test]
fn counts_opens_and_rejects() {
    let scope = Scope::new();
    for _ in 0..30 {
        assert_eq!(
            card_sync(business()),
            business(),
            "ignored, along the chain of sources"
        );
    }
    assert_eq!(card_sync(Ok(1)), Ok(1));
    let breaker = scope.breaker("card.sync");
    assert_eq!(
        (breaker.snapshot().calls, breaker.snapshot().ignored),
        (1, 30)
    );
    for _ in 0..10 {
        assert_eq!(card_sync(failed(503)), failed(503));
    }
    assert_eq!(breaker.state(), State::Open);
    let Err(ApiError::NotPermitted(rejection)) = card_sync(Ok(1)) else {
        panic!("the call went through");
    };
    assert_eq!(rejection.breaker(), "card.sync");
}

#[test]
fn counts_opens_and_rejects_async() {
    let scope = Scope::new();
    for _ in 0..30 {
        assert_eq!(now(card_async(business())), business());
    }
    for _ in 0..10 {
        assert_eq!(now(card_async(failed(503))), failed(503));
    }
    assert_eq!(scope.breaker("card.async").state(), State::Open);
    assert!(matches!(
        now(card_async(Ok(1))),
        Err(ApiError::NotPermitted(_))
    ));
    assert_eq!(scope.breaker("card.async").snapshot().ignored, 30);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let scope = Scope::new();
    let early = card_async(Ok(1));
    let breaker = scope.breaker("card.async");
    drop(card_async(failed(1)));
    assert_eq!(breaker.snapshot().calls, 0);
    breaker.force_open();
    assert!(
        matches!(now(early), Err(ApiError::NotPermitted(_))),
        "made while CLOSED, polled while open"
    );
}

#[circuit_breaker(name = "shared", min_calls = 4)]
fn one_of_two() -> Answer<u32> {
    failed(1)
}

#[circuit_breaker(name = "shared")]
async fn two_of_two() -> Answer<u32> {
    failed(2)
}

#[test]
fn two_functions_share_a_breaker() {
    let scope = Scope::new();
    for _ in 0..2 {
        one_of_two().unwrap_err();
        now(two_of_two()).unwrap_err();
    }
    assert_eq!(scope.breaker("shared").state(), State::Open);
    assert!(matches!(one_of_two(), Err(ApiError::NotPermitted(_))));
    assert!(matches!(now(two_of_two()), Err(ApiError::NotPermitted(_))));
}
