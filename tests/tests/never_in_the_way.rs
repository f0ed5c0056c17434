//! A breaker never panics in a caller, never waits for one, and never surprises by being looked at.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

use std::error::Error;
use std::future::Future;
use std::panic::catch_unwind;
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use cb_runtime::testing::{Scope, TestClock};
use cb_runtime::{
    CallError, CircuitBreaker, Config, ConflictKind, Interest, Mode, Registry, State, Window,
    circuit_breaker,
};

const YEAR: Duration = Duration::from_secs(365 * 86_400);

fn fail(breaker: &CircuitBreaker) {
    let _ = breaker.call(|| Err::<(), _>("down"));
}

#[circuit_breaker(name = "without.runtime", timeout = "5s")]
async fn yields_once() -> Result<(), CallError<()>> {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    Ok(())
}

/// Set for the process in which the next test runs again, with its standard error closed.
const CHILD: &str = "CB_TESTS_CLOSED_STDERR";

#[test]
fn warnings_need_no_standard_error() {
    if std::env::var_os(CHILD).is_some() {
        for _ in 0..3 {
            // A timeout without a runtime is warned of.
            let mut call = pin!(yields_once());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(call.as_mut().poll(&mut cx).is_pending());
            assert!(call.as_mut().poll(&mut cx).is_ready());
        }
        let registry = Registry::new();
        registry
            .create_from("a", "nowhere", &Config::new())
            .unwrap();
        assert_eq!(registry.conflicts().len(), 1);
        return;
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "warnings_need_no_standard_error"])
        .env(CHILD, "1")
        .stderr(writer)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

/// Polls its future whenever it is woken, on the spot, as some executors do.
struct Inline(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        if let Ok(mut future) = self.0.try_lock()
            && let Some(future) = future.as_mut()
        {
            let _ = future.as_mut().poll(&mut Context::from_waker(&waker));
        }
    }
}

#[test]
fn the_timers_waker_may_poll_at_once() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let registry = Registry::with_clock(TestClock::new());
        let breaker = registry.get_or_create("stock");
        let timer = Arc::new(Inline(Mutex::new(Some(Box::pin(registry.run_timer())))));
        Wake::wake(Arc::clone(&timer));
        breaker.force_open();
        breaker.close();
        done.send(()).unwrap();
    });
    // Far more than it takes; only a deadlock runs into it.
    assert!(
        is_done.recv_timeout(Duration::from_secs(60)).is_ok(),
        "it is stuck"
    );
}

#[test]
fn looking_at_it_with_debug_changes_nothing() {
    let clock = TestClock::new();
    let registry = Registry::with_clock(&clock);
    let breaker = registry
        .create("stock", &Config::new().auto_half_open(true))
        .unwrap();
    breaker.open().unwrap();
    let heard = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&heard);
    let _all = breaker.subscribe(Interest::ALL, move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    clock.advance(Duration::from_secs(11));
    let shown = format!("{breaker:?} {registry:?}");
    assert_eq!(heard.load(Ordering::SeqCst), 0, "{shown}");
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

#[test]
fn a_printed_chain_says_each_thing_once() {
    let breaker = Registry::new().get_or_create("stock");
    let chain = |error: &dyn Error| {
        let mut texts = vec![error.to_string()];
        let mut next = error.source();
        while let Some(error) = next {
            texts.push(error.to_string());
            next = error.source();
        }
        texts
    };
    let failed = breaker.call(|| "x".parse::<u8>()).unwrap_err();
    assert_eq!(
        chain(&failed),
        ["the call failed", "invalid digit found in string"]
    );
    breaker.force_open();
    let rejected = breaker.call(|| "1".parse::<u8>()).unwrap_err();
    assert_eq!(
        chain(&rejected),
        [
            "the call was not permitted",
            "circuit breaker `stock` is forced open"
        ]
    );
}

#[test]
fn figures_read_under_traffic_fit_together() {
    for window in [Window::Time(Duration::from_secs(30)), Window::Calls(50)] {
        let config = Config::new().window(window).slow(Duration::from_nanos(1));
        let registry = Registry::new();
        let breaker = registry
            .create("stock", &config.mode(Mode::MetricsOnly))
            .unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        fail(&breaker);
                        let _ = breaker.call(|| Ok::<_, ()>(()));
                    }
                });
            }
            for _ in 0..20_000 {
                let now = breaker.snapshot();
                assert!(now.slow_failed <= now.slow.min(now.failed), "{now:?}");
                if matches!(window, Window::Time(_)) {
                    assert!(now.failed.max(now.slow) <= now.calls, "{now:?}");
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let now = breaker.snapshot();
        assert_eq!(now.failed + now.successful, now.calls);
        assert!(now.slow <= now.calls && now.slow_failed <= now.failed);
    }
}

#[test]
fn whoever_asks_second_for_something_else_is_told() {
    for _ in 0..2_000 {
        let registry = Registry::new();
        let barrier = Barrier::new(2);
        std::thread::scope(|threads| {
            for min_calls in [3, 4] {
                let (registry, barrier) = (&registry, &barrier);
                threads.spawn(move || {
                    barrier.wait();
                    let config = Config::new().min_calls(min_calls);
                    registry.create("stock", &config).unwrap();
                });
            }
        });
        let conflicts = registry.conflicts();
        assert!(
            matches!(&conflicts[..], [one] if one.kind == ConflictKind::AlreadyMade),
            "{conflicts:?}"
        );
    }
}

#[test]
fn the_template_is_the_same_above_any_default() {
    let registry = Registry::new();
    let minute = Duration::from_secs(60);
    let default = Config::new()
        .window(Window::Time(minute))
        .buckets(12)
        .wait(minute / 60);
    registry
        .set_default(default.wait_multiplier(2.0).wait_max(minute / 2))
        .unwrap();
    let breaker = registry
        .create_from("stock", "resilience4j", &Config::new())
        .unwrap();
    for _ in 0..2 {
        breaker.open().unwrap();
        assert_eq!(breaker.snapshot().wait, Some(minute));
    }
    assert!(
        registry
            .create("rates", &Config::new().window(Window::Calls(50)))
            .is_ok()
    );
    assert!(registry.conflicts().is_empty());
}

#[circuit_breaker(name = "never.called")]
fn never_called() -> Result<(), CallError<()>> {
    Ok(())
}

#[test]
fn removing_agrees_with_getting() {
    let _ = never_called as fn() -> _;
    let scope = Scope::new();
    assert!(scope.registry().remove("never.called"));
    assert!(scope.registry().get("never.called").is_some());
    assert!(!scope.registry().remove("nobody"));
}

#[test]
fn a_breaker_as_old_as_clocks_go_still_recovers() {
    for age in [YEAR * 72, YEAR * 74, YEAR * 300, Duration::MAX] {
        let clock = TestClock::new();
        let breaker = Registry::with_clock(&clock).get_or_create("stock");
        clock.advance(age);
        (0..10).for_each(|_| fail(&breaker));
        assert_eq!(breaker.state(), State::Open);
        clock.advance(Duration::from_secs(10));
        assert!(breaker.would_permit(), "at {age:?}");
        assert!(breaker.call(|| Ok::<_, ()>(())).is_ok(), "at {age:?}");
    }
}

#[test]
fn the_call_that_ends_the_wait_is_admitted_however_short_the_stay() {
    let clock = TestClock::new();
    let config = Config::new().half_open_max_wait(Duration::from_millis(1));
    let breaker = Registry::with_clock(&clock)
        .create("stock", &config)
        .unwrap();
    breaker.open().unwrap();
    for _ in 0..5 {
        clock.advance(Duration::from_secs(60));
        let probe = breaker.try_acquire().unwrap();
        clock.advance(Duration::from_millis(2));
        probe.success();
        assert_eq!(breaker.state(), State::Open, "the probe came back too late");
    }
}

#[test]
fn waits_below_a_millisecond_grow_too() {
    let ms = Duration::from_millis;
    let config = Config::new()
        .wait(Duration::from_micros(300))
        .wait_multiplier(2.0);
    let breaker = Registry::new()
        .create("stock", &config.wait_max(ms(5)))
        .unwrap();
    let waits: Vec<_> = (0..5)
        .map(|_| {
            breaker.open().unwrap();
            breaker.snapshot().wait.unwrap()
        })
        .collect();
    assert_eq!(waits, [ms(1), ms(2), ms(4), ms(5), ms(5)]);
}

#[test]
fn a_dropped_call_leaves_nothing_asleep() {
    struct Counted(Arc<AtomicU32>);
    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let scope = Scope::new();
    let woken = Arc::new(AtomicU32::new(0));
    for _ in 0..100 {
        let task = Arc::new(Counted(Arc::clone(&woken)));
        let waker = Waker::from(Arc::clone(&task));
        let mut call = Box::pin(yields_once());
        assert!(
            call.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop((call, waker));
        assert_eq!(
            Arc::strong_count(&task),
            1,
            "the clock holds a task that is gone"
        );
    }
    // Each woke itself once.
    scope.clock().advance(Duration::from_secs(10));
    assert_eq!(woken.load(Ordering::SeqCst), 100);
}

#[test]
fn a_panic_in_a_caller_is_the_bodys_own() {
    let breaker = Registry::new().get_or_create("stock");
    let panic = catch_unwind(|| breaker.call(|| -> Result<(), ()> { panic!("of the body") }));
    let text = panic.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!(*text, "of the body");
    assert_eq!(breaker.snapshot().failed, 1);
}
