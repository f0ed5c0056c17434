//! What a guarded function can ask about the call that it is in.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::breaker::Inner;
use crate::state::Word;

thread_local! {
    /// How many bodies of probes are running on this thread, one inside the other. Apart from which they
    /// are, so that asking for it costs next to nothing.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static PROBES: RefCell<Vec<Probe>> = const { RefCell::new(Vec::new()) };
}

/// Of which stay of which breaker. While its body runs the breaker is there, so its address is its own.
#[derive(Clone, Copy, PartialEq)]
struct Probe {
    breaker: *const Inner,
    stay: Word,
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
        in_any_probe()
    }
}

#[inline]
pub(crate) fn in_any_probe() -> bool {
    DEPTH.get() > 0
}

/// Whether this code runs in the body of a probe of this stay.
pub(crate) fn in_probe_of(breaker: &Inner, stay: Word) -> bool {
    let probe = Probe { breaker, stay };
    // While a thread is being torn down it is not known.
    in_any_probe()
        && PROBES
            .try_with(|probes| probes.borrow().contains(&probe))
            .unwrap_or(false)
}

/// The body of a probe runs from here.
#[cold]
pub(crate) fn begin_probe(breaker: &Inner, stay: Word) {
    let probe = Probe { breaker, stay };
    let _ = PROBES.try_with(|probes| {
        let mut probes = probes.borrow_mut();
        probes.push(probe);
        DEPTH.set(probes.len());
    });
}

/// To here, also if it panicked.
#[cold]
pub(crate) fn end_probe(breaker: &Inner, stay: Word) {
    let probe = Probe { breaker, stay };
    let _ = PROBES.try_with(|probes| {
        let mut probes = probes.borrow_mut();
        // The last one but for a guard that was leaked.
        if let Some(at) = probes.iter().rposition(|it| *it == probe) {
            probes.truncate(at);
        }
        DEPTH.set(probes.len());
    });
}
