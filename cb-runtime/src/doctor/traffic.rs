//! What the settings make of the traffic that there is.

use std::time::Duration;

use super::finding::{Findings, Severity, Symptom};
use super::patient::Patient;
use crate::config::{Mode, Window};
use crate::counted::counted;
use crate::explain::Seconds;
use crate::state::State;

/// A breaker that opens later than this protects late.
const LATE: Duration = Duration::from_secs(60);
/// Fewer failures may be anything.
const FEW: u32 = 3;
/// Fewer fallbacks, or ignored calls, may be anything.
const MANY: u64 = 20;

pub(super) fn examine(patient: &Patient, found: &mut Findings) {
    if patient.snapshot.state == State::Closed && patient.settings().mode != Mode::MetricsOnly {
        minimum(patient, found);
        late(patient, found);
    }
    nothing_recorded(patient, found);
    fallbacks(patient, found);
    hanging(patient, found);
}

fn minimum(patient: &Patient, found: &mut Findings) {
    let (now, settings) = (&patient.snapshot, patient.settings());
    let (calls, min_calls) = (now.calls, now.min_calls);
    if calls >= min_calls || now.warming.is_some() {
        return;
    }
    let rate = crate::event::percent(now.failed, calls);
    if now.failed >= FEW && rate >= settings.failure_rate.value() {
        found.say(
            Severity::Problem,
            patient.name(),
            Symptom::FailsBelowMinimum,
            format!(
                "{} of {calls} calls failed, but no rate is judged below `min_calls`, {min_calls} calls.",
                now.failed
            ),
            "Lower `min_calls`, or set `consecutive_failures`.",
        );
    }
    if !patient.is_observed() || calls == 0 {
        return;
    }
    let others = others(patient);
    let (severity, others) = match others.is_empty() {
        true => (Severity::Problem, "nothing else can open it".to_owned()),
        false => (
            Severity::Note,
            format!("only {} can open it", others.join(" and ")),
        ),
    };
    found.say(
        severity,
        patient.name(),
        Symptom::BelowMinimum,
        format!(
            "{} {}, and `min_calls` is {min_calls}: no rate is judged, {others}.",
            patient.window(),
            counted(calls, "call")
        ),
        "Lower `min_calls`, take a longer `window` or one of calls, or rely on `consecutive_failures`.",
    );
}

/// The rules that need no minimum.
fn others(patient: &Patient) -> Vec<String> {
    let settings = patient.settings();
    let mut others = Vec::new();
    if let Some(failures) = settings.consecutive_failures {
        others.push(format!("`consecutive_failures` ({failures})"));
    }
    let held = |failures: u32| match settings.window {
        Window::Time(_) => failures <= patient.snapshot.calls,
        Window::Calls(_) => true,
    };
    if let Some(failures) = settings.failure_count.filter(|failures| held(*failures)) {
        others.push(format!("`failure_count` ({failures})"));
    }
    others
}

/// If all calls failed from now on, at the rate at which they come.
fn late(patient: &Patient, found: &mut Findings) {
    let Some(rate) = patient.rate() else { return };
    let settings = patient.settings();
    let share = settings.failure_rate.value() / 100.0;
    let in_window = match settings.window {
        Window::Time(time) => rate * time.as_secs_f64(),
        Window::Calls(calls) => f64::from(calls),
    };
    let min_calls = f64::from(settings.min_calls);
    // The good calls of the whole window are outweighed by so many.
    let by_rate = (in_window >= min_calls).then(|| min_calls.max(in_window * share));
    let by_count = settings.failure_count.map(f64::from);
    let by_count = by_count.filter(|failures| *failures <= in_window);
    let in_a_row = settings.consecutive_failures.map(f64::from);
    let fewest = [by_rate, by_count, in_a_row].into_iter().flatten();
    let Some(calls) = fewest.reduce(f64::min) else {
        return; // said as `BelowMinimum`
    };
    let after = Duration::try_from_secs_f64(calls / rate).unwrap_or(Duration::MAX);
    if after > LATE {
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::LateProtection,
            format!(
                "at the traffic seen, a call every {}, an outage opens it after {}.",
                Seconds(Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX)),
                Seconds(after)
            ),
            "Lower `min_calls` with a window of few calls, or lower `consecutive_failures`.",
        );
    }
}

fn nothing_recorded(patient: &Patient, found: &mut Findings) {
    let now = &patient.snapshot;
    if patient.is_observed() && now.calls == 0 && now.ignored >= MANY {
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::NothingRecorded,
            format!("{} calls were ignored, and none is recorded.", now.ignored),
            "Look at `ignore`, `ignore_if` and `record`: they may be too broad.",
        );
    }
}

fn fallbacks(patient: &Patient, found: &mut Findings) {
    let now = &patient.snapshot;
    // There is no total of calls, so it is what the present rate makes of the time, at the least what
    // is in the window.
    let rate = patient.rate().unwrap_or_default();
    let permitted = (rate * patient.age().as_secs_f64()).max(f64::from(now.calls));
    let whole = |number: u64| u32::try_from(number).map_or(f64::from(u32::MAX), f64::from);
    let calls = permitted + whole(now.not_permitted_total);
    let share = whole(now.fallbacks) / calls.max(1.0);
    if now.fallbacks >= MANY && share >= 0.1 {
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::FallbackOften,
            format!(
                "a fallback has answered {} calls, about {:.0}% of them.",
                now.fallbacks,
                (share * 100.0).min(100.0)
            ),
            "Callers live on the fallback: see what is wrong with the service behind it.",
        );
    }
}

fn hanging(patient: &Patient, found: &mut Findings) {
    let (Some(oldest), Some(slow)) = (patient.snapshot.oldest, patient.settings().slow) else {
        return;
    };
    if oldest >= Duration::from_nanos(slow).saturating_mul(10) {
        found.say(
            Severity::Problem,
            patient.name(),
            Symptom::Hanging,
            format!(
                "a call has been running for {} and has not ended.",
                Seconds(oldest)
            ),
            "Set `timeout`, or the client's own if the function blocks.",
        );
    }
}
