//! Counters, gauges and durations of every breaker, through the [`metrics`](https://docs.rs/metrics)
//! facade (feature `metrics`).
//!
//! The application installs a recorder, such as the exporter for Prometheus, and attaches a
//! registry to it:
//!
//! ```
//! use cb_runtime::metrics::Exporter;
//!
//! // metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder()?, for example
//! let exporter = Exporter::attach(&cb_runtime::registry());
//!
//! // In the handler of `GET /metrics`, before the recorder's own text is rendered:
//! exporter.refresh();
//! ```
//!
//! Where the exporter listens by itself, spawn [`Exporter::run`] instead.
//!
//! # The series
//!
//! All have the label `name`; breakers of a `key` have `key` too, unless
//! [`Options::keys`] leaves it out. Every series is there before a breaker's first call, at zero,
//! but for transitions and durations, which appear with the first of their kind. [`METRICS`] is
//! this table as data.
//!
//! | name | kind | labels | |
//! |---|---|---|---|
#![doc = include_str!("table.md")]
//!
//! - `outcome` of calls: `success`, `failure` (timeouts among them), `cancelled` (`slow="true"` if it
//!   was recorded as such), `ignored`, `late` (ended in a later stay than its own), `unrecorded`
//!   (in DISABLED). Of durations: `success`, `failure`, `cancelled`, `ignored`. Of probes: the first
//!   three.
//! - `reason` of rejections: as [`Reason::as_str`](crate::Reason::as_str). A rejection is no call: it
//!   is in none of the other series.
//! - `state`, `from`, `to`: `closed`, `open`, `half_open`, `forced_open`, `disabled`, `metrics_only`.
//! - `cause`: as [`Cause::rule`](crate::Cause::rule).
//!
//! Calls, rejections by reason, transitions by cause and durations are counted from the moment a
//! registry is first attached; the others since their breaker was made.
//!
//! # When a breaker goes away
//!
//! The facade can make series and cannot remove them. A breaker that is removed, or evicted by
//! others of its `max_keys`, is not refreshed any more: its gauges are set to zero once, and an
//! exporter that drops what is idle then drops its series. With `metrics-exporter-prometheus`:
//!
//! ```text
//! PrometheusBuilder::new().idle_timeout(MetricKindMask::ALL, Some(Duration::from_secs(300)))
//! ```
//!
//! Each refresh counts as an update of every series of a breaker that is there, but for durations
//! (an update of those is a call). So the timeout should be some intervals between refreshes; a
//! histogram that has been dropped for want of calls begins again at zero, as after a restart.
//! Without such a timeout the series stay, at their last counts.
//!
//! # Costs
//!
//! Not attached, nothing is counted. Attached, a call costs two readings of the clock (unless
//! [`Options::durations`] says no) and a few additions to atomics; no code of the exporter runs in a
//! caller's path, and callers never wait for it. Durations are kept in cells that are at most 12 %
//! wide and are handed on as the mean of their cell: sums and counts are exact, and what is near
//! the bound of a bucket may be counted in the one beside it. About 2 KiB a breaker.
//!
//! # Dashboards and alerts
//!
//! In the crate's folder `dashboards` there are a Grafana dashboard and alert rules for Prometheus.

mod durations;
mod exporter;
mod meter;
mod names;
mod reading;
mod series;

pub(crate) use exporter::Attached;
pub use exporter::{Exporter, Options};
pub(crate) use meter::Meter;
pub use names::{Kind, METRICS, Metric};
