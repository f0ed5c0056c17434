//! Another configuration while calls are under way.

use std::sync::Arc;
use std::time::Duration;

use super::{both, breaker, call, two};
use crate::breaker::AtOnce;
use crate::clock::TestClock;
use crate::config::{Config, Mode, Window};
use crate::layers::{Layer, Layers};
use crate::outcome::Outcome;
use crate::state::State;
use crate::sync::modelled::explore;

fn layers(config: Config) -> Arc<Layers> {
    Arc::new(Layers::merge([(Layer::Code, config)], None).0)
}

fn of_calls(size: u32) -> Arc<Layers> {
    layers(two().window(Window::Calls(size)))
}

/// One may be moved before it is written: then it takes the place of none that came after the change.
#[test]
fn no_outcome_is_lost_or_doubled_by_another_window() {
    explore(|| {
        let breaker = breaker(&two().window(Window::Calls(3)), &TestClock::new());
        call(&breaker, true);
        let other = breaker.clone();
        both(
            move || {
                other.inner.reconfigure(of_calls(4));
                call(&other, true);
            },
            || call(&breaker, false),
        );
        let now = breaker.snapshot();
        assert_eq!((now.calls, now.failed, now.late), (3, 1, 0));
    });
}

#[test]
fn a_calm_window_that_grows_is_filled() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        (0..3).for_each(|_| call(&breaker, true));
        let other = breaker.clone();
        both(
            move || call(&other, true),
            || breaker.inner.reconfigure(of_calls(3)),
        );
        call(&breaker, true);
        assert_eq!(breaker.snapshot().calls, 3);
    });
}

/// Whoever takes a change judges by it; if nobody has taken it, the next outcome does.
#[test]
fn a_change_of_limits_is_judged_by() {
    explore(|| {
        let config = two().window(Window::Calls(10));
        let stricter = layers(config.clone().failure_rate(20.0));
        let breaker = breaker(&config, &TestClock::new());
        call(&breaker, false);
        call(&breaker, true);
        let other = breaker.clone();
        both(
            move || call(&other, true),
            || breaker.inner.reconfigure(Arc::clone(&stricter)),
        );
        call(&breaker, true);
        assert_eq!(breaker.state(), State::Open);
    });
}

/// Who sees the limit can record slow calls. In METRICS_ONLY, where calls are admitted by nothing else that
/// changes with it.
#[test]
fn whoever_sees_slow_has_room_for_slow_calls() {
    explore(|| {
        let clock = TestClock::new();
        let config = two()
            .window(Window::Time(Duration::from_secs(10)))
            .buckets(1)
            .mode(Mode::MetricsOnly);
        let measured = layers(config.clone().slow(Duration::from_secs(1)));
        let breaker = breaker(&config, &clock);
        let other = breaker.clone();
        both(
            move || other.inner.reconfigure(Arc::clone(&measured)),
            || {
                let inner = &breaker.inner;
                let limit = inner.limits.slow();
                let ticket = inner.admit().ok().expect("it rejects nothing");
                if limit.is_some() && ticket.start().is_some() {
                    clock.advance(Duration::from_secs(2));
                    inner.finish(ticket, Outcome::Success);
                    assert_eq!(breaker.snapshot().slow, 1);
                }
            },
        );
    });
}

/// A call after the change is measured, whatever a call before it has found.
#[test]
fn a_change_of_settings_ends_calm() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        (0..2).for_each(|_| call(&breaker, true));
        let measured = layers(two().slow(Duration::from_secs(1)));
        let other = breaker.clone();
        both(
            move || call(&other, true),
            || breaker.inner.reconfigure(Arc::clone(&measured)),
        );
        let AtOnce::Permitted(ticket) = breaker.inner.admit_plainly() else {
            panic!("it is CLOSED");
        };
        assert!(ticket.start().is_some());
    });
}
