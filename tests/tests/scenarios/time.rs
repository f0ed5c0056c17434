//! The clock.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{ConfigError, Reason, Registry, State, circuit_breaker};

use crate::support::*;

/// Calls `look` with every Rust file under `directory`.
pub(crate) fn each_source(directory: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_source(&path, look);
        } else if path.extension().is_some_and(|end| end == "rs") {
            look(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// There is no wall clock to be set: the library knows none.
#[test]
fn ck_01_only_a_monotonic_clock_is_used() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cb-runtime/src");
    let (mut files, mut clocks) = (0, 0);
    each_source(&sources, &mut |path, text| {
        files += 1;
        clocks += usize::from(text.contains("Instant::now"));
        for wall in ["SystemTime", "UNIX_EPOCH", "chrono::"] {
            assert!(!text.contains(wall), "{wall} in {}", path.display());
        }
    });
    assert!(files > 20);
    assert_eq!(clocks, 1, "one place reads the time");

    let bench = bench("");
    bench.trip();
    assert_eq!(bench.rejection().retry_after(), Some(s(10)));
    bench.advance(s(10));
    bench.permit().success();
}

#[circuit_breaker(
    name = "clock",
    window = 4,
    min_calls = 2,
    slow = "2s",
    half_open_calls = 1,
    consecutive_failures = off
)]
fn takes(clock: &TestClock, time: Duration) -> Answer {
    clock.advance(time);
    Ok(1)
}

#[test]
fn ck_02_one_clock_drives_everything() {
    let scope = Scope::new();
    let breaker = scope.breaker("clock");
    for _ in 0..2 {
        takes(scope.clock(), s(3)).unwrap();
    }
    assert_eq!(breaker.snapshot().slow, 2);
    assert_eq!(breaker.state(), State::Open);
    assert!(refused(&takes(scope.clock(), s(3))));
    scope.clock().advance(s(10));
    takes(scope.clock(), s(2)).unwrap();
    assert_eq!(breaker.state(), State::Closed);
}

#[circuit_breaker(name = "for.ever", window = 4, min_calls = 2, wait = Duration::MAX)]
fn opens_for_ever() -> Answer {
    DOWN
}

#[test]
fn ck_03_neither_the_origin_nor_for_ever_panics() {
    let hour = bench("W=3600s");
    hour.advance(s(1));
    hour.fail(1);
    assert_eq!(hour.counts(), (1, 1));

    let scope = Scope::new();
    for _ in 0..2 {
        opens_for_ever().unwrap_err();
    }
    scope.clock().advance(s(100 * 365 * 24 * 3600));
    let Err(Api::Refused(rejection)) = opens_for_ever() else {
        panic!("permitted");
    };
    assert_eq!(
        (rejection.reason(), rejection.retry_after()),
        (Reason::Open, None)
    );
    let now = scope.breaker("for.ever").snapshot();
    assert_eq!((now.wait, now.retry_after), (None, None));

    // The same on the system's clock, which counts from the first use.
    let breaker = Registry::new()
        .create("system", &given("").wait(Duration::MAX))
        .unwrap();
    breaker.open().unwrap();
    assert_eq!(breaker.try_acquire().unwrap_err().retry_after(), None);
}

#[test]
fn ck_04_a_clock_that_stops_or_jumps_is_survived() {
    let frozen = bench("W=300s B=300");
    frozen.trip();
    for _ in 0..3 {
        assert_eq!(frozen.rejection().retry_after(), Some(s(10)));
    }

    // One step a bucket would be 300 million steps for each of these jumps.
    let jumping = bench("W=300s B=300");
    for _ in 0..50 {
        jumping.fail(1);
        jumping.advance(s(10 * 365 * 24 * 3600));
        assert_eq!(jumping.counts(), (0, 0));
    }
    let jumping = bench("W=300s B=300");
    jumping.trip();
    jumping.advance(s(10 * 365 * 24 * 3600));
    jumping.permit().success();
    assert_eq!(jumping.state(), State::Closed);
}

#[test]
fn ck_05_the_wait_is_not_rounded_to_seconds() {
    let bench = bench("O=1s");
    bench.advance(ms(10_950));
    bench.trip();
    bench.advance(ms(60)); // 11.01
    assert_eq!(bench.rejection().retry_after(), Some(ms(940)));
    bench.advance(ms(930)); // 11.94
    assert_eq!(bench.rejection().retry_after(), Some(ms(10)));
    bench.advance(ms(10)); // 11.95
    bench.permit().success();
}

#[test]
fn ck_07_a_tiny_wait_still_limits_the_probes() {
    let bench = bench("O=1ns");
    bench.trip();
    assert_eq!(
        bench.rejection().reason(),
        Reason::Open,
        "acts as one millisecond"
    );
    bench.advance(ms(1));
    let admitted: Vec<_> = (0..100)
        .filter_map(|_| bench.breaker.try_acquire().ok())
        .collect();
    assert_eq!(admitted.len(), 1);
    let error = given("").wait(Duration::ZERO).validate().unwrap_err();
    assert_eq!(ConfigError::field(&error), "wait");
}

/// A clock belongs to a registry, so no handle can have another one.
#[test]
fn ck_08_clocks_are_never_mixed() {
    let (slow, fast) = (TestClock::new(), TestClock::new());
    let registries = [Registry::with_clock(&slow), Registry::with_clock(&fast)];
    let [one, other] = registries.each_ref().map(|registry| {
        let breaker = registry.create("same.name", &given("")).unwrap();
        breaker.open().unwrap();
        breaker
    });
    fast.advance(s(10));
    let same = registries[0].get("same.name").unwrap();
    assert_eq!(same.snapshot().retry_after, Some(s(10)));
    assert!(!one.would_permit());
    assert!(other.would_permit());
}
