//! `explain()` in fixed situations: each must name the rule, the limit, the figure, and what comes
//! next.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, MaxWaitState, Mode, Registry, Window};

struct Rig {
    clock: TestClock,
    breaker: CircuitBreaker,
}

impl Rig {
    fn new(config: Config) -> Self {
        let clock = TestClock::new();
        let breaker = Registry::with_clock(&clock)
            .create("stock", &config)
            .unwrap();
        Self { clock, breaker }
    }

    fn fail(&self, times: u32) -> &Self {
        for _ in 0..times {
            let _ = self.breaker.call(|| Err::<(), _>("down"));
        }
        self
    }

    fn succeed(&self, times: u32) -> &Self {
        for _ in 0..times {
            self.breaker.call(|| Ok::<_, ()>(())).unwrap();
        }
        self
    }

    fn slow(&self, times: u32, ms: u64) -> &Self {
        for _ in 0..times {
            let permit = self.breaker.try_acquire().unwrap();
            self.pass(ms);
            permit.success();
        }
        self
    }

    fn pass(&self, ms: u64) -> &Self {
        self.clock.advance(Duration::from_millis(ms));
        self
    }

    /// Every phrase, on lines in this order.
    #[track_caller]
    fn says(&self, phrases: &[&str]) {
        let text = self.breaker.explain().to_string();
        let mut rest = text.as_str();
        for phrase in phrases {
            match rest.find(phrase) {
                Some(at) => rest = &rest[at + phrase.len()..],
                None => panic!("{phrase:?} is missing, or out of order, in:\n{text}"),
            }
        }
    }

    #[track_caller]
    fn is_silent_on(&self, phrase: &str) {
        let text = self.breaker.explain().to_string();
        assert!(!text.contains(phrase), "{phrase:?} is in:\n{text}");
    }
}

fn calls(window: u32) -> Config {
    Config::new()
        .window(Window::Calls(window))
        .consecutive_failures_off()
}

#[test]
fn fresh_and_closed() {
    Rig::new(Config::new()).says(&[
        "`stock` is CLOSED for 0s",
        "No rate is judged: the last 30s hold 0 recorded calls, `min_calls` is 10.",
        "slow calls are not noticed: `slow` is off",
        "consecutive_failures: 0 in a row; 10 would open it",
    ]);
}

#[test]
fn all_failing_below_the_minimum_with_nothing_else_armed() {
    let rig = Rig::new(Config::resilience4j());
    rig.fail(60).says(&[
        "CLOSED",
        "the last 100 calls hold 60 recorded calls, `min_calls` is 100",
        "60 of them failed",
        "`consecutive_failures` is off, so nothing else would open it",
    ]);
}

#[test]
fn closed_with_rates_judged() {
    let config = calls(20).slow(Duration::from_secs(2)).failure_count(15);
    let rig = Rig::new(config);
    rig.succeed(13).fail(5).slow(2, 2001).says(&[
        "failure_rate: 5 of 20 calls in the last 20 calls failed (25%); 50% would open it",
        "slow_rate: 2 of 20 calls took longer than 2s (10%); 50% would open it",
        "failure_count: 5 failures in the last 20 calls; 15 would open it",
    ]);
    rig.is_silent_on("consecutive");
}

#[test]
fn ignored_calls_are_named() {
    let rig = Rig::new(Config::new());
    for _ in 0..7 {
        rig.breaker.try_acquire().unwrap().ignore();
    }
    rig.says(&[
        "hold 0 recorded calls",
        "Ignored calls, which count nowhere: 7",
    ]);
}

#[test]
fn opened_by_the_failure_rate() {
    let rig = Rig::new(calls(10).wait(Duration::from_secs(10)));
    rig.succeed(5).fail(5).pass(3500).fail(2).says(&[
        "`stock` is OPEN for 3.5s",
        "It opened because: 5 of 10 calls failed (50%), `failure_rate` is 50%",
        "The first call in 6.5s or later is a probe (wait 10s, opening 1 in a row)",
        "2 calls rejected so far",
    ]);
}

#[test]
fn opened_by_slow_calls() {
    let rig = Rig::new(
        calls(4)
            .slow(Duration::from_millis(500))
            .auto_half_open(true),
    );
    rig.slow(4, 501).says(&[
        "4 of 4 calls were slow (100%), `slow_rate` is 50%",
        "It becomes HALF_OPEN in 10s",
    ]);
}

#[test]
fn opened_by_a_streak_and_by_a_count() {
    let rig = Rig::new(Config::new().consecutive_failures(3));
    rig.fail(3)
        .says(&["3 calls in a row failed, as many as `consecutive_failures`"]);
    let rig = Rig::new(calls(50).min_calls(50).failure_count(3));
    rig.fail(1).succeed(5).fail(2);
    rig.says(&["3 calls in the window failed, `failure_count` is 3"]);
}

#[test]
fn open_and_the_wait_is_over_or_has_no_end() {
    let rig = Rig::new(calls(2).wait(Duration::from_millis(1500)));
    rig.fail(2).pass(2000);
    rig.says(&[
        "OPEN",
        "The wait of 1.5s is over; the next call is let through as a probe",
    ]);
    let rig = Rig::new(calls(2).wait(Duration::MAX));
    rig.fail(2)
        .says(&["It waits until it is told otherwise: the wait has no end"]);
}

#[test]
fn half_open() {
    let rig = Rig::new(
        calls(10)
            .half_open_calls(4)
            .half_open_max_wait(Duration::from_secs(20)),
    );
    rig.fail(10).pass(10_000).fail(1).succeed(1);
    let _running = rig.breaker.try_acquire().unwrap();
    rig.pass(5000).says(&[
        "`stock` is HALF_OPEN for 5s",
        "It was opened because: 10 of 10 calls failed",
        "2 of 4 probes returned (1 failed, 0 slow), 1 is under way; 4 decide",
        "It opens again if 50% of them fail, else it closes",
        "In 15s at the latest (`half_open_max_wait`) those that have returned decide",
    ]);
}

#[test]
fn half_open_without_a_limit_and_with_others() {
    let config = calls(2).half_open_calls(1).half_open_max_wait_off();
    let rig = Rig::new(config.clone());
    rig.fail(2).pass(10_000);
    let _hanging = rig.breaker.try_acquire().unwrap();
    rig.fail(3).says(&[
        "0 of 1 probe returned",
        "1 is under way; 1 decides",
        "It waits for them without limit: `half_open_max_wait` is off",
        "3 calls rejected so far",
    ]);
    for (state, text) in [
        (MaxWaitState::Open, "it opens"),
        (MaxWaitState::Closed, "it closes"),
    ] {
        let limit = config.clone().half_open_max_wait(Duration::from_secs(90));
        let rig = Rig::new(
            limit
                .half_open_max_wait_state(state)
                .slow(Duration::from_secs(1)),
        );
        rig.fail(2).pass(10_000);
        let _hanging = rig.breaker.try_acquire().unwrap();
        rig.says(&[
            "or 50% are slow",
            "In 90s at the latest (`half_open_max_wait`)",
            text,
        ]);
    }
}

#[test]
fn by_hand() {
    let rig = Rig::new(calls(2).mode(Mode::ForcedOpen));
    rig.fail(4).says(&[
        "FORCED_OPEN",
        "rejects every call (4 so far) until it is closed by hand",
    ]);
    rig.breaker.disable();
    rig.says(&[
        "DISABLED",
        "permits every call and records none until it is enabled by hand",
    ]);
    rig.breaker.close();
    rig.breaker.open().unwrap();
    rig.says(&["OPEN", "It opened because: by hand"]);
}

#[test]
fn metrics_only_says_what_would_happen() {
    let rig = Rig::new(calls(4).mode(Mode::MetricsOnly));
    rig.fail(4).says(&[
        "METRICS_ONLY",
        "records and reports but never rejects",
        "4 of 4 calls in the last 4 calls failed (100%); 50% would open it if it were enabled",
    ]);
}

#[test]
fn late_calls_are_named() {
    let rig = Rig::new(calls(2));
    let begun_before = rig.breaker.try_acquire().unwrap();
    rig.fail(2);
    begun_before.failure();
    rig.says(&[
        "OPEN",
        "Calls that ended after the stay they began in, and count nowhere: 1",
    ]);
}

/// Also where the gate is closed and nobody watches: then rejections take a shorter way.
#[test]
fn says_that_probes_keep_their_own_calls_out() {
    let clock = TestClock::new();
    let config = Config::new().half_open_calls(1);
    let breaker = Registry::with_clock(&clock)
        .create("stock", &config)
        .unwrap();
    breaker.open().unwrap();
    clock.advance(Duration::from_secs(10));
    let _ = breaker.call(|| {
        for _ in 0..3 {
            assert!(breaker.call(|| Ok::<_, ()>(())).is_err());
        }
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(breaker.call(|| Ok::<_, ()>(())).is_err()));
        });
        Err::<(), _>(())
    });
    let shown = breaker.snapshot();
    assert_eq!(
        (shown.rejected_within_probes, shown.not_permitted_total),
        (3, 4)
    );
    let told = breaker.explain().to_string();
    assert!(
        told.contains("3 calls rejected within its own probes"),
        "{told}"
    );
}
