use std::time::Duration;

use crate::breaker::CircuitBreaker;
use crate::clock::TestClock;
use crate::config::{Config, Mode, Window};
use crate::layers::{Layer, Layers};
use crate::registry::Registry;
use crate::state::State;

use super::*;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

struct Bench {
    clock: TestClock,
    breaker: CircuitBreaker,
}

impl Bench {
    fn new(config: &Config) -> Self {
        let clock = TestClock::starting_at(secs(1000));
        let breaker = Registry::with_clock(&clock).create("live", config).unwrap();
        Self { clock, breaker }
    }

    fn change(&self, config: &Config) {
        let (layers, left_out) = Layers::merge([(Layer::Code, config.clone())], None);
        assert!(left_out.is_empty());
        self.breaker.inner.reconfigure(Arc::new(layers));
        self.breaker.inner.announce();
    }

    fn calls(&self, outcomes: &str) {
        for outcome in outcomes.chars() {
            let permit = self.breaker.try_acquire().unwrap();
            if outcome == 'x' {
                permit.failure();
            } else {
                permit.success();
            }
        }
    }

    fn state(&self) -> State {
        self.breaker.state()
    }

    fn retry_after(&self) -> Duration {
        self.breaker.snapshot().retry_after.unwrap()
    }
}

fn ten() -> Config {
    Config::new()
        .window(Window::Calls(10))
        .min_calls(4)
        .consecutive_failures_off()
}

#[test]
fn limits_apply_at_the_next_outcome_also_if_that_is_good() {
    let bench = Bench::new(&ten());
    bench.calls("oooxx");
    bench.change(&ten().failure_rate(30.0));
    assert_eq!(bench.state(), State::Closed);
    bench.calls("o");
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn a_window_that_was_clean_is_judged_by_the_row_it_ends() {
    let bench = Bench::new(&ten().consecutive_failures(3));
    bench.calls("oooooooxx");
    bench.change(&ten().consecutive_failures(2));
    bench.calls("o");
    assert_eq!(bench.state(), State::Closed, "a success has ended the row");
    bench.calls("xx");
    assert_eq!(bench.state(), State::Open);
}

#[test]
fn what_is_going_on_goes_on() {
    let bench = Bench::new(&ten().consecutive_failures(5));
    bench.calls("xox");
    let permit = bench.breaker.try_acquire().unwrap();
    let before = bench.breaker.snapshot();
    bench.change(
        &ten()
            .consecutive_failures(9)
            .failure_rate(99.0)
            .slow(secs(1)),
    );
    let after = bench.breaker.snapshot();
    assert_eq!(after.generation, before.generation);
    assert_eq!(
        (after.calls, after.failed, after.consecutive_failures),
        (3, 2, 1)
    );
    bench.clock.advance(secs(9));
    permit.failure();
    let after = bench.breaker.snapshot();
    assert_eq!((after.calls, after.late), (4, 0));
    assert_eq!(after.slow, 0, "nobody knows when it began");
    assert_eq!(after.consecutive_failures, 2);
}

#[test]
fn the_wait_counts_from_the_entry_and_never_ends_in_the_past() {
    let bench = Bench::new(&ten().wait(secs(10)));
    bench.calls("xxxx");
    bench.clock.advance(secs(4));
    bench.change(&ten().wait(secs(30)));
    assert_eq!(bench.retry_after(), secs(26));
    bench.change(&ten().wait(secs(1)));
    assert_eq!(bench.retry_after(), secs(0));
    assert_eq!(bench.breaker.snapshot().wait, Some(secs(4)));
    bench.calls("o");
    assert_eq!(bench.state(), State::HalfOpen);
}

#[test]
fn the_random_part_of_a_wait_is_drawn_once() {
    let jitter = |wait| ten().wait(secs(wait)).wait_jitter(50.0);
    let bench = Bench::new(&jitter(10));
    bench.calls("xxxx");
    let before = bench.retry_after();
    assert_ne!(before, secs(10));
    bench.change(&jitter(20));
    assert_eq!(bench.retry_after().as_millis(), (2 * before).as_millis());
    bench.change(&jitter(10));
    assert_eq!(bench.retry_after(), before);
}

#[test]
fn a_wait_that_somebody_named_stays() {
    let bench = Bench::new(&ten());
    bench.breaker.open_for(secs(77)).unwrap();
    bench.change(&ten().wait(secs(5)));
    assert_eq!(bench.retry_after(), secs(77));
    bench.breaker.open().unwrap();
    assert_eq!(bench.retry_after(), secs(5));
}

#[test]
fn probes_are_judged_as_it_was_when_they_began() {
    let bench = Bench::new(&ten().half_open_calls(2));
    bench.calls("xxxx");
    bench.clock.advance(secs(10));
    bench.calls("o");
    bench.change(&ten().half_open_calls(5).wait(secs(3)));
    bench.change(&ten().half_open_calls(4).wait(secs(7)));
    assert_eq!(bench.breaker.snapshot().probes.unwrap().permitted, 2);
    bench.calls("x");
    assert_eq!(bench.state(), State::Open);
    assert_eq!(bench.retry_after(), secs(7), "the next stay is a new one's");
    bench.clock.advance(secs(7));
    bench.calls("o");
    assert_eq!(bench.breaker.snapshot().probes.unwrap().permitted, 4);
}

#[test]
fn the_mode_has_had_its_say() {
    let bench = Bench::new(&ten());
    bench.change(&ten().mode(Mode::ForcedOpen));
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn the_configuration_shown_is_the_one_in_force() {
    let bench = Bench::new(&ten());
    bench.change(&ten().min_calls(7));
    let config = bench.breaker.config();
    assert!(
        config
            .iter()
            .any(|one| one.to_string() == "min_calls = 7 (code)")
    );
}

#[test]
fn a_warm_up_lasts_as_long_as_the_new_one() {
    let warm = |seconds| ten().warmup(secs(seconds));
    let bench = Bench::new(&ten());
    bench.change(&warm(10));
    bench.calls("xxxx");
    assert_eq!(bench.state(), State::Closed, "nothing was recorded before");
    bench.clock.advance(secs(4));
    bench.change(&warm(6));
    assert_eq!(bench.breaker.snapshot().warming, Some(secs(2)));
    bench.change(&ten());
    let after = bench.breaker.snapshot();
    assert_eq!((after.warming, after.calls), (None, 0));
    bench.calls("ox");
    bench.change(&warm(10));
    bench.calls("xx");
    assert_eq!(bench.state(), State::Open, "it has long begun to work");
}

#[test]
fn a_ramp_follows() {
    let bench = Bench::new(&ten().half_open_calls(1));
    bench.calls("xxxx");
    bench.clock.advance(secs(10));
    bench.calls("o");
    assert_eq!(bench.state(), State::Closed);
    bench.change(&ten().ramp(secs(100)));
    assert_eq!(bench.breaker.snapshot().admitted, Some(10.0));
    bench.change(&ten());
    assert_eq!(bench.breaker.snapshot().admitted, None);
}

fn of_calls(size: u32) -> Config {
    Config::new()
        .window(Window::Calls(size))
        .min_calls(size.min(4))
        .failure_rate(100.0)
        .consecutive_failures_off()
}

#[test]
fn a_window_of_calls_keeps_the_newest() {
    let bench = Bench::new(&of_calls(8).mode(Mode::MetricsOnly));
    let counts = || {
        let now = bench.breaker.snapshot();
        (now.calls, now.failed)
    };
    bench.calls("xxxxxooxoox");
    assert_eq!(counts(), (8, 4));
    bench.change(&of_calls(5));
    assert_eq!(counts(), (5, 2), "oxoox");
    bench.calls("o");
    assert_eq!(counts(), (5, 2), "xooxo");
    bench.calls("o");
    assert_eq!(counts(), (5, 1), "ooxoo");
    bench.change(&of_calls(20));
    assert_eq!(counts(), (5, 1));
    bench.calls("xxo");
    assert_eq!(counts(), (8, 3));
    bench.change(&of_calls(8));
    assert_eq!(counts(), (8, 3), "ooxooxxo");
    bench.calls("ooo");
    assert_eq!(counts(), (8, 2), "ooxxoooo");
    assert_eq!(bench.breaker.snapshot().generation, 1);
}

#[test]
fn sizes_that_come_and_go_forget_nothing_that_is_new_enough() {
    let bench = Bench::new(&of_calls(30).mode(Mode::MetricsOnly));
    let mut all = String::new();
    for turn in 0..200_usize {
        let outcomes = ["o", "xo", "oox", "", "xxoxo"][turn * turn % 5];
        bench.calls(outcomes);
        all += outcomes;
        let size = [30, 7, 12, 30, 25, 1][turn % 6];
        bench.change(&of_calls(size));
        // No window since has been smaller than that.
        let kept = bench.breaker.snapshot().calls as usize;
        assert!(kept <= size as usize);
        let expected = all
            .chars()
            .rev()
            .take(kept)
            .filter(|one| *one == 'x')
            .count();
        assert_eq!(bench.breaker.snapshot().failed as usize, expected, "{turn}");
    }
}

#[test]
fn a_smaller_window_is_judged_at_the_next_outcome() {
    let bench = Bench::new(&of_calls(10).failure_rate(60.0));
    bench.calls("oooooooxxx");
    bench.change(&of_calls(5).failure_rate(60.0));
    assert_eq!(bench.state(), State::Closed);
    bench.calls("o");
    assert_eq!(bench.state(), State::Open, "oxxxo");
}

#[test]
fn a_window_of_another_kind_begins_empty() {
    let time = |seconds, buckets| {
        ten()
            .window(Window::Time(secs(seconds)))
            .buckets(buckets)
            .failure_rate(100.0)
    };
    let bench = Bench::new(&of_calls(8));
    let counts = || {
        let now = bench.breaker.snapshot();
        (now.calls, now.failed)
    };
    bench.calls("xo");
    bench.change(&time(10, 10));
    assert_eq!(counts(), (0, 0));
    bench.calls("xxo");
    assert_eq!(counts(), (3, 2));
    bench.change(&time(10, 10).slow(secs(1)));
    assert_eq!(counts(), (3, 2), "the same window");
    let slow = bench.breaker.try_acquire().unwrap();
    bench.clock.advance(secs(2));
    slow.success();
    assert_eq!(bench.breaker.snapshot().slow, 1);
    bench.change(&time(20, 10));
    assert_eq!(counts(), (0, 0), "of another length");
    bench.calls("x");
    bench.change(&time(20, 20));
    assert_eq!(counts(), (0, 0), "of other buckets");
    bench.calls("ox");
    bench.clock.advance(secs(19));
    assert_eq!(counts(), (2, 1));
    bench.change(&of_calls(8));
    assert_eq!(counts(), (0, 0));
    bench.calls("x");
    assert_eq!(counts(), (1, 1));
    bench.change(&time(10, 10));
    assert_eq!(counts(), (0, 0), "not what it had long ago");
}

#[test]
fn what_open_shows_stays_until_the_next_stay_records() {
    let bench = Bench::new(&ten().half_open_calls(1));
    bench.calls("xxxx");
    bench.change(&Config::new().half_open_calls(1));
    let now = bench.breaker.snapshot();
    assert_eq!((now.calls, now.failed), (4, 4));
    bench.clock.advance(secs(10));
    bench.calls("o");
    assert_eq!(bench.state(), State::Closed);
    bench.calls("ooo");
    bench.clock.advance(secs(60));
    assert_eq!(
        bench.breaker.snapshot().calls,
        0,
        "it is a window of time now"
    );
}

#[test]
fn a_calm_window_that_grows_fills_up() {
    let bench = Bench::new(&of_calls(3));
    bench.calls("oooooo");
    bench.change(&of_calls(6));
    bench.calls("o");
    assert_eq!(bench.breaker.snapshot().calls, 4);
}

#[test]
fn running_calls_count_from_when_it_is_said() {
    let config = || ten().failure_rate(100.0).slow(secs(1)).slow_rate(100.0);
    let bench = Bench::new(&config());
    let overdue = || bench.breaker.snapshot().overdue;
    let before = bench.breaker.try_acquire().unwrap();
    bench.change(&config().count_running(true));
    assert_eq!(overdue(), Some(0));
    let counted = bench.breaker.try_acquire().unwrap();
    before.success();
    assert_eq!(bench.breaker.snapshot().in_flight, Some(1));
    bench.clock.advance(secs(2));
    assert_eq!(overdue(), Some(1));
    bench.change(&config().count_running(true).slow(secs(10)));
    assert_eq!(overdue(), Some(0), "it is not past the new limit");
    let another = bench.breaker.try_acquire().unwrap();
    counted.success();
    assert_eq!(bench.breaker.snapshot().in_flight, Some(1));
    bench.clock.advance(secs(11));
    assert_eq!(overdue(), Some(1));
    bench.change(&config());
    assert_eq!(overdue(), None);
    another.success();
    bench.change(&config().count_running(true));
    let last = bench.breaker.try_acquire().unwrap();
    bench.clock.advance(secs(2));
    assert_eq!(overdue(), Some(1));
    last.success();
    assert_eq!(overdue(), Some(0));
}

/// Two threads call while the configuration changes all the time. Whatever the window's shape was
/// meanwhile, no outcome is lost from a window that is large enough, and none counts twice.
#[test]
fn nothing_is_lost_or_counted_twice_under_traffic() {
    const CHANGES: u32 = 1_000;
    let large = |size: u32| {
        Config::new()
            .window(Window::Calls(size))
            .min_calls(size)
            .failure_rate(100.0)
            .consecutive_failures_off()
    };
    let bench = Bench::new(&large(60_000));
    let done = std::sync::atomic::AtomicBool::new(false);
    let breaker = &bench.breaker;
    let made: Vec<(u32, u32)> = std::thread::scope(|threads| {
        let callers: Vec<_> = (0..2)
            .map(|thread| {
                let done = &done;
                threads.spawn(move || {
                    let (mut calls, mut failed) = (0, 0);
                    while !done.load(std::sync::atomic::Ordering::Relaxed) && calls < 25_000 {
                        calls += 1;
                        let fails = (calls + thread) % 3 == 0;
                        failed += u32::from(fails);
                        let permit = breaker.try_acquire().unwrap();
                        if fails {
                            permit.failure();
                        } else {
                            permit.success();
                        }
                    }
                    (calls, failed)
                })
            })
            .collect();
        for turn in 0..CHANGES {
            // Never smaller than what both can make, so nothing has to leave.
            bench.change(&large(60_000 + turn % 3));
            std::thread::yield_now();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .collect()
    });
    let now = breaker.snapshot();
    let calls: u32 = made.iter().map(|(calls, _)| calls).sum();
    let failed: u32 = made.iter().map(|(_, failed)| failed).sum();
    assert_eq!((now.calls, now.failed), (calls, failed));
    assert_eq!((now.late, now.generation), (0, 1));
}
