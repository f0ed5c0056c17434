//! The system's monotonic clock. All readings count from one origin, so that they compare.

pub(super) use platform::{begin, coarse, coarse_from, now};
pub(crate) use platform::{glance, glanced, lag, since_origin};

/// Linux keeps the time of the last tick where reading it costs a quarter of asking for the present.
#[cfg(target_os = "linux")]
mod platform {
    use once_cell::sync::OnceCell;
    use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

    use crate::clock::{Coarse, Nanos};
    use crate::sync::Ordering;
    use crate::sync::plain::AtomicU64;

    const SECOND: Nanos = 1_000_000_000;
    /// The lag was seen to be more than two ticks, on machines that were short of processors.
    const LAG_IN_TICKS: Nanos = 4;
    const COARSE_FROM_TICKS: Nanos = 100;

    /// Before all readings.
    static ORIGIN: AtomicU64 = AtomicU64::new(0);
    static LAG: AtomicU64 = AtomicU64::new(0);
    static BEGUN: OnceCell<()> = OnceCell::new();

    /// Before the first reading: whoever has a clock comes after this. So nobody asks whether it was
    /// done.
    pub(crate) fn begin() {
        BEGUN.get_or_init(|| {
            // Relaxed, here and where they are read: `BEGUN` orders them.
            let tick = nanos(clock_getres(ClockId::MonotonicCoarse));
            LAG.store(tick * LAG_IN_TICKS, Ordering::Relaxed);
            // Of the coarse clock, which is behind the other one. By its lag earlier: kernels are known in which
            // it steps back by a little where the rate of the clock is corrected.
            let coarse = nanos(clock_gettime(ClockId::MonotonicCoarse));
            ORIGIN.store(coarse.saturating_sub(lag()), Ordering::Relaxed);
        });
    }

    #[inline]
    #[allow(clippy::cast_sign_loss)] // since boot
    fn nanos(time: Timespec) -> Nanos {
        time.tv_sec as Nanos * SECOND + time.tv_nsec as Nanos
    }

    /// Of a reading of the system's, as [`glance`] is one.
    #[inline]
    pub(crate) fn since_origin(glance: Nanos) -> Nanos {
        // Never below: see `begin`.
        glance.wrapping_sub(glanced(0))
    }

    /// What the coarse clock shows, from wherever the system counts.
    #[inline]
    pub(crate) fn glance() -> Nanos {
        nanos(clock_gettime(ClockId::MonotonicCoarse))
    }

    /// What it shows so long after the origin.
    #[inline]
    pub(crate) fn glanced(since_origin: Nanos) -> Nanos {
        since_origin.wrapping_add(ORIGIN.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn now() -> Nanos {
        since_origin(nanos(clock_gettime(ClockId::Monotonic)))
    }

    #[inline]
    pub(crate) fn coarse() -> Coarse {
        Coarse {
            at: since_origin(glance()),
            lag: lag(),
        }
    }

    #[inline]
    pub(crate) fn lag() -> Nanos {
        LAG.load(Ordering::Relaxed)
    }

    pub(crate) fn coarse_from() -> Option<Nanos> {
        Some(lag() / LAG_IN_TICKS * COARSE_FROM_TICKS)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::time::Instant;

    use once_cell::sync::Lazy;

    use crate::clock::{Coarse, Nanos};

    static ORIGIN: Lazy<Instant> = Lazy::new(Instant::now);

    pub(crate) fn begin() {
        Lazy::force(&ORIGIN);
    }

    pub(crate) fn now() -> Nanos {
        crate::clock::nanos(ORIGIN.elapsed())
    }

    pub(crate) fn coarse() -> Coarse {
        Coarse { at: now(), lag: 0 }
    }

    pub(crate) fn lag() -> Nanos {
        0
    }

    pub(crate) fn glance() -> Nanos {
        now()
    }

    pub(crate) fn since_origin(glance: Nanos) -> Nanos {
        glance
    }

    pub(crate) fn glanced(since_origin: Nanos) -> Nanos {
        since_origin
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
        begin();
        let mut last = 0;
        for _ in 0..10_000 {
            let coarse = coarse();
            let after = now();
            assert!((last..=after).contains(&coarse.at), "{coarse:?} {after}");
            last = coarse.at;
        }
    }
}
