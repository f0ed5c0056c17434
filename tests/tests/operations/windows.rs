//! Time windows: buckets on the clock's grid.

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{Config, Registry, State, Window};
use cb_tests::harness::{Bench, NANO, ms, s};

fn time(window: Duration) -> Config {
    Config::new()
        .window(Window::Time(window))
        .min_calls(1000)
        .consecutive_failures_off()
}

/// One success at each of these times; then the recorded calls at `end`.
fn seen(config: &Config, start: Duration, at: &[Duration], end: Duration) -> u32 {
    let clock = TestClock::starting_at(start);
    let breaker = Registry::with_clock(&clock)
        .create("window", config)
        .expect("valid");
    for &at in at {
        clock.advance(start + at - clock.elapsed());
        breaker.try_acquire().expect("CLOSED").success();
    }
    clock.advance(start + end - clock.elapsed());
    breaker.snapshot().calls
}

#[test]
fn a_call_leaves_with_its_bucket() {
    let config = time(s(10));
    // Buckets of a second: the one of the call, and nine more.
    assert_eq!(seen(&config, s(100), &[Duration::ZERO], s(10) - NANO), 1);
    assert_eq!(seen(&config, s(100), &[Duration::ZERO], s(10)), 0);
    // At the end of its second it stays for nine seconds and a little.
    assert_eq!(seen(&config, s(100), &[s(1) - NANO], s(10) - NANO), 1);
    assert_eq!(seen(&config, s(100), &[s(1) - NANO], s(10)), 0);
}

/// The grid is the clock's, not the breaker's.
#[test]
fn the_grid_does_not_begin_with_the_breaker() {
    let config = time(s(10));
    assert_eq!(
        seen(&config, ms(100_900), &[Duration::ZERO], ms(9_100) - NANO),
        1
    );
    assert_eq!(seen(&config, ms(100_900), &[Duration::ZERO], ms(9_100)), 0);
}

/// How long a call is seen that was made at the beginning of a bucket: the window; and at its
/// end: the window less a bucket. So the difference is the bucket.
fn bucket(config: &Config, window: Duration) -> Duration {
    let start = window * 10;
    let mut low = Duration::ZERO;
    let mut high = window;
    // The last instant within the first bucket of `start` is the last that leaves with it.
    while high - low > NANO {
        let middle = low + (high - low) / 2;
        if seen(config, start, &[middle], window.max(middle)) == 0 {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

#[test]
fn buckets_are_a_second_unless_the_window_is_short_or_long() {
    for (window, length) in [
        (ms(500), ms(50)),
        (s(1), ms(100)),
        (s(9), ms(900)),
        (s(10), s(1)),
        (s(30), s(1)),
        (s(60), s(1)),
        (s(120), s(2)),
        (s(3600), s(60)),
    ] {
        assert_eq!(
            bucket(&time(window), window),
            length,
            "a window of {window:?}"
        );
    }
    assert_eq!(bucket(&time(s(6)).buckets(2), s(6)), s(3));
}

#[test]
fn a_gap_longer_than_the_window_leaves_nothing() {
    let calls: Vec<_> = (0..20).map(s).collect();
    assert_eq!(seen(&time(s(10)), s(100), &calls, s(19)), 10);
    for gap in [s(29), s(30), s(86_400), s(20 * 365 * 86_400)] {
        assert_eq!(seen(&time(s(10)), s(100), &calls, gap), 0, "{gap:?}");
    }
}

/// A round trip of the ring must not bring old calls back.
#[test]
fn a_year_of_one_call_a_day_is_one_call() {
    let days: Vec<_> = (0..365).map(|day| s(day * 86_400)).collect();
    for window in [s(10), s(30), s(3600)] {
        assert_eq!(
            seen(&time(window), Duration::ZERO, &days, s(364 * 86_400)),
            1
        );
    }
}

#[test]
fn ageing_alone_never_opens() {
    let config = Config::new()
        .window(Window::Time(s(10)))
        .min_calls(2)
        .consecutive_failures_off();
    let bench = Bench::new(&config);
    bench.succeed(3);
    bench.advance(s(5));
    bench.fail(2);
    bench.advance(s(5));
    // The successes are gone, all that is left has failed.
    let snapshot = bench.breaker.snapshot();
    assert_eq!((snapshot.calls, snapshot.failure_rate), (2, Some(100.0)));
    assert_eq!(bench.breaker.state(), State::Closed);
    // The next outcome is judged with what is left, even a success.
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Open);
}

#[test]
fn a_call_is_recorded_when_it_ends() {
    let bench = Bench::new(&time(s(10)));
    let permit = bench.permit();
    bench.advance(s(60));
    permit.success();
    assert_eq!(bench.breaker.snapshot().calls, 1);
}

#[test]
fn in_open_the_window_goes_on_ageing_but_not_the_probes() {
    let config = Config::new()
        .window(Window::Time(s(10)))
        .min_calls(2)
        .half_open_calls(2);
    let bench = Bench::new(&config.wait(s(60)));
    bench.fail(2);
    assert_eq!(bench.breaker.snapshot().failed, 2);
    bench.advance(s(10));
    assert_eq!(bench.breaker.state(), State::Open);
    assert_eq!(bench.breaker.snapshot().failed, 0);
    bench.advance(s(50));
    bench.fail(1);
    bench.advance(s(20));
    assert_eq!(bench.breaker.snapshot().failed, 1);
    bench.fail(1);
    bench.advance(s(50));
    let snapshot = bench.breaker.snapshot();
    assert_eq!((snapshot.state, snapshot.failed), (State::Open, 2));
}
