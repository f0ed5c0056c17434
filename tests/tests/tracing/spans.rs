//! The spans that guarded calls run in.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker};
use tracing::Level;

use crate::heard::{Heard, Span, hear};

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(name = "spans.sync", ignore = |error| matches!(error, CallError::Failed("ignored")))]
fn call(what: &'static str) -> Answer {
    tracing::info!(target: "cb_runtime::test", "in the body");
    match what {
        "success" => Ok(1),
        "panic" => panic!("of the body's own"),
        error => Err(CallError::Failed(error)),
    }
}

#[circuit_breaker(name = "spans.keyed", key = key)]
fn keyed(key: u32) -> Answer {
    Ok(key)
}

/// Waits once.
async fn once() {
    let mut waited = false;
    poll_fn(|_| {
        if std::mem::replace(&mut waited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

#[circuit_breaker(name = "spans.async", timeout = "2s")]
async fn call_async(hang: bool) -> Answer {
    tracing::info!(target: "cb_runtime::test", "before");
    once().await;
    tracing::info!(target: "cb_runtime::test", "after");
    if hang {
        std::future::pending::<()>().await;
    }
    Ok(1)
}

fn made(up: bool) -> Answer {
    if up {
        Ok(1)
    } else {
        Err(CallError::Failed("refused"))
    }
}

/// A function that is not async and makes a future.
#[circuit_breaker(name = "spans.made")]
fn call_made(up: bool) -> impl Future<Output = Answer> {
    async move {
        once().await;
        made(up)
    }
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// The only span; all handles to it must be gone.
fn one(heard: &Heard) -> Span {
    let mut spans = heard.spans();
    assert_eq!(spans.len(), 1, "{spans:#?}");
    assert!(heard.entered().is_empty());
    let span = spans.remove(0);
    assert_eq!((span.name, span.handles), ("circuit_breaker", 0));
    assert_eq!(span.target, "cb_runtime::call");
    span
}

fn fields(span: &Span) -> [&str; 3] {
    ["name", "state", "outcome"].map(|field| span.fields.get(field).map_or("", String::as_str))
}

#[test]
fn the_body_runs_in_a_span_that_tells_how_it_ended() {
    let scope = Scope::new();
    for outcome in ["success", "failure", "ignored", "panic"] {
        let heard = hear(Level::DEBUG);
        let _ = catch_unwind(AssertUnwindSafe(|| call(outcome)));
        let span = one(&heard);
        assert_eq!(fields(&span), ["spans.sync", "CLOSED", outcome]);
        assert_eq!(span.entered, 1);
        assert_eq!(heard.lines()[0].span, Some(0));
    }
    drop(scope);
}

#[test]
fn probes_are_told_by_the_state_and_rejected_calls_have_no_span() {
    let scope = Scope::new();
    scope.breaker("spans.sync").open().unwrap();
    let heard = hear(Level::DEBUG);
    assert!(matches!(call("success"), Err(CallError::NotPermitted(_))));
    assert_eq!(heard.spans(), []);
    scope.clock().advance(Duration::from_secs(10));
    call("success").unwrap();
    assert_eq!(fields(&one(&heard)), ["spans.sync", "HALF_OPEN", "success"]);
}

#[test]
fn a_key_is_part_of_the_name() {
    let _scope = Scope::new();
    let heard = hear(Level::DEBUG);
    keyed(7).unwrap();
    assert_eq!(
        fields(&one(&heard)),
        ["spans.keyed[7]", "CLOSED", "success"]
    );
}

#[test]
fn who_wants_no_debug_level_gets_no_spans() {
    let _scope = Scope::new();
    let heard = hear(Level::INFO);
    call("success").unwrap();
    keyed(7).unwrap();
    assert_eq!(heard.spans(), []);
    assert_eq!(heard.lines().len(), 1);
}

#[test]
fn an_async_call_is_in_its_span_while_it_is_polled() {
    let _scope = Scope::new();
    let heard = hear(Level::DEBUG);
    let (mut first, mut second) = (pin!(call_async(false)), pin!(call_async(false)));
    let mut poll = |which: usize| {
        let future = if which == 0 {
            first.as_mut()
        } else {
            second.as_mut()
        };
        let ready = future.poll(&mut context()).is_ready();
        assert!(heard.entered().is_empty(), "left between polls");
        ready
    };
    assert!(!poll(0) && !poll(1) && poll(1) && poll(0));
    let inside: Vec<_> = heard.lines().iter().map(|line| line.span).collect();
    assert_eq!(inside, [Some(0), Some(1), Some(1), Some(0)]);
    for span in heard.spans() {
        assert_eq!(fields(&span), ["spans.async", "CLOSED", "success"]);
        assert_eq!((span.entered, span.handles), (2, 0));
    }
}

#[test]
fn a_future_that_a_function_makes_has_a_span_too() {
    let _scope = Scope::new();
    let heard = hear(Level::DEBUG);
    let mut future = pin!(call_made(false));
    assert!(future.as_mut().poll(&mut context()).is_pending());
    assert!(future.as_mut().poll(&mut context()).is_ready());
    assert_eq!(fields(&one(&heard)), ["spans.made", "CLOSED", "failure"]);
}

#[test]
fn dropped_and_timed_out() {
    let scope = Scope::new();
    let heard = hear(Level::DEBUG);
    {
        let mut future = pin!(call_async(true));
        assert!(future.as_mut().poll(&mut context()).is_pending());
    }
    assert_eq!(fields(&one(&heard)), ["spans.async", "CLOSED", "cancelled"]);

    let heard = hear(Level::DEBUG);
    let mut future = pin!(call_async(true));
    assert!(future.as_mut().poll(&mut context()).is_pending());
    scope.clock().advance(Duration::from_secs(2));
    assert!(matches!(
        future.as_mut().poll(&mut context()),
        Poll::Ready(Err(CallError::TimedOut(_)))
    ));
    assert_eq!(fields(&one(&heard)), ["spans.async", "CLOSED", "timeout"]);
}

#[test]
fn without_the_attribute() {
    let scope = Scope::new();
    let breaker = scope.registry().get_or_create("spans.by.hand");
    let heard = hear(Level::DEBUG);
    let _ = breaker.call(|| Err::<(), _>("refused"));
    assert_eq!(fields(&one(&heard)), ["spans.by.hand", "CLOSED", "failure"]);
}
