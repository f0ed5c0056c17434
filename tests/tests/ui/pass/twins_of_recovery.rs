//! What the messages about waits, probes and hangs say to write, written. Each breaker is named
//! after the mistake.

use cb_runtime::{CallError, circuit_breaker};

type Error = CallError<()>;

macro_rules! twins {
    ($($name:ident($($arguments:tt)*);)*) => {
        $(
            #[circuit_breaker($($arguments)*)]
            async fn $name() -> Result<u32, Error> {
                Ok(1)
            }
        )*
        async fn all() {
            $(let _ = $name().await;)*
        }
    };
}

fn wait(_: &Result<u32, Error>) -> Option<std::time::Duration> {
    None
}

twins! {
    running(name = "count_running_without_slow", slow = "1s", count_running = true);
    attempts(name = "half_open_attempts_without_wait_max", half_open_attempts = 3, wait_max = "1m");
    concurrency(name = "half_open_concurrency_above_calls", half_open_calls = 3, half_open_concurrency = 3);
    delay(name = "half_open_delay_not_below_max_wait", half_open_delay = "29s", half_open_max_wait = "30s");
    delay_of_default(name = "half_open_delay_not_below_default_max_wait", half_open_delay = "29s");
    failures(name = "half_open_failure_rate_beside_failures", half_open_failures = 2);
    failure_rate(name = "half_open_failure_rate_beside_success_rate", half_open_failure_rate = 60);
    window(
        name = "half_open_failure_window_without_failures",
        half_open_failures = 2,
        half_open_failure_window = "10s"
    );
    failures_in_calls(name = "half_open_failures_above_calls", half_open_failures = 5);
    slow_within(name = "half_open_slow_above_slow", slow = "2s", half_open_slow = "2s");
    slow_below(
        name = "half_open_slow_not_below_timeout",
        slow = "5s",
        half_open_slow = "2s",
        half_open_timeout = "3s"
    );
    slow(name = "half_open_slow_without_slow", slow = "2s", half_open_slow = "1s");
    success_rate(name = "half_open_success_rate_beside_successes", half_open_success_rate = 60);
    successes(name = "half_open_successes_above_calls", half_open_calls = 6, half_open_successes = 6);
    timeout(name = "half_open_timeout_above_timeout", timeout = "2s", half_open_timeout = "2s");
    stay(
        name = "half_open_timeout_not_below_max_wait",
        half_open_timeout = "19s",
        half_open_max_wait = "20s"
    );
    of_async(name = "half_open_timeout_of_sync", half_open_timeout = "2s");
    retry_after(name = "retry_after_of_wrong_type", retry_after = wait);
    by_rate(name = "wait_by_failure_rate_without_max", wait_by_failure_rate = true, wait_max = "1m");
    jitter(name = "wait_jitter_too_high", wait_jitter = 100);
}

fn main() {
    drop(all());
}
