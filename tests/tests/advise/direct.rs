//! The same outage without `advise`: time goes on in small steps, and in each one everything that
//! is due is done on a breaker.

use std::time::Duration;

use cb_runtime::advise::OutageKind;
use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Config, Permit, Registry, State};
use cb_tests::harness::ms;

/// Everything that is random is a multiple of this.
pub(crate) const STEP: u64 = 5;

/// Traffic in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) period: u64,
    pub(crate) latency: u64,
    pub(crate) timeout: u64,
    pub(crate) slow_latency: u64,
    pub(crate) gives_up: u64,
    pub(crate) concurrency: usize,
}

/// Since the outage began.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) opened: Option<Duration>,
    pub(crate) ended: u64,
    pub(crate) sent: u64,
    pub(crate) stuck: u64,
    pub(crate) turned_away: u64,
    pub(crate) closed: Option<Duration>,
}

pub(crate) struct Direct<'a> {
    pub(crate) config: &'a Config,
    pub(crate) given: Given,
    pub(crate) kind: OutageKind,
    /// Good calls before the outage.
    pub(crate) good: u64,
}

struct Call<'b> {
    ends: u64,
    sick: bool,
    permit: Permit<'b>,
}

impl Direct<'_> {
    fn breaker(&self) -> (TestClock, CircuitBreaker) {
        let clock = TestClock::new();
        let registry = Registry::with_clock(&clock);
        (clock, registry.create("direct", self.config).unwrap())
    }

    fn time(&self, sick: bool) -> u64 {
        match self.kind {
            _ if !sick => self.given.latency,
            OutageKind::Errors => self.given.latency,
            OutageKind::Slow => self.given.slow_latency,
            OutageKind::Hang => self.given.timeout,
            _ => self.given.gives_up,
        }
    }

    fn end(&self, call: Call<'_>) {
        match self.kind {
            _ if !call.sick => call.permit.success(),
            OutageKind::Errors | OutageKind::Hang => call.permit.failure(),
            OutageKind::Slow => call.permit.success(),
            _ => drop(call.permit),
        }
    }

    /// Until it opens, but no longer than this after the outage began.
    pub(crate) fn until_open(&self, limit: Duration) -> Seen {
        self.run(limit, None)
    }

    /// Until it is CLOSED after the healing, but no longer than this after the outage began.
    pub(crate) fn until_closed(&self, healed: Duration, limit: Duration) -> Seen {
        self.run(limit, Some(healed))
    }

    /// Takes note of the state, and says whether there is no more to see.
    fn done(
        &self,
        breaker: &CircuitBreaker,
        since: Duration,
        healed: Option<Duration>,
        seen: &mut Seen,
    ) -> bool {
        let state = breaker.state();
        if state == State::Open && seen.opened.is_none() {
            seen.opened = Some(since);
        }
        match healed {
            None => state == State::Open,
            Some(healed) if since > healed && state == State::Closed => {
                seen.closed = Some(since);
                true
            }
            Some(_) => false,
        }
    }

    /// `healed` is between two steps: the calls of that very instant are still bad.
    fn run(&self, limit: Duration, healed: Option<Duration>) -> Seen {
        let (clock, breaker) = self.breaker();
        let began = self.good * self.given.period;
        let mut seen = Seen::default();
        let mut calls: Vec<Call<'_>> = Vec::new();
        for step in 0.. {
            let now = step * STEP;
            let since = (now >= began).then(|| ms(now - began));
            let healthy = since.is_none_or(|since| healed.is_some_and(|healed| since > healed));
            // Somebody watches it: what is due by the clock alone happens in time.
            let _ = breaker.state();
            while let Some(next) = calls.iter().position(|call| call.ends <= now) {
                let call = calls.remove(next);
                seen.ended += u64::from(call.sick);
                self.end(call);
                if since.is_some() && breaker.state() == State::Open && healed.is_none() {
                    break;
                }
            }
            let over = |since| since > limit || self.done(&breaker, since, healed, &mut seen);
            if since.is_some_and(over) {
                return seen;
            }
            if now.is_multiple_of(self.given.period) {
                if calls.len() >= self.given.concurrency {
                    seen.turned_away += u64::from(since.is_some());
                } else if let Ok(permit) = breaker.try_acquire() {
                    let sick = !healthy;
                    seen.sent += u64::from(sick);
                    let ends = now + self.time(sick);
                    calls.push(Call { ends, sick, permit });
                    if since.is_some() {
                        seen.stuck = seen.stuck.max(calls.len() as u64);
                    }
                }
            }
            // With `count_running` it may have opened at the call.
            if since.is_some_and(|since| self.done(&breaker, since, healed, &mut seen)) {
                return seen;
            }
            clock.advance(ms(STEP));
        }
        seen
    }
}
