//! A breaker on a clock that only the test moves, and a log of its events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{
    CallNotPermitted, CircuitBreaker, Config, Event, EventKind, Interest, Outcome, Permit,
    Registry, Subscription,
};

/// Calls that fail.
pub fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

/// Calls that succeed.
pub fn succeed(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Ok::<_, &str>(()));
    }
}

/// A mutex may be locked whatever became of another test thread.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds.
#[must_use]
pub const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Milliseconds.
#[must_use]
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// One nanosecond, the smallest step of a clock.
pub const NANO: Duration = Duration::from_nanos(1);

/// A breaker, alone in its registry.
pub struct Bench {
    /// The clock of both.
    pub clock: TestClock,
    /// The registry.
    pub registry: Registry,
    /// The breaker.
    pub breaker: CircuitBreaker,
}

impl Bench {
    /// # Panics
    ///
    /// If the configuration is invalid.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let clock = TestClock::new();
        let registry = Registry::with_clock(&clock);
        let breaker = registry
            .create("bench", config)
            .expect("a valid configuration");
        Self {
            clock,
            registry,
            breaker,
        }
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// A permit.
    ///
    /// # Panics
    ///
    /// If the call is rejected.
    pub fn permit(&self) -> Permit<'_> {
        self.breaker.try_acquire().expect("permitted")
    }

    /// The rejection of a call.
    ///
    /// # Panics
    ///
    /// If the call is permitted.
    #[must_use]
    pub fn rejection(&self) -> CallNotPermitted {
        match self.breaker.try_acquire() {
            Ok(_) => panic!("permitted"),
            Err(rejection) => rejection,
        }
    }

    /// Permitted calls that end at once.
    pub fn calls(&self, times: u32, outcome: Outcome) {
        for _ in 0..times {
            self.permit().finish(outcome);
        }
    }

    /// Calls that succeed.
    pub fn succeed(&self, times: u32) {
        self.calls(times, Outcome::Success);
    }

    /// Calls that fail.
    pub fn fail(&self, times: u32) {
        self.calls(times, Outcome::Failure);
    }

    /// A call that takes so long.
    pub fn call_for(&self, time: Duration, outcome: Outcome) {
        let permit = self.permit();
        self.advance(time);
        permit.finish(outcome);
    }

    /// Writes down the breaker's events from now on.
    #[must_use]
    pub fn log(&self, interest: Interest) -> Log {
        Log::start(|listener| self.breaker.subscribe(interest, listener))
    }
}

/// What was heard, in order.
pub struct Log {
    events: Arc<Mutex<Vec<Event>>>,
    subscription: Subscription,
}

impl Log {
    /// Subscribes with a listener that writes down what it hears.
    pub fn start(subscribe: impl FnOnce(Listener) -> Subscription) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&events);
        let listener: Listener = Box::new(move |event| lock(&sink).push(event.clone()));
        Self {
            events,
            subscription: subscribe(listener),
        }
    }

    /// The events since the last time somebody asked.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.events))
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.take()
            .iter()
            .map(|event| event_name(&event.kind))
            .collect()
    }

    /// Unsubscribes; the events so far can still be taken from what is returned.
    #[must_use]
    pub fn stop(self) -> Arc<Mutex<Vec<Event>>> {
        drop(self.subscription);
        self.events
    }
}

/// A boxed listener.
pub type Listener = Box<dyn Fn(&Event) + Send + Sync>;

/// The name of an event, as the reference breaker writes it where it has the same one.
#[must_use]
pub fn event_name(kind: &EventKind) -> String {
    let name = match kind {
        EventKind::Success { .. } => "SUCCESS",
        EventKind::Error { .. } => "ERROR",
        EventKind::Ignored { .. } => "IGNORED_ERROR",
        EventKind::Cancelled { .. } => "CANCELLED",
        EventKind::Late => "LATE",
        EventKind::NotPermitted { .. } => "NOT_PERMITTED",
        EventKind::FailureRateExceeded { .. } => "FAILURE_RATE_EXCEEDED",
        EventKind::SlowRateExceeded { .. } => "SLOW_CALL_RATE_EXCEEDED",
        EventKind::Reset => "RESET",
        EventKind::Transition { from, to, .. } => return format!("{from}->{to}"),
        other => return format!("{other:?}"),
    };
    name.to_owned()
}
