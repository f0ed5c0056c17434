//! Models of what threads do to a breaker at the same time. loom runs each in every order of steps that
//! differs, up to a number of preemptions. What each was seen to catch is in `internals`; `scripts/weaken`
//! looks whether it still does.

use std::sync::Arc;
use std::time::Duration;

use loom::thread;

use crate::breaker::CircuitBreaker;
use crate::clock::TestClock;
use crate::config::{Config, Window};
use crate::registry::Registry;
use crate::sync::{AtomicU64, Ordering};

mod calm;
mod changes;
mod events;
mod half_open;
mod opening;
mod registry;
mod running;
mod tally;

pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The last two calls; opens when both have failed.
pub(crate) fn two() -> Config {
    Config::new()
        .window(Window::Calls(2))
        .min_calls(2)
        .failure_rate(100.0)
        .consecutive_failures_off()
        .wait(WAIT)
        .half_open_calls(1)
}

fn breaker(config: &Config, clock: &TestClock) -> CircuitBreaker {
    Registry::with_clock(clock)
        .create("model", config)
        .expect("it is valid")
}

/// Through a guard, as annotated functions do, so that it can pass by in a calm window.
fn call(breaker: &CircuitBreaker, good: bool) {
    let _ = breaker.call(|| if good { Ok(()) } else { Err(()) });
}

/// Runs both at the same time, the second one here.
pub(crate) fn both(first: impl FnOnce() + 'static, second: impl FnOnce()) {
    // Where one of them loads what the other one loads and then writes, loom does not try the load after
    // the write. Both update this, which it tries in each order; relaxed, so that nobody learns anything.
    let turn = Arc::new(AtomicU64::new(0));
    let in_turn = move |turn: &AtomicU64, what: Box<dyn FnOnce() + '_>| {
        turn.fetch_add(1, Ordering::Relaxed);
        what();
        turn.fetch_add(1, Ordering::Relaxed);
    };
    let other = Arc::clone(&turn);
    let thread = thread::spawn(move || in_turn(&other, Box::new(first)));
    in_turn(&turn, Box::new(second));
    thread.join().expect("no panic");
}
