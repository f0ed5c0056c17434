//! The breakers of keys on their own, see `crate::models`.

use std::sync::Arc;
use std::time::Duration;

use super::{Keys, REST};
use crate::breaker::AtOnce;
use crate::clock::TestClock;
use crate::config::Config;
use crate::layers::{Layer, Layers};
use crate::models::{WAIT, both, two};
use crate::outcome::Outcome;
use crate::registry::Registry;
use crate::state::State;
use crate::sync::modelled::explore;

fn layers(config: Config) -> Arc<Layers> {
    Arc::new(Layers::merge([(Layer::Code, config)], None).0)
}

fn keys(config: Config, clock: &TestClock, max: u32) -> Arc<Keys> {
    let surroundings = Registry::with_clock(clock).surroundings();
    Arc::new(Keys::new("model", layers(config), max, surroundings))
}

fn fail(keys: &Keys, key: &str) {
    let slot = keys.for_call(key);
    if let AtOnce::Permitted(ticket) = slot.breaker.inner.admit_plainly() {
        slot.breaker.inner.finish(ticket, Outcome::Failure);
    }
}

/// Both failures are in it, which open it.
#[test]
fn a_key_gets_one_breaker() {
    explore(|| {
        let keys = keys(two(), &TestClock::new(), 2);
        let other = Arc::clone(&keys);
        both(move || fail(&other, "a"), || fail(&keys, "a"));
        let breaker = keys.get("a").expect("it was called");
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(keys.figures().keys, 1);
    });
}

/// Another key wants the room while a call that has lasted for a window ends, which opens the breaker.
#[test]
fn a_breaker_that_is_in_use_or_protecting_makes_no_room() {
    explore(|| {
        let clock = TestClock::new();
        let keys = keys(two().min_calls(1), &clock, 1);
        let slot = keys.for_call("a");
        let AtOnce::Permitted(ticket) = slot.breaker.inner.admit_plainly() else {
            panic!("it is CLOSED");
        };
        clock.advance(Duration::from_secs(60));
        let other = Arc::clone(&keys);
        both(
            move || drop(other.for_call("b")),
            || {
                slot.breaker.inner.finish(ticket, Outcome::Failure);
                drop(slot);
            },
        );
        let breaker = keys.get("a").expect("it was not to go");
        assert_eq!(breaker.state(), State::Open);
        assert!(keys.get(REST).is_some());
    });
}

/// A call that begins holds its breaker against another key that wants the room.
#[test]
fn a_breaker_that_is_called_again_makes_no_room() {
    explore(|| {
        let clock = TestClock::new();
        let keys = keys(two().min_calls(1), &clock, 1);
        drop(keys.for_call("a"));
        clock.advance(Duration::from_secs(60));
        let other = Arc::clone(&keys);
        both(
            move || drop(other.for_call("b")),
            || {
                let slot = keys.for_call("a");
                let there = keys.get("a").map(|breaker| breaker.inner);
                // If `b` came first, there was no room for it.
                let inner = there.or_else(|| keys.get(REST).map(|breaker| breaker.inner));
                assert!(inner.is_some_and(|inner| Arc::ptr_eq(&inner, &slot.breaker.inner)));
            },
        );
    });
}

/// A breaker that is made beside a change ends up with the change.
#[test]
fn no_key_is_made_beside_a_change() {
    explore(|| {
        let keys = keys(two(), &TestClock::new(), 2);
        let longer = layers(two().wait(WAIT * 2));
        let other = Arc::clone(&keys);
        both(
            move || drop(other.for_call("a")),
            || keys.reconfigure(longer),
        );
        let breaker = keys.get("a").expect("it was called");
        breaker.open().expect("it is CLOSED");
        assert_eq!(breaker.snapshot().retry_after, Some(WAIT * 2));
    });
}
