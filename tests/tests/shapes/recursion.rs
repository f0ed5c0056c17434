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

type Call<'a> = &'a dyn Fn(u32, bool) -> Answer<u32>;

/// Each of the functions under its breaker, in a scope of its own.
fn each(check: impl Fn(&Scope, &CircuitBreaker, Call<'_>)) {
    let calls: [(&str, Call<'_>); 3] = [
        ("recursion.sync", &sync),
        ("recursion.async", &|depth, fail| {
            now(asynchronous(depth, fail))
        }),
        ("recursion.boxed", &|depth, fail| now(boxed(depth, fail))),
    ];
    for (name, call) in calls {
        let scope = Scope::new();
        check(&scope, &scope.breaker(name), call);
    }
}

/// As far as the end of the wait.
fn wait(scope: &Scope, breaker: &CircuitBreaker) {
    breaker.open().unwrap();
    scope.clock().advance(Duration::from_secs(2));
}

#[test]
fn every_level_is_a_call() {
    each(|_, breaker, call| {
        assert_eq!(call(2, false), Ok(3));
        assert!(call(2, true).is_err());
        let shown = breaker.snapshot();
        assert_eq!((shown.calls, shown.failed), (6, 3), "{}", breaker.name());
    });
}

/// The only permit is the outermost call's.
#[test]
fn all_levels_are_one_probe() {
    each(|scope, breaker, call| {
        let name = breaker.name();
        wait(scope, breaker);
        assert_eq!(call(2, true), Err(ApiError::Http(503)), "{name}");
        assert_eq!(breaker.state(), State::Open, "{name}");
        scope.clock().advance(Duration::from_secs(2));
        assert_eq!(call(2, false), Ok(3), "{name}");
        assert_eq!(breaker.state(), State::Closed, "{name}");
        let shown = breaker.snapshot();
        assert_eq!((shown.not_permitted, shown.late), (0, 0), "{name}");
        let probes = shown.probe_totals;
        assert_eq!((probes.successful, probes.failed), (1, 1), "{name}");
    });
}

#[circuit_breaker(name = "recursion.shared", wait = "1s", half_open_calls = 2)]
fn inner(fail: bool) -> Answer<u32> {
    reach(fail)
}

#[circuit_breaker(name = "recursion.shared")]
fn outer(meanwhile: &mut dyn FnMut()) -> Answer<u32> {
    meanwhile();
    inner(false)
}

/// A stay that has ended while the probe was under way lends it no permit.
#[test]
fn only_the_probe_of_the_present_stay_goes_along() {
    let scope = Scope::new();
    let breaker = scope.breaker("recursion.shared");
    wait(&scope, &breaker);
    let again = &mut || {
        breaker.open().unwrap();
        scope.clock().advance(Duration::from_secs(2));
    };
    assert_eq!(outer(again), Ok(1));
    let returned = breaker.snapshot().probes.map(|probes| probes.returned);
    assert_eq!(returned, Some(1), "the inner call, in its own right");
    assert_eq!(breaker.snapshot().late, 1, "the outer one");
}

#[test]
fn another_thread_has_no_part_in_the_probe() {
    let scope = Scope::new();
    let breaker = scope.breaker("recursion.shared");
    wait(&scope, &breaker);
    let handle = scope.handle();
    let elsewhere = &mut || {
        let handle = handle.clone();
        let called = std::thread::spawn(move || {
            let _entered = handle.enter();
            (inner(false), cb_runtime::current().is_probe())
        });
        assert_eq!(called.join().unwrap(), (Ok(1), false));
        assert_eq!(
            breaker.snapshot().probes.map(|probes| probes.in_flight),
            Some(1)
        );
    };
    assert_eq!(outer(elsewhere), Ok(1));
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.snapshot().probe_totals.successful, 2);
}

#[test]
fn a_panic_takes_the_probe_with_it() {
    let scope = Scope::new();
    let breaker = scope.breaker("recursion.shared");
    wait(&scope, &breaker);
    let panicking = || {
        let _ = outer(&mut || {
            std::panic::set_hook(Box::new(|_| {}));
            panic!("on purpose")
        });
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    let _ = std::panic::take_hook();
    assert!(!cb_runtime::current().is_probe());
    // Else it would go along with a probe that is over.
    assert_eq!(inner(true), Err(ApiError::Http(503)));
    assert_eq!(breaker.state(), State::Open);
}

/// As many callers as there are permits, and more, each of which calls under the same breaker again.
#[test]
fn nested_calls_recover() {
    const CALLERS: usize = 20;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let scope = Scope::new();
        let breaker = scope.breaker("recursion.nested");
        wait(&scope, &breaker);
        let callers = (0..CALLERS).map(|_| tokio::spawn(list()));
        let mut permitted = 0;
        for caller in callers.collect::<Vec<_>>() {
            permitted += usize::from(caller.await.unwrap().is_ok());
        }
        assert_eq!(permitted, 5);
        assert_eq!(breaker.state(), State::Closed);
    });
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
