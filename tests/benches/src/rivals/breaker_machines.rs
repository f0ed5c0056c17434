//! breaker-machines: the last 1 000 events of a time. The sync one needs `&mut`, and so a mutex
//! around it; the async one has its own.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use breaker_machines::builder::CircuitBuilder;
use breaker_machines::{AsyncCircuitBreaker, CircuitBreaker, CircuitError};

use super::{LONG, OPENING, SHORT, WINDOW, state, two, wait_over};
use crate::answer::Answer;
use crate::case::Case;
use crate::subject::{List, Who, answer, begin, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("breaker-machines");

fn told(result: Result<u64, CircuitError<Down>>) -> Answer {
    answer(result, |error| !matches!(error, CircuitError::Execution(_)))
}

fn builder() -> CircuitBuilder {
    CircuitBreaker::builder("rival")
        .disable_failure_threshold()
        .failure_rate(0.5)
        .minimum_calls(10)
        .failure_window_secs(WINDOW.as_secs_f64())
        .half_open_timeout_secs(LONG.as_secs_f64())
}

type Shared = Arc<Mutex<CircuitBreaker>>;

fn shared() -> (Shared, Shared) {
    two(Arc::new(Mutex::new(builder().build())))
}

fn call(breaker: &Shared, work: impl FnOnce() -> Result<u64, Down> + 'static) -> Answer {
    let mut breaker = breaker.lock().unwrap_or_else(PoisonError::into_inner);
    told(breaker.call(work))
}

fn seen(breaker: &Shared) -> String {
    let breaker = breaker.lock().unwrap_or_else(PoisonError::into_inner);
    state(&breaker.state_name())
}

pub(super) fn add(list: &mut List) {
    let (called, looked) = shared();
    let run = move |n| call(&called, move || succeed(n));
    list.sync(Case::Time, THEM, run, move || seen(&looked));

    let (called, looked) = shared();
    let run = move |n| call(&called, move || fail_tenth(n));
    list.sync(Case::TimeTenth, THEM, run, move || seen(&looked));

    let (called, looked) = shared();
    for _ in 0..OPENING {
        call(&looked, || Err(Down));
    }
    let run = move |n| call(&called, move || forbidden(n));
    list.sync(Case::Open, THEM, run, move || seen(&looked));

    let half_open = builder()
        .half_open_timeout_secs(SHORT.as_secs_f64())
        .success_threshold(1);
    let half_open: &'static AsyncCircuitBreaker = Box::leak(Box::new(half_open.build_async()));
    block_on(async {
        for _ in 0..OPENING {
            let _ = half_open.call(|| async { Err::<u64, _>(Down) }).await;
        }
    });
    wait_over();
    begin(half_open.call(|| async { pending::<Result<u64, Down>>().await }));
    let run = async move |n| told(half_open.call(|| async move { forbidden(n) }).await);
    let told = move || state(&half_open.state_name());
    list.asynchronous(Case::HalfOpenFull, THEM, run, told);
}
