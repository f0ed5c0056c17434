//! The phases, and one run through all of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{error::Error, thread};

use cb_examples::server::{Behaviour, DrillServer};
use cb_runtime::{State, registry};
use hyper::Uri;

use crate::caller::{Call, Caller};
use crate::policy::SLOW_ANSWER;
use crate::watch::{Change, Watch};

/// What a phase is there to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Calls succeed, nobody is rejected.
    Healthy,
    /// The service says no, and nothing opens.
    Business,
    /// The breaker opens on failures.
    Failing,
    /// The breaker opens although every call succeeds.
    Slow,
    /// The breaker opens on calls that never end.
    Hanging,
    /// The service is well again: the breaker closes, then it is as in `Healthy`.
    Recovery,
}

pub(crate) struct Phase {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    behaviour: Behaviour,
    /// In a recovery: after the breaker has closed.
    pub(crate) calls: u32,
}

const fn phase(name: &'static str, kind: Kind, behaviour: Behaviour, calls: u32) -> Phase {
    Phase {
        name,
        kind,
        behaviour,
        calls,
    }
}

/// In a hang so many calls are made that the few which must find out are a small part of them.
pub(crate) const PHASES: [Phase; 11] = [
    phase("healthy", Kind::Healthy, Behaviour::Healthy, 40),
    phase("503", Kind::Failing, Behaviour::Status(503), 60),
    phase("recovery", Kind::Recovery, Behaviour::Healthy, 20),
    phase("404", Kind::Business, Behaviour::Status(404), 40),
    phase("healthy", Kind::Healthy, Behaviour::Healthy, 20),
    phase("slow", Kind::Slow, Behaviour::Slow(SLOW_ANSWER), 60),
    phase("recovery", Kind::Recovery, Behaviour::Healthy, 20),
    phase("hang", Kind::Hanging, Behaviour::Hang, 300),
    phase("recovery", Kind::Recovery, Behaviour::Healthy, 20),
    phase("refused", Kind::Failing, Behaviour::Refused, 60),
    phase("recovery", Kind::Recovery, Behaviour::Healthy, 20),
];

/// Between two calls of one worker.
const PAUSE: Duration = Duration::from_millis(15);
/// No phase takes longer: without a working breaker a hang would.
const PATIENCE: Duration = Duration::from_secs(20);

/// What happened in a phase.
pub(crate) struct Report {
    pub(crate) phase: &'static Phase,
    /// Since the start of the run.
    pub(crate) at: Duration,
    pub(crate) calls: Vec<Call>,
    /// Those of a recovery that were made after the breaker had closed; they are in `calls` too.
    pub(crate) settled: Vec<Call>,
    pub(crate) reached_before: u64,
    pub(crate) reached: u64,
    pub(crate) changes: Vec<Change>,
    /// From the switch to the closed breaker.
    pub(crate) recovered_after: Option<Duration>,
    /// At the end of the phase.
    pub(crate) state: Option<State>,
}

impl Report {
    pub(crate) fn total_wait(&self) -> Duration {
        self.calls.iter().map(|call| call.waited).sum()
    }

    /// How long those waited that the breaker answered.
    pub(crate) fn spared_waits(&self) -> Vec<Duration> {
        self.calls
            .iter()
            .filter(|call| call.spared())
            .map(|call| call.waited)
            .collect()
    }

    /// The first time that the breaker opened.
    pub(crate) fn opening(&self) -> Option<&Change> {
        self.changes.iter().find(|change| change.to == State::Open)
    }
}

/// Runs all phases against a server of its own.
pub(crate) fn run(caller: &Caller) -> Result<Vec<Report>, Box<dyn Error + Send + Sync>> {
    let server = DrillServer::start()?;
    let uri: Uri = server.url("/stock/42").parse()?;
    let watch = caller
        .breaker
        .map(|name| Watch::start(name, server.reached_counter()));
    let start = Instant::now();
    PHASES
        .iter()
        .map(|phase| {
            server.switch(phase.behaviour)?;
            let at = start.elapsed();
            let reached_before = server.reached();
            let switched = Instant::now();

            let mut calls = Vec::new();
            let mut recovered_after = None;
            if let (Kind::Recovery, Some(name)) = (phase.kind, caller.breaker) {
                let more = move || state_of(name).is_some_and(|state| state != State::Closed);
                calls = caller.crowd(&uri, PAUSE, until(switched + PATIENCE, more));
                recovered_after = Some(switched.elapsed());
            }
            let settled = caller.crowd(&uri, PAUSE, until(switched + PATIENCE, count(phase.calls)));
            calls.extend(&settled);

            Ok(Report {
                phase,
                at,
                calls,
                settled,
                reached_before,
                reached: server.reached() - reached_before,
                changes: watch.as_ref().map(Watch::take).unwrap_or_default(),
                recovered_after,
                state: caller.breaker.and_then(state_of),
            })
        })
        .collect()
}

/// Runs two drills at the same time, each against its own server.
pub(crate) fn run_both(
    callers: &[Caller; 2],
) -> Result<[Vec<Report>; 2], Box<dyn Error + Send + Sync>> {
    let [first, second] = callers;
    thread::scope(|scope| {
        let other = scope.spawn(|| run(second));
        let reports = run(first)?;
        Ok([reports, other.join().map_err(|_| "a drill panicked")??])
    })
}

fn state_of(breaker: &str) -> Option<State> {
    registry().get(breaker).map(|breaker| breaker.state())
}

fn until(
    end: Instant,
    more: impl Fn() -> bool + Send + Sync + 'static,
) -> impl Fn() -> bool + Send + Sync + 'static {
    move || Instant::now() < end && more()
}

/// Says yes `calls` times, whoever asks.
fn count(calls: u32) -> impl Fn() -> bool + Send + Sync + 'static {
    let left = AtomicU32::new(calls);
    move || {
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            .is_ok()
    }
}
