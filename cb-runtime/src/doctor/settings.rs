//! What is wrong with the settings alone.

use std::time::Duration;

use super::finding::{Findings, Severity, Symptom};
use super::patient::Patient;
use crate::clock::Nanos;
use crate::config::Settings;
use crate::explain::Seconds;

const SHORT_WAIT: Duration = Duration::from_secs(3);
const LONG_WAIT: Duration = Duration::from_secs(60);

pub(super) fn examine(patient: &Patient, name: &str, found: &mut Findings) {
    let settings = patient.settings();
    wait(settings, name, found);
    recovery(settings, name, found);
    let timeout = patient.layers.timeout();
    let slow = settings.slow.map(Duration::from_nanos);
    if let (Some(slow), Some(timeout)) = (slow, timeout.filter(|timeout| slow >= Some(*timeout))) {
        found.say(
            Severity::Problem,
            name,
            Symptom::SlowNeverSeen,
            format!(
                "`slow` is {}, but calls are dropped at their timeout of {}: none is ever slow.",
                Seconds(slow),
                Seconds(timeout)
            ),
            "Set `slow` well below `timeout`.",
        );
    }
    for text in contradictions(patient, timeout) {
        found.say(
            Severity::Warning,
            name,
            Symptom::RulesContradict,
            text,
            "Leave one of the two out, or change it.",
        );
    }
}

fn wait(settings: &Settings, name: &str, found: &mut Findings) {
    let wait = Duration::from_nanos(settings.wait);
    if wait < SHORT_WAIT {
        found.say(
            Severity::Warning,
            name,
            Symptom::ShortWait,
            format!(
                "`wait` is {}: what is down is probed without a pause to recover.",
                Seconds(wait)
            ),
            "Raise `wait` to 3s or more.",
        );
    }
    if wait > LONG_WAIT {
        let long = match settings.wait {
            Nanos::MAX => "for ever".to_owned(),
            _ => Seconds(wait).to_string(),
        };
        found.say(
            Severity::Warning,
            name,
            Symptom::LongWait,
            format!("`wait` is {long}: callers are refused for so long though all may be well."),
            "Lower `wait` to 60s or less; `wait_multiplier` with `wait_max` waits long only where it has to.",
        );
    }
}

fn recovery(settings: &Settings, name: &str, found: &mut Findings) {
    let all = settings.half_open_successes.is_some()
        || settings.half_open_success_rate.is_some()
        || settings.half_open_failures.is_some();
    let deciding = match all {
        true => settings.half_open_calls,
        false => settings.deciding_probes,
    };
    if settings.half_open_successes == Some(1) || deciding == 1 {
        found.say(
            Severity::Warning,
            name,
            Symptom::OneSuccessCloses,
            "a single good probe closes it: what recovers only partly makes it flap.".into(),
            "Ask for more probes: `half_open_calls = 5`, or `half_open_successes = 3`.",
        );
    }
    if settings
        .half_open_max_wait
        .is_none_or(|limit| limit == Nanos::MAX)
    {
        found.say(
            Severity::Warning,
            name,
            Symptom::HalfOpenUnlimited,
            "`half_open_max_wait` is off: a probe that hangs keeps it HALF_OPEN for ever.".into(),
            "Leave `half_open_max_wait` at its default of 30s.",
        );
    }
}

fn contradictions(patient: &Patient, timeout: Option<Duration>) -> Vec<String> {
    let settings = patient.settings();
    let mut texts = Vec::new();
    let max_wait = settings.half_open_max_wait.map(Duration::from_nanos);
    if let (Some(max), Some(timeout)) = (max_wait, timeout.filter(|time| max_wait <= Some(*time))) {
        texts.push(format!(
            "`half_open_max_wait` is {}, but a probe may run until its timeout of {}: one that hangs \
             never counts.",
            Seconds(max),
            Seconds(timeout)
        ));
    }
    let chosen = patient.layers.chosen();
    let is_chosen = |name: &str| {
        chosen
            .iter()
            .any(|one| one.setting == name && one.value != "false")
    };
    if settings.slow.is_none() {
        for setting in ["slow_rate", "count_running", "half_open_slow"] {
            // A template may have them for those that set `slow`.
            let by_whom = chosen
                .iter()
                .find(|one| one.setting == setting && one.value != "false");
            if let Some(by) = by_whom.filter(|_| is_chosen(setting)) {
                texts.push(format!(
                    "`{setting}` ({}) has no effect, since `slow` is off.",
                    by.layer
                ));
            }
        }
    }
    if settings.wait_multiplier > 1.0 && settings.wait_max == settings.wait {
        texts.push("`wait_multiplier` has no effect, since `wait_max` is `wait`.".into());
    }
    if settings.wait_by_failure_rate && settings.failure_rate.value() >= 100.0 {
        texts.push(
            "`wait_by_failure_rate` has no effect, since `failure_rate` is 100: no failure rate is above it."
                .into(),
        );
    }
    texts
}
