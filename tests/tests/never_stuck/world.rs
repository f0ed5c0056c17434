//! One breaker, its calls under way, and the steps that are done with it.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    CallError, CallNotPermitted, CircuitBreaker, Interest, Outcome, Permit, Reason, Registry,
    Snapshot, State,
};
use cb_tests::harness::Log;

use super::given::{Given, HalfOpen};
use super::invariants::Seen;
use super::random::Random;

/// Steps end early at this age of the breaker, so that the checks at the end still have years.
pub(crate) const OLDEST: Duration = Duration::from_secs(40 * 365 * 86_400);

const NAME: &str = "never stuck";

/// How a call ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Success,
    Failure,
    Ignored,
    /// The body panics; a permit is dropped by the unwinding.
    Panic,
    /// What judges the value panics.
    JudgePanic,
    Dropped,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ByHand {
    Reset,
    Close,
    Open,
    HalfOpen,
    Force,
    Disable,
    MetricsOnly,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A permit that stays under way.
    Acquire,
    /// A future that stays under way.
    Spawn,
    /// The end of one that is under way.
    Finish(usize, End),
    /// A whole call that takes so long.
    Call(End, Duration),
    Advance(Duration),
    /// To so many nanoseconds before the end of the wait, or of the pause, or of the stay.
    ToDeadline(u64),
    ByHand(ByHand),
    OpenFor(Duration),
    /// Other settings, drawn from this seed.
    Configure(u64),
    /// The downstream is healthy from here on: the breaker must close. The sequence goes on.
    Heal,
}

type Future = Pin<Box<dyn std::future::Future<Output = Result<(), CallError<Outcome>>>>>;

enum Call {
    Permit(Permit<'static>),
    Future(Future, Rc<Cell<Option<End>>>),
}

struct Flying {
    generation: u64,
    call: Call,
}

pub(crate) struct World {
    /// In force.
    pub(crate) given: Given,
    /// The latest HALF_OPEN stay that was seen, with the settings it began with.
    half_open: (u64, HalfOpen),
    /// The stay in which the settings last changed.
    pub(crate) changed_in: u64,
    pub(crate) clock: TestClock,
    registry: Registry,
    pub(crate) breaker: CircuitBreaker,
    pub(crate) log: Log,
    pub(crate) seen: Seen,
    /// The longest wait that was asked for by hand.
    pub(crate) by_hand_wait: Duration,
    flying: Vec<Flying>,
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
pub(crate) use ensure;

pub(crate) type Checked = Result<(), String>;

impl World {
    pub(crate) fn new(given: Given, start: Duration, interest: Interest) -> Self {
        let clock = TestClock::starting_at(start);
        let registry = Registry::with_clock(&clock);
        registry
            .configure(NAME, given.config.clone())
            .expect("checked before");
        let breaker = registry.get_or_create(NAME);
        let log = Log::start(|listener| breaker.subscribe(interest, listener));
        Self {
            seen: Seen::first(&breaker.snapshot()),
            half_open: (0, given.half_open),
            changed_in: 0,
            given,
            clock,
            registry,
            breaker,
            log,
            by_hand_wait: Duration::ZERO,
            flying: Vec::new(),
        }
    }

    /// The settings of the HALF_OPEN stay that is going on, or of the next one.
    pub(crate) fn half_open(&self) -> HalfOpen {
        let shown = self.breaker.snapshot();
        if shown.state == State::HalfOpen && shown.generation == self.half_open.0 {
            self.half_open.1
        } else {
            self.given.half_open
        }
    }

    /// To be called before the settings change: notes those that a stay has begun with.
    pub(crate) fn look(&mut self) {
        let shown = self.breaker.snapshot();
        if shown.state == State::HalfOpen && shown.generation != self.half_open.0 {
            self.half_open = (shown.generation, self.given.half_open);
        }
    }

    fn configure(&mut self, seed: u64) {
        self.look();
        let given = Given::draw(&mut Random::new(seed));
        // No wait ends before now, however much shorter it has become.
        let served = self.breaker.snapshot().in_state_for;
        let longest = self.by_hand_wait.max(self.given.longest_wait);
        self.by_hand_wait = longest.max(served);
        self.registry
            .configure(NAME, given.config.clone())
            .expect("checked before");
        self.changed_in = self.breaker.snapshot().generation;
        self.seen.configured();
        self.given = given;
    }

    pub(crate) fn under_way(&self) -> usize {
        self.flying.len()
    }

    /// Those that were admitted in this stay.
    pub(crate) fn under_way_in(&self, generation: u64) -> usize {
        let here = |flying: &&Flying| flying.generation == generation;
        self.flying.iter().filter(here).count()
    }

    /// Ends all that is under way.
    pub(crate) fn drop_calls(&mut self) {
        self.flying.clear();
    }

    pub(crate) fn apply(&mut self, step: Step) -> Checked {
        match step {
            Step::Acquire => self.acquire(),
            Step::Spawn => self.spawn(),
            Step::Finish(which, end) => self.finish(which, end),
            Step::Call(end, time) => self.call(end, time),
            Step::Advance(by) => {
                self.advance(by);
                Ok(())
            }
            Step::ToDeadline(short_by) => {
                self.to_deadline(short_by);
                Ok(())
            }
            Step::ByHand(what) => self.by_hand(what),
            Step::OpenFor(wait) => {
                let legal = self.breaker.state() != State::MetricsOnly;
                let done = self.breaker.open_for(wait);
                ensure!(done.is_ok() == legal, "open_for: {done:?}");
                if legal {
                    self.by_hand_wait = self.by_hand_wait.max(wait);
                }
                Ok(())
            }
            Step::Configure(seed) => {
                self.configure(seed);
                Ok(())
            }
            Step::Heal => super::ends::closes(self),
        }
    }

    /// Not beyond the greatest age.
    pub(crate) fn advance(&self, by: Duration) {
        let left = OLDEST.saturating_sub(self.clock.elapsed());
        self.clock.advance(by.min(left));
    }

    fn to_deadline(&self, short_by: u64) {
        let shown = self.breaker.snapshot();
        let pause = shown.probes.and_then(|probes| probes.pause);
        let rest = shown.probes.and_then(|probes| probes.ends_in);
        let left = shown.retry_after.or(pause).or(rest).unwrap_or_default();
        self.advance(left.saturating_sub(Duration::from_nanos(short_by)));
    }

    fn by_hand(&mut self, what: ByHand) -> Checked {
        let before = self.breaker.snapshot();
        let from = before.state;
        let breaker = &self.breaker;
        let (done, legal) = match what {
            ByHand::Open => (breaker.open().is_ok(), from != State::MetricsOnly),
            ByHand::HalfOpen => (
                breaker.half_open().is_ok(),
                !matches!(from, State::MetricsOnly | State::Closed),
            ),
            _ => {
                match what {
                    ByHand::Reset => breaker.reset(),
                    ByHand::Force => breaker.force_open(),
                    ByHand::Disable => breaker.disable(),
                    ByHand::MetricsOnly => breaker.metrics_only(),
                    _ => breaker.close(),
                }
                (true, true)
            }
        };
        ensure!(done == legal, "{what:?} from {from}: {done}");
        let risen = breaker.snapshot().generation > before.generation;
        ensure!(risen == legal, "{what:?} from {from}: a new stay: {risen}");
        Ok(())
    }

    fn acquire(&mut self) -> Checked {
        self.ask(|world| {
            let permit = world.breaker.try_acquire_owned()?;
            Ok(Some(Call::Permit(permit)))
        })
    }

    fn spawn(&mut self) -> Checked {
        self.ask(|world| {
            let (breaker, end) = (world.breaker.clone(), Rc::new(Cell::new(None)));
            let gate = Rc::clone(&end);
            let judge = Rc::clone(&end);
            let mut future: Future = Box::pin(async move {
                let body = poll_fn(move |_| body(gate.get()));
                breaker
                    .call_async_with(|r| judged(judge.get(), r), body)
                    .await
            });
            match poll(&mut future) {
                Poll::Ready(Err(CallError::NotPermitted(rejection))) => Err(rejection),
                _ => Ok(Some(Call::Future(future, end))),
            }
        })
    }

    fn call(&mut self, end: End, time: Duration) -> Checked {
        let before = self.breaker.snapshot();
        let rejections = before.not_permitted_total;
        self.call_through(end, time)?;
        let now = self.breaker.snapshot();
        let recorded = matches!(now.state, State::Closed | State::MetricsOnly)
            && now.generation == before.generation
            && now.not_permitted_total == rejections;
        let expected = match end {
            End::Success | End::Dropped => 0,
            End::Failure | End::Panic | End::JudgePanic => before.consecutive_failures + 1,
            End::Ignored => before.consecutive_failures,
        };
        ensure!(
            !recorded || now.consecutive_failures == expected,
            "{end:?} makes {} failures in a row",
            now.consecutive_failures
        );
        Ok(())
    }

    fn call_through(&mut self, end: End, time: Duration) -> Checked {
        self.ask(|world| {
            let (breaker, mut ran) = (world.breaker.clone(), false);
            let called = catch_unwind(AssertUnwindSafe(|| {
                breaker.call_with(
                    |result| judged(Some(end), result),
                    || {
                        ran = true;
                        world.advance(time);
                        match body(Some(end)) {
                            Poll::Ready(result) => result,
                            Poll::Pending => Ok(()),
                        }
                    },
                )
            }));
            match called {
                Ok(Err(CallError::NotPermitted(rejection))) if !ran => Err(rejection),
                _ => Ok(None),
            }
        })
    }

    /// Asks for permission: the answer must be the one that was announced.
    fn ask(
        &mut self,
        ask: impl FnOnce(&Self) -> Result<Option<Call>, CallNotPermitted>,
    ) -> Checked {
        let would = self.breaker.would_permit();
        let before = self.breaker.snapshot();
        let answer = ask(self);
        // A call may be the one at which the calls that hang open the breaker.
        let opened = self.given.count_running && before.state == State::Closed;
        ensure!(
            would == answer.is_ok() || would && opened,
            "would_permit() was {would}"
        );
        match answer {
            Ok(None) => Ok(()),
            Ok(Some(call)) => {
                let now = self.breaker.snapshot();
                ensure!(
                    !matches!(now.state, State::Open | State::ForcedOpen),
                    "permitted in {}",
                    now.state
                );
                let generation = now.generation;
                self.flying.push(Flying { generation, call });
                Ok(())
            }
            Err(rejection) => self.rejected(&before, &rejection),
        }
    }

    fn rejected(&self, before: &Snapshot, rejection: &CallNotPermitted) -> Checked {
        let now = self.breaker.snapshot();
        let rejections = now.not_permitted_total - before.not_permitted_total;
        ensure!(rejections == 1, "{rejections} rejections for one call");
        let pause = now.probes.and_then(|probes| probes.pause);
        let expected = match before.state {
            State::ForcedOpen => (Reason::ForcedOpen, None),
            State::Open if before.retry_after != Some(Duration::ZERO) => {
                (Reason::Open, before.retry_after)
            }
            State::Closed if now.state == State::Open => (Reason::Open, now.retry_after),
            State::Closed => (Reason::Ramping, None),
            _ if pause.is_some() => (Reason::Pausing, pause),
            _ => (Reason::HalfOpenFull, None),
        };
        let told = (rejection.reason(), rejection.retry_after());
        ensure!(told == expected, "rejected by {told:?}, not {expected:?}");
        ensure!(told.1 != Some(Duration::ZERO), "rejected, and free at once");
        Ok(())
    }

    fn finish(&mut self, which: usize, end: End) -> Checked {
        if self.flying.is_empty() {
            return Ok(());
        }
        let index = which % self.flying.len();
        let Flying { generation, call } = self.flying.swap_remove(index);
        let before = self.breaker.snapshot();
        match call {
            Call::Permit(permit) => finish_permit(permit, end),
            Call::Future(future, gate) => finish_future(future, &gate, end),
        }
        let now = self.breaker.snapshot();
        let stale = generation != before.generation;
        let late = now.late - before.late;
        ensure!(
            late == u64::from(stale),
            "{late} late outcomes, stale: {stale}"
        );
        if stale {
            let mut changed = now;
            changed.late = before.late;
            ensure!(changed == before, "a late outcome changed the stay");
        }
        Ok(())
    }
}

fn finish_permit(permit: Permit<'static>, end: End) {
    match end {
        End::Success => permit.success(),
        End::Failure => permit.failure(),
        End::Ignored => permit.ignore(),
        End::Dropped => drop(permit),
        End::Panic | End::JudgePanic => {
            let _ = catch_unwind(AssertUnwindSafe(move || {
                let _unwound = permit;
                resume_unwind(Box::new(()));
            }));
        }
    }
}

fn finish_future(mut future: Future, gate: &Cell<Option<End>>, end: End) {
    if !matches!(end, End::Dropped) {
        gate.set(Some(end));
        let _ = catch_unwind(AssertUnwindSafe(|| poll(&mut future)));
    }
}

fn poll(future: &mut Future) -> Poll<Result<(), CallError<Outcome>>> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

/// What the guarded call does: the error says how it is to be judged.
fn body(end: Option<End>) -> Poll<Result<(), Outcome>> {
    match end {
        None | Some(End::Dropped) => Poll::Pending,
        Some(End::Success | End::JudgePanic) => Poll::Ready(Ok(())),
        Some(End::Failure) => Poll::Ready(Err(Outcome::Failure)),
        Some(End::Ignored) => Poll::Ready(Err(Outcome::Ignored)),
        Some(End::Panic) => resume_unwind(Box::new(())),
    }
}

fn judged(end: Option<End>, result: &Result<(), Outcome>) -> Outcome {
    if matches!(end, Some(End::JudgePanic)) {
        resume_unwind(Box::new(()));
    }
    result.err().unwrap_or(Outcome::Success)
}
