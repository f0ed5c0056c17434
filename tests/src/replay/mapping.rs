//! A trace's settings in the engine's words.

use std::time::Duration;

use cb_runtime::{Config, MaxWaitState, Mode, OnCancel, Window};

use crate::trace::{Settings, StateName, WaitInterval, WindowType};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn config(settings: &Settings) -> Config {
    let size = settings.window_size;
    let min_calls = settings.minimum_number_of_calls;
    let mut config = match settings.window_type {
        WindowType::Count => Config::new()
            .window(Window::Calls(size))
            .min_calls(min_calls.min(size)),
        WindowType::Time => {
            let window = Window::Time(Duration::from_secs(size.into()));
            Config::new()
                .window(window)
                .buckets(size)
                .min_calls(min_calls)
        }
    };
    config = config
        .failure_rate(settings.failure_rate_threshold)
        .slow(ms(settings.slow_call_duration_threshold_ms))
        .slow_rate(settings.slow_call_rate_threshold)
        .failure_count_off()
        .consecutive_failures_off()
        .on_cancel(OnCancel::Ignore)
        .auto_half_open(settings.automatic_transition)
        .half_open_calls(settings.permitted_number_of_calls_in_half_open_state)
        // In HALF_OPEN the reference goes by the minimum as it was configured.
        .__deciding_probes(min_calls);
    config = match settings.wait_interval {
        WaitInterval::Fixed(wait) => config.wait(ms(wait)),
        WaitInterval::Exponential {
            initial_ms,
            multiplier,
            max_ms,
        } => {
            let max = max_ms.map_or(Duration::MAX, ms);
            config
                .wait(ms(initial_ms).min(max))
                .wait_multiplier(multiplier)
                .wait_max(max)
        }
    };
    config = match settings.max_wait_duration_in_half_open_state_ms {
        0 => config.half_open_max_wait_off(),
        limit => config.half_open_max_wait(ms(limit)),
    };
    config =
        config.half_open_max_wait_state(match settings.transition_to_state_after_wait_duration {
            StateName::Closed => MaxWaitState::Closed,
            _ => MaxWaitState::Open,
        });
    match settings.initial_state {
        Some(StateName::ForcedOpen) => config.mode(Mode::ForcedOpen),
        Some(StateName::Disabled) => config.mode(Mode::Disabled),
        Some(StateName::MetricsOnly) => config.mode(Mode::MetricsOnly),
        // The others are reached by hand.
        _ => config,
    }
}
