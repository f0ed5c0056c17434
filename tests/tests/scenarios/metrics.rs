//! Figures.

use cb_runtime::testing::Scope;
use cb_runtime::{Interest, Registry, State, circuit_breaker};

use crate::support::*;

#[circuit_breaker(name = "not.called.yet")]
fn not_called_yet() -> Answer {
    Ok(1)
}

#[test]
fn mt_02_breakers_are_listed_before_their_first_call() {
    let scope = Scope::new();
    let listed = scope.registry().breakers();
    let one = listed
        .iter()
        .find(|one| one.name() == "not.called.yet")
        .unwrap();
    assert_eq!((one.state(), one.snapshot().calls), (State::Closed, 0));
    not_called_yet().unwrap();
    assert_eq!(one.snapshot().calls, 1);
}

#[test]
fn mt_03_a_short_opening_shows_in_the_totals() {
    let bench = bench("O=1s");
    let before = bench.breaker.snapshot();
    bench.trip();
    let _ = bench.rejection();
    bench.advance(s(1));
    bench.succeed(1);
    let after = bench.breaker.snapshot();
    assert_eq!((before.state, after.state), (State::Closed, State::Closed));
    assert_eq!(after.not_permitted_total - before.not_permitted_total, 1);
    assert_eq!(after.generation - before.generation, 3, "three transitions");
}

#[test]
fn mt_04_rejections_never_enter_the_window() {
    let bench = bench("W=200 M=2");
    bench.trip();
    let before = bench.counts();
    for _ in 0..100 {
        let _ = bench.rejection();
    }
    assert_eq!(bench.counts(), before);
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.state(), State::Closed);
    assert_eq!(bench.counts(), (0, 0));
    assert_eq!(bench.breaker.snapshot().not_permitted_total, 100);
}

#[circuit_breaker(name = "outer")]
fn outer() -> Answer {
    guarded(|| Ok(1))
}

#[test]
fn mt_05_one_rejection_is_counted_once() {
    let scope = Scope::new();
    scope.breaker("sync").force_open();
    assert!(refused(&outer()));
    assert_eq!(scope.breaker("sync").snapshot().not_permitted_total, 1);
    let outer = scope.breaker("outer").snapshot();
    assert_eq!(
        (outer.calls, outer.failed, outer.not_permitted_total),
        (1, 1, 0)
    );
}

#[test]
fn mt_06_what_is_removed_is_not_read_any_more() {
    let registry = Registry::new();
    let hold = registry.subscribe(Interest::ALL, |_| {});
    for number in 0..1000 {
        let breaker = registry.get_or_create(&number.to_string());
        breaker.call(|| Ok::<(), ()>(())).unwrap();
    }
    assert_eq!(registry.breakers().len(), 1000);
    for number in 0..1000 {
        assert!(registry.remove(&number.to_string()));
    }
    assert!(registry.breakers().is_empty());
    drop(hold);
}
