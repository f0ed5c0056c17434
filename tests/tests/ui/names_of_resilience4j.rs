use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

#[circuit_breaker(
    name = "query",
    base_config = "quick",
    sliding_window_type = "COUNT_BASED",
    sliding_window_size = 50,
    minimum_number_of_calls = 20,
    failure_rate_threshold = 50,
    slow_call_duration_threshold = "2s",
    slow_call_rate_threshold = 50,
    wait_duration_in_open_state = "20s",
    automatic_transition_from_open_to_half_open_enabled = true,
    permitted_number_of_calls_in_half_open_state = 5,
    max_wait_duration_in_half_open_state = "20s",
    ignore_exceptions = Ignored,
    record_exceptions = Recorded,
    timeout_duration = "3s",
    fallback_method = cached,
    slowCallRateThreshold = 50,
    slow-call-rate-threshold = 50
)]
async fn query() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
