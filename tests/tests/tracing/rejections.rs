//! Rejections, without a flood.

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, Registry};
use tracing::Level;

use crate::heard::{Heard, hear};

fn make(name: &str) -> (TestClock, Registry, CircuitBreaker) {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let breaker = registry.get_or_create(name);
    (clock, registry, breaker)
}

fn reject(breaker: &CircuitBreaker, times: u64) {
    for _ in 0..times {
        assert!(breaker.try_acquire().is_err());
    }
}

/// The numbers of rejections that the lines since the last look tell of.
fn told(heard: &Heard) -> Vec<u64> {
    heard
        .take()
        .iter()
        .map(|line| line.number("rejected"))
        .collect()
}

#[test]
fn the_first_at_once_then_one_line_per_interval_and_nothing_is_lost() {
    let heard = hear(Level::WARN);
    let (clock, _registry, breaker) = make("stock");
    breaker.open_for(Duration::from_secs(60)).unwrap();
    heard.take();
    reject(&breaker, 1);
    let first = heard.take();
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].level, Level::WARN);
    assert_eq!(first[0].message, "circuit breaker `stock` rejected 1 call");
    assert_eq!(
        (first[0].get("reason"), first[0].get("retry_after")),
        ("open", "60.0")
    );

    reject(&breaker, 99);
    clock.advance(Duration::from_millis(9_999));
    reject(&breaker, 100);
    assert_eq!(told(&heard), Vec::<u64>::new());
    clock.advance(Duration::from_millis(1));
    reject(&breaker, 100);
    assert_eq!(told(&heard), [200], "those up to the line's own");
    // 99 more wait for a line, and no other one comes.
    clock.advance(Duration::from_secs(50));
    breaker.try_acquire().unwrap().success();
    let lines = heard.take();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].get("to"), "HALF_OPEN");
    assert_eq!(lines[0].number("rejected"), 99);
    assert_eq!(breaker.snapshot().not_permitted_total, 300);
}

#[test]
fn a_million_rejections_write_one_line_per_interval_and_breaker() {
    let heard = hear(Level::WARN);
    let (clock, registry, breaker) = make("one");
    let other = registry.get_or_create("other");
    breaker.open_for(Duration::MAX).unwrap();
    other.open_for(Duration::from_secs(1_000)).unwrap();
    heard.take();
    // 100 s in steps of a second.
    for _ in 0..100 {
        reject(&breaker, 5_000);
        reject(&other, 5_000);
        clock.advance(Duration::from_secs(1));
    }
    let lines = heard.take();
    for (name, rest) in [("one", breaker), ("other", other)] {
        let of = lines.iter().filter(|line| line.get("name") == name);
        let told: Vec<_> = of.map(|line| line.number("rejected")).collect();
        assert_eq!(told.len(), 10, "{name}");
        rest.close();
        let closed = heard.take().pop();
        assert_eq!(closed, None, "a transition below the level takes nothing");
        rest.force_open();
        let remainder = heard.take()[0].number("rejected");
        assert_eq!(told.iter().sum::<u64>() + remainder, 500_000, "{name}");
    }
}

#[test]
fn the_interval_can_be_chosen() {
    let heard = hear(Level::WARN);
    let (clock, registry, breaker) = make("stock");
    breaker.open_for(Duration::from_secs(1_000)).unwrap();
    registry.log_rejections_every(Duration::from_secs(60));
    heard.take();
    reject(&breaker, 10);
    clock.advance(Duration::from_secs(59));
    reject(&breaker, 10);
    assert_eq!(told(&heard), [1]);
    clock.advance(Duration::from_secs(1));
    reject(&breaker, 1);
    assert_eq!(told(&heard), [20]);
    registry.log_rejections_every(Duration::ZERO);
    clock.advance(Duration::from_secs(60));
    reject(&breaker, 3);
    assert_eq!(told(&heard), [1, 1, 1]);
}

#[test]
fn every_reason_is_told_as_it_is() {
    let heard = hear(Level::WARN);
    let (clock, registry, _) = make("unused");
    registry.log_rejections_every(Duration::ZERO);
    let forced = registry.get_or_create("forced");
    forced.force_open();
    let full = registry.get_or_create("full");
    full.open().unwrap();
    full.half_open().unwrap();
    let permits: Vec<_> = (0..5).map(|_| full.try_acquire_owned().unwrap()).collect();
    heard.take();
    reject(&forced, 1);
    reject(&full, 1);
    let lines = heard.take();
    let reasons: Vec<_> = lines
        .iter()
        .map(|line| (line.get("name"), line.get("reason")))
        .collect();
    assert_eq!(
        reasons,
        [("forced", "forced_open"), ("full", "half_open_full")]
    );
    assert_eq!(lines[0].get("retry_after"), "");
    drop((permits, clock));
}

/// A breaker may have been open for long when somebody begins to listen.
#[test]
fn who_listens_late_hears_of_all_of_them() {
    let (clock, _registry, breaker) = make("stock");
    breaker.open_for(Duration::from_secs(1_000)).unwrap();
    reject(&breaker, 41);
    clock.advance(Duration::from_secs(1));
    let heard = hear(Level::WARN);
    reject(&breaker, 1);
    assert_eq!(told(&heard), [42]);
}
