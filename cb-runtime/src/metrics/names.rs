//! The table of all metrics: their names, kinds, labels and meaning.

/// What a metric is to the exporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows while the process runs.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Durations.
    Histogram,
}

/// One metric of [`METRICS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// The kind.
    pub kind: Kind,
    /// The labels besides `name`, and `key` where the breaker has one.
    pub labels: &'static [&'static str],
    /// What it says, with its unit.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $kind:ident $name:literal [$($label:literal)*] $help:literal;)*) => {
        $(pub(super) const $constant: &str = $name;)*

        /// All metrics, in the order of the table in the [module's documentation](super).
        pub const METRICS: &[Metric] = &[$(Metric {
            name: $name,
            kind: Kind::$kind,
            labels: &[$($label),*],
            help: $help,
        }),*];
    };
}

metrics! {
    CALLS = Counter "circuit_breaker_calls_total" ["outcome" "slow"]
        "Calls that were permitted and have ended, by outcome.";
    DURATION = Histogram "circuit_breaker_call_duration_seconds" ["outcome"]
        "Durations of calls in seconds, from the permission to the end.";
    TIMEOUTS = Counter "circuit_breaker_timeouts_total" []
        "Calls that were dropped at their timeout; they are failures as well.";
    REJECTIONS = Counter "circuit_breaker_rejections_total" ["reason"]
        "Calls that were not permitted, by reason; they are no calls.";
    FALLBACKS = Counter "circuit_breaker_fallbacks_total" []
        "Calls that a fallback answered.";
    PROBES = Counter "circuit_breaker_probes_total" ["outcome"]
        "Recorded calls of HALF_OPEN, by outcome; they are calls as well.";
    SLOW_PROBES = Counter "circuit_breaker_slow_probes_total" []
        "Those of the probes that were slow, with whatever result.";
    TRANSITIONS = Counter "circuit_breaker_transitions_total" ["from" "to" "cause"]
        "Changes of the state, by the rule that decided.";
    ENTRIES = Counter "circuit_breaker_state_entries_total" ["state"]
        "How often a state was entered.";
    STATE_TIME = Counter "circuit_breaker_state_seconds_total" ["state"]
        "Time spent in a state, in whole seconds.";
    DROPPED = Counter "circuit_breaker_dropped_events_total" []
        "Per-call events that slow listeners have not heard.";
    STATE = Gauge "circuit_breaker_state" ["state"]
        "1 for the state the breaker is in, 0 for the others.";
    IN_STATE = Gauge "circuit_breaker_in_state_seconds" []
        "How long the present stay has lasted, in seconds.";
    FAILURE_RATIO = Gauge "circuit_breaker_failure_ratio" []
        "Failed of recorded calls, 0 to 1; NaN below the minimum number of calls.";
    SLOW_RATIO = Gauge "circuit_breaker_slow_ratio" []
        "Slow of recorded calls, 0 to 1; NaN below the minimum number of calls.";
    WINDOW_CALLS = Gauge "circuit_breaker_window_calls" []
        "Recorded calls in the window, or probes that returned.";
    WINDOW_FAILED = Gauge "circuit_breaker_window_failed_calls" []
        "Those of them that failed.";
    WINDOW_SLOW = Gauge "circuit_breaker_window_slow_calls" []
        "Those of them that were slow.";
    MIN_CALLS = Gauge "circuit_breaker_min_calls" []
        "How many recorded calls it takes until a rate is judged.";
    CONSECUTIVE = Gauge "circuit_breaker_consecutive_failures" []
        "Failures in a row.";
    OPENINGS = Gauge "circuit_breaker_openings_in_a_row" []
        "Openings without a closing in between.";
    NEXT_PROBE = Gauge "circuit_breaker_next_probe_seconds" []
        "Seconds until the next probe in OPEN, +Inf if there will be none; NaN in other states.";
    PROBES_IN_FLIGHT = Gauge "circuit_breaker_probes_in_flight" []
        "Probes under way.";
    CALLS_IN_FLIGHT = Gauge "circuit_breaker_calls_in_flight" []
        "Calls under way, probes included.";
    LAST_RECOVERY = Gauge "circuit_breaker_last_recovery_seconds" []
        "How long the latest recovery took, from the opening to the closing; NaN before the first.";
}
