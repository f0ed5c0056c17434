//! Instances that call a downstream, each through a breaker of its own, on a clock that only moves
//! when told to. What the downstream answers is decided when a call arrives there.

use std::collections::BTreeMap;
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, Outcome, Permit, Registry, State};

/// What the downstream does with a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// When it comes.
    pub(crate) after: Duration,
    /// Whether it is one.
    pub(crate) ok: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It reached the downstream.
    Call,
    /// It did, as a probe.
    Probe,
    /// It was rejected.
    Rejected,
}

/// Breakers, one for each instance, and their calls under way.
pub(crate) struct Sim {
    clock: TestClock,
    breakers: Vec<CircuitBreaker>,
    /// By when they end.
    running: BTreeMap<(Duration, u64), (Permit<'static>, Outcome)>,
    calls: u64,
}

impl Sim {
    /// # Panics
    ///
    /// If the configuration is invalid.
    pub(crate) fn new(config: &Config, instances: usize) -> Self {
        let clock = TestClock::new();
        let breaker = |_| {
            // A registry for each: they are different processes.
            let registry = Registry::with_clock(&clock);
            registry.create("drill", config).expect("valid")
        };
        Self {
            breakers: (0..instances).map(breaker).collect(),
            clock,
            running: BTreeMap::new(),
            calls: 0,
        }
    }

    /// The breaker of an instance.
    pub(crate) fn breaker(&self, instance: usize) -> &CircuitBreaker {
        &self.breakers[instance]
    }

    /// Since the beginning.
    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Calls under way.
    pub(crate) fn under_way(&self) -> usize {
        self.running.len()
    }

    /// An instance makes a call now; `answer` is asked if that is permitted.
    pub(crate) fn call(&mut self, instance: usize, answer: impl FnOnce() -> Answer) -> Sent {
        let breaker = &self.breakers[instance];
        let Ok(permit) = breaker.try_acquire_owned() else {
            return Sent::Rejected;
        };
        let probe = breaker.state() == State::HalfOpen;
        let answer = answer();
        let outcome = if answer.ok {
            Outcome::Success
        } else {
            Outcome::Failure
        };
        self.calls += 1;
        let end = self.now().saturating_add(answer.after);
        self.running.insert((end, self.calls), (permit, outcome));
        if probe { Sent::Probe } else { Sent::Call }
    }

    /// Moves the clock; the answers that are due arrive, in order.
    pub(crate) fn advance(&mut self, by: Duration) {
        let until = self.now() + by;
        while let Some(next) = self.running.first_entry() {
            let end = next.key().0;
            if end > until {
                break;
            }
            let (permit, outcome) = next.remove();
            self.clock.advance(end.saturating_sub(self.now()));
            permit.finish(outcome);
        }
        self.clock.advance(until.saturating_sub(self.now()));
    }
}

/// Says yes for a share of the times, evenly spread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share(f64);

impl Share {
    /// `share` is from 0 to 1 and may change from time to time.
    pub(crate) fn of(&mut self, share: f64) -> bool {
        self.0 += share;
        let yes = self.0 >= 1.0;
        if yes {
            self.0 -= 1.0;
        }
        yes
    }
}

/// Says yes at random, the same each time the program runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dice(u64);

impl Dice {
    /// In so many percent of the times.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % 100 < percent
    }
}
