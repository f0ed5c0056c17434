//! What can be written: one table of keys, and what each takes.

/// What a key takes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Text,
    Count,
    Percent,
    Factor,
    Duration,
    Window,
    Flag,
    Choice(&'static [(&'static str, &'static str)]),
    Classes,
    Predicate,
    Function,
    Path,
    /// Over the parameters.
    Expression,
}

pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether `off` is a value.
    pub(crate) optional: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        optional: false,
    }
}

const fn optional(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        optional: true,
    }
}

const ON_CANCEL: &[(&str, &str)] = &[
    ("slow", "Slow"),
    ("ignore", "Ignore"),
    ("failure", "Failure"),
];
const MAX_WAIT_STATE: &[(&str, &str)] =
    &[("decide", "Decide"), ("open", "Open"), ("closed", "Closed")];
const FALLBACK_ON: &[(&str, &str)] = &[("rejected", "Rejected"), ("failure", "Failure")];
const MODE: &[(&str, &str)] = &[
    ("enabled", "Enabled"),
    ("metrics_only", "MetricsOnly"),
    ("disabled", "Disabled"),
    ("forced_open", "ForcedOpen"),
];

/// Every key, in the order of the documentation.
pub(crate) static KEYS: &[Key] = &[
    key("name", Kind::Text),
    key("key", Kind::Expression),
    key("max_keys", Kind::Count),
    key("base", Kind::Text),
    key("window", Kind::Window),
    key("buckets", Kind::Count),
    key("min_calls", Kind::Count),
    key("failure_rate", Kind::Percent),
    optional("slow", Kind::Duration),
    key("slow_rate", Kind::Percent),
    optional("failure_count", Kind::Count),
    optional("consecutive_failures", Kind::Count),
    key("count_running", Kind::Flag),
    optional("warmup", Kind::Duration),
    key("ignore", Kind::Classes),
    key("record", Kind::Classes),
    key("ignore_if", Kind::Predicate),
    key("failure_if", Kind::Predicate),
    key("on_cancel", Kind::Choice(ON_CANCEL)),
    optional("timeout", Kind::Duration),
    key("wait", Kind::Duration),
    key("wait_multiplier", Kind::Factor),
    optional("wait_max", Kind::Duration),
    optional("wait_jitter", Kind::Percent),
    key("wait_by_failure_rate", Kind::Flag),
    optional("wait_recover", Kind::Duration),
    key("retry_after", Kind::Predicate),
    key("auto_half_open", Kind::Flag),
    key("half_open_calls", Kind::Count),
    key("half_open_concurrency", Kind::Count),
    optional("half_open_delay", Kind::Duration),
    optional("half_open_timeout", Kind::Duration),
    optional("half_open_successes", Kind::Count),
    optional("half_open_success_rate", Kind::Percent),
    optional("half_open_failures", Kind::Count),
    key("half_open_failure_rate", Kind::Percent),
    optional("half_open_failure_window", Kind::Duration),
    key("half_open_slow", Kind::Duration),
    optional("half_open_attempts", Kind::Count),
    optional("half_open_max_wait", Kind::Duration),
    key("half_open_max_wait_state", Kind::Choice(MAX_WAIT_STATE)),
    optional("ramp", Kind::Duration),
    key("fallback", Kind::Function),
    key("fallback_on", Kind::Choice(FALLBACK_ON)),
    key("mode", Kind::Choice(MODE)),
    key("crate", Kind::Path),
];

/// A value of the right kind, to show.
pub(crate) fn example(key: &Key) -> String {
    match key.kind {
        Kind::Text if key.name == "base" => "\"resilience4j\"".into(),
        Kind::Text => "\"inventory.query\"".into(),
        Kind::Count => "20".into(),
        Kind::Percent => "50".into(),
        Kind::Factor => "2".into(),
        Kind::Duration => "\"2s\"".into(),
        Kind::Window => "100".into(),
        Kind::Flag => "true".into(),
        Kind::Choice(words) => format!("\"{}\"", words[0].0),
        Kind::Classes => "BusinessError".into(),
        Kind::Predicate => match key.name {
            "ignore_if" => "is_empty".into(),
            "retry_after" => "wait_asked_for".into(),
            _ => "is_failure".into(),
        },
        Kind::Function => "cached".into(),
        Kind::Path => "::cb_runtime".into(),
        Kind::Expression => "host".into(),
    }
}
