//! The advice in words.

use std::fmt;
use std::time::Duration;

use super::{Advice, Course, Outage, OutageKind};
use crate::explain::Seconds;

impl fmt::Display for OutageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Errors => "Fast errors",
            Self::Slow => "Slow successes",
            Self::Hang => "Hangs",
            Self::Dropped => "Hangs dropped by their callers",
        })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "With {}:", self.traffic)?;
        for outage in &self.outages {
            write!(f, "{outage}")?;
        }
        if self.sampling > 1 {
            writeln!(
                f,
                "One in {} calls was simulated; the figures are upper bounds.",
                self.sampling
            )?;
        }
        if self.warnings.is_empty() {
            return writeln!(f, "No warnings.");
        }
        writeln!(f, "Warnings:")?;
        for warning in &self.warnings {
            writeln!(f, "  - {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.call_time {
            Some(time) => writeln!(f, "{}, each {}:", self.kind, Seconds(time))?,
            None => writeln!(f, "{}, for ever:", self.kind)?,
        }
        let worst = self.worst();
        let Some(opening) = worst.opening else {
            writeln!(
                f,
                "  never opens (in {}); stuck at the same time: at most {}",
                Seconds(worst.simulated),
                Count(worst.stuck, "caller")
            )?;
            return Ok(());
        };
        writeln!(
            f,
            "  opens after {} and {} that ended badly, {} sent",
            Seconds(opening.after),
            Count(opening.ended, "call"),
            opening.sent
        )?;
        writeln!(f, "  because {}", opening.cause)?;
        let (other, when) = if worst == &self.fresh {
            (&self.steady, "after a long good time")
        } else {
            (&self.fresh, "just started")
        };
        other_course(f, worst, other, when)?;
        writeln!(
            f,
            "  stuck at the same time until then: at most {}",
            Count(worst.stuck, "caller")
        )?;
        match self.recovery {
            Some(time) => writeln!(
                f,
                "  recovery is noticed after {} at the most",
                Seconds(time)
            )?,
            None => writeln!(f, "  recovery is never noticed")?,
        }
        writeln!(
            f,
            "  probes of all instances: at most {} at the same time, {} in one second",
            self.fleet_probes, self.fleet_probes_per_second
        )
    }
}

/// The better course, where it is another one.
fn other_course(
    f: &mut fmt::Formatter<'_>,
    worst: &Course,
    other: &Course,
    when: &str,
) -> fmt::Result {
    let after = |course: &Course| {
        course
            .opening
            .map_or(Duration::ZERO, |opening| opening.after)
    };
    match other.opening {
        Some(opening) if after(other) != after(worst) => writeln!(
            f,
            "  ({when}: after {} and {})",
            Seconds(opening.after),
            Count(opening.ended, "call")
        ),
        _ => Ok(()),
    }
}

/// So many of something.
struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, what) = self;
        write!(f, "{number} {what}{}", if *number == 1 { "" } else { "s" })
    }
}
