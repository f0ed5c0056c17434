//! execution-policy: failures in a row, or a rate over a time in 10 buckets; async only.

use std::future::pending;
use std::sync::Arc;

use execution_policy::{CircuitBreaker, ExecutionError, ExecutionPolicy, ExecutionPolicyBuilder};

use super::{LONG, OPENING, SHORT, WINDOW, state, two, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer, begin, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("execution-policy");

type Policy = ExecutionPolicy<execution_policy::DefaultCore, u64, Down>;

fn told(result: Result<u64, ExecutionError<Down>>) -> Answer {
    answer(result, |error| {
        !matches!(error, ExecutionError::Operation { .. })
    })
}

fn in_a_row() -> CircuitBreaker<Down> {
    CircuitBreaker::consecutive_failures(10).open_for(LONG)
}

fn rate() -> CircuitBreaker<Down> {
    let breaker = CircuitBreaker::failure_ratio()
        .ratio(0.5)
        .minimum_throughput(10);
    breaker.sampling_window(WINDOW).open_for(LONG)
}

fn policy(breaker: CircuitBreaker<Down>) -> Arc<Policy> {
    Arc::new(
        ExecutionPolicyBuilder::new()
            .circuit_breaker(breaker)
            .build(),
    )
}

fn seen(policy: &Policy) -> String {
    policy
        .circuit_state()
        .map_or_else(String::new, |it| state(&it))
}

fn fail(policy: &Policy) {
    block_on(async {
        for _ in 0..OPENING {
            let _ = policy.run(async || Err(Down)).await;
        }
    });
}

pub(super) fn add(list: &mut List) {
    for case in [Case::Closed, Case::Async, Case::Time] {
        let breaker = if case == Case::Time {
            rate()
        } else {
            in_a_row()
        };
        let (called, looked) = two(policy(breaker));
        let call = async move |n| told(called.run(async || succeed(n)).await);
        list.asynchronous(case, THEM, call, move || seen(&looked));
    }
    for (case, breaker) in [(Case::Tenth, in_a_row()), (Case::TimeTenth, rate())] {
        let (called, looked) = two(policy(breaker));
        let call = async move |n| told(called.run(async || fail_tenth(n)).await);
        list.asynchronous(case, THEM, call, move || seen(&looked));
    }

    let (called, looked) = two(policy(in_a_row()));
    fail(&looked);
    let call = async move |n| told(called.run(async || forbidden(n)).await);
    list.asynchronous(Case::Open, THEM, call, move || seen(&looked));

    let (called, looked) = two(policy(in_a_row().open_for(SHORT)));
    fail(&looked);
    wait_over();
    let held = Arc::clone(&looked);
    begin(async move { held.run(async || pending().await).await });
    let call = async move |n| told(called.run(async || forbidden(n)).await);
    list.asynchronous(Case::HalfOpenFull, THEM, call, move || seen(&looked));
}
