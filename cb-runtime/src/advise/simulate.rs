//! One breaker under one course of events. Every call and every end of a call is an event of its
//! own; the time between two events is jumped over, and so are rejections whose end is known.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::breaker::CircuitBreaker;
use crate::clock::{Nanos, TestClock, nanos};
use crate::config::{Config, Mode, Settings};
use crate::error::{CallNotPermitted, ConfigError, Reason};
use crate::event::{Cause, EventKind, Interest};
use crate::outcome::Outcome;
use crate::permit::Permit;
use crate::registry::Registry;
use crate::state::State;
use crate::sync::{Mutex, lock};

/// So many openings are enough to see the waits grow to their cap.
const MANY_OPENINGS: usize = 40;

/// How calls end during the outage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sickness {
    pub(super) ending: Ending,
    /// `None`: never.
    pub(super) after: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    Success,
    Failure,
    Dropped,
}

/// When there is no more to see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Until {
    /// OPEN for the first time.
    Opened,
    /// Each wait is as long as the one before.
    Settled,
    /// CLOSED after the downstream has healed.
    Closed,
}

/// What happens to one breaker. The outage begins with a call.
#[derive(Clone, Debug)]
pub(super) struct Scene<'a> {
    pub(super) config: &'a Config,
    pub(super) settings: &'a Settings,
    /// Calls a second.
    pub(super) rate: f64,
    pub(super) latency: Nanos,
    /// Calls at a time.
    pub(super) places: u64,
    pub(super) sickness: Sickness,
    /// Calls before the outage.
    pub(super) healthy_calls: u64,
    /// After the beginning of the outage.
    pub(super) heals: Option<Nanos>,
    /// The first call is so late.
    pub(super) phase: Nanos,
    /// Random waits drawn before, so that no two instances draw the same ones.
    pub(super) draws: u32,
    /// After the beginning of the outage.
    pub(super) horizon: Nanos,
    /// No more events than this.
    pub(super) effort: u64,
}

/// A transition after the beginning of the outage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    pub(super) at: Nanos,
    pub(super) to: State,
    pub(super) cause: Cause,
    /// In OPEN.
    wait: Option<Duration>,
}

/// What was seen; times count from the beginning of the outage.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) shifts: Vec<Shift>,
    /// When each probe began and ended, in the order of their beginnings.
    pub(super) probes: Vec<(Nanos, Nanos)>,
    /// Calls admitted during the outage.
    pub(super) sent: u64,
    /// Those of them that have ended.
    pub(super) ended: u64,
    /// Most calls under way at the same time, since the outage began.
    pub(super) stuck: u64,
    pub(super) turned_away: u64,
    pub(super) opened_before: bool,
    /// Most calls recorded at the same time before the outage.
    pub(super) recorded: u32,
    pub(super) lasted: Nanos,
    pub(super) events: u64,
}

impl Run {
    pub(super) fn opening(&self) -> Option<&Shift> {
        self.shifts.iter().find(|shift| shift.to == State::Open)
    }

    pub(super) fn openings(&self) -> impl DoubleEndedIterator<Item = &Shift> {
        self.shifts.iter().filter(|shift| shift.to == State::Open)
    }

    /// When it closed for good: it is CLOSED at the end.
    pub(super) fn closed(&self) -> Option<Nanos> {
        let last = self.shifts.last()?;
        (last.to == State::Closed).then_some(last.at)
    }
}

struct Call<'b> {
    ends: Nanos,
    number: u64,
    permit: Permit<'b>,
    probe: bool,
}

struct Running<'s, 'b> {
    scene: &'s Scene<'s>,
    breaker: &'b CircuitBreaker,
    clock: &'b TestClock,
    heard: Arc<Mutex<Vec<(Nanos, State, Cause)>>>,
    began: Nanos,
    heals: Nanos,
    next: u64,
    state: State,
    /// Calls of the healthy downstream and of the sick one, each in the order of their ends.
    good: VecDeque<Call<'b>>,
    bad: VecDeque<Call<'b>>,
    hung: Vec<Permit<'b>>,
    /// When the failed probes of this stay ended.
    failures: Vec<Nanos>,
    run: Run,
}

impl Scene<'_> {
    /// # Errors
    ///
    /// If the configuration makes no sense.
    pub(super) fn run(&self, until: Until) -> Result<Run, ConfigError> {
        let clock = TestClock::new();
        let breaker = Registry::with_clock(&clock).create("advise", self.config)?;
        if self.settings.wait_jitter.is_some() && self.settings.mode == Mode::Enabled {
            for _ in 0..self.draws {
                let _ = breaker.open();
            }
            breaker.reset();
        }
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let subscription = breaker.subscribe(Interest::TRANSITIONS, move |event| {
            if let EventKind::Transition { to, cause, .. } = event.kind {
                lock(&sink).push((nanos(event.at), to, cause));
            }
        });
        let began = at(self.healthy_calls, self.rate);
        let mut running = Running {
            scene: self,
            breaker: &breaker,
            clock: &clock,
            heard,
            began,
            heals: began.saturating_add(self.heals.unwrap_or(Nanos::MAX)),
            next: 0,
            state: breaker.state(),
            good: VecDeque::new(),
            bad: VecDeque::new(),
            hung: Vec::new(),
            failures: Vec::new(),
            run: Run::default(),
        };
        running.go(until);
        drop(subscription);
        Ok(running.run)
    }
}

/// When the call of this number begins.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)] // a float that is too large becomes the maximum
fn at(number: u64, rate: f64) -> Nanos {
    (number as f64 * 1e9 / rate).round() as Nanos
}

impl<'b> Running<'_, 'b> {
    fn arrival(&self, number: u64) -> Nanos {
        at(number, self.scene.rate).saturating_add(self.scene.phase)
    }

    fn go(&mut self, until: Until) {
        let end = self.began.saturating_add(self.scene.horizon);
        while self.run.events < self.scene.effort {
            self.run.events += 1;
            let arrival = self.arrival(self.next);
            let ending = self.next_end();
            let now = ending.map_or(arrival, |ending| ending.min(arrival));
            if now > end {
                self.advance_to(end);
                break;
            }
            self.advance_to(now);
            // As a breaker that somebody watches: what is due by the clock alone happens in time.
            let _ = self.breaker.state();
            // Who ends makes room for who begins at the same instant.
            if ending == Some(now) {
                self.end();
            } else {
                self.begin();
            }
            self.listen();
            if self.over(until) {
                break;
            }
        }
        self.run.lasted = self.now().saturating_sub(self.began);
    }

    fn advance_to(&self, time: Nanos) {
        let by = time.saturating_sub(self.now());
        self.clock.advance(Duration::from_nanos(by));
    }

    fn over(&self, until: Until) -> bool {
        match until {
            Until::Opened => self.run.opening().is_some(),
            Until::Closed => self.state == State::Closed && self.now() >= self.heals,
            Until::Settled => {
                let attempts = self.scene.settings.half_open_attempts.unwrap_or(0);
                let mut waits = self.run.openings().rev().map(|shift| shift.wait);
                let same = waits.next() == waits.next();
                let openings = self.run.openings().count();
                openings >= MANY_OPENINGS || same && openings > 2 + attempts as usize
            }
        }
    }

    fn now(&self) -> Nanos {
        nanos(self.clock.elapsed())
    }

    fn next_end(&self) -> Option<Nanos> {
        let first = [self.good.front(), self.bad.front()];
        first.into_iter().flatten().map(|call| call.ends).min()
    }

    fn end(&mut self) {
        let key = |call: Option<&Call<'_>>| call.map(|call| (call.ends, call.number));
        let (good, bad) = (key(self.good.front()), key(self.bad.front()));
        let is_good = good.is_some() && (bad.is_none() || good < bad);
        let (queue, ending) = if is_good {
            (&mut self.good, Ending::Success)
        } else {
            (&mut self.bad, self.scene.sickness.ending)
        };
        let Some(call) = queue.pop_front() else {
            return;
        };
        if !is_good {
            self.run.ended += 1;
        }
        if call.probe && ending == Ending::Failure {
            self.failures.push(call.ends);
        }
        match ending {
            Ending::Success => call.permit.finish(Outcome::Success),
            Ending::Failure => call.permit.finish(Outcome::Failure),
            Ending::Dropped => drop(call.permit),
        }
        if call.ends < self.began && self.looks() {
            self.run.recorded = self.run.recorded.max(self.breaker.snapshot().calls);
        }
    }

    /// Whether to see how full the window is: not at high rates, where it is full.
    fn looks(&self) -> bool {
        self.run.recorded < self.scene.settings.min_calls
    }

    fn in_flight(&self) -> u64 {
        (self.good.len() + self.bad.len() + self.hung.len()) as u64
    }

    /// A call arrives.
    fn begin(&mut self) {
        let (now, number) = (self.now(), self.next);
        self.next += 1;
        if self.in_flight() >= self.scene.places {
            self.skip_to(self.next_end());
            if now >= self.began {
                self.run.turned_away += self.next - number;
            }
            return;
        }
        let permit = match self.breaker.try_acquire() {
            Ok(permit) => permit,
            Err(rejection) => return self.rejected(&rejection, now),
        };
        self.listen();
        let sick = (self.began..self.heals).contains(&now);
        let after = if sick {
            self.scene.sickness.after
        } else {
            Some(self.scene.latency)
        };
        let ends = after.and_then(|after| now.checked_add(after));
        let probe = self.state == State::HalfOpen && now >= self.began;
        if probe {
            let until = ends.unwrap_or(Nanos::MAX).saturating_sub(self.began);
            self.run.probes.push((now - self.began, until));
        }
        self.run.sent += u64::from(sick);
        match ends {
            None => self.hung.push(permit),
            Some(ends) => {
                let call = Call {
                    ends,
                    number,
                    permit,
                    probe,
                };
                let queue = if sick { &mut self.bad } else { &mut self.good };
                queue.push_back(call);
            }
        }
        if now >= self.began {
            self.run.stuck = self.run.stuck.max(self.in_flight());
        }
    }

    /// Jumps to the time at which a call may be admitted again.
    fn rejected(&mut self, rejection: &CallNotPermitted, now: Nanos) {
        self.listen();
        match rejection.reason() {
            Reason::Open | Reason::Pausing | Reason::ForcedOpen => {
                let rest = rejection.retry_after().map(nanos);
                self.skip_to(rest.map(|rest| now.saturating_add(rest)))
            }
            // The next call may be the one that is admitted.
            // No faults are set in a simulation.
            Reason::Ramping | Reason::Fault => {}
            Reason::HalfOpenFull => {
                let settings = self.scene.settings;
                let probes = self.breaker.snapshot().probes;
                let rest = probes.and_then(|probes| probes.ends_in).map(nanos);
                let over = rest.map(|rest| now.saturating_add(rest));
                let forgotten = settings.half_open_failure_window.and_then(|window| {
                    let ends = self.failures.iter().map(|at| at.saturating_add(window));
                    ends.filter(|at| *at > now).min()
                });
                let wakes = [self.next_end(), over, forgotten];
                self.skip_to(wakes.into_iter().flatten().min())
            }
        }
    }

    /// Passes over the calls that come before this time; `None` is never.
    fn skip_to(&mut self, time: Option<Nanos>) {
        let end = self.began.saturating_add(self.scene.horizon);
        let time = time.map_or(end, |time| time.min(end));
        let seconds = Duration::from_nanos(time.saturating_sub(self.scene.phase)).as_secs_f64();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let about = (seconds * self.scene.rate) as u64;
        let mut number = self.next.max(about.saturating_sub(2));
        while self.arrival(number) < time {
            number += 1;
        }
        self.next = number;
    }

    /// Takes note of the transitions since the last time.
    fn listen(&mut self) {
        let heard = std::mem::take(&mut *lock(&self.heard));
        for (at, to, cause) in heard {
            self.state = to;
            self.failures.clear();
            if at < self.began {
                self.run.opened_before |= to == State::Open;
                continue;
            }
            let wait = (to == State::Open).then(|| self.breaker.snapshot().wait);
            self.run.shifts.push(Shift {
                at: at - self.began,
                to,
                cause,
                wait: wait.flatten(),
            });
        }
    }
}
