//! Every series and its value after an outage.

use std::time::Duration;

use cb_runtime::metrics::{Exporter, METRICS};
use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, CircuitBreaker, Config, Outcome, Registry, State, Window, circuit_breaker,
};

use crate::scrape::{lines, prometheus};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

struct Bench {
    clock: TestClock,
    breaker: CircuitBreaker,
}

impl Bench {
    fn call(&self, took: u64, outcome: Outcome) {
        let permit = self.breaker.try_acquire().unwrap();
        self.clock.advance(ms(took));
        permit.finish(outcome);
    }

    fn reject(&self) {
        assert!(self.breaker.try_acquire().is_err());
    }

    fn outage(&self) {
        let Self { clock, breaker } = self;
        self.call(100, Outcome::Success);
        self.call(2_000, Outcome::Success);
        self.call(100, Outcome::Ignored);
        drop(breaker.try_acquire().unwrap());
        let hangs = breaker.try_acquire().unwrap();
        clock.advance(ms(2_000));
        drop(hangs);
        let late = breaker.try_acquire().unwrap();
        for _ in 0..3 {
            self.call(100, Outcome::Failure);
        }
        // 4.5 s
        assert_eq!(breaker.state(), State::Open);
        (0..3).for_each(|_| self.reject());
        late.success();

        clock.advance(ms(10_000));
        let first = breaker.try_acquire().unwrap();
        let second = breaker.try_acquire().unwrap();
        self.reject();
        clock.advance(ms(100));
        first.failure();
        second.success();
        assert_eq!(breaker.state(), State::Open);

        clock.advance(ms(10_000));
        self.call(100, Outcome::Success);
        self.call(100, Outcome::Success);
        // 24.8 s
        assert_eq!(breaker.state(), State::Closed);
        breaker.force_open();
        self.reject();
        clock.advance(ms(5_000));
        breaker.disable();
        self.call(100, Outcome::Failure);
        clock.advance(ms(900));
        breaker.metrics_only();
        clock.advance(ms(1_000));
        breaker.close();
        // 31.8 s
        self.call(100, Outcome::Failure);
    }
}

const AFTER: &str = r#"circuit_breaker_call_duration_seconds_bucket{le="+Inf",outcome="cancelled"} 2
circuit_breaker_call_duration_seconds_bucket{le="+Inf",outcome="failure"} 5
circuit_breaker_call_duration_seconds_bucket{le="+Inf",outcome="ignored"} 1
circuit_breaker_call_duration_seconds_bucket{le="+Inf",outcome="success"} 5
circuit_breaker_call_duration_seconds_bucket{le="0.05",outcome="cancelled"} 1
circuit_breaker_call_duration_seconds_bucket{le="0.05",outcome="failure"} 0
circuit_breaker_call_duration_seconds_bucket{le="0.05",outcome="ignored"} 0
circuit_breaker_call_duration_seconds_bucket{le="0.05",outcome="success"} 0
circuit_breaker_call_duration_seconds_bucket{le="0.5",outcome="cancelled"} 1
circuit_breaker_call_duration_seconds_bucket{le="0.5",outcome="failure"} 5
circuit_breaker_call_duration_seconds_bucket{le="0.5",outcome="ignored"} 1
circuit_breaker_call_duration_seconds_bucket{le="0.5",outcome="success"} 4
circuit_breaker_call_duration_seconds_bucket{le="5",outcome="cancelled"} 2
circuit_breaker_call_duration_seconds_bucket{le="5",outcome="failure"} 5
circuit_breaker_call_duration_seconds_bucket{le="5",outcome="ignored"} 1
circuit_breaker_call_duration_seconds_bucket{le="5",outcome="success"} 5
circuit_breaker_call_duration_seconds_count{outcome="cancelled"} 2
circuit_breaker_call_duration_seconds_count{outcome="failure"} 5
circuit_breaker_call_duration_seconds_count{outcome="ignored"} 1
circuit_breaker_call_duration_seconds_count{outcome="success"} 5
circuit_breaker_call_duration_seconds_sum{outcome="cancelled"} 2
circuit_breaker_call_duration_seconds_sum{outcome="failure"} 0.5
circuit_breaker_call_duration_seconds_sum{outcome="ignored"} 0.1
circuit_breaker_call_duration_seconds_sum{outcome="success"} 2.4
circuit_breaker_calls_in_flight 1
circuit_breaker_calls_total{outcome="cancelled",slow="false"} 1
circuit_breaker_calls_total{outcome="cancelled",slow="true"} 1
circuit_breaker_calls_total{outcome="failure",slow="false"} 5
circuit_breaker_calls_total{outcome="failure",slow="true"} 0
circuit_breaker_calls_total{outcome="ignored",slow="false"} 1
circuit_breaker_calls_total{outcome="late",slow="false"} 1
circuit_breaker_calls_total{outcome="success",slow="false"} 4
circuit_breaker_calls_total{outcome="success",slow="true"} 1
circuit_breaker_calls_total{outcome="unrecorded",slow="false"} 1
circuit_breaker_consecutive_failures 1
circuit_breaker_dropped_events_total 0
circuit_breaker_failure_ratio NaN
circuit_breaker_fallbacks_total 0
circuit_breaker_in_state_seconds 0.1
circuit_breaker_last_recovery_seconds 20.3
circuit_breaker_min_calls 4
circuit_breaker_next_probe_seconds NaN
circuit_breaker_openings_in_a_row 0
circuit_breaker_probes_in_flight 0
circuit_breaker_probes_total{outcome="cancelled"} 0
circuit_breaker_probes_total{outcome="failure"} 1
circuit_breaker_probes_total{outcome="success"} 3
circuit_breaker_rejections_total{reason="forced_open"} 1
circuit_breaker_rejections_total{reason="half_open_full"} 1
circuit_breaker_rejections_total{reason="open"} 3
circuit_breaker_rejections_total{reason="pausing"} 0
circuit_breaker_rejections_total{reason="ramping"} 0
circuit_breaker_slow_probes_total 0
circuit_breaker_slow_ratio NaN
circuit_breaker_state_entries_total{state="closed"} 3
circuit_breaker_state_entries_total{state="disabled"} 1
circuit_breaker_state_entries_total{state="forced_open"} 1
circuit_breaker_state_entries_total{state="half_open"} 2
circuit_breaker_state_entries_total{state="metrics_only"} 1
circuit_breaker_state_entries_total{state="open"} 2
circuit_breaker_state_seconds_total{state="closed"} 4
circuit_breaker_state_seconds_total{state="disabled"} 1
circuit_breaker_state_seconds_total{state="forced_open"} 5
circuit_breaker_state_seconds_total{state="half_open"} 0
circuit_breaker_state_seconds_total{state="metrics_only"} 1
circuit_breaker_state_seconds_total{state="open"} 20
circuit_breaker_state{state="closed"} 1
circuit_breaker_state{state="disabled"} 0
circuit_breaker_state{state="forced_open"} 0
circuit_breaker_state{state="half_open"} 0
circuit_breaker_state{state="metrics_only"} 0
circuit_breaker_state{state="open"} 0
circuit_breaker_timeouts_total 0
circuit_breaker_transitions_total{cause="failure_rate",from="closed",to="open"} 1
circuit_breaker_transitions_total{cause="failure_rate",from="half_open",to="open"} 1
circuit_breaker_transitions_total{cause="manual",from="closed",to="forced_open"} 1
circuit_breaker_transitions_total{cause="manual",from="disabled",to="metrics_only"} 1
circuit_breaker_transitions_total{cause="manual",from="forced_open",to="disabled"} 1
circuit_breaker_transitions_total{cause="manual",from="metrics_only",to="closed"} 1
circuit_breaker_transitions_total{cause="probes_succeeded",from="half_open",to="closed"} 1
circuit_breaker_transitions_total{cause="wait_over",from="open",to="half_open"} 2
circuit_breaker_window_calls 1
circuit_breaker_window_failed_calls 1
circuit_breaker_window_slow_calls 0
"#;

#[test]
fn every_series_and_value_after_an_outage() {
    let prometheus = prometheus(None);
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let config = Config::new()
        .window(Window::Calls(10))
        .min_calls(4)
        .slow(ms(1_000))
        .slow_rate(100.0)
        .half_open_calls(2);
    let breaker = registry.create("stock", &config).unwrap();
    let bench = Bench { clock, breaker };
    bench.outage();
    let _in_flight = bench.breaker.try_acquire().unwrap();
    exporter.refresh();
    let stock = prometheus.of("stock");
    pretty(&lines(&stock), AFTER);
    for metric in METRICS {
        let shown = stock.keys().any(|series| {
            series
                .strip_prefix(metric.name)
                .is_some_and(|rest| matches!(rest.as_bytes().first(), None | Some(b'{' | b'_')))
        });
        assert!(shown, "{} is missing", metric.name);
    }
    // Nothing has happened since, so nothing is added.
    exporter.refresh();
    pretty(&lines(&prometheus.of("stock")), AFTER);
}

/// Says which lines differ.
fn pretty(there: &str, wanted: &str) {
    let only = |one: &str, other: &str| -> Vec<String> {
        let other: Vec<_> = other.lines().collect();
        let only = one.lines().filter(|line| !other.contains(line));
        only.map(str::to_owned).collect()
    };
    let (surplus, missing) = (only(there, wanted), only(wanted, there));
    assert!(
        surplus.is_empty() && missing.is_empty(),
        "too much: {surplus:#?}\ntoo little: {missing:#?}"
    );
}

#[test]
fn while_it_is_open_the_countdown_runs() {
    let prometheus = prometheus(None);
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let breaker = registry.get_or_create("stock");
    for _ in 0..10 {
        let _ = breaker.call(|| Err::<(), ()>(()));
    }
    clock.advance(ms(2_500));
    exporter.refresh();
    let of = |series: &str| prometheus.of("stock")[series];
    assert_eq!(of("circuit_breaker_next_probe_seconds"), 7.5);
    assert_eq!(of("circuit_breaker_in_state_seconds"), 2.5);
    assert_eq!(of("circuit_breaker_failure_ratio"), 1.0);
    assert_eq!(of("circuit_breaker_openings_in_a_row"), 1.0);
    assert_eq!(of("circuit_breaker_state{state=\"open\"}"), 1.0);
    breaker.open_for(Duration::MAX).unwrap();
    exporter.refresh();
    assert_eq!(of("circuit_breaker_next_probe_seconds"), f64::INFINITY);
    breaker.half_open().unwrap();
    let _probe = breaker.try_acquire().unwrap();
    exporter.refresh();
    assert_eq!(of("circuit_breaker_probes_in_flight"), 1.0);
    assert_eq!(of("circuit_breaker_calls_in_flight"), 1.0);
}

#[circuit_breaker(
    name = "metrics.fetch",
    timeout = "2s",
    fallback = cached,
    fallback_on = "failure"
)]
async fn fetch(hang: bool) -> Result<u32, String> {
    if hang {
        std::future::pending::<()>().await;
    }
    Err("refused".to_owned())
}

async fn cached(_: bool, _: CallError<String>) -> Result<u32, String> {
    Ok(1)
}

#[tokio::test]
async fn timeouts_and_fallbacks_are_counted_apart() {
    let scope = Scope::new();
    let prometheus = tokio::task::spawn_blocking(|| prometheus(None))
        .await
        .unwrap();
    let exporter = Exporter::attach_with(scope.registry(), prometheus.options());
    let mut hanging = Box::pin(fetch(true));
    let first = futures_poll(hanging.as_mut());
    assert!(first.is_none());
    scope.clock().advance(ms(2_000));
    assert_eq!(hanging.await, Ok(1));
    for _ in 0..9 {
        assert_eq!(fetch(false).await, Ok(1));
    }
    assert_eq!(fetch(false).await, Ok(1), "rejected by now");
    exporter.refresh();
    let fetched = prometheus.of("metrics.fetch");
    let of = |series: &str| fetched[&format!("circuit_breaker_{series}")];
    assert_eq!(of("timeouts_total"), 1.0);
    assert_eq!(of("calls_total{outcome=\"failure\",slow=\"false\"}"), 10.0);
    assert_eq!(of("rejections_total{reason=\"open\"}"), 1.0);
    assert_eq!(of("fallbacks_total"), 11.0);
    assert_eq!(of("call_duration_seconds_sum{outcome=\"failure\"}"), 2.0);
    tokio::task::spawn_blocking(|| drop(prometheus))
        .await
        .unwrap();
}

fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
