//! Permission to make a call.

use std::time::Duration;

use crate::clock::Nanos;
use crate::error::{CallNotPermitted, Reason};
use crate::event::{Cause, EventKind, Interest};
use crate::fault;
use crate::state::{State, Word};
use crate::sync::Ordering;

use super::Inner;
use super::stay::{Stay, Wait};

/// The right to make one call, and when it was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// The breaker's word when permission was given: the mark of the stay.
    pub(super) word: Word,
    /// `NOT_MEASURED` where no duration is needed.
    pub(super) start: Nanos,
}

impl Ticket {
    pub(crate) fn start(self) -> Option<Duration> {
        (self.start != NOT_MEASURED).then(|| Duration::from_nanos(self.start))
    }

    #[inline]
    pub(crate) fn is_probe(self) -> bool {
        self.word.state() == State::HalfOpen
    }
}

pub(super) const NOT_MEASURED: Nanos = Nanos::MAX;

impl Inner {
    #[inline]
    pub(crate) fn word(&self) -> Word {
        // Acquire pairs with the stores in `transit` and `skip_rounds`.
        Word::from_raw(self.word.load(Ordering::Acquire))
    }

    /// Asks for permission. In CLOSED that is one load, and a look at the clock only with `slow`.
    #[inline]
    pub(crate) fn admit(&self) -> Result<Ticket, CallNotPermitted> {
        let word = self.word();
        if word.is_closed() && !self.limits.flags().unusual() {
            Ok(self.ticket(word))
        } else {
            self.admit_unless_rejected()
        }
    }

    #[inline]
    fn ticket(&self, word: Word) -> Ticket {
        let counted = self.events.wants(Interest::EACH_CALL);
        let measured = self.limits.flags().measured()
            || (counted && self.events.wants(Interest::DURATIONS))
            || fault::any();
        if counted {
            self.count_begin();
        }
        Ticket {
            word,
            start: if measured {
                self.clock.now()
            } else {
                NOT_MEASURED
            },
        }
    }

    fn admit_unless_rejected(&self) -> Result<Ticket, CallNotPermitted> {
        loop {
            let word = self.word();
            match word.state() {
                State::Disabled => return Ok(self.ticket(word)),
                State::Closed | State::MetricsOnly => {
                    if let Some(answer) = self.admit_recorded(word) {
                        return answer;
                    }
                }
                State::ForcedOpen => return Err(self.reject(Reason::ForcedOpen, None, None)),
                State::Open => {
                    let Some(deadline) = word.deadline() else {
                        return Err(self.reject(Reason::Open, None, None));
                    };
                    // One read of the clock decides and is what the rejection reports.
                    let now = self.clock.now();
                    let rest = self.birth.saturating_add(deadline).saturating_sub(now);
                    if rest > 0 {
                        let rest = Some(Duration::from_nanos(rest));
                        return Err(self.reject(Reason::Open, rest, Some(now)));
                    }
                    if let Some(ticket) = self.end_wait(word, now) {
                        return Ok(ticket);
                    }
                }
                State::HalfOpen => {
                    if let Some(answer) = self.admit_probe(word) {
                        return answer;
                    }
                }
            }
        }
    }

    /// In CLOSED and METRICS_ONLY, with the rules that look at each call. `None` if the stay is over.
    fn admit_recorded(&self, word: Word) -> Option<Result<Ticket, CallNotPermitted>> {
        if !self.limits.flags().unusual() {
            return Some(Ok(self.ticket(word)));
        }
        let now = self.clock.now();
        if let Some(warmup) = self.limits.warmup() {
            self.warm_up(now, warmup);
            if self.word() != word {
                return None;
            }
        }
        if self.running.is_some() && !self.is_warming(now) {
            // What hangs may have to open it, before another call joins.
            let _ = self.judge(word, now, 0);
            if self.word() != word {
                return None;
            }
        }
        if let Some(length) = self.limits.ramp().filter(|_| word.is_closed()) {
            if !self.ramp.admit(now, length) {
                return Some(Err(self.reject(Reason::Ramping, None, Some(now))));
            }
        }
        let ticket = self.ticket(word);
        if let Some(running) = &self.running {
            running.begin(word.stay(), ticket.start);
        }
        Some(Ok(ticket))
    }

    /// Begins the warm-up at the first call, and ends it in time.
    pub(super) fn warm_up(&self, now: Nanos, warmup: Nanos) {
        let warm_at = self.warm_at();
        if warm_at == 0 {
            let end = now.saturating_add(warmup).max(1);
            // Relaxed: the first of several calls sets it, and nothing else depends on it.
            let _ = self
                .warm_at
                .compare_exchange(0, end, Ordering::Relaxed, Ordering::Relaxed);
        } else if warm_at != Nanos::MAX && now >= warm_at {
            self.settle(&mut self.lock(), now);
            self.announce();
        }
    }

    pub(super) fn is_warming(&self, now: Nanos) -> bool {
        let warm_at = self.warm_at();
        warm_at != Nanos::MAX && now < warm_at
    }

    /// The wait is over and a call has come: the first probe, if no other call was before it.
    fn end_wait(&self, word: Word, now: Nanos) -> Option<Ticket> {
        let ticket = {
            let mut stay = self.lock();
            self.settle(&mut stay, now);
            // Another thread may have been here first, or `settle` may have done it.
            if self.word() == word {
                self.transit(
                    &mut stay,
                    State::HalfOpen,
                    Wait::Computed,
                    now,
                    Cause::WaitOver,
                );
            }
            self.take_probe(&mut stay)
        };
        self.announce();
        ticket
    }

    /// A permit of the present HALF_OPEN stay, if there is one to give.
    fn take_probe(&self, stay: &mut Stay) -> Option<Ticket> {
        let word = self.word();
        let free = word.state() == State::HalfOpen && self.has_room(stay);
        free.then(|| {
            stay.probes.issue(self.clock.now());
            self.ticket(word)
        })
    }

    /// `None` if the stay is over.
    fn admit_probe(&self, word: Word) -> Option<Result<Ticket, CallNotPermitted>> {
        let mut stay = self.lock();
        self.settle(&mut stay, self.clock.now());
        if self.word() != word {
            drop(stay);
            self.announce();
            return None;
        }
        if let Some(ticket) = self.take_probe(&mut stay) {
            return Some(Ok(ticket));
        }
        let now = self.clock.now();
        let pause = self.rest_of_pause(&stay, now);
        drop(stay);
        let (reason, retry_after) = match pause {
            Some(rest) => (Reason::Pausing, Some(Duration::from_nanos(rest))),
            None => (Reason::HalfOpenFull, None),
        };
        Some(Err(self.reject(reason, retry_after, Some(now))))
    }

    /// `now` is the time if somebody has read it.
    #[inline]
    fn reject(
        &self,
        reason: Reason,
        retry_after: Option<Duration>,
        now: Option<Nanos>,
    ) -> CallNotPermitted {
        // Relaxed: a counter; see `transit` for the stay it counts in.
        let before = self.rejected.fetch_add(1, Ordering::Relaxed);
        self.tell_rejection(reason, retry_after, now, before);
        if self.events.wants(Interest::EACH_CALL) {
            self.count_rejection(reason);
            self.publish(EventKind::NotPermitted { reason });
        }
        CallNotPermitted {
            name: self.name.clone(),
            reason,
            retry_after,
        }
    }

    /// Publishes what is no transition, outside of the lock.
    #[cold]
    pub(super) fn publish(&self, kind: EventKind) {
        if !self.events.wants(kind.class()) {
            return;
        }
        let generation = self.lock().number;
        self.push(kind, self.clock.now(), generation);
        self.announce();
    }
}
