//! HALF_OPEN: what the probes decide.

use crate::config::{MaxWaitState, Settings};
use crate::event::Cause;
use crate::outcome::Mark;
use crate::window::Counts;

use super::{slow_rate, slow_reached};

/// Where a HALF_OPEN stay goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    Stay,
    Close(Cause),
    Open(Cause),
}

/// The probes that have returned, without the failures that were forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ProbeCounts {
    pub(crate) counts: Counts,
    /// Successes that were not slow.
    pub(crate) good: u32,
    /// The latest of them, in a row.
    pub(crate) good_in_a_row: u32,
}

impl ProbeCounts {
    pub(crate) const NONE: Self = Self {
        counts: Counts::NONE,
        good: 0,
        good_in_a_row: 0,
    };

    pub(crate) fn add(&mut self, mark: Mark) {
        self.counts.add(mark);
        if mark == Mark::SUCCESS {
            self.good += 1;
            self.good_in_a_row += 1;
        } else {
            self.good_in_a_row = 0;
        }
    }

    /// Forgets a failed probe; what came after it stays in a row.
    pub(crate) fn forget(&mut self, mark: Mark) {
        self.counts.remove(mark);
    }
}

/// Judges a HALF_OPEN stay, after each recorded probe. The first rule that applies decides.
pub(crate) fn half_open(settings: &Settings, probes: &ProbeCounts) -> Next {
    let counts = &probes.counts;
    if let Some(limit) = settings
        .half_open_failures
        .filter(|limit| counts.failed >= *limit)
    {
        return Next::Open(Cause::ProbeFailures {
            failed: counts.failed,
            limit,
        });
    }
    let wanted = settings.half_open_successes;
    if wanted.is_some_and(|wanted| probes.good_in_a_row >= wanted) {
        return Next::Close(succeeded(counts));
    }
    if counts.total < deciding(settings) {
        return Next::Stay;
    }
    match wanted {
        Some(wanted) if settings.half_open_success_rate.is_none() => {
            Next::Open(Cause::ProbesFellShort {
                good: probes.good,
                returned: counts.total,
                wanted,
            })
        }
        _ => by_rates(settings, probes),
    }
}

/// How many probes must be in for the rates to decide.
pub(crate) fn deciding(settings: &Settings) -> u32 {
    let all = settings.half_open_successes.is_some()
        || settings.half_open_success_rate.is_some()
        || settings.half_open_failures.is_some();
    if all {
        settings.half_open_calls
    } else {
        settings.deciding_probes
    }
}

fn by_rates(settings: &Settings, probes: &ProbeCounts) -> Next {
    let counts = &probes.counts;
    if let Some(rate) = settings.half_open_success_rate {
        return if rate.reached(probes.good, counts.total) {
            Next::Close(succeeded(counts))
        } else {
            let (good, returned, limit) = (probes.good, counts.total, rate.value());
            Next::Open(Cause::ProbeSuccessRate {
                good,
                returned,
                limit,
            })
        };
    }
    let rate = settings.half_open_failure_rate;
    if settings.half_open_failures.is_none() && rate.reached(counts.failed, counts.total) {
        let (failed, calls, limit) = (counts.failed, counts.total, rate.value());
        Next::Open(Cause::FailureRate {
            failed,
            calls,
            limit,
        })
    } else if slow_reached(settings, counts) {
        Next::Open(slow_rate(settings, counts))
    } else {
        Next::Close(succeeded(counts))
    }
}

fn succeeded(counts: &Counts) -> Cause {
    Cause::ProbesSucceeded {
        returned: counts.total,
        failed: counts.failed,
    }
}

/// Judges a HALF_OPEN stay that has lasted as long as it may.
pub(crate) fn half_open_expired(settings: &Settings, probes: &ProbeCounts) -> Next {
    let returned = probes.counts.total;
    let cause = Cause::HalfOpenMaxWait { returned };
    match settings.half_open_max_wait_state {
        MaxWaitState::Open => Next::Open(cause),
        MaxWaitState::Closed => Next::Close(cause),
        MaxWaitState::Decide if returned == 0 => Next::Open(cause),
        MaxWaitState::Decide => match by_rates(settings, probes) {
            Next::Open(_) => Next::Open(cause),
            _ => Next::Close(cause),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Config, Window, resolve};

    fn ten() -> Config {
        Config::new()
            .window(Window::Calls(10))
            .min_calls(5)
            .half_open_calls(5)
            .slow(Duration::from_secs(1))
    }

    /// `o` succeeded, `s` was slow as well, `x` failed.
    fn probes(outcomes: &str) -> ProbeCounts {
        let mut probes = ProbeCounts::default();
        for outcome in outcomes.chars() {
            probes.add(match outcome {
                'o' => Mark::SUCCESS,
                's' => Mark::of(false, true),
                _ => Mark::of(true, false),
            });
        }
        probes
    }

    /// `C` closes, `O` opens, `.` stays.
    fn verdict(config: &Config, outcomes: &str) -> char {
        match half_open(&resolve(config, None).unwrap(), &probes(outcomes)) {
            Next::Stay => '.',
            Next::Close(_) => 'C',
            Next::Open(_) => 'O',
        }
    }

    #[track_caller]
    fn table(config: &Config, rows: &[(&str, char)]) {
        for (outcomes, expected) in rows {
            assert_eq!(verdict(config, outcomes), *expected, "{outcomes}");
        }
    }

    #[test]
    fn the_smaller_of_minimum_and_probes_decides() {
        table(
            &ten().half_open_calls(3),
            &[("xx", '.'), ("xxo", 'O'), ("xoo", 'C')],
        );
        table(&ten().min_calls(2), &[("o", '.'), ("oo", 'C'), ("ox", 'O')]);
    }

    #[test]
    fn failures_open_at_once_and_replace_the_rate() {
        let config = ten().half_open_failures(2);
        table(
            &config,
            &[
                ("x", '.'),
                ("xox", 'O'),
                ("xoo", '.'),
                ("xoooo", 'C'),
                ("xosss", 'O'),
            ],
        );
    }

    #[test]
    fn successes_in_a_row_close_at_once_and_too_few_open() {
        let config = ten().half_open_successes(3);
        table(
            &config,
            &[
                ("oo", '.'),
                ("ooo", 'C'),
                ("ooxo", '.'),
                ("xooo", 'C'),
                ("ooxoo", 'O'),
                ("ooso", '.'),
            ],
        );
        table(
            &config.half_open_failures(1),
            &[("oox", 'O'), ("oo", '.'), ("ooo", 'C')],
        );
    }

    #[test]
    fn a_success_rate_decides_when_all_are_in() {
        let config = ten().half_open_success_rate(60.0);
        table(
            &config,
            &[
                ("oooo", '.'),
                ("oooxx", 'C'),
                ("ooxxx", 'O'),
                ("oossx", 'O'),
                ("xxxxo", 'O'),
            ],
        );
    }

    #[test]
    fn a_failure_rate_of_their_own() {
        table(
            &ten().half_open_failure_rate(20.0),
            &[("ooooo", 'C'), ("xoooo", 'O')],
        );
    }

    #[test]
    fn the_longest_stay_goes_where_it_is_told() {
        let to = |state, outcomes| {
            let config = ten().half_open_max_wait_state(state);
            half_open_expired(&resolve(&config, None).unwrap(), &probes(outcomes))
        };
        assert!(matches!(to(MaxWaitState::Open, "o"), Next::Open(_)));
        assert!(matches!(to(MaxWaitState::Closed, "x"), Next::Close(_)));
        assert!(matches!(to(MaxWaitState::Decide, ""), Next::Open(_)));
        assert!(matches!(to(MaxWaitState::Decide, "oox"), Next::Close(_)));
        assert!(matches!(to(MaxWaitState::Decide, "ox"), Next::Open(_)));
    }
}
