//! Transitions, rejections and conflicts as `tracing` events, calls in spans (feature `tracing`).
//!
//! With the feature on there is nothing to install: what breakers do goes to the application's own
//! subscriber, through the target `cb_runtime`.
//!
//! ```
//! use std::time::Duration;
//! use cb_runtime::Registry;
//!
//! // Once, as for any other library:
//! // tracing_subscriber::fmt().with_env_filter("info,cb_runtime=warn").init();
//!
//! let registry = Registry::new();
//! registry.log_rejections_every(Duration::from_secs(60)); // 10 s if not called
//! let breaker = registry.get_or_create("inventory.query");
//! for _ in 0..10 {
//!     let _ = breaker.call(|| Err::<(), _>("connection refused"));
//! }
//! // ERROR cb_runtime: circuit breaker `inventory.query` opened: 10 of 10 calls failed (100%),
//! //       `failure_rate` is 50%; first probe in 10s
//! //       name="inventory.query" from="CLOSED" to="OPEN" rule="failure_rate" calls=10 failed=10 …
//! # assert_eq!(breaker.state(), cb_runtime::State::Open);
//! ```
//!
//! # Events
//!
//! | what | level |
//! |---|---|
//! | to OPEN | error |
//! | to HALF_OPEN | warn |
//! | to CLOSED, and a reset | info |
//! | to FORCED_OPEN, DISABLED, METRICS_ONLY | warn |
//! | rejections | warn: the first at once, then one line per interval and breaker |
//! | a conflict of configurations | warn |
//! | a rate reached its limit, rounds were skipped | debug |
//!
//! The fields of a transition. Those that say nothing in a certain case are left out.
//!
//! | field | meaning |
//! |---|---|
//! | `name` | the breaker |
//! | `from`, `to` | the states, as [`State`](crate::State) displays them |
//! | `rule` | what decided: `failure_rate`, `slow_rate`, `consecutive_failures`, …; see [`Cause::rule`](crate::Cause::rule) |
//! | `cause` | the same in words, with figure and limit |
//! | `limit` | the limit that was reached: in percent for rates, else a number |
//! | `calls`, `failed`, `slow` | recorded calls of the stay that ended: in the window, or probes |
//! | `failure_rate`, `slow_rate` | of those, in percent |
//! | `wait` | to OPEN: seconds until the first probe |
//! | `rejected` | rejections that no line has told of yet |
//! | `generation` | the number of the stay that begins |
//!
//! A line of rejections has `name`, `reason`, `rejected` (since the line before, this one included)
//! and `retry_after` in seconds. What was rejected after the last line is told with the next
//! transition, so the sum of all `rejected` is the number of rejections. The interval is on the
//! breaker's clock; where a rejection needs no clock (FORCED_OPEN) it is looked at for one in 16, so
//! there a line may come 16 rejections late.
//!
//! # Spans
//!
//! Each guarded call runs in a span `circuit_breaker` of level debug, with the target
//! `cb_runtime::call`; for an async call it is entered around each poll. So what the body logs, and the
//! spans of a client below it, carry the breaker's name. Its fields:
//!
//! | field | meaning |
//! |---|---|
//! | `name` | the breaker |
//! | `state` | the state in which the call was permitted; `HALF_OPEN` means a probe |
//! | `outcome` | at the end: `success`, `failure`, `ignored`, `timeout`, `panic`, or `cancelled` if it was dropped |
//!
//! Rejected calls have no span, since nothing runs. Whoever takes a [`Permit`](crate::Permit) runs
//! the call, and makes its span. To see spans without all of the debug level:
//! `info,cb_runtime::call=debug`.
//!
//! # Costs
//!
//! Transitions are told by the thread that delivers events, outside of all locks, in their order. A
//! subscriber that panics there is isolated. A rejection costs one more load, also without a
//! subscriber; the lines alone can allocate, as far as the subscriber does. A call costs
//! nothing while no subscriber is interested in its span. One that has a span allocates once for
//! it, beside what the subscriber does.
//!
//! Conflicts that are found while there is no subscriber go to standard error, as without the feature.

mod rejections;
mod span;
mod transitions;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub(crate) use rejections::{Interval, Rejections};
pub(crate) use span::{Traced, listen};
pub(crate) use transitions::tell;

use crate::clock::nanos;
use crate::registry::Registry;

/// Where everything goes.
const TARGET: &str = "cb_runtime";

impl Registry {
    /// How often rejections are logged: the first of a breaker at once, then one line per interval
    /// and breaker, with the number of rejections since. 10 s unless this is called; zero makes a
    /// line of each rejection. Takes effect with the next line.
    pub fn log_rejections_every(&self, interval: Duration) {
        self.hub().rejection_interval.set(nanos(interval));
    }
}

/// Says it to the subscriber; `false` if there is none.
pub(crate) fn warn(text: &str) -> bool {
    use ::tracing::{dispatcher::get_default, subscriber::NoSubscriber};
    let heard = get_default(|subscriber| !subscriber.is::<NoSubscriber>());
    if heard {
        isolated(|| ::tracing::warn!(target: TARGET, "{text}"));
    }
    heard
}

/// In seconds, to the millisecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

/// A subscriber is foreign code, and its panics are not the caller's.
fn isolated(tell: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(tell)) {
        // What was thrown may have a destructor that panics too.
        std::mem::forget(payload);
    }
}
