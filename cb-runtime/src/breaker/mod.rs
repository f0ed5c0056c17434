//! The circuit breaker: a handle, its manual operations and what can be read from it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, Nanos, nanos};
use crate::error::IllegalTransition;
use crate::event::{Cause, Event, EventKind, Interest};
use crate::explain::Explanation;
use crate::layers::Layers;
use crate::listeners::{Events, Hub, Subscription};
use crate::name::Name;
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex};
use crate::tally::{Tally, What};
use crate::window::Sliding;

mod calm;
mod ending;
mod gate;
mod glance;
mod history;
mod judging;
mod limits;
mod live;
mod marks;
mod past;
mod permission;
mod plain;
mod probes;
mod ramp;
mod rare;
mod reading;
mod stay;
mod ticket;
mod told;

use calm::Calm;
use gate::Gate;
use glance::Glance;
use limits::Limits;
use marks::Streak;
use rare::Rare;
use stay::Stay;
use stay::Wait;
pub(crate) use ticket::{AtOnce, Ticket};
#[cfg(feature = "metrics")]
pub(crate) use told::Ending;

/// A circuit breaker. Clones are handles to the same one; making them is cheap.
///
/// Usually one gets it from a [`Registry`](crate::Registry), where annotated functions put theirs:
///
/// ```
/// use cb_runtime::{CallError, Config, Registry, State, Window};
///
/// let registry = Registry::new();
/// let config = Config::new().window(Window::Calls(4)).min_calls(4);
/// let breaker = registry.create("inventory", &config)?;
///
/// for _ in 0..4 {
///     let _ = breaker.call(|| Err::<(), _>("connection refused"));
/// }
/// assert_eq!(breaker.state(), State::Open);
/// assert!(matches!(breaker.call(|| Ok::<_, &str>(1)), Err(CallError::NotPermitted(_))));
/// # Ok::<(), cb_runtime::ConfigError>(())
/// ```
///
/// No operation panics or returns an internal error. A thread that causes an event runs the
/// listeners itself; see [`subscribe`](Self::subscribe).
#[derive(Clone)]
pub struct CircuitBreaker {
    pub(crate) inner: Arc<Inner>,
}

/// Calls in CLOSED read `word`, write to `window` and `streak`, and take no lock. Rejections in
/// OPEN read `word` and the clock, and those in HALF_OPEN `gate` as well. Everything else goes through
/// `stay`.
///
/// In this order in memory: what calls only read comes first, and what they may write is far enough
/// behind it to be in other cache lines.
#[repr(C)]
pub(crate) struct Inner {
    /// What calls read of the settings. The settings are behind `stay`'s lock.
    pub(crate) limits: Limits,
    /// A [`Word`](crate::state::Word). Stored only under `stay`'s lock.
    word: AtomicU64,
    gate: Gate,
    calm: Calm,
    pub(crate) window: Sliding,
    pub(crate) clock: Clock,
    glance: Glance,
    /// From when the times in `word` and `gate` count. They have 61 bits, 73 years: on the system's clock they
    /// count from its origin, while one of a test may stand anywhere when the breaker is made.
    birth: Nanos,
    pub(crate) name: Name,
    /// Rejections and fallbacks' answers.
    tally: Tally,
    pub(crate) events: Events,
    stay: Mutex<Stay>,
    rare: Rare,
    pub(crate) streak: Streak,
    /// Until when durations are measured with the precise clock although `slow` is long: see
    /// [`near`](ending::near).
    near_until: AtomicU32,
    /// Whether the registry's timer has yet to hear of a transition.
    unannounced: AtomicBool,
    /// Whether a time window may spread over more memory.
    shards: bool,
    /// The state that the breaker was made in.
    first: State,
}

/// What a new breaker shares with its registry.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) clock: Clock,
    pub(crate) hub: Arc<Hub>,
    /// Whether a breaker that many threads use may take more memory for it.
    pub(crate) shards: bool,
}

impl CircuitBreaker {
    pub(crate) fn new(name: Name, layers: Arc<Layers>, surroundings: Surroundings) -> Self {
        let clock = surroundings.clock;
        let now = clock.now();
        let (stay, word) = Stay::first(Arc::clone(&layers), now);
        let settings = layers.settings();
        let breaker = Self {
            inner: Arc::new(Inner {
                name,
                glance: Glance::new(&clock),
                birth: if clock.is_test() { now } else { 0 },
                word: AtomicU64::new(word.raw()),
                gate: Gate::open(),
                window: Sliding::new(settings, now, surroundings.shards),
                streak: Streak::default(),
                rare: Rare::new(settings, now),
                shards: surroundings.shards,
                tally: Tally::default(),
                calm: Calm::new(),
                near_until: AtomicU32::new(0),
                first: word.state(),
                stay: Mutex::new(stay),
                events: Events::new(surroundings.hub),
                unannounced: AtomicBool::new(false),
                limits: Limits::new(settings, &clock),
                clock,
            }),
        };
        breaker.inner.begin_admitting(word);
        breaker
    }

    /// Tells it from all others that live at the same time.
    #[cfg(feature = "metrics")]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    /// The name: its identity in the registry.
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.name.as_str()
    }

    /// The state. Reading applies what is due by the clock alone: the end of the wait with
    /// `auto_half_open`, `half_open_max_wait`, and the end of `warmup`. Without `auto_half_open` the state stays OPEN
    /// after the wait, until a call comes.
    #[must_use]
    pub fn state(&self) -> State {
        let inner = &*self.inner;
        let word = inner.word();
        if inner.moves_by_itself(word.state()) {
            inner.caught_up(|_| inner.word().state())
        } else {
            word.state()
        }
    }

    /// Whether a call made now would be permitted. Takes no permit and changes nothing but what
    /// [`state`](Self::state) does. With `count_running`, a call that this allows may yet be the one
    /// at which hanging calls are judged, and be rejected.
    #[must_use]
    pub fn would_permit(&self) -> bool {
        match self.state() {
            State::Disabled | State::MetricsOnly => true,
            State::Closed if self.inner.rare.ramp_length().is_none() => true,
            State::ForcedOpen => false,
            State::Closed | State::Open | State::HalfOpen => self.inner.caught_up(|stay| {
                let now = self.inner.clock.now();
                self.inner.has_room(stay, now)
            }),
        }
    }

    /// The present figures.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.inner.caught_up(|stay| self.inner.snapshot(stay))
    }

    /// In words: the state, why it is in it, how far each rule is from opening it, and what comes
    /// next. For logs and for people.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        let (snapshot, opened, layers) = self.seen_together();
        Explanation::new(&snapshot, opened, layers.settings())
    }

    /// The figures, why it was opened last and the configuration, of one moment.
    pub(crate) fn seen_together(&self) -> (Snapshot, Option<Cause>, Arc<Layers>) {
        self.inner
            .caught_up(|stay| (self.inner.snapshot(stay), stay.opened, stay.layers()))
    }

    /// The effective settings that were chosen somewhere, each with its value and the layer that
    /// chose it. Settings not listed have the built-in default.
    #[must_use]
    pub fn config(&self) -> Vec<crate::ChosenSetting> {
        self.inner.layers().chosen()
    }

    /// Back to CLOSED with an empty window and no memory of earlier openings. Publishes the
    /// transition, if it is one, then [`EventKind::Reset`].
    pub fn reset(&self) {
        self.by_hand(State::Closed, Wait::Computed, true);
    }

    /// To CLOSED with an empty window. This also ends DISABLED, FORCED_OPEN and METRICS_ONLY.
    pub fn close(&self) {
        self.by_hand(State::Closed, Wait::Computed, false);
    }

    /// To OPEN, for the configured wait; counts as one more opening in a row. From OPEN, begins the
    /// wait anew.
    ///
    /// # Errors
    ///
    /// In METRICS_ONLY.
    pub fn open(&self) -> Result<(), IllegalTransition> {
        self.by_hand_if_legal(State::Open, Wait::Computed)
    }

    /// To OPEN for this long, at least 1 ms; `Duration::MAX` means until told otherwise. Does not
    /// count as one more opening in a row.
    ///
    /// # Errors
    ///
    /// In METRICS_ONLY.
    pub fn open_for(&self, wait: Duration) -> Result<(), IllegalTransition> {
        self.by_hand_if_legal(State::Open, Wait::Given(nanos(wait)))
    }

    /// To HALF_OPEN, with all its probes to give out.
    ///
    /// # Errors
    ///
    /// In CLOSED and METRICS_ONLY.
    pub fn half_open(&self) -> Result<(), IllegalTransition> {
        self.by_hand_if_legal(State::HalfOpen, Wait::Computed)
    }

    /// To FORCED_OPEN: rejects every call until told otherwise.
    pub fn force_open(&self) {
        self.by_hand(State::ForcedOpen, Wait::Computed, false);
    }

    /// To DISABLED: permits every call and records nothing until told otherwise.
    pub fn disable(&self) {
        self.by_hand(State::Disabled, Wait::Computed, false);
    }

    /// Ends DISABLED: the same as [`close`](Self::close).
    pub fn enable(&self) {
        self.close();
    }

    /// To METRICS_ONLY: permits every call and records, but never opens.
    pub fn metrics_only(&self) {
        self.by_hand(State::MetricsOnly, Wait::Computed, false);
    }

    /// Calls `listener` with every event of the interest, until the subscription is dropped.
    ///
    /// Events come in order and one at a time, on the thread that caused them or on one that is
    /// already delivering, outside of all locks, so a slow listener slows that caller down. A
    /// listener may use the breaker. Its panics are caught. While it runs, up to 1024 events wait;
    /// beyond that per-call events are dropped, and counted in [`Snapshot::dropped_events`].
    /// Transitions are delivered at once; per-call events that came while a thread was delivering
    /// may be left to the next event.
    pub fn subscribe(
        &self,
        interest: Interest,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.inner.events.hub().subscribe(interest, listener)
    }

    fn by_hand_if_legal(&self, to: State, wait: Wait) -> Result<(), IllegalTransition> {
        let inner = &*self.inner;
        let result = {
            let mut stay = inner.lock();
            let now = inner.clock.now();
            inner.settle(&mut stay, now);
            let from = inner.word().state();
            let illegal =
                from == State::MetricsOnly || (from == State::Closed && to == State::HalfOpen);
            if illegal {
                let name = inner.name.clone();
                Err(IllegalTransition { name, from, to })
            } else {
                inner.transit(&mut stay, to, wait, now, Cause::Manual);
                Ok(())
            }
        };
        inner.announce();
        result
    }

    fn by_hand(&self, to: State, wait: Wait, reset: bool) {
        let inner = &*self.inner;
        {
            let mut stay = inner.lock();
            let now = inner.clock.now();
            inner.settle(&mut stay, now);
            inner.transit(&mut stay, to, wait, now, Cause::Manual);
            if reset {
                inner.push(EventKind::Reset, now, stay.number);
            }
        }
        inner.announce();
    }
}

impl Inner {
    /// To this state, as if by hand, if the present state and the number of the stay are `right`;
    /// returns the number of the new one. The caller announces.
    pub(crate) fn put_if(&self, to: State, right: impl FnOnce(State, u64) -> bool) -> Option<u64> {
        let mut stay = self.lock();
        let now = self.clock.now();
        self.settle(&mut stay, now);
        right(self.word().state(), stay.number).then(|| {
            self.transit(&mut stay, to, Wait::Computed, now, Cause::Manual);
            stay.number
        })
    }

    /// Whether the clock alone can end a stay in this state.
    fn moves_by_itself(&self, state: State) -> bool {
        match state {
            State::Open => self.limits.flags().auto_half_open(),
            // Failures may be forgotten too.
            State::HalfOpen => true,
            State::Closed | State::MetricsOnly => self.rare.warmup().is_some(),
            State::ForcedOpen | State::Disabled => false,
        }
    }

    /// Whether a call made now would be permitted, for the holder of the lock.
    fn has_room(&self, stay: &Stay, now: Nanos) -> bool {
        match self.word().state() {
            State::Disabled | State::MetricsOnly => true,
            State::Closed => self.rare.ramp_length().is_none_or(|length| {
                let ramp = self.rare.ramp();
                ramp.is_none_or(|ramp| ramp.would_admit(now, length))
            }),
            State::ForcedOpen => false,
            State::HalfOpen => !stay.is_full() && self.rest_of_pause(stay, now).is_none(),
            // With a pause before the first probe, the call that ends the wait is rejected.
            State::Open => {
                stay.settings().half_open_delay.is_none() && self.rest_of_wait(now) == Some(0)
            }
        }
    }

    /// Applies what is due, then reads under the lock.
    fn caught_up<T>(&self, read: impl FnOnce(&Stay) -> T) -> T {
        let answer = {
            let mut stay = self.lock();
            self.settle(&mut stay, self.clock.now());
            read(&stay)
        };
        self.announce();
        answer
    }

    /// Applies what is due and says when the next transition is that needs no call.
    #[cfg(feature = "tokio")]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.caught_up(|stay| self.due(stay))
    }

    /// In OPEN, how much of the wait is left; `None` if it has no end.
    pub(crate) fn rest_of_wait(&self, now: Nanos) -> Option<Nanos> {
        let word = self.word();
        let deadline = (word.state() == State::Open).then(|| word.deadline());
        let due = self.birth.saturating_add(deadline.flatten()?);
        Some(due.saturating_sub(now))
    }

    /// The configuration in force. A HALF_OPEN stay that began before it came in force ends under
    /// its own.
    pub(crate) fn layers(&self) -> Arc<Layers> {
        Arc::clone(&self.lock().layers)
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            rejected: self.tally.total(What::Rejected),
            late: self.rare.total(|things| &things.late),
            ignored: self.rare.total(|things| &things.ignored),
            timed_out: self.rare.total(|things| &things.timed_out),
            within_probes: self.rare.total(|things| &things.within_probes),
            fallbacks: self.tally.total(What::Fallback),
        }
    }

    /// A fallback is going to answer.
    pub(crate) fn count_fallback(&self) {
        self.tally.count(What::Fallback);
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn count_timeout(&self) {
        // Relaxed: a total for reports.
        let total = &self.rare.things().timed_out;
        total.fetch_add(1, crate::sync::Ordering::Relaxed);
    }
}

/// Counted since the breaker was made.
pub(crate) struct Totals {
    pub(crate) rejected: u64,
    pub(crate) late: u64,
    pub(crate) ignored: u64,
    pub(crate) timed_out: u64,
    pub(crate) within_probes: u64,
    pub(crate) fallbacks: u64,
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name())
            // As it stands: printing must not make a transition, whose listeners run in here.
            .field("state", &self.inner.word().state())
            .finish_non_exhaustive()
    }
}
