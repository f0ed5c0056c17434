//! How breakers are made.

use std::sync::Arc;

use loom::thread;

use super::call;
use crate::clock::TestClock;
use crate::registry::Registry;
use crate::sync::modelled::explore;

#[test]
fn a_name_is_made_once() {
    explore(|| {
        let registry = Registry::with_clock(TestClock::new());
        let other = registry.clone();
        let made = thread::spawn(move || other.get_or_create("model"));
        let here = registry.get_or_create("model");
        let there = made.join().expect("no panic");
        assert!(Arc::ptr_eq(&here.inner, &there.inner));
        call(&here, false);
        assert_eq!(there.snapshot().failed, 1);
    });
}
