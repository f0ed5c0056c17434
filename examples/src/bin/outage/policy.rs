//! The figures of the drill: small, so that it ends soon; far apart, so that a busy machine does
//! not blur them.

use std::time::Duration;

/// What a caller bears at most.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// Above this a call is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(300);
/// How long the slow service takes: slow, and well within the timeout.
pub(crate) const SLOW_ANSWER: Duration = Duration::from_millis(600);
/// The async client's own end, should nobody else set one.
pub(crate) const LAST_RESORT: Duration = Duration::from_millis(1300);

pub(crate) const WINDOW: u32 = 20;
/// More than twice the callers at a time: a machine that stands still for a moment makes all their
/// calls slow at once, and that is no sick service.
pub(crate) const MIN_CALLS: u32 = 10;
pub(crate) const WAIT: Duration = Duration::from_millis(500);
pub(crate) const HALF_OPEN_CALLS: u32 = 2;

/// Callers at a time where a breaker protects them.
pub(crate) const WORKERS: u32 = 4;
/// Callers at a time without one: four would take a minute and more to get through a hang.
pub(crate) const BARE_WORKERS: u32 = 40;
