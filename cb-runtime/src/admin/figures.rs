//! The figures that the page draws, and which of them are news to a client.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use axum::body::Bytes;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::Shared;
use super::messages::message;
use crate::breaker::CircuitBreaker;
use crate::config::{Settings, Window};
use crate::event::EventKind;
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::sync::{Mutex, lock};

/// Clients that ask within this time get the same figures.
const FRESH: Duration = Duration::from_millis(500);
/// A point in time that moves by less was read at another nanosecond.
const SAME: f64 = 0.05;
/// Names of removed breakers that are remembered, for clients that have yet to hear of them.
const REMOVED: usize = 256;
/// Transitions of each breaker that a client is told when it comes.
const TRANSITIONS: usize = 16;

/// What a breaker is and does, in a few hundred bytes. Points in time, not how long since or until,
/// so that it changes only if something happens.
#[derive(Serialize)]
struct Tile {
    name: String,
    state: State,
    generation: u64,
    since: f64,
    /// In OPEN when the wait ends, in HALF_OPEN when the stay does.
    until: Option<f64>,
    wait: Option<f64>,
    calls: u32,
    failed: u32,
    slow: u32,
    slow_failed: u32,
    cancelled: u32,
    not_permitted: u64,
    failure_rate: Option<f64>,
    slow_rate: Option<f64>,
    min_calls: u32,
    consecutive_failures: u32,
    attempt: u64,
    in_flight: Option<u32>,
    overdue: Option<u32>,
    admitted: Option<f64>,
    /// When the warm-up ends.
    warm_at: Option<f64>,
    probes: Option<Probes>,
    late: u64,
    ignored: u64,
    timed_out: u64,
    rejected: u64,
    fallbacks: u64,
    /// How often it went to OPEN.
    openings: u64,
    last_recovery: Option<f64>,
    /// Why it is not closed.
    opened: Option<String>,
    limits: Limits,
}

#[derive(Serialize)]
struct Probes {
    permitted: u32,
    in_flight: u32,
    returned: u32,
    deciding: u32,
    good_in_a_row: u32,
    /// When the first may be sent.
    from: Option<f64>,
}

#[derive(Serialize)]
struct Limits {
    window_calls: Option<u32>,
    window_seconds: Option<f64>,
    min_calls: u32,
    failure_rate: f64,
    slow: Option<f64>,
    slow_rate: f64,
    failure_count: Option<u32>,
    consecutive_failures: Option<u32>,
    auto_half_open: bool,
}

/// How long a call takes at most without being slow.
pub(super) fn slow(breaker: &CircuitBreaker) -> Option<Duration> {
    let layers = breaker.inner.layers();
    layers.settings().slow.map(Duration::from_nanos)
}

impl Limits {
    fn of(settings: &Settings) -> Self {
        let (window_calls, window_seconds) = match settings.window {
            Window::Calls(calls) => (Some(calls), None),
            Window::Time(time) => (None, Some(time.as_secs_f64())),
        };
        Self {
            window_calls,
            window_seconds,
            min_calls: settings.min_calls,
            failure_rate: settings.failure_rate.value(),
            slow: settings
                .slow
                .map(|slow| Duration::from_nanos(slow).as_secs_f64()),
            slow_rate: settings.slow_rate.value(),
            failure_count: settings.failure_count,
            consecutive_failures: settings.consecutive_failures,
            auto_half_open: settings.auto_half_open,
        }
    }
}

impl Tile {
    fn of(breaker: &CircuitBreaker, now: Duration) -> Self {
        let (snapshot, cause, layers) = breaker.seen_together();
        let limits = Limits::of(layers.settings());
        Self::new(snapshot, cause.map(|cause| cause.to_string()), limits, now)
    }

    fn new(snapshot: Snapshot, cause: Option<String>, limits: Limits, now: Duration) -> Self {
        let at = |time: Duration| now.saturating_add(time).as_secs_f64();
        let later = |rest: Option<Duration>| rest.map(at);
        let until = match snapshot.state {
            State::Open => later(snapshot.retry_after),
            _ => later(snapshot.probes.and_then(|probes| probes.ends_in)),
        };
        let openings = snapshot.totals_of(State::Open).entries;
        let opened = match snapshot.state {
            State::Open | State::HalfOpen => cause,
            _ => None,
        };
        Self {
            name: snapshot.name,
            state: snapshot.state,
            generation: snapshot.generation,
            since: now.saturating_sub(snapshot.in_state_for).as_secs_f64(),
            until,
            wait: snapshot.wait.map(|wait| wait.as_secs_f64()),
            calls: snapshot.calls,
            failed: snapshot.failed,
            slow: snapshot.slow,
            slow_failed: snapshot.slow_failed,
            cancelled: snapshot.cancelled,
            not_permitted: snapshot.not_permitted,
            failure_rate: snapshot.failure_rate,
            slow_rate: snapshot.slow_rate,
            min_calls: snapshot.min_calls,
            consecutive_failures: snapshot.consecutive_failures,
            attempt: snapshot.attempt,
            in_flight: snapshot.in_flight,
            overdue: snapshot.overdue,
            admitted: snapshot.admitted,
            warm_at: later(snapshot.warming),
            probes: snapshot.probes.map(|probes| Probes {
                permitted: probes.permitted,
                in_flight: probes.in_flight,
                returned: probes.returned,
                deciding: probes.deciding,
                good_in_a_row: probes.good_in_a_row,
                from: later(probes.pause),
            }),
            late: snapshot.late,
            ignored: snapshot.ignored,
            timed_out: snapshot.timed_out,
            rejected: snapshot.not_permitted_total,
            fallbacks: snapshot.fallbacks,
            openings,
            last_recovery: snapshot.last_recovery.map(|time| time.as_secs_f64()),
            opened,
            limits,
        }
    }

    /// Takes over the points in time that have not really moved.
    fn steady(&mut self, before: &Times) {
        for (now, before) in [
            (&mut self.until, before.until),
            (&mut self.warm_at, before.warm_at),
        ] {
            if let (Some(now), Some(before)) = (now, before) {
                if (*now - before).abs() < SAME {
                    *now = before;
                }
            }
        }
        if (self.since - before.since).abs() < SAME {
            self.since = before.since;
        }
    }

    fn times(&self) -> Times {
        Times {
            since: self.since,
            until: self.until,
            warm_at: self.warm_at,
        }
    }
}

struct Times {
    since: f64,
    until: Option<f64>,
    warm_at: Option<f64>,
}

/// The latest figures, for all clients.
#[derive(Default)]
pub(super) struct Figures(Mutex<Frame>);

#[derive(Default)]
struct Frame {
    taken: Option<Duration>,
    /// Rises with each frame in which something has changed.
    version: u64,
    tiles: BTreeMap<String, Written>,
    removed: VecDeque<(u64, String)>,
    /// Removals up to this version may be forgotten.
    forgotten: u64,
}

/// A tile as it was sent last, and since which version it looks like this.
struct Written {
    version: u64,
    json: Box<serde_json::value::RawValue>,
    times: Times,
}

/// How much of it a client has.
#[derive(Default)]
pub(super) struct Seen(Option<u64>);

impl Figures {
    /// A message with what is news to this client; without any, it still tells the time.
    pub(super) fn changed(&self, shared: &Shared, seen: &mut Seen) -> Bytes {
        let now = shared.registry.clock().elapsed();
        if lock(&self.0).is_stale(now) {
            // Not under the lock: reading a breaker may make a transition, whose listeners run here.
            let breakers = shared.registry.breakers();
            let tiles = breakers.iter().map(|one| Tile::of(one, now)).collect();
            let mut frame = lock(&self.0);
            // Unless another client's are there by now.
            if frame.is_stale(now) {
                frame.take(tiles, now);
            }
        }
        let frame = lock(&self.0);
        let since = seen.0.filter(|since| *since >= frame.forgotten);
        seen.0 = Some(frame.version);
        let news = News {
            now: now.as_secs_f64(),
            full: since.is_none(),
            breakers: Changed(&frame, since),
            removed: Removed(&frame, since),
            states: since.is_none().then_some(States(shared)),
        };
        message(Some("figures"), None, &news)
    }
}

impl Frame {
    fn is_stale(&self, now: Duration) -> bool {
        self.taken.is_none_or(|taken| now >= taken + FRESH)
    }

    fn take(&mut self, tiles: Vec<Tile>, now: Duration) {
        self.taken = Some(now);
        let version = self.version + 1;
        let mut before = std::mem::take(&mut self.tiles);
        for mut tile in tiles {
            let old = before.remove(&tile.name);
            if let Some(old) = &old {
                tile.steady(&old.times);
            }
            let times = tile.times();
            let Ok(json) = serde_json::value::to_raw_value(&tile) else {
                continue;
            };
            let unchanged = old.filter(|old| old.json.get() == json.get());
            let written = unchanged.unwrap_or_else(|| {
                self.version = version;
                Written {
                    version,
                    json,
                    times,
                }
            });
            self.tiles.insert(tile.name, written);
        }
        for name in before.into_keys() {
            self.version = version;
            self.removed.push_back((version, name));
            if self.removed.len() > REMOVED {
                let gone = self.removed.pop_front();
                self.forgotten = gone.map_or(self.forgotten, |(version, _)| version);
            }
        }
    }
}

#[derive(Serialize)]
struct News<'a> {
    now: f64,
    /// Whether these are all breakers that there are.
    full: bool,
    breakers: Changed<'a>,
    removed: Removed<'a>,
    /// In a full message: when each breaker went into which state.
    states: Option<States<'a>>,
}

struct Changed<'a>(&'a Frame, Option<u64>);

impl Serialize for Changed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let tiles = self.0.tiles.values();
        for tile in tiles.filter(|tile| self.1.is_none_or(|since| tile.version > since)) {
            list.serialize_element(&tile.json)?;
        }
        list.end()
    }
}

struct Removed<'a>(&'a Frame, Option<u64>);

impl Serialize for Removed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let removed = self.0.removed.iter();
        // A full message says all there is.
        for (_, name) in removed.filter(|(version, _)| self.1.is_some_and(|since| *version > since))
        {
            list.serialize_element(name)?;
        }
        list.end()
    }
}

struct States<'a>(&'a Shared);

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let transitions = self.0.history.transitions(TRANSITIONS);
        let mut map = serializer.serialize_map(None)?;
        for (name, records) in transitions {
            let steps: Vec<(f64, State, State)> = records
                .iter()
                .filter_map(|record| match record.event.kind {
                    EventKind::Transition { from, to, .. } => {
                        Some((record.event.at.as_secs_f64(), from, to))
                    }
                    _ => None,
                })
                .collect();
            map.serialize_entry(&name, &steps)?;
        }
        map.end()
    }
}
