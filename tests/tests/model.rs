//! The engine against the naive breaker of `cb_tests::naive`, on random settings and operations.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    CircuitBreaker, Config, EventKind, Interest, MaxWaitState, Permit, Reason, Registry, State,
    Subscription, Window,
};
use cb_tests::naive::{self, AtLimit, Naive, Told};
use proptest::prelude::*;
use proptest::test_runner::Config as Runs;

#[path = "model/given.rs"]
mod given;

use given::{Given, Step};

fn config(given: &Given) -> Config {
    let settings = &given.settings;
    let mut config = Config::new()
        .min_calls(u32::try_from(settings.min_calls).expect("small"))
        .failure_rate(f64::from(u16::try_from(settings.failure_rate).expect("small")) / 10.0)
        .on_cancel(settings.on_cancel)
        .wait(Duration::from_nanos(settings.wait))
        .auto_half_open(settings.auto_half_open)
        .half_open_calls(u32::try_from(settings.half_open_calls).expect("small"))
        .half_open_max_wait_state(match settings.at_limit {
            AtLimit::Decide => MaxWaitState::Decide,
            AtLimit::Open => MaxWaitState::Open,
            AtLimit::Closed => MaxWaitState::Closed,
        });
    config = match (settings.window, given.default_buckets) {
        (naive::Window::Calls(calls), _) => {
            config.window(Window::Calls(u32::try_from(calls).expect("small")))
        }
        (naive::Window::Time { bucket, buckets }, default) => {
            let config = config.window(Window::Time(Duration::from_nanos(bucket * buckets)));
            if default {
                config
            } else {
                config.buckets(u32::try_from(buckets).expect("small"))
            }
        }
    };
    config = match settings.slow {
        Some(slow) => {
            let rate = f64::from(u16::try_from(settings.slow_rate).expect("small")) / 10.0;
            config.slow(Duration::from_nanos(slow)).slow_rate(rate)
        }
        None => config.slow_off(),
    };
    config = match settings.failure_count {
        Some(count) => config.failure_count(u32::try_from(count).expect("small")),
        None => config.failure_count_off(),
    };
    config = match settings.consecutive_failures {
        Some(count) => config.consecutive_failures(u32::try_from(count).expect("small")),
        None => config.consecutive_failures_off(),
    };
    config = match settings.wait_max {
        Some(max) => {
            let halves = u16::try_from(settings.wait_multiplier).expect("small");
            config
                .wait_max(Duration::from_nanos(max))
                .wait_multiplier(f64::from(halves) / 2.0)
        }
        None => config.wait_max_off(),
    };
    match settings.half_open_max_wait {
        Some(limit) => config.half_open_max_wait(Duration::from_nanos(limit)),
        None => config.half_open_max_wait_off(),
    }
}

/// Both breakers side by side.
struct Pair {
    clock: TestClock,
    breaker: CircuitBreaker,
    naive: Naive,
    permits: Vec<(usize, Permit<'static>)>,
    calls: usize,
    heard: Arc<Mutex<Vec<Heard>>>,
    compared: usize,
    _subscription: Subscription,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Heard {
    Told(Told),
    Skipped(u64),
}

impl Pair {
    fn new(given: &Given) -> Self {
        let clock = TestClock::starting_at(Duration::from_nanos(given.start));
        let registry = Registry::with_clock(&clock);
        let breaker = registry
            .create("model", &config(given))
            .expect("the settings are valid");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let subscription = breaker.subscribe(Interest::TRANSITIONS, move |event| {
            sink.lock().expect("no panic").push(match event.kind {
                EventKind::Transition { from, to, .. } => Heard::Told(Told::Transition(from, to)),
                EventKind::FailureRateExceeded { .. } => Heard::Told(Told::FailureRateExceeded),
                EventKind::SlowRateExceeded { .. } => Heard::Told(Told::SlowRateExceeded),
                EventKind::Reset => Heard::Told(Told::Reset),
                EventKind::CyclesSkipped { cycles } => Heard::Skipped(cycles),
                _ => return,
            });
        });
        Self {
            naive: Naive::new(given.settings.clone(), given.start),
            clock,
            breaker,
            permits: Vec::new(),
            calls: 0,
            heard,
            compared: 0,
            _subscription: subscription,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_nanos()).expect("not that late")
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let now = self.now();
        match step {
            Step::Acquire => {
                self.calls += 1;
                let permitted = self.naive.acquire(self.calls, now);
                match self.breaker.try_acquire_owned() {
                    Ok(permit) => {
                        prop_assert!(permitted, "the engine permits, the model does not");
                        self.permits.push((self.calls, permit));
                    }
                    Err(rejection) => {
                        prop_assert!(!permitted, "the engine rejects, the model does not");
                        let (state, left) = (self.naive.state(now), self.naive.retry_after(now));
                        let reason = match state {
                            State::Open => Reason::Open,
                            State::ForcedOpen => Reason::ForcedOpen,
                            _ => Reason::HalfOpenFull,
                        };
                        prop_assert_eq!(rejection.reason(), reason);
                        prop_assert_eq!(rejection.retry_after(), left.map(Duration::from_nanos));
                    }
                }
            }
            Step::Finish(which, outcome) => {
                if self.permits.is_empty() {
                    return Ok(());
                }
                let (call, permit) = self.permits.swap_remove(which.index(self.permits.len()));
                self.naive.finish(call, outcome, now);
                match outcome {
                    Some(outcome) => permit.finish(outcome),
                    None => drop(permit),
                }
            }
            Step::Advance(by) => self.clock.advance(Duration::from_nanos(by)),
            Step::AdvanceToDeadline { short_by } => {
                let left = self.naive.retry_after(now).unwrap_or(0);
                self.clock
                    .advance(Duration::from_nanos(left.saturating_sub(short_by)));
            }
            Step::Reset => {
                self.naive.reset(now);
                self.breaker.reset();
            }
            Step::ByHand(to) => {
                let legal = self.naive.by_hand(to, None, now);
                let done = match to {
                    State::Open => self.breaker.open().is_ok(),
                    State::HalfOpen => self.breaker.half_open().is_ok(),
                    State::ForcedOpen => {
                        self.breaker.force_open();
                        true
                    }
                    State::Disabled => {
                        self.breaker.disable();
                        true
                    }
                    State::MetricsOnly => {
                        self.breaker.metrics_only();
                        true
                    }
                    _ => {
                        self.breaker.close();
                        true
                    }
                };
                prop_assert_eq!(done, legal, "to {} by hand", to);
            }
            Step::OpenFor(wait) => {
                let legal = self.naive.by_hand(State::Open, Some(wait), now);
                prop_assert_eq!(
                    self.breaker.open_for(Duration::from_nanos(wait)).is_ok(),
                    legal
                );
            }
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<(), TestCaseError> {
        let now = self.now();
        prop_assert_eq!(self.breaker.state(), self.naive.state(now));
        let shown = self.breaker.snapshot();
        let counts = self.naive.counts(now);
        let figures = naive::Counts {
            calls: shown.calls.into(),
            failed: shown.failed.into(),
            slow: shown.slow.into(),
            slow_failed: shown.slow_failed.into(),
            successful: shown.successful.into(),
            cancelled: shown.cancelled.into(),
        };
        prop_assert_eq!(figures, counts);
        prop_assert_eq!(shown.not_permitted, self.naive.not_permitted());
        prop_assert_eq!(shown.late, self.naive.late(), "late outcomes");
        prop_assert_eq!(shown.attempt, self.naive.attempt(), "attempt");
        if matches!(shown.state, State::Closed | State::MetricsOnly) {
            let streak = u64::from(shown.consecutive_failures);
            prop_assert_eq!(streak, self.naive.failures_in_a_row(), "failures in a row");
        }
        prop_assert_eq!(
            shown.in_state_for,
            Duration::from_nanos(self.naive.in_state_for(now))
        );
        prop_assert_eq!(
            shown.retry_after,
            self.naive.retry_after(now).map(Duration::from_nanos),
            "retry_after"
        );
        prop_assert_eq!(
            self.breaker.would_permit(),
            self.naive.would_permit(now),
            "would_permit"
        );
        let rate = |part: u64| {
            let exact = |n: u64| f64::from(u32::try_from(n).expect("small"));
            (counts.calls >= self.naive.min_calls().max(1))
                .then(|| exact(part) * 100.0 / exact(counts.calls))
        };
        prop_assert_eq!(shown.failure_rate, rate(counts.failed), "failure rate");
        prop_assert_eq!(
            shown.slow_rate.unwrap_or(0.0),
            rate(counts.slow).unwrap_or(0.0)
        );
        self.compare_told()
    }

    fn compare_told(&mut self) -> Result<(), TestCaseError> {
        let heard = std::mem::take(&mut *self.heard.lock().expect("no panic"));
        let told = &self.naive.told[self.compared..];
        self.compared = self.naive.told.len();
        let skipped: u64 = heard
            .iter()
            .map(|h| if let Heard::Skipped(n) = h { *n } else { 0 })
            .sum();
        if skipped == 0 {
            let told: Vec<_> = told.iter().copied().map(Heard::Told).collect();
            prop_assert_eq!(heard, told);
        } else {
            // A round is two transitions, and its one event is no transition.
            prop_assert!(
                heard.len() > 64,
                "rounds are skipped after 64 transitions only"
            );
            let transitions = heard.iter().filter(|h| matches!(h, Heard::Told(_))).count() as u64;
            prop_assert_eq!(
                transitions + 2 * skipped,
                told.len() as u64,
                "after {:?}",
                heard
            );
            let last = told.last().copied().map(Heard::Told);
            prop_assert_eq!(
                heard.iter().rfind(|h| matches!(h, Heard::Told(_))),
                last.as_ref()
            );
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(Runs { cases: 4000, failure_persistence: None, ..Runs::default() })]

    #[test]
    fn the_engine_does_what_the_naive_breaker_does(given in given::given()) {
        let mut pair = Pair::new(&given);
        for &(step, look) in &given.steps {
            pair.step(step)?;
            if look {
                pair.compare()?;
            }
        }
        pair.compare()?;
    }
}
