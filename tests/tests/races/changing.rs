//! Settings that change while breakers are made.

use std::sync::Mutex;
use std::time::Duration;

use cb_runtime::{Config, Registry};
use cb_tests::harness::lock;

use super::gang::{equal, rounds};

/// A breaker that is made beside a change ends up with the change, whichever came first.
#[test]
fn none_is_made_beside_a_change() {
    let registry = Mutex::new(Registry::new());
    let wait = Config::new().wait(Duration::from_secs(3));
    rounds(
        2,
        20_000,
        |_| *lock(&registry) = Registry::new(),
        |thread, _| {
            let registry = lock(&registry).clone();
            if thread == 0 {
                let _ = registry.get_or_create("a");
            } else {
                registry.set_default(wait.clone()).expect("valid");
            }
        },
        |_| {
            let breaker = lock(&registry).get_or_create("a");
            let settings = breaker.config();
            equal("settings", settings.len(), 1)
        },
    );
}
