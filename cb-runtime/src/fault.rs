//! Faults that tests put in place of downstreams.

use std::time::Duration;

use crate::sync::{Ordering, plain::AtomicU64};

/// How many faults there are in the process, so that a program without any pays one load a call.
static LIVE: AtomicU64 = AtomicU64::new(0);

#[inline]
pub(crate) fn any() -> bool {
    // Relaxed: who set a fault sees it, and whoever is to meet it is told by other means.
    LIVE.load(Ordering::Relaxed) != 0
}

pub(crate) fn came(faults: u64) {
    // Relaxed: see `any`.
    LIVE.fetch_add(faults, Ordering::Relaxed);
}

pub(crate) fn went(faults: u64) {
    // Relaxed: see `any`.
    LIVE.fetch_sub(faults, Ordering::Relaxed);
}

/// What befalls the calls of a breaker in a [`Scope`](crate::testing::Scope), see
/// [`Scope::fault`](crate::testing::Scope::fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The body does not run and the call is recorded as a failure. The caller gets what it gets for
    /// a rejection, with [`Reason::Fault`](crate::Reason::Fault): the fallback's answer, or the error
    /// made from [`CallNotPermitted`](crate::CallNotPermitted). No value of the function's own
    /// could be made up.
    Error,
    /// The body runs after this time. A sync call moves the scope's clock on by it; an async one waits
    /// until the test has moved the clock, or is dropped by its `timeout`.
    Slow(Duration),
    /// The body does not run before the fault is cleared or replaced. A sync call blocks its thread
    /// until then, as a call without a timeout does; an async one stays pending, and its `timeout`
    /// ends it.
    Hang,
}
