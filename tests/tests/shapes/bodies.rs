//! What bodies do: leave early, shadow names, define items.

#![allow(non_snake_case, unused_variables, unused_macros, dead_code)]

use cb_runtime::circuit_breaker;

use crate::{Answer, ApiError, falls_back, now, reach, rejects};

#[circuit_breaker(name = "bodies.early")]
fn early(fail: bool) -> Answer<u32> {
    if !fail {
        return Ok(1);
    }
    for n in 0..3 {
        if n == 2 {
            return reach(true);
        }
    }
    unreachable!()
}

#[circuit_breaker(name = "bodies.early_async", fallback = zero)]
async fn early_async(fail: bool) -> Answer<u32> {
    if !fail {
        return Ok(1);
    }
    std::future::ready(()).await;
    return reach(true);
}

fn zero(_: bool) -> Answer<u32> {
    Ok(0)
}

#[test]
fn early_return() {
    rejects("bodies.early", early);
    falls_back("bodies.early_async", &0, |fail| now(early_async(fail)));
}

struct Lower;

impl From<Lower> for ApiError {
    fn from(_: Lower) -> Self {
        Self::Http(503)
    }
}

fn lower(fail: bool) -> Result<u32, Lower> {
    if fail { Err(Lower) } else { Ok(1) }
}

#[circuit_breaker(name = "bodies.question_mark")]
fn question_mark(fail: bool) -> Answer<u32> {
    Ok(lower(fail)? + reach(fail)?)
}

#[circuit_breaker(name = "bodies.question_mark_async")]
async fn question_mark_async(fail: bool) -> Answer<u32> {
    let one = async { Ok::<_, Lower>(lower(fail)?) }.await?;
    Ok(one + lower(fail)?)
}

#[test]
fn question_marks() {
    rejects("bodies.question_mark", question_mark);
    rejects("bodies.question_mark_async", |fail| {
        now(question_mark_async(fail))
    });
}

#[circuit_breaker(name = "bodies.labels")]
fn labels(fail: bool) -> Answer<u32> {
    let found = 'attempt: {
        'outer: for a in 0..9 {
            for b in 0..9 {
                if a * b == 12 {
                    break 'attempt a;
                }
                if a > 5 {
                    break 'outer;
                }
            }
        }
        0
    };
    reach(fail).map(|one| {
        loop {
            break one + found;
        }
    })
}

#[circuit_breaker(name = "bodies.labels_async", fallback = zero, fallback_on = "failure", timeout = "1s")]
async fn labels_async(fail: bool) -> Answer<u32> {
    let answer = 'attempt: {
        if fail {
            break 'attempt reach(true);
        }
        Ok(2)
    };
    std::future::ready(()).await;
    answer
}

#[test]
fn labelled_breaks() {
    rejects("bodies.labels", labels);
    let scope = cb_runtime::testing::Scope::new();
    assert_eq!(
        (now(labels_async(false)), now(labels_async(true))),
        (Ok(2), Ok(0))
    );
    assert_eq!(scope.breaker("bodies.labels_async").snapshot().failed, 1);
}

#[circuit_breaker(name = "bodies.names")]
async fn names(fail: bool) -> Answer<u32> {
    struct Answer;
    enum ApiError {}
    let (SITE, site, guard, value, body, output, rejection) = (1, 1, 1, 1, 1, 1, 1);
    let (arguments, reason, ended, timeout, outcome) = (0, 0, 0, 0, 0);
    let sum = SITE + site + guard + value + body + output + rejection;
    reach(fail).map(|one| one + sum)
}

#[circuit_breaker(name = "bodies.parameters", fallback = count_names)]
fn names_of_parameters(
    fail: bool,
    site: u8,
    guard: u8,
    value: u8,
    reason: u8,
    arguments: u8,
) -> Answer<u8> {
    reach(fail).map(|_| site + guard + value + reason + arguments)
}

fn count_names(_: bool, site: u8, _: u8, _: u8, _: u8, arguments: u8) -> Answer<u8> {
    Ok(site + arguments)
}

#[test]
fn names_like_those_of_the_expansion() {
    rejects("bodies.names", |fail| now(names(fail)));
    falls_back("bodies.parameters", &6, |fail| {
        names_of_parameters(fail, 1, 2, 3, 4, 5)
    });
}

/// Nothing that the expansion needs has its usual name here.
mod shadowed {
    #![no_implicit_prelude]

    use ::cb_runtime::circuit_breaker;
    use ::std::string::String;
    use ::std::{assert, format};

    enum Result {}
    enum Option {}
    enum Box {}
    trait Send {}
    trait Future {}
    #[allow(non_camel_case_types)]
    struct u32;
    mod core {}
    mod std {}
    mod cb_runtime {}
    fn Ok() {}
    fn Err() {}
    fn Some() {}
    fn None() {}
    macro_rules! matches {
        () => {};
    }
    macro_rules! panic {
        () => {};
    }

    type Answer = ::core::result::Result<String, ::cb_runtime::CallError<u8>>;

    #[circuit_breaker(name = "bodies.shadowed", ignore = |code| ::core::matches!(code, ::cb_runtime::CallError::Failed(7)))]
    pub(super) fn sync(fail: bool) -> Answer {
        if fail {
            return ::core::result::Result::Err(::cb_runtime::CallError::Failed(1));
        }
        ::core::result::Result::Ok(String::new())
    }

    #[circuit_breaker(name = "bodies.shadowed", timeout = "1s", fallback = instead, fallback_on = "failure")]
    pub(super) async fn later(fail: bool) -> Answer {
        assert!(fail);
        ::core::result::Result::Ok(String::new())
    }

    #[circuit_breaker(name = "bodies.shadowed", timeout = "1s", fallback = instead)]
    pub(super) fn made(
        fail: bool,
    ) -> ::core::pin::Pin<::std::boxed::Box<dyn ::core::future::Future<Output = Answer>>> {
        let _ = fail;
        ::std::boxed::Box::pin(::core::future::ready(::core::result::Result::Ok(
            String::new(),
        )))
    }

    fn instead(fail: bool) -> Answer {
        ::core::result::Result::Ok(format!("{fail}"))
    }
}

#[test]
fn shadowed_names() {
    let scope = cb_runtime::testing::Scope::new();
    shadowed::sync(false).unwrap();
    shadowed::sync(true).unwrap_err();
    now(shadowed::later(true)).unwrap();
    now(shadowed::made(true)).unwrap();
    let breaker = scope.breaker("bodies.shadowed");
    assert_eq!(
        (breaker.snapshot().calls, breaker.snapshot().failed),
        (4, 1)
    );
    breaker.force_open();
    shadowed::sync(false).unwrap_err();
    assert_eq!(now(shadowed::later(true)).unwrap(), "true");
    assert_eq!(now(shadowed::made(true)).unwrap(), "true");
}

#[circuit_breaker(name = "bodies.never_ends", fallback = zero)]
fn ends_in_no_value(fail: bool) -> Answer<u32> {
    loop {
        return reach(fail);
    }
}

#[circuit_breaker(name = "bodies.temporaries")]
async fn tail_temporaries(mut lock: std::sync::Arc<std::sync::Mutex<bool>>) -> Answer<u32> {
    lock = lock.clone();
    reach(*lock.lock().unwrap())
}

#[test]
fn bodies_of_other_kinds() {
    falls_back("bodies.never_ends", &0, ends_in_no_value);
    rejects("bodies.temporaries", |fail| {
        now(tail_temporaries(std::sync::Arc::new(fail.into())))
    });
}
