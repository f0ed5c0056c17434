//! circuitbreaker-rs: a rate over all calls since it was made, and failures in a row.

use circuitbreaker_rs::{BreakerError, CircuitBreaker, DefaultPolicy};

use super::{LONG, SHORT, state, two, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("circuitbreaker-rs");

type Breaker = CircuitBreaker<DefaultPolicy, Down>;

fn told(result: Result<u64, BreakerError<Down>>) -> Answer {
    answer(result, |error| matches!(error, BreakerError::Open))
}

fn breaker() -> Breaker {
    Breaker::builder().cooldown(LONG).build()
}

pub(super) fn add(list: &mut List) {
    let (called, seen) = two(breaker());
    let call = move |n| told(called.call(|| succeed(n)));
    list.sync(Case::Closed, THEM, call, move || {
        state(&seen.current_state())
    });

    let (called, seen) = two(breaker());
    let call = move |n| told(called.call(|| fail_tenth(n)));
    list.sync(Case::Tenth, THEM, call, move || {
        state(&seen.current_state())
    });

    let (called, seen) = two(breaker());
    seen.force_open();
    let call = move |n| told(called.call(|| forbidden(n)));
    list.sync(Case::Open, THEM, call, move || state(&seen.current_state()));

    // A probe that succeeds is not given back: with fewer probes than successes to close, it stays.
    let half_open = Breaker::builder()
        .cooldown(SHORT)
        .probe_interval(1)
        .consecutive_successes(1_000)
        .build();
    let (called, seen) = two(half_open);
    seen.force_open();
    wait_over();
    while seen.call(|| Ok(0_u64)).is_ok() {}
    let call = move |n| told(called.call(|| forbidden(n)));
    list.sync(Case::HalfOpenFull, THEM, call, move || {
        state(&seen.current_state())
    });

    let (called, seen) = two(breaker());
    let call = async move |n| told(called.call_async(|| async move { succeed(n) }).await);
    list.asynchronous(Case::Async, THEM, call, move || {
        state(&seen.current_state())
    });

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker()).collect();
    let call = move |n| told(many[turn(n, BREAKERS)].call(|| succeed(n)));
    list.sync_untold(Case::Breakers, THEM, call);
}
