//! Slow calls and streams.

use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{Cause, EventKind, Interest, Outcome, State, circuit_breaker};

use crate::support::*;

#[circuit_breaker(
    name = "hangs.seen",
    window = 100,
    min_calls = 10,
    consecutive_failures = off,
    slow = "2s",
    count_running = true
)]
async fn seen() -> Answer {
    std::future::pending().await
}

#[circuit_breaker(
    name = "hangs.unseen",
    window = 100,
    min_calls = 10,
    consecutive_failures = off,
    slow = "2s",
    on_cancel = "ignore"
)]
async fn unseen() -> Answer {
    std::future::pending().await
}

#[test]
fn sl_01_calls_that_hang_can_count_before_they_return() {
    let scope = Scope::new();
    let [on, off] = ["hangs.seen", "hangs.unseen"].map(|name| scope.breaker(name));
    let calls: Vec<_> = (0..20)
        .map(|_| (hanging(seen()), hanging(unseen())))
        .collect();
    scope.clock().advance(s(2));
    let shown = on.snapshot();
    assert_eq!((shown.in_flight, shown.oldest), (Some(20), Some(s(2))));
    assert_eq!(
        (on.state(), off.state()),
        (State::Closed, State::Closed),
        "not longer than `slow`"
    );

    // To within a sixteenth of the limit.
    scope.clock().advance(ms(126));
    assert!(refused(&now(seen())));
    assert_eq!(on.state(), State::Open);
    drop(hanging(unseen()));
    assert_eq!(
        (off.state(), off.snapshot().calls),
        (State::Closed, 0),
        "a hang is invisible"
    );

    let before = on.snapshot();
    drop(calls);
    let after = on.snapshot();
    assert_eq!(
        (after.calls, after.slow),
        (before.calls, before.slow),
        "not a second time"
    );
    assert_eq!((after.late, after.attempt), (20, 1));
}

#[test]
fn sl_02_no_limit_is_too_long() {
    for limit in [5, 3600, 30 * 24 * 3600] {
        let bench = Bench::new(&given("W=4 M=4").slow(s(limit)));
        for _ in 0..4 {
            bench.call_for(s(limit + 1), Outcome::Success);
        }
        assert_eq!(bench.state(), State::Open, "{limit} s");
    }
}

#[test]
fn sl_03_slow_successes_open_it() {
    let bench = bench("W=4 M=4 S=1s");
    let log = bench.log(Interest::TRANSITIONS);
    for _ in 0..4 {
        // Slow is longer than the limit.
        bench.call_for(s(1), Outcome::Success);
    }
    assert_eq!(bench.breaker.snapshot().slow, 0);
    for _ in 0..2 {
        bench.call_for(s(1) + Duration::from_nanos(1), Outcome::Success);
    }
    assert_eq!(bench.state(), State::Open);
    let cause = log.take().into_iter().find_map(|event| match event.kind {
        EventKind::Transition { cause, .. } => Some(cause),
        _ => None,
    });
    assert!(
        matches!(
            cause,
            Some(Cause::SlowRate {
                slow: 2,
                calls: 4,
                ..
            })
        ),
        "{cause:?}"
    );
}

#[circuit_breaker(name = "stream", window = 4, min_calls = 2)]
async fn stream(items: usize) -> Answer<std::vec::IntoIter<u32>> {
    Ok(vec![1; items].into_iter())
}

/// The outcome is that of the function, which returns when the stream begins.
#[test]
fn sl_04_a_stream_has_one_outcome_when_it_is_returned() {
    let scope = Scope::new();
    let breaker = scope.breaker("stream");
    for (calls, taken) in [(1, 0), (2, 1), (3, 3)] {
        let mut items = now(stream(3)).unwrap();
        assert_eq!(breaker.snapshot().successful, calls);
        assert_eq!(items.by_ref().take(taken).count(), taken);
        drop(items);
        let now = breaker.snapshot();
        assert_eq!((now.calls, now.successful, now.late), (calls, calls, 0));
    }
}
