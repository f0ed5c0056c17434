//! What a candidate would have done.

use std::fmt;
use std::time::Duration;

use crate::event::Cause;
use crate::explain::Seconds;
use crate::state::State;

/// What a candidate would have done beside the active breaker. `Display` says it in a few lines.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RehearsalReport {
    /// The breaker's name.
    pub breaker: String,
    /// How long the rehearsal has lasted.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub lasted: Duration,
    /// Outcomes that the candidate was given, those included that it would have rejected.
    pub calls: u64,
    /// The state that it would be in now.
    pub state: State,
    /// How often it would have opened.
    pub opened: u64,
    /// The latest of these openings, at most 100, in their order.
    pub openings: Vec<WouldOpen>,
    /// For how long it would not have been CLOSED.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub not_closed_for: Duration,
    /// Calls that went through and that it would have rejected, by how they ended.
    pub rejected: WouldHaveRejected,
    /// Calls that ended in a later stay of the candidate than the one they began in: recorded nowhere,
    /// as always.
    pub late: u64,
    /// What the active breaker did meanwhile.
    pub active: ActiveTotals,
    /// Outcomes that the rehearsal has missed, since events were dropped.
    pub missed: u64,
}

/// An opening that would have been.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WouldOpen {
    /// When, since the rehearsal began.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds"))]
    pub after: Duration,
    /// The rule and its figures.
    pub cause: Cause,
    /// Until it would have closed, its probes included; `None` if it has not yet.
    #[cfg_attr(feature = "serde", serde(with = "crate::seconds::optional"))]
    pub closed_after: Option<Duration>,
}

/// How calls ended that would have been rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WouldHaveRejected {
    /// Well: the price of the candidate. Callers would have had no answer, or a fallback's.
    pub successful: u64,
    /// Badly: what the candidate is for.
    pub failed: u64,
    /// Otherwise: dropped, or saying nothing about the downstream.
    pub other: u64,
}

impl WouldHaveRejected {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.successful + self.failed + self.other
    }
}

/// The active breaker while the rehearsal lasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActiveTotals {
    /// How often it opened.
    pub opened: u64,
    /// Calls it rejected: they have no outcome, so the candidate has learnt nothing from them.
    pub rejected: u64,
    /// Calls it let through whose outcome came too late to be recorded, so likewise.
    pub late: u64,
}

impl fmt::Display for RehearsalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (calls, lasted) = (self.calls, Seconds(self.lasted));
        writeln!(
            f,
            "`{}`, rehearsed for {lasted} on {calls} calls:",
            self.breaker
        )?;
        writeln!(
            f,
            "  The candidate would have opened {}; the active breaker opened {}.",
            times(self.opened),
            times(self.active.opened)
        )?;
        for opening in &self.openings {
            write!(f, "    after {}: {}", Seconds(opening.after), opening.cause)?;
            match opening.closed_after {
                Some(time) => writeln!(f, "; closed {} later", Seconds(time))?,
                None => writeln!(f, "; not closed yet")?,
            }
        }
        let rejected = &self.rejected;
        writeln!(
            f,
            "  It would have rejected {} of these calls: {} that failed, {} that succeeded.",
            rejected.total(),
            rejected.failed,
            rejected.successful
        )?;
        let unknown = self.active.rejected + self.active.late + self.missed;
        if unknown > 0 {
            writeln!(
                f,
                "  Not known is what it would have made of {unknown} more: {} were rejected by the active \
                 breaker, {} ended late, {} were missed.",
                self.active.rejected, self.active.late, self.missed
            )?;
        }
        write!(f, "  It would be {} now.", self.state)
    }
}

fn times(number: u64) -> String {
    match number {
        0 => "never".into(),
        1 => "once".into(),
        _ => format!("{number} times"),
    }
}
