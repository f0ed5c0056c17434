//! do-over: failures in a row; async only. No limit in HALF_OPEN. It does not tell its state.

use do_over::circuit_breaker::CircuitBreaker;
use do_over::error::DoOverError;
use do_over::policy::Policy as _;

use super::{LONG, OPENING};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("do-over");

fn told(result: Result<u64, DoOverError<Down>>) -> Answer {
    answer(result, |error| matches!(error, DoOverError::CircuitOpen))
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::new(10, LONG)
}

pub(super) fn add(list: &mut List) {
    for case in [Case::Closed, Case::Async] {
        let called = breaker();
        let call = async move |n| {
            told(
                called
                    .execute(|| async move { succeed(n).map_err(DoOverError::Inner) })
                    .await,
            )
        };
        list.asynchronous_untold(case, THEM, call);
    }
    let called = breaker();
    let call = async move |n| {
        told(
            called
                .execute(|| async move { fail_tenth(n).map_err(DoOverError::Inner) })
                .await,
        )
    };
    list.asynchronous_untold(Case::Tenth, THEM, call);

    let called = breaker();
    block_on(async {
        for _ in 0..OPENING {
            let _ = called
                .execute(|| async { Err::<u64, _>(DoOverError::Inner(Down)) })
                .await;
        }
    });
    let call = async move |n| {
        told(
            called
                .execute(|| async move { forbidden(n).map_err(DoOverError::Inner) })
                .await,
        )
    };
    list.asynchronous_untold(Case::Open, THEM, call);
}
