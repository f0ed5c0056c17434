//! What a guarded function can ask about its call.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker, current};

type Reply = Result<bool, CallError<()>>;

fn opened(scope: &Scope, name: &str) {
    scope
        .breaker(name)
        .open_for(Duration::from_secs(1))
        .unwrap();
    scope.clock().advance(Duration::from_secs(1));
}

#[circuit_breaker(name = "current.inner")]
fn inner() -> Reply {
    Ok(current().is_probe())
}

#[circuit_breaker(name = "current.sync", half_open_calls = 3)]
fn outer(panics: bool) -> Reply {
    assert!(!panics, "as asked");
    inner()
}

#[test]
fn the_body_of_a_probe_knows_and_so_does_what_it_calls() {
    let scope = Scope::new();
    assert_eq!(outer(false), Ok(false));
    opened(&scope, "current.sync");
    assert_eq!(outer(false), Ok(true));
    assert!(!current().is_probe(), "the probe is over");
    assert!(catch_unwind(AssertUnwindSafe(|| outer(true))).is_err());
    assert!(!current().is_probe(), "the probe is over");
    assert_eq!(inner(), Ok(false));
}

#[circuit_breaker(name = "current.async")]
async fn remote() -> Reply {
    let before = current().is_probe();
    tokio::task::yield_now().await;
    Ok(before && current().is_probe())
}

#[tokio::test]
async fn an_async_probe_knows_at_each_poll_and_others_do_not() {
    let scope = Scope::new();
    assert_eq!(remote().await, Ok(false));
    opened(&scope, "current.async");
    let between = async {
        let seen = current().is_probe();
        tokio::task::yield_now().await;
        seen || current().is_probe()
    };
    let (probe, elsewhere) = tokio::join!(remote(), between);
    assert_eq!((probe, elsewhere), (Ok(true), false));
}

#[circuit_breaker(name = "current.made")]
fn made() -> impl Future<Output = Reply> {
    std::future::ready(()).map_to(|| Ok(current().is_probe()))
}

trait MapTo: Sized + Future {
    fn map_to<R>(self, value: impl FnOnce() -> R) -> impl Future<Output = R> {
        async move {
            let _ = self.await;
            value()
        }
    }
}
impl<F: Future> MapTo for F {}

#[tokio::test]
async fn so_does_a_future_that_a_function_made() {
    let scope = Scope::new();
    assert_eq!(made().await, Ok(false));
    opened(&scope, "current.made");
    assert_eq!(made().await, Ok(true));
}

#[test]
fn a_permit_knows() {
    let scope = Scope::new();
    let breaker = scope.breaker("current.sync");
    assert!(!breaker.try_acquire().unwrap().is_probe());
    opened(&scope, "current.sync");
    assert!(breaker.try_acquire().unwrap().is_probe());
    let nested = breaker.call(|| Ok::<_, ()>(current().is_probe()));
    assert_eq!(nested, Ok(true));
}
