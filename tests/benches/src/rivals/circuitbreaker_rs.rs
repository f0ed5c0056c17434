//! circuitbreaker-rs: a rate over all calls since it was made, and failures in a row.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

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

/// Lets two threads ask for the last permit of a HALF_OPEN stay at the same time, until both get it or
/// for so many times. Returns at which time they did, if from then on everybody gets one.
pub(super) fn loses_its_limit(times: u64) -> Option<u64> {
    let breaker = Breaker::builder()
        .cooldown(Duration::ZERO)
        .probe_interval(1)
        .consecutive_successes(u64::MAX)
        .build();
    let admitted = |breaker: &Breaker| breaker.call(|| Ok(0_u64)).is_ok();
    // Each word is a sum over both threads: who has arrived, who was let through, who is done.
    let (arrived, let_through, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let wait_for = |word: &AtomicU64, sum: u64| {
        // Acquire pairs with the additions.
        while word.load(Ordering::Acquire) < sum {
            spin_loop();
        }
    };
    let ask = |time: u64| {
        arrived.fetch_add(1, Ordering::AcqRel);
        wait_for(&arrived, 2 * time);
        let one = u64::from(admitted(&breaker));
        let_through.fetch_add(one, Ordering::AcqRel);
        done.fetch_add(1, Ordering::AcqRel);
        wait_for(&done, 2 * time);
    };
    let mut seen = None;
    let over = AtomicU64::new(0);
    thread::scope(|threads| {
        threads.spawn(|| {
            for time in 1..=times {
                wait_for(&over, time);
                if over.load(Ordering::Acquire) == u64::MAX {
                    return;
                }
                ask(time);
            }
        });
        for time in 1..=times {
            // The call that ends the wait takes none of the permits.
            breaker.force_open();
            let _ = admitted(&breaker);
            let before = let_through.load(Ordering::Acquire);
            over.store(time, Ordering::Release);
            ask(time);
            let both = let_through.load(Ordering::Acquire) - before == 2;
            let all = || (0..10_000).all(|_| admitted(&breaker));
            if both && all() && state(&breaker.current_state()) == "HALF_OPEN" {
                seen = Some(time);
                over.store(u64::MAX, Ordering::Release);
                return;
            }
        }
    });
    seen
}
