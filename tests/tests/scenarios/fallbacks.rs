//! Fallbacks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, State, circuit_breaker};

use crate::support::*;

#[circuit_breaker(name = "generic.fallback", fallback = anything)]
fn something<T: Default>(_: T) -> Answer<T> {
    Err(Api::Down)
}

fn anything<T: Default>(_: T) -> Answer<T> {
    Ok(T::default())
}

#[test]
fn fb_01_a_fallback_that_does_not_fit_is_a_compile_error() {
    for (mistake, words) in [
        ("fallback_unknown", "cannot find value `cached`"),
        ("fallback_with_wrong_return", "does not fit as the fallback"),
        ("fallback_with_wrong_parameter", "takes the same parameters"),
        ("fallback_with_wrong_reason", "does not fit as the fallback"),
        ("fallback_async_for_sync", "it is not async"),
        (
            "fallback_method_without_self",
            "a method by that name is available on `Self`",
        ),
        (
            "fallback_of_method_with_wrong_parameters",
            "does not fit as the fallback",
        ),
    ] {
        compile_error(mistake, words);
        compile_error(mistake, "#[circuit_breaker("); // points into the attribute
    }
    let scope = Scope::new();
    scope.breaker("generic.fallback").force_open();
    assert_eq!(something(7_u8), Ok(0));
    assert_eq!(something("text".to_owned()), Ok(String::new()));
}

#[circuit_breaker(
    name = "hangs",
    window = 4,
    min_calls = 2,
    timeout = "1s",
    fallback = counted,
    fallback_on = "failure"
)]
async fn hangs_then_fails(seconds: tokio::sync::watch::Receiver<u32>, _: &AtomicU32) -> Answer {
    let mut seconds = seconds;
    let _ = seconds.wait_for(|now| *now >= 2).await;
    DOWN
}

fn counted(
    _: tokio::sync::watch::Receiver<u32>,
    answers: &AtomicU32,
    why: CallError<Api>,
) -> Answer {
    assert!(matches!(why, CallError::TimedOut(_)), "{why:?}");
    Ok(answers.fetch_add(1, Ordering::SeqCst))
}

#[test]
fn fb_02_a_fallback_answers_once() {
    let scope = Scope::new();
    let answers = AtomicU32::new(0);
    let (sender, receiver) = tokio::sync::watch::channel(0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let mut call = Box::pin(hangs_then_fails(receiver, &answers));
    assert!(poll(call.as_mut()).is_pending());
    scope.clock().advance(s(1));
    assert_eq!(poll(call.as_mut()), std::task::Poll::Ready(Ok(0)));
    sender.send(2).unwrap_err(); // the call is gone
    drop(call);
    let now = scope.breaker("hangs").snapshot();
    assert_eq!(
        (now.calls, now.failed, now.timed_out, now.late),
        (1, 1, 1, 0)
    );
    assert_eq!(answers.load(Ordering::SeqCst), 1);
}

thread_local! {
    static ANSWERS: Cell<u32> = const { Cell::new(0) };
}

fn answers() -> u32 {
    ANSWERS.take()
}

#[circuit_breaker(name = "rejected", window = 4, min_calls = 2, ignore = Api::NotFound, fallback = seven)]
fn on_rejection(answer: Answer) -> Answer {
    answer
}

fn seven(_: Answer) -> Answer {
    ANSWERS.set(ANSWERS.get() + 1);
    Ok(7)
}

#[circuit_breaker(
    name = "failed",
    window = 4,
    min_calls = 2,
    ignore = Api::NotFound,
    fallback = eight,
    fallback_on = "failure"
)]
fn on_failure(answer: Answer) -> Answer {
    answer
}

fn eight(_: Answer, _: CallError<Api>) -> Answer {
    ANSWERS.set(ANSWERS.get() + 1);
    Ok(8)
}

#[test]
fn fb_03_business_errors_are_not_swallowed() {
    let scope = Scope::new();
    assert_eq!(
        [on_rejection(MISSING), on_failure(MISSING)],
        [MISSING, MISSING]
    );
    assert_eq!(on_rejection(DOWN), DOWN);
    assert_eq!(answers(), 0);
    assert_eq!(on_failure(DOWN), Ok(8));
    assert_eq!(answers(), 1);
    scope.breaker("rejected").force_open();
    scope.breaker("failed").force_open();
    assert_eq!((on_rejection(DOWN), on_failure(DOWN)), (Ok(7), Ok(8)));
    assert_eq!(answers(), 2);
}

#[circuit_breaker(name = "bad.fallback", window = 4, min_calls = 2, fallback = not_found)]
fn with_bad_fallback(answer: Answer) -> Answer {
    answer
}

fn not_found(_: Answer) -> Answer {
    MISSING
}

#[test]
fn fb_04_what_is_recorded_is_what_the_function_did() {
    let scope = Scope::new();
    for _ in 0..2 {
        assert_eq!(on_failure(DOWN), Ok(8));
        assert_eq!(with_bad_fallback(DOWN), DOWN);
    }
    assert_eq!(scope.breaker("failed").state(), State::Open);
    let before = scope.breaker("bad.fallback").snapshot();
    assert_eq!(before.state, State::Open);
    for _ in 0..10 {
        assert_eq!(with_bad_fallback(Ok(1)), MISSING);
    }
    let after = scope.breaker("bad.fallback").snapshot();
    assert_eq!((after.calls, after.failed), (before.calls, before.failed));
    assert_eq!(after.not_permitted, 10);
}

/// Up to three attempts.
fn retried(mut call: impl FnMut() -> Answer) -> (Answer, u32) {
    for attempt in 1..3 {
        let answer = call();
        if answer.is_ok() {
            return (answer, attempt);
        }
    }
    (call(), 3)
}

#[circuit_breaker(name = "around.retry", fallback = nine, fallback_on = "failure")]
fn around_retry(attempts: &Cell<u32>) -> Answer {
    let (answer, made) = retried(|| DOWN);
    attempts.set(made);
    answer
}

fn nine(_: &Cell<u32>, _: CallError<Api>) -> Answer {
    Ok(9)
}

#[test]
fn fb_05_a_retry_outside_sees_only_what_the_fallback_answers() {
    let scope = Scope::new();
    assert_eq!(retried(|| on_failure(DOWN)), (Ok(8), 1));
    let attempts = Cell::new(0);
    assert_eq!((around_retry(&attempts), attempts.get()), (Ok(9), 3));
    assert_eq!(scope.breaker("around.retry").snapshot().failed, 1);
}

struct Shop {
    name: &'static str,
}

impl Shop {
    fn stock(&self) -> Answer {
        self.query()
    }

    #[circuit_breaker(name = "shop.query", window = 4, min_calls = 2)]
    fn query(&self) -> Answer {
        DOWN
    }

    #[circuit_breaker(name = "shop.primary", window = 4, min_calls = 2, fallback = Self::second)]
    fn primary(&self) -> Answer {
        DOWN
    }

    #[circuit_breaker(name = "shop.second", window = 4, min_calls = 2)]
    fn second(&self) -> Answer {
        DOWN
    }
}

#[circuit_breaker(
    name = "recursive",
    window = 4,
    min_calls = 1,
    half_open_calls = 1,
    half_open_max_wait = off
)]
fn recursive(depth: u32) -> Answer {
    if depth == 0 {
        Ok(0)
    } else {
        recursive(depth - 1)
    }
}

#[test]
fn fb_06_no_call_goes_around_the_breaker() {
    let scope = Scope::new();
    let shop = Shop { name: "main" };
    for _ in 0..2 {
        assert_eq!(shop.stock(), DOWN);
    }
    assert!(refused(&shop.stock()));

    scope.breaker("shop.primary").force_open();
    for _ in 0..2 {
        assert_eq!(shop.primary(), DOWN);
    }
    assert!(
        refused(&shop.primary()),
        "the fallback's own breaker is open"
    );
    assert_eq!(scope.breaker("shop.second").state(), State::Open);

    assert_eq!(recursive(3), Ok(0));
    assert_eq!(scope.breaker("recursive").snapshot().calls, 4);
    scope.breaker("recursive").open().unwrap();
    scope.clock().advance(s(10));
    let Err(Api::Refused(rejection)) = recursive(1) else {
        panic!("the inner call was admitted too");
    };
    assert_eq!(rejection.reason(), cb_runtime::Reason::HalfOpenFull);
}

tokio::task_local! {
    static REQUEST: u32;
}

impl Shop {
    #[circuit_breaker(name = "shop.context", fallback = Self::context)]
    async fn with_context(&self) -> Answer<(&'static str, u32)> {
        Err(Api::Down)
    }

    async fn context(&self) -> Answer<(&'static str, u32)> {
        Ok((self.name, REQUEST.get()))
    }
}

#[test]
fn fb_07_a_fallback_runs_in_the_same_task_on_the_same_object() {
    let scope = Scope::new();
    scope.breaker("shop.context").force_open();
    let shop = Shop { name: "main" };
    let answer = now(REQUEST.scope(42, async { shop.with_context().await }));
    assert_eq!(answer, Ok(("main", 42)));
}
