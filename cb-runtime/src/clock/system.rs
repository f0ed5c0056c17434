//! The system's monotonic clock. All readings count from one origin, so that they compare.

pub(super) use platform::{coarse, coarse_from, lag, now};

/// Linux keeps the time of the last tick where reading it costs a quarter of asking for the present.
#[cfg(target_os = "linux")]
mod platform {
    use once_cell::sync::Lazy;
    use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

    use crate::clock::{Coarse, Nanos};

    const SECOND: Nanos = 1_000_000_000;
    /// The lag was seen to be more than two ticks, on machines that were short of processors.
    const LAG_IN_TICKS: Nanos = 4;
    const COARSE_FROM_TICKS: Nanos = 100;

    struct System {
        origin: Nanos,
        tick: Nanos,
        lag: Nanos,
    }

    static SYSTEM: Lazy<System> = Lazy::new(|| {
        let tick = nanos(clock_getres(ClockId::MonotonicCoarse));
        System {
            origin: nanos(clock_gettime(ClockId::Monotonic)),
            tick,
            lag: tick * LAG_IN_TICKS,
        }
    });

    #[inline]
    #[allow(clippy::cast_sign_loss)] // since boot
    fn nanos(time: Timespec) -> Nanos {
        time.tv_sec as Nanos * SECOND + time.tv_nsec as Nanos
    }

    #[inline]
    pub(crate) fn now() -> Nanos {
        nanos(clock_gettime(ClockId::Monotonic)).saturating_sub(SYSTEM.origin)
    }

    #[inline]
    pub(crate) fn coarse() -> Coarse {
        let system = &*SYSTEM;
        let time = nanos(clock_gettime(ClockId::MonotonicCoarse));
        Coarse {
            // Before the first tick it would be before the origin.
            at: time.saturating_sub(system.origin),
            lag: system.lag,
        }
    }

    #[inline]
    pub(crate) fn lag() -> Nanos {
        SYSTEM.lag
    }

    pub(crate) fn coarse_from() -> Option<Nanos> {
        Some(SYSTEM.tick * COARSE_FROM_TICKS)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::time::Instant;

    use once_cell::sync::Lazy;

    use crate::clock::{Coarse, Nanos};

    static ORIGIN: Lazy<Instant> = Lazy::new(Instant::now);

    pub(crate) fn now() -> Nanos {
        crate::clock::nanos(ORIGIN.elapsed())
    }

    pub(crate) fn coarse() -> Coarse {
        Coarse { at: now(), lag: 0 }
    }

    pub(crate) fn lag() -> Nanos {
        0
    }

    pub(crate) fn coarse_from() -> Option<Nanos> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_reading_is_never_ahead() {
        let mut last = 0;
        for _ in 0..10_000 {
            let coarse = coarse();
            let after = now();
            assert!((last..=after).contains(&coarse.at), "{coarse:?} {after}");
            last = coarse.at;
        }
    }
}
