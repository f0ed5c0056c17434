//! HALF_OPEN: who may probe, and who decides.

use std::time::Duration;

use cb_runtime::{Config, MaxWaitState, OnCancel, Outcome, Reason, State, Window};
use cb_tests::harness::{Bench, NANO, s};

fn config(probes: u32) -> Config {
    Config::new()
        .window(Window::Calls(100))
        .min_calls(100)
        .consecutive_failures(1)
        .half_open_calls(probes)
}

/// Opened by one failure, and the wait is over.
fn after_wait(config: &Config) -> Bench {
    let bench = Bench::new(config);
    bench.fail(1);
    bench.advance(s(10));
    bench
}

#[test]
fn so_many_probes_are_permitted_and_no_more() {
    let bench = after_wait(&config(10));
    let _probes: Vec<_> = (0..10).map(|_| bench.permit()).collect();
    for _ in 0..5 {
        assert!(!bench.breaker.would_permit());
        let rejection = bench.rejection();
        assert_eq!(
            (rejection.reason(), rejection.retry_after()),
            (Reason::HalfOpenFull, None)
        );
    }
    let probes = bench.breaker.snapshot().probes.expect("HALF_OPEN");
    assert_eq!(
        (probes.permitted, probes.in_flight, probes.returned),
        (10, 10, 0)
    );
}

/// A probe that returned has had its turn; its permit is not given out again.
#[test]
fn a_finished_probe_keeps_its_permit() {
    let bench = after_wait(&config(2));
    bench.succeed(1);
    let second = bench.permit();
    let _ = bench.rejection();
    second.success();
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn the_rate_decides_when_all_probes_are_in() {
    for (failures, state) in [(4, State::Closed), (5, State::Open), (6, State::Open)] {
        let bench = after_wait(&config(10));
        bench.fail(failures);
        assert_eq!(bench.breaker.state(), State::HalfOpen);
        bench.succeed(10 - failures);
        assert_eq!(bench.breaker.state(), state, "{failures} of 10 failed");
    }
}

/// Neither the window nor its minimum is of any importance, unless that is smaller.
#[test]
fn the_smaller_of_minimum_and_probes_decides() {
    let bench = after_wait(&config(1));
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Closed);

    let bench = after_wait(&config(5).min_calls(2));
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::HalfOpen);
    assert_eq!(
        bench.breaker.snapshot().probes.expect("HALF_OPEN").deciding,
        2
    );
    bench.succeed(1);
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn slow_probes_open_again() {
    let bench = after_wait(&config(2).slow(s(1)));
    bench.succeed(1);
    bench.call_for(s(2), Outcome::Success);
    assert_eq!(bench.breaker.state(), State::Open);
}

#[test]
fn ignored_and_dropped_probes_give_their_permit_back() {
    let bench = after_wait(
        &config(2)
            .on_cancel(OnCancel::Ignore)
            .half_open_max_wait_off(),
    );
    for _ in 0..20 {
        bench.calls(1, Outcome::Ignored);
        drop(bench.permit());
    }
    let (first, second) = (bench.permit(), bench.permit());
    let _ = bench.rejection();
    drop(first);
    let third = bench.permit();
    let _ = bench.rejection();
    second.success();
    assert_eq!(bench.breaker.state(), State::HalfOpen);
    third.success();
    assert_eq!(bench.breaker.state(), State::Closed);
}

/// A probe that hung past the slow limit is an answer, also if nobody waited for it.
#[test]
fn a_probe_dropped_after_the_slow_limit_counts() {
    let bench = after_wait(&config(1).slow(s(1)));
    let probe = bench.permit();
    bench.advance(s(2));
    drop(probe);
    assert_eq!(bench.breaker.state(), State::Open);
}

#[test]
fn asking_takes_nothing() {
    let bench = after_wait(&config(1));
    for _ in 0..5 {
        assert!(bench.breaker.would_permit());
        let _ = (
            bench.breaker.state(),
            bench.breaker.snapshot(),
            bench.breaker.explain(),
        );
    }
    let probe = bench.permit();
    assert!(!bench.breaker.would_permit());
    drop(probe);
    assert!(bench.breaker.would_permit());
}

/// Probes that never return cannot hold the breaker for ever.
#[test]
fn the_longest_stay_ends_in_the_state_that_is_set() {
    let ends = |state: MaxWaitState, success: u32, failures: u32| {
        let bench = after_wait(
            &config(5)
                .half_open_max_wait_state(state)
                .half_open_max_wait(s(7)),
        );
        let _hanging = bench.permit();
        bench.succeed(success);
        bench.fail(failures);
        bench.advance(s(7) - NANO);
        assert_eq!(bench.breaker.state(), State::HalfOpen);
        bench.advance(NANO);
        bench.breaker.state()
    };
    for (success, failures) in [(0, 0), (1, 0), (0, 1), (2, 1)] {
        assert_eq!(ends(MaxWaitState::Open, success, failures), State::Open);
        assert_eq!(ends(MaxWaitState::Closed, success, failures), State::Closed);
    }
    // Those that returned decide; if none did, there is no reason to close.
    assert_eq!(ends(MaxWaitState::Decide, 0, 0), State::Open);
    assert_eq!(ends(MaxWaitState::Decide, 1, 0), State::Closed);
    assert_eq!(ends(MaxWaitState::Decide, 2, 1), State::Closed);
    assert_eq!(ends(MaxWaitState::Decide, 1, 1), State::Open);
    assert_eq!(ends(MaxWaitState::Decide, 0, 1), State::Open);
}

/// The default: a quiet, healthy interface closes although it never has five probes in time.
#[test]
fn a_quiet_healthy_interface_closes() {
    let bench = after_wait(&config(5));
    bench.succeed(1);
    bench.advance(s(30));
    assert_eq!(bench.breaker.state(), State::Closed);
}

#[test]
fn without_a_longest_stay_it_lasts() {
    let bench = after_wait(&config(1).half_open_max_wait_off());
    let probe = bench.permit();
    bench.advance(Duration::from_secs(365 * 86_400));
    let _ = bench.rejection();
    probe.success();
    assert_eq!(bench.breaker.state(), State::Closed);
}

/// The longest stay is counted from the transition, not from the last probe.
#[test]
fn probes_do_not_prolong_the_stay() {
    let bench = after_wait(&config(100).half_open_max_wait_state(MaxWaitState::Open));
    for _ in 0..6 {
        bench.succeed(1);
        bench.advance(s(5));
    }
    assert_eq!(bench.breaker.state(), State::Open);
}

#[test]
fn when_the_probes_decide_the_limit_is_forgotten() {
    let bench = after_wait(&config(1));
    bench.advance(s(1));
    bench.succeed(1);
    let log = bench.log(cb_runtime::Interest::ALL);
    bench.advance(s(86_400));
    assert_eq!(bench.breaker.state(), State::Closed);
    assert_eq!(log.names(), [""; 0]);
}

/// Rejections of a full stay take no lock, and so do not look at all that is due. They must not keep it
/// from happening.
#[test]
fn a_full_stay_that_rejects_ends_when_it_is_due() {
    for (limit, state) in [
        (MaxWaitState::Open, State::Open),
        (MaxWaitState::Closed, State::Closed),
    ] {
        let bench = after_wait(
            &config(1)
                .half_open_max_wait(s(30))
                .half_open_max_wait_state(limit),
        );
        let _hangs = bench.permit();
        let _ = (bench.rejection(), bench.rejection());
        bench.advance(s(30) - NANO);
        assert_eq!(bench.rejection().reason(), Reason::HalfOpenFull);
        bench.advance(NANO);
        let admitted = bench.breaker.try_acquire().is_ok();
        assert_eq!(
            (bench.breaker.state(), admitted),
            (state, state == State::Closed)
        );
    }
}

#[test]
fn a_full_stay_that_rejects_admits_again_once_a_failure_is_forgotten() {
    let bench = after_wait(
        &config(2)
            .half_open_failures(2)
            .half_open_failure_window(s(5))
            .half_open_max_wait_off(),
    );
    bench.fail(1);
    let _under_way = bench.permit();
    let _ = (bench.rejection(), bench.rejection());
    bench.advance(s(5) - NANO);
    let _ = bench.rejection();
    bench.advance(NANO);
    drop(bench.permit());
}

#[test]
fn a_full_stay_that_rejects_admits_at_once_what_somebody_makes_room_for() {
    let full = || {
        let bench = after_wait(&config(3).half_open_concurrency(1));
        let probe = bench.breaker.try_acquire_owned().expect("the wait is over");
        let _ = (bench.rejection(), bench.rejection());
        (bench, probe)
    };
    let (bench, probe) = full();
    probe.success();
    drop(bench.permit());

    let (bench, _probe) = full();
    bench.breaker.half_open().expect("legal");
    drop(bench.permit());

    let (bench, _probe) = full();
    bench.breaker.close();
    drop(bench.permit());

    // In OPEN and back again.
    let (bench, _probe) = full();
    bench.breaker.open().expect("legal");
    assert_eq!(bench.rejection().reason(), Reason::Open);
    bench.advance(s(10));
    drop(bench.permit());
}
