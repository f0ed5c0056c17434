//! A configuration file that is reloaded while calls are under way.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, ConfigFile, Interest, Registry, Snapshot, State};

const RELOADS: usize = 1000;
const CALLERS: u64 = 2;
/// Of each caller, for each reload.
const CALLS: u64 = 10;
const TOTAL: u64 = RELOADS as u64 * CALLERS * CALLS;

/// Settings under which nothing ever opens, so that every outcome has to be somewhere.
fn version(number: usize, windows: [&str; 4]) -> ConfigFile {
    let window = windows[number % 4];
    let slow = ["'off'", "'1h'"][number / 2 % 2];
    text(format!(
        "[defaults]\nwait = '{}s'\n[breakers.'a*']\nwindow = {window}\nslow = {slow}\nmin_calls = {}\n\
         failure_rate = 100\nconsecutive_failures = 'off'\n",
        number % 7 + 1,
        22_000 + number % 3
    ))
}

fn text(text: String) -> ConfigFile {
    ConfigFile::new("breakers.toml", text)
}

/// Two threads call, every third call fails, while the file is reloaded; what there is afterwards.
fn reloaded(windows: [&str; 4]) -> Snapshot {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let breaker = registry.get_or_create("a");
    registry.get_or_create("aside").force_open();
    registry.load_config(&version(0, windows)).unwrap();
    let generation = breaker.snapshot().generation;
    let transitions = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&transitions);
    let _subscription = breaker.subscribe(Interest::TRANSITIONS, move |_| {
        told.fetch_add(1, Ordering::Relaxed);
    });

    let reloads = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| call_along(&breaker, &reloads));
        }
        for number in 1..=RELOADS {
            registry.load_config(&version(number, windows)).unwrap();
            if number % 10 == 0 {
                let before = breaker.config();
                let broken =
                    version(number + 1, windows).text().to_owned() + "half_open_calls = 0\n";
                registry.load_config(&text(broken)).unwrap_err();
                assert_eq!(breaker.config(), before, "a broken file changes nothing");
            }
            if number % 100 == 0 {
                registry.roll_back_config().unwrap();
            }
            reloads.store(number, Ordering::Relaxed);
        }
    });
    let snapshot = breaker.snapshot();
    assert_eq!(
        (snapshot.state, snapshot.generation),
        (State::Closed, generation)
    );
    assert_eq!((snapshot.late, snapshot.not_permitted_total), (0, 0));
    assert_eq!(transitions.load(Ordering::Relaxed), 0);
    assert_eq!(registry.get("aside").unwrap().state(), State::ForcedOpen);
    assert_eq!(snapshot.calls, snapshot.failed + snapshot.successful);
    snapshot
}

/// Makes its calls in step with the reloads, so that there are some at each of them.
fn call_along(breaker: &CircuitBreaker, reloads: &AtomicUsize) {
    for call in 0..RELOADS as u64 * CALLS {
        while call / CALLS > reloads.load(Ordering::Relaxed) as u64 {
            thread::yield_now();
        }
        let fails = call % 3 == 0;
        let answer = breaker.call(|| if fails { Err("down") } else { Ok(()) });
        assert_eq!(answer.is_err(), fails, "nothing opens it");
    }
}

/// Each of these windows has room for all calls, and a resized one keeps what it has.
#[test]
fn no_outcome_is_lost_and_none_counted_twice() {
    let snapshot = reloaded(["25000", "35000", "22002", "27500"]);
    let failed = CALLERS * (RELOADS as u64 * CALLS).div_ceil(3);
    assert_eq!(
        (u64::from(snapshot.calls), u64::from(snapshot.failed)),
        (TOTAL, failed)
    );
}

/// A window of another kind or length starts empty: what it held is gone, and nothing comes twice.
#[test]
fn a_window_that_starts_anew_holds_what_came_since() {
    let snapshot = reloaded(["'24h'", "25000", "'12h'", "30000"]);
    assert!(u64::from(snapshot.calls) <= TOTAL, "{snapshot:?}");
}
