//! Circuit breakers have been reported stuck, leaking, racing and misled in many ways. One test for
//! each: its name begins with the id of the report.
//!
//! Not here yet, or never:
//!
//! RC-01 waits for settings that change at run time
//! RC-02 waits for a configuration file
//! MT-01 waits for a metrics exporter
//! SC-02 waits for a health report
//! CF-02 cannot apply: a template has no `ignore` or `record`, so there are no lists to merge

#![allow(clippy::unwrap_used)] // in the helpers of the tests

#[path = "../races/gang.rs"]
mod gang;

mod asynchronous;
mod classes;
mod configuration;
mod errors;
mod fallbacks;
mod half_open;
mod herd;
mod listeners;
mod metrics;
mod operation;
mod races;
mod registry;
mod slow;
mod stale;
mod support;
mod time;
mod users;
mod windows;
