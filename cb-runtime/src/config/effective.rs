//! Every setting with the value that is in force, for reports of what has changed.

use std::time::Duration;

use super::{Config, Settings};
use crate::clock::Nanos;

impl Settings {
    /// Names and values, as [`Config::chosen`] writes them.
    pub(crate) fn listed(&self) -> Vec<(&'static str, String)> {
        self.as_chosen().chosen()
    }

    /// A configuration that chooses all of it.
    fn as_chosen(&self) -> Config {
        let time = Duration::from_nanos;
        let times = |nanos: Option<Nanos>| Some(nanos.map(time));
        Config {
            window: Some(self.window),
            buckets: matches!(self.window, super::Window::Time(_)).then_some(self.buckets),
            min_calls: Some(self.min_calls),
            failure_rate: Some(self.failure_rate.value()),
            slow: times(self.slow),
            slow_rate: Some(self.slow_rate.value()),
            failure_count: Some(self.failure_count),
            consecutive_failures: Some(self.consecutive_failures),
            count_running: Some(self.count_running),
            warmup: times(self.warmup),
            on_cancel: Some(self.on_cancel),
            wait: Some(time(self.wait)),
            wait_multiplier: Some(self.wait_multiplier),
            wait_max: times((self.wait_max != Nanos::MAX).then_some(self.wait_max)),
            wait_jitter: Some(self.wait_jitter.map(|part| part * 100.0)),
            wait_by_failure_rate: Some(self.wait_by_failure_rate),
            wait_recover: times(self.wait_recover),
            auto_half_open: Some(self.auto_half_open),
            half_open_calls: Some(self.half_open_calls),
            deciding_probes: None,
            half_open_concurrency: Some(self.half_open_concurrency),
            half_open_delay: times(self.half_open_delay),
            half_open_successes: Some(self.half_open_successes),
            half_open_success_rate: Some(self.half_open_success_rate.map(|rate| rate.value())),
            half_open_failures: Some(self.half_open_failures),
            half_open_failure_rate: Some(self.half_open_failure_rate.value()),
            half_open_failure_window: times(self.half_open_failure_window),
            half_open_slow: self.half_open_slow.map(time),
            half_open_attempts: Some(self.half_open_attempts),
            half_open_max_wait: times(self.half_open_max_wait),
            half_open_max_wait_state: Some(self.half_open_max_wait_state),
            ramp: times(self.ramp),
            mode: Some(self.mode),
        }
    }
}
