//! Fallbacks, and what they are given.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CallNotPermitted, circuit_breaker};

use crate::{Answer, ApiError, Bare, answers, falls_back, now, reach};

#[circuit_breaker(name = "fallbacks.plain", fallback = plain_instead)]
fn plain(fail: bool) -> Answer<u32> {
    reach(fail)
}

fn plain_instead(_: bool) -> Answer<u32> {
    Ok(0)
}

#[circuit_breaker(name = "fallbacks.reason", fallback = self::reason_instead)]
async fn reason(fail: bool) -> Answer<u32> {
    reach(fail)
}

async fn reason_instead(fail: bool, why: CallNotPermitted) -> Answer<u32> {
    std::future::ready(()).await;
    Ok(u32::from(fail && why.retry_after() == Some(Duration::from_secs(10))) * 7)
}

#[circuit_breaker(name = "fallbacks.sync_for_async", fallback = plain_instead)]
async fn sync_for_async(fail: bool) -> Answer<u32> {
    reach(fail)
}

#[circuit_breaker(name = "fallbacks.nullary", fallback = nothing_needed)]
fn nullary() -> u32 {
    1
}

fn nothing_needed(why: CallNotPermitted) -> u32 {
    u32::from(why.breaker().is_empty())
}

#[test]
fn with_and_without_the_reason() {
    falls_back("fallbacks.plain", &0, plain);
    falls_back("fallbacks.reason", &7, |fail| now(reason(fail)));
    falls_back("fallbacks.sync_for_async", &0, |fail| {
        now(sync_for_async(fail))
    });
    answers("fallbacks.nullary", &1, &0, nullary);
}

/// Neither `Clone` nor `Copy`.
#[derive(Debug, PartialEq)]
struct Order(u32);

#[circuit_breaker(name = "fallbacks.consumes", fallback = give_back)]
fn consumes(order: Order, fail: bool) -> Result<Order, Bare> {
    reach(fail).map(|_| Order(0)).map_err(|_| Bare(order.0))
}

fn give_back(order: Order, _: bool) -> Result<Order, Bare> {
    Ok(order)
}

#[circuit_breaker(name = "fallbacks.consumes_async", fallback = give_back)]
async fn consumes_async(order: Order, fail: bool) -> Result<Order, Bare> {
    std::future::ready(()).await;
    reach(fail).map(|_| Order(0)).map_err(|_| Bare(order.0))
}

#[test]
fn a_rejection_hands_the_parameters_over() {
    falls_back("fallbacks.consumes", &Order(3), |fail| {
        consumes(Order(3), fail)
    });
    falls_back("fallbacks.consumes_async", &Order(3), |fail| {
        now(consumes_async(Order(3), fail))
    });
}

#[circuit_breaker(name = "fallbacks.second", fallback = third)]
fn second(n: u32) -> Answer<u32> {
    Ok(n + 1)
}

fn third(n: u32, why: CallNotPermitted) -> Answer<u32> {
    if n > 0 { Ok(n + 2) } else { Err(why.into()) }
}

#[circuit_breaker(name = "fallbacks.first", fallback = second)]
fn first(n: u32) -> Answer<u32> {
    Ok(n)
}

#[circuit_breaker(name = "fallbacks.first_async", fallback = second_async)]
async fn first_async(n: u32) -> Answer<u32> {
    Ok(n)
}

#[circuit_breaker(name = "fallbacks.second_async", fallback = third)]
fn second_async(n: u32) -> std::pin::Pin<Box<dyn Future<Output = Answer<u32>> + Send>> {
    Box::pin(async move { Ok(n + 1) })
}

#[test]
fn a_fallback_can_be_guarded_itself() {
    let scope = Scope::new();
    assert_eq!((first(10), now(first_async(10))), (Ok(10), Ok(10)));
    scope.breaker("fallbacks.first").force_open();
    scope.breaker("fallbacks.first_async").force_open();
    assert_eq!((first(10), now(first_async(10))), (Ok(11), Ok(11)));
    assert_eq!(scope.breaker("fallbacks.second").snapshot().calls, 1);
    scope.breaker("fallbacks.second").force_open();
    scope.breaker("fallbacks.second_async").force_open();
    assert_eq!((first(10), now(first_async(10))), (Ok(12), Ok(12)));
    assert!(
        matches!(first(0), Err(ApiError::NotPermitted(why)) if why.breaker() == "fallbacks.second")
    );
}

#[circuit_breaker(name = "fallbacks.failure", fallback = rescued, fallback_on = "failure", ignore = is_two)]
async fn failure(text: String, list: &mut Vec<u32>, n: u32) -> Result<String, Bare> {
    list.push(n);
    if n == 0 { Ok(text) } else { Err(Bare(n)) }
}

fn is_two(error: &Bare) -> bool {
    error.0 == 2
}

fn rescued(
    text: String,
    list: &mut Vec<u32>,
    n: u32,
    why: CallError<Bare>,
) -> Result<String, Bare> {
    list.push(100 + n);
    match why {
        CallError::Failed(Bare(3)) => Err(Bare(33)),
        why => Ok(format!("{text} {why:?}")),
    }
}

#[test]
fn failures_with_what_was_lent_and_copied() {
    let scope = Scope::new();
    let mut list = vec![];
    let mut call = |n| now(failure("text".into(), &mut list, n));
    assert_eq!(call(0).unwrap(), "text");
    assert_eq!(call(1).unwrap(), "text Failed(Bare(1))");
    assert_eq!(call(2), Err(Bare(2)), "ignored errors are answers");
    assert_eq!(call(3), Err(Bare(33)), "the fallback's own error");
    let breaker = scope.breaker("fallbacks.failure");
    assert_eq!(
        (breaker.snapshot().calls, breaker.snapshot().failed),
        (3, 2)
    );
    breaker.force_open();
    assert!(call(5).unwrap().starts_with("text NotPermitted"));
    assert_eq!(list, [0, 1, 101, 2, 3, 103, 105]);
}

#[circuit_breaker(name = "fallbacks.not_send", min_calls = 1, fallback = rc_instead)]
async fn not_send(value: u32) -> Answer<std::rc::Rc<u32>> {
    reach(false).map(|_| std::rc::Rc::new(value))
}

fn rc_instead(value: u32) -> Answer<std::rc::Rc<u32>> {
    Ok(std::rc::Rc::new(value + 1))
}

/// What a fallback that is not async returns is not kept in the future.
#[test]
fn a_sync_fallback_leaves_the_future_send() {
    fn send<F: Future + Send>(future: F) -> F {
        future
    }
    let scope = Scope::new();
    assert_eq!(now(send(not_send(1))).unwrap(), 1.into());
    scope.breaker("fallbacks.not_send").force_open();
    assert_eq!(now(send(not_send(1))).unwrap(), 2.into());
}

#[circuit_breaker(name = "fallbacks.opaque", fallback = shown_instead, fallback_on = "failure", failure_if = |shown| shown.to_string().starts_with("down"))]
fn shown(value: &'static str) -> impl fmt::Display {
    value
}

fn shown_instead(_: &'static str, why: CallError<std::convert::Infallible>) -> &'static str {
    match why {
        CallError::FailedValue => "failed",
        _ => "rejected",
    }
}

#[test]
fn an_opaque_type_that_is_no_result_has_a_fallback_for_failures() {
    let scope = Scope::new();
    assert_eq!(shown("up").to_string(), "up");
    assert_eq!(shown("down").to_string(), "failed");
    assert_eq!(scope.breaker("fallbacks.opaque").snapshot().failed, 1);
    scope.breaker("fallbacks.opaque").force_open();
    assert_eq!(shown("up").to_string(), "rejected");
}
