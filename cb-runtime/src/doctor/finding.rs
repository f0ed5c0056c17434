//! What was found.

use std::fmt;

/// Something found. `Display` is what is the matter and, in a line below, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The breaker's name; of a name with a `key` the name itself where it concerns all of them.
    pub breaker: String,
    /// What it is.
    pub symptom: Symptom,
    /// In a sentence, with the figures.
    pub text: String,
    /// What to do.
    pub advice: &'static str,
}

/// How bad a finding is. The worse is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Severity {
    /// Good to know.
    Note,
    /// It protects, or recovers, less well than it could.
    Warning,
    /// It does not protect, or does not recover.
    Problem,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Symptom {
    /// Calls fail as often as would open it, but there are fewer than `min_calls`.
    FailsBelowMinimum,
    /// For a whole window (a minute, for a window of calls) there were calls, but never `min_calls`
    /// of them. A problem if no other rule can open it.
    BelowMinimum,
    /// At the traffic seen an outage would open it after more than a minute.
    LateProtection,
    /// Calls are ignored, 20 or more, and none is recorded.
    NothingRecorded,
    /// A fallback answers at least one call in ten, and 20 or more.
    FallbackOften,
    /// Calls run for ten times `slow` and longer, and have not ended.
    Hanging,
    /// It was OPEN or HALF_OPEN for at least a tenth of its time, and a minute or longer.
    OpenLong,
    /// It has opened five times or more, and again within five minutes on average.
    Flapping,
    /// It has opened three times in a row without closing, or half of at least ten probes failed.
    ProbesFail,
    /// FORCED_OPEN, DISABLED or METRICS_ONLY for an hour or longer.
    LeftByHand,
    /// Per-call events were dropped, since a listener cannot keep up.
    EventsDropped,
    /// A single good probe closes it.
    OneSuccessCloses,
    /// `wait` is below 3 s.
    ShortWait,
    /// `wait` is above 60 s, or has no end.
    LongWait,
    /// `half_open_max_wait` is off: a probe that hangs keeps it HALF_OPEN for ever.
    HalfOpenUnlimited,
    /// `slow` is not below the functions' `timeout`: what hangs is dropped before it is slow.
    SlowNeverSeen,
    /// Settings of which one leaves another without effect.
    RulesContradict,
    /// A [`Conflict`](crate::Conflict) of names or layers, a missing template among them.
    Conflict,
    /// Keys have found no room and share a breaker.
    KeysShareABreaker,
    /// `disable`, `disable_all` or `metrics_only` was called, and nobody has restored.
    Suspended,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (severity, breaker, text) = (self.severity, &self.breaker, &self.text);
        write!(f, "{severity}: `{breaker}`: {text}\n    {}", self.advice)
    }
}

/// Findings, as they come.
#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn say(
        &mut self,
        severity: Severity,
        breaker: &str,
        symptom: Symptom,
        text: String,
        advice: &'static str,
    ) {
        self.0.push(Finding {
            severity,
            breaker: breaker.to_owned(),
            symptom,
            text,
            advice,
        });
    }

    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.0
            .sort_by(|a, b| (b.severity, &a.breaker).cmp(&(a.severity, &b.breaker)));
        self.0
    }
}
