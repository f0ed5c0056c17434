use std::time::Duration;

use crate::breaker::CircuitBreaker;
use crate::clock::TestClock;
use crate::config::{Config, Window};
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
    bench.change(&ten().mode(crate::config::Mode::ForcedOpen));
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
