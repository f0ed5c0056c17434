//! Series of breakers that are gone.

use std::time::Duration;

use cb_runtime::Registry;
use cb_runtime::metrics::Exporter;
use cb_runtime::testing::TestClock;

use crate::scrape::prometheus;

/// The exporter's time is the system's, so this asks until it is so.
#[test]
fn a_removed_breakers_series_go_and_the_others_stay() {
    let prometheus = prometheus(Some(Duration::from_millis(50)));
    let registry = Registry::with_clock(TestClock::new());
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let names: Vec<_> = (0..20).map(|number| format!("dynamic.{number}")).collect();
    for name in &names {
        registry.get_or_create(name).force_open();
        registry.get_or_create(name).close();
        registry
            .get_or_create(name)
            .call(|| Ok::<_, ()>(()))
            .unwrap();
    }
    let stays = registry.get_or_create("stays");
    exporter.refresh();
    assert!(!prometheus.of("dynamic.7").is_empty());
    // What has happened since the last refresh is told before it goes.
    registry
        .get("dynamic.7")
        .unwrap()
        .call(|| Ok::<_, ()>(()))
        .unwrap();
    for name in &names {
        assert!(registry.remove(name));
    }
    exporter.refresh();
    let last = prometheus.of("dynamic.7");
    if let Some(calls) = last.get("circuit_breaker_calls_total{outcome=\"success\",slow=\"false\"}")
    {
        assert_eq!(*calls, 2.0);
        assert_eq!(last["circuit_breaker_state{state=\"closed\"}"], 0.0);
    }
    loop {
        stays.call(|| Ok::<_, ()>(())).unwrap();
        exporter.refresh();
        let there = prometheus.scrape();
        if !there.keys().any(|series| series.contains("dynamic.")) {
            break;
        }
    }
    stays.call(|| Ok::<_, ()>(())).unwrap();
    exporter.refresh();
    let left = prometheus.of("stays");
    assert_eq!(left["circuit_breaker_state{state=\"closed\"}"], 1.0);
    assert!(left["circuit_breaker_calls_total{outcome=\"success\",slow=\"false\"}"] >= 1.0);
}

#[test]
fn one_of_the_same_name_begins_anew() {
    let prometheus = prometheus(None);
    let registry = Registry::with_clock(TestClock::new());
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    let calls = "circuit_breaker_calls_total{outcome=\"success\",slow=\"false\"}";
    for round in 1..=3 {
        let breaker = registry.get_or_create("stock");
        breaker.call(|| Ok::<_, ()>(())).unwrap();
        exporter.refresh();
        // The exporter has kept the series, and goes on counting in it.
        assert_eq!(prometheus.of("stock")[calls], f64::from(round));
        assert!(registry.remove("stock"));
        if round == 2 {
            exporter.refresh();
        }
    }
}

#[test]
fn when_the_registry_is_gone_no_breaker_is_in_any_state() {
    let prometheus = prometheus(None);
    let registry = Registry::with_clock(TestClock::new());
    let exporter = Exporter::attach_with(&registry, prometheus.options());
    registry.get_or_create("stock").force_open();
    exporter.refresh();
    let forced = "circuit_breaker_state{state=\"forced_open\"}";
    assert_eq!(prometheus.of("stock")[forced], 1.0);
    drop(registry);
    exporter.refresh();
    assert_eq!(prometheus.of("stock")[forced], 0.0);
}
