//! A circuit breaker as one would write it on a whiteboard: every outcome is kept in a list and
//! everything is counted anew each time. Slow, single-threaded, and easy to believe.
//!
//! Times are nanoseconds of the clock. Rates are in tenths of a percent.

use std::collections::HashMap;

use cb_runtime::{OnCancel, Outcome, State};

use State::{Closed, Disabled, ForcedOpen, HalfOpen, MetricsOnly, Open};

mod counts;

pub use counts::{Counts, Entry};

const MILLI: u64 = 1_000_000;

/// What the rates are computed over.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    /// The last so many.
    Calls(usize),
    /// Buckets of so many nanoseconds each, and how many of them.
    Time {
        /// Length of a bucket.
        bucket: u64,
        /// Number of buckets.
        buckets: u64,
    },
}

/// Where HALF_OPEN goes when its time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub enum AtLimit {
    Decide,
    Open,
    Closed,
}

/// The breaker's settings.
#[derive(Clone, Debug)]
#[expect(missing_docs)]
pub struct Settings {
    pub window: Window,
    pub min_calls: u64,
    pub failure_rate: u64,
    pub slow: Option<u64>,
    pub slow_rate: u64,
    pub failure_count: Option<u64>,
    pub consecutive_failures: Option<u64>,
    pub on_cancel: OnCancel,
    pub wait: u64,
    /// In halves: 3 is one and a half times.
    pub wait_multiplier: u64,
    pub wait_max: Option<u64>,
    pub auto_half_open: bool,
    pub half_open_calls: u64,
    pub half_open_max_wait: Option<u64>,
    pub at_limit: AtLimit,
}

/// What is told to subscribers of transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub enum Told {
    Transition(State, State),
    FailureRateExceeded,
    SlowRateExceeded,
    Reset,
}

#[derive(Clone, Copy)]
struct Call {
    stay: u64,
    began: u64,
}

/// The breaker.
pub struct Naive {
    settings: Settings,
    state: State,
    stay: u64,
    entered: u64,
    /// In OPEN; `None` is for ever.
    deadline: Option<u64>,
    attempt: u64,
    /// What was recorded since the window was last empty, with the window that it is seen through.
    entries: Vec<Entry>,
    through: Window,
    min_calls: u64,
    not_permitted: u64,
    late: u64,
    /// Outcomes since the stay began that were success or failure, for the streak.
    streak: Vec<bool>,
    /// Permits of this HALF_OPEN stay, without those given back.
    permits: u64,
    /// When the first of those was given out.
    first_permit: Option<u64>,
    told_in_stay: Vec<Told>,
    /// Everything told so far.
    pub told: Vec<Told>,
    calls: HashMap<usize, Call>,
}

impl Naive {
    /// A CLOSED one.
    #[must_use]
    pub fn new(settings: Settings, now: u64) -> Self {
        Self {
            state: Closed,
            stay: 0,
            entered: now,
            deadline: None,
            attempt: 0,
            entries: Vec::new(),
            through: settings.window,
            min_calls: settings.min_calls,
            not_permitted: 0,
            late: 0,
            streak: Vec::new(),
            permits: 0,
            first_permit: None,
            told_in_stay: Vec::new(),
            told: Vec::new(),
            calls: HashMap::new(),
            settings,
        }
    }

    /// The state, after what is due.
    pub fn state(&mut self, now: u64) -> State {
        self.apply_due(now);
        self.state
    }

    /// How long it has been in that state.
    #[must_use]
    pub fn in_state_for(&self, now: u64) -> u64 {
        now - self.entered
    }

    /// Openings in a row.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Outcomes that came too late to count.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Failures without a success between them, in this stay.
    #[must_use]
    pub fn failures_in_a_row(&self) -> u64 {
        self.streak
            .iter()
            .rev()
            .take_while(|&&failed| failed)
            .count() as u64
    }

    /// Rejections, as the present state shows them.
    #[must_use]
    pub fn not_permitted(&self) -> u64 {
        self.not_permitted
    }

    /// The window's figures.
    #[must_use]
    pub fn counts(&self, now: u64) -> Counts {
        Counts::of(&self.entries, self.through, now)
    }

    /// Below this number no rate is shown.
    #[must_use]
    pub fn min_calls(&self) -> u64 {
        self.min_calls
    }

    /// Time left in OPEN.
    #[must_use]
    pub fn retry_after(&self, now: u64) -> Option<u64> {
        if self.state == Open {
            self.deadline.map(|d| d.saturating_sub(now))
        } else {
            None
        }
    }

    /// Whether a call made now would be permitted.
    pub fn would_permit(&mut self, now: u64) -> bool {
        self.apply_due(now);
        match self.state {
            ForcedOpen => false,
            Open => self.deadline.is_some_and(|deadline| now >= deadline),
            HalfOpen => self.permits < self.settings.half_open_calls,
            _ => true,
        }
    }

    /// Asks permission for a call.
    pub fn acquire(&mut self, call: usize, now: u64) -> bool {
        let permitted = self.would_permit(now);
        if !permitted {
            self.not_permitted += 1;
            return false;
        }
        if self.state == Open {
            self.enter(HalfOpen, now, None);
        }
        if self.state == HalfOpen {
            self.permits += 1;
            self.first_permit.get_or_insert(now);
        }
        self.calls.insert(
            call,
            Call {
                stay: self.stay,
                began: now,
            },
        );
        true
    }

    /// Ends a call; without an outcome it is cancelled.
    pub fn finish(&mut self, call: usize, outcome: Option<Outcome>, now: u64) {
        self.apply_due(now);
        let Some(call) = self.calls.remove(&call) else {
            return;
        };
        if call.stay != self.stay {
            self.late += 1;
            return;
        }
        if self.state == Disabled {
            return;
        }
        let slow = self
            .settings
            .slow
            .is_some_and(|limit| now - call.began > limit);
        let (failed, cancelled) = match (outcome, self.settings.on_cancel) {
            (Some(Outcome::Success), _) => (false, false),
            (Some(Outcome::Failure), _) | (None, OnCancel::Failure) => (true, false),
            (None, OnCancel::Slow) if slow => (false, true),
            _ => {
                // Nothing to record: another call may probe.
                self.permits = self.permits.saturating_sub(1);
                if self.permits == 0 {
                    self.first_permit = None;
                }
                return;
            }
        };
        self.entries.push(Entry {
            at: now,
            failed,
            slow,
            cancelled,
        });
        if !cancelled {
            self.streak.push(failed);
        }
        self.judge(now);
    }

    fn judge(&mut self, now: u64) {
        let counts = self.counts(now);
        let enough = counts.calls >= self.min_calls;
        let failures = enough && counts.failed * 1000 >= self.settings.failure_rate * counts.calls;
        let slow = self.settings.slow.is_some()
            && enough
            && counts.slow * 1000 >= self.settings.slow_rate * counts.calls;
        if matches!(self.state, Closed | MetricsOnly) {
            for (reached, told) in [
                (failures, Told::FailureRateExceeded),
                (slow, Told::SlowRateExceeded),
            ] {
                if reached && !self.told_in_stay.contains(&told) {
                    self.told_in_stay.push(told);
                    self.told.push(told);
                }
            }
        }
        match self.state {
            Closed => {
                let in_a_row = self.failures_in_a_row();
                let many = self
                    .settings
                    .failure_count
                    .is_some_and(|limit| counts.failed >= limit);
                let streak = self
                    .settings
                    .consecutive_failures
                    .is_some_and(|n| in_a_row >= n);
                if failures || slow || many || streak {
                    self.enter(Open, now, None);
                }
            }
            HalfOpen if enough => {
                self.enter(if failures || slow { Open } else { Closed }, now, None);
            }
            _ => {}
        }
    }

    /// What the clock alone brings about, each at its own instant.
    fn apply_due(&mut self, now: u64) {
        loop {
            let (to, at) = match self.state {
                Open if self.settings.auto_half_open => (HalfOpen, self.deadline),
                HalfOpen => {
                    let limit = self.settings.half_open_max_wait;
                    // Without a probe there is nothing to decide on.
                    let from = match self.settings.at_limit {
                        AtLimit::Decide => self.first_permit,
                        _ => Some(self.entered),
                    };
                    let end = limit
                        .zip(from)
                        .and_then(|(limit, from)| from.checked_add(limit));
                    (self.at_limit(), end)
                }
                _ => return,
            };
            match at {
                Some(at) if at <= now => self.enter(to, at, None),
                _ => return,
            }
        }
    }

    fn at_limit(&self) -> State {
        let counts = Counts::of(&self.entries, Window::Calls(usize::MAX), 0);
        let reached = counts.failed * 1000 >= self.settings.failure_rate * counts.calls
            || self.settings.slow.is_some()
                && counts.slow * 1000 >= self.settings.slow_rate * counts.calls;
        match self.settings.at_limit {
            AtLimit::Open => Open,
            AtLimit::Closed => Closed,
            AtLimit::Decide if counts.calls > 0 && !reached => Closed,
            AtLimit::Decide => Open,
        }
    }

    /// Changes the state by hand, if that is allowed. `wait` is that of `open_for`.
    pub fn by_hand(&mut self, to: State, wait: Option<u64>, now: u64) -> bool {
        self.apply_due(now);
        let legal = !matches!(
            (self.state, to),
            (Closed, HalfOpen) | (MetricsOnly, Open | HalfOpen)
        );
        if legal {
            self.enter(to, now, wait);
        }
        legal
    }

    /// Back to the beginning.
    pub fn reset(&mut self, now: u64) {
        self.apply_due(now);
        self.enter(Closed, now, None);
        self.told.push(Told::Reset);
    }

    fn enter(&mut self, to: State, at: u64, wait: Option<u64>) {
        let from = self.state;
        self.attempt = match to {
            Open if wait.is_some() => self.attempt,
            Open | ForcedOpen => self.attempt + 1,
            HalfOpen => self.attempt,
            _ => 0,
        };
        let keeps_window = to == Open && matches!(from, Closed | HalfOpen | Open);
        if !keeps_window {
            self.entries.clear();
            let probes = self.settings.half_open_calls;
            (self.through, self.min_calls) = match to {
                HalfOpen => (
                    Window::Calls(usize::MAX),
                    self.settings.min_calls.min(probes),
                ),
                _ => (self.settings.window, self.settings.min_calls),
            };
        }
        if !(keeps_window || to == Open && from == ForcedOpen) {
            self.not_permitted = 0;
        }
        self.deadline = match to {
            Open => at.checked_add(wait.unwrap_or_else(|| self.wait())),
            _ => None,
        };
        self.state = to;
        self.stay += 1;
        self.entered = at;
        self.permits = 0;
        self.first_permit = None;
        self.streak.clear();
        self.told_in_stay.clear();
        if from != to {
            self.told.push(Told::Transition(from, to));
        }
    }

    /// The wait of the present attempt, from the first one on.
    fn wait(&self) -> u64 {
        let cap = self.settings.wait_max.unwrap_or(u64::MAX);
        let mut wait = self.settings.wait.min(cap);
        for _ in 1..self.attempt {
            let longer = wait.saturating_mul(self.settings.wait_multiplier) / 2;
            let longer = (longer / MILLI * MILLI).min(cap);
            if longer == wait {
                break;
            }
            wait = longer;
        }
        wait
    }
}
