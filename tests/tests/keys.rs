//! One breaker for each key, and no more of them than allowed.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CallNotPermitted, ConflictKind, State, circuit_breaker};

type Error = CallError<&'static str>;

const DOWN: Error = CallError::Failed("down");

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Opens at the second failure.
#[circuit_breaker(
    name = "host",
    key = host,
    max_keys = 4,
    window = "10s",
    min_calls = 2,
    consecutive_failures = off
)]
fn call(host: &str, up: bool) -> Result<(), Error> {
    if up { Ok(()) } else { Err(DOWN) }
}

fn open(host: &str) {
    assert_eq!(call(host, false), Err(DOWN));
    assert_eq!(call(host, false), Err(DOWN));
}

fn state(scope: &Scope, host: &str) -> Option<State> {
    scope.registry().keyed("host", host).map(|one| one.state())
}

#[test]
fn a_broken_host_leaves_the_others_alone() {
    let scope = Scope::new();
    open("a");
    let rejection = match call("a", true) {
        Err(CallError::NotPermitted(rejection)) => rejection,
        other => panic!("{other:?}"),
    };
    assert_eq!(rejection.breaker(), "host[a]");
    assert_eq!(rejection.retry_after(), Some(s(10)));
    assert_eq!(call("b", true), Ok(()));
    assert_eq!(state(&scope, "a"), Some(State::Open));
    assert_eq!(state(&scope, "b"), Some(State::Closed));
    assert_eq!(state(&scope, "c"), None, "asking makes nothing");
    let names: Vec<_> = scope
        .registry()
        .breakers()
        .iter()
        .map(|one| one.name().to_owned())
        .filter(|name| name.starts_with("host"))
        .collect();
    assert_eq!(names, ["host[a]", "host[b]"]);
    assert_eq!(scope.breaker("host[a]").state(), State::Open);
}

#[test]
fn the_longest_idle_makes_room() {
    let scope = Scope::new();
    for host in ["a", "b", "c", "d"] {
        call(host, true).unwrap();
        scope.clock().advance(s(1));
    }
    call("a", true).unwrap();
    scope.clock().advance(s(10));
    call("e", true).unwrap();
    assert_eq!(state(&scope, "b"), None, "b was called longest ago");
    for kept in ["a", "c", "d", "e"] {
        assert!(state(&scope, kept).is_some(), "{kept}");
    }
    let figures = scope.registry().key_figures("host").unwrap();
    assert_eq!((figures.keys, figures.max_keys), (4, 4));
    assert_eq!((figures.dropped, figures.overflowed), (1, 0));
}

#[test]
fn no_key_reaches_the_breaker_of_others() {
    let scope = Scope::new();
    for key in ["a", "b", "c", "*"] {
        call(key, true).unwrap();
    }
    assert_eq!(call("*", false), Err(DOWN));
    assert!(matches!(call("*", true), Err(CallError::NotPermitted(_))));
    call("e", true).unwrap();
    let breakers = scope.registry().breakers();
    let open: Vec<_> = breakers
        .iter()
        .filter(|one| one.state() == State::Open)
        .map(|one| one.name())
        .collect();
    assert_eq!(open, ["host[\\*]"]);
    assert_eq!(scope.registry().key_figures("host").unwrap().overflowed, 1);
    assert_eq!(state(&scope, "*"), Some(State::Closed), "that of `e`");
}

#[test]
fn what_protects_is_in_use_or_was_called_lately_stays() {
    let scope = Scope::new();
    open("open");
    open("half-open");
    scope
        .registry()
        .keyed("host", "half-open")
        .unwrap()
        .half_open()
        .unwrap();
    call("forced", true).unwrap();
    scope
        .registry()
        .keyed("host", "forced")
        .unwrap()
        .force_open();
    scope.clock().advance(s(3600));
    call("lately", true).unwrap();
    scope.clock().advance(Duration::from_millis(9_999));

    call("new", true).unwrap();
    assert_eq!(state(&scope, "new"), None);
    let rest = scope.registry().keyed("host", "*").unwrap();
    assert_eq!(rest.name(), "host[*]");
    assert_eq!(rest.snapshot().successful, 1);
    assert_eq!(scope.registry().key_figures("host").unwrap().overflowed, 1);

    scope.clock().advance(s(10));
    call("new", true).unwrap();
    assert_eq!(state(&scope, "new"), Some(State::Closed));
    assert_eq!(state(&scope, "lately"), None);
    assert_eq!(state(&scope, "open"), Some(State::Open));
    assert_eq!(state(&scope, "half-open"), Some(State::HalfOpen));
    assert_eq!(state(&scope, "forced"), Some(State::ForcedOpen));
}

#[circuit_breaker(name = "hang", key = host, max_keys = 1)]
async fn hang(host: u32) -> Result<(), Error> {
    if host == 0 {
        std::future::pending::<()>().await;
    }
    Ok(())
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_call_in_flight_keeps_its_breaker() {
    let scope = Scope::new();
    let keyed = |key| scope.registry().keyed("hang", key);
    let mut hanging = Box::pin(hang(0));
    assert!(
        keyed("0").is_none(),
        "nothing happens before the first poll"
    );
    assert!(poll(hanging.as_mut()).is_pending());
    scope.clock().advance(s(3600));
    assert!(poll(pin!(hang(1))).is_ready());
    assert!(keyed("0").is_some() && keyed("1").is_none());

    drop(hanging);
    scope.clock().advance(s(3600));
    assert!(poll(pin!(hang(1))).is_ready());
    assert!(keyed("0").is_none() && keyed("1").is_some());
}

#[test]
fn a_handle_to_a_dropped_breaker_stays_usable_and_does_not_keep_it() {
    let scope = Scope::new();
    call("old", true).unwrap();
    let old = scope.registry().keyed("host", "old").unwrap();
    scope.clock().advance(s(60));
    for host in ["a", "b", "c", "d"] {
        call(host, true).unwrap();
    }
    assert_eq!(state(&scope, "old"), None);
    old.open().unwrap();
    assert_eq!(old.state(), State::Open);
    assert_eq!(state(&scope, "old"), None);
}

#[test]
fn one_that_is_listened_to_stays() {
    let scope = Scope::new();
    call("heard", true).unwrap();
    let heard = scope.registry().keyed("host", "heard").unwrap();
    let subscription = heard.subscribe(cb_runtime::Interest::ALL, |_| ());
    for host in ["a", "b", "c"] {
        scope.clock().advance(s(1));
        call(host, true).unwrap();
    }
    scope.clock().advance(s(60));
    call("d", true).unwrap();
    assert!(state(&scope, "heard").is_some());
    drop(subscription);
    scope.clock().advance(s(60));
    for host in ["e", "f", "g", "h"] {
        call(host, true).unwrap();
    }
    assert!(state(&scope, "heard").is_none());
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn faulty(host: &str) -> &str {
    assert!(host != "faulty", "no key");
    host
}

#[circuit_breaker(name = "faulty", key = faulty(host))]
fn call_faulty(host: &str) -> Result<(), Error> {
    CALLS.set(CALLS.get() + 1);
    Ok(())
}

#[test]
fn a_key_that_panics_leaks_nothing() {
    let scope = Scope::new();
    let panic = catch_unwind(AssertUnwindSafe(|| call_faulty("faulty")));
    assert!(panic.is_err());
    assert_eq!(CALLS.get(), 0);
    assert_eq!(scope.registry().key_figures("faulty"), None);
    call_faulty("fine").unwrap();
    let snapshot = scope.registry().keyed("faulty", "fine").unwrap().snapshot();
    assert_eq!((snapshot.calls, snapshot.successful), (1, 1));
}

struct Pool {
    shard: u8,
}

impl Pool {
    #[circuit_breaker(name = "pool", key = (self.shard, format!("{table:?}")).1, fallback = Self::none)]
    async fn query(&self, table: String) -> Option<u32> {
        None::<u32>.or(Some(
            u32::from(self.shard) + u32::try_from(table.len()).ok()?,
        ))
    }

    fn none(&self, table: String, why: CallNotPermitted) -> Option<u32> {
        assert_eq!(why.breaker(), format!("pool[{table:?}]"));
        None
    }
}

#[test]
fn the_key_sees_self_and_the_fallback_has_the_parameters() {
    let scope = Scope::new();
    let pool = Pool { shard: 3 };
    let query = || match poll(pin!(pool.query("users".into()))) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("it waits for nothing"),
    };
    assert_eq!(query(), Some(8));
    scope
        .registry()
        .keyed("pool", "\"users\"")
        .unwrap()
        .force_open();
    assert_eq!(query(), None);
}

#[test]
fn keys_may_be_anything() {
    let scope = Scope::new();
    for key in [
        "",
        "]",
        "[",
        "a][b",
        "*",
        "\n\0",
        "ключ",
        &"long".repeat(50),
    ] {
        call(key, true).unwrap();
        let full = match key {
            "*" => "host[\\*]".to_owned(),
            key => format!("host[{key}]"),
        };
        assert_eq!(scope.breaker(&full).name(), full);
        assert!(scope.registry().remove(&full), "{key:?}");
    }
}

#[test]
fn removing_the_name_begins_anew() {
    let scope = Scope::new();
    open("a");
    assert!(scope.registry().remove("host"));
    assert_eq!(state(&scope, "a"), None);
    assert_eq!(call("a", true), Ok(()));
}

#[circuit_breaker(name = "mixed", key = host)]
fn with_key(host: &str) -> Result<(), Error> {
    let _ = host;
    Ok(())
}

#[circuit_breaker(name = "mixed")]
fn without_key() -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_name_with_and_without_a_key_is_a_conflict() {
    let scope = Scope::new();
    with_key("a").unwrap();
    without_key().unwrap();
    let conflicts = scope.registry().conflicts();
    let mixed: Vec<_> = conflicts
        .iter()
        .filter(|one| one.breaker == "mixed")
        .collect();
    assert!(
        matches!(mixed[..], [one] if matches!(one.kind, ConflictKind::KeyedAndNot { .. })),
        "{mixed:?}"
    );
    assert_eq!(scope.breaker("mixed").snapshot().successful, 1);
    assert_eq!(scope.breaker("mixed[a]").snapshot().successful, 1);
}

#[circuit_breaker(name = "many", key = key, max_keys = 8, window = "1s")]
fn many(key: usize) -> Result<(), Error> {
    let _ = key;
    Ok(())
}

/// Threads that make, use and drop breakers at the same time lose no call and exceed no bound.
#[test]
fn makers_and_droppers_race() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 2_000;
    let scope = Scope::new();
    let barrier = Barrier::new(THREADS);
    let (handle, clock) = (scope.handle(), scope.clock().clone());
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let (handle, clock, barrier) = (handle.clone(), clock.clone(), &barrier);
            threads.spawn(move || {
                let _entered = handle.enter();
                for round in 0..ROUNDS {
                    barrier.wait();
                    // All together a new key, and each one of its own.
                    many(round).unwrap();
                    many(1_000_000 + thread * ROUNDS + round).unwrap();
                    if thread == 0 {
                        clock.advance(Duration::from_millis(400));
                    }
                }
            });
        }
    });
    let figures = scope.registry().key_figures("many").unwrap();
    assert!(figures.keys <= 8, "{figures:?}");
    assert!(
        figures.dropped > 1_000,
        "the race has not happened: {figures:?}"
    );
}
