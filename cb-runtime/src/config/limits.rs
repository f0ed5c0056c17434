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

/// Makes a refusal a compile error when evaluated in a `const`.
///
/// # Panics
///
/// With the refusal's message.
pub const fn require(check: Check) {
    if let Err(refused) = check {
        panic!("{}", refused.message);
    }
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
    max_keys(keys: u32),
    "max_keys",
    "from 1 to 1000000",
    1 <= keys && keys <= 1_000_000
);
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
