//! What the messages about arguments say to write, written. Each breaker is named after the mistake.

use cb_runtime::{CallError, circuit_breaker};

type Error = CallError<()>;

macro_rules! twins {
    ($($name:ident($($arguments:tt)*);)*) => {
        $(
            #[circuit_breaker($($arguments)*)]
            fn $name() -> Result<u32, Error> {
                Ok(1)
            }
        )*
        fn main() {
            $($name().unwrap();)*
        }
    };
}

fn cached() -> Result<u32, Error> {
    Ok(0)
}

mod limits {
    pub const MIN: u32 = 1;
    pub const TIME: std::time::Duration = std::time::Duration::from_secs(60);
    pub const WAIT: std::time::Duration = std::time::Duration::from_secs(5);
}

twins! {
    argument_in_another_case(
        name = "argument_in_another_case",
        min_calls = 20,
        half_open_calls = 3,
        wait_max = "1m"
    );
    argument_in_parentheses(name = "argument_in_parentheses", min_calls = 20);
    argument_without_name(name = "argument_without_name");
    argument_without_value(name = "argument_without_value", auto_half_open = true);
    buckets_too_short(name = "buckets_too_short", window = "1s", buckets = 100);
    buckets_with_constant_of_calls(
        name = "buckets_with_constant_of_calls",
        window = limits::TIME,
        buckets = 10
    );
    buckets_without_time(name = "buckets_without_time", window = "100s", buckets = 10);
    choice_unknown(name = "choice_unknown", mode = "disabled");
    choice_without_quotes(name = "choice_without_quotes", half_open_max_wait_state = "closed");
    comma_missing(name = "comma_missing", min_calls = 5, window = 20, wait = "5s");
    constant_of_environment(name = "constant_of_environment", min_calls = limits::MIN);
    constant_of_wrong_type(name = "constant_of_wrong_type", wait = limits::WAIT);
    constant_out_of_range(name = "constant_out_of_range", min_calls = limits::MIN);
    crate_not_a_path(name = "crate_not_a_path", crate = ::cb_runtime);
    duplicate_argument(name = "duplicate_argument", wait = "2s");
    duration_string_without_unit(name = "duration_string_without_unit", wait = "5s");
    duration_with_unknown_unit(name = "duration_with_unknown_unit", wait = "5m");
    duration_without_unit(name = "duration_without_unit", wait = "5s");
    duration_zero(name = "duration_zero", wait = "1ms");
    failure_count_above_window(name = "failure_count_above_window", window = 50, failure_count = 50);
    flag_not_bool(name = "flag_not_bool", auto_half_open = true);
    half_open_calls_too_many(name = "half_open_calls_too_many", half_open_calls = 1000);
    min_calls_above_window(name = "min_calls_above_window", window = 50, min_calls = 50);
    min_calls_zero(name = "min_calls_zero", min_calls = 1);
    names_of_resilience4j(
        name = "names_of_resilience4j",
        base = "quick",
        window = 50,
        min_calls = 20,
        failure_rate = 50,
        slow = "2s",
        slow_rate = 50,
        wait = "20s",
        auto_half_open = true,
        half_open_calls = 5,
        half_open_max_wait = "20s",
        fallback = cached
    );
    name_empty(name = "name_empty");
    name_missing(name = "name_missing", min_calls = 20);
    name_not_a_string(name = "name_not_a_string");
    number_as_string(name = "number_as_string", min_calls = 20);
    number_with_suffix(name = "number_with_suffix", min_calls = 2);
    number_with_unit(name = "number_with_unit", window = "30s", min_calls = 20u32, wait = "500ms");
    percent_without_number(name = "percent_without_number", failure_rate = "50%");
    string_negative(name = "string_negative", wait = "2s");
    wait_max_zero(name = "wait_max_zero", base = "resilience4j", wait_max = "60s");
    number_negative(name = "number_negative", min_calls = 1);
    number_too_large(name = "number_too_large", min_calls = 4294967295);
    number_with_fraction(name = "number_with_fraction", min_calls = 2);
    off_where_not_optional(name = "off_where_not_optional");
    percent_as_fraction(name = "percent_as_fraction", failure_rate = 50, slow = "1s", slow_rate = "0.5%");
    percent_too_high(name = "percent_too_high", failure_rate = 100);
    percent_without_sign(name = "percent_without_sign", failure_rate = "50%");
    rate_off(name = "rate_off", failure_rate = 100);
    slow_rate_without_slow(name = "slow_rate_without_slow", slow = "1s", slow_rate = 80);
    unknown_argument(name = "unknown_argument", min_calls = 20);
    unknown_argument_without_likeness(name = "unknown_argument_without_likeness", failure_rate = 20);
    unsupported_argument(name = "unsupported_argument");
    wait_max_below_wait(name = "wait_max_below_wait", wait = "10s", wait_max = "10s");
    wait_max_below_default_wait(name = "wait_max_below_default_wait", wait_max = "10s");
    wait_multiplier_without_max(name = "wait_multiplier_without_max", wait_multiplier = 2, wait_max = "1m");
    window_of_calls_as_string(name = "window_of_calls_as_string", window = 100);
    window_of_no_calls(name = "window_of_no_calls", window = 1);
    window_too_short(name = "window_too_short", window = "100ms");
    several_at_once(name = "several_at_once", window = 100, min_calls = 100, failure_rate = "0.5%",
        slow = "1s", slow_rate = 100, wait = "5s", mode = "disabled");
    template_may_set_wait(name = "template", base = "quick", wait_max = "5s");
    template_may_set_slow(name = "template_slow", base = "quick", slow_rate = 80);
}
