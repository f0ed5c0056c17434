//! A test clock on its own, see `crate::models`.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use super::TestClock;
use crate::models::both;
use crate::sync::modelled::explore;
use crate::sync::{AtomicU64, Ordering};

const SECOND: Duration = Duration::from_secs(1);

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Who goes to sleep while the clock is moved finds that it is time, or is woken.
#[test]
fn nobody_sleeps_through_an_advance() {
    explore(|| {
        let clock = TestClock::new();
        let woken = Arc::new(Woken::default());
        let other = clock.clone();
        let mut sleeps = false;
        both(
            move || other.advance(SECOND),
            || {
                let waker = Waker::from(Arc::clone(&woken));
                sleeps = clock.wake_at(SECOND, &mut Context::from_waker(&waker));
            },
        );
        assert_eq!(woken.0.load(Ordering::Relaxed), u32::from(sleeps));
    });
}

/// Two advances at once add up.
#[test]
fn no_advance_is_lost() {
    explore(|| {
        let clock = TestClock::new();
        let other = clock.clone();
        both(move || other.advance(SECOND), || clock.advance(SECOND));
        assert_eq!(clock.elapsed(), 2 * SECOND);
    });
}

/// Who sees the new time sees what was done before the clock was moved.
#[test]
fn what_comes_before_an_advance_is_seen_after_it() {
    explore(|| {
        let clock = TestClock::new();
        let before = Arc::new(AtomicU64::new(0));
        let (other, done) = (clock.clone(), Arc::clone(&before));
        both(
            move || {
                done.store(1, Ordering::Relaxed);
                other.advance(SECOND);
            },
            || {
                if clock.elapsed() == SECOND {
                    assert_eq!(before.load(Ordering::Relaxed), 1);
                }
            },
        );
    });
}
