//! nobreak: failures in a row, behind a mutex. No limit in HALF_OPEN.

use std::sync::Arc;

use nobreak::{CircuitBreaker, CircuitError};

use super::{LONG, OPENING, state, two};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("nobreak");

fn told(result: Result<u64, CircuitError<Down>>) -> Answer {
    answer(result, |error| matches!(error, CircuitError::Open))
}

fn breaker() -> CircuitBreaker {
    nobreak::builder().with_open_duration(LONG).build()
}

pub(super) fn add(list: &mut List) {
    let (called, seen) = two(Arc::new(breaker()));
    let call = move |n| told(called.call(|| succeed(n)));
    list.sync(Case::Closed, THEM, call, move || state(&seen.state()));

    let (called, seen) = two(Arc::new(breaker()));
    let call = move |n| told(called.call(|| fail_tenth(n)));
    list.sync(Case::Tenth, THEM, call, move || state(&seen.state()));

    let (called, seen) = two(Arc::new(breaker()));
    for _ in 0..OPENING {
        let _ = seen.call(|| Err::<u64, _>(Down));
    }
    let call = move |n| told(called.call(|| forbidden(n)));
    list.sync(Case::Open, THEM, call, move || state(&seen.state()));

    let (called, seen) = two(Arc::new(breaker()));
    let call = async move |n| told(called.call_async(|| async move { succeed(n) }).await);
    list.asynchronous(Case::Async, THEM, call, move || state(&seen.state()));

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker()).collect();
    let call = move |n| told(many[turn(n, BREAKERS)].call(|| succeed(n)));
    list.sync_untold(Case::Breakers, THEM, call);
}
