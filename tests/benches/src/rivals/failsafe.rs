//! failsafe: failures in a row, or a moving average over a time. No limit in HALF_OPEN. It does not
//! tell its state.

use failsafe::backoff::{Constant, constant};
use failsafe::failure_policy::{
    ConsecutiveFailures, SuccessRateOverTimeWindow, consecutive_failures,
    success_rate_over_time_window,
};
use failsafe::futures::CircuitBreaker as AsyncCircuitBreaker;
use failsafe::{CircuitBreaker, Config, Error, StateMachine};

use super::{LONG, OPENING, WINDOW};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("failsafe");

fn told(result: Result<u64, Error<Down>>) -> Answer {
    answer(result, |error| matches!(error, Error::Rejected))
}

fn in_a_row() -> StateMachine<ConsecutiveFailures<Constant>, ()> {
    let policy = consecutive_failures(10, constant(LONG));
    Config::new().failure_policy(policy).build()
}

fn average() -> StateMachine<SuccessRateOverTimeWindow<Constant>, ()> {
    let policy = success_rate_over_time_window(0.5, 10, WINDOW, constant(LONG));
    Config::new().failure_policy(policy).build()
}

pub(super) fn add(list: &mut List) {
    let called = in_a_row();
    let call = move |n| told(CircuitBreaker::call(&called, || succeed(n)));
    list.sync_untold(Case::Closed, THEM, call);

    let called = in_a_row();
    let call = move |n| told(CircuitBreaker::call(&called, || fail_tenth(n)));
    list.sync_untold(Case::Tenth, THEM, call);

    let called = average();
    let call = move |n| told(CircuitBreaker::call(&called, || succeed(n)));
    list.sync_untold(Case::Time, THEM, call);

    let called = average();
    let call = move |n| told(CircuitBreaker::call(&called, || fail_tenth(n)));
    list.sync_untold(Case::TimeTenth, THEM, call);

    let called = in_a_row();
    for _ in 0..OPENING {
        let _ = CircuitBreaker::call(&called, || Err::<u64, _>(Down));
    }
    let call = move |n| told(CircuitBreaker::call(&called, || forbidden(n)));
    list.sync_untold(Case::Open, THEM, call);

    let called = in_a_row();
    let call =
        async move |n| told(AsyncCircuitBreaker::call(&called, async move { succeed(n) }).await);
    list.asynchronous_untold(Case::Async, THEM, call);

    let many: Vec<_> = (0..BREAKERS).map(|_| in_a_row()).collect();
    let call = move |n| {
        let called = &many[turn(n, BREAKERS)];
        told(CircuitBreaker::call(called, || succeed(n)))
    };
    list.sync_untold(Case::Breakers, THEM, call);
}
