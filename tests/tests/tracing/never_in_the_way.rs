//! Subscribers that do what they should not.

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{Registry, State};
use tracing::Level;

use crate::heard::hear_and;

#[test]
fn a_subscriber_may_use_the_breaker_it_hears_of() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let breaker = registry.get_or_create("stock");
    let same = breaker.clone();
    let heard = hear_and(
        Level::TRACE,
        Some(Box::new(move |line| {
            let _ = (same.snapshot(), same.explain(), same.try_acquire().is_ok());
            if line.get("to") == "OPEN" {
                same.disable();
            }
        })),
    );
    breaker.open_for(Duration::from_secs(10)).unwrap();
    assert_eq!(breaker.state(), State::Disabled);
    breaker.force_open();
    assert!(breaker.try_acquire().is_err());
    let told = heard.lines();
    let to: Vec<_> = told.iter().map(|line| line.get("to")).collect();
    // Behind the opening, the rejections of the subscriber's own calls, each a line at the most.
    assert_eq!(
        to.iter().filter(|to| !to.is_empty()).count(),
        3,
        "{told:#?}"
    );
}

#[test]
fn a_subscriber_that_panics_harms_nobody() {
    let registry = Registry::with_clock(TestClock::new());
    let breaker = registry.get_or_create("stock");
    let heard = hear_and(
        Level::TRACE,
        Some(Box::new(|_| panic!("of the subscriber's own"))),
    );
    breaker.open().unwrap();
    assert!(breaker.try_acquire().is_err());
    breaker.close();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(heard.lines().len(), 3);
}
