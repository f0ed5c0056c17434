//! The rules: what a stay's counts mean under the settings. Pure: no clock, no atomics.

use crate::config::{Percent, Settings};
use crate::event::Cause;
use crate::window::Counts;

mod half_open;
mod wait;

pub(crate) use half_open::{Next, ProbeCounts, deciding, half_open, half_open_expired};
pub(crate) use wait::{first_wait, next_wait, served, served_wait, wait_of};

/// The limits of a CLOSED or METRICS_ONLY stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) min_calls: u32,
    pub(crate) failure_rate: Percent,
    /// `None` where nothing is slow.
    pub(crate) slow_rate: Option<Percent>,
    pub(crate) failure_count: Option<u32>,
    pub(crate) consecutive_failures: Option<u32>,
}

impl Rules {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            min_calls: settings.min_calls,
            failure_rate: settings.failure_rate,
            slow_rate: settings.slow.map(|_| settings.slow_rate),
            failure_count: settings.failure_count,
            consecutive_failures: settings.consecutive_failures,
        }
    }
}

/// What the counts of a CLOSED or METRICS_ONLY stay amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) failure_rate: bool,
    pub(crate) slow_rate: bool,
    pub(crate) failure_count: bool,
    pub(crate) consecutive: bool,
}

impl Verdict {
    pub(crate) fn opens(self) -> bool {
        self.failure_rate || self.slow_rate || self.failure_count || self.consecutive
    }

    /// The first rule that is reached, with the figures that reached it.
    pub(crate) fn cause(self, settings: &Settings, counts: &Counts, streak: u32) -> Cause {
        if self.failure_rate {
            failure_rate(settings, counts)
        } else if self.slow_rate {
            slow_rate(settings, counts)
        } else if self.failure_count {
            let limit = settings.failure_count.unwrap_or_default();
            Cause::FailureCount {
                failed: counts.failed,
                limit,
            }
        } else {
            Cause::ConsecutiveFailures { failures: streak }
        }
    }
}

fn failure_rate(settings: &Settings, counts: &Counts) -> Cause {
    Cause::FailureRate {
        failed: counts.failed,
        calls: counts.total,
        limit: settings.failure_rate.value(),
    }
}

fn slow_rate(settings: &Settings, counts: &Counts) -> Cause {
    Cause::SlowRate {
        slow: counts.slow,
        running: counts.running,
        calls: counts.total,
        limit: settings.slow_rate.value(),
    }
}

/// Judges a CLOSED stay, after each recorded outcome. `streak` is the failures in a row.
#[inline(always)]
pub(crate) fn closed(rules: &Rules, counts: &Counts, streak: u32) -> Verdict {
    let rates = counts.total >= rules.min_calls;
    Verdict {
        failure_rate: rates && rules.failure_rate.reached(counts.failed, counts.total),
        slow_rate: rates
            && rules
                .slow_rate
                .is_some_and(|limit| limit.reached(counts.slow, counts.total)),
        failure_count: rules
            .failure_count
            .is_some_and(|limit| counts.failed >= limit),
        consecutive: rules
            .consecutive_failures
            .is_some_and(|limit| streak >= limit),
    }
}

fn slow_reached(settings: &Settings, counts: &Counts) -> bool {
    settings.slow.is_some() && settings.slow_rate.reached(counts.slow, counts.total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Window, resolve};
    use std::time::Duration;

    fn settings(config: Config) -> Rules {
        Rules::of(&resolve(&config, None).unwrap())
    }

    fn counts(total: u32, failed: u32, slow: u32) -> Counts {
        Counts {
            total,
            failed,
            slow,
            ..Counts::default()
        }
    }

    fn ten() -> Config {
        Config::new()
            .window(Window::Calls(10))
            .min_calls(5)
            .consecutive_failures_off()
    }

    #[test]
    fn no_rate_below_the_minimum() {
        let settings = settings(ten().slow(Duration::from_secs(1)));
        assert!(!closed(&settings, &counts(4, 4, 4), 0).opens());
        let verdict = closed(&settings, &counts(5, 5, 5), 0);
        assert!(verdict.failure_rate && verdict.slow_rate);
    }

    #[test]
    fn equality_opens() {
        let settings = settings(ten().failure_rate(29.0).window(Window::Calls(100)));
        assert!(!closed(&settings, &counts(100, 28, 0), 0).opens());
        assert!(closed(&settings, &counts(100, 29, 0), 0).opens());
    }

    #[test]
    fn counts_and_streaks_need_no_minimum() {
        let settings = settings(ten().failure_count(3).consecutive_failures(4));
        assert!(!closed(&settings, &counts(3, 2, 0), 3).opens());
        assert!(closed(&settings, &counts(3, 3, 0), 0).failure_count);
        assert!(closed(&settings, &counts(1, 1, 0), 4).consecutive);
    }

    #[test]
    fn slow_is_not_judged_unless_it_is_set() {
        assert!(!closed(&settings(ten()), &counts(10, 0, 10), 0).opens());
    }
}
