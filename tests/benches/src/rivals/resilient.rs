//! resilient: failures in a row, or a log of all calls in a time; async only. Its `run` makes the
//! call also in OPEN, so it has no case of a rejection.

use resilient::circuit_breaker::CircuitBreakerMode;
use resilient::{BreakerPolicy, BreakerResult};

use super::{LONG, WINDOW, state, two};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, succeed};

const THEM: Who = Who::Rival("resilient");

fn told(result: Result<u64, BreakerResult<Down>>) -> Answer {
    answer(result, |error| {
        matches!(error, BreakerResult::CircuitOpen { .. })
    })
}

fn breaker(mode: CircuitBreakerMode) -> BreakerPolicy {
    BreakerPolicy::default()
        .with_mode(mode)
        .with_window_size(WINDOW)
        .with_open_timeout(LONG)
}

pub(super) fn add(list: &mut List) {
    let in_a_row = CircuitBreakerMode::CountBased;
    let rate = CircuitBreakerMode::SlidingWindow;
    for (case, mode) in [
        (Case::Closed, in_a_row),
        (Case::Async, in_a_row),
        (Case::Time, rate),
    ] {
        let (called, seen) = two(breaker(mode));
        let call = async move |n| told(called.run(|| async move { succeed(n) }).await);
        list.asynchronous(case, THEM, call, move || state(&seen.state()));
    }
    for (case, mode) in [(Case::Tenth, in_a_row), (Case::TimeTenth, rate)] {
        let (called, seen) = two(breaker(mode));
        let call = async move |n| told(called.run(|| async move { fail_tenth(n) }).await);
        list.asynchronous(case, THEM, call, move || state(&seen.state()));
    }
}
