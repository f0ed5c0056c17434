//! Functions that call themselves.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CircuitBreaker, State, circuit_breaker};

use crate::{Answer, ApiError, now, reach};

#[circuit_breaker(name = "recursion.sync", wait = "1s", half_open_calls = 1)]
fn sync(depth: u32, fail: bool) -> Answer<u32> {
    if depth == 0 {
        return reach(fail);
    }
    sync(depth - 1, fail).map(|sum| sum + 1)
}

#[circuit_breaker(name = "recursion.async", wait = "1s", half_open_calls = 1)]
async fn asynchronous(depth: u32, fail: bool) -> Answer<u32> {
    if depth == 0 {
        return reach(fail);
    }
    Box::pin(asynchronous(depth - 1, fail))
        .await
        .map(|sum| sum + 1)
}

#[circuit_breaker(name = "recursion.boxed", wait = "1s", half_open_calls = 1)]
fn boxed(depth: u32, fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>>>> {
    Box::pin(async move {
        if depth == 0 {
            return reach(fail);
        }
        boxed(depth - 1, fail).await.map(|sum| sum + 1)
    })
}

#[test]
fn every_level_is_a_call_and_one_probe_has_no_permit_for_the_next() {
    let calls: [(&str, &dyn Fn(u32, bool) -> Answer<u32>); 3] = [
        ("recursion.sync", &sync),
        ("recursion.async", &|depth, fail| {
            now(asynchronous(depth, fail))
        }),
        ("recursion.boxed", &|depth, fail| now(boxed(depth, fail))),
    ];
    for (name, call) in calls {
        let scope = Scope::new();
        let breaker = scope.breaker(name);
        assert_eq!(call(2, false), Ok(3), "{name}");
        assert_eq!(breaker.snapshot().calls, 3, "{name}");
        breaker.open().unwrap();
        scope.clock().advance(Duration::from_secs(2));
        // The only permit is the outermost call's, whose own call is then rejected. It hands the
        // rejection on, as a failure.
        assert!(matches!(call(1, false), Err(ApiError::NotPermitted(_))));
        assert_eq!(breaker.state(), State::Open, "{name}");
        scope.clock().advance(Duration::from_secs(2));
        assert_eq!(call(0, false), Ok(1), "{name} gave its permit back");
        assert_eq!(breaker.state(), State::Closed, "{name}");
    }
}

#[circuit_breaker(name = "recursion.ignoring", wait = "1s", half_open_calls = 1, ignore = ApiError::NotPermitted)]
fn ignoring(depth: u32) -> Answer<u32> {
    if depth == 0 {
        return reach(false);
    }
    ignoring(depth - 1)
}

#[test]
fn a_rejection_from_below_can_be_ignored() {
    let scope = Scope::new();
    let breaker = scope.breaker("recursion.ignoring");
    breaker.open().unwrap();
    scope.clock().advance(Duration::from_secs(2));
    assert!(matches!(ignoring(1), Err(ApiError::NotPermitted(_))));
    assert_eq!(breaker.state(), State::HalfOpen, "the permit is given back");
    assert_eq!(ignoring(0), Ok(1));
    assert_eq!(breaker.state(), State::Closed);
}

#[circuit_breaker(name = "recursion.nested", wait = "1s")]
async fn get() -> Answer<u32> {
    tokio::task::yield_now().await;
    reach(false)
}

#[circuit_breaker(name = "recursion.nested")]
async fn list() -> Answer<u32> {
    tokio::task::yield_now().await;
    get().await
}

/// As many callers as there are permits leave none for what they call: which is told.
#[test]
fn calls_that_find_no_permit_within_their_own_probes_are_told_of() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let scope = Scope::new();
        let breaker = scope.breaker("recursion.nested");
        breaker.open().unwrap();
        scope.clock().advance(Duration::from_secs(2));
        let callers: Vec<_> = (0..20).map(|_| tokio::spawn(list())).collect();
        for caller in callers {
            assert!(caller.await.unwrap().is_err());
        }
        let shown = breaker.snapshot();
        assert_eq!(shown.state, State::Open);
        assert_eq!(shown.rejected_within_probes, 5);
        assert_eq!(shown.not_permitted_total, 20);
        let told = breaker.explain().to_string();
        assert!(
            told.contains("5 calls rejected within its own probes"),
            "{told}"
        );
        assert!(!cb_runtime::current().is_probe());
    });
}

/// A probe of another breaker, or one that is over, has nothing to do with it.
#[test]
fn other_rejections_are_not_told_of_as_within_a_probe() {
    #[circuit_breaker(name = "recursion.elsewhere", half_open_calls = 1)]
    fn elsewhere(inner: &CircuitBreaker) -> Answer<u32> {
        let rejected = inner.call(|| Ok::<_, ()>(()));
        assert!(rejected.is_err());
        reach(false)
    }
    let scope = Scope::new();
    let (outer, inner) = (
        scope.breaker("recursion.elsewhere"),
        scope.breaker("recursion.sync"),
    );
    for breaker in [&outer, &inner] {
        breaker.open().unwrap();
    }
    scope.clock().advance(Duration::from_secs(20));
    let permit = inner.try_acquire().unwrap();
    assert_eq!(elsewhere(&inner), Ok(1));
    assert!(inner.call(|| Ok::<_, ()>(())).is_err());
    drop(permit);
    assert_eq!(inner.snapshot().not_permitted_total, 2);
    assert_eq!(inner.snapshot().rejected_within_probes, 0);
    assert_eq!(outer.snapshot().rejected_within_probes, 0);
}
