//! The table of names, and what is made from it.

use std::path::Path;

use cb_runtime::metrics::{Kind, METRICS};

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_documented_table_is_the_table() {
    let documented = repository().join("cb-runtime/src/metrics/table.md");
    let documented = std::fs::read_to_string(documented).unwrap();
    let rows: Vec<_> = documented.lines().collect();
    let wanted: Vec<_> = METRICS
        .iter()
        .map(|metric| {
            let kind = match metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let labels: Vec<_> = metric
                .labels
                .iter()
                .map(|label| format!("`{label}`"))
                .collect();
            let (name, labels, help) = (metric.name, labels.join(", "), metric.help);
            format!("| `{name}` | {kind} | {labels} | {help} |")
        })
        .collect();
    assert_eq!(rows, wanted);
}

#[test]
fn names_follow_the_conventions() {
    for metric in METRICS {
        let name = metric.name;
        assert!(name.starts_with("circuit_breaker_"), "{name}");
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        assert_eq!(
            metric.kind == Kind::Counter,
            name.ends_with("_total"),
            "{name}"
        );
        assert!(metric.help.ends_with('.'), "{name}");
        let same = METRICS.iter().filter(|other| other.name == name).count();
        assert_eq!(same, 1, "{name}");
    }
}
