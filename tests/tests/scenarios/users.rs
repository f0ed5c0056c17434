//! Tests of users, and what they take the words to mean.

use std::cell::Cell;
use std::path::Path;
use std::thread;

use cb_runtime::testing::Scope;
use cb_runtime::{Registry, State};

use crate::registry::in_own_process;
use crate::support::*;
use crate::time::each_source;

#[test]
fn ts_01_a_test_drives_a_whole_cycle_without_sleeping() {
    let scope = Scope::new();
    let breaker = scope.breaker("sync");
    let mut seen = vec![breaker.state()];
    for _ in 0..2 {
        guarded(|| DOWN).unwrap_err();
    }
    seen.push(breaker.state());
    scope.clock().advance(s(10));
    guarded(|| {
        seen.push(scope.breaker("sync").state());
        Ok(1)
    })
    .unwrap();
    seen.push(breaker.state());
    assert_eq!(
        seen,
        [State::Closed, State::Open, State::HalfOpen, State::Closed]
    );

    let sleep = ["sleep", "("].concat();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    each_source(&here, &mut |path, text| {
        assert!(!text.contains(&sleep), "{} sleeps", path.display());
    });
}

#[test]
fn ts_02_the_next_call_sees_the_decision() {
    let bench = bench("W=1 M=1");
    bench.fail(1);
    let _ = bench.rejection();
}

#[test]
fn ts_03_tests_do_not_share_state() {
    let barrier = std::sync::Barrier::new(2);
    thread::scope(|threads| {
        for sick in [false, true] {
            let barrier = &barrier;
            threads.spawn(move || {
                let scope = Scope::new();
                for _ in 0..2 {
                    barrier.wait();
                    let _ = guarded(|| if sick { DOWN } else { Ok(1) });
                }
                barrier.wait();
                let expected = if sick { State::Open } else { State::Closed };
                assert_eq!(scope.breaker("sync").state(), expected);
                assert_eq!(scope.breaker("sync").snapshot().calls, 2);
            });
        }
    });
}

#[test]
fn ts_04_breakers_do_not_keep_the_process_alive() {
    if in_own_process("users::ts_04_breakers_do_not_keep_the_process_alive") {
        let registry = Registry::new();
        for number in 0..100 {
            let breaker = registry.create(&number.to_string(), &given("")).unwrap();
            breaker.open().unwrap();
        }
    }
}

#[test]
fn dc_01_a_time_window_is_judged_at_every_outcome() {
    let bench = bench("W=20s M=5");
    for _ in 0..4 {
        bench.fail(1);
        bench.advance(ms(400));
    }
    assert_eq!(bench.state(), State::Closed);
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn dc_02_half_open_calls_nothing_by_itself() {
    let scope = Scope::new();
    let runs = Cell::new(0);
    let call = |answer: Answer| {
        guarded(|| {
            runs.set(runs.get() + 1);
            answer
        })
    };
    until_probe(&scope, "sync", call);
    assert_eq!(runs.take(), 2);
    scope.clock().advance(s(3600));
    let _ = scope.breaker("sync").snapshot();
    assert_eq!(runs.take(), 0);
    call(Ok(1)).unwrap();
    assert_eq!(runs.take(), 1);
}

#[test]
fn dc_03_a_fraction_is_not_taken_for_a_percentage() {
    compile_error("percent_as_fraction", "looks like a fraction");
    compile_error("percent_as_fraction", "write `50` for 50%");
    // The builder takes percentages: half a percent is one in 200.
    let bench = bench("W=200 M=200 T=0.5%");
    bench.succeed(199);
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
}
