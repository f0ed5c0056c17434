//! Listeners.

use std::sync::{Arc, Mutex};

use super::{both, breaker, two};
use crate::clock::TestClock;
use crate::event::{EventKind, Interest};
use crate::state::State;
use crate::sync::modelled::explore;

#[test]
fn events_come_in_the_order_of_the_transitions() {
    explore(|| {
        let breaker = breaker(&two(), &TestClock::new());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        breaker
            .subscribe(Interest::TRANSITIONS, move |event| {
                if let EventKind::Transition { from, to, .. } = event.kind {
                    log.lock().expect("no panic").push((from, to));
                }
            })
            .forever();
        let other = breaker.clone();
        both(move || other.force_open(), || breaker.disable());
        let heard = heard.lock().expect("no panic");
        assert_eq!(heard.len(), 2);
        assert_eq!(heard[0].0, State::Closed);
        assert_eq!(heard[0].1, heard[1].0);
        assert_eq!(heard[1].1, breaker.state());
    });
}
