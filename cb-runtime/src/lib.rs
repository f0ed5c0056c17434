//! A circuit breaker for functions that call something that can fail.
//!
//! Use [`CircuitBreaker`]. For tests, see [`testing`].
//!
//! The words are Resilience4j's. So are the rules, except where a late outcome would decide a stay
//! it does not belong to, and where its defaults would leave a dead dependency unprotected.
//!
//! # Features
//!
//! - `tokio` (default): `timeout` on async functions, and [`Registry::run_timer`].

pub mod testing;

#[doc(hidden)]
pub mod __private;

mod breaker;
mod call;
mod clock;
mod config;
mod conflict;
mod enter;
mod error;
mod event;
mod explain;
mod function;
mod layers;
mod listeners;
mod outcome;
mod permit;
mod policy;
mod registry;
mod report;
mod site;
mod snapshot;
mod state;
mod sync;
#[cfg(feature = "tokio")]
mod timer;
mod window;

pub use breaker::CircuitBreaker;
pub use clock::Clock;
pub use config::{Config, MaxWaitState, Mode, Window};
pub use conflict::{Conflict, ConflictKind};
pub use enter::registry;
pub use error::{CallError, CallNotPermitted, ConfigError, IllegalTransition, Reason, TimedOut};
pub use event::{Cause, Event, EventKind, Interest};
pub use explain::Explanation;
pub use function::Place;
pub use layers::{ChosenSetting, Layer};
pub use listeners::Subscription;
pub use outcome::{OnCancel, Outcome};
pub use permit::Permit;
pub use registry::Registry;
pub use snapshot::{Probes, Snapshot};
pub use state::State;
