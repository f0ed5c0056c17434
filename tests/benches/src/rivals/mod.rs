//! Other circuit breakers, each called as its documentation says, by its cheapest means.
//!
//! They are configured like ours as far as they can be: half of the last 100 calls, or of those in
//! 30 s, opens. Which cases one has follows from what it can do. Those that only know failures in a
//! row, or count for ever, stand in the cases of the count window. Asynchronous ones that have no
//! other way in are called on a current-thread runtime in every case.

use std::time::Duration;

use crate::subject::List;

mod breaker_machines;
mod circuit_breaker;
mod circuitbreaker_rs;
mod do_over;
mod execution_policy;
mod failsafe;
mod nobreak;
mod recloser;
mod reliability_toolkit;
mod resilient;
mod seatbelt;
mod sentinel;
mod throttle_net;
mod tower_resilience;

/// The wait of what is to stay OPEN.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);
/// The wait of what is to become HALF_OPEN.
const SHORT: Duration = Duration::from_millis(1);
/// The window of what looks at a time.
const WINDOW: Duration = Duration::from_secs(30);
/// More failing calls than any of them needs to open.
const OPENING: u64 = 300;

pub(crate) fn add(list: &mut List) {
    breaker_machines::add(list);
    circuit_breaker::add(list);
    circuitbreaker_rs::add(list);
    do_over::add(list);
    execution_policy::add(list);
    failsafe::add(list);
    nobreak::add(list);
    recloser::add(list);
    reliability_toolkit::add(list);
    resilient::add(list);
    seatbelt::add(list);
    sentinel::add(list);
    throttle_net::add(list);
    tower_resilience::add(list);
}

/// `Debug` of most crates' states, in our words.
fn state(debug: &impl std::fmt::Debug) -> String {
    match format!("{debug:?}")
        .to_lowercase()
        .replace(['_', '-', '"'], "")
        .as_str()
    {
        "closed" => "CLOSED".into(),
        "open" => "OPEN".into(),
        "halfopen" => "HALF_OPEN".into(),
        other => other.into(),
    }
}

/// A handle to call it by, and one to look at it by.
fn two<T: Clone>(handle: T) -> (T, T) {
    (handle.clone(), handle)
}

/// Lets a short wait end.
fn wait_over() {
    std::thread::sleep(SHORT * 5);
}
