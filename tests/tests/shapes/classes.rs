//! `ignore`, `record`, `failure_if`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::task::{Context, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CallNotPermitted, TimedOut, circuit_breaker};

use crate::{Answer, ApiError, Bare, BusinessError, now};

type BoxError = Box<dyn Error + Send + Sync>;

fn http(code: u16) -> ApiError {
    ApiError::Http(code)
}

fn business() -> ApiError {
    ApiError::Business(BusinessError)
}

/// The figures after `calls`: recorded, failed, ignored.
#[track_caller]
fn figures(name: &str, calls: impl FnOnce()) -> (u32, u32, u64) {
    let scope = Scope::new();
    calls();
    let snapshot = scope.breaker(name).snapshot();
    (snapshot.calls, snapshot.failed, snapshot.ignored)
}

#[circuit_breaker(name = "classes.itself", ignore = ApiError)]
fn itself(error: ApiError) -> Answer<u32> {
    Err(error)
}

#[circuit_breaker(name = "classes.source", ignore = BusinessError)]
async fn along_sources(error: ApiError) -> Answer<u32> {
    Err(error)
}

#[circuit_breaker(name = "classes.anyhow", ignore = BusinessError)]
fn in_anyhow(error: ApiError) -> anyhow::Result<u32> {
    Err(anyhow::Error::new(error).context("while asking"))
}

#[circuit_breaker(name = "classes.anyhow_variant", ignore = ApiError::Http(400..=499))]
fn variant_in_anyhow(error: ApiError) -> anyhow::Result<u32> {
    Err(anyhow::Error::new(error).context("while asking"))
}

#[circuit_breaker(name = "classes.boxed", ignore = [BusinessError, ApiError::Http(404)])]
async fn in_box(error: ApiError) -> Result<u32, BoxError> {
    Err(error.into())
}

#[circuit_breaker(name = "classes.made", ignore = BusinessError)]
fn in_box_made(error: ApiError) -> impl Future<Output = Result<u32, BoxError>> {
    async move { Err(error)? }
}

#[circuit_breaker(name = "classes.generic", ignore = BusinessError)]
fn generic<E: Error + From<CallNotPermitted> + 'static>(error: E) -> Result<u32, E> {
    Err(error)
}

#[circuit_breaker(name = "classes.odd", ignore = type(odd::error))]
fn oddly_named(error: ApiError) -> Result<u32, BoxError> {
    Err(if error == business() {
        Box::new(odd::error)
    } else {
        error.into()
    })
}

#[allow(non_camel_case_types)]
mod odd {
    #[derive(Debug)]
    pub(crate) struct error;
    impl std::fmt::Display for error {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("odd")
        }
    }
    impl std::error::Error for error {}
}

#[circuit_breaker(name = "classes.forced", mode = "forced_open")]
fn rejected() -> Result<u32, CallError<Bare>> {
    Ok(1)
}

#[circuit_breaker(name = "classes.late", timeout = "1s")]
async fn late() -> Result<u32, CallError<Bare>> {
    std::future::pending().await
}

#[circuit_breaker(name = "classes.held", ignore = [CallNotPermitted, TimedOut, Bare(7)])]
async fn held(
    call: impl Future<Output = Result<u32, CallError<Bare>>>,
) -> Result<u32, CallError<Bare>> {
    call.await
}

/// What it is made of is found in a `CallError`, though that is no error if what failed is none.
#[tokio::test]
async fn held_by_what_is_no_error() {
    let scope = Scope::new();
    let figures = || {
        let snapshot = scope.breaker("classes.held").snapshot();
        (snapshot.failed, snapshot.ignored)
    };
    let failed = |error| std::future::ready(Err(error));
    drop(now(held(failed(CallError::Failed(Bare(1))))));
    drop(now(held(failed(CallError::FailedValue))));
    assert_eq!(figures(), (2, 0));
    drop(now(held(failed(CallError::Failed(Bare(7))))));
    assert_eq!(figures(), (2, 1));
    drop(now(held(async { rejected() })));
    assert_eq!(figures(), (2, 2));
    let mut call = std::pin::pin!(held(late()));
    let mut context = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    scope.clock().advance(Duration::from_secs(1));
    assert!(matches!(now(call), Err(CallError::TimedOut(_))));
    assert_eq!(figures(), (2, 3));
}

#[test]
fn types() {
    assert_eq!(
        figures("classes.itself", || drop(itself(http(1)))),
        (0, 0, 1)
    );
    let two = |call: &dyn Fn(ApiError)| {
        call(business());
        call(http(503));
    };
    let calls: [(&str, &dyn Fn(ApiError)); 7] = [
        ("classes.source", &|e| drop(now(along_sources(e)))),
        ("classes.anyhow", &|e| drop(in_anyhow(e))),
        ("classes.boxed", &|e| drop(now(in_box(e)))),
        ("classes.made", &|e| drop(now(in_box_made(e)))),
        ("classes.generic", &|e| drop(generic(e))),
        ("classes.odd", &|e| drop(oddly_named(e))),
        ("classes.custom_box", &|e| drop(custom_box(e))),
    ];
    for (name, call) in calls {
        assert_eq!(figures(name, || two(call)), (1, 1, 1), "{name}");
    }
}

#[circuit_breaker(name = "classes.custom_box", ignore = BusinessError)]
fn custom_box(error: ApiError) -> Result<u32, Box<dyn Error>> {
    Err(error)?
}

/// Its own source, by way of another one.
#[derive(Debug)]
struct Cyclic;

impl fmt::Display for Cyclic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("again")
    }
}

impl Error for Cyclic {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        static AGAIN: Cyclic = Cyclic;
        Some(&AGAIN)
    }
}

#[circuit_breaker(name = "classes.cyclic", ignore = BusinessError)]
fn cyclic() -> Result<u32, BoxError> {
    Err(Cyclic.into())
}

#[test]
fn an_endless_chain_of_sources_is_left_at_some_point() {
    assert_eq!(figures("classes.cyclic", || drop(cyclic())), (1, 1, 0));
}

#[derive(Debug, Clone)]
enum Many<T = u8> {
    Unit,
    Tuple(u16, T),
    Named { code: u16, text: &'static str },
    NotPermitted,
}

impl<T> From<CallNotPermitted> for Many<T> {
    fn from(_: CallNotPermitted) -> Self {
        Self::NotPermitted
    }
}

macro_rules! ignoring {
    ($($name:ident = $text:literal ($($class:tt)*);)*) => {$(
        #[circuit_breaker(name = $text, ignore = $($class)*)]
        fn $name(error: &Many) -> Result<u32, Many> {
            Err(error.clone())
        }
    )*};
}

ignoring! {
    unit = "classes.unit" (Many::Unit);
    tuple = "classes.tuple" (Many::Tuple);
    named = "classes.named" (Many::Named);
    pattern = "classes.pattern" (Many::Tuple(400..=499, _));
    fields = "classes.fields" (Many::Named { code: 404, .. });
    alternatives = "classes.alternatives" (Many::Tuple(404, 1 | 2) | Many::Unit);
    list = "classes.list" ([Many::Unit, Many::Named { text: "no", .. }, is_teapot, |e| matches!(e, Many::Tuple(7, _))]);
    path = "classes.path" (self::Many::<u8>::Unit);
    predicate = "classes.predicate" (is_teapot);
    closure = "classes.closure" (|error| matches!(error, Many::Tuple(_, 1)));
}

fn is_teapot(error: &Many) -> bool {
    matches!(error, Many::Tuple(418, _))
}

#[test]
fn variants_patterns_predicates_and_lists() {
    let errors = [
        Many::Unit,
        Many::Tuple(404, 1),
        Many::Tuple(418, 3),
        Many::Tuple(503, 4),
        Many::Named {
            code: 404,
            text: "yes",
        },
        Many::Named {
            code: 500,
            text: "no",
        },
        Many::Tuple(7, 0),
    ];
    type Call = fn(&Many) -> Result<u32, Many>;
    let expected: [(&str, Call, &[usize]); 10] = [
        ("classes.unit", unit, &[0]),
        ("classes.tuple", tuple, &[1, 2, 3, 6]),
        ("classes.named", named, &[4, 5]),
        ("classes.pattern", pattern, &[1, 2]),
        ("classes.fields", fields, &[4]),
        ("classes.alternatives", alternatives, &[0, 1]),
        ("classes.list", list, &[0, 2, 5, 6]),
        ("classes.path", path, &[0]),
        ("classes.predicate", predicate, &[2]),
        ("classes.closure", closure, &[1]),
    ];
    for (name, call, ignored) in expected {
        for (at, error) in errors.iter().enumerate() {
            let is = u32::from(!ignored.contains(&at));
            let found = figures(name, || drop(call(error)));
            assert_eq!(found, (is, is, u64::from(is == 0)), "{name}: {error:?}");
        }
    }
    let (code, text) = match &errors[5] {
        Many::Named { code, text } => (*code, *text),
        _ => (0, ""),
    };
    assert_eq!((code, text), (500, "no"));
}

#[circuit_breaker(name = "classes.variant_in_chain", ignore = ApiError::Business)]
fn variant_in_chain(error: ApiError) -> Result<u32, BoxError> {
    Err(Wrapped(error).into())
}

#[derive(Debug)]
struct Wrapped(ApiError);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrapped")
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn variants_within_other_errors() {
    let found = figures("classes.variant_in_chain", || {
        drop((variant_in_chain(business()), variant_in_chain(http(404))));
    });
    assert_eq!(found, (1, 1, 1));
    let found = figures("classes.anyhow_variant", || {
        drop((variant_in_anyhow(http(404)), variant_in_anyhow(http(503))));
    });
    assert_eq!(found, (1, 1, 1));
}

#[circuit_breaker(name = "classes.record", record = [ApiError::Http(500..), ApiError::TimedOut])]
fn recorded(error: ApiError) -> Answer<u32> {
    Err(error)
}

#[circuit_breaker(name = "classes.both", ignore = BusinessError, record = |e| *e != ApiError::Http(1))]
async fn both(error: ApiError) -> Answer<u32> {
    Err(error)
}

#[test]
fn record_makes_the_others_successes() {
    let found = figures("classes.record", || {
        drop((
            recorded(http(404)),
            recorded(http(503)),
            recorded(business()),
        ));
    });
    assert_eq!(found, (3, 1, 0));
    let found = figures("classes.both", || {
        drop((
            now(both(http(1))),
            now(both(http(2))),
            now(both(business())),
        ));
    });
    assert_eq!(found, (2, 1, 1), "`ignore` is asked first");
}

#[circuit_breaker(name = "classes.failure_if", failure_if = |code| *code >= 500, ignore = BusinessError)]
fn failure_if(answer: Answer<u16>) -> Answer<u16> {
    answer
}

#[test]
fn failure_if_judges_values() {
    let found = figures("classes.failure_if", || {
        for answer in [Ok(200), Ok(503), Err(http(1)), Err(business())] {
            drop(failure_if(answer));
        }
    });
    assert_eq!(found, (3, 2, 1));
}

#[circuit_breaker(name = "classes.panics", ignore = |_| panic!("predicate"))]
fn predicate_panics() -> impl Future<Output = Answer<u32>> {
    async { Err(ApiError::Http(1)) }
}

#[test]
fn a_predicate_that_panics_is_a_failure() {
    let found = figures("classes.panics", || {
        std::panic::catch_unwind(|| now(predicate_panics())).unwrap_err();
    });
    assert_eq!(found, (1, 1, 0));
}

#[circuit_breaker(name = "classes.call_error", ignore = [CallError::Failed(Bare(7)), CallError::NotPermitted])]
fn call_error(error: CallError<Bare>) -> Result<u32, CallError<Bare>> {
    Err(error)
}

#[test]
fn variants_of_the_generic_call_error() {
    let found = figures("classes.call_error", || {
        for error in [
            CallError::Failed(Bare(7)),
            CallError::Failed(Bare(8)),
            CallError::FailedValue,
        ] {
            call_error(error).unwrap_err();
        }
    });
    assert_eq!(found, (2, 2, 1));
}

/// An error that wraps one and has another as its source.
#[derive(Debug)]
struct Outer {
    inner: Inner,
    source: BusinessError,
}

#[derive(Debug)]
struct Inner;

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("inner")
    }
}

impl Error for Inner {}

impl std::ops::Deref for Outer {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outer")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

impl From<CallNotPermitted> for Outer {
    fn from(_: CallNotPermitted) -> Self {
        unreachable!("nothing is rejected here")
    }
}

#[circuit_breaker(name = "classes.along_source", ignore = BusinessError)]
fn along_source() -> Result<u32, Outer> {
    let (inner, source) = (Inner, BusinessError);
    Err(Outer { inner, source })
}

#[circuit_breaker(name = "classes.behind", ignore = Inner)]
fn behind() -> Result<u32, Outer> {
    let (inner, source) = (Inner, BusinessError);
    Err(Outer { inner, source })
}

#[test]
fn an_error_that_dereferences_to_another_is_searched_along_both() {
    let both = figures("classes.along_source", || assert!(along_source().is_err()));
    assert_eq!(both, (0, 0, 1));
    let both = figures("classes.behind", || assert!(behind().is_err()));
    assert_eq!(both, (0, 0, 1));
}

#[circuit_breaker(name = "classes.io", ignore = [BusinessError, ApiError::Http(404)])]
fn in_io(error: BoxError) -> Result<u32, BoxError> {
    Err(Box::new(std::io::Error::other(error)))
}

#[test]
fn what_an_io_error_was_made_of_is_found() {
    let calls = || {
        for error in [
            BoxError::from(BusinessError),
            http(404).into(),
            http(500).into(),
        ] {
            assert!(in_io(error).is_err());
        }
    };
    assert_eq!(figures("classes.io", calls), (1, 1, 2));
}
