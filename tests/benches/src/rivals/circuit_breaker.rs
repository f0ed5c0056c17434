//! circuit_breaker: counts failures for ever, behind a mutex. No limit in HALF_OPEN, nothing async.

use std::error::Error;
use std::sync::Arc;

use circuit_breaker::{CircuitBreaker, CircuitBreakerError};

use super::{LONG, state, two};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("circuit_breaker");

fn told(result: Result<u64, Box<dyn Error>>) -> Answer {
    answer(result, |error| error.is::<CircuitBreakerError>())
}

/// Failures are never forgotten, so the limit is out of reach.
fn breaker() -> CircuitBreaker {
    CircuitBreaker::new(u32::MAX, LONG)
}

pub(super) fn add(list: &mut List) {
    let (called, seen) = two(Arc::new(breaker()));
    let call = move |n| told(called.execute(|| succeed(n)));
    list.sync(Case::Closed, THEM, call, move || state(&seen.state()));

    let (called, seen) = two(Arc::new(breaker()));
    let call = move |n| told(called.execute(|| fail_tenth(n)));
    list.sync(Case::Tenth, THEM, call, move || state(&seen.state()));

    let (called, seen) = two(Arc::new(CircuitBreaker::new(1, LONG)));
    let _ = seen.execute(|| Err::<u64, _>(Down));
    let call = move |n| told(called.execute(|| forbidden(n)));
    list.sync(Case::Open, THEM, call, move || state(&seen.state()));

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker()).collect();
    let call = move |n| told(many[turn(n, BREAKERS)].execute(|| succeed(n)));
    list.sync_untold(Case::Breakers, THEM, call);
}
