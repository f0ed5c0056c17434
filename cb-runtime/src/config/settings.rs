//! The merged layers with every default filled in: what the engine reads.

use std::time::Duration;

use super::limits::{self, DEFAULT_HALF_OPEN_CALLS, DEFAULT_WAIT, Refused};
use super::{Config, MaxWaitState, Mode, Percent, Window};
use crate::clock::{Nanos, nanos};
use crate::error::ConfigError;
use crate::outcome::OnCancel;

const DEFAULT_WINDOW: Window = Window::Time(Duration::from_secs(30));
const DEFAULT_MIN_CALLS: u32 = 10;
const DEFAULT_RATE: f64 = 50.0;
const DEFAULT_CONSECUTIVE_FAILURES: u32 = 10;

/// Every setting, with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) window: Window,
    /// Of a time window.
    pub(crate) buckets: u32,
    pub(crate) min_calls: u32,
    pub(crate) failure_rate: Percent,
    pub(crate) slow: Option<Nanos>,
    pub(crate) slow_rate: Percent,
    pub(crate) failure_count: Option<u32>,
    pub(crate) consecutive_failures: Option<u32>,
    pub(crate) count_running: bool,
    pub(crate) warmup: Option<Nanos>,
    pub(crate) ramp: Option<Nanos>,
    pub(crate) on_cancel: OnCancel,
    pub(crate) wait: Nanos,
    pub(crate) wait_multiplier: f64,
    /// `Nanos::MAX` where there is no cap.
    pub(crate) wait_max: Nanos,
    pub(crate) auto_half_open: bool,
    pub(crate) half_open_calls: u32,
    /// How many probes decide a HALF_OPEN stay.
    pub(crate) deciding_probes: u32,
    pub(crate) half_open_concurrency: u32,
    pub(crate) half_open_delay: Option<Nanos>,
    pub(crate) half_open_successes: Option<u32>,
    pub(crate) half_open_success_rate: Option<Percent>,
    pub(crate) half_open_failures: Option<u32>,
    pub(crate) half_open_failure_rate: Percent,
    pub(crate) half_open_failure_window: Option<Nanos>,
    pub(crate) half_open_slow: Option<Nanos>,
    pub(crate) half_open_attempts: Option<u32>,
    pub(crate) half_open_max_wait: Option<Nanos>,
    pub(crate) half_open_max_wait_state: MaxWaitState,
    /// As a part of 1.
    pub(crate) wait_jitter: Option<f64>,
    pub(crate) wait_by_failure_rate: bool,
    pub(crate) wait_recover: Option<Nanos>,
    pub(crate) mode: Mode,
}

/// Fills in the defaults and checks the whole. `timeout` is the longest one of the functions that
/// the breaker guards: defaults follow it. Whether it goes with `slow` and `half_open_max_wait` is
/// checked where one attribute has both; a limit from another layer that such a function never
/// reaches is no reason to leave that layer out.
pub(crate) fn resolve(config: &Config, timeout: Option<Duration>) -> Result<Settings, ConfigError> {
    let window = config.window.unwrap_or(DEFAULT_WINDOW);
    let default_min = match window {
        Window::Calls(calls) => DEFAULT_MIN_CALLS.min(calls),
        Window::Time(_) => DEFAULT_MIN_CALLS,
    };
    let min_calls = config.min_calls.unwrap_or(default_min);
    let failure_rate = config.failure_rate.unwrap_or(DEFAULT_RATE);
    let slow_rate = config.slow_rate.unwrap_or(DEFAULT_RATE);
    let slow = config.slow.flatten();
    let failure_count = config.failure_count.flatten();
    let consecutive_failures = config
        .consecutive_failures
        .unwrap_or(Some(DEFAULT_CONSECUTIVE_FAILURES));
    let wait = config.wait.unwrap_or(DEFAULT_WAIT);
    let wait_multiplier = config.wait_multiplier.unwrap_or(1.0);
    let wait_max = config.wait_max.flatten();
    let half_open_calls = config.half_open_calls.unwrap_or(DEFAULT_HALF_OPEN_CALLS);
    let half_open_max_wait = config
        .half_open_max_wait
        .unwrap_or_else(|| Some(limits::default_half_open_max_wait(timeout)));

    check(limits::window(window), window)?;
    check(limits::min_calls(min_calls), min_calls)?;
    check(limits::failure_rate(failure_rate), failure_rate)?;
    check(limits::slow_rate(slow_rate), slow_rate)?;
    check(limits::wait(wait), wait)?;
    check(limits::wait_multiplier(wait_multiplier), wait_multiplier)?;
    check(limits::half_open_calls(half_open_calls), half_open_calls)?;
    if let Some(slow) = slow {
        check(limits::slow(slow), slow)?;
    }
    // An explicit `off` above a layer that set the rate is no contradiction.
    if let (Some(rate), None) = (config.slow_rate, config.slow) {
        check(limits::slow_rate_needs_slow(None), rate)?;
    }
    if let Some(failures) = failure_count {
        check(limits::failure_count(failures), failures)?;
    }
    if let Some(failures) = consecutive_failures {
        check(limits::consecutive_failures(failures), failures)?;
    }
    if wait_multiplier > 1.0 {
        check(limits::wait_multiplier_needs_max(wait_max), wait_multiplier)?;
    }
    if let Some(max) = wait_max {
        check(limits::wait_max(max), max)?;
        check(limits::wait_within_max(wait, max), max)?;
    }
    if let Some(limit) = half_open_max_wait {
        check(limits::half_open_max_wait(limit), limit)?;
    }
    if let (Some(true), None) = (config.count_running, config.slow) {
        check(limits::count_running_needs_slow(None), true)?;
    }
    if let Some(Some(time)) = config.warmup {
        check(limits::warmup(time), time)?;
    }
    if let Some(Some(time)) = config.ramp {
        check(limits::ramp(time), time)?;
    }
    waits(config)?;
    half_open(config, half_open_calls, half_open_max_wait)?;
    let buckets = match window {
        Window::Calls(calls) => {
            check(limits::min_calls_in_window(min_calls, calls), min_calls)?;
            if let Some(failures) = failure_count {
                check(limits::failure_count_in_window(failures, calls), failures)?;
            }
            if let Some(buckets) = config.buckets {
                check(limits::buckets_need_time(window), buckets)?;
            }
            1
        }
        Window::Time(time) => {
            let buckets = config.buckets.unwrap_or_else(|| default_buckets(time));
            check(limits::buckets(buckets), buckets)?;
            check(limits::bucket_length(time, buckets), buckets)?;
            buckets
        }
    };
    Ok(Settings {
        window,
        buckets,
        min_calls,
        failure_rate: Percent::new(failure_rate),
        slow: slow.map(nanos),
        slow_rate: Percent::new(slow_rate),
        failure_count,
        consecutive_failures,
        count_running: config.count_running == Some(true) && slow.is_some(),
        warmup: config.warmup.flatten().map(nanos),
        ramp: config.ramp.flatten().map(nanos),
        on_cancel: config.on_cancel.unwrap_or_default(),
        wait: nanos(wait),
        wait_multiplier,
        wait_max: wait_max.map_or(Nanos::MAX, nanos),
        auto_half_open: config.auto_half_open.unwrap_or_default(),
        half_open_calls,
        deciding_probes: config
            .deciding_probes
            .unwrap_or(min_calls)
            .min(half_open_calls),
        half_open_concurrency: config.half_open_concurrency.unwrap_or(half_open_calls),
        half_open_delay: config.half_open_delay.flatten().map(nanos),
        half_open_successes: config.half_open_successes.flatten(),
        half_open_success_rate: config.half_open_success_rate.flatten().map(Percent::new),
        half_open_failures: config.half_open_failures.flatten(),
        half_open_failure_rate: Percent::new(config.half_open_failure_rate.unwrap_or(failure_rate)),
        half_open_failure_window: config.half_open_failure_window.flatten().map(nanos),
        half_open_slow: slow.map(|slow| nanos(config.half_open_slow.unwrap_or(slow))),
        half_open_attempts: config.half_open_attempts.flatten(),
        wait_jitter: config.wait_jitter.flatten().map(|percent| percent / 100.0),
        wait_by_failure_rate: config.wait_by_failure_rate.unwrap_or_default(),
        wait_recover: config.wait_recover.flatten().map(nanos),
        half_open_max_wait: half_open_max_wait.map(nanos),
        half_open_max_wait_state: config.half_open_max_wait_state.unwrap_or_default(),
        mode: config.mode.unwrap_or_default(),
    })
}

/// The rules about waits that are not on by default.
fn waits(config: &Config) -> Result<(), ConfigError> {
    let wait_max = config.wait_max.flatten();
    if let Some(Some(percent)) = config.wait_jitter {
        check(limits::wait_jitter(percent), percent)?;
    }
    if config.wait_by_failure_rate == Some(true) {
        check(limits::wait_by_failure_rate_needs_max(wait_max), true)?;
    }
    if let Some(Some(time)) = config.wait_recover {
        check(limits::wait_recover(time), time)?;
    }
    if let Some(Some(stays)) = config.half_open_attempts {
        check(limits::half_open_attempts(stays), stays)?;
        check(limits::half_open_attempts_needs_max(wait_max), stays)?;
    }
    Ok(())
}

/// The rules about HALF_OPEN that are not on by default.
fn half_open(config: &Config, calls: u32, max_wait: Option<Duration>) -> Result<(), ConfigError> {
    let successes = config.half_open_successes.flatten();
    let success_rate = config.half_open_success_rate.flatten();
    let failures = config.half_open_failures.flatten();
    if let Some(probes) = config.half_open_concurrency {
        check(limits::half_open_concurrency(probes), probes)?;
        check(
            limits::half_open_concurrency_in_calls(probes, calls),
            probes,
        )?;
    }
    if let Some(Some(delay)) = config.half_open_delay {
        check(limits::half_open_delay(delay), delay)?;
        if let Some(max_wait) = max_wait {
            check(
                limits::half_open_delay_below_max_wait(delay, max_wait),
                delay,
            )?;
        }
    }
    if let Some(probes) = successes {
        check(limits::half_open_successes(probes), probes)?;
        check(limits::half_open_successes_in_calls(probes, calls), probes)?;
    }
    if let Some(rate) = success_rate {
        check(limits::half_open_success_rate(rate), rate)?;
        check(limits::half_open_success_rate_alone(successes), rate)?;
    }
    if let Some(probes) = failures {
        check(limits::half_open_failures(probes), probes)?;
        check(limits::half_open_failures_in_calls(probes, calls), probes)?;
    }
    if let Some(rate) = config.half_open_failure_rate {
        check(limits::half_open_failure_rate(rate), rate)?;
        check(
            limits::half_open_failure_rate_alone(failures, success_rate),
            rate,
        )?;
    }
    if let Some(Some(window)) = config.half_open_failure_window {
        check(limits::half_open_failure_window(window), window)?;
        check(
            limits::half_open_failure_window_needs_failures(failures),
            window,
        )?;
    }
    if let Some(limit) = config.half_open_slow {
        check(limits::half_open_slow(limit), limit)?;
        match config.slow {
            Some(Some(slow)) => check(limits::half_open_slow_within_slow(limit, slow), limit)?,
            // Turned off above a layer that set both.
            Some(None) => {}
            None => check(limits::half_open_slow_needs_slow(None), limit)?,
        }
    }
    Ok(())
}

impl Default for Settings {
    /// The built-in defaults, which `resolve` cannot refuse.
    fn default() -> Self {
        Self {
            window: DEFAULT_WINDOW,
            buckets: 30,
            min_calls: DEFAULT_MIN_CALLS,
            failure_rate: Percent::new(DEFAULT_RATE),
            slow: None,
            slow_rate: Percent::new(DEFAULT_RATE),
            failure_count: None,
            consecutive_failures: Some(DEFAULT_CONSECUTIVE_FAILURES),
            count_running: false,
            warmup: None,
            ramp: None,
            on_cancel: OnCancel::Slow,
            wait: nanos(DEFAULT_WAIT),
            wait_multiplier: 1.0,
            wait_max: Nanos::MAX,
            auto_half_open: false,
            half_open_calls: DEFAULT_HALF_OPEN_CALLS,
            deciding_probes: DEFAULT_HALF_OPEN_CALLS,
            half_open_concurrency: DEFAULT_HALF_OPEN_CALLS,
            half_open_delay: None,
            half_open_successes: None,
            half_open_success_rate: None,
            half_open_failures: None,
            half_open_failure_rate: Percent::new(DEFAULT_RATE),
            half_open_failure_window: None,
            half_open_slow: None,
            half_open_attempts: None,
            wait_jitter: None,
            wait_by_failure_rate: false,
            wait_recover: None,
            half_open_max_wait: Some(nanos(limits::default_half_open_max_wait(None))),
            half_open_max_wait_state: MaxWaitState::Decide,
            mode: Mode::Enabled,
        }
    }
}

/// One bucket a second, but no fewer than 10 and no more than 60.
fn default_buckets(time: Duration) -> u32 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(seconds.clamp(10, 60)).unwrap_or(60)
}

fn check(result: Result<(), Refused>, value: impl std::fmt::Debug) -> Result<(), ConfigError> {
    result.map_err(|refused| ConfigError::new(refused, format!("{value:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: Config) -> &'static str {
        resolve(&config, None).unwrap_err().field()
    }

    #[test]
    fn the_defaults_are_what_nothing_chosen_resolves_to() {
        assert_eq!(resolve(&Config::new(), None).unwrap(), Settings::default());
        assert!(resolve(&Config::new(), Some(Duration::MAX)).is_ok());
    }

    #[test]
    fn default_buckets_are_seconds_within_10_and_60() {
        let buckets = |ms| default_buckets(Duration::from_millis(ms));
        assert_eq!(
            [
                buckets(100),
                buckets(10_000),
                buckets(12_500),
                buckets(30_000),
                buckets(3_600_000)
            ],
            [10, 10, 13, 30, 60]
        );
    }

    #[test]
    fn an_unset_minimum_is_ten_or_the_window() {
        let min = |calls| {
            resolve(&Config::new().window(Window::Calls(calls)), None)
                .unwrap()
                .min_calls
        };
        assert_eq!([min(3), min(10), min(50)], [3, 10, 10]);
    }

    #[test]
    fn the_longest_half_open_stay_follows_the_timeout() {
        let stay = |timeout| {
            resolve(&Config::new(), Some(Duration::from_secs(timeout)))
                .unwrap()
                .half_open_max_wait
        };
        assert_eq!(stay(5), Some(30_000_000_000));
        assert_eq!(stay(40), Some(80_000_000_000));
    }

    #[test]
    fn contradictions_name_the_field_to_change() {
        let second = Duration::from_secs(1);
        assert_eq!(
            refused(Config::new().window(Window::Calls(5)).min_calls(6)),
            "min_calls"
        );
        assert_eq!(
            refused(Config::new().window(Window::Calls(5)).buckets(5)),
            "buckets"
        );
        assert_eq!(refused(Config::new().slow_rate(10.0)), "slow_rate");
        assert_eq!(
            refused(Config::new().wait_multiplier(2.0)),
            "wait_multiplier"
        );
        assert_eq!(refused(Config::new().wait_max(second)), "wait_max");
    }

    #[test]
    fn the_template_is_valid_alone_and_under_an_explicit_off() {
        assert!(resolve(&Config::resilience4j(), None).is_ok());
        assert!(resolve(&Config::resilience4j().slow_off(), None).is_ok());
        // Under a function whose calls never reach its slow limit of a minute.
        assert!(resolve(&Config::resilience4j(), Some(Duration::from_secs(5))).is_ok());
    }
}
