//! Breakers that are called directly.

use std::time::Duration;

use cb_runtime::{CircuitBreaker, Config, Mode, Registry, Window};

use super::{BREAKERS, answer, fill_half_open, state, turn};
use crate::case::Case;
use crate::subject::{List, Through, Who};
use crate::work::{fail_tenth, forbidden, succeed};

const US: Who = Who::Ours(Through::Call);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn breaker(config: &Config) -> CircuitBreaker {
    Registry::new()
        .create("called", config)
        .expect("the configuration is valid")
}

/// Breakers of one case: as it is called, and as it is looked at.
fn pair(config: &Config) -> (CircuitBreaker, CircuitBreaker) {
    let breaker = breaker(config);
    (breaker.clone(), breaker)
}

pub(super) fn add(list: &mut List) {
    let hundred = Config::new().window(Window::Calls(100));
    let configs = [
        (Case::Closed, hundred.clone()),
        (Case::SlowFar, hundred.clone().slow(Duration::from_secs(2))),
        (
            Case::SlowNear,
            hundred.clone().slow(Duration::from_millis(50)),
        ),
        (Case::Time, Config::new()),
        (Case::MetricsOnly, hundred.clone().mode(Mode::MetricsOnly)),
    ];
    for (case, config) in configs {
        let (called, seen) = pair(&config);
        let call = move |n| answer(called.call(|| succeed(n)));
        list.sync(case, US, call, move || state(&seen, false));
    }
    for (case, config) in [
        (Case::Tenth, hundred.clone()),
        (Case::TimeTenth, Config::new()),
    ] {
        let (called, seen) = pair(&config);
        let call = move |n| answer(called.call(|| fail_tenth(n)));
        list.sync(case, US, call, move || state(&seen, true));
    }

    let (called, seen) = pair(&hundred.clone().wait(DAY));
    seen.open().expect("it is CLOSED");
    let call = move |n| answer(called.call(|| forbidden(n)));
    list.sync(Case::Open, US, call, move || state(&seen, false));

    let (called, seen) = pair(&hundred.clone().half_open_calls(1).half_open_max_wait(DAY));
    fill_half_open(&seen);
    let call = move |n| answer(called.call(|| forbidden(n)));
    list.sync(Case::HalfOpenFull, US, call, move || state(&seen, false));

    let (called, seen) = pair(&hundred);
    let call = async move |n| answer(called.call_async(async move { succeed(n) }).await);
    list.asynchronous(Case::Async, US, call, move || state(&seen, false));

    let many: Vec<_> = (0..BREAKERS).map(|_| breaker(&hundred)).collect();
    let seen = many[0].clone();
    let call = move |n| answer(many[turn(n, BREAKERS)].call(|| succeed(n)));
    list.sync(Case::Breakers, US, call, move || state(&seen, false));
}
