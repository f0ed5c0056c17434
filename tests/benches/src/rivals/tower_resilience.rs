//! tower-resilience-circuitbreaker: rates over a number of calls or a time, slow calls among them;
//! a tower service, so async only.

use std::future::{Future, Ready, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower_resilience_circuitbreaker::{
    CircuitBreaker, CircuitBreakerError, CircuitBreakerLayer, DefaultClassifier, SlidingWindowType,
};
use tower_service::Service;

use super::{LONG, SHORT, WINDOW, state, wait_over};
use crate::answer::{Answer, Seen};
use crate::case::Case;
use crate::subject::{List, Who, answer, begin, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("tower-resilience");

/// The guarded service.
#[derive(Clone)]
struct Work<F>(F);

impl<F: Fn(u64) -> Result<u64, Down>> Service<u64> for Work<F> {
    type Response = u64;
    type Error = Down;
    type Future = Ready<Result<u64, Down>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Down>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, n: u64) -> Self::Future {
        ready((self.0)(n))
    }
}

/// A call that never ends.
#[derive(Clone)]
struct Hang;

impl Service<u64> for Hang {
    type Response = u64;
    type Error = Down;
    type Future = Pin<Box<dyn Future<Output = Result<u64, Down>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Down>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: u64) -> Self::Future {
        Box::pin(pending())
    }
}

fn told(result: Result<u64, CircuitBreakerError<Down>>) -> Answer {
    answer(result, |error| {
        matches!(error, CircuitBreakerError::OpenCircuit)
    })
}

fn layer(case: Case) -> CircuitBreakerLayer<DefaultClassifier> {
    let wait = if case == Case::HalfOpenFull {
        SHORT
    } else {
        LONG
    };
    let mut builder = CircuitBreakerLayer::builder()
        .failure_rate_threshold(0.5)
        .sliding_window_size(100)
        .minimum_number_of_calls(10)
        .permitted_calls_in_half_open(1)
        .wait_duration_in_open(wait);
    if matches!(case, Case::Time | Case::TimeTenth) {
        builder = builder
            .sliding_window_type(SlidingWindowType::TimeBased)
            .sliding_window_duration(WINDOW);
    }
    let slow = match case {
        Case::SlowFar => Some(Duration::from_secs(2)),
        Case::SlowNear => Some(Duration::from_millis(50)),
        _ => None,
    };
    if let Some(slow) = slow {
        builder = builder
            .slow_call_duration_threshold(slow)
            .slow_call_rate_threshold(0.5);
    }
    builder.build().expect("the configuration is valid")
}

fn push<S>(list: &mut List, case: Case, breaker: CircuitBreaker<S, DefaultClassifier>)
where
    S: Service<u64, Response = u64, Error = Down> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let looked = breaker.clone();
    let called = Arc::new(breaker);
    let run = move |calls| {
        // A call needs `&mut`; clones share the breaker.
        let mut called = CircuitBreaker::clone(&called);
        block_on(async move {
            let mut seen = Seen::default();
            for n in 0..calls {
                let ready = poll_fn(|cx| called.poll_ready(cx)).await;
                seen.add(match ready {
                    Ok(()) => told(called.call(n).await),
                    Err(error) => told(Err(error)),
                });
            }
            seen
        })
    };
    let state = move || state(&looked.state_sync());
    list.push(case, THEM, Box::new(run), Some(Box::new(state)));
}

pub(super) fn add(list: &mut List) {
    for case in [
        Case::Closed,
        Case::Async,
        Case::SlowFar,
        Case::SlowNear,
        Case::Time,
    ] {
        push(list, case, layer(case).layer_fn(Work(succeed)));
    }
    for case in [Case::Tenth, Case::TimeTenth] {
        push(list, case, layer(case).layer_fn(Work(fail_tenth)));
    }
    let open = layer(Case::Open).layer_fn(Work(forbidden));
    block_on(open.force_open());
    push(list, Case::Open, open);

    let full = layer(Case::HalfOpenFull).layer_fn(Hang);
    block_on(full.force_open());
    wait_over();
    let mut probe = full.clone();
    begin(async move {
        let _ = poll_fn(|cx| probe.poll_ready(cx)).await;
        probe.call(0).await
    });
    push(list, Case::HalfOpenFull, full);
}
