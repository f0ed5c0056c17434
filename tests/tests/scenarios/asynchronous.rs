//! Async functions.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, Permit, Reason, State, circuit_breaker};

use crate::support::*;

#[circuit_breaker(name = "shape.impl", window = 4, min_calls = 2, consecutive_failures = off)]
fn as_impl() -> impl Future<Output = Answer> {
    async { DOWN }
}

#[circuit_breaker(name = "shape.boxed", window = 4, min_calls = 2, consecutive_failures = off)]
fn boxed() -> Pin<Box<dyn Future<Output = Answer> + Send>> {
    Box::pin(async { DOWN })
}

#[async_trait::async_trait]
trait Query {
    async fn required(&self) -> Answer;

    #[circuit_breaker(
        name = "shape.default",
        window = 4,
        min_calls = 2,
        consecutive_failures = off
    )]
    async fn default(&self) -> Answer {
        DOWN
    }
}

struct Client;

type Call = Pin<Box<dyn Future<Output = Answer>>>;

#[async_trait::async_trait]
impl Query for Client {
    #[circuit_breaker(
        name = "shape.required",
        window = 4,
        min_calls = 2,
        consecutive_failures = off
    )]
    async fn required(&self) -> Answer {
        DOWN
    }
}

#[test]
fn as_01_what_is_judged_is_the_result_not_the_future() {
    let scope = Scope::new();
    let calls: [(&str, &dyn Fn() -> Call); 5] = [
        ("async", &|| Box::pin(guarded_async(async { DOWN }))),
        ("shape.impl", &|| Box::pin(as_impl())),
        ("shape.boxed", &|| boxed()),
        ("shape.required", &|| Client.required_owned()),
        ("shape.default", &|| Client.default_owned()),
    ];
    for (name, call) in calls {
        let breaker = scope.breaker(name);
        for calls in 1..=2 {
            drop(call()); // made, never polled
            assert_eq!(breaker.state(), State::Closed, "{name}");
            assert_eq!(now(call()), DOWN, "{name}");
            assert_eq!(breaker.snapshot().calls, calls, "{name}");
        }
        assert_eq!(breaker.state(), State::Open, "{name}");
        assert!(refused(&now(call())), "{name}");
    }
}

impl Client {
    fn required_owned(self) -> Call {
        Box::pin(async move { self.required().await })
    }

    fn default_owned(self) -> Call {
        Box::pin(async move { self.default().await })
    }
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn as_02_guarded_futures_are_send() {
    let scope = Scope::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let call = assert_send(guarded_async(async {
        tokio::task::yield_now().await;
        Ok(1)
    }));
    let spawned = runtime.spawn(scope.run(call));
    assert_eq!(runtime.block_on(spawned).unwrap(), Ok(1));
    assert_eq!(scope.breaker("async").snapshot().successful, 1);

    let bench = bench("");
    let ready = std::future::ready(Ok::<(), ()>(()));
    drop(assert_send(bench.breaker.call_async(ready)));
    fn assert_both<T: Send + Sync>(_: &T) {}
    assert_both::<Permit<'static>>(&bench.breaker.try_acquire_owned().unwrap());
}

#[test]
fn as_04_the_breaker_is_asked_before_anything_is_polled() {
    let bench = bench("");
    bench.breaker.force_open();
    let polled = AtomicUsize::new(0);
    let never_ready = || {
        std::future::poll_fn(|_| {
            polled.fetch_add(1, Ordering::SeqCst);
            Poll::<Answer>::Pending
        })
    };
    fn rejected(call: impl Future<Output = Result<u32, CallError<Api>>>) {
        match now(call) {
            Err(CallError::NotPermitted(why)) => assert_eq!(why.reason(), Reason::ForcedOpen),
            other => panic!("{other:?}"),
        }
    }
    rejected(bench.breaker.call_async(never_ready()));
    let scope = Scope::new();
    scope.breaker("async").force_open();
    assert!(refused(&now(guarded_async(never_ready()))));
    assert_eq!(polled.load(Ordering::SeqCst), 0);
}
