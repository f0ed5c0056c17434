//! A dashboard for Grafana 10 or later, with Prometheus behind it.

use serde_json::{Value, json};

use super::expression;

/// A panel: how wide it is (of 24), and its queries with their legends.
struct Panel {
    title: &'static str,
    says: &'static str,
    kind: &'static str,
    width: u32,
    unit: &'static str,
    stacked: bool,
    queries: &'static [(&'static str, &'static str)],
}

const TIMES: Panel = Panel {
    title: "",
    says: "",
    kind: "timeseries",
    width: 12,
    unit: "short",
    stacked: false,
    queries: &[],
};

const STATES: [(&str, &str); 6] = [
    ("closed", "green"),
    ("half-open", "yellow"),
    ("open", "red"),
    ("forced open", "purple"),
    ("disabled", "blue"),
    ("metrics only", "light-blue"),
];

const PANELS: &[(&str, &[Panel])] = &[
    (
        "Now",
        &[
            Panel {
                title: "States",
                says: "What each breaker did when.",
                kind: "state-timeline",
                width: 24,
                queries: &[(
                    r#"max by (name, key) (@state{SELECTED,state="half_open"} * 1
 + ignoring(state) @state{SELECTED,state="open"} * 2
 + ignoring(state) @state{SELECTED,state="forced_open"} * 3
 + ignoring(state) @state{SELECTED,state="disabled"} * 4
 + ignoring(state) @state{SELECTED,state="metrics_only"} * 5)"#,
                    "{{name}} {{key}}",
                )],
                ..TIMES
            },
            Panel {
                title: "Open",
                says: "Breakers in OPEN, and those that were forced open.",
                kind: "stat",
                width: 4,
                queries: &[(r#"sum(@state{SELECTED,state=~"open|forced_open"})"#, "open")],
                ..TIMES
            },
            Panel {
                title: "Seconds until the next probe",
                says: "Of breakers in OPEN.",
                kind: "bargauge",
                width: 10,
                unit: "s",
                queries: &[("@next_probe_seconds{SELECTED} >= 0", "{{name}} {{key}}")],
                ..TIMES
            },
            Panel {
                title: "Openings in a row",
                says: "Without a closing in between: the recovery does not succeed.",
                kind: "bargauge",
                width: 10,
                queries: &[("@openings_in_a_row{SELECTED} > 0", "{{name}} {{key}}")],
                ..TIMES
            },
        ],
    ),
    (
        "Calls",
        &[
            Panel {
                title: "Calls by outcome",
                says: "Calls that were permitted and have ended. Rejections are no calls.",
                unit: "reqps",
                stacked: true,
                queries: &[
                    (
                        r#"sum by (outcome) (rate(@calls_total{SELECTED,slow="false"}[$__rate_interval]))"#,
                        "{{outcome}}",
                    ),
                    (
                        r#"sum by (outcome) (rate(@calls_total{SELECTED,slow="true"}[$__rate_interval]))"#,
                        "{{outcome}}, slow",
                    ),
                ],
                ..TIMES
            },
            Panel {
                title: "Rejections, timeouts, fallbacks",
                says: "What callers got instead of the downstream's answer.",
                unit: "reqps",
                queries: &[
                    (
                        "sum by (reason) (rate(@rejections_total{SELECTED}[$__rate_interval]))",
                        "rejected: {{reason}}",
                    ),
                    (
                        "sum(rate(@timeouts_total{SELECTED}[$__rate_interval]))",
                        "timed out",
                    ),
                    (
                        "sum(rate(@fallbacks_total{SELECTED}[$__rate_interval]))",
                        "answered by a fallback",
                    ),
                ],
                ..TIMES
            },
            Panel {
                title: "Durations of calls",
                says: "Quantiles, if the exporter was given buckets for the histogram.",
                unit: "s",
                queries: &[
                    (
                        "histogram_quantile(0.5, sum by (le, outcome) (rate(@call_duration_seconds_bucket{SELECTED}[$__rate_interval])))",
                        "{{outcome}}, half of them",
                    ),
                    (
                        "histogram_quantile(0.99, sum by (le, outcome) (rate(@call_duration_seconds_bucket{SELECTED}[$__rate_interval])))",
                        "{{outcome}}, 99 %",
                    ),
                ],
                ..TIMES
            },
            Panel {
                title: "Under way",
                says: "Calls that have not ended; the probes among them.",
                queries: &[
                    ("@calls_in_flight{SELECTED}", "{{name}} {{key}}"),
                    (
                        "@probes_in_flight{SELECTED} > 0",
                        "{{name}} {{key}}, probes",
                    ),
                ],
                ..TIMES
            },
        ],
    ),
    (
        "What the breakers see",
        &[
            Panel {
                title: "Failed and slow, of the calls in the window",
                says: "A gap: fewer calls than the minimum, so no rate is judged.",
                unit: "percentunit",
                queries: &[
                    ("@failure_ratio{SELECTED}", "{{name}} {{key}}, failed"),
                    ("@slow_ratio{SELECTED} > 0", "{{name}} {{key}}, slow"),
                ],
                ..TIMES
            },
            Panel {
                title: "Calls in the window, of the minimum",
                says: "Below 1 no rate is judged, and only failures in a row open the breaker.",
                unit: "percentunit",
                queries: &[(
                    "@window_calls{SELECTED} / @min_calls{SELECTED}",
                    "{{name}} {{key}}",
                )],
                ..TIMES
            },
            Panel {
                title: "Failed calls in the window, and in a row",
                says: "Also where there are too few for a rate.",
                queries: &[
                    ("@window_failed_calls{SELECTED} > 0", "{{name}} {{key}}"),
                    ("@window_slow_calls{SELECTED} > 0", "{{name}} {{key}}, slow"),
                    (
                        "@consecutive_failures{SELECTED} > 0",
                        "{{name}} {{key}}, in a row",
                    ),
                ],
                ..TIMES
            },
            Panel {
                title: "Probes",
                says: "Calls of HALF_OPEN, by outcome.",
                queries: &[
                    (
                        "sum by (outcome) (increase(@probes_total{SELECTED}[$__rate_interval]))",
                        "{{outcome}}",
                    ),
                    (
                        "sum(increase(@slow_probes_total{SELECTED}[$__rate_interval]))",
                        "slow",
                    ),
                ],
                ..TIMES
            },
        ],
    ),
    (
        "Over time",
        &[
            Panel {
                title: "Transitions by cause",
                says: "",
                kind: "barchart",
                queries: &[(
                    "sum by (from, to, cause) (increase(@transitions_total{SELECTED}[$__rate_interval])) > 0",
                    "{{from}} to {{to}}: {{cause}}",
                )],
                ..TIMES
            },
            Panel {
                title: "Share of time in each state",
                says: "",
                unit: "percentunit",
                stacked: true,
                queries: &[(
                    "avg by (state) (rate(@state_seconds_total{SELECTED}[$__rate_interval]))",
                    "{{state}}",
                )],
                ..TIMES
            },
            Panel {
                title: "Openings",
                says: "",
                queries: &[(
                    r#"increase(@state_entries_total{SELECTED,state="open"}[$__rate_interval]) > 0"#,
                    "{{name}} {{key}}",
                )],
                ..TIMES
            },
            Panel {
                title: "Latest recovery, and the time in the present state",
                says: "A recovery takes from the opening until probes have closed the breaker.",
                unit: "s",
                queries: &[
                    (
                        "@last_recovery_seconds{SELECTED} >= 0",
                        "{{name}} {{key}}, recovery",
                    ),
                    (
                        r#"@in_state_seconds{SELECTED} and ignoring(state) @state{SELECTED,state!="closed"} == 1"#,
                        "{{name}} {{key}}, not closed for",
                    ),
                ],
                ..TIMES
            },
            Panel {
                title: "Events that slow listeners did not hear",
                says: "Should be zero.",
                queries: &[(
                    "increase(@dropped_events_total{SELECTED}[$__rate_interval]) > 0",
                    "{{name}} {{key}}",
                )],
                ..TIMES
            },
        ],
    ),
];

pub(super) fn queries() -> Vec<String> {
    let panels = PANELS.iter().flat_map(|(_, panels)| panels.iter());
    let queries = panels.flat_map(|panel| panel.queries);
    queries.map(|(query, _)| expression(query)).collect()
}

pub(super) fn dashboard() -> String {
    let mut panels = Vec::new();
    let (mut id, mut y) = (0, 0);
    for (row, members) in PANELS {
        id += 1;
        panels.push(json!({
            "id": id,
            "type": "row",
            "title": row,
            "collapsed": false,
            "gridPos": { "x": 0, "y": y, "w": 24, "h": 1 },
            "panels": [],
        }));
        y += 1;
        let mut x = 0;
        for panel in *members {
            if x + panel.width > 24 {
                (x, y) = (0, y + 8);
            }
            id += 1;
            panels.push(panel.json(id, x, y));
            x += panel.width;
        }
        y += 8;
    }
    let dashboard = json!({
        "uid": "circuit-breakers",
        "title": "Circuit breakers",
        "description": "Made from the table of metrics by `cargo run -p cb-tests --bin dashboards`.",
        "tags": ["circuit-breaker"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "refresh": "10s",
        "time": { "from": "now-1h", "to": "now" },
        "timezone": "",
        "templating": { "list": [
            {
                "name": "datasource",
                "label": "Data source",
                "type": "datasource",
                "query": "prometheus",
            },
            variable("name", "Breaker", "label_values(@state, name)"),
            variable("key", "Key", r#"label_values(@state{name=~"$name"}, key)"#),
        ] },
        "annotations": { "list": [] },
        "panels": panels,
    });
    format!("{dashboard:#}\n")
}

fn variable(name: &str, label: &str, query: &str) -> Value {
    json!({
        "name": name,
        "label": label,
        "type": "query",
        "datasource": { "type": "prometheus", "uid": "${datasource}" },
        "query": { "query": expression(query), "refId": name },
        "refresh": 2,
        "sort": 1,
        "multi": true,
        "includeAll": true,
        // Also those without the label.
        "allValue": ".*",
        "current": { "text": "All", "value": "$__all" },
    })
}

impl Panel {
    fn json(&self, id: u32, x: u32, y: u32) -> Value {
        let mut targets = Vec::new();
        for ((query, legend), name) in self.queries.iter().zip('A'..) {
            targets.push(json!({
                "refId": name.to_string(),
                "expr": expression(query),
                "legendFormat": legend,
                "instant": matches!(self.kind, "stat" | "bargauge"),
                "range": !matches!(self.kind, "stat" | "bargauge"),
            }));
        }
        json!({
            "id": id,
            "type": self.kind,
            "title": self.title,
            "description": self.says,
            "datasource": { "type": "prometheus", "uid": "${datasource}" },
            "gridPos": { "x": x, "y": y, "w": self.width, "h": 8 },
            "targets": targets,
            "fieldConfig": { "defaults": self.field(), "overrides": [] },
            "options": self.options(),
        })
    }

    fn field(&self) -> Value {
        let mut field = json!({ "unit": self.unit, "min": 0 });
        match self.kind {
            "timeseries" => {
                let mode = if self.stacked { "normal" } else { "none" };
                field["custom"] = json!({
                    "stacking": { "mode": mode },
                    "fillOpacity": if self.stacked { 30 } else { 0 },
                    "spanNulls": false,
                });
            }
            "state-timeline" => {
                let mut states = serde_json::Map::new();
                for (at, (text, color)) in STATES.iter().enumerate() {
                    let shown = json!({ "text": text, "color": color, "index": at });
                    states.insert(at.to_string(), shown);
                }
                field["mappings"] = json!([{ "type": "value", "options": states }]);
                field["custom"] = json!({ "fillOpacity": 80, "lineWidth": 0 });
            }
            "stat" => {
                field["thresholds"] = json!({ "mode": "absolute", "steps": [
                    { "color": "green", "value": null },
                    { "color": "red", "value": 1 },
                ] });
            }
            _ => {}
        }
        field
    }

    fn options(&self) -> Value {
        match self.kind {
            "timeseries" => json!({
                "legend": { "displayMode": "list", "placement": "bottom" },
                "tooltip": { "mode": "multi", "sort": "desc" },
            }),
            "state-timeline" => json!({ "mergeValues": true, "showValue": "never" }),
            "stat" => json!({ "colorMode": "background", "graphMode": "none" }),
            "bargauge" => json!({ "displayMode": "basic", "orientation": "horizontal" }),
            _ => json!({}),
        }
    }
}
