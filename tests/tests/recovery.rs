//! How a breaker recovers: each rule about waits and probes, by the attribute, on a test clock.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::cell::Cell;
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, Cause, CircuitBreaker, EventKind, Interest, Reason, State, circuit_breaker,
};

type Error = CallError<&'static str>;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn s(seconds: u64) -> Duration {
    ms(1000 * seconds)
}

fn answer(up: bool) -> Result<(), Error> {
    if up {
        Ok(())
    } else {
        Err(CallError::Failed("down"))
    }
}

fn reason<T: std::fmt::Debug>(result: Result<T, Error>) -> (Reason, Option<Duration>) {
    match result {
        Err(CallError::NotPermitted(rejection)) => (rejection.reason(), rejection.retry_after()),
        other => panic!("{other:?}"),
    }
}

/// A scope and one breaker in it, opened by failures of `call`.
struct Rig {
    scope: Scope,
    breaker: CircuitBreaker,
    call: fn(bool) -> Result<(), Error>,
}

impl Rig {
    fn new(name: &str, call: fn(bool) -> Result<(), Error>) -> Self {
        let scope = Scope::new();
        let breaker = scope.breaker(name);
        Self {
            scope,
            breaker,
            call,
        }
    }

    /// `o` succeeds, `x` fails.
    fn calls(&self, outcomes: &str) {
        for outcome in outcomes.chars() {
            let _ = (self.call)(outcome == 'o');
        }
    }

    fn pass(&self, time: Duration) {
        self.scope.clock().advance(time);
    }

    fn wait(&self) -> Duration {
        self.breaker.snapshot().wait.unwrap()
    }

    #[track_caller]
    fn is(&self, state: State) {
        assert_eq!(self.breaker.state(), state, "{}", self.breaker.explain());
    }

    /// Opens it by two failures and lets the wait pass.
    fn open_and_wait(&self) {
        self.calls("xx");
        self.is(State::Open);
        self.pass(s(10));
    }

    fn says(&self, phrase: &str) {
        let text = self.breaker.explain().to_string();
        assert!(text.contains(phrase), "{phrase:?} is not in:\n{text}");
    }
}

#[circuit_breaker(name = "successes", window = 2, half_open_successes = 2)]
fn successes(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_successes_close_at_once_or_open_in_the_end() {
    let rig = Rig::new("successes", successes);
    rig.open_and_wait();
    rig.calls("oxo");
    rig.is(State::HalfOpen);
    rig.says("half_open_successes: 1 good one in a row; 2 close it at once");
    rig.calls("o");
    rig.is(State::Closed);

    rig.open_and_wait();
    rig.calls("oxoxx");
    rig.is(State::Open);
    rig.says("2 of 5 probes were good, never 2 in a row (`half_open_successes`)");
}

#[circuit_breaker(name = "success_rate", window = 2, half_open_success_rate = 80)]
fn success_rate(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_success_rate_decides_when_all_are_in() {
    let rig = Rig::new("success_rate", success_rate);
    rig.open_and_wait();
    rig.calls("xooo");
    rig.is(State::HalfOpen);
    rig.says("It closes if 80% of them are good, else it opens again");
    rig.calls("o");
    rig.is(State::Closed);
    rig.open_and_wait();
    rig.calls("xooox");
    rig.is(State::Open);
    rig.says("3 of 5 probes were good (60%), `half_open_success_rate` is 80%");
}

#[circuit_breaker(
    name = "failures",
    window = 2,
    half_open_failures = 1,
    half_open_calls = 3
)]
fn failures(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_failures_are_a_veto() {
    let rig = Rig::new("failures", failures);
    rig.open_and_wait();
    rig.calls("oo");
    rig.is(State::HalfOpen);
    rig.says("half_open_failures: 0 of them failed; 1 opens it again at once");
    rig.calls("x");
    rig.is(State::Open);
    rig.says("1 probe failed, `half_open_failures` is 1");
    rig.pass(s(10));
    rig.calls("ooo");
    rig.is(State::Closed);
}

#[circuit_breaker(
    name = "failure_window",
    window = 2,
    half_open_failures = 2,
    half_open_calls = 3,
    half_open_failure_window = "2s"
)]
fn failure_window(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn forgotten_failures_give_their_permits_back() {
    let rig = Rig::new("failure_window", failure_window);
    rig.open_and_wait();
    rig.calls("xo");
    rig.pass(ms(1999));
    assert_eq!(rig.breaker.snapshot().failed, 1);
    rig.pass(ms(1));
    let snapshot = rig.breaker.snapshot();
    assert_eq!((snapshot.failed, snapshot.calls), (0, 1));
    assert_eq!(snapshot.probes.unwrap().returned, 1);
    // The second failure is the first that is remembered, and there are three permits again.
    rig.calls("x");
    rig.is(State::HalfOpen);
    rig.pass(s(2));
    rig.calls("oo");
    rig.is(State::Closed);

    rig.open_and_wait();
    rig.calls("x");
    rig.pass(ms(1999));
    rig.calls("x");
    rig.is(State::Open);
}

#[circuit_breaker(
    name = "failure_rate",
    window = 4,
    half_open_failure_rate = 25,
    half_open_calls = 4
)]
fn failure_rate(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_failure_rate_is_of_its_own() {
    let rig = Rig::new("failure_rate", failure_rate);
    rig.calls("ooox");
    rig.is(State::Closed);
    rig.calls("xx");
    rig.is(State::Open);
    rig.pass(s(10));
    rig.calls("ooox");
    rig.is(State::Open);
}

thread_local! {
    static TAKES: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static CLOCK: Cell<Option<TestClock>> = const { Cell::new(None) };
}

#[circuit_breaker(
    name = "slow_probes",
    window = 2,
    slow = "2s",
    half_open_slow = "500ms",
    half_open_calls = 2
)]
fn slow_probes(up: bool) -> Result<(), Error> {
    let clock = CLOCK.take().unwrap();
    clock.advance(TAKES.get());
    CLOCK.set(Some(clock));
    answer(up)
}

#[test]
fn half_open_slow_is_stricter() {
    let rig = Rig::new("slow_probes", slow_probes);
    CLOCK.set(Some(rig.scope.clock().clone()));
    TAKES.set(s(1));
    rig.calls("oooo");
    rig.is(State::Closed);
    rig.open_and_wait();
    rig.calls("oo");
    rig.is(State::Open);
    rig.pass(s(10));
    TAKES.set(ms(500));
    rig.calls("oo");
    rig.is(State::Closed);
}

#[circuit_breaker(
    name = "concurrency",
    window = 2,
    half_open_concurrency = 1,
    half_open_calls = 2
)]
fn concurrency(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_concurrency_bounds_probes_at_a_time() {
    let rig = Rig::new("concurrency", concurrency);
    rig.open_and_wait();
    let probe = rig.breaker.try_acquire().unwrap();
    assert!(!rig.breaker.would_permit());
    assert_eq!(reason(concurrency(true)), (Reason::HalfOpenFull, None));
    probe.success();
    assert!(rig.breaker.would_permit());
    rig.calls("o");
    rig.is(State::Closed);
}

#[circuit_breaker(
    name = "delay",
    window = 2,
    half_open_delay = "3s",
    half_open_max_wait = "20s"
)]
fn delay(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_delay_pauses_before_the_first_probe() {
    let rig = Rig::new("delay", delay);
    rig.open_and_wait();
    assert!(!rig.breaker.would_permit());
    assert_eq!(reason(delay(true)), (Reason::Pausing, Some(s(3))));
    rig.is(State::HalfOpen);
    rig.pass(ms(2999));
    assert_eq!(reason(delay(true)), (Reason::Pausing, Some(ms(1))));
    rig.says("It pauses: the first probe is let through in 1ms");
    rig.pass(ms(1));
    assert!(rig.breaker.would_permit());
    rig.calls("o");
    assert_eq!(rig.breaker.snapshot().probes.unwrap().returned, 1);
    // It counts towards the longest stay.
    rig.pass(ms(16_999));
    rig.is(State::HalfOpen);
    rig.pass(ms(1));
    rig.is(State::Closed);
}

#[circuit_breaker(
    name = "attempts",
    window = 2,
    half_open_calls = 1,
    half_open_attempts = 2,
    wait_max = "60s"
)]
fn attempts(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn half_open_attempts_give_way_to_the_longest_wait() {
    let rig = Rig::new("attempts", attempts);
    rig.open_and_wait();
    rig.calls("x");
    assert_eq!(rig.wait(), s(10), "one failed stay");
    rig.pass(s(10));
    rig.calls("x");
    assert_eq!(rig.wait(), s(60), "two in a row");
    rig.pass(s(60));
    rig.calls("o");
    rig.is(State::Closed);
    rig.calls("xx");
    assert_eq!(rig.wait(), s(10), "closing starts over");
}

#[circuit_breaker(
    name = "by_rate",
    window = 4,
    wait_by_failure_rate = true,
    wait_max = "110s"
)]
fn by_rate(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn the_sicker_the_longer_the_wait() {
    for (outcomes, wait) in [("ooxx", 10), ("oxxx", 60), ("xxxx", 110)] {
        let rig = Rig::new("by_rate", by_rate);
        rig.calls(outcomes);
        assert_eq!(rig.wait(), s(wait), "{outcomes}");
    }
}

#[circuit_breaker(
    name = "recover",
    window = 2,
    half_open_calls = 1,
    wait_multiplier = 2,
    wait_max = "10m",
    wait_recover = "60s"
)]
fn recover(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn wait_recover_forgets_openings_one_by_one() {
    let rig = Rig::new("recover", recover);
    rig.calls("xx");
    for wait in [10, 20, 40] {
        assert_eq!(rig.wait(), s(wait));
        rig.pass(s(wait));
        rig.calls("x");
    }
    assert_eq!(rig.wait(), s(80));
    rig.pass(s(80));
    rig.calls("o");
    rig.is(State::Closed);
    // Two of four openings are forgotten: the next is the third.
    rig.pass(s(120));
    rig.calls("xx");
    assert_eq!(rig.wait(), s(40));
    // By hand, all are.
    rig.breaker.close();
    rig.calls("xx");
    assert_eq!(rig.wait(), s(10));
}

#[circuit_breaker(name = "jitter", window = 2, wait_jitter = 20)]
fn jitter(up: bool) -> Result<(), Error> {
    answer(up)
}

#[test]
fn jitter_spreads_the_waits_and_is_the_same_in_every_scope() {
    let waits = || {
        let rig = Rig::new("jitter", jitter);
        let mut waits = Vec::new();
        for _ in 0..200 {
            rig.breaker.close();
            rig.calls("xx");
            waits.push(rig.wait());
        }
        waits
    };
    let first = waits();
    assert_eq!(first, waits());
    let (shortest, longest) = (*first.iter().min().unwrap(), *first.iter().max().unwrap());
    assert!(
        shortest >= s(8) && longest <= s(12),
        "{shortest:?} to {longest:?}"
    );
    assert!(
        shortest < ms(8_400) && longest > ms(11_600),
        "{shortest:?} to {longest:?}"
    );
    // What a rejection says is what the clock does.
    let rig = Rig::new("jitter", jitter);
    rig.calls("xx");
    let rest = reason(jitter(true)).1.unwrap();
    rig.pass(rest - Duration::from_nanos(1));
    assert!(!rig.breaker.would_permit());
    rig.pass(Duration::from_nanos(1));
    assert!(rig.breaker.would_permit());
}

#[test]
fn causes_carry_the_figures_of_the_rule() {
    let rig = Rig::new("failures", failures);
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&heard);
    let _subscription = rig.breaker.subscribe(Interest::TRANSITIONS, move |event| {
        if let EventKind::Transition { cause, .. } = event.kind {
            log.lock().unwrap().push(cause);
        }
    });
    rig.open_and_wait();
    rig.calls("x");
    let last = heard.lock().unwrap().last().copied();
    assert_eq!(
        last,
        Some(Cause::ProbeFailures {
            failed: 1,
            limit: 1
        })
    );
}
