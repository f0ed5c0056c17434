//! Permission to make a call.

use crate::clock::{self, Coarse, Nanos};
use crate::current;
use crate::error::{CallNotPermitted, Reason, Why};
use crate::event::{Cause, EventKind, Interest};
use crate::fault;
use crate::name::Name;
use crate::state::{State, Word};
use crate::sync::Ordering;
use crate::tally::What;
use crate::watch;

use super::Inner;
use super::ending::near;
use super::limits::Flags;
use super::stay::{Stay, Wait};
use super::ticket::{AtOnce, Packed, Ticket};

/// Something that keeps calls out.
#[derive(Clone, Copy)]
pub(super) struct Barrier {
    pub(super) reason: Reason,
    /// Since the breaker's birth; `None` if it is not known when it is gone.
    pub(super) until: Option<Nanos>,
}

impl Barrier {
    #[inline]
    fn open(word: Word) -> Self {
        Self {
            reason: Reason::Open,
            until: word.deadline(),
        }
    }
}

impl Inner {
    #[inline]
    pub(crate) fn word(&self) -> Word {
        // Acquire pairs with the store in `transit`.
        Word::from_raw(self.word.load(Ordering::Acquire))
    }

    /// Permission for a call that nobody watches, or its rejection, if none of the rarer rules has a say
    /// and the lock none either.
    #[inline]
    pub(crate) fn admit_plainly(&self) -> AtOnce {
        match self.calm.stay() {
            Some(stay) => AtOnce::Permitted(Ticket::unmeasured(stay)),
            None => self.admit_or_refuse().at_once(),
        }
    }

    /// The same without the calm. `ENDED` if there is more to look at. In CLOSED that is two loads, and a look
    /// at the clock only with `slow`.
    #[inline(never)]
    fn admit_or_refuse(&self) -> Packed {
        let word = self.word();
        if word.may_be_open() {
            return self.refuse_in_open(word);
        }
        if !word.is_closed() {
            return self.refuse_if_full();
        }
        let flags = self.limits.flags();
        if flags.unusual() {
            return Packed::ENDED;
        }
        if !flags.measured() {
            return Ticket::unmeasured(word).packed();
        }
        self.admit_measured(word, flags)
    }

    /// In OPEN. In DISABLED too, where it comes to nothing: that has a longer way anyhow.
    #[inline(never)]
    fn refuse_in_open(&self, word: Word) -> Packed {
        self.refuse_at_a_glance(word, Why::at_a_glance)
    }

    /// In the others. In HALF_OPEN, if all permits are given out and this is not within a probe, perhaps of
    /// this breaker: see `reject`.
    #[inline(never)]
    fn refuse_if_full(&self) -> Packed {
        if self.word().state() == State::HalfOpen && !current::in_any_probe() {
            if let Some(word) = self.gate.full() {
                return self.refuse_at_a_glance(word, |_| Why::new(Reason::HalfOpenFull, None));
            }
        }
        self.refuse_plainly()
    }

    /// One straight way, with little to keep across the glance at the clock.
    #[inline(always)]
    fn refuse_at_a_glance(&self, until: Word, why: impl FnOnce(Nanos) -> Why) -> Packed {
        // Elsewhere a glance is as dear as any reading, and some platforms have no clock at all.
        if cfg!(not(target_os = "linux")) && self.clock.is_test() {
            return self.refuse_plainly();
        }
        let glance = clock::glance();
        match self.glance.left(until, glance) {
            Some(left) => {
                let (why, before) = (why(left), self.tally.count(What::Rejected));
                self.tell_rejection(why, before, || Some(clock::since_origin(glance)));
                Ticket::refused(why).packed()
            }
            None => self.refuse_plainly(),
        }
    }

    #[inline(never)]
    fn admit_measured(&self, word: Word, flags: Flags) -> Packed {
        if flags.coarse() {
            let glance = clock::glance();
            // Relaxed: a call that has not seen it yet behaves as if it had come a little earlier.
            if near(glance) >= self.near_until.load(Ordering::Relaxed) {
                return self
                    .unless_unusual(Ticket::at_a_glance(word, glance))
                    .packed();
            }
        }
        self.unless_unusual(Ticket::new(word, self.clock.now()))
            .packed()
    }

    /// After the clock was read: a call that began before running calls were counted has a start
    /// before that.
    #[inline]
    fn unless_unusual(&self, ticket: Ticket) -> Ticket {
        if self.limits.flags().unusual() {
            Ticket::ENDED
        } else {
            ticket
        }
    }

    /// Asks for permission.
    #[inline]
    pub(crate) fn admit(&self) -> Result<Ticket, Why> {
        let word = self.word();
        if word.is_closed() {
            if watch::nobody() {
                match self.admit_or_refuse().at_once() {
                    AtOnce::Permitted(ticket) => return Ok(ticket),
                    AtOnce::Refused(why) => return Err(why),
                    AtOnce::Unknown => {}
                }
            }
        } else if let Some(barrier) = self.barrier(word) {
            self.pass(barrier)?;
        }
        self.admit_unless_rejected()
    }

    /// A rejection by what is not decided at a glance, as far as it is known without the lock.
    #[inline(never)]
    fn refuse_plainly(&self) -> Packed {
        let Some(barrier) = self.barrier(self.word()) else {
            return Packed::ENDED;
        };
        if barrier.reason == Reason::HalfOpenFull && current::in_any_probe() {
            // Perhaps of this breaker: see `reject`.
            return Packed::ENDED;
        }
        match self.rest_of(barrier) {
            Some((rest, read)) => Ticket::refused(self.refuse(barrier.reason, rest, read)).packed(),
            None => Packed::ENDED,
        }
    }

    /// `now` is the time if somebody has read it.
    #[inline(always)]
    fn refuse(&self, reason: Reason, rest: Option<Nanos>, now: Option<Nanos>) -> Why {
        let (why, before) = (Why::new(reason, rest), self.tally.count(What::Rejected));
        self.tell_rejection(why, before, || now);
        why
    }

    /// What calls have to wait for, as far as that is known without the lock.
    #[inline]
    fn barrier(&self, word: Word) -> Option<Barrier> {
        match word.state() {
            State::Open => Some(Barrier::open(word)),
            State::HalfOpen => self.gate.barrier(),
            State::ForcedOpen => Some(Barrier {
                reason: Reason::ForcedOpen,
                until: None,
            }),
            State::Closed | State::Disabled | State::MetricsOnly => None,
        }
    }

    /// A rejection until the barrier is gone.
    fn pass(&self, barrier: Barrier) -> Result<(), Why> {
        match self.rest_of(barrier) {
            Some((rest, read)) => Err(self.reject(barrier.reason, rest, read)),
            None => Ok(()),
        }
    }

    /// What the caller is told of how long the barrier will be there, and the time if it was read;
    /// `None` if it is gone. It was there before the clock is read, so what is not over by the clock was
    /// not over then.
    #[inline]
    fn rest_of(&self, barrier: Barrier) -> Option<(Option<Nanos>, Option<Nanos>)> {
        let Some(until) = barrier.until else {
            return Some((None, None));
        };
        // The reading that decides is what the rejection reports: of the coarse clock, if that can tell.
        // Then the rest is a little too long, never too short.
        let (rest, now) = match self.surely_left(until) {
            Ok(left) => left,
            Err(due) => {
                let now = self.precisely();
                (due.saturating_sub(now), now)
            }
        };
        if rest == 0 {
            return None;
        }
        let told = (barrier.reason != Reason::HalfOpenFull).then_some(rest);
        Some((told, Some(now)))
    }

    /// What the coarse clock says is left until then, and what it shows, if more is left than it can lag.
    /// Else when that is by the clock.
    #[inline(always)]
    fn surely_left(&self, until: Nanos) -> Result<(Nanos, Nanos), Nanos> {
        let now = self.clock.coarse();
        let age = now.at.wrapping_sub(self.birth);
        if age.wrapping_add(now.lag) < until {
            Ok((until.wrapping_sub(age), now.at))
        } else {
            Err(self.birth.saturating_add(until))
        }
    }

    #[cold]
    #[inline(never)]
    fn precisely(&self) -> Nanos {
        self.clock.now()
    }

    fn ticket(&self, word: Word) -> Ticket {
        let counted = self.events.watches(Interest::EACH_CALL);
        let measured = self.limits.flags().measured()
            || (counted && self.events.watches(Interest::DURATIONS))
            || fault::any();
        if counted {
            self.count_begin();
        }
        if measured {
            Ticket::new(word, self.clock.now())
        } else {
            Ticket::unmeasured(word)
        }
    }

    #[inline(never)]
    fn admit_unless_rejected(&self) -> Result<Ticket, Why> {
        loop {
            let word = self.word();
            match word.state() {
                State::Disabled => return Ok(self.ticket(word)),
                State::Closed | State::MetricsOnly => {
                    if let Some(answer) = self.admit_recorded(word) {
                        return answer;
                    }
                }
                State::Open | State::ForcedOpen => {
                    self.barrier(word).map_or(Ok(()), |it| self.pass(it))?;
                    if let Some(ticket) = self.end_wait(word, self.clock.now()) {
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
    fn admit_recorded(&self, word: Word) -> Option<Result<Ticket, Why>> {
        if !self.limits.flags().unusual() {
            return Some(Ok(self.ticket(word)));
        }
        let now = self.clock.now();
        if let Some(warmup) = self.rare.warmup() {
            self.warm_up(now, warmup);
            if self.word() != word {
                return None;
            }
        }
        if self.rare.counted().is_some() && !self.is_warming(now) {
            // What hangs may have to open it, before another call joins.
            let _ = self.judge(word, Coarse::exactly(now), 0);
            if self.word() != word {
                return None;
            }
        }
        if let Some(length) = self.rare.ramp_length().filter(|_| word.is_closed()) {
            let ramp = self.rare.ramp();
            if !ramp.is_none_or(|ramp| ramp.admit(now, length)) {
                return Some(Err(self.reject(Reason::Ramping, None, Some(now))));
            }
        }
        let mut ticket = self.ticket(word);
        while let Some(hanging) = self.rare.counted() {
            if let Some(start) = hanging.begin(word.stay(), &self.clock) {
                ticket = ticket.begun_at(start);
                break;
            }
            // Whoever changes it has the lock.
            drop(self.lock());
        }
        Some(Ok(ticket))
    }

    /// Begins the warm-up at the first call, and ends it in time.
    fn warm_up(&self, now: Nanos, warmup: Nanos) {
        if self.warm_at() == 0 {
            let end = now.saturating_add(warmup).max(1);
            // Relaxed: the first of several calls sets it, and nothing else depends on it.
            let warm_at = &self.rare.things().warm_at;
            let _ = warm_at.compare_exchange(0, end, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            self.end_warm_up(now);
        }
    }

    /// Only a call begins one: after a change of settings the end of an older call can come first.
    pub(super) fn end_warm_up(&self, now: Nanos) {
        let warm_at = self.warm_at();
        if warm_at != 0 && warm_at != Nanos::MAX && now >= warm_at {
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
            self.take_probe(&mut stay, self.clock.now())
        };
        self.announce();
        ticket
    }

    /// A permit of the present HALF_OPEN stay, if there is one to give.
    fn take_probe(&self, stay: &mut Stay, now: Nanos) -> Option<Ticket> {
        let word = self.word();
        let free = word.state() == State::HalfOpen && self.has_room(stay, now);
        free.then(|| {
            stay.probes.issue(now);
            self.ticket(word)
        })
    }

    /// `None` if the stay is over.
    fn admit_probe(&self, word: Word) -> Option<Result<Ticket, Why>> {
        let mut stay = self.lock();
        let now = self.clock.now();
        self.settle(&mut stay, now);
        if self.word() != word {
            drop(stay);
            self.announce();
            return None;
        }
        if let Some(ticket) = self.take_probe(&mut stay, now) {
            return Some(Ok(ticket));
        }
        let pause = self.rest_of_pause(&stay, now);
        self.close_gate(&stay, now, pause);
        drop(stay);
        let (reason, retry_after) = match pause {
            Some(rest) => (Reason::Pausing, Some(rest)),
            None => (Reason::HalfOpenFull, None),
        };
        Some(Err(self.reject(reason, retry_after, Some(now))))
    }

    #[inline(never)]
    fn reject(&self, reason: Reason, retry_after: Option<Nanos>, now: Option<Nanos>) -> Why {
        let why = self.refuse(reason, retry_after, now);
        if reason == Reason::HalfOpenFull && current::in_probe_of(self, self.word()) {
            // Relaxed: a total for reports.
            let total = &self.rare.things().within_probes;
            total.fetch_add(1, Ordering::Relaxed);
        }
        if self.events.watches(Interest::EACH_CALL) {
            self.count_rejection(reason);
            self.publish(EventKind::NotPermitted { reason });
        }
        why
    }

    /// What the caller is told. Written where it goes at once: what is put together elsewhere and then
    /// moved waits for its parts to arrive.
    #[inline(always)]
    pub(crate) fn rejected<R>(&self, why: Why, told: impl Fn(CallNotPermitted) -> R) -> R {
        match &self.name {
            Name::Plain(name) => told(CallNotPermitted::new(Name::Plain(*name), why)),
            Name::Shared(_) => told(self.rejection(why)),
        }
    }

    #[inline(never)]
    pub(crate) fn rejection(&self, why: Why) -> CallNotPermitted {
        CallNotPermitted::new(self.name.clone(), why)
    }

    /// Publishes what is no transition, outside of the lock.
    #[cold]
    pub(super) fn publish(&self, kind: EventKind) {
        if !self.events.watches(kind.class()) {
            return;
        }
        let generation = self.lock().number;
        self.push(kind, self.clock.now(), generation);
        self.announce();
    }
}
