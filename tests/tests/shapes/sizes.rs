//! Futures: how large they are, and whether they are `Send`.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, now, reach};

/// The most that a guard may add, in bytes, without and with a timeout.
const GUARD: usize = 64;
const WITH_TIMEOUT: usize = 192;

macro_rules! body {
    ($argument:ident) => {{
        let buffer = [1_u8; 4096];
        std::future::ready(()).await;
        reach($argument.is_empty()).map(|one| one + u32::from(buffer[0]) - 1)
    }};
}

async fn bare(text: &str) -> Answer<u32> {
    body!(text)
}

#[circuit_breaker(name = "sizes.async")]
async fn guarded(text: &str) -> Answer<u32> {
    body!(text)
}

#[circuit_breaker(name = "sizes.async", timeout = "1s")]
async fn guarded_timeout(text: &str) -> Answer<u32> {
    body!(text)
}

#[circuit_breaker(name = "sizes.async", fallback = instead)]
async fn guarded_fallback(text: &str) -> Answer<u32> {
    body!(text)
}

async fn instead(_: &str) -> Answer<u32> {
    Ok(0)
}

#[circuit_breaker(name = "sizes.made")]
fn made(text: &str) -> impl Future<Output = Answer<u32>> + Send {
    async move { body!(text) }
}

#[circuit_breaker(name = "sizes.made")]
fn made_call(text: &str) -> impl Future<Output = Answer<u32>> + Send {
    bare(text)
}

#[circuit_breaker(name = "sizes.made", timeout = "1s")]
fn made_timeout(text: &str) -> impl Future<Output = Answer<u32>> + Send {
    bare(text)
}

#[circuit_breaker(name = "sizes.made", fallback = instead)]
fn made_fallback(text: &str) -> impl Future<Output = Answer<u32>> + Send {
    bare(text)
}

#[circuit_breaker(name = "sizes.made", fallback = instead)]
fn made_block_fallback(text: &str) -> impl Future<Output = Answer<u32>> + Send {
    async move { body!(text) }
}

fn size<T>(name: &str, future: impl Future<Output = Answer<T>> + Send) -> usize {
    let size = size_of_val(&future);
    let scope = Scope::new();
    now(future).ok().unwrap();
    assert_eq!(scope.breaker(name).snapshot().calls, 1, "{name}");
    size
}

#[test]
fn hardly_larger_than_the_body() {
    let body = size_of_val(&bare("a"));
    let sizes = [
        ("async", size("sizes.async", guarded("a")), GUARD),
        (
            "async, timeout",
            size("sizes.async", guarded_timeout("a")),
            WITH_TIMEOUT,
        ),
        (
            "async, fallback",
            size("sizes.async", guarded_fallback("a")),
            GUARD,
        ),
        ("made", size("sizes.made", made("a")), GUARD),
        ("made, call", size("sizes.made", made_call("a")), GUARD),
        (
            "made, timeout",
            size("sizes.made", made_timeout("a")),
            WITH_TIMEOUT,
        ),
        (
            // The fallback's parameters are beside the body, which has its own.
            "made, fallback",
            size("sizes.made", made_fallback("a")),
            GUARD + size_of::<&str>(),
        ),
        (
            "made, block, fallback",
            size("sizes.made", made_block_fallback("a")),
            GUARD,
        ),
    ];
    for (kind, size, limit) in sizes {
        println!("{kind}: {body} + {}", size - body);
        assert!(size <= body + limit, "{kind}: {body} became {size}");
    }
}

/// The argument itself is what is large: it is not kept more often than the compiler does anyway.
#[test]
fn large_arguments_are_not_multiplied() {
    async fn bare(bytes: [u8; 4096]) -> Answer<usize> {
        std::future::ready(()).await;
        reach(false).map(|_| bytes.len())
    }
    #[circuit_breaker(name = "sizes.argument")]
    async fn guarded(bytes: [u8; 4096]) -> Answer<usize> {
        std::future::ready(()).await;
        reach(false).map(|_| bytes.len())
    }
    #[circuit_breaker(name = "sizes.argument")]
    fn made(bytes: [u8; 4096]) -> impl Future<Output = Answer<usize>> + Send {
        async move {
            std::future::ready(()).await;
            reach(false).map(|_| bytes.len())
        }
    }
    let plain = size_of_val(&bare([0; 4096]));
    let of_async = size("sizes.argument", guarded([0; 4096]));
    let of_made = size("sizes.argument", made([0; 4096]));
    println!("{plain} {of_async} {of_made}");
    let most = plain.next_multiple_of(8) + GUARD;
    assert!(of_async <= most, "{plain} became {of_async}");
    assert!(of_made <= 4096 + 2 * GUARD, "{of_made}");
}

#[circuit_breaker(name = "sizes.local")]
async fn local(fail: Rc<bool>) -> Answer<u32> {
    std::future::ready(()).await;
    reach(*fail)
}

#[circuit_breaker(name = "sizes.result", fallback = local_result_instead)]
async fn local_result(fail: bool) -> Result<Rc<u32>, CallNotPermitted> {
    std::future::ready(()).await;
    Ok(Rc::new(u32::from(fail)))
}

async fn local_result_instead(_: bool) -> Result<Rc<u32>, CallNotPermitted> {
    Ok(Rc::new(9))
}

#[circuit_breaker(name = "sizes.made_local")]
fn made_local(fail: Rc<bool>) -> impl Future<Output = Answer<u32>> {
    async move {
        std::future::ready(()).await;
        reach(*fail)
    }
}

#[circuit_breaker(name = "sizes.made_result")]
fn made_local_result(fail: bool) -> impl Future<Output = Result<Rc<u32>, CallNotPermitted>> + Send {
    async move { Ok(Rc::new(u32::from(fail))) }
}

/// Tells the types apart without naming them: the first applies if the future is `Send`.
macro_rules! is_send {
    ($future:expr) => {{
        struct Probe<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait NotSend {
            fn is_send(&self) -> bool {
                false
            }
        }
        impl<T> NotSend for Probe<T> {}
        impl<T: Send> Probe<T> {
            #[allow(dead_code, clippy::unused_self)]
            fn is_send(&self) -> bool {
                true
            }
        }
        fn probe<T>(_: &T) -> Probe<T> {
            Probe(std::marker::PhantomData)
        }
        probe(&$future).is_send()
    }};
}

#[test]
fn send_if_and_only_if_the_body_is() {
    assert!(is_send!(guarded("a")) && is_send!(guarded_timeout("a")));
    assert!(is_send!(made("a")) && is_send!(made_fallback("a")));
    assert!(
        is_send!(local_result(true)),
        "its result need not be `Send`"
    );
    assert!(is_send!(made_local_result(true)));
    assert!(!is_send!(local(Rc::new(false))));
    assert!(!is_send!(made_local(Rc::new(false))));

    let scope = Scope::new();
    now(local(Rc::new(false))).unwrap();
    now(made_local(Rc::new(false))).unwrap();
    assert_eq!(*now(made_local_result(true)).unwrap(), 1);
    scope.breaker("sizes.result").force_open();
    assert_eq!(*now(local_result(true)).unwrap(), 9);
    for name in ["sizes.local", "sizes.made_local", "sizes.made_result"] {
        assert_eq!(scope.breaker(name).snapshot().calls, 1, "{name}");
    }
}

#[test]
fn a_boxed_future_is_boxed_once() {
    #[circuit_breaker(name = "sizes.boxed")]
    fn boxed() -> Pin<Box<dyn Future<Output = Answer<u32>>>> {
        Box::pin(bare("a"))
    }
    let scope = Scope::new();
    let future = boxed();
    let inside = size_of_val(&*future);
    assert!(inside >= 4096, "{inside}: the body is in a box of its own");
    now(future).unwrap();
    assert_eq!(scope.breaker("sizes.boxed").snapshot().calls, 1);
}
