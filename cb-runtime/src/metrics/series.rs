//! The series of one set of labels, and the breakers they are made of.

use std::collections::HashMap;
use std::sync::Arc;

use ::metrics::{Key, Label, Level, Metadata, Recorder};

use super::durations::AllTold;
use super::meter::{Meter, TIMED, Turn};
use super::names;
use super::reading::{Gauges, Reading, label};
use crate::breaker::CircuitBreaker;

const METADATA: Metadata<'static> =
    Metadata::new("cb_runtime", Level::INFO, Some("cb_runtime::metrics"));

/// A breaker, and what of its counts has been exported.
struct Source {
    breaker: CircuitBreaker,
    meter: Arc<Meter>,
    counters: Vec<u64>,
    turns: HashMap<Turn, u64>,
    durations: [AllTold; TIMED.len()],
    /// Calls that ended and had begun before anybody counted, below zero.
    uncounted: i64,
    gone: bool,
}

/// Keys are made once. The handles behind them are asked for with each refresh: an exporter that
/// has dropped a series for being idle makes it anew then, where a kept handle would lead nowhere.
#[derive(Default)]
pub(super) struct Series {
    labels: Vec<Label>,
    sources: Vec<Source>,
    counters: Vec<Key>,
    gauges: Vec<Key>,
    turns: HashMap<Turn, Key>,
    durations: [Option<Key>; TIMED.len()],
    next: Next,
}

/// What the next refresh tells.
#[derive(Default)]
struct Next {
    taken: bool,
    gauges: Gauges,
    counters: Vec<u64>,
    turns: HashMap<Turn, u64>,
}

impl Series {
    pub(super) fn new(labels: Vec<Label>) -> Self {
        Self {
            labels,
            ..Self::default()
        }
    }

    pub(super) fn breakers(&self) -> impl Iterator<Item = &CircuitBreaker> {
        self.sources.iter().map(|source| &source.breaker)
    }

    /// Takes the figures of one of its breakers.
    pub(super) fn take(&mut self, reading: Reading) {
        if self.gauges.is_empty() {
            self.make_keys(&reading);
        }
        let address = reading.breaker.address();
        let mut sources = self.sources.iter();
        let known = sources.position(|source| source.breaker.address() == address);
        let at = known.unwrap_or_else(|| {
            self.sources.push(Source::new(&reading));
            self.sources.len() - 1
        });
        let source = &mut self.sources[at];
        source.gone = !reading.listed;
        source.count(&reading, &mut self.next);
        self.next.taken = true;
        if reading.listed {
            let in_flight = source.in_flight(&reading);
            self.next.gauges.add(&reading, in_flight);
        }
    }

    /// Exports what was taken. `false` if none of its breakers is there any more: then its gauges
    /// have said that nothing is.
    pub(super) fn tell(&mut self, recorder: &dyn Recorder, with_durations: bool) -> bool {
        let next = std::mem::take(&mut self.next);
        if !next.taken {
            // Made by a refresh that runs at the same time.
            return true;
        }
        for (key, new) in self.counters.iter().zip(next.counters) {
            recorder.register_counter(key, &METADATA).increment(new);
        }
        for (turn, new) in next.turns {
            let (from, to, cause) = turn;
            let key = self.turns.entry(turn).or_insert_with(|| {
                let more = [("from", label(from)), ("to", label(to)), ("cause", cause)];
                key(names::TRANSITIONS, &self.labels, &more)
            });
            recorder.register_counter(key, &METADATA).increment(new);
        }
        let mut keys = self.gauges.iter();
        next.gauges.each(&mut |_, _, value| {
            if let Some(key) = keys.next() {
                recorder.register_gauge(key, &METADATA).set(value);
            }
        });
        if with_durations {
            self.tell_durations(recorder);
        }
        self.sources.retain(|source| !source.gone);
        !self.sources.is_empty()
    }

    fn make_keys(&mut self, reading: &Reading) {
        let labels = &self.labels;
        reading.counters(&mut |name, more, _| self.counters.push(key(name, labels, more)));
        Gauges::default().each(&mut |name, more, _| self.gauges.push(key(name, labels, more)));
    }

    fn tell_durations(&mut self, recorder: &dyn Recorder) {
        let kinds = self.durations.iter_mut().zip(TIMED).enumerate();
        for (at, (cached, outcome)) in kinds {
            let mut histogram = None;
            for source in &mut self.sources {
                let Some(durations) = source.meter.durations()[at] else {
                    continue;
                };
                durations.tell(&mut source.durations[at], |seconds, count| {
                    let histogram = histogram.get_or_insert_with(|| {
                        let more = [("outcome", outcome)];
                        let key =
                            cached.get_or_insert_with(|| key(names::DURATION, &self.labels, &more));
                        recorder.register_histogram(key, &METADATA)
                    });
                    histogram.record_many(seconds, count);
                });
            }
        }
    }
}

impl Source {
    fn new(reading: &Reading) -> Self {
        Self {
            breaker: reading.breaker.clone(),
            meter: Arc::clone(&reading.meter),
            counters: Vec::new(),
            turns: HashMap::new(),
            durations: Default::default(),
            uncounted: 0,
            gone: false,
        }
    }

    /// Adds what has come since the last time. A reading may be older than that.
    fn count(&mut self, reading: &Reading, next: &mut Next) {
        let mut at = 0;
        reading.counters(&mut |_, _, value| {
            for counts in [&mut next.counters, &mut self.counters] {
                if counts.len() == at {
                    counts.push(0);
                }
            }
            next.counters[at] += value.saturating_sub(self.counters[at]);
            self.counters[at] = value.max(self.counters[at]);
            at += 1;
        });
        for (turn, count) in self.meter.turns() {
            let told = self.turns.entry(turn).or_default();
            *next.turns.entry(turn).or_default() += count.saturating_sub(*told);
            *told = count.max(*told);
        }
    }

    fn in_flight(&mut self, reading: &Reading) -> i64 {
        self.uncounted = self.uncounted.min(reading.in_flight());
        reading.in_flight() - self.uncounted
    }
}

fn key(name: &'static str, labels: &[Label], more: &[(&'static str, &'static str)]) -> Key {
    let more = more
        .iter()
        .map(|(name, value)| Label::from_static_parts(name, value));
    Key::from_parts(name, labels.iter().cloned().chain(more).collect::<Vec<_>>())
}
