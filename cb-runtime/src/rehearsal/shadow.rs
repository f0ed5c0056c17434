//! The breaker that goes by the candidate.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::report::{RehearsalReport, WouldHaveRejected, WouldOpen};
use crate::breaker::{CircuitBreaker, Surroundings};
use crate::clock::{TestClock, nanos};
use crate::config::Config;
use crate::event::{Cause, Event, EventKind, Interest};
use crate::explain::Explanation;
use crate::layers::{Layer, Layers};
use crate::listeners::{Hub, Subscription};
use crate::outcome::{OnCancel, Outcome};
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::sync::{Mutex, lock};

/// So many stays are remembered, for calls that began in them.
const STAYS: usize = 64;
/// So many openings are told.
const OPENINGS: usize = 100;

/// A stay of the candidate.
struct Stay {
    /// When it began. HALF_OPEN begins with the end of the wait, whenever the first probe is noticed.
    from: Duration,
    state: State,
    /// Of OPEN: the end of the wait, if it has one.
    wait_over: Option<Duration>,
}

pub(super) struct Shadow {
    breaker: CircuitBreaker,
    /// Stands at the latest event, so that the candidate decides at the time of what it decides on.
    clock: TestClock,
    /// The candidate's transitions that are yet to be looked at.
    transitions: Arc<Mutex<Vec<Event>>>,
    _subscription: Subscription,
    began: Duration,
    stays: VecDeque<Stay>,
    calls: u64,
    late: u64,
    rejected: WouldHaveRejected,
    opened: u64,
    openings: VecDeque<WouldOpen>,
    /// When it was last CLOSED, if it is not now.
    left_closed: Option<Duration>,
    not_closed_for: Duration,
    active_opened: u64,
    active_late: u64,
    /// The active breaker's totals when the rehearsal began.
    rejected_before: u64,
    dropped_before: u64,
}

/// How a call ended.
#[derive(Clone, Copy)]
enum Ended {
    As(Outcome),
    Cancelled,
}

impl Shadow {
    pub(super) fn new(active: &CircuitBreaker, config: Config, timeout: Option<Duration>) -> Self {
        let before = active.snapshot();
        let began = active.inner.clock.elapsed();
        let clock = TestClock::starting_at(began);
        let (layers, _) = Layers::merge([(Layer::Runtime, config)], timeout);
        let surroundings = Surroundings {
            clock: (&clock).into(),
            hub: Arc::new(Hub::unlogged()),
            shards: false,
        };
        let name = active.inner.name.clone();
        let breaker = CircuitBreaker::new(name, Arc::new(layers), surroundings);
        let transitions: Arc<Mutex<Vec<Event>>> = Arc::default();
        let heard = Arc::clone(&transitions);
        let subscription = breaker.subscribe(Interest::TRANSITIONS, move |event| {
            lock(&heard).push(event.clone());
        });
        let first = Stay {
            from: began,
            state: State::Closed,
            wait_over: None,
        };
        Self {
            breaker,
            clock,
            transitions,
            _subscription: subscription,
            began,
            stays: VecDeque::from([first]),
            calls: 0,
            late: 0,
            rejected: WouldHaveRejected::default(),
            opened: 0,
            openings: VecDeque::new(),
            left_closed: None,
            not_closed_for: Duration::ZERO,
            active_opened: 0,
            active_late: 0,
            rejected_before: before.not_permitted_total,
            dropped_before: before.dropped_events,
        }
    }

    /// Something has happened to the active breaker.
    pub(super) fn hear(&mut self, event: &Event) {
        let (duration, ended) = match &event.kind {
            EventKind::Success { duration } => (duration, Ended::As(Outcome::Success)),
            EventKind::Error { duration } => (duration, Ended::As(Outcome::Failure)),
            EventKind::Ignored { duration } => (duration, Ended::As(Outcome::Ignored)),
            EventKind::Cancelled { duration } => (duration, Ended::Cancelled),
            EventKind::Late => {
                self.active_late += 1;
                return;
            }
            EventKind::Transition {
                to: State::Open, ..
            } => {
                self.active_opened += 1;
                return;
            }
            _ => return,
        };
        // Not measured, or begun before: it was under way when the rehearsal began.
        let start = duration.and_then(|duration| event.at.checked_sub(duration));
        if let Some(start) = start.filter(|start| *start >= self.began) {
            self.ended(start, event.at, ended);
        }
    }

    fn ended(&mut self, start: Duration, at: Duration, ended: Ended) {
        self.calls += 1;
        // Calls that come one after the other are admitted at their own time. Of calls that overlap,
        // one that began before the end of another is admitted after that.
        self.catch_up(start);
        let present = self.stays.len() - 1;
        let began_in = self.stays.iter().rposition(|stay| stay.from <= start);
        let stay = began_in.map(|index| &self.stays[index]);
        let waiting = stay.is_some_and(|stay| {
            stay.state == State::Open && stay.wait_over.is_none_or(|over| start < over)
        });
        if waiting {
            self.reject(ended);
        } else if began_in == Some(present) {
            self.take(start, at, ended);
        } else {
            self.late += 1;
        }
        self.catch_up(at);
    }

    /// A call that began in the present stay.
    fn take(&mut self, start: Duration, at: Duration, ended: Ended) {
        let admitted = self.breaker.inner.admit();
        self.catch_up(at);
        let inner = &self.breaker.inner;
        match (admitted, ended) {
            (Err(_), _) => self.reject(ended),
            (Ok(ticket), Ended::As(outcome)) => {
                inner.finish(ticket.begun_at(nanos(start)), outcome);
            }
            (Ok(ticket), Ended::Cancelled) => {
                inner.cancel(ticket.begun_at(nanos(start)), OnCancel::Slow);
            }
        }
        self.look();
    }

    fn reject(&mut self, ended: Ended) {
        match ended {
            Ended::As(Outcome::Success) => self.rejected.successful += 1,
            Ended::As(Outcome::Failure) => self.rejected.failed += 1,
            Ended::As(Outcome::Ignored) | Ended::Cancelled => self.rejected.other += 1,
        }
    }

    /// Applies what is due until then by the clock alone.
    fn catch_up(&mut self, now: Duration) {
        self.clock.advance(now.saturating_sub(self.clock.elapsed()));
        let _ = self.breaker.state();
        self.look();
    }

    /// Looks at the transitions that there were.
    fn look(&mut self) {
        let transitions = std::mem::take(&mut *lock(&self.transitions));
        for event in transitions {
            if let EventKind::Transition { to, cause, .. } = event.kind {
                self.transition(to, cause, &event);
            }
        }
    }

    fn transition(&mut self, to: State, cause: Cause, event: &Event) {
        let at = event.at;
        let wait = event.figures.and_then(|figures| figures.wait);
        let wait_over = wait.map(|wait| at.saturating_add(wait));
        let last_wait = self.stays.back().and_then(|stay| stay.wait_over);
        let from = match (cause, last_wait) {
            (Cause::WaitOver, Some(over)) => over.min(at),
            _ => at,
        };
        if self.stays.len() == STAYS {
            self.stays.pop_front();
        }
        self.stays.push_back(Stay {
            from,
            state: to,
            wait_over: wait_over.filter(|_| to == State::Open),
        });
        match (to, self.left_closed) {
            (State::Open, None) => {
                self.left_closed = Some(at);
                self.opened(cause, at);
            }
            (State::Open, Some(_)) => self.opened(cause, at),
            (State::Closed, Some(left)) => {
                self.left_closed = None;
                self.not_closed_for += at.saturating_sub(left);
                let began = self.began;
                for opening in self.openings.iter_mut() {
                    let opened = began + opening.after;
                    opening
                        .closed_after
                        .get_or_insert(at.saturating_sub(opened));
                }
            }
            _ => {}
        }
    }

    fn opened(&mut self, cause: Cause, at: Duration) {
        self.opened += 1;
        if self.openings.len() == OPENINGS {
            self.openings.pop_front();
        }
        self.openings.push_back(WouldOpen {
            after: at.saturating_sub(self.began),
            cause,
            closed_after: None,
        });
    }

    pub(super) fn report(&mut self, active: &Snapshot, now: Duration) -> RehearsalReport {
        self.catch_up(now);
        let open_now = self.left_closed.map(|left| now.saturating_sub(left));
        RehearsalReport {
            breaker: active.name.clone(),
            lasted: now.saturating_sub(self.began),
            calls: self.calls,
            state: self.breaker.state(),
            opened: self.opened,
            openings: self.openings.iter().copied().collect(),
            not_closed_for: self.not_closed_for + open_now.unwrap_or_default(),
            rejected: self.rejected,
            late: self.late + self.breaker.snapshot().late,
            active: super::ActiveTotals {
                opened: self.active_opened,
                rejected: active
                    .not_permitted_total
                    .saturating_sub(self.rejected_before),
                late: self.active_late,
            },
            missed: active.dropped_events.saturating_sub(self.dropped_before),
        }
    }

    pub(super) fn explain(&mut self, now: Duration) -> Explanation {
        self.catch_up(now);
        self.breaker.explain()
    }
}
