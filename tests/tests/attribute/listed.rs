//! Guarded functions are in the registry before their first call, wherever they stand. Nothing here
//! is ever called.
#![allow(dead_code)]

use cb_runtime::{CallError, circuit_breaker, registry};

type Reply = Result<u32, CallError<String>>;

#[circuit_breaker(name = "listed.free")]
fn free() -> Reply {
    Ok(1)
}

#[circuit_breaker(name = "listed.async", timeout = "2s", min_calls = 7)]
async fn asynchronous() -> Reply {
    Ok(1)
}

#[circuit_breaker(name = "listed.future")]
fn future() -> impl Future<Output = Reply> {
    async { Ok(1) }
}

#[circuit_breaker(name = "listed.generic")]
fn generic<T, const N: usize>(_: [T; N]) -> Reply {
    Ok(1)
}

fn outer() {
    fn inner() {
        #[circuit_breaker(name = "listed.nested")]
        fn nested() -> Reply {
            Ok(1)
        }
    }
    let _closure = || {
        #[circuit_breaker(name = "listed.in_closure")]
        fn nested() -> Reply {
            Ok(1)
        }
    };
}

trait Service<T> {
    #[circuit_breaker(name = "listed.default")]
    fn default_method(&self, _: T) -> Reply {
        Ok(1)
    }
}

struct Holder<T>(T);

impl<T> Holder<T> {
    #[circuit_breaker(name = "listed.method")]
    fn method(&self) -> Reply {
        Ok(1)
    }
}

macro_rules! guarded {
    ($name:ident, $breaker:literal) => {
        #[circuit_breaker(name = $breaker)]
        fn $name() -> Reply {
            Ok(1)
        }
    };
}

guarded!(made, "listed.made");

// Two of one name, one below the other in the order of lines.
guarded!(shared_first, "listed.shared");
guarded!(shared_second, "listed.shared");

#[test]
fn all_are_listed_before_their_first_call() {
    let listed: Vec<_> = registry()
        .breakers()
        .iter()
        .map(|breaker| breaker.name().to_owned())
        .filter(|name| name.starts_with("listed."))
        .collect();
    let wanted = [
        "async",
        "default",
        "free",
        "future",
        "generic",
        "in_closure",
        "made",
        "method",
        "nested",
        "shared",
    ];
    assert_eq!(listed, wanted.map(|name| format!("listed.{name}")));
}

#[test]
fn one_that_was_never_called_has_its_own_configuration() {
    let chosen = registry().get("listed.async").unwrap().config();
    let min_calls = chosen.iter().find(|one| one.setting == "min_calls");
    assert_eq!(min_calls.map(|one| one.value.as_str()), Some("7"));
}
