//! The guarded functions. They do next to nothing, so that what is measured is the guard.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// The error of the guarded functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Down;

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("down")
    }
}

impl Error for Down {}

static REACHED: AtomicU64 = AtomicU64::new(0);

/// Succeeds.
#[inline]
pub(crate) fn succeed(n: u64) -> Result<u64, Down> {
    let n = black_box(n);
    if n == u64::MAX { Err(Down) } else { Ok(n) }
}

/// Fails for one number of ten.
#[inline]
pub(crate) fn fail_tenth(n: u64) -> Result<u64, Down> {
    let n = black_box(n);
    if n % 10 == 9 { Err(Down) } else { Ok(n) }
}

/// Is called although the breaker should have refused.
#[cold]
pub(crate) fn forbidden(_: u64) -> Result<u64, Down> {
    // Relaxed: read by the same thread, or after the threads were joined.
    REACHED.fetch_add(1, Ordering::Relaxed);
    Err(Down)
}

/// How often [`forbidden`] was called in this process.
pub(crate) fn reached() -> u64 {
    // Pairs with nothing: see `forbidden`.
    REACHED.load(Ordering::Relaxed)
}
