//! Alert rules for Prometheus.

use std::fmt::Write as _;

use super::expression;

struct Alert {
    name: &'static str,
    severity: &'static str,
    /// How long it must hold.
    lasts: &'static str,
    when: &'static str,
    summary: &'static str,
    says: &'static str,
}

/// `name`, or `name[key]`.
const BREAKER: &str = "{{ $labels.name }}{{ with $labels.key }}[{{ . }}]{{ end }}";

const ALERTS: &[Alert] = &[
    Alert {
        name: "CircuitBreakerOpen",
        severity: "warning",
        lasts: "1m",
        when: r#"sum without (state) (@state{state=~"open|half_open"}) > 0"#,
        summary: "Circuit breaker BREAKER protects its callers",
        says: "The dependency has failed, and for a minute no recovery has succeeded. Calls are rejected.",
    },
    Alert {
        name: "CircuitBreakerOpenForLong",
        severity: "critical",
        lasts: "15m",
        when: r#"sum without (state) (@state{state=~"open|half_open"}) > 0"#,
        summary: "Circuit breaker BREAKER has not closed for 15 minutes",
        says: "Look at the dependency, and at whether the probes can succeed: @probes_total, @openings_in_a_row.",
    },
    Alert {
        name: "CircuitBreakerFlapping",
        severity: "warning",
        lasts: "0m",
        when: r#"increase(@state_entries_total{state="closed"}[15m]) >= 3"#,
        summary: "Circuit breaker BREAKER opens and closes again and again",
        says: "The dependency answers the probes and fails under load, or the window is too short for its errors. Consider `ramp`, more `half_open_calls`, a longer `wait`.",
    },
    Alert {
        name: "CircuitBreakerFailuresBelowMinimum",
        severity: "warning",
        lasts: "5m",
        when: r#"@window_failed_calls / @window_calls >= 0.5
and @window_calls < @min_calls
and ignoring (state) @state{state="closed"} > 0"#,
        summary: "Calls through BREAKER fail and its circuit breaker cannot open",
        says: "Half or more of the calls in the window failed, and there are fewer of them than `min_calls`, so no rate is judged. Lower `min_calls`, make the window longer, or set `consecutive_failures`.",
    },
    Alert {
        name: "CircuitBreakerNeverJudges",
        severity: "info",
        lasts: "1h",
        when: r"max_over_time(@window_calls[1d]) < @min_calls
and sum without (outcome, slow) (increase(@calls_total[1d])) > 0",
        summary: "Circuit breaker BREAKER has not had enough calls to judge a rate for a day",
        says: "Only failures in a row can open it at this traffic. Lower `min_calls` or make the window longer.",
    },
    Alert {
        name: "CircuitBreakerCallsHang",
        severity: "critical",
        lasts: "2m",
        when: r#"@calls_in_flight > 0
and sum without (outcome, slow) (rate(@calls_total[2m])) == 0
and ignoring (state) @state{state="closed"} > 0"#,
        summary: "Calls through BREAKER begin and none ends",
        says: "A call that hangs has no outcome that could open the breaker. Set `timeout`, or `slow` with `count_running`.",
    },
    Alert {
        name: "CircuitBreakerHalfOpenForLong",
        severity: "warning",
        lasts: "10m",
        when: r#"@state{state="half_open"} > 0 and ignoring (state) @in_state_seconds > 600"#,
        summary: "Circuit breaker BREAKER is half-open and does not decide",
        says: "Too few calls come, or its probes hang. See `half_open_calls` and `half_open_max_wait`.",
    },
    Alert {
        name: "CircuitBreakerRecoveryFails",
        severity: "warning",
        lasts: "0m",
        when: "@openings_in_a_row >= 10",
        summary: "Circuit breaker BREAKER has reopened {{ $value }} times in a row",
        says: "Every recovery has failed. A growing wait (`wait_multiplier`, `wait_max`) spares the dependency.",
    },
    Alert {
        name: "CircuitBreakerForcedForLong",
        severity: "warning",
        lasts: "1h",
        when: r#"@state{state=~"forced_open|disabled"} > 0"#,
        summary: "Circuit breaker BREAKER has been {{ $labels.state }} by hand for an hour",
        says: "Somebody switched it, and it stays so until somebody switches it back.",
    },
    Alert {
        name: "CircuitBreakerListenersTooSlow",
        severity: "info",
        lasts: "0m",
        when: "increase(@dropped_events_total[10m]) > 0",
        summary: "Listeners of circuit breaker BREAKER miss events",
        says: "More than 1024 events were waiting. Transitions are never dropped.",
    },
];

pub(super) fn rules() -> String {
    let mut yaml = String::from(
        "# Alert rules for Prometheus. Made from the table of metrics by `cargo run -p cb-tests --bin dashboards`.\n\
         groups:\n- name: circuit-breakers\n  rules:\n",
    );
    for alert in ALERTS {
        let lines: Vec<_> = alert.when.lines().map(expression).collect();
        let _ = write!(
            yaml,
            "  - alert: {}\n    expr: |-\n      {}\n    for: {}\n    labels:\n      severity: {}\n    \
             annotations:\n      summary: '{}'\n      description: '{}'\n",
            alert.name,
            lines.join("\n      "),
            alert.lasts,
            alert.severity,
            alert.summary.replace("BREAKER", BREAKER),
            expression(alert.says),
        );
    }
    yaml
}
