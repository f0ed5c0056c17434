//! What the scenarios share: settings in one line, a guarded function of each kind, threads.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, Config, Outcome, State, TimedOut, Window, circuit_breaker};
pub(crate) use cb_tests::harness::{Bench, ms, s};

/// How often what depends on chance is repeated; `CB_ROUNDS` says otherwise.
const ROUNDS: usize = 4000;

pub(crate) fn rounds() -> usize {
    std::env::var("CB_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number"))
}

/// Settings in the short words of the scenarios: W window (calls, or a time), B its buckets,
/// M minimum, T failure rate, C failures in a row, N failures in the window, O wait, X its growth
/// and MAX its cap, P probes, H longest half-open stay, S slow, TS slow rate. What is not given is
/// `W=4 M=2 T=50% O=10s P=1`, the rest off; with C or N alone no rate is judged.
pub(crate) fn given(words: &str) -> Config {
    let mut config = Config::new()
        .window(Window::Calls(4))
        .min_calls(2)
        .failure_rate(50.0)
        .consecutive_failures_off()
        .wait(s(10))
        .half_open_calls(1)
        .half_open_max_wait_off();
    if !words.contains("M=") && (words.contains("C=") || words.contains("N=")) {
        config = config.window(Window::Calls(1000)).min_calls(1000);
    }
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').expect(word);
        let number = || value.parse::<u32>().expect(word);
        let percent = || value.trim_end_matches('%').parse::<f64>().expect(word);
        config = match name {
            "W" if value.ends_with('s') => config.window(Window::Time(time(value))),
            "W" => config.window(Window::Calls(number())),
            "B" => config.buckets(number()),
            "M" => config.min_calls(number()),
            "T" => config.failure_rate(percent()),
            "C" => config.consecutive_failures(number()),
            "N" => config.failure_count(number()),
            "O" => config.wait(time(value)),
            "X" => config.wait_multiplier(percent()),
            "MAX" => config.wait_max(time(value)),
            "P" => config.half_open_calls(number()),
            "H" => config.half_open_max_wait(time(value)),
            "S" => config.slow(time(value)),
            "TS" => config.slow_rate(percent()),
            _ => panic!("{word}"),
        };
    }
    config
}

fn time(text: &str) -> Duration {
    let units = [("ns", 1), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let (unit, nanos) = units
        .into_iter()
        .find(|(unit, _)| text.ends_with(unit))
        .expect("a unit");
    let number: u64 = text.trim_end_matches(unit).parse().expect("a number");
    Duration::from_nanos(number * nanos)
}

/// A breaker with these settings, on a clock of its own.
pub(crate) fn bench(words: &str) -> Bench {
    Bench::new(&given(words))
}

/// What the scenarios do to a breaker.
pub(crate) trait Play {
    fn state(&self) -> State;
    /// Fails until it opens.
    fn trip(&self);
    /// Trips it and waits for as long as it says.
    fn until_probe(&self);
    fn ignored(&self, times: u32);
    /// The figures of the window: calls, failures.
    fn counts(&self) -> (u32, u32);
    fn in_flight(&self) -> Option<u32>;
}

impl Play for Bench {
    fn state(&self) -> State {
        self.breaker.state()
    }

    fn trip(&self) {
        for _ in 0..10_000 {
            self.fail(1);
            if self.state() == State::Open {
                return;
            }
        }
        panic!("never opened");
    }

    fn until_probe(&self) {
        self.trip();
        self.advance(self.breaker.snapshot().wait.expect("a wait that ends"));
    }

    fn ignored(&self, times: u32) {
        self.calls(times, Outcome::Ignored);
    }

    fn counts(&self) -> (u32, u32) {
        let now = self.breaker.snapshot();
        (now.calls, now.failed)
    }

    fn in_flight(&self) -> Option<u32> {
        self.breaker
            .snapshot()
            .probes
            .map(|probes| probes.in_flight)
    }
}

/// The error of the guarded functions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Api {
    Down,
    NotFound,
    Refused(CallNotPermitted),
    TimedOut(TimedOut),
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for Api {}

impl From<CallNotPermitted> for Api {
    fn from(rejection: CallNotPermitted) -> Self {
        Self::Refused(rejection)
    }
}

impl From<TimedOut> for Api {
    fn from(timeout: TimedOut) -> Self {
        Self::TimedOut(timeout)
    }
}

impl Api {
    pub(crate) fn refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

pub(crate) type Answer<T = u32> = Result<T, Api>;

pub(crate) const DOWN: Answer = Err(Api::Down);
pub(crate) const MISSING: Answer = Err(Api::NotFound);

/// Whether the call was rejected.
pub(crate) fn refused<T>(answer: &Answer<T>) -> bool {
    answer.as_ref().err().is_some_and(Api::refused)
}

/// Guarded with the usual settings; "not found" says nothing about the downstream.
#[circuit_breaker(
    name = "sync",
    window = 4,
    min_calls = 2,
    consecutive_failures = off,
    half_open_calls = 1,
    half_open_max_wait = off,
    ignore = Api::NotFound
)]
pub(crate) fn guarded(body: impl FnOnce() -> Answer) -> Answer {
    body()
}

/// The same, async.
#[circuit_breaker(
    name = "async",
    window = 4,
    min_calls = 2,
    consecutive_failures = off,
    half_open_calls = 1,
    half_open_max_wait = off,
    ignore = Api::NotFound
)]
pub(crate) async fn guarded_async<F: Future<Output = Answer>>(body: F) -> Answer {
    body.await
}

/// The same with two probes, both of which decide.
#[circuit_breaker(
    name = "async.two",
    window = 4,
    min_calls = 2,
    consecutive_failures = off,
    half_open_calls = 2,
    half_open_max_wait = off
)]
pub(crate) async fn guarded_two<F: Future<Output = Answer>>(body: F) -> Answer {
    body.await
}

/// Fails `call` until the named breaker opens, then waits for as long as it says.
pub(crate) fn until_probe(scope: &Scope, name: &str, mut call: impl FnMut(Answer) -> Answer) {
    for _ in 0..100 {
        assert_eq!(call(DOWN), DOWN);
        let now = scope.breaker(name).snapshot();
        if now.state == State::Open {
            scope.clock().advance(now.wait.expect("a wait that ends"));
            return;
        }
    }
    panic!("`{name}` never opened");
}

/// Runs a future that never has to wait.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match poll(pin!(future)) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future had to wait"),
    }
}

/// Polls once.
pub(crate) fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A call that hangs, polled once.
pub(crate) fn hanging<'a, T>(
    future: impl Future<Output = T> + 'a,
) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    let mut future: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(future);
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    future
}

/// Panics if `work` has not ended after a minute: it hangs.
pub(crate) fn watched<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    end.recv_timeout(s(60)).expect("hangs, or panicked")
}

/// Asserts that the compiler's message about a mistake of `tests/ui` says these words. That it is
/// the message is another test.
pub(crate) fn compile_error(mistake: &str, words: &str) {
    let path = format!("{}/tests/ui/{mistake}.stderr", env!("CARGO_MANIFEST_DIR"));
    let message = std::fs::read_to_string(&path).expect(&path);
    assert!(message.contains(words), "{mistake}: {message}");
}
