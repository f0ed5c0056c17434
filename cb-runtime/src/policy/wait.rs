//! How long OPEN lasts.

use crate::clock::Nanos;
use crate::config::Settings;
use crate::event::Cause;

const NANOS_PER_MS: Nanos = 1_000_000;
/// Computed waits are never shorter.
const MIN_WAIT: Nanos = NANOS_PER_MS;

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

/// The wait of the `attempt`th opening in a row, counted from 1.
pub(crate) fn wait_of(settings: &Settings, attempt: u64) -> Nanos {
    let mut wait = first_wait(settings);
    for _ in 1..attempt {
        let next = next_wait(settings, wait);
        if next == wait {
            break;
        }
        wait = next;
    }
    wait
}

/// What an opening waits for, once its turn in the row has given `wait`: longer after many failed
/// stays, and the sicker the downstream; then a random part, `random` being from 0 to 1.
pub(crate) fn served_wait(
    settings: &Settings,
    wait: Nanos,
    failed_stays: u32,
    cause: Cause,
    random: f64,
) -> Nanos {
    let mut wait = wait;
    if settings
        .half_open_attempts
        .is_some_and(|stays| failed_stays >= stays)
    {
        wait = settings.wait_max;
    }
    if wait == Nanos::MAX {
        return wait;
    }
    // Waits up to a century are exact to a few hundred nanoseconds as floats; casts saturate.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    {
        if settings.wait_by_failure_rate {
            let room = settings.wait_max.saturating_sub(wait);
            wait = wait.saturating_add((room as f64 * excess(cause)) as Nanos);
        }
        if let Some(jitter) = settings.wait_jitter {
            wait = (wait as f64 * (1.0 - jitter + 2.0 * jitter * random)) as Nanos;
        }
    }
    served(wait.min(settings.wait_max))
}

/// How far the failure rate was above its limit: 0 at the limit, 1 at 100 %. 0 if another rule
/// opened.
fn excess(cause: Cause) -> f64 {
    match cause {
        Cause::FailureRate {
            failed,
            calls,
            limit,
        } if limit < 100.0 => {
            let rate = crate::event::percent(failed, calls);
            ((rate - limit) / (100.0 - limit)).clamp(0.0, 1.0)
        }
        _ => 0.0,
    }
}

/// A wait as it is served.
pub(crate) fn served(wait: Nanos) -> Nanos {
    wait.max(MIN_WAIT)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Config, resolve};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn growing(wait: u64, multiplier: f64, max: Duration) -> Settings {
        let config = Config::new()
            .wait(ms(wait))
            .wait_multiplier(multiplier)
            .wait_max(max);
        resolve(&config, None).unwrap()
    }

    fn row(settings: &Settings) -> Vec<Nanos> {
        (1..=5)
            .map(|attempt| wait_of(settings, attempt) / NANOS_PER_MS)
            .collect()
    }

    #[test]
    fn waits_grow_in_whole_milliseconds_up_to_the_cap() {
        assert_eq!(
            row(&growing(333, 1.5, Duration::MAX)),
            [333, 499, 748, 1122, 1683]
        );
        assert_eq!(
            row(&growing(1000, 2.0, ms(3000))),
            [1000, 2000, 3000, 3000, 3000]
        );
        assert_eq!(row(&growing(1000, 1.0, ms(3000))), [1000; 5]);
    }

    #[test]
    fn a_wait_never_shrinks_as_it_grows() {
        let config = Config::new().wait_multiplier(2.0).wait_max(Duration::MAX);
        let short = resolve(&config.clone().wait(Duration::from_micros(300)), None).unwrap();
        assert_eq!(
            [wait_of(&short, 1), wait_of(&short, 2)],
            [1_000_000, 2_000_000]
        );
        let odd = config
            .clone()
            .wait_multiplier(1.1)
            .wait(Duration::from_micros(1500));
        let odd = resolve(&odd, None).unwrap();
        assert_eq!([wait_of(&odd, 1), wait_of(&odd, 2)], [1_500_000; 2]);
        let forever = resolve(&config.wait(Duration::MAX), None).unwrap();
        assert_eq!(wait_of(&forever, 3), Nanos::MAX);
    }

    fn by_rate(failed: u32, limit: f64) -> Cause {
        Cause::FailureRate {
            failed,
            calls: 100,
            limit,
        }
    }

    #[test]
    fn the_sicker_the_longer() {
        let config = Config::new()
            .wait(ms(1000))
            .wait_max(ms(5000))
            .wait_by_failure_rate(true);
        let settings = resolve(&config, None).unwrap();
        let wait = |cause| served_wait(&settings, first_wait(&settings), 0, cause, 0.5);
        let waits = [50, 75, 100].map(|failed| wait(by_rate(failed, 50.0)) / NANOS_PER_MS);
        assert_eq!(waits, [1000, 3000, 5000]);
        assert_eq!(wait(by_rate(100, 100.0)), 1_000_000_000);
        assert_eq!(
            wait(Cause::ConsecutiveFailures { failures: 10 }),
            1_000_000_000
        );
    }

    #[test]
    fn no_cap_is_too_low_or_too_high_to_grow_towards() {
        let config = Config::new().wait_by_failure_rate(true);
        let wait = |config: &Config| {
            let settings = resolve(config, None).unwrap();
            served_wait(&settings, first_wait(&settings), 0, by_rate(100, 50.0), 0.5)
        };
        let nano = Duration::from_nanos(1);
        assert_eq!(wait(&config.clone().wait(nano).wait_max(nano)), 1_000_000);
        assert!(wait(&config.wait_max(Duration::MAX)) > Nanos::MAX / 2);
    }

    #[test]
    fn jitter_goes_either_way_and_stays_below_the_cap() {
        let config = Config::new()
            .wait(ms(1000))
            .wait_max(ms(1100))
            .wait_jitter(20.0);
        let settings = resolve(&config, None).unwrap();
        let wait = |random| {
            served_wait(&settings, first_wait(&settings), 0, Cause::Manual, random) / NANOS_PER_MS
        };
        assert_eq!(
            [wait(0.0), wait(0.5), wait(0.7), wait(1.0)],
            [800, 1000, 1080, 1100]
        );
    }

    #[test]
    fn after_so_many_failed_stays_it_is_the_longest() {
        let config = Config::new()
            .wait(ms(1000))
            .wait_max(ms(9000))
            .half_open_attempts(3);
        let settings = resolve(&config, None).unwrap();
        let wait = |stays| served_wait(&settings, first_wait(&settings), stays, Cause::Manual, 0.5);
        assert_eq!(
            [wait(2), wait(3), wait(4)],
            [1_000_000_000, 9_000_000_000, 9_000_000_000]
        );
    }
}
