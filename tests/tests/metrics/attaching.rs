//! Before, twice, and while things go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cb_runtime::metrics::Exporter;
use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{CallNotPermitted, Interest, Registry, circuit_breaker};

use crate::scrape::prometheus;

const SUCCESSES: &str = "circuit_breaker_calls_total{outcome=\"success\",slow=\"false\"}";
const IN_FLIGHT: &str = "circuit_breaker_calls_in_flight";

#[circuit_breaker(name = "metrics.never.called")]
fn never_called() -> Result<(), CallNotPermitted> {
    Ok(())
}

#[test]
fn series_are_there_before_the_first_call() {
    let scope = Scope::new();
    let prometheus = prometheus(None);
    let _exporter = Exporter::attach_with(scope.registry(), prometheus.options());
    let listed = prometheus.of("metrics.never.called");
    assert_eq!(listed["circuit_breaker_state{state=\"closed\"}"], 1.0);
    assert_eq!(listed[SUCCESSES], 0.0);
    never_called().unwrap();
}

#[test]
fn attaching_twice_counts_once() {
    let prometheus = prometheus(None);
    let registry = Registry::with_clock(TestClock::new());
    let breaker = registry.get_or_create("stock");
    let first = Exporter::attach_with(&registry, prometheus.options());
    let second = Exporter::attach_with(&registry, prometheus.options().keys(false));
    breaker.call(|| Ok::<_, ()>(())).unwrap();
    first.refresh();
    second.refresh();
    assert_eq!(prometheus.of("stock")[SUCCESSES], 1.0);
}

#[test]
fn two_recorders_are_told_the_same() {
    let recorders = [prometheus(None), prometheus(None)];
    let registry = Registry::with_clock(TestClock::new());
    let exporters = recorders
        .each_ref()
        .map(|one| Exporter::attach_with(&registry, one.options()));
    let breaker = registry.get_or_create("stock");
    breaker.call(|| Ok::<_, ()>(())).unwrap();
    for (exporter, recorder) in exporters.iter().zip(&recorders) {
        exporter.refresh();
        let series = recorder.of("stock");
        assert_eq!(series[SUCCESSES], 1.0);
        assert_eq!(
            series["circuit_breaker_call_duration_seconds_count{outcome=\"success\"}"],
            1.0
        );
    }
}

#[test]
fn calls_that_began_before_are_no_negative_calls_in_flight() {
    let prometheus = prometheus(None);
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let config = cb_runtime::Config::new().slow(Duration::from_secs(1));
    let breaker = registry.create("stock", &config).unwrap();
    let before: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    before.into_iter().for_each(|permit| permit.success());
    exporter.refresh();
    assert_eq!(prometheus.of("stock")[IN_FLIGHT], 0.0);
    assert_eq!(prometheus.of("stock")[SUCCESSES], 3.0);
    let now = breaker.try_acquire().unwrap();
    exporter.refresh();
    assert_eq!(prometheus.of("stock")[IN_FLIGHT], 1.0);
    now.success();
    exporter.refresh();
    assert_eq!(prometheus.of("stock")[IN_FLIGHT], 0.0);
}

#[test]
fn a_listener_may_refresh() {
    let prometheus = prometheus(None);
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let config = cb_runtime::Config::new().auto_half_open(true);
    let breaker = registry.create("stock", &config).unwrap();
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let refreshing = exporter.clone();
    let _hold = registry.subscribe(Interest::TRANSITIONS, move |_| refreshing.refresh());
    breaker.open().unwrap();
    clock.advance(Duration::from_secs(10));
    // Makes the transition itself, whose listener refreshes too.
    exporter.refresh();
    let series = prometheus.of("stock");
    assert_eq!(series["circuit_breaker_state{state=\"half_open\"}"], 1.0);
    assert_eq!(
        series["circuit_breaker_state_entries_total{state=\"open\"}"],
        1.0
    );
}

#[test]
fn calls_and_refreshes_at_the_same_time_lose_nothing() {
    const CALLS: u64 = 20_000;
    let prometheus = prometheus(None);
    let registry = Registry::new();
    let breaker = registry.get_or_create("stock");
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let calling = AtomicU64::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    breaker.call(|| Ok::<_, ()>(())).unwrap();
                }
                calling.fetch_sub(1, Ordering::Relaxed);
            });
            scope.spawn(|| {
                while calling.load(Ordering::Relaxed) > 0 {
                    exporter.refresh();
                }
            });
        }
    });
    exporter.refresh();
    let series = prometheus.of("stock");
    let calls = 2.0 * 20_000.0;
    assert_eq!(series[SUCCESSES], calls);
    assert_eq!(
        series["circuit_breaker_call_duration_seconds_count{outcome=\"success\"}"],
        calls
    );
    assert_eq!(series[IN_FLIGHT], 0.0);
}

#[tokio::test]
async fn run_refreshes_by_the_registrys_clock() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let prometheus = tokio::task::spawn_blocking(|| prometheus(None))
        .await
        .unwrap();
    let prometheus = Arc::new(prometheus);
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let running = tokio::spawn(exporter.run(Duration::from_secs(5)));
    registry.get_or_create("stock");
    tokio::task::yield_now().await;
    assert!(prometheus.of("stock").is_empty());
    clock.advance(Duration::from_secs(5));
    while prometheus.of("stock").is_empty() {
        tokio::task::yield_now().await;
    }
    drop((registry, exporter));
    clock.advance(Duration::from_secs(5));
    running.await.unwrap();
    tokio::task::spawn_blocking(|| drop(prometheus))
        .await
        .unwrap();
}
