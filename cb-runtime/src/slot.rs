//! A breaker that is one of many, and may be dropped while nobody uses it.

use crate::breaker::CircuitBreaker;
use crate::clock::Nanos;
use crate::state::State;
use crate::sync::{Arc, AtomicU64, Ordering};

/// Whoever makes a call holds the slot itself, so that its reference count tells whether calls are
/// in flight. Handles that a user holds are to the breaker, and do not keep it here.
pub(crate) type SharedSlot = Arc<Slot>;

/// See [`SharedSlot`].
pub(crate) struct Slot {
    pub(crate) breaker: CircuitBreaker,
    last_call: AtomicU64,
}

impl Slot {
    pub(crate) fn new(breaker: CircuitBreaker, now: Nanos) -> Self {
        Self {
            breaker,
            last_call: AtomicU64::new(now),
        }
    }

    pub(crate) fn called(&self, now: Nanos) {
        // Relaxed: orders evictions roughly, nothing else depends on it.
        self.last_call.store(now, Ordering::Relaxed);
    }

    pub(crate) fn last_call(&self) -> Nanos {
        // Relaxed: as above.
        self.last_call.load(Ordering::Relaxed)
    }

    /// Whether dropping it would lose nothing but totals, once it has been idle for a window:
    /// CLOSED, or still as its `mode` made it, and nobody listens to it in particular.
    pub(crate) fn is_dispensable(&self) -> bool {
        let inner = &self.breaker.inner;
        let word = inner.word();
        let unchanged = match word.state() {
            State::Closed => true,
            State::Open => false,
            _ => word.stay() == 1,
        };
        unchanged && inner.events.is_unheard()
    }
}
