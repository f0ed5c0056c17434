//! Breakers of a key, with the key among the labels and without.

use cb_runtime::metrics::Exporter;
use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker};

use crate::scrape::prometheus;

#[circuit_breaker(name = "metrics.shard", key = shard)]
fn read(shard: &str, up: bool) -> Result<(), CallError<&'static str>> {
    if up {
        Ok(())
    } else {
        Err(CallError::Failed("refused"))
    }
}

fn outage() {
    for _ in 0..12 {
        let _ = read("a", true);
        let _ = read("b]", false);
        let _ = read("c", false);
    }
}

#[test]
fn each_key_has_its_series() {
    let scope = Scope::new();
    let prometheus = prometheus(None);
    let exporter = Exporter::attach_with(scope.registry(), prometheus.options());
    outage();
    exporter.refresh();
    let shards = prometheus.of("metrics.shard");
    let of = |series: &str| shards[&format!("circuit_breaker_{series}")];
    assert_eq!(of("state{key=\"a\",state=\"closed\"}"), 1.0);
    assert_eq!(of("state{key=\"b]\",state=\"open\"}"), 1.0);
    assert_eq!(
        of("calls_total{key=\"a\",outcome=\"success\",slow=\"false\"}"),
        12.0
    );
    assert_eq!(of("rejections_total{key=\"c\",reason=\"open\"}"), 2.0);
}

#[test]
fn without_keys_they_share_one_set() {
    let scope = Scope::new();
    let prometheus = prometheus(None);
    let options = prometheus
        .options()
        .keys(false)
        .durations(false)
        .label("zone", "eu");
    let exporter = Exporter::attach_with(scope.registry(), options);
    outage();
    exporter.refresh();
    let shards = prometheus.of("metrics.shard");
    assert!(
        shards
            .keys()
            .all(|series| !series.contains("key=") && series.contains("zone=\"eu\""))
    );
    assert!(shards.keys().all(|series| !series.contains("duration")));
    let of = |series: &str| {
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels
            .trim_end_matches('}')
            .split(',')
            .chain(["zone=\"eu\""]);
        let labels: Vec<_> = labels.filter(|label| !label.is_empty()).collect();
        shards[&format!("circuit_breaker_{name}{{{}}}", labels.join(","))]
    };
    assert_eq!(of("state{state=\"closed\"}"), 1.0);
    assert_eq!(of("state{state=\"open\"}"), 2.0);
    assert_eq!(of("calls_total{outcome=\"success\",slow=\"false\"}"), 12.0);
    assert_eq!(of("calls_total{outcome=\"failure\",slow=\"false\"}"), 20.0);
    assert_eq!(of("rejections_total{reason=\"open\"}"), 4.0);
    assert_eq!(of("window_calls"), 32.0);
    assert_eq!(of("failure_ratio"), 20.0 / 32.0);
    assert_eq!(of("next_probe_seconds"), 10.0);

    // What one of them has counted stays when it goes.
    let _ = scope.breaker("metrics.shard[c]");
    assert!(scope.registry().remove("metrics.shard[c]"));
    exporter.refresh();
    exporter.refresh();
    let shards = prometheus.of("metrics.shard");
    let calls = "circuit_breaker_calls_total{outcome=\"failure\",slow=\"false\",zone=\"eu\"}";
    assert_eq!(shards[calls], 20.0);
    assert_eq!(
        shards["circuit_breaker_state{state=\"open\",zone=\"eu\"}"],
        1.0
    );
}
