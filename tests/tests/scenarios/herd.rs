//! How many are admitted in HALF_OPEN.

use std::sync::atomic::{AtomicUsize, Ordering};

use cb_runtime::testing::{Handle, Scope};
use cb_runtime::{CircuitBreaker, Permit, State, circuit_breaker};

use crate::gang::{self, equal};
use crate::support::*;

/// Threads that ask at the same moment and hold what they were given.
fn admitted_at_once(threads: usize, probes: usize) {
    let bench = bench(&format!("W=10 M={probes} P={probes}"));
    let admitted = AtomicUsize::new(0);
    gang::rounds(
        threads,
        rounds(),
        |_| {
            bench.breaker.reset();
            bench.breaker.open().unwrap();
            bench.advance(s(10));
            admitted.store(0, Ordering::SeqCst);
        },
        |_, _| {
            let clone = bench.breaker.clone();
            let permit = clone.try_acquire_owned().ok();
            admitted.fetch_add(usize::from(permit.is_some()), Ordering::SeqCst);
            permit
        },
        |_| {
            equal("admitted", admitted.load(Ordering::SeqCst), probes)?;
            equal("state", bench.state(), State::HalfOpen)
        },
    );
}

#[test]
fn th_01_one_of_many_at_once_is_the_probe() {
    admitted_at_once(50, 1);
}

#[test]
fn th_02_clones_share_the_permits() {
    admitted_at_once(20, 2);

    let scope = Scope::new();
    until_probe(&scope, "async.two", |answer| {
        now(guarded_two(async { answer }))
    });
    let (sender, receiver) = tokio::sync::watch::channel(false);
    let mut tasks: Vec<_> = (0..20)
        .map(|_| {
            let mut end = receiver.clone();
            Box::pin(guarded_two(async move {
                end.wait_for(|end| *end).await.unwrap();
                Ok(1)
            }))
        })
        .collect();
    let started: Vec<_> = tasks.iter_mut().map(|task| poll(task.as_mut())).collect();
    assert_eq!(started.iter().filter(|task| task.is_pending()).count(), 2);
    // So many in a stay, not so many at a time: the end of one lets no third one in.
    sender.send(true).unwrap();
    assert!(poll(tasks[0].as_mut()).is_ready());
    assert!(refused(&now(guarded_two(async { Ok(1) }))));
    assert!(poll(tasks[1].as_mut()).is_ready());
    assert_eq!(scope.breaker("async.two").state(), State::Closed);
}

#[test]
fn th_03_exactly_so_many_are_admitted_and_close() {
    let bench = bench("W=10 M=3 P=3");
    bench.until_probe();
    let probes: Vec<_> = (0..3).map(|_| bench.permit()).collect();
    let _ = bench.rejection();
    for (done, probe) in probes.into_iter().enumerate() {
        assert_eq!(bench.state(), State::HalfOpen, "after {done}");
        probe.success();
    }
    assert_eq!(bench.state(), State::Closed);
}

#[test]
fn th_04_permits_that_come_back_never_exceed_the_limit() {
    let bench = bench("M=2 P=2");
    let mut old: Vec<_> = (0..3).map(|_| bench.permit()).collect();
    bench.until_probe();
    let (first, _second) = (bench.permit(), bench.permit());
    drop(first);
    let _third = bench.permit();
    let _ = bench.rejection();
    drop(old.pop());
    old.pop().unwrap().ignore();
    old.pop().unwrap().success();
    let _ = bench.rejection();
    assert_eq!(bench.in_flight(), Some(2));
    assert_eq!(bench.state(), State::HalfOpen);
}

/// The function that runs while everybody else asks.
#[circuit_breaker(
    name = "every.way",
    window = 4,
    min_calls = 2,
    half_open_calls = 1,
    half_open_max_wait = off
)]
fn by_attribute(body: impl FnOnce()) -> Answer<()> {
    body();
    Ok(())
}

#[circuit_breaker(name = "every.way")]
async fn by_async_attribute(body: impl FnOnce()) -> Answer<()> {
    body();
    Ok(())
}

/// Asks in one of the ways there are; the admitted one calls `body`.
fn ask(way: usize, handle: &Handle, breaker: &CircuitBreaker, body: impl FnOnce()) -> bool {
    let _entered = handle.enter();
    let with = |permit: Permit<'_>, body: Box<dyn FnOnce() + '_>| {
        body();
        permit.success();
    };
    match way % 6 {
        0 => by_attribute(body).is_ok(),
        1 => now(by_async_attribute(body)).is_ok(),
        2 => breaker
            .call(|| {
                body();
                Ok::<(), ()>(())
            })
            .is_ok(),
        3 => now(breaker.call_async(async {
            body();
            Ok::<(), ()>(())
        }))
        .is_ok(),
        4 => breaker
            .try_acquire()
            .map(|permit| with(permit, Box::new(body)))
            .is_ok(),
        _ => breaker
            .try_acquire_owned()
            .map(|permit| with(permit, Box::new(body)))
            .is_ok(),
    }
}

#[test]
fn th_05_every_way_in_obeys_the_same_limit() {
    const ASKING: usize = 60;
    let scope = Scope::new();
    let (handle, breaker) = (scope.handle(), scope.breaker("every.way"));
    let (asked, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    gang::rounds(
        ASKING,
        rounds() / 4,
        |_| {
            breaker.reset();
            breaker.open().unwrap();
            scope.clock().advance(s(10));
            asked.store(0, Ordering::SeqCst);
            admitted.store(0, Ordering::SeqCst);
        },
        |number, _| {
            let ran = ask(number, &handle, &breaker, || {
                asked.fetch_add(1, Ordering::SeqCst);
                while asked.load(Ordering::SeqCst) < ASKING {
                    std::thread::yield_now();
                }
            });
            if ran {
                admitted.fetch_add(1, Ordering::SeqCst);
            } else {
                asked.fetch_add(1, Ordering::SeqCst);
            }
        },
        |_| equal("admitted", admitted.load(Ordering::SeqCst), 1),
    );
}

#[test]
fn th_06_a_hanging_downstream_gets_only_the_probes() {
    let scope = Scope::new();
    let breaker = scope
        .registry()
        .create("hanging", &given("W=10 M=3 P=3"))
        .unwrap();
    breaker.open().unwrap();
    scope.clock().advance(s(10));
    let mut running = Vec::new();
    for _ in 0..1000 {
        let mut call = Box::pin(breaker.call_async(std::future::pending::<Answer>()));
        if poll(call.as_mut()).is_pending() {
            running.push(call);
        }
        scope.clock().advance(ms(30));
    }
    assert_eq!(running.len(), 3);
    assert_eq!(breaker.snapshot().not_permitted_total, 997);
}
