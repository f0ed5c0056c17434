//! The end of a call: outcome, window, decision.

use std::time::Duration;

use crate::clock::{self, Coarse, Nanos};
use crate::event::{EventKind, Interest};
use crate::outcome::{Mark, OnCancel, Outcome};
use crate::policy::{self, Next};
use crate::state::{State, Word};
use crate::sync::{AtomicU64, Ordering};
use crate::watch;
use crate::window::Recorded;

use super::Inner;
use super::limits::Flags;
use super::ticket::Ticket;
use super::told::Ending;

/// How a call ended that is to be recorded.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Success,
    Failure,
    /// Recorded only if it was slow.
    Cancelled,
}

impl End {
    /// What is recorded of it.
    #[inline]
    fn mark(self, slow: bool) -> Option<Mark> {
        match self {
            Self::Success => Some(Mark::of(false, slow)),
            Self::Failure => Some(Mark::of(true, slow)),
            Self::Cancelled => slow.then(Mark::cancelled_slow),
        }
    }

    fn event(self, took: Option<Nanos>) -> EventKind {
        let duration = took.map(Duration::from_nanos);
        match self {
            Self::Cancelled => EventKind::Cancelled { duration },
            Self::Failure => EventKind::Error { duration },
            Self::Success => EventKind::Success { duration },
        }
    }
}

/// What the clock says of a call's end, as far as it was asked.
#[derive(Clone, Copy)]
struct Timing {
    now: Coarse,
    /// How long the call took, where it is known so well that it can be told.
    took: Option<Nanos>,
    slow: bool,
}

/// Once a call came near `slow`, durations are measured precisely for so long.
const NEAR: Nanos = 60_000_000_000;

/// A [glance](clock::glance) in units of about a second, of which 2^32 are 146 years.
#[allow(clippy::cast_possible_truncation)] // as was meant
pub(super) const fn near(glance: Nanos) -> u32 {
    (glance >> 30) as u32
}

impl Inner {
    /// Takes a call's outcome. Returns the number of the OPEN stay that it led to, if it did.
    #[inline]
    pub(crate) fn finish(&self, ticket: Ticket, outcome: Outcome) -> Option<u64> {
        if outcome == Outcome::Success {
            let done = if ticket.is_measured() {
                self.finish_calmly(ticket)
            } else {
                watch::nobody() && self.finish_plainly(ticket.word)
            };
            if done {
                return None;
            }
        }
        self.finish_with_care(ticket, outcome)
    }

    /// Takes a success that was measured, if it changes nothing and surely was not slow, and returns
    /// whether that is so.
    #[inline(never)]
    pub(super) fn finish_calmly(&self, ticket: Ticket) -> bool {
        if !self.limits.flags().coarse() || !watch::nobody() {
            return false;
        }
        let limit = self.limits.slow().unwrap_or(Nanos::MAX);
        // A test's clock is never the coarse one.
        let within = match ticket.glance() {
            Some(began) => {
                let end = Coarse {
                    at: clock::glance(),
                    lag: clock::lag(),
                };
                end.surely_within(Coarse::exactly(began), limit)
            }
            None => self.was_within(ticket, limit),
        };
        // Covered after the clock was read: it is the stay's at the end of the call.
        within && self.calm.covers(ticket.word, true)
    }

    /// Whether a call that began near the limit surely was not slow.
    #[inline(never)]
    fn was_within(&self, ticket: Ticket, limit: Nanos) -> bool {
        let (began, end) = (ticket.began(&self.clock), self.clock.coarse());
        began.is_some_and(|began| end.surely_within(began, limit))
    }

    /// The same, where it is known that none of the short ways is open.
    #[inline(never)]
    pub(crate) fn finish_with_care(&self, ticket: Ticket, outcome: Outcome) -> Option<u64> {
        self.leave(ticket);
        match outcome {
            Outcome::Success => self.end(ticket, End::Success),
            Outcome::Failure => self.end(ticket, End::Failure),
            Outcome::Ignored => {
                self.give_back(ticket, true);
                None
            }
        }
    }

    /// The call is not running any more. Before it is recorded, so that it never counts twice.
    #[inline]
    fn leave(&self, ticket: Ticket) {
        let Some(hanging) = self.rare.counted() else {
            return;
        };
        if matches!(ticket.word.state(), State::Closed | State::MetricsOnly) {
            if let Some(began) = ticket.began(&self.clock) {
                hanging.end(ticket.word.stay(), began.at);
            }
        }
    }

    /// The call was dropped before it ended.
    #[cold]
    pub(crate) fn cancel(&self, ticket: Ticket, on_cancel: OnCancel) {
        self.leave(ticket);
        match on_cancel {
            OnCancel::Failure => {
                let _ = self.end(ticket, End::Failure);
            }
            OnCancel::Ignore => self.give_back(ticket, false),
            OnCancel::Slow => {
                let _ = self.end(ticket, End::Cancelled);
            }
        }
    }

    #[inline]
    fn end(&self, ticket: Ticket, end: End) -> Option<u64> {
        let flags = self.limits.flags();
        if flags.unusual() && self.rare.warmup().is_some() {
            // It may have ended since anybody looked.
            self.end_warm_up(self.clock.now());
        }
        match ticket.word.state() {
            State::Closed | State::MetricsOnly => self.end_recorded(ticket, end, flags),
            State::HalfOpen => self.record_probe(ticket, end),
            State::Open | State::ForcedOpen | State::Disabled => {
                let took = self.took_if_told(ticket);
                if self.word() == ticket.word {
                    self.count_end(Ending::Unrecorded, took);
                } else {
                    self.late(took);
                }
                None
            }
        }
    }

    #[inline]
    fn end_recorded(&self, ticket: Ticket, end: End, flags: Flags) -> Option<u64> {
        let timing = self.time(ticket, flags);
        let measured = ticket.is_measured();
        if end == End::Success
            && !timing.slow
            && self.calm.covers(ticket.word, measured)
            && watch::nobody()
        {
            return None;
        }
        if self.word() != ticket.word {
            self.late(timing.took);
            return None;
        }
        let Some(mark) = end.mark(timing.slow) else {
            // Cancelled before it was slow: it leaves no trace.
            self.count_end(Ending::Cancelled, timing.took);
            return None;
        };
        self.record_in_window(ticket.word, mark, flags, timing, end)
    }

    /// Reads the clock, if anything needs it, and the coarse one if that decides as well.
    #[inline]
    fn time(&self, ticket: Ticket, flags: Flags) -> Timing {
        let window = self.window.present();
        let needed = window.needs_time();
        let mut timing = Timing {
            now: Coarse::UNKNOWN,
            took: None,
            slow: false,
        };
        if ticket.is_measured() {
            self.measure(ticket, flags, &mut timing);
        } else if needed {
            timing.now = self.clock.coarse();
        }
        if needed && timing.now.lag > 0 && !window.is_settled(timing.now) {
            timing.now = Coarse::exactly(self.clock.now());
        }
        timing
    }

    /// Whether the call was slow. Where `slow` is long, the coarse clock tells most of those that were
    /// not. One that may have been makes this and the following calls look at the precise clock, and
    /// is slow itself if it was longer than `slow` whenever in the tick it began.
    #[inline]
    fn measure(&self, ticket: Ticket, flags: Flags, timing: &mut Timing) {
        let Some(began) = ticket.began(&self.clock) else {
            return;
        };
        let limit = self.limits.slow();
        if let Some(limit) = limit.filter(|_| flags.coarse() && watch::nobody()) {
            let end = self.clock.coarse();
            if end.surely_within(began, limit) {
                timing.now = end;
                return;
            }
            // Relaxed: see `admit_measured`.
            let end = clock::glanced(end.at).saturating_add(NEAR);
            let until = near(end).saturating_add(1);
            self.near_until.store(until, Ordering::Relaxed);
        }
        let now = self.clock.now();
        timing.now = Coarse::exactly(now);
        let took = now.saturating_sub(began.at);
        timing.took = Some(took);
        timing.slow = limit.is_some_and(|limit| took > limit.saturating_add(began.lag));
    }

    #[inline]
    fn record_in_window(
        &self,
        word: Word,
        mark: Mark,
        flags: Flags,
        timing: Timing,
        end: End,
    ) -> Option<u64> {
        let mut now = timing.now;
        let recorded = loop {
            // Before the word: see `Present`.
            let window = self.window.present();
            if self.word() != word {
                self.late(timing.took);
                return None;
            }
            if window.needs_time() {
                // Another window than the one that the clock was read for.
                now = self.known(now);
            }
            match window.record(word.stay(), mark, now.at, self.limits.min_calls()) {
                // Whoever froze the window holds the lock until the verdict is there.
                Recorded::Frozen => drop(self.lock()),
                // There is a later window, or a later stay.
                Recorded::Late => {}
                Recorded::Displaced => {
                    if !self.amend(word, mark, timing.took) {
                        return None;
                    }
                    break Recorded::Counted;
                }
                recorded => break recorded,
            }
        };
        let watched = self.events.watches(Interest::EACH_CALL);
        if watched {
            self.count_end(Ending::Recorded(mark), timing.took);
        }
        let published = watched && self.events.wants(Interest::CALLS);
        if published {
            self.push(end.event(timing.took), self.exactly(now), word.stay());
        }
        let opened = self.recorded(word, mark, recorded, flags, now);
        if published {
            self.announce();
        }
        opened
    }

    /// An outcome had its place in a window that has been replaced since: the new one has it as a
    /// success. Puts that right; `false` if the stay is over, and the outcome late.
    #[cold]
    pub(super) fn amend(&self, word: Word, mark: Mark, took: Option<Nanos>) -> bool {
        let stay = self.lock();
        let in_its_stay = self.word() == word;
        if in_its_stay && mark != Mark::SUCCESS {
            let window = self.window.present();
            window.freeze(stay.number);
            window.amend(stay.number, mark);
            window.thaw(stay.number);
        }
        drop(stay);
        if !in_its_stay {
            self.late(took);
        }
        in_its_stay
    }

    /// After an outcome was recorded: what it does to the row of failures and to a calm window. Returns
    /// the failures in a row that it makes.
    #[inline]
    pub(super) fn note(&self, word: Word, mark: Mark) -> u32 {
        let mut streak = 0;
        if mark.failed() {
            streak = self.streak.extend(word.stay());
        } else if !mark.cancelled() {
            self.streak.end(word.stay());
        }
        if mark != Mark::SUCCESS {
            self.calm.disturb();
        }
        streak
    }

    /// What follows from an outcome that was recorded.
    #[inline(never)]
    pub(super) fn recorded(
        &self,
        word: Word,
        mark: Mark,
        recorded: Recorded,
        flags: Flags,
        now: Coarse,
    ) -> Option<u64> {
        let streak = self.note(word, mark);
        if mark == Mark::SUCCESS && recorded == Recorded::Clean && flags.may_be_calm() {
            self.calm_down(word, flags);
        }
        let judged = recorded == Recorded::Counted
            || (flags.unusual() && self.rare.counted().is_some())
            || (flags.changed() && self.limits.take_change());
        if judged {
            self.judge(word, now, streak)
        } else {
            None
        }
    }

    /// Lets the next calls pass by, if the window is full and clean.
    fn calm_down(&self, word: Word, flags: Flags) {
        let window = self.window.present();
        let calm = || window.is_calm(word.stay()) && self.streak.failures(word.stay()) == 0;
        if calm() {
            let same = || self.word() == word && self.limits.flags().same(flags);
            self.calm
                .find_out(word, flags.measured(), || same() && calm());
        }
    }

    fn record_probe(&self, ticket: Ticket, end: End) -> Option<u64> {
        let word = ticket.word;
        let opened = {
            let mut stay = self.lock();
            let now = self.clock.now();
            self.settle(&mut stay, now);
            if self.word() == word {
                self.gate.set_open();
                let settings = stay.settings();
                let (slow, window) = (settings.half_open_slow, settings.half_open_failure_window);
                let took = self.took(ticket, now);
                let is_slow = took.zip(slow).is_some_and(|(took, slow)| took > slow);
                match end.mark(is_slow) {
                    Some(mark) => {
                        stay.probes.record(mark, now, window);
                        stay.history_mut().probe(mark);
                        self.count_end(Ending::Recorded(mark), took);
                        self.push(end.event(took), now, stay.number);
                        let next = policy::half_open(stay.settings(), &stay.probes.returned);
                        self.follow(&mut stay, next, now);
                        matches!(next, Next::Open(_)).then_some(stay.number)
                    }
                    // Cancelled before it was slow.
                    None => {
                        stay.probes.give_back();
                        self.count_end(Ending::Cancelled, took);
                        None
                    }
                }
            } else {
                drop(stay);
                self.late(self.took(ticket, now));
                None
            }
        };
        self.announce();
        opened
    }

    /// How long the call took, if that was measured and somebody wants to know.
    fn took_if_told(&self, ticket: Ticket) -> Option<Nanos> {
        if self.events.watches(Interest::EACH_CALL) {
            self.took(ticket, self.clock.now())
        } else {
            None
        }
    }

    /// How long the call took, if that was measured.
    fn took(&self, ticket: Ticket, now: Nanos) -> Option<Nanos> {
        let began = ticket.began(&self.clock)?;
        Some(now.saturating_sub(began.at))
    }

    /// A call that is not recorded gives its permit back, if that was a probe's.
    fn give_back(&self, ticket: Ticket, ignored: bool) {
        let state = ticket.word.state();
        let in_its_stay = if state == State::HalfOpen {
            self.give_back_probe(ticket.word)
        } else {
            self.word() == ticket.word
        };
        let took = self.took_if_told(ticket);
        if !in_its_stay {
            return self.late(took);
        }
        if state == State::Disabled {
            self.count_end(Ending::Unrecorded, took);
        } else if ignored {
            count(&self.rare.things().ignored);
            self.count_end(Ending::Ignored, took);
            if self.events.watches(Interest::CALLS) {
                let duration = took.map(Duration::from_nanos);
                self.publish(EventKind::Ignored { duration });
            }
        } else {
            self.count_end(Ending::Cancelled, took);
        }
    }

    /// Whether the probe's stay was still going on.
    fn give_back_probe(&self, word: Word) -> bool {
        let in_its_stay = {
            let mut stay = self.lock();
            self.settle(&mut stay, self.clock.now());
            let in_its_stay = self.word() == word;
            if in_its_stay {
                self.gate.set_open();
                stay.probes.give_back();
            }
            in_its_stay
        };
        self.announce();
        in_its_stay
    }

    #[cold]
    pub(super) fn late(&self, took: Option<Nanos>) {
        count(&self.rare.things().late);
        self.count_end(Ending::Late, took);
        if self.events.watches(Interest::CALLS) && self.word().state() != State::Disabled {
            self.publish(EventKind::Late);
        }
    }

    /// `now`, or the time if nobody has looked at a clock.
    pub(super) fn known(&self, now: Coarse) -> Coarse {
        if now.lag == Nanos::MAX {
            Coarse::exactly(self.clock.now())
        } else {
            now
        }
    }

    /// `now`, where the clock that was looked at is exact.
    pub(super) fn exactly(&self, now: Coarse) -> Nanos {
        if now.lag == 0 {
            now.at
        } else {
            self.clock.now()
        }
    }
}

/// Relaxed: totals for reports, nothing else depends on them.
fn count(total: &AtomicU64) {
    total.fetch_add(1, Ordering::Relaxed);
}
