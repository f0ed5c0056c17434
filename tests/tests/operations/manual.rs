//! Manual operations: what each does in each state.

use cb_runtime::{Config, IllegalTransition, Interest, Mode, Reason, State, Window};
use cb_tests::harness::{Bench, s};

use State::{Closed, Disabled, ForcedOpen, HalfOpen, MetricsOnly, Open};

const STATES: [State; 6] = [Closed, Open, HalfOpen, ForcedOpen, Disabled, MetricsOnly];

fn config() -> Config {
    Config::new()
        .window(Window::Calls(2))
        .min_calls(2)
        .half_open_calls(2)
}

fn go(bench: &Bench, to: State) -> Result<(), IllegalTransition> {
    let breaker = &bench.breaker;
    match to {
        Open => return breaker.open(),
        HalfOpen => return breaker.half_open(),
        Closed => breaker.close(),
        ForcedOpen => breaker.force_open(),
        Disabled => breaker.disable(),
        _ => breaker.metrics_only(),
    }
    Ok(())
}

/// A breaker brought to the state by hand, through states that allow it.
fn in_state(state: State) -> Bench {
    let bench = Bench::new(&config());
    if state == HalfOpen {
        bench.breaker.open().expect("legal");
    }
    if state != Closed {
        go(&bench, state).expect("legal");
    }
    assert_eq!(bench.breaker.state(), state);
    bench
}

#[test]
fn every_transition_is_legal_but_three() {
    for from in STATES {
        for to in STATES {
            let bench = in_state(from);
            let log = bench.log(Interest::ALL);
            let before = bench.breaker.snapshot();
            let illegal = matches!(
                (from, to),
                (Closed, HalfOpen) | (MetricsOnly, Open | HalfOpen)
            );
            match go(&bench, to) {
                Ok(()) => {
                    assert!(!illegal, "{from} to {to} is accepted");
                    assert_eq!(bench.breaker.state(), to);
                    let changes = if from == to {
                        vec![]
                    } else {
                        vec![format!("{from}->{to}")]
                    };
                    assert_eq!(log.names(), changes);
                    assert!(bench.breaker.snapshot().generation > before.generation);
                }
                Err(refused) => {
                    assert!(illegal, "{from} to {to} is refused");
                    assert_eq!((refused.from_state(), refused.to_state()), (from, to));
                    assert_eq!(
                        bench.breaker.snapshot(),
                        before,
                        "{from} to {to} has an effect"
                    );
                    assert_eq!(log.names(), [""; 0]);
                }
            }
        }
    }
}

#[test]
fn open_for_is_legal_where_open_is() {
    for from in STATES {
        let bench = in_state(from);
        let legal = bench.breaker.open_for(s(77)).is_ok();
        assert_eq!(legal, from != MetricsOnly, "from {from}");
        if legal {
            assert_eq!(bench.breaker.snapshot().retry_after, Some(s(77)));
        }
    }
}

#[test]
fn reset_goes_back_to_the_beginning_from_everywhere() {
    for from in STATES {
        let bench = in_state(from);
        let log = bench.log(Interest::ALL);
        bench.breaker.reset();
        let transition = (from != Closed).then(|| format!("{from}->CLOSED"));
        let expected: Vec<_> = transition.into_iter().chain(["RESET".to_owned()]).collect();
        assert_eq!(log.names(), expected);
        let snapshot = bench.breaker.snapshot();
        assert_eq!(
            (snapshot.state, snapshot.calls, snapshot.attempt),
            (Closed, 0, 0)
        );
        assert_eq!(snapshot.not_permitted, 0);
    }
}

#[test]
fn the_refusal_says_what_to_do() {
    let message = in_state(Closed)
        .breaker
        .half_open()
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("CLOSED") && message.contains("HALF_OPEN"),
        "{message}"
    );
    assert!(message.contains("open it first"), "{message}");
    let message = in_state(MetricsOnly)
        .breaker
        .open()
        .unwrap_err()
        .to_string();
    assert!(message.contains("close it first"), "{message}");
}

#[test]
fn the_same_state_again_begins_afresh() {
    let bench = in_state(Closed);
    bench.fail(1);
    bench.breaker.close();
    assert_eq!(bench.breaker.snapshot().calls, 0);
    bench.fail(1);
    assert_eq!(bench.breaker.state(), Closed);

    let bench = in_state(HalfOpen);
    let _probes = [bench.permit(), bench.permit()];
    assert_eq!(bench.rejection().reason(), Reason::HalfOpenFull);
    bench.breaker.half_open().expect("legal");
    assert_eq!(bench.breaker.snapshot().not_permitted, 0);
    let _again = [bench.permit(), bench.permit()];
    assert_eq!(bench.rejection().reason(), Reason::HalfOpenFull);
}

#[test]
fn open_again_begins_the_wait_anew_and_keeps_the_figures() {
    let bench = in_state(Closed);
    bench.fail(2);
    let _ = bench.rejection();
    bench.advance(s(9));
    bench.breaker.open().expect("legal");
    let snapshot = bench.breaker.snapshot();
    assert_eq!(
        (snapshot.calls, snapshot.failed, snapshot.not_permitted),
        (2, 2, 1)
    );
    assert_eq!(snapshot.failure_rate, Some(100.0));
    assert_eq!(bench.rejection().retry_after(), Some(s(10)));
}

#[test]
fn figures_go_along_into_open_only() {
    let bench = in_state(Closed);
    bench.fail(1);
    bench.breaker.open().expect("legal");
    assert_eq!(bench.breaker.snapshot().failed, 1);

    let bench = in_state(ForcedOpen);
    let _ = bench.rejection();
    bench.breaker.open().expect("legal");
    assert_eq!(bench.breaker.snapshot().not_permitted, 1);
    bench.breaker.force_open();
    assert_eq!(bench.breaker.snapshot().not_permitted, 0);
}

#[test]
fn forced_open_rejects_for_ever() {
    let bench = in_state(ForcedOpen);
    bench.advance(s(400 * 86_400));
    let rejection = bench.rejection();
    assert_eq!(
        (rejection.reason(), rejection.retry_after()),
        (Reason::ForcedOpen, None)
    );
    assert!(!bench.breaker.would_permit());
    bench.breaker.close();
    bench.succeed(1);
}

#[test]
fn disabled_permits_and_records_nothing() {
    let bench = in_state(Disabled);
    bench.fail(50);
    assert_eq!(
        (bench.breaker.state(), bench.breaker.snapshot().calls),
        (Disabled, 0)
    );
}

#[test]
fn metrics_only_records_and_permits() {
    let bench = in_state(MetricsOnly);
    bench.fail(50);
    let snapshot = bench.breaker.snapshot();
    assert_eq!(
        (snapshot.state, snapshot.calls, snapshot.failed),
        (MetricsOnly, 2, 2)
    );
    assert_eq!(snapshot.failure_rate, Some(100.0));
}

#[test]
fn the_mode_is_the_first_state() {
    for (mode, state) in [
        (Mode::Enabled, Closed),
        (Mode::MetricsOnly, MetricsOnly),
        (Mode::Disabled, Disabled),
        (Mode::ForcedOpen, ForcedOpen),
    ] {
        let bench = Bench::new(&config().mode(mode));
        assert_eq!(bench.breaker.state(), state);
        // It never applies again.
        bench.breaker.reset();
        assert_eq!(bench.breaker.state(), Closed);
    }
}
