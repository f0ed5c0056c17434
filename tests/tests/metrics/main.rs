//! What an exporter for Prometheus shows of breakers, over HTTP as Prometheus reads it.
#![allow(clippy::unwrap_used)]

mod attaching;
mod keys;
mod names;
mod outage;
mod removal;
mod scrape;
