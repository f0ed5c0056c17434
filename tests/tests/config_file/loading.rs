//! What loading changes, what it leaves alone, and the way back.

use cb_runtime::{CallError, Config, State, WhyNot, Window, circuit_breaker, testing::Scope};

use super::{fail, file, load, refused, registry, s, settings};

#[test]
fn the_report_says_what_has_changed_breaker_by_breaker() {
    let (registry, _) = registry();
    registry.create("a", &Config::new().min_calls(20)).unwrap();
    registry.get_or_create("b");
    registry.get_or_create("c");
    let report = load(
        &registry,
        "[breakers.a]\nmin_calls = 30\nslow = '2s'\n[breakers.b]\nwindow = 100",
    );
    assert_eq!(
        report.to_string(),
        "a: min_calls 20 → 30, slow off → 2s, half_open_slow – → 2s\n\
         b: window 30s → 100, buckets 30 → –\n"
    );
    assert_eq!(report.unchanged, ["c"]);
    let again = load(
        &registry,
        "[breakers.a]\nmin_calls = 30\nslow = '2s'\n[breakers.b]\nwindow = 100",
    );
    assert!(again.is_unchanged());
    assert_eq!(again.to_string(), "nothing changed\n");
    let report = load(&registry, "[breakers.a]\nmin_calls = 31");
    assert_eq!(
        report
            .changes_of("a")
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        [
            "min_calls 30 → 31",
            "slow 2s → off",
            "half_open_slow 2s → –"
        ]
    );
    assert_eq!(report.changes_of("b").len(), 2);
}

#[test]
fn the_report_says_what_does_not_apply_and_why() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    registry.configure("a", Config::new().wait(s(7))).unwrap();
    let text = "[breakers.a]\nmode = 'forced_open'\nignore = 'NotFound'\ntimeout = '1s'\nwait = '1s'\nmin_calls = 3\n";
    let report = load(&registry, text);
    let left: Vec<_> = report
        .not_applied
        .iter()
        .map(|left| (left.setting.unwrap(), left.line, left.why))
        .collect();
    assert_eq!(
        left,
        [
            ("mode", 2, WhyNot::BreakerExists),
            ("ignore", 3, WhyNot::BelongsToFunction),
            ("timeout", 4, WhyNot::BelongsToFunction),
            ("wait", 5, WhyNot::ChangedAtRuntime),
        ]
    );
    assert_eq!(report.changes_of("a").len(), 1, "{report}");
    assert_eq!(breaker.state(), State::Closed);
    registry.unconfigure("a");
    fail(&breaker, 10);
    assert_eq!(
        breaker.snapshot().retry_after,
        Some(s(1)),
        "the file's wait is in force now"
    );
}

#[test]
fn state_window_and_calls_in_flight_stay() {
    let (registry, clock) = registry();
    let config = Config::new()
        .window(Window::Calls(10))
        .min_calls(10)
        .consecutive_failures_off();
    let breaker = registry.create("a", &config).unwrap();
    let in_flight = breaker.try_acquire().unwrap();
    fail(&breaker, 4);
    let before = breaker.snapshot();
    load(&registry, "[breakers.a]\nfailure_rate = 90\nwait = '20s'");
    let after = breaker.snapshot();
    assert_eq!(
        (after.generation, after.calls, after.failed),
        (before.generation, 4, 4)
    );
    in_flight.failure();
    assert_eq!((breaker.snapshot().failed, breaker.snapshot().late), (5, 0));
    fail(&breaker, 5);
    assert_eq!(breaker.state(), State::Open);
    clock.advance(s(5));
    load(&registry, "[breakers.a]\nwait = '8s'");
    assert_eq!(breaker.snapshot().retry_after, Some(s(3)));
    assert_eq!(breaker.snapshot().failed, 10);
}

#[test]
fn one_mistake_and_nothing_changes() {
    let (registry, _) = registry();
    let (a, b) = (registry.get_or_create("a"), registry.get_or_create("b"));
    load(&registry, "[breakers.a]\nwait = '1s'");
    let before = [settings(&a), settings(&b)];
    let texts = [
        "[defaults]\nwait = '9s'\n[breakers.a]\nwait = '2s'\n[breakers.b]\nslow_rate = 3",
        "[breakers.a]\nwait = '2s'\n[breakers.b]\nwait = 2",
        "[breakers.a]\nwait = '2s'\n[breakers.none]",
        "[breakers.a]\nwait = '2s'\n[",
    ];
    for text in texts {
        refused(&registry, text);
        assert_eq!([settings(&a), settings(&b)], before);
        assert_eq!(
            settings(&registry.get_or_create(text)),
            Vec::<String>::new()
        );
    }
    assert_eq!(settings(&a), ["wait = 1s (file, \"a\")"]);
    assert!(registry.roll_back_config().is_some(), "to no file");
    assert!(
        registry.roll_back_config().is_none(),
        "a file that was refused was never in force"
    );
}

#[test]
fn checking_changes_nothing_and_answers_the_same() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    let good = file("[breakers.a]\nwait = '3s'");
    let checked = registry.check_config(&good).unwrap();
    assert!(settings(&breaker).is_empty() && registry.roll_back_config().is_none());
    assert_eq!(registry.load_config(&good), Ok(checked));
    let bad = file("[breakers.a]\nwait = 3");
    assert_eq!(registry.check_config(&bad), registry.load_config(&bad));
}

#[test]
fn rolling_back_goes_one_version_further_each_time() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    let wait = || settings(&breaker).join("");
    for seconds in 1..=3 {
        load(&registry, &format!("[breakers.a]\nwait = '{seconds}s'"));
    }
    load(&registry, "[breakers.a]\nwait = '3s'"); // the same: no version of its own
    let report = registry.roll_back_config().unwrap();
    assert_eq!(report.to_string(), "a: wait 3s → 2s\n");
    assert_eq!(wait(), "wait = 2s (file, \"a\")");
    registry.roll_back_config().unwrap();
    assert_eq!(wait(), "wait = 1s (file, \"a\")");
    assert_eq!(
        registry.roll_back_config().unwrap().to_string(),
        "a: wait 1s → 10s\n"
    );
    assert!(wait().is_empty() && registry.roll_back_config().is_none());
}

#[test]
fn the_last_sixteen_versions_are_kept() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    for seconds in 1..=30 {
        load(&registry, &format!("[breakers.a]\nwait = '{seconds}s'"));
    }
    let mut back = 0;
    while registry.roll_back_config().is_some() {
        back += 1;
    }
    assert_eq!(back, 16);
    assert_eq!(settings(&breaker), ["wait = 14s (file, \"a\")"]);
}

#[circuit_breaker(name = "loading.annotated", min_calls = 20, key = shard)]
fn keyed(shard: u32) -> Result<(), CallError<()>> {
    Ok(())
}

#[test]
fn keys_are_reported_once_for_all() {
    let scope = Scope::new();
    let registry = scope.registry();
    for shard in 0..5 {
        let _ = keyed(shard);
    }
    let report = load(registry, "[breakers.'loading.*']\nmin_calls = 30");
    assert_eq!(report.to_string(), "loading.annotated: min_calls 20 → 30\n");
    assert_eq!(
        registry
            .keyed("loading.annotated", "4")
            .unwrap()
            .snapshot()
            .min_calls,
        30
    );
}

#[test]
fn a_listener_may_load_a_file() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    let inner = registry.clone();
    let _subscription = registry.subscribe(cb_runtime::Interest::TRANSITIONS, move |_| {
        inner
            .load_config(&file("[breakers.a]\nwait = '3s'"))
            .unwrap();
    });
    fail(&breaker, 10);
    assert_eq!(breaker.snapshot().retry_after, Some(s(3)));
}
