//! Events in words.

use crate::event::EventKind;

/// One line for a person, without the breaker's name.
pub(super) fn describe(kind: &EventKind) -> String {
    match kind {
        EventKind::Transition { from, to, cause } => format!("{from} to {to}: {cause}"),
        EventKind::FailureRateExceeded { rate } => {
            format!("the failure rate reached its limit: {rate:.1}%")
        }
        EventKind::SlowRateExceeded { rate } => {
            format!("the rate of slow calls reached its limit: {rate:.1}%")
        }
        EventKind::Reset => "reset by hand".into(),
        EventKind::CyclesSkipped { cycles } => {
            format!("{cycles} rounds of OPEN and HALF_OPEN fell due while nobody looked")
        }
        EventKind::Conflict(conflict) => conflict.to_string(),
        EventKind::Success { .. } => "a call succeeded".into(),
        EventKind::Error { .. } => "a call failed".into(),
        EventKind::Ignored { .. } => "a call was ignored".into(),
        EventKind::Cancelled { .. } => "a call was dropped and counted as slow".into(),
        EventKind::Late => "a call ended after its stay and counts nowhere".into(),
        EventKind::NotPermitted { .. } => "a call was rejected".into(),
    }
}
