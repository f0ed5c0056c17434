//! Calls run by the breaker itself, sync and async.

use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use cb_runtime::{CallError, Config, Interest, OnCancel, Outcome, State, Window};
use cb_tests::harness::{Bench, s};

fn config() -> Config {
    Config::new()
        .window(Window::Calls(10))
        .min_calls(10)
        .half_open_calls(1)
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn the_callers_result_comes_back() {
    let bench = Bench::new(&config().consecutive_failures(1));
    assert_eq!(bench.breaker.call(|| Ok::<_, ()>(7)), Ok(7));
    assert_eq!(
        bench.breaker.call(|| Err::<(), _>("down")),
        Err(CallError::Failed("down"))
    );
    let rejected = bench
        .breaker
        .call(|| -> Result<(), ()> { panic!("must not run") });
    let Err(CallError::NotPermitted(rejection)) = rejected else {
        panic!("{rejected:?}")
    };
    assert_eq!(
        (rejection.breaker(), rejection.retry_after()),
        ("bench", Some(s(10)))
    );
    assert!(!rejection.is_retryable());
}

#[test]
fn a_panic_is_a_failure_and_goes_on() {
    let bench = Bench::new(&config());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        bench.breaker.call(|| -> Result<(), ()> { panic!("boom") })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"boom"));
    let snapshot = bench.breaker.snapshot();
    assert_eq!((snapshot.calls, snapshot.failed), (1, 1));
    bench.succeed(1);
}

#[test]
fn a_probe_that_panics_opens_again() {
    let bench = Bench::new(&config().consecutive_failures(1));
    bench.fail(1);
    bench.advance(s(10));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        bench.breaker.call(|| -> Result<(), ()> { panic!("boom") })
    }));
    assert_eq!(bench.breaker.state(), State::Open);
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn a_judge_that_panics_makes_the_call_a_failure() {
    let bench = Bench::new(&config());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        bench.breaker.call_with(
            |_| -> Outcome { panic!("a bad predicate") },
            || Ok::<_, ()>(()),
        )
    }));
    assert!(panicked.is_err());
    assert_eq!(bench.breaker.snapshot().failed, 1);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let bench = Bench::new(&config());
    let log = bench.log(Interest::ALL);
    let call = bench.breaker.call_async(ready(Ok::<_, ()>(())));
    bench.breaker.force_open();
    assert_eq!(log.names(), ["CLOSED->FORCED_OPEN"]);
    bench.breaker.close();
    let _ = log.take();
    assert_eq!(poll(pin!(call)), Poll::Ready(Ok(())));
    assert_eq!(log.names(), ["SUCCESS"]);
    drop(bench.breaker.call_async(ready(Ok::<_, ()>(()))));
    assert_eq!(log.names(), [""; 0]);
}

#[test]
fn the_duration_runs_from_the_first_poll() {
    let bench = Bench::new(&config().slow(s(1)));
    let mut polls = 0;
    let body = poll_fn(|_| {
        polls += 1;
        if polls == 1 {
            Poll::Pending
        } else {
            Poll::Ready(Ok::<_, ()>(()))
        }
    });
    let mut call = pin!(bench.breaker.call_async(body));
    bench.advance(s(100));
    assert!(poll(call.as_mut()).is_pending());
    bench.advance(s(1));
    assert!(poll(call).is_ready());
    assert_eq!(bench.breaker.snapshot().slow, 0);
}

#[test]
fn a_dropped_future_follows_the_policy_and_gives_its_permit_back() {
    let dropped_after = |policy: OnCancel, seconds| {
        let bench = Bench::new(&config().slow(s(1)).on_cancel(policy));
        bench.breaker.open().expect("legal");
        bench.breaker.half_open().expect("legal");
        {
            let mut call = pin!(bench.breaker.call_async(pending::<Result<(), ()>>()));
            assert!(poll(call.as_mut()).is_pending());
            let _ = bench.rejection();
            bench.advance(s(seconds));
        }
        bench.breaker.state()
    };
    assert_eq!(dropped_after(OnCancel::Slow, 1), State::HalfOpen);
    assert_eq!(dropped_after(OnCancel::Slow, 2), State::Open);
    assert_eq!(dropped_after(OnCancel::Ignore, 2), State::HalfOpen);
    assert_eq!(dropped_after(OnCancel::Failure, 1), State::Open);
}

#[test]
fn a_panic_of_the_body_is_a_failure() {
    let bench = Bench::new(&config());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let body = poll_fn(|_| -> Poll<Result<(), ()>> { panic!("boom") });
        let _ = poll(pin!(bench.breaker.call_async(body)));
    }));
    assert!(panicked.is_err());
    assert_eq!(bench.breaker.snapshot().failed, 1);
}

/// Somebody else's panic drops the future; that is no failure of the downstream.
#[test]
fn a_panic_elsewhere_is_a_cancellation() {
    let bench = Bench::new(&config());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut call = pin!(bench.breaker.call_async(pending::<Result<(), ()>>()));
        assert!(poll(call.as_mut()).is_pending());
        panic!("elsewhere");
    }));
    assert!(panicked.is_err());
    let snapshot = bench.breaker.snapshot();
    assert_eq!((snapshot.calls, snapshot.failed), (0, 0));
}

/// A guarded call within a guarded call: each breaker has its own outcome.
#[test]
fn calls_nest() {
    let bench = Bench::new(&config());
    let inner = bench
        .registry
        .create("inner", &config().consecutive_failures(1))
        .expect("valid");
    let nested = || bench.breaker.call(|| inner.call(|| Err::<(), _>("down")));
    assert!(nested().is_err());
    // Now the inner one is open, and its rejection is the outer one's failure.
    let Err(CallError::Failed(CallError::NotPermitted(rejection))) = nested() else {
        panic!("the inner breaker rejects")
    };
    assert_eq!(rejection.breaker(), "inner");
    assert_eq!(bench.breaker.snapshot().failed, 2);
    assert_eq!(inner.snapshot().failed, 1);
}
