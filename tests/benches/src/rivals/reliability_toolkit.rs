//! reliability-toolkit: failures in a row, behind an async mutex; async only.

use std::future::pending;

use reliability_toolkit::{CircuitBreaker, ToolkitError};

use super::{LONG, SHORT, state, two, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer, begin, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("reliability-toolkit");

fn told(result: Result<Result<u64, Down>, ToolkitError>) -> Answer {
    match result {
        Ok(ran) => answer(ran, |_| false),
        Err(refused) => answer(Err(refused), |_| true),
    }
}

fn breaker() -> (CircuitBreaker, CircuitBreaker) {
    two(CircuitBreaker::builder().cool_down(LONG).build())
}

fn seen(breaker: &CircuitBreaker) -> String {
    state(&block_on(breaker.state()))
}

pub(super) fn add(list: &mut List) {
    for case in [Case::Closed, Case::Async] {
        let (called, looked) = breaker();
        let call = async move |n| told(called.call(async move { succeed(n) }).await);
        list.asynchronous(case, THEM, call, move || seen(&looked));
    }
    let (called, looked) = breaker();
    let call = async move |n| told(called.call(async move { fail_tenth(n) }).await);
    list.asynchronous(Case::Tenth, THEM, call, move || seen(&looked));

    let (called, looked) = breaker();
    block_on(looked.trip());
    let call = async move |n| told(called.call(async move { forbidden(n) }).await);
    list.asynchronous(Case::Open, THEM, call, move || seen(&looked));

    let (called, looked) = two(CircuitBreaker::builder().cool_down(SHORT).build());
    block_on(looked.trip());
    wait_over();
    let held = looked.clone();
    begin(async move { held.call(pending::<Result<u64, Down>>()).await });
    let call = async move |n| told(called.call(async move { forbidden(n) }).await);
    list.asynchronous(Case::HalfOpenFull, THEM, call, move || seen(&looked));
}
