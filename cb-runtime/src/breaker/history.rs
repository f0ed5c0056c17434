//! What a breaker has been through since it was made. Behind the stay's lock.

use std::time::Duration;

use crate::clock::Nanos;
use crate::event::Cause;
use crate::outcome::Mark;
use crate::snapshot::{ProbeTotals, StateTotals};
use crate::state::State;

const STATES: [State; 6] = [
    State::Closed,
    State::Open,
    State::HalfOpen,
    State::ForcedOpen,
    State::Disabled,
    State::MetricsOnly,
];

/// Made at the first transition: most breakers of a process never have one.
#[derive(Debug, Default)]
pub(super) struct History {
    states: [Totals; STATES.len()],
    probes: ProbeTotals,
    /// When it left CLOSED by its own rules, until it is back there.
    troubled: Option<Nanos>,
    last_recovery: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    /// Not counting the state that the breaker was made in.
    entries: u64,
    time: Nanos,
}

impl History {
    /// A stay in `from` that began at `entered` ends.
    pub(super) fn transit(
        &mut self,
        (from, entered): (State, Nanos),
        (to, at): (State, Nanos),
        cause: Cause,
    ) {
        self.spend(from, at.saturating_sub(entered));
        if from == to {
            return;
        }
        self.states[index(to)].entries += 1;
        let by_itself = cause != Cause::Manual;
        match (from, to) {
            (State::Closed, State::Open) if by_itself => self.troubled = Some(at),
            (State::HalfOpen, State::Closed) if by_itself => {
                let took = self.troubled.take().map(|began| at.saturating_sub(began));
                self.last_recovery = took.or(self.last_recovery);
            }
            (_, State::Open | State::HalfOpen) => {}
            // Somebody has taken a hand in it: nothing can be said about a recovery.
            _ => self.troubled = None,
        }
    }

    /// So many rounds of OPEN and HALF_OPEN, each of this length, have passed.
    pub(super) fn skip(&mut self, rounds: u64, open: Nanos, half_open: Nanos) {
        for (state, time) in [(State::Open, open), (State::HalfOpen, half_open)] {
            self.states[index(state)].entries += rounds;
            self.spend(state, time.saturating_mul(rounds));
        }
    }

    fn spend(&mut self, state: State, time: Nanos) {
        let spent = &mut self.states[index(state)].time;
        *spent = spent.saturating_add(time);
    }

    pub(super) fn probe(&mut self, mark: Mark) {
        self.probes.slow += u64::from(mark.slow());
        if mark.failed() {
            self.probes.failed += 1;
        } else if mark.cancelled() {
            self.probes.cancelled += 1;
        } else {
            self.probes.successful += 1;
        }
    }

    pub(super) fn probes(&self) -> ProbeTotals {
        self.probes
    }

    pub(super) fn last_recovery(&self) -> Option<Duration> {
        self.last_recovery.map(Duration::from_nanos)
    }

    /// With the stay that is going on in `now` for `time`, in a breaker that was made in `first`.
    pub(super) fn states(&self, first: State, now: State, time: Nanos) -> [StateTotals; 6] {
        STATES.map(|state| {
            let totals = self.states[index(state)];
            let going_on = if state == now { time } else { 0 };
            StateTotals {
                state,
                entries: totals.entries + u64::from(state == first),
                time: Duration::from_nanos(totals.time.saturating_add(going_on)),
            }
        })
    }
}

fn index(state: State) -> usize {
    match state {
        State::Closed => 0,
        State::Open => 1,
        State::HalfOpen => 2,
        State::ForcedOpen => 3,
        State::Disabled => 4,
        State::MetricsOnly => 5,
    }
}
