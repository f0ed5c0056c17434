//! The stays: everything about a breaker that changes with its state, and the transitions.
//!
//! All of this is behind one mutex, so a stay ends once, by one thread, and the events of the
//! transitions queue up in their order. The mutex is not taken by calls in CLOSED, nor by
//! rejections in OPEN.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Nanos, nanos};
use crate::config::{MaxWaitState, Mode, Settings};
use crate::event::{Cause, EventFigures, EventKind};
use crate::layers::Layers;
use crate::policy::{self, Next};
use crate::random::Random;
use crate::state::{State, Word};
use crate::sync::{MutexGuard, Ordering, lock};
use crate::tally::What;

use super::Inner;
use super::history::History;
use super::past::{NO_PAST, Past};
use super::probes::Probes;

/// So many transitions are applied one by one in a single catch-up; beyond that whole rounds are
/// skipped.
const CATCH_UP_LIMIT: u32 = 64;

/// What belongs to the present stay.
pub(crate) struct Stay {
    /// The configuration in force.
    pub(super) layers: Arc<Layers>,
    /// Counts stays from 1.
    pub(crate) number: u64,
    pub(crate) entered: Nanos,
    pub(crate) figures: Figures,
    history: Option<Box<History>>,
    /// See [`Past`].
    past: Option<Box<Past>>,
}

impl Deref for Stay {
    type Target = Past;

    fn deref(&self) -> &Past {
        self.past.as_deref().unwrap_or(&NO_PAST)
    }
}

impl DerefMut for Stay {
    fn deref_mut(&mut self) -> &mut Past {
        self.past.get_or_insert_default()
    }
}

/// Which counts the breaker shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figures {
    /// None.
    Nothing,
    /// Those of the window, as this stay recorded them.
    Window(u64),
    /// Those of the probes of this stay, or of the one before it, which are kept until the next ones.
    Probes,
}

impl Stay {
    pub(crate) fn first(layers: Arc<Layers>, now: Nanos) -> (Self, Word) {
        let settings = layers.settings();
        let state = match settings.mode {
            Mode::Enabled => State::Closed,
            Mode::MetricsOnly => State::MetricsOnly,
            Mode::Disabled => State::Disabled,
            Mode::ForcedOpen => State::ForcedOpen,
        };
        // As if it had been forced open by hand.
        let past = (state == State::ForcedOpen).then(|| {
            Box::new(Past {
                attempt: 1,
                wait: policy::first_wait(settings),
                ..Past::default()
            })
        });
        let stay = Self {
            number: 1,
            entered: now,
            figures: match state {
                State::Closed | State::MetricsOnly => Figures::Window(1),
                _ => Figures::Nothing,
            },
            history: None,
            past,
            layers,
        };
        (stay, Word::in_stay(state, 1))
    }

    pub(super) fn history(&self) -> Option<&History> {
        self.history.as_deref()
    }

    pub(super) fn history_mut(&mut self) -> &mut History {
        self.history.get_or_insert_default()
    }

    /// What this stay goes by.
    pub(crate) fn settings(&self) -> &Settings {
        self.probing.as_ref().unwrap_or(&self.layers).settings()
    }

    /// The same, to keep while the stay changes.
    pub(crate) fn layers(&self) -> Arc<Layers> {
        Arc::clone(self.probing.as_ref().unwrap_or(&self.layers))
    }

    /// In HALF_OPEN: whether there is no permit to give out.
    pub(super) fn is_full(&self) -> bool {
        let settings = self.settings();
        self.probes.issued >= settings.half_open_calls
            || self.probes.in_flight() >= settings.half_open_concurrency
    }

    pub(crate) fn rejected(&self, total: u64) -> u64 {
        total.saturating_sub(self.rejected_before)
    }
}

/// How an entry into OPEN gets its wait.
#[derive(Clone, Copy)]
pub(crate) enum Wait {
    /// From the settings; one more attempt.
    Computed,
    /// Given; the attempts stay as they are.
    Given(Nanos),
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Stay> {
        lock(&self.stay)
    }

    /// Ends the present stay and begins the next, which may be in the same state.
    pub(crate) fn transit(&self, stay: &mut Stay, to: State, wait: Wait, at: Nanos, cause: Cause) {
        let from = self.word().state();
        // Before the word: a call that finds it closed is rejected in the stay that ends.
        self.gate.set_open();
        if matches!(from, State::Closed | State::MetricsOnly) {
            // What was recorded is what OPEN will show.
            self.window.present().freeze(stay.number);
            self.calm.end();
        }
        let entered = stay.entered;
        stay.history_mut().transit((from, entered), (to, at), cause);
        let mut figures = self.figures(stay, at);
        stay.number += 1;
        stay.probing = None;
        self.count_attempt(stay, from, to, wait, at, cause);
        stay.entered = at;
        if from != to || to != State::Open {
            stay.figures = match (from, to) {
                (_, State::Closed | State::MetricsOnly) => Figures::Window(stay.number),
                (State::Closed | State::HalfOpen, State::Open) => stay.figures,
                (_, State::HalfOpen) => Figures::Probes,
                _ => Figures::Nothing,
            };
        }
        if to == State::HalfOpen {
            stay.probes = Probes::default();
        }
        if from == State::HalfOpen && to == State::Closed && cause != Cause::Manual {
            self.rare.begin_ramp(at);
        } else {
            self.rare.end_ramp();
        }
        if matches!(to, State::Closed | State::MetricsOnly) {
            self.shape_window(stay, None);
        }
        if let Some(hanging) = self.rare.hanging() {
            hanging.begin_stay(stay.number, at);
        }
        let rejections_go_on = to == State::Open
            && matches!(
                from,
                State::Closed | State::HalfOpen | State::Open | State::ForcedOpen
            );
        if !rejections_go_on {
            // A rejection that races with the end of its stay may count in either.
            stay.rejected_before = self.tally.total(What::Rejected);
        }
        let word = if to == State::Open {
            stay.opened = Some(cause);
            Word::open(self.birth, at, stay.served_wait)
        } else {
            Word::in_stay(to, stay.number)
        };
        // Release pairs with the load in `word`: who sees the new state sees the window frozen.
        // The deadline is in the word itself. Only the holder of the lock stores.
        self.word.store(word.raw(), Ordering::Release);
        self.begin_admitting(word);
        if from != to {
            figures.wait = (to == State::Open && stay.served_wait != Nanos::MAX)
                .then(|| Duration::from_nanos(stay.served_wait));
            let kind = EventKind::Transition { from, to, cause };
            self.push_with(kind, at, stay.number, Some(figures));
        }
        // Relaxed: `announce` runs in this thread, or in one that has taken the lock since.
        self.unannounced.store(true, Ordering::Relaxed);
    }

    /// Once the word says so: see [`Calm`](super::calm::Calm). The caller has the lock.
    pub(super) fn begin_admitting(&self, word: Word) {
        if word.is_closed() && self.limits.flags().admits() {
            self.calm.begin(word);
        }
    }

    /// Before the stay is entered: `stay.entered` is still that of the one that ends.
    fn count_attempt(
        &self,
        stay: &mut Stay,
        from: State,
        to: State,
        wait: Wait,
        at: Nanos,
        cause: Cause,
    ) {
        let layers = stay.layers();
        let settings = layers.settings();
        match (to, wait) {
            (State::Open, Wait::Given(wait)) => {
                stay.draw = None;
                stay.served_wait = policy::served(wait);
            }
            (State::Open, Wait::Computed) | (State::ForcedOpen, _) => {
                if from == State::HalfOpen && cause != Cause::Manual {
                    stay.failed_stays = stay.failed_stays.saturating_add(1);
                }
                recover(stay, settings, from, at);
                stay.wait = if stay.attempt == 0 {
                    policy::first_wait(settings)
                } else {
                    policy::next_wait(settings, stay.wait)
                };
                stay.attempt += 1;
                let draw = self.draw(stay);
                stay.draw = Some(draw);
                stay.served_wait =
                    policy::served_wait(settings, stay.wait, stay.failed_stays, cause, draw);
            }
            (State::HalfOpen, _) => {}
            _ => {
                let remembers = settings.wait_recover.is_some()
                    && (from, to) == (State::HalfOpen, State::Closed)
                    && cause != Cause::Manual;
                if !remembers {
                    stay.attempt = 0;
                }
                stay.failed_stays = 0;
            }
        }
    }

    /// Applies what the clock has made due, in order, each at its due time. Only the automatic end
    /// of OPEN and the longest HALF_OPEN stay fall due without a call.
    pub(crate) fn settle(&self, stay: &mut Stay, now: Nanos) {
        for step in 0_u32.. {
            let Some(due) = self.due(stay).filter(|due| now >= *due) else {
                break;
            };
            match self.word().state() {
                state @ (State::Closed | State::MetricsOnly) => {
                    // Relaxed: written under the lock from here on.
                    self.rare
                        .things()
                        .warm_at
                        .store(Nanos::MAX, Ordering::Relaxed);
                    self.transit(stay, state, Wait::Computed, due, Cause::Manual);
                }
                State::Open if step >= CATCH_UP_LIMIT => {
                    if !self.skip_rounds(stay, now) {
                        self.transit(stay, State::HalfOpen, Wait::Computed, due, Cause::WaitOver);
                    }
                }
                State::Open => {
                    self.transit(stay, State::HalfOpen, Wait::Computed, due, Cause::WaitOver);
                }
                _ => {
                    self.forget_failures(stay, due);
                    self.follow(
                        stay,
                        policy::half_open_expired(stay.settings(), &stay.probes.returned),
                        due,
                    )
                }
            }
        }
        self.forget_failures(stay, now);
    }

    pub(crate) fn warm_at(&self) -> Nanos {
        self.rare.warm_at()
    }

    /// The random part of a wait; on a test clock the same sequence each time.
    fn draw(&self, stay: &mut Stay) -> f64 {
        let new = || match self.clock.is_test() {
            true => Random::fixed(),
            false => Random::new(),
        };
        stay.random.get_or_insert_with(new).next()
    }

    /// In HALF_OPEN with `half_open_failure_window`.
    fn forget_failures(&self, stay: &mut Stay, now: Nanos) {
        let Some(window) = stay.settings().half_open_failure_window else {
            return;
        };
        if self.word().state() == State::HalfOpen {
            stay.probes.forget(now, window);
        }
    }

    /// How much is left of the pause before the first probe.
    pub(crate) fn rest_of_pause(&self, stay: &Stay, now: Nanos) -> Option<Nanos> {
        let delay = stay.settings().half_open_delay?;
        let rest = stay.entered.saturating_add(delay).saturating_sub(now);
        (rest > 0).then_some(rest)
    }

    /// When the next transition falls due that needs no call.
    pub(crate) fn due(&self, stay: &Stay) -> Option<Nanos> {
        let word = self.word();
        match word.state() {
            State::Open if stay.settings().auto_half_open => word
                .deadline()
                // Never before the stay itself: a deadline that does not fit into the word is an earlier one.
                .map(|deadline| self.birth.saturating_add(deadline).max(stay.entered)),
            State::HalfOpen => self.end_of_half_open(stay).filter(|due| *due != Nanos::MAX),
            State::Closed | State::MetricsOnly => match self.warm_at() {
                0 | Nanos::MAX => None,
                due => Some(due),
            },
            State::Open | State::ForcedOpen | State::Disabled => None,
        }
    }

    /// When the longest HALF_OPEN stay is over. Where the probes decide then, it is counted from the
    /// first one, with the pause before it: a stay in which nobody has asked has learnt nothing, and
    /// ending it could keep in step with calls that come rarely, so that none were ever admitted.
    fn end_of_half_open(&self, stay: &Stay) -> Option<Nanos> {
        let settings = stay.settings();
        let limit = settings.half_open_max_wait?;
        match settings.half_open_max_wait_state {
            MaxWaitState::Open | MaxWaitState::Closed => stay.entered.checked_add(limit),
            MaxWaitState::Decide => {
                let pause = settings.half_open_delay.unwrap_or_default();
                stay.probes.first?.checked_add(limit.saturating_sub(pause))
            }
        }
    }

    pub(crate) fn follow(&self, stay: &mut Stay, next: Next, at: Nanos) {
        match next {
            Next::Stay => {}
            Next::Close(cause) => self.transit(stay, State::Closed, Wait::Computed, at, cause),
            Next::Open(cause) => self.transit(stay, State::Open, Wait::Computed, at, cause),
        }
    }

    /// In OPEN: passes over the rounds of OPEN and HALF_OPEN that are wholly in the past. Nobody
    /// called in any of them, so each ended as the one before. Returns whether there were any.
    fn skip_rounds(&self, stay: &mut Stay, now: Nanos) -> bool {
        let layers = stay.layers();
        let settings = layers.settings();
        let Some(limit) = settings.half_open_max_wait else {
            return false;
        };
        let mut rounds = 0;
        loop {
            let round = stay.served_wait.saturating_add(limit).max(1);
            let past = now.saturating_sub(stay.entered) / round;
            if past == 0 {
                break;
            }
            let next = policy::next_wait(settings, stay.wait);
            // Rounds are alike, but for the random part, while the wait does not grow and the number
            // of failed stays makes no difference.
            let alike = match settings.half_open_attempts {
                _ if next != stay.wait => 1,
                Some(stays) if stay.failed_stays < stays => u64::from(stays - stay.failed_stays),
                _ => past,
            };
            let passed = past.min(alike);
            let (open, half_open) = (stay.served_wait, round.saturating_sub(stay.served_wait));
            stay.history_mut().skip(passed, open, half_open);
            stay.entered += round * passed;
            stay.attempt += passed;
            let failed = u32::try_from(passed).unwrap_or(u32::MAX);
            stay.failed_stays = stay.failed_stays.saturating_add(failed);
            stay.wait = next;
            let draw = self.draw(stay);
            stay.draw = Some(draw);
            stay.served_wait =
                policy::served_wait(settings, next, stay.failed_stays, Cause::WaitOver, draw);
            rounds += passed;
        }
        if rounds == 0 {
            return false;
        }
        // The generation need only rise; those that were skipped have had no permits.
        stay.number += 2;
        self.store_deadline(stay);
        self.push(
            EventKind::CyclesSkipped { cycles: rounds },
            stay.entered,
            stay.number,
        );
        true
    }

    /// The downstream has named the wait of an OPEN stay that a call led to: if that still lasts,
    /// it ends then.
    pub(crate) fn wait_as_asked(&self, number: u64, asked: Duration) {
        /// Where there is no `wait_max`, nobody is waited for longer because they say so.
        const LONGEST: Nanos = 600_000_000_000;
        {
            let mut stay = self.lock();
            if stay.number != number || self.word().state() != State::Open {
                return;
            }
            let cap = match stay.settings().wait_max {
                Nanos::MAX => LONGEST,
                max => max,
            };
            stay.draw = None;
            stay.served_wait = policy::served(nanos(asked).min(cap));
            self.store_deadline(&stay);
            // Relaxed: as in `transit`.
            self.unannounced.store(true, Ordering::Relaxed);
        }
        self.announce();
    }

    /// Lets the world know of what was done under the lock, once that is released.
    pub(crate) fn announce(&self) {
        // Relaxed: see `transit`. The timer's wakers are foreign code, so not under the lock.
        #[cfg(feature = "tokio")]
        if self.unannounced.swap(false, Ordering::Relaxed) {
            self.events.ring();
        }
        self.events.deliver();
    }

    pub(crate) fn push(&self, kind: EventKind, at: Nanos, generation: u64) {
        self.push_with(kind, at, generation, None);
    }

    fn push_with(
        &self,
        kind: EventKind,
        at: Nanos,
        generation: u64,
        figures: Option<EventFigures>,
    ) {
        self.events.push(crate::event::Event {
            breaker: self.name.clone(),
            at: Duration::from_nanos(at),
            generation,
            kind,
            figures,
        });
    }
}

/// With `wait_recover`: forgets openings according to the time that the stay in CLOSED, which ends
/// now, has lasted.
fn recover(stay: &mut Stay, settings: &Settings, from: State, at: Nanos) {
    let Some(each) = settings.wait_recover.filter(|_| from == State::Closed) else {
        return;
    };
    let forgotten = at.saturating_sub(stay.entered) / each.max(1);
    stay.attempt = stay.attempt.saturating_sub(forgotten);
    stay.wait = policy::wait_of(settings, stay.attempt);
}
