//! Whether the breaker did its job. Counts and ratios only: no bound on how long something short
//! takes, for a busy machine may stand still longer than any timeout. So a few answers may be odd;
//! what the breaker owes may not.

use cb_examples::figures::{percentile, short};
use cb_runtime::State;

use crate::caller::{Answer, Call, Caller};
use crate::drill::{Kind, Report};
use crate::policy::{HALF_OPEN_CALLS, MIN_CALLS, TIMEOUT, WAIT};

/// What failed, in words.
#[derive(Default)]
pub(crate) struct Checks {
    pub(crate) made: usize,
    pub(crate) failed: Vec<String>,
}

impl Checks {
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        self.made += 1;
        if !holds {
            self.failed.push(message());
        }
    }

    /// A guarded run beside the bare one with the same traffic.
    pub(crate) fn run(&mut self, caller: &Caller, guarded: &[Report], bare: &[Report]) {
        for (number, (report, bare)) in guarded.iter().zip(bare).enumerate() {
            let place = format!(
                "{}, phase {} ({})",
                caller.title,
                number + 1,
                report.phase.name
            );
            match report.phase.kind {
                Kind::Healthy | Kind::Business => self.quiet(&place, report),
                Kind::Failing | Kind::Slow => self.opened(&place, report),
                Kind::Hanging => {
                    self.opened(&place, report);
                    self.hang(&place, report, caller.workers);
                    self.saved(&place, report, bare);
                }
                Kind::Recovery => self.recovered(&place, report),
            }
            self.traffic(&place, report, bare);
        }
    }

    /// Nothing opens, nobody is rejected, the answers are the service's own.
    fn quiet(&mut self, place: &str, report: &Report) {
        self.nobody_rejected(place, report);
        self.require(report.changes.is_empty(), || {
            format!(
                "{place}: the breaker changed its state {} times",
                report.changes.len()
            )
        });
        self.closed(place, report);
    }

    fn opened(&mut self, place: &str, report: &Report) {
        self.require(report.opening().is_some(), || {
            format!("{place}: the breaker did not open")
        });
        self.require(
            matches!(report.state, Some(State::Open | State::HalfOpen)),
            || {
                format!(
                    "{place}: with the service down the breaker was {}",
                    state(report)
                )
            },
        );
        self.require(report.calls.iter().any(Call::spared), || {
            format!("{place}: no caller was spared")
        });
        // Only here can it be nothing else: calls that time out are slow as well.
        if let (Kind::Slow, Some(opening)) = (report.phase.kind, report.opening()) {
            self.require(opening.by_slow_rate, || {
                format!("{place}: the breaker opened because {}", opening.why)
            });
        }
        if report.phase.name == "refused" {
            let refused = report
                .calls
                .iter()
                .any(|call| call.answer == Answer::Refused);
            self.require(refused && report.reached == 0, || {
                format!(
                    "{place}: no connection was refused, {} got through",
                    report.reached
                )
            });
        }
    }

    fn hang(&mut self, place: &str, report: &Report, workers: u32) {
        let Some(opening) = report.opening() else {
            return;
        };
        // The calls that fill the minimum, and those under way when the last of them returns.
        let to_find_out = u64::from(MIN_CALLS + workers);
        let before = opening.reached - report.reached_before;
        self.require(before <= to_find_out, || {
            format!("{place}: {before} requests reached the server before the breaker opened")
        });

        let stays = report
            .changes
            .iter()
            .filter(|change| change.to == State::HalfOpen)
            .count();
        let probes = u64::from(HALF_OPEN_CALLS) * stays as u64;
        self.require(report.reached <= to_find_out + probes, || {
            format!(
                "{place}: {} requests reached the server in {stays} waits",
                report.reached
            )
        });
        for pair in report.changes.windows(2) {
            let waited = pair[1].at.saturating_sub(pair[0].at);
            self.require(pair[1].to != State::HalfOpen || waited >= WAIT, || {
                format!(
                    "{place}: a probe after {}, before the wait was over",
                    short(waited)
                )
            });
        }

        let mut spared: Vec<_> = report
            .calls
            .iter()
            .filter(|call| call.spared())
            .map(|call| call.waited)
            .collect();
        let p99 = percentile(&mut spared, 99);
        self.require(spared.len() >= 100 && p99 * 100 < TIMEOUT, || {
            format!(
                "{place}: of {} rejected callers p99 waited {}",
                spared.len(),
                short(p99)
            )
        });
    }

    fn saved(&mut self, place: &str, report: &Report, bare: &Report) {
        let (with, without) = (report.total_wait(), bare.total_wait());
        self.require(without >= with * 10, || {
            let (with, without) = (short(with), short(without));
            format!("{place}: callers waited {with} with the breaker, {without} without")
        });
    }

    fn recovered(&mut self, place: &str, report: &Report) {
        self.require(
            report
                .changes
                .iter()
                .any(|change| change.to == State::Closed),
            || format!("{place}: the breaker did not close"),
        );
        self.nobody_rejected(place, report);
        self.closed(place, report);
    }

    /// Both runs carried the same traffic to its end, and it met what the phase is there for.
    fn traffic(&mut self, place: &str, report: &Report, bare: &Report) {
        let (with, without) = (report.settled.len(), bare.settled.len());
        self.require(
            with == without && with == report.phase.calls as usize,
            || {
                format!(
                    "{place}: {with} calls with the breaker and {without} without, not the same"
                )
            },
        );
        let met = |call: &&&Call| match report.phase.kind {
            Kind::Healthy | Kind::Recovery | Kind::Slow => call.answer == Answer::Fresh,
            Kind::Business => call.answer == Answer::Business,
            Kind::Hanging => call.answer == Answer::TimedOut,
            Kind::Failing => matches!(call.answer, Answer::Failed | Answer::Refused),
        };
        let through: Vec<_> = report
            .settled
            .iter()
            .filter(|call| !call.spared())
            .collect();
        let odd = through.len() - through.iter().filter(met).count();
        self.require(odd * 4 <= through.len() && !through.is_empty(), || {
            let through = through.len();
            format!("{place}: {through} calls got through, {odd} of them ended oddly")
        });
    }

    fn nobody_rejected(&mut self, place: &str, report: &Report) {
        let spared = report.settled.iter().filter(|call| call.spared()).count();
        self.require(spared == 0, || {
            format!(
                "{place}: {spared} of {} callers were rejected",
                report.settled.len()
            )
        });
    }

    fn closed(&mut self, place: &str, report: &Report) {
        self.require(report.state == Some(State::Closed), || {
            format!("{place}: at the end the breaker was {}", state(report))
        });
    }
}

fn state(report: &Report) -> String {
    report
        .state
        .map_or_else(|| "not registered".to_string(), |state| state.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_is_counted_and_named() {
        let mut checks = Checks::default();
        checks.require(true, || unreachable!());
        checks.require(false, || "here".to_string());
        assert_eq!(checks.made, 2);
        assert_eq!(checks.failed, ["here"]);
    }
}
