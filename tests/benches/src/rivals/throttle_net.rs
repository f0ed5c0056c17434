//! throttle-net: a rate over the last N calls or failures in a row, behind a mutex, around a limiter;
//! here one that limits nothing.

use std::sync::Arc;

use throttle_net::{BreakerState, CircuitBreaker, Decision, Limiter, Trip};

use super::{LONG, SHORT, state, two, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("throttle-net");

struct Unlimited;

impl Limiter for Unlimited {
    fn peek(&self, _: u32) -> Decision {
        Decision::Acquired
    }

    fn acquire_cost(&self, _: u32) -> Decision {
        Decision::Acquired
    }

    fn available(&self) -> u32 {
        u32::MAX
    }

    fn capacity(&self) -> u32 {
        u32::MAX
    }
}

type Breaker = CircuitBreaker<Unlimited>;

fn breaker(cooldown: std::time::Duration) -> Breaker {
    CircuitBreaker::builder()
        .trip(Trip::Ratio {
            window: 100,
            ratio: 0.5,
            min_calls: 10,
        })
        .cooldown(cooldown)
        .half_open(1, 1)
        .build(Unlimited)
}

#[inline]
fn call(breaker: &Breaker, work: impl FnOnce() -> Result<u64, Down>) -> Answer {
    match breaker.try_acquire() {
        Ok(Some(permit)) => {
            let result = work();
            if result.is_ok() {
                permit.success();
            } else {
                permit.failure();
            }
            answer(result, |_| false)
        }
        Ok(None) => Answer::Rejected,
        Err(refused) => answer(Err(refused), |_| true),
    }
}

fn seen(breaker: &Breaker) -> String {
    state(&breaker.state())
}

fn opened(cooldown: std::time::Duration) -> (Arc<Breaker>, Arc<Breaker>) {
    let breaker = breaker(cooldown);
    while breaker.state() == BreakerState::Closed {
        call(&breaker, || Err(Down));
    }
    two(Arc::new(breaker))
}

pub(super) fn add(list: &mut List) {
    let (called, looked) = two(Arc::new(breaker(LONG)));
    let run = move |n| call(&called, || succeed(n));
    list.sync(Case::Closed, THEM, run, move || seen(&looked));

    let (called, looked) = two(Arc::new(breaker(LONG)));
    let run = move |n| call(&called, || fail_tenth(n));
    list.sync(Case::Tenth, THEM, run, move || seen(&looked));

    let (called, looked) = opened(LONG);
    let run = move |n| call(&called, || forbidden(n));
    list.sync(Case::Open, THEM, run, move || seen(&looked));

    let (called, looked) = opened(SHORT);
    wait_over();
    std::mem::forget(looked.try_acquire_owned().expect("the wait is over"));
    let run = move |n| call(&called, || forbidden(n));
    list.sync(Case::HalfOpenFull, THEM, run, move || seen(&looked));

    let (called, looked) = two(Arc::new(breaker(LONG)));
    let run = async move |n| match called.call(|| async move { succeed(n) }).await {
        Ok(value) => answer(Ok::<_, Down>(value), |_| false),
        Err(error) => answer(Err(error), |error| {
            matches!(error, throttle_net::CallError::Rejected(_))
        }),
    };
    list.asynchronous(Case::Async, THEM, run, move || seen(&looked));

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker(LONG)).collect();
    let run = move |n| call(&many[turn(n, BREAKERS)], || succeed(n));
    list.sync_untold(Case::Breakers, THEM, run);
}
