//! What the time since the breaker was made tells.

use std::time::Duration;

use super::finding::{Findings, Severity, Symptom};
use super::patient::Patient;
use crate::counted::{counted, was};
use crate::explain::Seconds;
use crate::state::State;

const MINUTE: Duration = Duration::from_secs(60);
/// So long by hand is likely forgotten.
const FORGOTTEN: Duration = Duration::from_secs(3600);
/// It opens again within this.
const SOON: Duration = Duration::from_secs(300);
const OPENINGS: u64 = 5;
const IN_A_ROW: u64 = 3;
const PROBES: u64 = 10;

pub(super) fn examine(patient: &Patient, found: &mut Findings) {
    open_long(patient, found);
    flapping(patient, found);
    probes(patient, found);
    by_hand(patient, found);
    let dropped = patient.snapshot.dropped_events;
    if dropped > 0 {
        found.say(
            Severity::Note,
            patient.name(),
            Symptom::EventsDropped,
            format!(
                "{} of calls {} dropped.",
                counted(dropped, "event"),
                was(dropped)
            ),
            "Let the listener of the calls do less, or hand its work to another thread.",
        );
    }
}

fn open_long(patient: &Patient, found: &mut Findings) {
    let of = |state| patient.snapshot.totals_of(state);
    let (open, age) = (
        of(State::Open).time + of(State::HalfOpen).time,
        patient.age(),
    );
    if open >= MINUTE && open >= age / 10 {
        let percent = (100.0 * open.as_secs_f64() / age.as_secs_f64()).round();
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::OpenLong,
            format!(
                "it was OPEN or HALF_OPEN for {} of {} ({percent}%), in {}.",
                Seconds(open),
                Seconds(age),
                counted(of(State::Open).entries, "opening")
            ),
            "See what is wrong with the service behind it, and whether its failures are outages: `ignore`.",
        );
    }
}

fn flapping(patient: &Patient, found: &mut Findings) {
    let of = |state| patient.snapshot.totals_of(state).entries;
    // Each but the first entry of CLOSED is a recovery.
    let openings = of(State::Open).min(of(State::Closed).saturating_sub(1));
    let Some(each) = u32::try_from(openings)
        .ok()
        .filter(|_| openings >= OPENINGS)
    else {
        return;
    };
    let each = patient.age() / each;
    if each < SOON {
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::Flapping,
            format!("it has opened and closed {openings} times, every {}.", Seconds(each)),
            "Let it recover more slowly: `ramp`, `half_open_successes`, `wait_multiplier` with `wait_recover`.",
        );
    }
}

fn probes(patient: &Patient, found: &mut Findings) {
    let now = &patient.snapshot;
    let is_out = matches!(now.state, State::Open | State::HalfOpen);
    let totals = &now.probe_totals;
    let bad = totals.failed + totals.cancelled;
    let all = bad + totals.successful;
    let (severity, text) = if is_out && now.attempt >= IN_A_ROW {
        let text = format!(
            "it has opened {} times in a row without closing.",
            now.attempt
        );
        (Severity::Problem, text)
    } else if all >= PROBES && 2 * bad >= all {
        (Severity::Warning, format!("{bad} of {all} probes failed."))
    } else {
        return;
    };
    let advice = if now.rejected_within_probes > 0 {
        "Probes find no permit for calls of their own: a function under this breaker calls another one, or itself. \
         Guard one of the two."
    } else {
        "The service behind it is not back when it is asked: `wait_multiplier` with `wait_max` asks less often."
    };
    found.say(severity, patient.name(), Symptom::ProbesFail, text, advice);
}

fn by_hand(patient: &Patient, found: &mut Findings) {
    let now = &patient.snapshot;
    let by_hand = matches!(
        now.state,
        State::ForcedOpen | State::Disabled | State::MetricsOnly
    );
    if by_hand && now.in_state_for >= FORGOTTEN {
        found.say(
            Severity::Warning,
            patient.name(),
            Symptom::LeftByHand,
            format!("{} for {}.", now.state, Seconds(now.in_state_for)),
            "`close` it, if that is not meant any more.",
        );
    }
}
