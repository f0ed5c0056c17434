//! Stuck in HALF_OPEN, or a permit that never came back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use cb_runtime::testing::Scope;
use cb_runtime::{EventKind, Interest, MaxWaitState, Reason, State, circuit_breaker};

use crate::support::*;

#[test]
fn ho_01_ignored_probe_gives_its_permit_back() {
    let scope = Scope::new();
    until_probe(&scope, "sync", |answer| guarded(|| answer));
    assert_eq!(guarded(|| MISSING), MISSING);
    assert_eq!(scope.breaker("sync").state(), State::HalfOpen);
    assert_eq!(guarded(|| Ok(1)), Ok(1));
    assert_eq!(scope.breaker("sync").state(), State::Closed);

    let three = bench("W=10 M=3 P=3");
    three.until_probe();
    three.ignored(3);
    assert_eq!(three.state(), State::HalfOpen);
    three.succeed(3);
    assert_eq!(three.state(), State::Closed);
}

#[test]
fn ho_02_a_probe_that_hangs_does_not_block_for_ever() {
    let bench = bench("H=30s");
    bench.until_probe();
    let hangs = bench.permit();
    assert_eq!(bench.rejection().reason(), Reason::HalfOpenFull);
    bench.advance(s(30));
    // No probe returned: open again, for a whole new wait.
    assert_eq!(bench.state(), State::Open);
    assert_eq!(bench.rejection().retry_after(), Some(s(10)));
    bench.advance(s(10));
    let next = bench.permit();
    hangs.success();
    assert_eq!(bench.state(), State::HalfOpen);
    assert_eq!(bench.in_flight(), Some(1));
    assert_eq!(bench.breaker.snapshot().late, 1);
    next.success();
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn ho_03_a_dropped_probe_gives_its_permit_back_once() {
    let scope = Scope::new();
    until_probe(&scope, "async", |answer| {
        now(guarded_async(async { answer }))
    });
    let probe = hanging(guarded_async(std::future::pending()));
    assert!(refused(&now(guarded_async(async { Ok(1) }))));
    drop(probe);
    assert_eq!(now(guarded_async(async { Ok(1) })), Ok(1));

    until_probe(&scope, "async.two", |answer| {
        now(guarded_two(async { answer }))
    });
    drop(hanging(guarded_two(std::future::pending())));
    assert_eq!(now(guarded_two(async { Ok(1) })), Ok(1));
    let second = hanging(guarded_two(std::future::pending()));
    assert!(refused(&now(guarded_two(async { Ok(1) }))));
    drop(second);
    assert_eq!(now(guarded_two(async { Ok(1) })), Ok(1));
    assert_eq!(scope.breaker("async.two").state(), State::Closed);
}

#[test]
fn ho_05_the_minimum_does_not_keep_a_failed_probe_from_deciding() {
    let bench = bench("W=10s M=5 O=15s");
    bench.fail(5);
    assert_eq!(bench.state(), State::Open);
    bench.advance(s(15));
    assert_eq!(bench.counts(), (0, 0), "the window has aged");
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
    bench.advance(s(15));
    bench.succeed(1);
    assert_eq!(bench.state(), State::Closed);
}

#[circuit_breaker(
    name = "exits",
    min_calls = 1,
    half_open_calls = 5,
    half_open_failures = 5,
    half_open_max_wait = off
)]
fn exits(way: u32) -> Answer {
    if way == 0 {
        return Err(Api::Down);
    }
    let value = 'block: {
        if way == 1 {
            break 'block Err(Api::Down);
        }
        Ok(way)
    };
    let value = value?;
    if way == 2 {
        return Ok(value);
    }
    Ok(value + 1)
}

#[test]
fn ho_06_every_exit_has_one_outcome() {
    let scope = Scope::new();
    let breaker = scope.breaker("exits");
    for (way, failed) in [(0, 1), (1, 1), (2, 0), (3, 0)] {
        breaker.open().unwrap();
        breaker.half_open().unwrap();
        assert_eq!(exits(way).is_err(), failed == 1);
        let now = breaker.snapshot();
        let probes = now.probes.unwrap();
        assert_eq!((probes.returned, probes.in_flight), (1, 0), "way {way}");
        assert_eq!(now.failed, failed, "way {way}");
    }

    let bench = bench("");
    bench.until_probe();
    drop(bench.permit());
    bench.permit().success();
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn ho_07_what_is_left_of_the_wait_is_never_negative() {
    let bench = bench("");
    bench.trip();
    bench.advance(s(25));
    assert_eq!(bench.breaker.snapshot().retry_after, Some(s(0)));
    bench.ignored(1);
    let running = bench.permit();
    let rejection = bench.rejection();
    assert_eq!(rejection.reason(), Reason::HalfOpenFull);
    assert_eq!(rejection.retry_after(), None, "it is not a wait");
    running.ignore();
    bench.permit().success();
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn ho_08_a_panicking_probe_is_a_failure_and_leaves_a_usable_breaker() {
    let scope = Scope::new();
    let panics = || -> Answer { panic!("in the probe") };
    let calls: [(&str, &dyn Fn(bool) -> Answer); 2] = [
        ("sync", &|ok| guarded(|| if ok { Ok(1) } else { panics() })),
        ("async", &|ok| {
            now(guarded_async(
                async move { if ok { Ok(1) } else { panics() } },
            ))
        }),
    ];
    for (name, call) in calls {
        let breaker = scope.breaker(name);
        breaker.open().unwrap();
        scope.clock().advance(s(10));
        catch_unwind(AssertUnwindSafe(|| call(false))).unwrap_err();
        assert_eq!(breaker.state(), State::Open, "{name}");
        assert_eq!(breaker.snapshot().failed, 1, "{name}");
        assert!(refused(&call(true)));
        scope.clock().advance(s(10));
        assert_eq!(call(true), Ok(1));
        assert_eq!(breaker.state(), State::Closed, "{name}");
    }
}

#[test]
fn ho_09_failures_while_open_do_not_move_the_deadline() {
    let bench = bench("C=1");
    let late: Vec<_> = (0..3).map(|_| bench.permit()).collect();
    bench.fail(1);
    for permit in late {
        bench.advance(s(3));
        permit.failure();
    }
    let other = bench.registry.get_or_create("bench");
    assert_eq!(other.snapshot().retry_after, Some(s(1)));
    bench.advance(s(1));
    bench.permit().success();
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn ho_10_asking_takes_nothing() {
    let bench = bench("");
    bench.until_probe();
    for _ in 0..5 {
        assert!(bench.breaker.would_permit());
    }
    let probe = bench.permit();
    assert!(!bench.breaker.would_permit());
    probe.success();
    assert!(bench.breaker.would_permit());
}

#[test]
fn ho_11_probing_goes_on_for_ever() {
    let bench = bench("O=1s X=2 MAX=60s");
    bench.trip();
    let (mut quiet, mut probes) = (0, 0);
    for _ in 0..24 * 3600 {
        bench.advance(s(1));
        quiet += 1;
        if let Ok(permit) = bench.breaker.try_acquire() {
            assert!(quiet <= 60, "{quiet} s without a probe");
            (quiet, probes) = (0, probes + 1);
            permit.failure();
        }
    }
    assert!(probes >= 24 * 60, "{probes}");
    bench.advance(s(60));
    bench.succeed(1);
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn ho_12_no_timer_and_no_runtime_are_needed() {
    let bench = bench("");
    bench.until_probe();
    thread::scope(|scope| scope.spawn(|| bench.succeed(1)).join().unwrap());
    assert_eq!(bench.state(), State::Closed);

    let scope = Scope::new();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let first = runtime();
    for _ in 0..2 {
        first.block_on(guarded_async(async { DOWN })).unwrap_err();
    }
    drop(first);
    scope.clock().advance(s(10));
    let answer = runtime().block_on(guarded_async(async { Ok(1) }));
    assert_eq!(answer, Ok(1));
    assert_eq!(scope.breaker("async").state(), State::Closed);
}

#[test]
fn ho_13_too_few_calls_to_decide_end_the_stay_at_its_limit() {
    for (choice, expected) in [
        (MaxWaitState::Open, State::Open),
        (MaxWaitState::Closed, State::Closed),
        (MaxWaitState::Decide, State::Closed),
    ] {
        let config = given("W=10 M=5 P=5 H=60s").half_open_max_wait_state(choice);
        let bench = Bench::new(&config);
        bench.until_probe();
        bench.succeed(1);
        let log = bench.log(Interest::TRANSITIONS);
        bench.advance(ms(59_999));
        assert_eq!(bench.state(), State::HalfOpen);
        bench.advance(ms(1));
        assert_eq!(bench.state(), expected, "{choice:?}");
        assert_eq!(log.names(), [format!("HALF_OPEN->{expected}")]);
    }
}

#[test]
fn ho_14_so_many_probes_decide_whatever_the_minimum_is() {
    let bench = bench("W=10 M=10 P=1");
    bench.fail(10);
    bench.advance(s(10));
    bench.succeed(1);
    assert_eq!(bench.state(), State::Closed);
}

/// Without `auto_half_open` the state stays OPEN until a call comes; what a filter asks is
/// `would_permit`.
#[test]
fn ho_15_a_filter_sees_that_the_wait_is_over() {
    let targets = [bench(""), bench("")];
    targets[0].trip();
    let usable = || {
        targets
            .iter()
            .filter(|one| one.breaker.would_permit())
            .count()
    };
    assert_eq!(usable(), 1);
    targets[0].advance(s(10));
    assert_eq!(usable(), 2);
    assert_eq!(targets[0].state(), State::Open);

    let auto = Bench::new(&given("").auto_half_open(true));
    auto.trip();
    let log = auto.log(Interest::TRANSITIONS);
    auto.advance(s(10));
    assert_eq!(auto.state(), State::HalfOpen);
    assert!(
        matches!(log.take()[..], [ref one] if matches!(one.kind, EventKind::Transition { .. }))
    );
}
