//! The rules: what a stay's counts mean under the settings. Pure: no clock, no atomics.

use crate::clock::Nanos;
use crate::config::{MaxWaitState, Settings};
use crate::event::Cause;
use crate::window::Counts;

/// Computed waits are never shorter.
const MIN_WAIT: Nanos = NANOS_PER_MS;
const NANOS_PER_MS: Nanos = 1_000_000;

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
        calls: counts.total,
        limit: settings.slow_rate.value(),
    }
}

/// Judges a CLOSED stay, after each recorded outcome. `streak` is the failures in a row.
pub(crate) fn closed(settings: &Settings, counts: &Counts, streak: u32) -> Verdict {
    let rates = counts.total >= settings.min_calls;
    Verdict {
        failure_rate: rates && settings.failure_rate.reached(counts.failed, counts.total),
        slow_rate: rates && slow_reached(settings, counts),
        failure_count: settings
            .failure_count
            .is_some_and(|limit| counts.failed >= limit),
        consecutive: settings
            .consecutive_failures
            .is_some_and(|limit| streak >= limit),
    }
}

fn slow_reached(settings: &Settings, counts: &Counts) -> bool {
    settings.slow.is_some() && settings.slow_rate.reached(counts.slow, counts.total)
}

/// Where a HALF_OPEN stay goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    Stay,
    Close(Cause),
    Open(Cause),
}

/// Judges a HALF_OPEN stay, after each recorded probe.
pub(crate) fn half_open(settings: &Settings, counts: &Counts) -> Next {
    if counts.total < settings.deciding_probes {
        Next::Stay
    } else {
        by_rates(settings, counts)
    }
}

fn by_rates(settings: &Settings, counts: &Counts) -> Next {
    if settings.failure_rate.reached(counts.failed, counts.total) {
        Next::Open(failure_rate(settings, counts))
    } else if slow_reached(settings, counts) {
        Next::Open(slow_rate(settings, counts))
    } else {
        Next::Close(Cause::ProbesSucceeded {
            returned: counts.total,
            failed: counts.failed,
        })
    }
}

/// Judges a HALF_OPEN stay that has lasted as long as it may.
pub(crate) fn half_open_expired(settings: &Settings, counts: &Counts) -> Next {
    let cause = Cause::HalfOpenMaxWait {
        returned: counts.total,
    };
    match settings.half_open_max_wait_state {
        MaxWaitState::Open => Next::Open(cause),
        MaxWaitState::Closed => Next::Close(cause),
        MaxWaitState::Decide if counts.total == 0 => Next::Open(cause),
        MaxWaitState::Decide => match by_rates(settings, counts) {
            Next::Open(_) => Next::Open(cause),
            _ => Next::Close(cause),
        },
    }
}

/// The wait of the first opening in a row.
pub(crate) fn first_wait(settings: &Settings) -> Nanos {
    served(settings.wait.min(settings.wait_max))
}

/// The wait of the opening that follows one which waited for `wait`. It is never shorter.
pub(crate) fn next_wait(settings: &Settings, wait: Nanos) -> Nanos {
    if settings.wait_multiplier <= 1.0 || wait == Nanos::MAX {
        return wait;
    }
    // Whole milliseconds up to 584 years are exact enough as a float; a float cast saturates.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    let grown_ms = (wait as f64 / NANOS_PER_MS as f64 * settings.wait_multiplier) as u64;
    let grown = grown_ms.saturating_mul(NANOS_PER_MS);
    grown.min(settings.wait_max).max(wait)
}

/// A wait as it is served.
pub(crate) fn served(wait: Nanos) -> Nanos {
    wait.max(MIN_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Window, resolve};
    use std::time::Duration;

    fn settings(config: Config) -> Settings {
        resolve(&config, None).unwrap()
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

    #[test]
    fn the_smaller_of_minimum_and_probes_decides() {
        let settings = settings(ten().half_open_calls(3));
        assert_eq!(half_open(&settings, &counts(2, 2, 0)), Next::Stay);
        assert!(matches!(
            half_open(&settings, &counts(3, 2, 0)),
            Next::Open(_)
        ));
        assert!(matches!(
            half_open(&settings, &counts(3, 1, 0)),
            Next::Close(_)
        ));
        let two = self::settings(ten().min_calls(2));
        assert!(matches!(half_open(&two, &counts(2, 0, 0)), Next::Close(_)));
    }

    #[test]
    fn the_longest_stay_goes_where_it_is_told() {
        let to = |state, counts: Counts| {
            half_open_expired(&settings(ten().half_open_max_wait_state(state)), &counts)
        };
        assert!(matches!(
            to(MaxWaitState::Open, counts(1, 0, 0)),
            Next::Open(_)
        ));
        assert!(matches!(
            to(MaxWaitState::Closed, counts(1, 1, 0)),
            Next::Close(_)
        ));
        assert!(matches!(
            to(MaxWaitState::Decide, counts(0, 0, 0)),
            Next::Open(_)
        ));
        assert!(matches!(
            to(MaxWaitState::Decide, counts(3, 1, 0)),
            Next::Close(_)
        ));
        assert!(matches!(
            to(MaxWaitState::Decide, counts(2, 1, 0)),
            Next::Open(_)
        ));
    }

    #[test]
    fn waits_grow_in_whole_milliseconds_up_to_the_cap() {
        let ms = Duration::from_millis;
        let waits = |config: Config| {
            let settings = settings(config);
            let mut wait = first_wait(&settings);
            let mut waits = Vec::new();
            for _ in 0..5 {
                waits.push(wait / NANOS_PER_MS);
                wait = next_wait(&settings, wait);
            }
            waits
        };
        let grow = |multiplier, max| ten().wait_multiplier(multiplier).wait_max(max);
        assert_eq!(
            waits(grow(1.5, Duration::MAX).wait(ms(333))),
            [333, 499, 748, 1122, 1683]
        );
        assert_eq!(
            waits(grow(2.0, ms(3000)).wait(ms(1000))),
            [1000, 2000, 3000, 3000, 3000]
        );
        assert_eq!(waits(grow(1.0, ms(3000)).wait(ms(1000))), [1000; 5]);
        let micros = |us| Duration::from_micros(us);
        let short = settings(grow(2.0, Duration::MAX).wait(micros(300)));
        assert_eq!(first_wait(&short), 1_000_000);
        assert_eq!(next_wait(&short, first_wait(&short)), 2_000_000);
        let odd = settings(grow(1.1, Duration::MAX).wait(micros(1500)));
        assert_eq!(next_wait(&odd, first_wait(&odd)), 1_500_000);
        let forever = settings(grow(2.0, Duration::MAX).wait(Duration::MAX));
        assert_eq!(next_wait(&forever, first_wait(&forever)), Nanos::MAX);
    }
}
