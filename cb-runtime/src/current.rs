//! What a guarded function can ask about the call that it is in.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// How many bodies of probes are running on this thread, one inside the other.
    static PROBES: Cell<u32> = const { Cell::new(0) };
}

/// The guarded call that this code runs in, if any.
///
/// ```
/// use cb_runtime::{CallError, circuit_breaker};
///
/// #[circuit_breaker(name = "catalogue.get")]
/// fn get(sku: &str) -> Result<String, CallError<String>> {
///     // An answer from a cache in between would pass for a recovery.
///     let header = if cb_runtime::current().is_probe() { "no-cache" } else { "max-age=60" };
///     Ok(format!("GET /{sku} Cache-Control: {header}"))
/// }
/// assert!(get("7").unwrap().ends_with("max-age=60"));
/// ```
#[must_use]
pub fn current() -> Current {
    Current(PhantomData)
}

/// See [`current`].
#[derive(Clone, Copy, Debug)]
pub struct Current(PhantomData<*const ()>);

impl Current {
    /// Whether this code decides about a recovery: it runs in the body of a probe, that is a call
    /// permitted in HALF_OPEN, of this guarded function or of one that it was called from.
    ///
    /// Known on the thread that runs the body, for an async function while it is being polled. Code
    /// that the body hands to another thread or task has to be told.
    #[must_use]
    pub fn is_probe(self) -> bool {
        // While a thread is being torn down it runs no probe.
        PROBES.try_with(|probes| probes.get() > 0).unwrap_or(false)
    }
}

/// The body of a probe runs from here.
#[cold]
pub(crate) fn begin_probe() {
    let _ = PROBES.try_with(|probes| probes.set(probes.get() + 1));
}

/// To here, also if it panicked.
#[cold]
pub(crate) fn end_probe() {
    let _ = PROBES.try_with(|probes| probes.set(probes.get().saturating_sub(1)));
}
