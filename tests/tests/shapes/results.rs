//! Return types.

use std::convert::Infallible;
use std::io;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CallNotPermitted, State, circuit_breaker};

use crate::{Answer, ApiError, Bare, answers, falls_back, now, reach, rejects};

mod own {
    pub(crate) type Outcome<T> = Result<T, crate::ApiError>;
    pub(crate) type Fixed = Outcome<u32>;
}

#[circuit_breaker(name = "results.alias")]
fn alias(fail: bool) -> own::Outcome<u32> {
    reach(fail)
}

#[circuit_breaker(name = "results.alias_fixed", fallback = fixed_instead)]
async fn alias_fixed(fail: bool) -> own::Fixed {
    reach(fail)
}

fn fixed_instead(_: bool) -> Answer<u32> {
    Ok(0)
}

/// Not to be taken for a type parameter.
type L = Answer<u32>;

#[circuit_breaker(name = "results.letter")]
fn letter(fail: bool) -> L {
    reach(fail)
}

#[circuit_breaker(name = "results.io", fallback = io_instead)]
fn io_result(fail: bool) -> io::Result<u32> {
    reach(fail).map_err(io::Error::other)
}

fn io_instead(_: bool, why: CallNotPermitted) -> io::Result<u32> {
    Ok(why.breaker().len().try_into().unwrap_or(0))
}

#[circuit_breaker(name = "results.anyhow")]
async fn anyhow_result(fail: bool) -> anyhow::Result<u32> {
    Ok(reach(fail)?)
}

#[test]
fn aliases_of_result() {
    rejects("results.alias", alias);
    rejects("results.letter", letter);
    falls_back("results.alias_fixed", &0, |fail| now(alias_fixed(fail)));
    falls_back("results.io", &10, io_result);
    rejects("results.anyhow", |fail| {
        now(anyhow_result(fail)).map_err(|error| match error.downcast::<ApiError>() {
            Ok(error) => error,
            Err(error) => error.downcast::<CallNotPermitted>().unwrap().into(),
        })
    });
}

#[circuit_breaker(name = "results.option", fallback = none)]
fn option() -> Option<u32> {
    Some(1)
}

fn none() -> Option<u32> {
    None
}

#[circuit_breaker(name = "results.none_fails", failure_if = Option::is_none, fallback = zero)]
async fn none_fails() -> Option<u32> {
    None
}

async fn zero(_: CallNotPermitted) -> Option<u32> {
    Some(0)
}

#[test]
fn option_values() {
    answers("results.option", &Some(1), &None, option);
    let scope = Scope::new();
    for _ in 0..10 {
        assert_eq!(now(none_fails()), None);
    }
    assert_eq!(scope.breaker("results.none_fails").state(), State::Open);
    assert_eq!(now(none_fails()), Some(0));
}

#[circuit_breaker(name = "results.unit", fallback = note)]
fn unit(noted: &std::cell::Cell<bool>) {
    noted.set(false);
}

#[circuit_breaker(name = "results.unit_async", fallback = note)]
async fn unit_async(noted: &std::cell::Cell<bool>) -> () {
    noted.set(false);
}

fn note(noted: &std::cell::Cell<bool>) {
    noted.set(true);
}

#[test]
fn no_value() {
    let noted = std::cell::Cell::new(true);
    answers("results.unit", &false, &true, || {
        unit(&noted);
        noted.get()
    });
    answers("results.unit_async", &false, &true, || {
        now(unit_async(&noted));
        noted.get()
    });
}

#[circuit_breaker(name = "results.plain", failure_if = |code| *code >= 500, fallback = zero_code)]
fn plain(code: u16) -> u16 {
    code
}

fn zero_code(_: u16) -> u16 {
    0
}

#[circuit_breaker(name = "results.rescued", failure_if = |code| *code >= 500, fallback = rescued, fallback_on = "failure")]
fn plain_rescued(code: u16) -> u16 {
    code
}

fn rescued(code: u16, why: CallError<Infallible>) -> u16 {
    code + u16::from(matches!(why, CallError::FailedValue))
}

#[circuit_breaker(name = "results.parameter", failure_if = |_| false, fallback = Default::default)]
fn type_parameter<T: From<u8> + Default>() -> T {
    T::from(1)
}

#[test]
fn plain_values() {
    let scope = Scope::new();
    for _ in 0..10 {
        assert_eq!(plain(503), 503);
    }
    assert_eq!(scope.breaker("results.plain").state(), State::Open);
    assert_eq!((plain(503), plain_rescued(503)), (0, 504));
    drop(scope);
    answers("results.parameter", &1_u32, &0, type_parameter);
}

#[circuit_breaker(name = "results.impl_trait")]
fn impl_trait(items: &[u32], fail: bool) -> Answer<impl Iterator<Item = &u32> + use<'_>> {
    reach(fail).map(|_| items.iter())
}

#[circuit_breaker(name = "results.impl_fn", fallback = constant)]
fn impl_fn() -> impl Fn() -> u32 {
    one as fn() -> u32
}

fn one() -> u32 {
    1
}

fn constant() -> fn() -> u32 {
    || 0
}

#[circuit_breaker(name = "results.boxed")]
async fn boxed(
    fail: bool,
) -> Result<Box<dyn Fn() -> u32 + Send>, Box<dyn std::error::Error + Send + Sync>> {
    reach(fail)?;
    Ok(Box::new(|| 1))
}

#[test]
fn impl_trait_and_dyn_values() {
    rejects("results.impl_trait", |fail| {
        impl_trait(&[1], fail).map(|items| items.count())
    });
    answers("results.impl_fn", &1, &0, || impl_fn()());
    rejects("results.boxed", |fail| {
        now(boxed(fail))
            .map(|call| call())
            .map_err(|error| match error.downcast::<ApiError>() {
                Ok(error) => *error,
                Err(error) => (*error.downcast::<CallNotPermitted>().unwrap()).into(),
            })
    });
}

#[must_use]
#[circuit_breaker(name = "results.must_use")]
fn must_use(fail: bool) -> Answer<u32> {
    reach(fail)
}

#[test]
fn must_use_stays() {
    rejects("results.must_use", must_use);
}

#[circuit_breaker(name = "results.nested", fallback = nested_instead)]
fn nested(fail: bool) -> Result<Result<u32, Bare>, Bare> {
    if fail { Err(Bare(1)) } else { Ok(Err(Bare(2))) }
}

fn nested_instead(_: bool) -> Result<Result<u32, Bare>, Bare> {
    Ok(Ok(0))
}

#[test]
fn only_the_outer_result_is_judged() {
    falls_back("results.nested", &Ok(0), nested);
}
