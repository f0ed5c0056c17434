//! Annotated functions, one for each case.

use cb_runtime::{CallError, CircuitBreaker, circuit_breaker, registry};

use super::{KEYS, answer, fill_half_open, keys, state, turn};
use crate::case::Case;
use crate::subject::{List, Through, Who};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const US: Who = Who::Ours(Through::Attribute);

type Guarded = Result<u64, CallError<Down>>;

#[circuit_breaker(name = "attribute.closed", window = 100)]
fn closed(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.tenth", window = 100)]
fn tenth(n: u64) -> Guarded {
    fail_tenth(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.slow_far", window = 100, slow = "2s")]
fn slow_far(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.slow_near", window = 100, slow = "50ms")]
fn slow_near(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.time")]
fn time(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.time_tenth")]
fn time_tenth(n: u64) -> Guarded {
    fail_tenth(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.open", window = 100, wait = "24h")]
fn open(n: u64) -> Guarded {
    forbidden(n).map_err(CallError::Failed)
}

#[circuit_breaker(
    name = "attribute.half_open_full",
    window = 100,
    half_open_calls = 1,
    half_open_max_wait = "24h"
)]
fn half_open_full(n: u64) -> Guarded {
    forbidden(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.metrics_only", window = 100, mode = "metrics_only")]
fn metrics_only(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.asynchronous", window = 100)]
async fn asynchronous(n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

#[circuit_breaker(name = "attribute.keyed", key = host, max_keys = 10_000, window = 100)]
fn keyed(host: &str, n: u64) -> Guarded {
    succeed(n).map_err(CallError::Failed)
}

fn breaker(name: &str) -> CircuitBreaker {
    registry()
        .get(name)
        .expect("annotated functions are listed before their first call")
}

pub(super) fn add(list: &mut List) {
    let told = |name: &'static str, failing| move || state(&breaker(name), failing);
    list.sync(
        Case::Closed,
        US,
        |n| answer(closed(n)),
        told("attribute.closed", false),
    );
    list.sync(
        Case::Tenth,
        US,
        |n| answer(tenth(n)),
        told("attribute.tenth", true),
    );
    list.sync(
        Case::SlowFar,
        US,
        |n| answer(slow_far(n)),
        told("attribute.slow_far", false),
    );
    list.sync(
        Case::SlowNear,
        US,
        |n| answer(slow_near(n)),
        told("attribute.slow_near", false),
    );
    list.sync(
        Case::Time,
        US,
        |n| answer(time(n)),
        told("attribute.time", false),
    );
    list.sync(
        Case::TimeTenth,
        US,
        |n| answer(time_tenth(n)),
        told("attribute.time_tenth", true),
    );

    breaker("attribute.open").open().expect("it is CLOSED");
    list.sync(
        Case::Open,
        US,
        |n| answer(open(n)),
        told("attribute.open", false),
    );
    fill_half_open(&breaker("attribute.half_open_full"));
    let full = told("attribute.half_open_full", false);
    list.sync(Case::HalfOpenFull, US, |n| answer(half_open_full(n)), full);

    let measured = told("attribute.metrics_only", false);
    list.sync(Case::MetricsOnly, US, |n| answer(metrics_only(n)), measured);
    let waited = told("attribute.asynchronous", false);
    list.asynchronous(
        Case::Async,
        US,
        async |n| answer(asynchronous(n).await),
        waited,
    );

    let hosts = keys();
    let last = hosts[0].clone();
    let of_key = move || {
        let figures = registry().key_figures("attribute.keyed");
        match registry().keyed("attribute.keyed", &last) {
            Some(breaker) if figures.is_some_and(|it| it.overflowed == 0 && it.dropped == 0) => {
                state(&breaker, false)
            }
            _ => format!("short of keys: {figures:?}"),
        }
    };
    let call = move |n| answer(keyed(&hosts[turn(n, KEYS)], n));
    list.sync(Case::Keys, US, call, of_key);
}
