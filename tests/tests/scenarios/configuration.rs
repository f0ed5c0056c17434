//! Settings, their layers and their defaults.

use std::fmt::Write;
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{
    CircuitBreaker, Config, MaxWaitState, Mode, OnCancel, Outcome, Registry, State, Window,
    circuit_breaker,
};

use crate::support::*;

#[circuit_breaker(name = "layers.attribute", base = "instance", failure_rate = 70)]
fn layered() -> Answer {
    Ok(1)
}

fn chosen(breaker: &CircuitBreaker, setting: &str) -> String {
    let all = breaker.config();
    let one = all.iter().find(|one| one.setting == setting);
    one.unwrap_or_else(|| panic!("{setting} is not among {all:?}"))
        .value
        .clone()
}

#[test]
fn cf_01_a_layer_keeps_what_it_does_not_set() {
    let scope = Scope::new();
    let registry = scope.registry();
    registry
        .set_default(Config::new().wait(s(3)).failure_rate(60.0))
        .unwrap();
    registry
        .set_template("instance", Config::new().window(Window::Calls(50)))
        .unwrap();
    let plain = registry
        .create_from("plain", "instance", &Config::new())
        .unwrap();
    layered().unwrap();
    for (breaker, rate) in [(plain, "60.0"), (scope.breaker("layers.attribute"), "70.0")] {
        assert_eq!(chosen(&breaker, "failure_rate"), rate);
        assert_eq!(chosen(&breaker, "wait"), "3s");
        assert_eq!(chosen(&breaker, "window"), "50");
        breaker.open().unwrap();
        assert_eq!(breaker.snapshot().wait, Some(s(3)));
    }
}

#[circuit_breaker(name = "records.one", record = Api::Down, window = 4, min_calls = 2)]
fn records_one(answer: Answer) -> Answer {
    answer
}

#[test]
fn cf_03_a_function_says_what_it_records() {
    let scope = Scope::new();
    for _ in 0..10 {
        records_one(MISSING).unwrap_err();
    }
    assert_eq!(scope.breaker("records.one").state(), State::Closed);
    for _ in 0..2 {
        records_one(DOWN).unwrap_err();
    }
    assert_eq!(scope.breaker("records.one").state(), State::Open);
}

/// The default that a documentation's table gives for an argument.
fn documented(table: &str, argument: &str) -> String {
    let row = format!("| `{argument}` |");
    let line = table
        .lines()
        .find(|line| line.contains(&row))
        .expect(argument);
    let cells: Vec<_> = line.trim_start_matches(['/', ' ']).split(" | ").collect();
    // The builder's table has the default last.
    let of_builder = table.contains("| setting | range | default |");
    let cell = cells[if of_builder { cells.len() - 1 } else { 2 }];
    cell.trim_matches(['`', '"', '|', ' ']).to_owned()
}

/// Opens after so many failures in a row, with at most so many calls.
fn opens_after(config: &Config) -> Option<u32> {
    let bench = Bench::new(config);
    (1..=1000).find(|_| {
        bench.fail(1);
        bench.state() == State::Open
    })
}

#[test]
fn cf_04_the_documented_defaults_are_those_of_the_code() {
    let attribute = include_str!("../../../cb-macros/src/lib.rs");
    let builder = include_str!("../../../cb-runtime/src/config/mod.rs");
    let readme = include_str!("../../../README.md");
    let bench = Bench::new(&Config::new());
    let now = bench.breaker.snapshot();
    bench.breaker.open().unwrap();
    let open = bench.breaker.snapshot();
    bench.breaker.half_open().unwrap();
    let probes = bench.breaker.snapshot().probes.unwrap();
    let min_calls = now.min_calls.to_string();
    let wait = format!("{:?}", open.wait.unwrap());
    let in_a_row = opens_after(&Config::new().min_calls(1000))
        .unwrap()
        .to_string();
    for table in [attribute, builder, readme] {
        assert!(documented(table, "min_calls").starts_with(&min_calls));
        assert!(documented(table, "consecutive_failures").starts_with(&in_a_row));
        assert_eq!(documented(table, "wait").replace(' ', ""), wait);
        assert_eq!(
            documented(table, "half_open_calls"),
            probes.permitted.to_string()
        );
        assert_eq!(documented(table, "window").replace(' ', ""), "30s");
        assert!(documented(table, "half_open_max_wait").starts_with("30 s"));
        assert_eq!(documented(table, "failure_rate"), "50");
        assert_eq!(documented(table, "slow_rate"), "50");
        assert_eq!(documented(table, "slow"), "off");
        assert_eq!(documented(table, "failure_count"), "off");
    }

    // The window is 30 s, the rates are 50 %, and half-open is left 30 s after
    // its first probe.
    let _hanging = bench.permit();
    bench.advance(ms(29_999));
    assert_eq!(bench.state(), State::HalfOpen);
    bench.advance(ms(1));
    assert_eq!(bench.state(), State::Open);
    let bench = Bench::new(&Config::new().slow(s(1)));
    bench.advance(s(3)); // a bucket is a second
    bench.fail(1);
    bench.advance(s(29));
    assert_eq!(bench.counts(), (1, 1));
    bench.advance(s(1));
    assert_eq!(bench.counts(), (0, 0));
    for slow in [false, true] {
        let bench = Bench::new(&Config::new().slow(s(1)));
        bench.succeed(6);
        for _ in 0..5 {
            let outcome = if slow {
                Outcome::Success
            } else {
                Outcome::Failure
            };
            bench.call_for(if slow { ms(1001) } else { s(0) }, outcome);
        }
        assert_eq!(bench.state(), State::Closed, "5 of 11");
        bench.call_for(ms(1001), Outcome::Failure);
        assert_eq!(bench.state(), State::Open, "6 of 12");
    }
}

#[test]
fn cf_05_what_can_never_work_is_refused_by_name() {
    let config = || given("");
    for (field, config) in [
        ("half_open_calls", config().half_open_calls(0)),
        ("wait", config().wait(Duration::ZERO)),
        ("window", config().window(Window::Calls(0))),
        ("min_calls", config().min_calls(0)),
        ("consecutive_failures", config().consecutive_failures(0)),
        ("failure_rate", config().failure_rate(0.0)),
        ("failure_rate", config().failure_rate(101.0)),
        ("failure_rate", config().failure_rate(f64::NAN)),
        ("failure_rate", config().failure_rate(-1.0)),
        (
            "half_open_max_wait",
            config().half_open_max_wait(Duration::ZERO),
        ),
    ] {
        let error = config.validate().unwrap_err();
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(field));
        assert!(Registry::new().create("bad", &config).is_err());
    }
    compile_error("min_calls_zero", "`min_calls` must be at least 1");
    compile_error("percent_too_high", "failure_rate");
    compile_error("window_of_no_calls", "window");
}

/// What a breaker does with a fixed course of calls, as text.
fn course(config: &Config) -> String {
    let bench = Bench::new(config);
    let mut text = String::new();
    let mut note = |bench: &Bench| {
        let now = bench.breaker.snapshot();
        let open = bench.breaker.would_permit();
        write!(
            text,
            "{} {open} {:?} {:?};",
            now.state,
            bench.counts(),
            now.slow
        )
        .unwrap();
    };
    for round in 0..40 {
        bench.advance(ms(400));
        note(&bench);
        for call in 0..4 {
            let Ok(permit) = bench.breaker.try_acquire() else {
                continue;
            };
            let second = bench.breaker.try_acquire().ok();
            bench.advance(ms(if (round + call) % 5 == 0 { 150 } else { 50 }));
            match (round * 4 + call) % 7 {
                0 | 1 | 4 => permit.failure(),
                5 => drop(permit),
                _ => permit.success(),
            }
            note(&bench);
            if let Some(second) = second {
                if round % 3 == 0 {
                    second.failure()
                } else {
                    second.success()
                }
            }
            note(&bench);
        }
    }
    text
}

#[test]
fn cf_06_every_setting_has_an_effect() {
    let base = || given("W=1s B=4 M=6 O=1s P=3 H=3s S=100ms TS=70% X=2 MAX=3s").wait_jitter_off();
    let usual = course(&base());
    assert_eq!(usual, course(&base()), "nothing here depends on chance");
    let without_effect: Vec<_> = [
        ("window", base().window(Window::Time(s(3))).buckets(4)),
        ("buckets", base().buckets(1)),
        ("min_calls", base().min_calls(3)),
        ("failure_rate", base().failure_rate(80.0)),
        ("slow", base().slow(ms(20))),
        ("slow_rate", base().slow_rate(10.0)),
        ("failure_count", base().failure_count(2)),
        ("consecutive_failures", base().consecutive_failures(2)),
        ("on_cancel", base().on_cancel(OnCancel::Failure)),
        ("wait", base().wait(s(2))),
        ("wait_multiplier", base().wait_multiplier(1.0)),
        ("wait_max", base().wait_max(s(1))),
        ("wait_jitter", base().wait_jitter(90.0)),
        ("auto_half_open", base().auto_half_open(true)),
        ("half_open_calls", base().half_open_calls(1)),
        ("half_open_concurrency", base().half_open_concurrency(1)),
        ("half_open_delay", base().half_open_delay(ms(500))),
        ("half_open_successes", base().half_open_successes(2)),
        (
            "half_open_success_rate",
            base().half_open_success_rate(10.0),
        ),
        ("half_open_failures", base().half_open_failures(1)),
        (
            "half_open_failure_rate",
            base().half_open_failure_rate(100.0),
        ),
        ("half_open_slow", base().half_open_slow(ms(10))),
        ("half_open_attempts", base().half_open_attempts(1)),
        ("wait_by_failure_rate", base().wait_by_failure_rate(true)),
        ("wait_recover", base().wait_recover(s(1))),
        ("count_running", base().count_running(true)),
        ("warmup", base().warmup(s(2))),
        ("ramp", base().ramp(s(5))),
        ("mode", base().mode(Mode::MetricsOnly)),
    ]
    .into_iter()
    .filter(|(_, config)| course(config) == usual)
    .map(|(name, _)| name)
    .collect();
    assert!(without_effect.is_empty(), "{without_effect:?}");

    // A failed probe is forgotten, and one more may be sent.
    let forgotten = [None, Some(s(1))].map(|window| {
        let config = base().half_open_failures(2).half_open_max_wait_off();
        let bench = Bench::new(&match window {
            Some(window) => config.half_open_failure_window(window),
            None => config,
        });
        bench.until_probe();
        bench.fail(1);
        bench.advance(s(2));
        bench.fail(1);
        bench.state()
    });
    assert_eq!(forgotten, [State::Open, State::HalfOpen]);

    // Where a probe that never returns leads.
    let ends = [MaxWaitState::Decide, MaxWaitState::Closed].map(|choice| {
        let bench = Bench::new(&base().half_open_max_wait_state(choice));
        bench.until_probe();
        let _hanging = bench.permit();
        bench.advance(s(3));
        bench.state()
    });
    assert_eq!(ends, [State::Open, State::Closed]);
    let stays = [s(3), s(5)].map(|limit| {
        let bench = Bench::new(&base().half_open_max_wait(limit));
        bench.until_probe();
        let _hanging = bench.permit();
        bench.advance(s(3));
        bench.state()
    });
    assert_eq!(stays, [State::Open, State::HalfOpen]);
}
