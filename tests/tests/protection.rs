//! What opens a breaker beyond rates, and how it is spared: hangs that are seen while they hang,
//! warm-up, the downstream's own word, and the ramp after closing.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::cell::Cell;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, Config, Mode, Outcome, Reason, Registry, State, Window, circuit_breaker,
};

type Error = CallError<&'static str>;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn s(seconds: u64) -> Duration {
    ms(1000 * seconds)
}

fn answer(up: bool) -> Result<(), Error> {
    if up {
        Ok(())
    } else {
        Err(CallError::Failed("down"))
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn reason<T: std::fmt::Debug>(result: Result<T, Error>) -> Reason {
    match result {
        Err(CallError::NotPermitted(rejection)) => rejection.reason(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn says(breaker: &cb_runtime::CircuitBreaker, phrase: &str) {
    let text = breaker.explain().to_string();
    assert!(text.contains(phrase), "{phrase:?} is not in:\n{text}");
}

#[circuit_breaker(
    name = "hang",
    window = "1m",
    min_calls = 4,
    slow = "1600ms",
    count_running = true,
    consecutive_failures = off
)]
async fn hang(hangs: bool) -> Result<(), Error> {
    if hangs {
        pending::<()>().await;
    }
    Ok(())
}

#[test]
fn a_hang_opens_while_it_hangs() {
    let scope = Scope::new();
    let breaker = scope.breaker("hang");
    let mut calls: Vec<_> = (0..4).map(|_| Box::pin(hang(true))).collect();
    for call in &mut calls {
        assert!(poll(call.as_mut()).is_pending());
        scope.clock().advance(ms(50));
    }
    let now = breaker.snapshot();
    assert_eq!((now.in_flight, now.overdue), (Some(4), Some(0)));
    assert_eq!(now.oldest.unwrap().as_millis() / 100, 2);
    scope.clock().advance(ms(1450));
    assert!(
        poll(pin!(hang(false))).is_ready(),
        "none is surely overdue yet"
    );
    // Within a sixteenth of the limit after the last has passed it.
    scope.clock().advance(ms(200));
    says(
        &breaker,
        "count_running: 4 calls under way, 4 of them past `slow`",
    );
    assert_eq!(breaker.state(), State::Closed, "nobody has asked yet");
    let rejected = match poll(pin!(hang(false))) {
        Poll::Ready(result) => reason(result),
        Poll::Pending => panic!("the hang was not seen"),
    };
    assert_eq!(rejected, Reason::Open);
    says(
        &breaker,
        "4 of 5 calls were slow (80%, 4 of them still running), `slow_rate` is 50%",
    );
}

#[test]
fn a_call_that_returns_late_is_not_counted_twice() {
    let scope = Scope::new();
    let config = Config::new()
        .window(Window::Calls(20))
        .min_calls(4)
        .slow(ms(1600))
        .slow_rate(51.0)
        .count_running(true);
    let breaker = scope.registry().create("stock", &config).unwrap();
    let slow: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    scope.clock().advance(ms(1600));
    for _ in 0..3 {
        breaker.try_acquire().unwrap().success();
    }
    scope.clock().advance(ms(200));
    for permit in slow {
        permit.success();
        let now = breaker.snapshot();
        // Slow, running or not: three of six, whether two are in the window or none.
        assert_eq!(now.slow + now.overdue.unwrap(), 3);
        assert_eq!(breaker.state(), State::Closed, "{}", breaker.explain());
    }
    assert_eq!(breaker.snapshot().in_flight, Some(0));
    for outcome in [Outcome::Ignored, Outcome::Failure] {
        breaker.try_acquire().unwrap().finish(outcome);
    }
    drop(breaker.try_acquire().unwrap());
    assert_eq!(breaker.snapshot().in_flight, Some(0));
}

#[test]
fn what_hung_in_an_earlier_stay_is_no_fault_of_this_one() {
    let scope = Scope::new();
    let config = Config::new()
        .min_calls(2)
        .slow(ms(1600))
        .count_running(true);
    let breaker = scope.registry().create("stock", &config).unwrap();
    let hanging: Vec<_> = (0..9).map(|_| breaker.try_acquire().unwrap()).collect();
    scope.clock().advance(s(1));
    breaker.reset();
    scope.clock().advance(s(10));
    for _ in 0..5 {
        breaker.try_acquire().unwrap().success();
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().in_flight, Some(0));
    drop(hanging);
    assert_eq!(breaker.snapshot().in_flight, Some(0));
    assert_eq!(breaker.snapshot().late, 9);
}

#[circuit_breaker(
    name = "warm",
    window = 4,
    min_calls = 2,
    consecutive_failures = 3,
    warmup = "30s"
)]
fn warm(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn warm_up_records_and_does_not_judge() {
    let scope = Scope::new();
    let breaker = scope.breaker("warm");
    scope.clock().advance(s(3600));
    assert_eq!(
        breaker.snapshot().warming,
        None,
        "it begins with the first call"
    );
    for _ in 0..10 {
        let _ = warm(false);
    }
    let now = breaker.snapshot();
    assert_eq!(
        (now.state, now.failed, now.warming),
        (State::Closed, 4, Some(s(30)))
    );
    says(
        &breaker,
        "It is warming up for another 30s: outcomes are recorded and not judged",
    );
    scope.clock().advance(ms(29_999));
    let _ = warm(false);
    assert_eq!(breaker.state(), State::Closed);
    scope.clock().advance(ms(1));
    let now = breaker.snapshot();
    assert_eq!(
        (now.calls, now.consecutive_failures, now.warming),
        (0, 0, None)
    );
    let _ = warm(false);
    assert_eq!(breaker.state(), State::Closed, "one of two");
    let _ = warm(false);
    assert_eq!(breaker.state(), State::Open);
    // Only after creation.
    breaker.reset();
    let _ = (warm(false), warm(false));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn an_outcome_of_the_warm_up_that_comes_after_it_opens_nothing() {
    let clock = TestClock::new();
    let config = Config::new()
        .window(Window::Calls(4))
        .min_calls(1)
        .warmup(s(1));
    let breaker = Registry::with_clock(&clock)
        .create("stock", &config)
        .unwrap();
    let early: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    clock.advance(s(1));
    for permit in early {
        permit.failure();
    }
    let now = breaker.snapshot();
    assert_eq!((now.state, now.calls, now.late), (State::Closed, 0, 3));
}

#[test]
fn the_call_that_ends_the_warm_up_is_judged_already() {
    let clock = TestClock::new();
    let config = Config::new()
        .window(Window::Calls(2))
        .min_calls(1)
        .warmup(s(1));
    for mode in [Mode::Enabled, Mode::MetricsOnly] {
        let registry = Registry::with_clock(&clock);
        let breaker = registry
            .create("stock", &config.clone().mode(mode))
            .unwrap();
        let early = breaker.try_acquire().unwrap();
        clock.advance(s(1));
        breaker.try_acquire().unwrap().failure();
        let opened = breaker.state() == State::Open;
        assert_eq!(opened, mode == Mode::Enabled);
        early.failure();
        assert_eq!(breaker.snapshot().late, 1);
        assert_eq!(breaker.snapshot().calls, 1);
    }
}

#[circuit_breaker(name = "ramp", window = 2, half_open_calls = 1, ramp = "10s")]
fn ramp(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn the_ramp_admits_a_tenth_growing_to_all() {
    let scope = Scope::new();
    let breaker = scope.breaker("ramp");
    let admitted = |calls: u32| (0..calls).filter(|_| ramp(true).is_ok()).count();
    assert_eq!(
        admitted(100),
        100,
        "there is no ramp before the first recovery"
    );
    let _ = (ramp(false), ramp(false));
    scope.clock().advance(s(10));
    assert_eq!(ramp(true), Ok(()));
    assert_eq!(breaker.state(), State::Closed);
    assert!(breaker.would_permit());
    assert_eq!(admitted(100), 10);
    assert_eq!(breaker.snapshot().not_permitted, 90);
    assert_eq!(breaker.snapshot().calls, 2, "rejections are not recorded");
    says(&breaker, "admits 10% of the calls");
    scope.clock().advance(s(5));
    assert_eq!(admitted(100), 55);
    assert_eq!(breaker.snapshot().admitted, Some(55.0));
    let rejected = (0..3).map(|_| ramp(true)).find(Result::is_err).unwrap();
    assert_eq!(reason(rejected), Reason::Ramping);
    scope.clock().advance(s(5));
    assert_eq!(admitted(100), 100);
    assert_eq!(breaker.snapshot().admitted, None);
}

#[test]
fn the_rules_go_on_judging_in_a_ramp_and_closing_by_hand_has_none() {
    let scope = Scope::new();
    let breaker = scope.breaker("ramp");
    let _ = (ramp(false), ramp(false));
    scope.clock().advance(s(10));
    let _ = ramp(true);
    for _ in 0..20 {
        let _ = ramp(false);
    }
    assert_eq!(
        breaker.state(),
        State::Open,
        "two of twenty were admitted, and failed"
    );
    breaker.close();
    assert!((0..10).all(|_| ramp(true).is_ok()));
}

/// What the downstream says of itself.
#[derive(Debug, PartialEq)]
enum Busy {
    For(Duration),
    Unknown,
    Refused,
}

impl From<cb_runtime::CallNotPermitted> for Busy {
    fn from(_: cb_runtime::CallNotPermitted) -> Self {
        Self::Refused
    }
}

thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

fn named_wait(result: &Result<u32, Busy>) -> Option<Duration> {
    ASKED.set(ASKED.get() + 1);
    match result {
        Err(Busy::For(wait)) => Some(*wait),
        _ => None,
    }
}

#[circuit_breaker(name = "busy", window = 2, half_open_calls = 1, retry_after = named_wait)]
fn busy(answer: Result<u32, Busy>) -> Result<u32, Busy> {
    answer
}

#[test]
fn the_downstream_names_the_wait_of_the_outcome_that_opens() {
    let scope = Scope::new();
    let breaker = scope.breaker("busy");
    let wait = || breaker.snapshot().wait;
    let _ = busy(Err(Busy::For(s(7))));
    assert_eq!(
        (breaker.state(), ASKED.get()),
        (State::Closed, 0),
        "it opens nothing by itself"
    );
    let _ = busy(Err(Busy::For(s(42))));
    assert_eq!((wait(), ASKED.get()), (Some(s(42)), 1));
    scope.clock().advance(ms(41_999));
    assert_eq!(busy(Ok(1)), Err(Busy::Refused));
    scope.clock().advance(ms(1));
    let _ = busy(Err(Busy::For(s(3))));
    assert_eq!(
        (wait(), ASKED.get()),
        (Some(s(3)), 2),
        "also of the one that reopens"
    );
    scope.clock().advance(s(3));
    let _ = busy(Err(Busy::Unknown));
    assert_eq!(wait(), Some(s(10)), "else the computed one");
    scope.clock().advance(s(10));
    let _ = busy(Err(Busy::For(Duration::MAX)));
    assert_eq!(wait(), Some(s(600)), "nobody is believed for ever");
}

#[circuit_breaker(
    name = "busy.async",
    window = 1,
    wait_max = "20s",
    retry_after = |result: &Result<(), &'static str>| result.is_err().then_some(Duration::from_secs(60)),
    fallback = busy_fallback,
    fallback_on = "failure"
)]
async fn busy_async() -> Result<(), &'static str> {
    Err("busy")
}

fn busy_fallback(_: CallError<&'static str>) -> Result<(), &'static str> {
    Ok(())
}

#[test]
fn the_named_wait_is_capped_and_goes_with_a_fallback() {
    let scope = Scope::new();
    assert_eq!(poll(pin!(busy_async())), Poll::Ready(Ok(())));
    assert_eq!(scope.breaker("busy.async").snapshot().wait, Some(s(20)));
}

#[circuit_breaker(
    name = "probe.timeout",
    window = 1,
    timeout = "5s",
    half_open_timeout = "1s",
    half_open_calls = 1
)]
async fn probe_timeout() -> Result<(), Error> {
    pending().await
}

#[test]
fn probes_have_a_timeout_of_their_own() {
    let scope = Scope::new();
    let timed_out_after = |time: Duration| {
        let mut call = pin!(probe_timeout());
        assert!(poll(call.as_mut()).is_pending());
        scope.clock().advance(time - ms(1));
        assert!(poll(call.as_mut()).is_pending());
        scope.clock().advance(ms(1));
        match poll(call.as_mut()) {
            Poll::Ready(Err(CallError::TimedOut(timed_out))) => timed_out.after(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(timed_out_after(s(5)), s(5));
    scope.clock().advance(s(10));
    assert_eq!(timed_out_after(s(1)), s(1));
    assert_eq!(scope.breaker("probe.timeout").snapshot().timed_out, 2);
}

#[circuit_breaker(
    name = "values",
    window = 4,
    ignore_if = |status| *status == 404,
    failure_if = |status| *status >= 400
)]
fn values(status: u16) -> Result<u16, Error> {
    Ok(status)
}

#[test]
fn ignore_if_is_asked_before_failure_if() {
    let scope = Scope::new();
    for status in [404, 200, 404, 503] {
        assert_eq!(values(status), Ok(status));
    }
    let now = scope.breaker("values").snapshot();
    assert_eq!((now.calls, now.failed, now.ignored), (2, 1, 2));
}

#[test]
fn contradictions_name_the_setting_to_change() {
    let refused = |config: Config| config.validate().unwrap_err().field();
    assert_eq!(refused(Config::new().count_running(true)), "count_running");
    assert_eq!(refused(Config::new().warmup(Duration::ZERO)), "warmup");
    assert_eq!(refused(Config::new().ramp(Duration::ZERO)), "ramp");
    assert!(Config::new().count_running(false).validate().is_ok());
}
