//! recloser: the last N calls, lock-free. No limit in HALF_OPEN. It does not tell its state.

use recloser::{AsyncRecloser, Error, Recloser};

use super::{LONG, OPENING};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{BREAKERS, turn};
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("recloser");

fn told(result: Result<u64, Error<Down>>) -> Answer {
    answer(result, |error| matches!(error, Error::Rejected))
}

fn breaker() -> Recloser {
    Recloser::custom()
        .error_rate(0.5)
        .closed_len(100)
        .half_open_len(5)
        .open_wait(LONG)
        .build()
}

pub(super) fn add(list: &mut List) {
    let called = breaker();
    list.sync_untold(Case::Closed, THEM, move |n| {
        told(called.call(|| succeed(n)))
    });

    let called = breaker();
    list.sync_untold(Case::Tenth, THEM, move |n| {
        told(called.call(|| fail_tenth(n)))
    });

    let called = breaker();
    for _ in 0..OPENING {
        let _ = called.call(|| Err::<u64, _>(Down));
    }
    list.sync_untold(Case::Open, THEM, move |n| {
        told(called.call(|| forbidden(n)))
    });

    let called = AsyncRecloser::from(breaker());
    let call = async move |n| told(called.call(async move { succeed(n) }).await);
    list.asynchronous_untold(Case::Async, THEM, call);

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker()).collect();
    let call = move |n| told(many[turn(n, BREAKERS)].call(|| succeed(n)));
    list.sync_untold(Case::Breakers, THEM, call);
}
