//! Parameters, generics, return types, and what macros and `cfg` make of functions.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, ApiError, Bare, BusinessError, failed, now};

const CALLS: u32 = 50;

#[circuit_breaker(
    name = "shapes.patterns",
    window = CALLS,
    min_calls = CALLS / 5,
    failure_rate = 33.3,
    wait = Duration::from_secs(5),
    fallback = fields
)]
fn patterns(
    (a, mut b): (u32, u32),
    ref c @ Bare(d): Bare,
    [first, ..]: [u32; 3],
    _unused: u32,
    _: u32,
    mut text: &str,
) -> Result<u32, Bare> {
    const LOCAL: &str = "local";
    b += 1;
    if text.is_empty() {
        text = LOCAL;
    }
    if a == 0 {
        return Err(c.clone());
    }
    Ok(a + b + d + first + u32::from(text.is_empty()))
}

fn fields(
    pair: (u32, u32),
    bare: Bare,
    list: [u32; 3],
    x: u32,
    y: u32,
    text: &str,
) -> Result<u32, Bare> {
    Ok(pair.0 + bare.0 + list[0] + x + y + u32::from(text.is_empty()))
}

#[circuit_breaker(name = "shapes.generic")]
async fn generic<'a, T, const N: usize>(
    items: [&'a T; N],
    pick: impl Fn(&T) -> bool,
) -> Answer<Option<&'a T>>
where
    T: PartialEq + ?Sized,
{
    Ok(items.into_iter().find(|item| pick(item)))
}

#[circuit_breaker(name = "shapes.iterator")]
fn iterator(items: &[u32]) -> Answer<impl Iterator<Item = &u32> + use<'_>> {
    Ok(items.iter())
}

#[circuit_breaker(name = "shapes.box")]
async fn boxed(fail: bool) -> Result<Box<dyn Fn() -> u32 + Send>, Box<dyn Error + Send + Sync>> {
    if fail {
        Err("text")?;
    }
    Ok(Box::new(|| 1))
}

#[circuit_breaker(name = "shapes.foreign", failure_if = |code| *code != 0, fallback = same)]
extern "C" fn foreign(code: u32) -> u32 {
    #![allow(clippy::needless_return)]
    return code;
}

fn same(code: u32, why: CallNotPermitted) -> u32 {
    code + u32::from(why.breaker() == "shapes.foreign")
}

#[circuit_breaker(name = "shapes.cfg", fallback = plain)]
fn conditional(
    #[cfg(test)] a: u32,
    #[cfg(not(test))] b: u32,
    #[allow(unused_variables)] c: u32,
) -> Result<u32, Bare> {
    Ok(a)
}

fn plain(a: u32, c: u32) -> Result<u32, Bare> {
    Ok(a + c)
}

macro_rules! make {
    ($name:ident, $text:literal, $calls:expr, $ty:ty, $body:block) => {
        #[circuit_breaker(name = $text, min_calls = $calls, ignore = BusinessError)]
        fn $name(_fail: bool) -> $ty $body
    };
}

make!(made, "shapes.made", 3, Answer<u32>, { failed(3) });

#[circuit_breaker(name = "shapes.shadow")]
async fn shadows() -> Answer<u32> {
    #[allow(dead_code)]
    struct Answer;
    #[allow(non_snake_case, unused_variables)]
    let (SITE, guard, value, body) = (1, 2, 3, 4);
    let sum = loop {
        if SITE > 0 {
            break SITE + guard + value + body;
        }
    };
    Ok(sum)
}

#[test]
fn guards_functions_of_every_shape() {
    let scope = Scope::new();
    let patterns = |a| patterns((a, 2), Bare(3), [4, 0, 0], 10, 20, "");
    assert_eq!(
        (patterns(1), patterns(0)),
        (Ok(1 + 3 + 3 + 4), Err(Bare(3)))
    );
    scope.breaker("shapes.patterns").force_open();
    assert_eq!(patterns(1), Ok(1 + 3 + 4 + 10 + 20 + 1));
    let rejected = |name| scope.breaker(name).force_open();

    assert_eq!(now(generic([&1, &2], |item| *item > 1)), Ok(Some(&2)));
    rejected("shapes.generic");
    assert!(now(generic([&1, &2], |item| *item > 1)).is_err());

    assert_eq!(iterator(&[1, 2]).unwrap().count(), 2);
    rejected("shapes.iterator");
    assert!(iterator(&[1, 2]).is_err());

    assert_eq!(now(boxed(false)).unwrap()(), 1);
    assert_eq!(now(boxed(true)).err().unwrap().to_string(), "text");
    rejected("shapes.box");
    assert!(now(boxed(false)).err().unwrap().is::<CallNotPermitted>());

    assert_eq!((foreign(0), foreign(7)), (0, 7));
    assert_eq!(scope.breaker("shapes.foreign").snapshot().failed, 1);
    rejected("shapes.foreign");
    assert_eq!(foreign(7), 8);

    assert_eq!(conditional(1, 2), Ok(1));
    rejected("shapes.cfg");
    assert_eq!(conditional(1, 2), Ok(3));

    for _ in 0..3 {
        assert_eq!(made(true), failed(3));
    }
    assert!(matches!(made(true), Err(ApiError::NotPermitted(_))));

    assert_eq!(now(shadows()), Ok(10));
    rejected("shapes.shadow");
    assert!(now(shadows()).is_err());
}

#[test]
fn a_guarded_future_is_send_and_hardly_larger_than_its_body() {
    async fn bare(_: &[u8; 64]) -> Answer<u32> {
        let buffer = [1_u8; 1024];
        std::future::ready(()).await;
        Ok(u32::from(buffer[0]))
    }
    #[circuit_breaker(name = "size.guarded")]
    async fn guarded(_: &[u8; 64]) -> Answer<u32> {
        let buffer = [1_u8; 1024];
        std::future::ready(()).await;
        Ok(u32::from(buffer[0]))
    }
    #[circuit_breaker(name = "size.timeout", timeout = "1s")]
    async fn with_timeout(_: &[u8; 64]) -> Answer<u32> {
        let buffer = [1_u8; 1024];
        std::future::ready(()).await;
        Ok(u32::from(buffer[0]))
    }
    fn size(future: impl Future + Send) -> usize {
        size_of_val(&future)
    }
    let scope = Scope::new();
    assert_eq!(
        (
            now(guarded(&[0; 64])),
            scope.breaker("size.guarded").snapshot().calls
        ),
        (Ok(1), 1)
    );
    let (bare, guarded, timeout) = (
        size(bare(&[0; 64])),
        size(guarded(&[0; 64])),
        size(with_timeout(&[0; 64])),
    );
    println!("{bare} {guarded} {timeout}");
    assert!(guarded <= bare + 128, "{bare} became {guarded}");
    assert!(
        timeout <= bare + 256,
        "{bare} became {timeout} with a timeout"
    );
}
