//! Random numbers for the jitter of waits.

use std::fmt;

/// A sequence of numbers from 0 to 1.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    /// The same sequence each time, for tests.
    pub(crate) fn fixed() -> Self {
        Self(fastrand::Rng::with_seed(0))
    }

    pub(crate) fn new() -> Self {
        Self(fastrand::Rng::new())
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0.f64()
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}
