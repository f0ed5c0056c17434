//! What counts.

use std::error::Error;
use std::{fmt, io};

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CircuitBreaker, Outcome, State, circuit_breaker};

use crate::support::*;

/// Not found is a success here, down a failure.
#[circuit_breaker(
    name = "found.or.not",
    window = 4,
    min_calls = 2,
    half_open_calls = 1,
    half_open_max_wait = off,
    record = Api::Down
)]
fn found_or_not(answer: Answer) -> Answer {
    answer
}

fn half_open(breaker: &CircuitBreaker) {
    breaker.open().unwrap();
    breaker.half_open().unwrap();
}

#[test]
fn cl_01_the_same_rules_hold_in_half_open() {
    let scope = Scope::new();
    let (ignores, records) = (scope.breaker("sync"), scope.breaker("found.or.not"));
    half_open(&ignores);
    guarded(|| MISSING).unwrap_err();
    assert_eq!(ignores.state(), State::HalfOpen);
    half_open(&records);
    found_or_not(MISSING).unwrap_err();
    assert_eq!(records.state(), State::Closed);
}

/// An error around another one.
#[derive(Debug)]
struct Around(Box<dyn Error + Send + Sync>);

impl fmt::Display for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("around")
    }
}

impl Error for Around {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

#[derive(Debug)]
enum Net {
    TimedOut,
    Lost(u32),
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for Net {}

/// An error that says it is its own cause.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("endless")
    }
}

impl Error for Endless {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

type Boxed = Box<dyn Error + Send + Sync>;

#[circuit_breaker(
    name = "wrapped",
    window = 100,
    ignore = [io::Error, Net::TimedOut, Net::Lost(400..=499)]
)]
fn wrapped(error: Boxed, depth: u32) -> Result<u32, Boxed> {
    Err((1..depth).fold(error, |inner, _| Box::new(Around(inner))))
}

#[test]
fn cl_02_rules_see_wrapped_errors() {
    let scope = Scope::new();
    let breaker = scope.breaker("wrapped");
    for depth in [1, 3] {
        breaker.reset();
        let ignored = breaker.snapshot().ignored;
        wrapped(Box::new(io::Error::from(io::ErrorKind::TimedOut)), depth).unwrap_err();
        wrapped(Box::new(Net::TimedOut), depth).unwrap_err();
        wrapped(Box::new(Net::Lost(404)), depth).unwrap_err();
        assert_eq!(breaker.snapshot().ignored - ignored, 3, "at depth {depth}");
        wrapped(Box::new(Net::Lost(500)), depth).unwrap_err();
        assert_eq!(breaker.snapshot().failed, 1, "at depth {depth}");
    }
    watched(|| wrapped(Box::new(Endless), 2).unwrap_err());
}

#[circuit_breaker(
    name = "cancelled",
    window = 100,
    min_calls = 5,
    consecutive_failures = 5,
    slow = "1s"
)]
async fn cancelled(answer: Option<Answer>) -> Answer {
    match answer {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

#[test]
fn cl_03_callers_that_give_up_at_once_open_nothing() {
    let scope = Scope::new();
    let breaker = scope.breaker("cancelled");
    for _ in 0..20 {
        drop(hanging(cancelled(None)));
    }
    assert_eq!(
        (breaker.state(), breaker.snapshot().calls),
        (State::Closed, 0)
    );
    for _ in 0..5 {
        now(cancelled(Some(Ok(1)))).unwrap();
        drop(hanging(cancelled(None)));
    }
    assert_eq!(breaker.snapshot().failure_rate, Some(0.0));
}

#[circuit_breaker(
    name = "abandoned.fails",
    window = 100,
    min_calls = 5,
    consecutive_failures = off,
    on_cancel = "failure"
)]
async fn abandoned() -> Answer {
    std::future::pending().await
}

#[circuit_breaker(
    name = "timeout.inside",
    window = 100,
    min_calls = 5,
    consecutive_failures = off,
    on_cancel = "ignore",
    timeout = "1s"
)]
async fn timeout_inside() -> Answer {
    std::future::pending().await
}

#[test]
fn cl_04_callers_that_wait_in_vain_open_it() {
    let scope = Scope::new();
    // As long as `slow` and no longer: leaves no trace.
    for _ in 0..20 {
        let call = hanging(cancelled(None));
        scope.clock().advance(s(1));
        drop(call);
    }
    let breaker = scope.breaker("cancelled");
    assert_eq!(
        (breaker.state(), breaker.snapshot().calls),
        (State::Closed, 0)
    );
    for calls in 1..=5 {
        assert_eq!(breaker.state(), State::Closed);
        let call = hanging(cancelled(None));
        scope.clock().advance(ms(1001));
        drop(call);
        let now = breaker.snapshot();
        assert_eq!((now.cancelled, now.slow, now.failed), (calls, calls, 0));
    }
    assert_eq!(breaker.state(), State::Open);

    // The first is dropped from outside, the second ends itself.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let [abandons, times_out] =
        ["abandoned.fails", "timeout.inside"].map(|name| scope.breaker(name));
    for _ in 0..5 {
        assert_eq!([abandons.state(), times_out.state()], [State::Closed; 2]);
        let (outside, mut inside) = (hanging(abandoned()), hanging(timeout_inside()));
        scope.clock().advance(s(1));
        drop(outside);
        assert!(matches!(now(inside.as_mut()), Err(Api::TimedOut(_))));
    }
    assert_eq!([abandons.state(), times_out.state()], [State::Open; 2]);
}

#[circuit_breaker(name = "status", window = 4, min_calls = 2, failure_if = |code| *code >= 500)]
fn status(code: u16) -> Answer<u16> {
    Ok(code)
}

#[circuit_breaker(
    name = "status.bare",
    window = 4,
    min_calls = 2,
    failure_if = |code| *code >= 500,
    fallback = unavailable
)]
fn bare_status(code: u16) -> u16 {
    code
}

fn unavailable(_: u16) -> u16 {
    0
}

#[test]
fn cl_05_an_answer_can_be_a_failure() {
    let scope = Scope::new();
    for _ in 0..2 {
        assert_eq!(status(500), Ok(500));
        assert_eq!(bare_status(500), 500);
    }
    for name in ["status", "status.bare"] {
        assert_eq!(scope.breaker(name).state(), State::Open, "{name}");
    }
    assert!(refused(&status(200)));
    assert_eq!(bare_status(200), 0);
}

#[test]
fn cl_06_alive_sick_and_says_nothing_are_three_things() {
    for (outcome, expected) in [
        (Outcome::Success, State::Closed),
        (Outcome::Failure, State::Open),
        (Outcome::Ignored, State::HalfOpen),
    ] {
        let bench = bench("");
        bench.until_probe();
        let answer = bench.breaker.call_with(|_| outcome, || MISSING);
        assert_eq!(answer, Err(CallError::Failed(Api::NotFound)));
        assert_eq!(bench.state(), expected);
    }
}

#[circuit_breaker(
    name = "both",
    window = 4,
    min_calls = 2,
    failure_if = |code| *code >= 500,
    ignore = Api::NotFound
)]
fn both(answer: Answer) -> Answer {
    answer
}

#[test]
fn cl_07_rules_for_values_and_errors_do_not_disturb_each_other() {
    let scope = Scope::new();
    for _ in 0..2 {
        assert_eq!(both(MISSING), MISSING);
        assert_eq!(both(Ok(500)), Ok(500));
    }
    let now = scope.breaker("both").snapshot();
    assert_eq!((now.state, now.failed, now.ignored), (State::Open, 2, 2));
}
