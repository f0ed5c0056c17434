//! The dashboard and the alert rules.
#![allow(clippy::unwrap_used)]

use cb_runtime::metrics::METRICS;
use cb_tests::dashboards;

#[test]
fn the_files_are_what_the_table_makes() {
    for (name, wanted) in dashboards::files() {
        let there = std::fs::read_to_string(dashboards::folder().join(name)).unwrap();
        let same = if name.ends_with(".json") {
            // In whatever order the members are written.
            let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            parsed(&there) == parsed(&wanted)
        } else {
            there == wanted
        };
        assert!(
            same,
            "{name} is out of date: cargo run -p cb-tests --bin dashboards"
        );
    }
}

#[test]
fn every_metric_is_shown_and_every_metric_shown_exists() {
    let files = dashboards::files();
    let shown = |text: &str| -> Vec<String> {
        let words = text.split(|it: char| !it.is_ascii_lowercase() && it != '_');
        let names = words.filter(|word| word.starts_with("circuit_breaker_"));
        names
            .map(|name| name.trim_end_matches("_bucket").to_owned())
            .collect()
    };
    let on_the_dashboard = shown(&files[0].1);
    for metric in METRICS {
        let name = metric.name.to_owned();
        assert!(on_the_dashboard.contains(&name), "{name} is not shown");
    }
    for name in on_the_dashboard.into_iter().chain(shown(&files[1].1)) {
        let known = METRICS.iter().any(|metric| metric.name == name);
        assert!(known, "there is no {name}");
    }
}

#[test]
fn the_dashboard_is_json_and_no_panels_overlap() {
    let files = dashboards::files();
    let dashboard: serde_json::Value = serde_json::from_str(&files[0].1).unwrap();
    let mut taken = std::collections::BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24);
        for (x, y) in (0..at("w")).flat_map(|x| (0..at("h")).map(move |y| (x, y))) {
            let free = taken.insert((at("x") + x, at("y") + y));
            assert!(free, "{} lies on another", panel["title"]);
        }
    }
}

#[test]
#[should_panic(expected = "there is no metric circuit_breaker_cals_total")]
fn a_misspelt_metric_is_noticed() {
    let _ = dashboards::expression("rate(@cals_total[1m])");
}

#[test]
#[should_panic(expected = "has no label reason")]
fn a_label_that_is_not_there_is_noticed() {
    let _ = dashboards::expression("@calls_total{reason=\"open\"}");
}
