//! A circuit breaker for functions that call something that can fail.
//!
//! Annotate the function that makes the call, and it is protected:
//!
//! ```
//! use cb_runtime::{CallNotPermitted, circuit_breaker};
//!
//! # struct Client; impl Client { async fn get(&self, _: &str) -> Result<u32, ApiError> { Ok(3) } }
//! # #[derive(Debug)] enum ApiError { Down }
//! #[circuit_breaker(name = "inventory.query", min_calls = 20, slow = "2s", fallback = cached_stock)]
//! async fn query_stock(client: &Client, sku: &str) -> Result<u32, ApiError> {
//!     client.get(sku).await
//! }
//!
//! async fn cached_stock(_: &Client, _sku: &str, why: CallNotPermitted) -> Result<u32, ApiError> {
//!     println!("{why}");
//!     Ok(0)
//! }
//! ```
//!
//! Read what happened from the registry:
//!
//! ```
//! # use cb_runtime::{circuit_breaker, CallError};
//! # #[circuit_breaker(name = "inventory.query")]
//! # fn query_stock() -> Result<u32, CallError<&'static str>> { Ok(3) }
//! let breaker = cb_runtime::registry().get("inventory.query").unwrap();
//! assert_eq!(breaker.state(), cb_runtime::State::Closed);
//! println!("{}", breaker.explain()); // why it is open, or why it has not opened
//! ```
//!
//! The attribute's arguments are in the documentation of
#![cfg_attr(
    feature = "macros",
    doc = "[`circuit_breaker`](macro@circuit_breaker)."
)]
#![cfg_attr(not(feature = "macros"), doc = "`circuit_breaker` (feature `macros`).")]
//! Without the attribute, use [`CircuitBreaker`]. For tests, see [`testing`].
#![cfg_attr(
    feature = "macros",
    doc = "Each argument with an example, recipes for common clients, and mistakes that breakers are known for are in the [`guide`]."
)]
//!
//! The words are Resilience4j's. So are the rules, except where a late outcome would decide a stay
//! it does not belong to, and where its defaults would leave a dead dependency unprotected.
//!
//! # Features
//!
//! - `macros` (default): the attribute.
//! - `admin`: the breakers over HTTP, with a page to watch them.
//! - `advise`: what a configuration does at the traffic it is meant for, before production.
//! - `config-file`: settings from a TOML file, checked as a whole, reloaded while the program runs.
//! - `doctor`: what keeps breakers from protecting or from recovering, and what to do.
//! - `rehearsal`: what another configuration would do, on the live outcomes of a breaker.
//! - `serde`: [`Snapshot`], [`Event`], [`Explanation`], [`ChosenSetting`] and [`Conflict`] as data.
//! - `metrics`: counters, gauges and a histogram of every breaker through the `metrics` facade.
//! - `tokio`: `timeout` on async functions, test scopes that hold in a whole runtime, and
//!   `Registry::run_timer`. For every program with async functions.
//! - `tracing`: transitions, rejections and conflicts as `tracing` events, guarded calls in spans.

#[cfg(feature = "admin")]
pub mod admin;
#[cfg(feature = "advise")]
pub mod advise;
// Its examples need `tokio`, its text does not.
#[cfg(all(doc, feature = "macros", any(feature = "tokio", not(doctest))))]
pub mod guide;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod testing;
#[cfg(feature = "tracing")]
pub mod tracing;

#[cfg(doc)]
#[doc = include_str!("internals.md")]
pub mod internals {}

#[doc(hidden)]
pub mod __private;

mod announced;
#[cfg(feature = "tokio")]
mod bell;
mod breaker;
mod call;
mod clock;
mod config;
#[cfg(feature = "config-file")]
mod config_file;
mod conflict;
mod counted;
mod current;
#[cfg(feature = "doctor")]
mod doctor;
mod enter;
mod error;
mod event;
mod explain;
mod fault;
mod few;
mod function;
mod keys;
mod layers;
mod listeners;
#[cfg(all(test, cb_loom))]
mod models;
mod name;
mod outcome;
mod pattern;
mod permit;
mod policy;
mod random;
mod registry;
#[cfg(feature = "rehearsal")]
mod rehearsal;
mod report;
#[cfg(feature = "serde")]
mod seconds;
mod site;
mod slot;
mod snapshot;
#[cfg(not(feature = "tracing"))]
mod span;
mod state;
#[cfg(feature = "config-file")]
mod suggest;
mod sync;
mod tally;
#[cfg(feature = "tokio")]
mod timer;
mod watch;
mod window;

#[cfg(feature = "advise")]
pub use advise::advise;
pub use breaker::CircuitBreaker;
#[cfg(feature = "macros")]
pub use cb_macros::circuit_breaker;
pub use clock::Clock;
pub use config::{Config, MaxWaitState, Mode, Window};
#[cfg(feature = "config-file")]
pub use config_file::{
    BreakerChange, ConfigFile, ConfigFileError, FileError, LoadReport, NotApplied, SettingChange,
    WhyNot,
};
pub use conflict::{Conflict, ConflictKind};
pub use current::{Current, current};
#[cfg(feature = "doctor")]
pub use doctor::{Diagnosis, Finding, Severity, Symptom};
pub use enter::registry;
pub use error::{CallError, CallNotPermitted, ConfigError, IllegalTransition, Reason, TimedOut};
pub use event::{Cause, Event, EventFigures, EventKind, Interest};
pub use explain::Explanation;
pub use function::Place;
pub use keys::KeyFigures;
pub use layers::{ChosenSetting, Layer};
pub use listeners::Subscription;
pub use outcome::{OnCancel, Outcome};
pub use permit::Permit;
pub use registry::Registry;
#[cfg(feature = "rehearsal")]
pub use rehearsal::{
    ActiveTotals, Rehearsal, RehearsalError, RehearsalReport, WouldHaveRejected, WouldOpen,
};
pub use snapshot::{ProbeTotals, Probes, Snapshot, StateTotals};
pub use state::State;
