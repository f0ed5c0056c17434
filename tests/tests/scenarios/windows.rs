//! The arithmetic of windows and limits.

use std::collections::VecDeque;

use cb_runtime::{Cause, EventKind, Interest, Outcome, State};

use crate::support::*;

#[test]
fn wn_01_a_limit_of_100_percent_is_reached() {
    let failing = bench("M=4 T=100%");
    failing.fail(3);
    assert_eq!(failing.state(), State::Closed);
    failing.fail(1);
    assert_eq!(failing.state(), State::Open);

    let slow = bench("M=4 S=1s TS=100%");
    for _ in 0..4 {
        assert_eq!(slow.state(), State::Closed);
        slow.call_for(s(2), Outcome::Success);
    }
    assert_eq!(slow.state(), State::Open);
}

#[test]
fn wn_02_equality_opens_and_is_exact() {
    for (words, failures, successes, expected) in [
        ("W=100 M=100 T=29%", 29, 71, State::Open),
        ("W=100 M=100 T=53%", 53, 47, State::Open),
        ("W=100 M=100 T=57%", 57, 43, State::Open),
        ("W=100 M=100 T=58%", 58, 42, State::Open),
        ("W=100 M=100 T=29%", 28, 72, State::Closed),
        ("W=5 M=5 T=20%", 1, 4, State::Open),
    ] {
        let bench = bench(words);
        bench.fail(failures);
        bench.succeed(successes);
        assert_eq!(bench.state(), expected, "{words}: {failures}");
    }
    let bench = bench("W=2000 M=2000 T=0.05%");
    bench.succeed(1999);
    assert_eq!(bench.state(), State::Closed);
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn wn_03_a_minimum_above_the_window_is_refused() {
    let error = given("W=5 M=10").validate().unwrap_err();
    assert_eq!((error.field(), error.value()), ("min_calls", "10"));
    assert!(error.to_string().contains("`window`"), "{error}");
    compile_error("min_calls_above_window", "number of calls in the `window`");
}

#[cb_runtime::circuit_breaker(
    name = "large.window",
    window = 100,
    min_calls = 5,
    consecutive_failures = off
)]
fn large_window(ok: bool) -> Answer {
    if ok { Ok(1) } else { DOWN }
}

#[test]
fn wn_04_judging_begins_at_the_minimum_not_at_a_full_window() {
    let scope = cb_runtime::testing::Scope::new();
    let breaker = scope.breaker("large.window");
    for calls in 1..=5 {
        assert_eq!(breaker.state(), State::Closed);
        large_window(false).unwrap_err();
        assert_eq!(breaker.snapshot().calls, calls);
    }
    assert_eq!(breaker.state(), State::Open);
    breaker.reset();
    for ok in [false, true, true, true, false, false] {
        assert_eq!(breaker.state(), State::Closed);
        let _ = large_window(ok);
    }
    assert_eq!(breaker.state(), State::Open, "3 of 6");
}

#[test]
fn wn_05_below_the_minimum_there_is_no_rate() {
    let bench = bench("W=10s M=100");
    for _ in 0..20 {
        bench.fail(1);
        bench.advance(ms(400));
    }
    assert_eq!(bench.state(), State::Closed);
    let now = bench.breaker.snapshot();
    assert_eq!((now.calls, now.failed, now.failure_rate), (20, 20, None));
    assert!(bench.breaker.explain().to_string().contains("min_calls"));
}

/// Ten buckets of a second: a call leaves with its bucket.
#[test]
fn wn_07_a_pause_clears_every_bucket_it_outlasts() {
    for (pause, expected) in [(5_000, 6), (9_999, 2), (10_000, 1), (10_001, 1)] {
        let bench = bench("W=10s B=10 M=1000");
        for _ in 0..9 {
            bench.fail(1);
            bench.advance(s(1));
        }
        bench.fail(1);
        assert_eq!(bench.counts(), (10, 10));
        bench.advance(ms(pause));
        bench.fail(1);
        assert_eq!(bench.counts(), (expected, expected), "after {pause} ms");
    }
}

#[test]
fn wn_08_every_figure_equals_a_recount() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for words in ["W=7 M=7 S=100ms", "W=1s B=5 M=999999 S=100ms"] {
        let bench = Bench::new(&given(words).failure_rate(100.0));
        bench.breaker.metrics_only(); // records, never opens
        let mut all = VecDeque::new();
        for _ in 0..rounds() {
            bench.advance(ms(random(120)));
            let (failed, slow) = (random(3) == 0, random(4) == 0);
            let outcome = if failed {
                Outcome::Failure
            } else {
                Outcome::Success
            };
            bench.call_for(ms(if slow { 101 } else { 100 }), outcome);
            let bucket = bench.clock.elapsed().as_millis() / 200;
            all.push_back((bucket, failed, slow));
            match words.starts_with("W=7") {
                true => all.truncate_front_to(7),
                false => all.retain(|&(one, ..)| one + 5 > bucket),
            }
            let count = |is: &dyn Fn(bool, bool) -> bool| {
                u32::try_from(
                    all.iter()
                        .filter(|&&(_, failed, slow)| is(failed, slow))
                        .count(),
                )
                .unwrap()
            };
            let now = bench.breaker.snapshot();
            assert_eq!(now.calls, count(&|_, _| true));
            assert_eq!(now.failed, count(&|failed, _| failed));
            assert_eq!(now.slow, count(&|_, slow| slow));
            assert_eq!(now.slow_failed, count(&|failed, slow| failed && slow));
            assert_eq!(now.failed + now.successful, now.calls);
        }
    }
}

trait TruncateFront {
    fn truncate_front_to(&mut self, length: usize);
}

impl<T> TruncateFront for VecDeque<T> {
    fn truncate_front_to(&mut self, length: usize) {
        while self.len() > length {
            self.pop_front();
        }
    }
}

#[test]
fn wn_09_the_smallest_windows_work() {
    let second = bench("W=1s B=1");
    for _ in 0..3 {
        second.fail(1);
        assert_eq!(second.counts(), (1, 1));
        second.advance(s(1));
        assert_eq!(second.counts(), (0, 0));
    }
    let call = bench("W=1 M=1");
    call.succeed(1);
    assert_eq!(call.counts(), (1, 0));
    call.fail(1);
    assert_eq!(call.state(), State::Open);
}

#[test]
fn wn_10_windows_slide() {
    let bench = bench("W=10s M=5");
    for _ in 0..10 {
        bench.succeed(1000);
        bench.advance(s(1));
    }
    bench.succeed(100);
    bench.fail(900);
    assert_eq!(bench.state(), State::Closed);
    let now = bench.breaker.snapshot();
    assert_eq!((now.calls, now.failed), (10_000, 900));

    // A burst across an edge.
    let bench = crate::support::bench("W=10s M=8");
    bench.advance(ms(9_900));
    bench.succeed(2);
    bench.fail(5);
    assert_eq!(bench.state(), State::Closed);
    bench.advance(ms(200));
    bench.fail(1);
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn wn_11_rare_failures_do_not_add_up() {
    let window = bench("W=60s");
    for _ in 0..50 {
        window.fail(1);
        window.advance(s(3600));
    }
    assert_eq!(window.state(), State::Closed);
    let row = bench("C=3");
    for _ in 0..50 {
        row.fail(2);
        row.succeed(1);
    }
    assert_eq!(row.state(), State::Closed);
}

#[test]
fn wn_12_a_success_ends_a_row_of_failures() {
    let row = bench("C=2");
    row.fail(1);
    row.succeed(1000);
    row.fail(1);
    assert_eq!(row.state(), State::Closed);
    row.fail(1);
    assert_eq!(row.state(), State::Open);

    let ignored = bench("C=2");
    ignored.fail(1);
    ignored.ignored(1);
    ignored.fail(1);
    assert_eq!(
        ignored.state(),
        State::Open,
        "an ignored call leaves the row as it is"
    );
}

#[test]
fn wn_14_the_wait_grows_whatever_opened() {
    for slow in [false, true] {
        let bench = bench("O=1s X=2 MAX=60s S=1s");
        let bad = |times| {
            for _ in 0..times {
                if slow {
                    bench.call_for(s(2), Outcome::Success);
                } else {
                    bench.fail(1);
                }
            }
        };
        bad(2);
        for expected in [1, 2, 4] {
            assert_eq!(
                bench.breaker.snapshot().wait,
                Some(s(expected)),
                "slow: {slow}"
            );
            bench.advance(s(expected));
            if expected < 4 {
                bad(1);
            }
        }
        bench.succeed(1);
        assert_eq!(bench.state(), State::Closed);
        bad(2);
        assert_eq!(bench.breaker.snapshot().wait, Some(s(1)));
    }
}

#[test]
fn wn_15_only_the_last_calls_count() {
    for words in ["W=500 M=500 T=10%", "W=500 M=500 T=100% N=50"] {
        let bench = bench(words);
        for _ in 0..5 {
            bench.succeed(990);
            bench.fail(10);
        }
        assert_eq!(bench.state(), State::Closed, "{words}");
        bench.fail(39);
        assert_eq!(bench.state(), State::Closed, "{words}");
        bench.fail(1);
        assert_eq!(bench.state(), State::Open, "{words}");
    }
}

#[test]
fn wn_16_a_success_that_completes_the_minimum_is_judged_too() {
    let bench = bench("M=4");
    let log = bench.log(Interest::TRANSITIONS);
    bench.fail(3);
    bench.succeed(1);
    assert_eq!(bench.state(), State::Open);
    let cause = log.take().iter().find_map(|event| match event.kind {
        EventKind::Transition { cause, .. } => Some(cause),
        _ => None,
    });
    assert!(matches!(
        cause,
        Some(Cause::FailureRate {
            failed: 3,
            calls: 4,
            ..
        })
    ));
}
