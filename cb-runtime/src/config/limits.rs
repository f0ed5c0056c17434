//! The allowed ranges and the contradictions: the only copy.
//!
//! Every check is a `const fn`, so that the attribute can have it evaluated by the compiler, at
//! the user's own literal, and the builder at run time.

use std::time::Duration;

use super::{Percent, Window};

/// Why a value is not accepted. `message` is what a compile error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub(crate) field: &'static str,
    pub(crate) allowed: &'static str,
    pub(crate) message: &'static str,
}

type Check = Result<(), Refused>;

macro_rules! refuse {
    ($field:literal, $allowed:literal) => {
        Err(Refused {
            field: $field,
            allowed: $allowed,
            message: concat!("`", $field, "` must be ", $allowed),
        })
    };
}

macro_rules! check {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),+), $field:literal, $allowed:literal, $ok:expr) => {
        $(#[$doc])*
        pub const fn $name($($arg: $ty),+) -> Check {
            if $ok { Ok(()) } else { refuse!($field, $allowed) }
        }
    };
}

/// `Duration` has no const comparison operators; whole nanoseconds compare.
const fn below(a: Duration, b: Duration) -> bool {
    a.as_nanos() < b.as_nanos()
}

check!(window_calls(calls: u32), "window", "from 1 to 1000000 calls", 1 <= calls && calls <= 1_000_000);
check!(
    window_time(time: Duration),
    "window",
    "from \"100ms\" to \"24h\"",
    !below(time, Duration::from_millis(100)) && !below(Duration::from_secs(24 * 3600), time)
);
/// The range that fits the kind of window.
pub const fn window(window: Window) -> Check {
    match window {
        Window::Calls(calls) => window_calls(calls),
        Window::Time(time) => window_time(time),
    }
}
check!(buckets(buckets: u32), "buckets", "from 1 to 600", 1 <= buckets && buckets <= 600);
check!(
    bucket_length(time: Duration, buckets: u32),
    "buckets",
    "few enough that each spans at least \"10ms\" of the `window`",
    time.as_nanos() >= buckets as u128 * 10_000_000
);
check!(
    buckets_need_time(window: Window),
    "buckets",
    "left out with a `window` of calls: only a time window has buckets",
    matches!(window, Window::Time(_))
);
check!(min_calls(calls: u32), "min_calls", "at least 1", 1 <= calls);
check!(
    min_calls_in_window(min: u32, window: u32),
    "min_calls",
    "at most the number of calls in the `window`, else no rate would ever be judged",
    min <= window
);
check!(
    failure_rate(rate: f64),
    "failure_rate",
    "a percentage above 0 and at most 100",
    Percent::in_range(rate)
);
check!(
    slow_rate(rate: f64),
    "slow_rate",
    "a percentage above 0 and at most 100",
    Percent::in_range(rate)
);
check!(slow(limit: Duration), "slow", "longer than zero", !limit.is_zero());
check!(
    slow_rate_needs_slow(slow: Option<Duration>),
    "slow_rate",
    "accompanied by `slow`, which says what a slow call is",
    slow.is_some()
);
check!(
    slow_below_timeout(slow: Duration, timeout: Duration),
    "slow",
    "shorter than `timeout`: calls are dropped at the timeout, so no call could ever be slow",
    below(slow, timeout)
);
check!(failure_count(failures: u32), "failure_count", "at least 1", 1 <= failures);
check!(
    failure_count_in_window(failures: u32, window: u32),
    "failure_count",
    "at most the number of calls in the `window`, else it would never be reached",
    failures <= window
);
check!(
    consecutive_failures(failures: u32),
    "consecutive_failures",
    "from 1 to 1000000",
    1 <= failures && failures <= 1_000_000
);
check!(timeout(timeout: Duration), "timeout", "longer than zero", !timeout.is_zero());
check!(
    timeout_below_max_wait(timeout: Duration, max_wait: Duration),
    "timeout",
    "shorter than `half_open_max_wait`, else no hanging probe ever ends within the half-open stay",
    below(timeout, max_wait)
);
check!(wait(wait: Duration), "wait", "longer than zero", !wait.is_zero());
check!(wait_max(limit: Duration), "wait_max", "longer than zero", !limit.is_zero());
check!(
    wait_multiplier(multiplier: f64),
    "wait_multiplier",
    "from 1 to 100",
    1.0 <= multiplier && multiplier <= 100.0
);
check!(
    wait_multiplier_needs_max(wait_max: Option<Duration>),
    "wait_multiplier",
    "accompanied by `wait_max`, else the wait grows without end",
    wait_max.is_some()
);
check!(
    wait_within_max(wait: Duration, wait_max: Duration),
    "wait_max",
    "at least `wait`",
    !below(wait_max, wait)
);
check!(
    wait_default_within_max(wait_max: Duration),
    "wait_max",
    "at least `wait`, which is \"10s\" unless it is set",
    !below(wait_max, DEFAULT_WAIT)
);
/// Where nothing says otherwise.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(10);
check!(
    half_open_calls(calls: u32),
    "half_open_calls",
    "from 1 to 1000",
    1 <= calls && calls <= 1000
);
check!(
    half_open_max_wait(limit: Duration),
    "half_open_max_wait",
    "at least \"1ms\", else it is over before a probe returns",
    !below(limit, Duration::from_millis(1))
);

check!(
    half_open_concurrency(probes: u32),
    "half_open_concurrency",
    "at least 1",
    1 <= probes
);
check!(
    half_open_concurrency_in_calls(probes: u32, calls: u32),
    "half_open_concurrency",
    "at most `half_open_calls`: there are no more probes than that",
    probes <= calls
);
check!(
    half_open_delay(delay: Duration),
    "half_open_delay",
    "longer than zero",
    !delay.is_zero()
);
check!(
    half_open_delay_below_max_wait(delay: Duration, max_wait: Duration),
    "half_open_delay",
    "shorter than `half_open_max_wait`, else the stay is over before its first probe",
    below(delay, max_wait)
);
check!(
    half_open_successes(probes: u32),
    "half_open_successes",
    "at least 1",
    1 <= probes
);
check!(
    half_open_successes_in_calls(probes: u32, calls: u32),
    "half_open_successes",
    "at most `half_open_calls`, else it could never be reached",
    probes <= calls
);
check!(
    half_open_success_rate(rate: f64),
    "half_open_success_rate",
    "a percentage above 0 and at most 100",
    Percent::in_range(rate)
);
check!(
    half_open_success_rate_alone(successes: Option<u32>),
    "half_open_success_rate",
    "left out with `half_open_successes`: both say what closes the breaker",
    successes.is_none()
);
check!(
    half_open_failures(probes: u32),
    "half_open_failures",
    "at least 1",
    1 <= probes
);
check!(
    half_open_failures_in_calls(probes: u32, calls: u32),
    "half_open_failures",
    "at most `half_open_calls`, else it could never be reached",
    probes <= calls
);
check!(
    half_open_failure_rate(rate: f64),
    "half_open_failure_rate",
    "a percentage above 0 and at most 100",
    Percent::in_range(rate)
);
check!(
    half_open_failure_rate_alone(failures: Option<u32>, success_rate: Option<f64>),
    "half_open_failure_rate",
    "left out with `half_open_failures` or `half_open_success_rate`: they say what opens the breaker",
    failures.is_none() && success_rate.is_none()
);
check!(
    half_open_failure_window(window: Duration),
    "half_open_failure_window",
    "longer than zero",
    !window.is_zero()
);
check!(
    half_open_failure_window_needs_failures(failures: Option<u32>),
    "half_open_failure_window",
    "accompanied by `half_open_failures`, whose failures it forgets",
    failures.is_some()
);
check!(
    half_open_slow(limit: Duration),
    "half_open_slow",
    "longer than zero",
    !limit.is_zero()
);
check!(
    half_open_slow_needs_slow(slow: Option<Duration>),
    "half_open_slow",
    "accompanied by `slow`, of which it is the stricter form",
    slow.is_some()
);
check!(
    half_open_slow_within_slow(limit: Duration, slow: Duration),
    "half_open_slow",
    "at most `slow`: probes are judged more strictly, not less",
    !below(slow, limit)
);
check!(
    half_open_attempts(stays: u32),
    "half_open_attempts",
    "at least 1",
    1 <= stays
);
check!(
    half_open_attempts_needs_max(wait_max: Option<Duration>),
    "half_open_attempts",
    "accompanied by `wait_max`, which is the wait after so many attempts",
    wait_max.is_some()
);
check!(
    wait_jitter(percent: f64),
    "wait_jitter",
    "a percentage above 0 and at most 100",
    Percent::in_range(percent)
);
check!(
    wait_by_failure_rate_needs_max(wait_max: Option<Duration>),
    "wait_by_failure_rate",
    "accompanied by `wait_max`, which is the wait at 100% failures",
    wait_max.is_some()
);
check!(
    wait_recover(time: Duration),
    "wait_recover",
    "longer than zero",
    !time.is_zero()
);
check!(
    max_keys(keys: u32),
    "max_keys",
    "from 1 to 1000000",
    1 <= keys && keys <= 1_000_000
);
check!(
    count_running_needs_slow(slow: Option<Duration>),
    "count_running",
    "accompanied by `slow`: a running call counts once it has been running for longer",
    slow.is_some()
);
check!(
    half_open_timeout(timeout: Duration),
    "half_open_timeout",
    "longer than zero",
    !timeout.is_zero()
);
check!(
    half_open_timeout_within_timeout(probe: Duration, timeout: Duration),
    "half_open_timeout",
    "at most `timeout`: a probe is given less time, not more",
    !below(timeout, probe)
);
check!(
    half_open_timeout_below_max_wait(probe: Duration, max_wait: Duration),
    "half_open_timeout",
    "shorter than `half_open_max_wait`, else the stay is over before a hanging probe",
    below(probe, max_wait)
);
check!(
    half_open_slow_below_timeout(slow: Duration, timeout: Duration),
    "half_open_slow",
    "shorter than `half_open_timeout`: probes are dropped then, so none could ever be slow",
    below(slow, timeout)
);
check!(
    warmup(time: Duration),
    "warmup",
    "longer than zero",
    !time.is_zero()
);
check!(
    ramp(time: Duration),
    "ramp",
    "longer than zero",
    !time.is_zero()
);
/// The longest stay in HALF_OPEN, of a breaker whose functions have at most this timeout.
pub const fn default_half_open_max_wait(timeout: Option<Duration>) -> Duration {
    const LEAST: Duration = Duration::from_secs(30);
    match timeout {
        Some(timeout) => {
            let twice = timeout.saturating_mul(2);
            if below(LEAST, twice) { twice } else { LEAST }
        }
        None => LEAST,
    }
}

/// Probes in one HALF_OPEN stay.
pub const DEFAULT_HALF_OPEN_CALLS: u32 = 5;

/// Of a function with a `key` and no `max_keys`.
pub const DEFAULT_MAX_KEYS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_as_a_sentence() {
        let refused = min_calls(0).unwrap_err();
        assert_eq!(refused.message, "`min_calls` must be at least 1");
        assert_eq!(refused.field, "min_calls");
    }

    #[test]
    fn the_ends_of_the_ranges_belong_to_them() {
        assert!(window_calls(1).is_ok() && window_calls(1_000_000).is_ok());
        assert!(window_calls(0).is_err() && window_calls(1_000_001).is_err());
        assert!(window_time(Duration::from_millis(100)).is_ok());
        assert!(window_time(Duration::from_nanos(99_999_999)).is_err());
        assert!(failure_rate(100.0).is_ok() && failure_rate(100.000_000_1).is_err());
        assert!(failure_rate(0.0).is_err() && failure_rate(f64::NAN).is_err());
        assert!(bucket_length(Duration::from_secs(1), 100).is_ok());
        assert!(bucket_length(Duration::from_secs(1), 101).is_err());
        assert!(wait_within_max(Duration::from_secs(1), Duration::from_secs(1)).is_ok());
    }
}
