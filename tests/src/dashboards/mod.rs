//! The files in `cb-runtime/dashboards`, made from the table of metrics.

mod alerts;
mod grafana;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cb_runtime::metrics::METRICS;

/// Where the files are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cb-runtime/dashboards")
}

/// Each file's name and contents.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("grafana.json", grafana::dashboard()),
        ("prometheus-alerts.yml", alerts::rules()),
    ]
}

/// The dashboard's queries as recording rules, with its variables filled in.
#[must_use]
pub fn queries() -> String {
    let mut yaml = String::from("groups:\n- name: queries\n  rules:\n");
    for (at, query) in grafana::queries().iter().enumerate() {
        let query = query.replace("$__rate_interval", "1m").replace('\n', " ");
        let query = query.replace("$name", ".*").replace("$key", ".*");
        let _ = write!(yaml, "  - record: q{at}\n    expr: |-\n      {query}\n");
    }
    yaml
}

/// Replaces each `@name`, or `@name{labels}`, by the metric of this name with its prefix, and
/// `SELECTED` among the labels by what the dashboard's variables select.
///
/// # Panics
///
/// If there is no such metric, or if it does not have a label that is asked for.
#[must_use]
pub fn expression(text: &str) -> String {
    let mut parts = text.split('@');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|it: char| !it.is_ascii_lowercase() && it != '_');
        let (short, rest) = part.split_at(end.unwrap_or(part.len()));
        let name = format!("circuit_breaker_{short}");
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
            name.strip_suffix(suffix)
                .filter(|_| name.contains("duration"))
        });
        let metric = METRICS
            .iter()
            .find(|metric| metric.name == base.unwrap_or(&name));
        let metric = metric.unwrap_or_else(|| panic!("there is no metric {name}"));
        if let Some((labels, _)) = rest.strip_prefix('{').and_then(|it| it.split_once('}')) {
            for label in labels.split(',').filter(|label| *label != "SELECTED") {
                let (label, _) = label.split_once(['=', '!']).unwrap_or((label, ""));
                let known = metric.labels.contains(&label) || label == "name" || label == "key";
                assert!(known, "{name} has no label {label}");
            }
        }
        let _ = write!(whole, "{name}{rest}");
    }
    whole.replace("SELECTED", r#"name=~"$name",key=~"$key""#)
}
