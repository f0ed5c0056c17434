//! The downstream is dead for a minute. With the defaults the breaker opens, however busy the
//! interface is and in whatever way the downstream is dead; and where it does not open, it says
//! why not.

use std::time::Duration;

use cb_runtime::{Config, OnCancel, Outcome, Permit, State};
use cb_tests::harness::{Bench, ms, s};

/// How a call ends, and after what time. `None`: the caller gives up and drops it.
#[derive(Clone, Copy)]
struct Dead {
    after: Duration,
    outcome: Option<Outcome>,
}

const REFUSED: Dead = Dead {
    after: Duration::ZERO,
    outcome: Some(Outcome::Failure),
};
const CLIENT_TIMEOUT: Dead = Dead {
    after: s(5),
    outcome: Some(Outcome::Failure),
};
const HANGS: Dead = Dead {
    after: s(5),
    outcome: None,
};
const SLOW_SUCCESS: Dead = Dead {
    after: s(3),
    outcome: Some(Outcome::Success),
};

/// A call every so many milliseconds for a minute: 0.2 to 100 calls a second.
const TRAFFIC: [u64; 7] = [5000, 2000, 1000, 500, 100, 20, 10];

/// Healthy traffic for a minute, then the downstream is dead for a minute. Says when in that
/// minute the breaker opened, and how many calls had been sent by then.
fn minute(
    bench: &Bench,
    every: Duration,
    dead: impl Fn(usize) -> Dead,
) -> Option<(Duration, usize)> {
    for _ in 0..s(60).as_millis() / every.as_millis() {
        bench.succeed(1);
        bench.advance(every);
    }
    let start = bench.clock.elapsed();
    let move_to = |time: Duration| bench.advance(start + time - bench.clock.elapsed());
    let mut running: Vec<Running<'_>> = Vec::new();
    let mut sent = 0;
    let mut next = Duration::ZERO;
    while next < s(60) {
        running.sort_by_key(|call| call.end);
        let over = running.iter().take_while(|call| call.end <= next).count();
        for call in running.drain(..over) {
            move_to(call.end);
            match call.outcome {
                Some(outcome) => call.permit.finish(outcome),
                None => drop(call.permit),
            }
            if bench.breaker.state() == State::Open {
                return Some((call.end, sent));
            }
        }
        move_to(next);
        let dead = dead(sent);
        running.push(Running {
            end: next + dead.after,
            permit: bench.permit(),
            outcome: dead.outcome,
        });
        sent += 1;
        next += every;
    }
    None
}

struct Running<'a> {
    end: Duration,
    permit: Permit<'a>,
    outcome: Option<Outcome>,
}

fn defaults() -> Bench {
    Bench::new(&Config::new())
}

/// The defaults and what only the user can know: how long is too long.
fn defaults_with_slow() -> Bench {
    Bench::new(&Config::new().slow(s(2)))
}

fn resilience4j() -> Bench {
    Bench::new(&Config::resilience4j())
}

#[test]
fn the_defaults_open_on_errors_at_any_traffic() {
    for every in TRAFFIC.map(ms) {
        for dead in [REFUSED, CLIENT_TIMEOUT] {
            let (at, sent) = minute(&defaults(), every, |_| dead).expect("opens");
            // Ten failures in a row are enough, so no traffic has to be busy.
            assert!(
                at <= dead.after + 9 * every,
                "a call every {every:?}: after {at:?}"
            );
            let in_flight = dead.after.as_millis() / every.as_millis();
            assert!(
                sent as u128 <= 10 + in_flight,
                "a call every {every:?}: {sent} calls"
            );
        }
    }
}

#[test]
fn resilience4js_defaults_do_not_open_at_low_traffic() {
    for every in TRAFFIC.map(ms) {
        for dead in [REFUSED, CLIENT_TIMEOUT] {
            let opened = minute(&resilience4j(), every, |_| dead);
            // The minimum is 100 calls, the healthy minute's included.
            let busy = every <= s(1);
            assert_eq!(opened.is_some(), busy, "a call every {every:?}: {opened:?}");
        }
    }
}

/// Calls that never return have no outcome; the callers give up. Each such call counts as slow.
#[test]
fn a_hang_opens_although_no_call_ever_returns() {
    for every in TRAFFIC.map(ms).into_iter().filter(|every| *every <= s(2)) {
        let (at, _) = minute(&defaults_with_slow(), every, |_| HANGS).expect("opens");
        assert!(at <= s(40), "a call every {every:?}: after {at:?}");
        assert_eq!(
            minute(&resilience4j(), every, |_| HANGS),
            None,
            "a call every {every:?}"
        );
    }
}

#[test]
fn slow_successes_open() {
    for every in TRAFFIC.map(ms).into_iter().filter(|every| *every <= s(2)) {
        let (at, _) = minute(&defaults_with_slow(), every, |_| SLOW_SUCCESS).expect("opens");
        assert!(at <= s(40), "a call every {every:?}: after {at:?}");
        assert_eq!(
            minute(&resilience4j(), every, |_| SLOW_SUCCESS),
            None,
            "every {every:?}"
        );
    }
}

/// Where calls are so rare that a window never holds the minimum, no rate is judged. Two settings
/// help, each on its own.
#[test]
fn a_rare_hang_opens_if_dropped_calls_are_failures_or_the_minimum_is_low() {
    let rare = s(5);
    assert_eq!(minute(&defaults_with_slow(), rare, |_| HANGS), None);
    let failures = Bench::new(&Config::new().on_cancel(OnCancel::Failure));
    assert!(minute(&failures, rare, |_| HANGS).is_some());
    let low = Config::new().slow(s(2)).min_calls(5);
    assert!(minute(&Bench::new(&low), rare, |_| HANGS).is_some());
    assert!(minute(&Bench::new(&low), rare, |_| SLOW_SUCCESS).is_some());
}

/// Answers such as "out of stock" come from somewhere else than the dead part. They hide nothing
/// if they are ignored; counted as successes, they would.
#[test]
fn business_errors_hide_nothing_when_ignored() {
    let two_of_three = |business: Outcome| {
        move |call: usize| match call % 3 {
            0 => REFUSED,
            _ => Dead {
                after: Duration::ZERO,
                outcome: Some(business),
            },
        }
    };
    for every in TRAFFIC.map(ms).into_iter().filter(|every| *every <= s(1)) {
        let opened = minute(&defaults(), every, two_of_three(Outcome::Ignored));
        let (at, _) = opened.expect("opens");
        assert!(at <= 28 * every, "a call every {every:?}: after {at:?}");
        assert_eq!(
            minute(&defaults(), every, two_of_three(Outcome::Success)),
            None
        );
    }
}

/// The reverse: no number of business errors opens a healthy interface.
#[test]
fn business_errors_alone_open_nothing() {
    let business = Dead {
        after: Duration::ZERO,
        outcome: Some(Outcome::Ignored),
    };
    for every in TRAFFIC.map(ms) {
        assert_eq!(
            minute(&defaults(), every, |_| business),
            None,
            "a call every {every:?}"
        );
    }
}

fn explanation(bench: &Bench) -> String {
    bench.breaker.explain().to_string()
}

#[track_caller]
fn says(bench: &Bench, words: &[&str]) {
    let text = explanation(bench);
    for word in words {
        assert!(text.contains(word), "{word:?} is not said in:\n{text}");
    }
}

#[test]
fn a_breaker_that_stayed_closed_says_why() {
    // Every call of the minute failed, and nothing happened.
    let bench = resilience4j();
    bench.fail(12);
    assert_eq!(bench.breaker.state(), State::Closed);
    says(
        &bench,
        &[
            "CLOSED",
            "min_calls",
            "100",
            "12 recorded calls",
            "12 of them failed",
        ],
    );
    says(&bench, &["`consecutive_failures` is off"]);

    // The rate is judged and too low; nobody has said what a slow call is.
    let bench = defaults();
    bench.succeed(8);
    bench.fail(4);
    says(
        &bench,
        &["failure_rate", "4 of 12", "33.33%", "50%", "`slow` is off"],
    );
    says(
        &bench,
        &["consecutive_failures: 4 in a row; 10 would open it"],
    );

    // Everything was classified as a business answer.
    let bench = defaults();
    bench.calls(30, Outcome::Ignored);
    says(
        &bench,
        &[
            "min_calls",
            "0 recorded calls",
            "Ignored calls, which count nowhere: 30",
        ],
    );

    // Calls hang and nobody drops them.
    let bench = defaults_with_slow();
    let _hanging: Vec<_> = (0..30).map(|_| bench.permit()).collect();
    bench.advance(s(60));
    says(&bench, &["min_calls", "0 recorded calls"]);

    // Slow ones, but too few.
    bench.succeed(9);
    bench.call_for(s(3), Outcome::Success);
    says(
        &bench,
        &["slow_rate", "1 of 10", "longer than 2s", "10%", "50%"],
    );
}

#[test]
fn a_breaker_that_opened_says_why_and_until_when() {
    let bench = defaults();
    bench.fail(10);
    let _ = (bench.rejection(), bench.rejection());
    bench.advance(s(4));
    says(
        &bench,
        &[
            "OPEN for 4s",
            "10 of 10 calls failed",
            "`failure_rate` is 50%",
        ],
    );
    says(
        &bench,
        &[
            "in 6s or later is a probe",
            "wait 10s",
            "2 calls rejected so far",
        ],
    );
    bench.advance(s(6));
    says(&bench, &["wait of 10s is over", "next call"]);
    let probe = bench.permit();
    says(
        &bench,
        &[
            "HALF_OPEN",
            "0 of 5 probes returned",
            "1 is under way",
            "5 decide",
        ],
    );
    says(&bench, &["half_open_max_wait", "In 30s"]);
    probe.success();
    says(&bench, &["1 of 5 probes returned"]);
    bench.breaker.force_open();
    says(&bench, &["FORCED_OPEN", "by hand"]);
    bench.breaker.disable();
    says(&bench, &["DISABLED", "records none"]);
    bench.breaker.metrics_only();
    says(&bench, &["METRICS_ONLY", "never rejects"]);
}
