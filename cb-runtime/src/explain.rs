//! Why a breaker is in its state, in words.

use std::fmt;
use std::time::Duration;

use crate::config::{MaxWaitState, Settings, Window};
use crate::counted::{counted, was};
use crate::event::{Cause, rounded};
use crate::snapshot::{Probes, Snapshot};
use crate::state::State;

/// A breaker's own account of its state: `Display` is a few lines for a person.
///
/// The first line is the state and why; in CLOSED each rule follows with how far it is from
/// opening the breaker, in OPEN when a probe is let through, in HALF_OPEN how far the probes are.
#[derive(Clone, Debug)]
pub struct Explanation {
    text: String,
}

impl Explanation {
    pub(crate) fn new(snapshot: &Snapshot, opened: Option<Cause>, settings: &Settings) -> Self {
        let mut text = Text {
            lines: vec![],
            now: snapshot,
            settings,
        };
        text.write(opened);
        Self {
            text: text.lines.join("\n"),
        }
    }
}

/// As one text, the lines that `Display` writes.
#[cfg(feature = "serde")]
impl serde::Serialize for Explanation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

struct Text<'a> {
    lines: Vec<String>,
    now: &'a Snapshot,
    settings: &'a Settings,
}

impl Text<'_> {
    fn write(&mut self, opened: Option<Cause>) {
        let now = self.now;
        let since = Seconds(now.in_state_for);
        self.lines
            .push(format!("`{}` is {} for {since}.", now.name, now.state));
        match now.state {
            State::Closed => self.rules("would open it"),
            State::MetricsOnly => {
                self.say("It records and reports but never rejects.".into());
                self.rules("would open it if it were enabled");
            }
            State::Open => self.open(opened),
            State::HalfOpen => self.half_open(opened),
            State::ForcedOpen => {
                let rejected = now.not_permitted;
                self.say(format!(
                    "It rejects every call ({rejected} so far) until it is closed by hand."
                ));
            }
            State::Disabled => {
                self.say(
                    "It permits every call and records none until it is enabled by hand.".into(),
                );
            }
        }
        if now.late > 0 {
            self.say(format!(
                "Calls that ended after the stay they began in, and count nowhere: {}.",
                now.late
            ));
        }
    }

    fn say(&mut self, line: String) {
        self.lines.push(format!("  {line}"));
    }

    /// Each rule that is armed, with the figure, the limit and what is missing.
    fn rules(&mut self, verb: &str) {
        let (now, settings) = (self.now, self.settings);
        let (window, holds) = match settings.window {
            Window::Calls(1) => ("the last call".to_owned(), "holds"),
            Window::Calls(calls) => (format!("the last {calls} calls"), "hold"),
            Window::Time(time) => (format!("the last {}", Seconds(time)), "hold"),
        };
        if let Some(rest) = now.warming {
            self.say(format!(
                "It is warming up for another {}: outcomes are recorded and not judged.",
                Seconds(rest)
            ));
        }
        if let Some(share) = now.admitted {
            self.say(format!(
                "It has just closed and admits {share}% of the calls, growing (`ramp`); {} {} \
                 rejected so far.",
                now.not_permitted,
                was(now.not_permitted)
            ));
        }
        if let (Some(in_flight), Some(overdue)) = (now.in_flight, now.overdue) {
            let oldest = Seconds(now.oldest.unwrap_or_default());
            self.say(format!(
                "count_running: {} under way, {overdue} of them past `slow` and counted as slow; \
                 the oldest for {oldest}.",
                counted(in_flight, "call")
            ));
        }
        if now.calls < settings.min_calls {
            self.say(format!(
                "No rate is judged: {window} {holds} {}, `min_calls` is {}.",
                counted(now.calls, "recorded call"),
                settings.min_calls
            ));
            if now.failed > 0 {
                self.say(format!("{} of them failed.", now.failed));
            }
        } else {
            let limit = settings.failure_rate.value();
            self.say(format!(
                "failure_rate: {} of {} in {window} failed ({}%); {limit}% {verb}.",
                now.failed,
                counted(now.calls, "call"),
                rounded(now.failed, now.calls)
            ));
            if let Some(slow) = settings.slow {
                self.say(format!(
                    "slow_rate: {} of {} took longer than {} ({}%); {}% {verb}.",
                    now.slow,
                    counted(now.calls, "call"),
                    Seconds(Duration::from_nanos(slow)),
                    rounded(now.slow, now.calls),
                    settings.slow_rate.value()
                ));
            }
        }
        if settings.slow.is_none() {
            self.say("slow calls are not noticed: `slow` is off.".into());
        }
        if let Some(limit) = settings.failure_count {
            self.say(format!(
                "failure_count: {} in {window}; {limit} {verb}.",
                counted(now.failed, "failure")
            ));
        }
        match settings.consecutive_failures {
            Some(limit) => self.say(format!(
                "consecutive_failures: {} in a row; {limit} {verb}.",
                now.consecutive_failures
            )),
            None if now.calls < settings.min_calls && settings.failure_count.is_none() => {
                self.say("`consecutive_failures` is off, so nothing else would open it.".into());
            }
            None => {}
        }
        if now.ignored > 0 {
            self.say(format!(
                "Ignored calls, which count nowhere: {}.",
                now.ignored
            ));
        }
    }

    fn open(&mut self, opened: Option<Cause>) {
        let now = self.now;
        if let Some(cause) = opened {
            self.say(format!("It opened because: {cause}."));
        }
        let attempt = now.attempt.max(1);
        match (now.retry_after, now.wait) {
            (Some(rest), Some(wait)) => {
                let wait = Seconds(wait);
                if rest.is_zero() {
                    self.say(format!(
                        "The wait of {wait} is over; the next call is let through as a probe."
                    ));
                } else if self.settings.auto_half_open {
                    self.say(format!(
                        "It becomes HALF_OPEN in {} (wait {wait}, opening {attempt} in a row).",
                        Seconds(rest)
                    ));
                } else {
                    self.say(format!(
                        "The first call in {} or later is a probe (wait {wait}, opening {attempt} in a row).",
                        Seconds(rest)
                    ));
                }
            }
            _ => self.say("It waits until it is told otherwise: the wait has no end.".into()),
        }
        let rejected = counted(now.not_permitted, "call");
        self.say(format!("{rejected} rejected so far."));
        self.within_probes();
    }

    /// What closes it and what opens it again.
    fn probe_rules(&mut self, probes: Probes) {
        let (now, settings) = (self.now, self.settings);
        if let Some(limit) = settings.half_open_failures {
            let opens = if limit == 1 { "opens" } else { "open" };
            self.say(format!(
                "half_open_failures: {} of them failed; {limit} {opens} it again at once.",
                now.failed
            ));
        }
        if let Some(wanted) = settings.half_open_successes {
            let closes = if wanted == 1 { "closes" } else { "close" };
            self.say(format!(
                "half_open_successes: {} in a row; {wanted} {closes} it at once.",
                counted(probes.good_in_a_row, "good one")
            ));
        }
        if let Some(rate) = settings.half_open_success_rate {
            let rate = rate.value();
            self.say(format!(
                "It closes if {rate}% of them are good, else it opens again."
            ));
        } else if settings.half_open_successes.is_some() {
            self.say("It opens again if all are in before that.".into());
        } else {
            let mut limits = Vec::new();
            if settings.half_open_failures.is_none() {
                let rate = settings.half_open_failure_rate.value();
                limits.push(format!("{rate}% of them fail"));
            }
            if settings.slow.is_some() {
                limits.push(format!("{}% are slow", settings.slow_rate.value()));
            }
            if limits.is_empty() {
                self.say("Once all are in, it closes.".into());
            } else {
                let limits = limits.join(" or ");
                self.say(format!("It opens again if {limits}, else it closes."));
            }
        }
    }

    fn half_open(&mut self, opened: Option<Cause>) {
        let now = self.now;
        if let Some(cause) = opened {
            self.say(format!("It was opened because: {cause}."));
        }
        if let Some(probes) = now.probes {
            let (in_flight, deciding) = (probes.in_flight, probes.deciding);
            self.say(format!(
                "{} of {} returned ({} failed, {} slow), {in_flight} {} under way; {deciding} {}.",
                probes.returned,
                counted(probes.permitted, "probe"),
                now.failed,
                now.slow,
                if in_flight == 1 { "is" } else { "are" },
                if deciding == 1 { "decides" } else { "decide" }
            ));
            if let Some(pause) = probes.pause {
                let pause = Seconds(pause);
                self.say(format!(
                    "It pauses: the first probe is let through in {pause}."
                ));
            }
            self.probe_rules(probes);
        }
        let ends_in = now.probes.and_then(|probes| probes.ends_in);
        match ends_in.filter(|rest| *rest < FOREVER) {
            Some(rest) => {
                let rest = Seconds(rest);
                let to = match self.settings.half_open_max_wait_state {
                    MaxWaitState::Decide => "those that have returned decide",
                    MaxWaitState::Open => "it opens",
                    MaxWaitState::Closed => "it closes",
                };
                self.say(format!(
                    "In {rest} at the latest (`half_open_max_wait`) {to}."
                ));
            }
            None if self.settings.half_open_max_wait.is_some() => self.say(
                "It waits for a first probe; ignored ones and most that were cancelled are none."
                    .into(),
            ),
            None => {
                self.say("It waits for them without limit: `half_open_max_wait` is off.".into())
            }
        }
        if now.not_permitted > 0 {
            let rejected = counted(now.not_permitted, "call");
            self.say(format!("{rejected} rejected so far."));
        }
        self.within_probes();
    }

    fn within_probes(&mut self) {
        let rejected = self.now.rejected_within_probes;
        if rejected > 0 {
            self.say(format!(
                "In all, {} rejected within its own probes, which fails them: a function under this breaker calls \
                 another one, or itself. Guard one of the two.",
                counted(rejected, "call")
            ));
        }
    }
}

/// Waits beyond this have no end that matters: 73 years, as far as a deadline reaches.
const FOREVER: Duration = Duration::from_secs(73 * 365 * 86_400);

/// A duration as a person reads it: to the millisecond, and no digits for their own sake.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        if ms == 0 {
            f.write_str("0s")
        } else if ms < 1000 {
            write!(f, "{ms}ms")
        } else if ms % 1000 == 0 && ms < 120_000 {
            write!(f, "{}s", ms / 1000)
        } else if ms < 120_000 {
            write!(f, "{:.1}s", self.0.as_secs_f64())
        } else {
            let s = self.0.as_secs();
            match (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60) {
                (0, 0, m, s) => write!(f, "{m}m {s}s"),
                (0, h, m, _) => write!(f, "{h}h {m}m"),
                (d, h, _, _) => write!(f, "{d}d {h}h"),
            }
        }
    }
}
