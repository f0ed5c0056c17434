//! The end of a call: outcome, window, decision.

use std::time::Duration;

use crate::clock::Nanos;
use crate::event::{EventKind, Interest, percent};
use crate::outcome::{Mark, OnCancel, Outcome};
use crate::policy::{self, Next, Rules, Verdict};
use crate::state::{State, Word};
use crate::sync::{AtomicU64, Ordering};
use crate::window::{Counts, Recorded};

use super::Inner;
use super::permission::{NOT_MEASURED, Ticket};
use super::stay::{Figures, Stay, Wait};
use super::told::Ending;

/// How a call ended that is to be recorded.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Success,
    Failure,
    /// Recorded only if it was slow.
    Cancelled,
}

/// A call's end, before it is known what the breaker makes of it.
#[derive(Clone, Copy)]
struct Ended {
    end: End,
    now: Nanos,
    duration: Option<Duration>,
}

impl Ended {
    /// What is recorded of it, `slow` being the limit. Without a duration, it was not slow.
    #[inline]
    fn mark(self, slow: Option<Nanos>) -> Option<Mark> {
        let slow = match (slow, self.duration) {
            (Some(limit), Some(duration)) => duration > Duration::from_nanos(limit),
            _ => false,
        };
        match self.end {
            End::Success => Some(Mark::of(false, slow)),
            End::Failure => Some(Mark::of(true, slow)),
            End::Cancelled => slow.then(Mark::cancelled_slow),
        }
    }

    fn event(self) -> EventKind {
        let duration = self.duration;
        match self.end {
            End::Cancelled => EventKind::Cancelled { duration },
            End::Failure => EventKind::Error { duration },
            End::Success => EventKind::Success { duration },
        }
    }
}

impl Inner {
    /// Takes a call's outcome. Returns the number of the OPEN stay that it led to, if it did.
    #[inline]
    pub(crate) fn finish(&self, ticket: Ticket, outcome: Outcome) -> Option<u64> {
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
        if let Some(running) = &self.running {
            if matches!(ticket.word.state(), State::Closed | State::MetricsOnly) {
                running.end(ticket.word.stay(), ticket.start);
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
        let (now, duration) = self.measure(ticket);
        let ended = Ended { end, now, duration };
        self.record(ticket, ended)
    }

    /// The time, if anything needs it, and how long the call took, if it was measured.
    #[inline]
    fn measure(&self, ticket: Ticket) -> (Nanos, Option<Duration>) {
        if ticket.start != NOT_MEASURED {
            let now = self.clock.now();
            (
                now,
                Some(Duration::from_nanos(now.saturating_sub(ticket.start))),
            )
        } else if self.window.needs_time() || ticket.word.state() == State::HalfOpen {
            (self.clock.now(), None)
        } else {
            (0, None)
        }
    }

    #[inline]
    fn record(&self, ticket: Ticket, ended: Ended) -> Option<u64> {
        if let Some(warmup) = self.limits.warmup() {
            // It may have ended since anybody looked.
            self.warm_up(self.time(ended.now), warmup);
        }
        if self.word() != ticket.word {
            self.late(ended.duration);
            return None;
        }
        match ticket.word.state() {
            State::Closed | State::MetricsOnly => self.record_in_window(ticket.word, ended),
            State::HalfOpen => self.record_probe(ticket.word, ended),
            State::Open | State::ForcedOpen | State::Disabled => {
                self.count_end(Ending::Unrecorded, ended.duration);
                None
            }
        }
    }

    #[inline]
    fn record_in_window(&self, word: Word, ended: Ended) -> Option<u64> {
        // Cancelled before it was slow: it leaves no trace.
        let Some(mark) = ended.mark(self.limits.slow()) else {
            self.count_end(Ending::Cancelled, ended.duration);
            return None;
        };
        let recorded = loop {
            match self.window.record(word.stay(), mark, ended.now) {
                Recorded::Frozen => {
                    // Whoever froze the window holds the lock until the verdict is there.
                    drop(self.lock());
                    if self.word() != word {
                        self.late(ended.duration);
                        return None;
                    }
                }
                Recorded::Late => {
                    self.late(ended.duration);
                    return None;
                }
                recorded => break recorded,
            }
        };
        let streak = if mark.failed() {
            self.streak.extend(word.stay())
        } else {
            if !mark.cancelled() {
                self.streak.end(word.stay());
            }
            0
        };
        let published = self.events.wants(Interest::EACH_CALL);
        if published {
            self.count_end(Ending::Recorded(mark), ended.duration);
            self.push(ended.event(), self.time(ended.now), word.stay());
        }
        let judged = recorded == Recorded::Counted
            || self.running.is_some()
            || (self.limits.flags().changed() && self.limits.take_change());
        let opened = if judged {
            self.judge(word, ended.now, streak)
        } else {
            None
        };
        if published {
            self.announce();
        }
        opened
    }

    /// Returns the number of the OPEN stay that this led to.
    pub(super) fn judge(&self, word: Word, now: Nanos, streak: u32) -> Option<u64> {
        if self.limits.warmup().is_some() && self.is_warming(self.time(now)) {
            return None;
        }
        let mut estimate = self.window.estimate(word.stay(), now);
        estimate.add_running(self.overdue(word, now));
        let verdict = policy::closed(&self.limits.rules(), &estimate, streak);
        let matters = match word.state() {
            // Opens nothing, and each rate is announced once a stay.
            State::MetricsOnly => self.exceeded.is_news(word.stay(), verdict),
            _ => verdict.opens(),
        };
        if matters {
            self.confirm(word, now, streak)
        } else {
            None
        }
    }

    /// The calls of this stay that are still running past `slow`, with `count_running`.
    fn overdue(&self, word: Word, now: Nanos) -> u32 {
        match (&self.running, self.limits.slow()) {
            (Some(running), Some(slow)) => running.now(word.stay(), now, slow).overdue,
            _ => 0,
        }
    }

    /// Judges again, on figures that hold still, and acts on it.
    #[cold]
    fn confirm(&self, word: Word, now: Nanos, streak: u32) -> Option<u64> {
        let opened = {
            let mut stay = self.lock();
            // Somebody else may have ended the stay.
            if self.word() != word {
                return None;
            }
            self.window.freeze(stay.number);
            let mut counts = self.window.counts(stay.number, now);
            counts.add_running(self.overdue(word, now));
            let rules = Rules::of(stay.settings());
            let verdict = policy::closed(&rules, &counts, streak);
            self.publish_exceeded(&stay, verdict, &counts, now);
            if word.state() == State::Closed && verdict.opens() {
                let cause = verdict.cause(stay.settings(), &counts, streak);
                self.transit(
                    &mut stay,
                    State::Open,
                    Wait::Computed,
                    self.time(now),
                    cause,
                );
                Some(stay.number)
            } else {
                self.window.thaw(stay.number);
                None
            }
        };
        self.announce();
        opened
    }

    fn publish_exceeded(&self, stay: &Stay, verdict: Verdict, counts: &Counts, now: Nanos) {
        let at = self.time(now);
        let news = self.exceeded.announce(stay.number, verdict);
        if news.failure_rate {
            let rate = percent(counts.failed, counts.total);
            self.push(EventKind::FailureRateExceeded { rate }, at, stay.number);
        }
        if news.slow_rate {
            let rate = percent(counts.slow, counts.total);
            self.push(EventKind::SlowRateExceeded { rate }, at, stay.number);
        }
    }

    fn record_probe(&self, word: Word, ended: Ended) -> Option<u64> {
        let opened = {
            let mut stay = self.lock();
            self.settle(&mut stay, ended.now);
            if self.word() == word {
                let window = stay.settings().half_open_failure_window;
                let Some(mark) = ended.mark(stay.settings().half_open_slow) else {
                    stay.probes.give_back();
                    drop(stay);
                    self.count_end(Ending::Cancelled, ended.duration);
                    self.announce();
                    return None;
                };
                stay.probes.record(mark, ended.now, window);
                stay.history_mut().probe(mark);
                self.count_end(Ending::Recorded(mark), ended.duration);
                stay.figures = Figures::Probes(stay.probes.returned.counts);
                self.push(ended.event(), ended.now, stay.number);
                let next = policy::half_open(stay.settings(), &stay.probes.returned);
                self.follow(&mut stay, next, ended.now);
                matches!(next, Next::Open(_)).then_some(stay.number)
            } else {
                drop(stay);
                self.late(ended.duration);
                None
            }
        };
        self.announce();
        opened
    }

    /// A call that is not recorded gives its permit back, if that was a probe's.
    fn give_back(&self, ticket: Ticket, ignored: bool) {
        let state = ticket.word.state();
        let in_its_stay = if state == State::HalfOpen {
            self.give_back_probe(ticket.word)
        } else {
            self.word() == ticket.word
        };
        let told = self.events.wants(Interest::EACH_CALL);
        let duration = told.then(|| self.measure(ticket).1).flatten();
        if !in_its_stay {
            return self.late(duration);
        }
        if state == State::Disabled {
            self.count_end(Ending::Unrecorded, duration);
        } else if ignored {
            count(&self.ignored);
            self.count_end(Ending::Ignored, duration);
            if told {
                self.publish(EventKind::Ignored { duration });
            }
        } else {
            self.count_end(Ending::Cancelled, duration);
        }
    }

    /// Whether the probe's stay was still going on.
    fn give_back_probe(&self, word: Word) -> bool {
        let in_its_stay = {
            let mut stay = self.lock();
            self.settle(&mut stay, self.clock.now());
            let in_its_stay = self.word() == word;
            if in_its_stay {
                stay.probes.give_back();
            }
            in_its_stay
        };
        self.announce();
        in_its_stay
    }

    #[cold]
    fn late(&self, duration: Option<Duration>) {
        count(&self.late);
        self.count_end(Ending::Late, duration);
        if self.events.wants(Interest::CALLS) && self.word().state() != State::Disabled {
            self.publish(EventKind::Late);
        }
    }

    /// `now`, where no one had to look at the clock before.
    fn time(&self, now: Nanos) -> Nanos {
        if now == 0 { self.clock.now() } else { now }
    }
}

/// Relaxed: totals for reports, nothing else depends on them.
fn count(total: &AtomicU64) {
    total.fetch_add(1, Ordering::Relaxed);
}
