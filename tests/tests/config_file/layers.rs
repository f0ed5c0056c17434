//! Which setting wins.

use cb_runtime::{CallError, Config, ConflictKind, State, Window, circuit_breaker, testing::Scope};

use super::{fail, load, refused, registry, s, settings};

#[test]
fn each_layer_wins_over_those_below_it() {
    let (registry, _) = registry();
    let wait = |seconds| Config::new().wait(s(seconds));
    registry.set_default(wait(1)).unwrap();
    registry.set_template("t", wait(3)).unwrap();
    let plain = registry.get_or_create("plain");
    let based = registry.create_from("based", "t", &Config::new()).unwrap();
    let own = registry.create_from("own", "t", &wait(4)).unwrap();
    let all = || [&plain, &based, &own].map(|breaker| settings(breaker).join("; "));

    load(&registry, "[defaults]\nwait = '2s'");
    assert_eq!(
        all(),
        [
            "wait = 2s (file, defaults)",
            "wait = 3s (template \"t\")",
            "wait = 4s (code)"
        ]
    );
    load(
        &registry,
        "[defaults]\nwait = '2s'\n[templates.t]\nwait = '5s'",
    );
    assert_eq!(
        all(),
        [
            "wait = 2s (file, defaults)",
            "wait = 5s (template \"t\")",
            "wait = 4s (code)"
        ]
    );
    load(&registry, "[breakers.'*']\nwait = '6s'");
    assert_eq!(all(), ["wait = 6s (file, \"*\")"; 3]);
    registry.configure("own", wait(7)).unwrap();
    assert_eq!(all()[2], "wait = 7s (run-time change)");
    load(&registry, "");
    assert_eq!(
        all(),
        [
            "wait = 1s (registry default)",
            "wait = 3s (template \"t\")",
            "wait = 7s (run-time change)"
        ]
    );
    assert!(
        registry.template("t").unwrap() == wait(3),
        "the registry's own is back"
    );
}

#[test]
fn the_more_specific_section_wins_whatever_the_order() {
    let (registry, _) = registry();
    let names = ["payments.card", "payments.bank", "orders"];
    let breakers = names.map(|name| registry.get_or_create(name));
    load(
        &registry,
        "[breakers.'payments.card']\n\
         min_calls = 1\n\
         [breakers.'*']\n\
         min_calls = 2\n\
         failure_rate = 20\n\
         wait = '20s'\n\
         [breakers.'*.c*d']\n\
         min_calls = 4\n\
         wait = '40s'\n\
         slow = '4s'\n\
         [breakers.'payments.*']\n\
         min_calls = 3\n\
         failure_rate = 30\n",
    );
    let figures = breakers.each_ref().map(|breaker| {
        let config = breaker.config();
        let value = |name| {
            let chosen = config.iter().find(|chosen| chosen.setting == name);
            chosen
                .map_or("none", |chosen| chosen.value.as_str())
                .to_owned()
        };
        ["min_calls", "failure_rate", "wait", "slow"]
            .map(value)
            .join(" ")
    });
    assert_eq!(
        figures,
        ["1 30.0 40s 4s", "3 30.0 20s none", "2 20.0 20s none"]
    );
    assert!(
        settings(&breakers[0])[0]
            .ends_with("(file, \"*\" and \"*.c*d\" and \"payments.*\" and \"payments.card\")"),
        "{:?}",
        settings(&breakers[0])
    );
}

/// Sections are judged together: each of these makes no sense alone.
#[test]
fn sections_of_one_breaker_are_one_layer() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    load(
        &registry,
        "[breakers.'*']\nwait_max = '5s'\n[breakers.a]\nwait = '1s'",
    );
    assert_eq!(breaker.config().len(), 2);
    let error = refused(&registry, "[breakers.'*']\nwait_max = '5s'");
    assert_eq!(error.errors()[0].line, 2);
}

#[test]
fn base_in_the_file_replaces_the_template_and_stays_below_the_attribute() {
    let (registry, _) = registry();
    registry
        .set_template("slow", Config::new().wait(s(30)).min_calls(30))
        .unwrap();
    registry
        .set_template("fast", Config::new().wait(s(1)).half_open_calls(1))
        .unwrap();
    let own = Config::new().min_calls(7);
    let based = registry.create_from("based", "slow", &own).unwrap();
    let plain = registry.create("plain", &own).unwrap();
    let before = [settings(&based), settings(&plain)];
    load(
        &registry,
        "[breakers.'*']\nbase = 'slow'\n[breakers.based]\nbase = 'fast'",
    );
    assert_eq!(
        settings(&based),
        [
            "wait = 1s (template \"fast\", named by the file)",
            "half_open_calls = 1 (template \"fast\", named by the file)",
            "min_calls = 7 (code)"
        ]
    );
    assert_eq!(
        settings(&plain),
        [
            "wait = 30s (template \"slow\", named by the file)",
            "min_calls = 7 (code)"
        ]
    );
    // A change of the template reaches those that the file has put on it.
    registry
        .set_template("fast", Config::new().wait(s(2)))
        .unwrap();
    assert_eq!(
        settings(&based)[0],
        "wait = 2s (template \"fast\", named by the file)"
    );
    load(&registry, "");
    assert_eq!([settings(&based), settings(&plain)], before);
}

type Reply = Result<(), CallError<()>>;

#[circuit_breaker(name = "layers.first", consecutive_failures = 5, wait = "5s")]
fn first() -> Reply {
    Err(CallError::Failed(()))
}

#[circuit_breaker(name = "layers.shard", key = shard)]
fn shard(shard: u32) -> Reply {
    Err(CallError::Failed(()))
}

#[test]
fn a_file_that_is_loaded_first_is_what_breakers_start_with() {
    let scope = Scope::new();
    let registry = scope.registry();
    load(
        registry,
        "[breakers.'layers.*']\nmode = 'metrics_only'\nconsecutive_failures = 2\n\
         [breakers.'layers.shard']\nmode = 'enabled'",
    );
    for _ in 0..3 {
        let _ = (first(), shard(1));
    }
    assert_eq!(scope.breaker("layers.first").state(), State::MetricsOnly);
    assert_eq!(
        registry.keyed("layers.shard", "1").unwrap().state(),
        State::Open
    );
    let _ = (shard(2), shard(2));
    assert_eq!(
        registry.keyed("layers.shard", "2").unwrap().state(),
        State::Open
    );
}

#[test]
fn breakers_made_by_code_later_start_with_the_file() {
    let (registry, _) = registry();
    let text = "[breakers.'later.*']\nconsecutive_failures = 1";
    refused(&registry, text);
    let file = super::file(text).allow_unknown_names();
    let report = registry.load_config(&file).unwrap();
    assert_eq!(
        report.to_string(),
        "later.*: the section in line 1 matches no breaker so far\n"
    );
    let later = registry
        .create("later.a", &Config::new().consecutive_failures(9))
        .unwrap();
    fail(&later, 1);
    assert_eq!(later.state(), State::Open);
}

/// The file cannot know what will be made; what does not fit then is left out and reported.
#[test]
fn a_breaker_that_the_file_does_not_fit_works_without_it() {
    let (registry, _) = registry();
    let file = super::file("[breakers.a]\nmin_calls = 30").allow_unknown_names();
    registry.load_config(&file).unwrap();
    let breaker = registry
        .create("a", &Config::new().window(Window::Calls(20)))
        .unwrap();
    assert_eq!(settings(&breaker), ["window = 20 (code)"]);
    let conflicts = registry.conflicts();
    assert!(
        matches!(&conflicts[0].kind, ConflictKind::LeftOut { error, .. } if error.field() == "min_calls"),
        "{conflicts:?}"
    );
}

/// Every setting has a line in a file that sets them all, and each arrives.
#[test]
fn every_setting_can_be_set() {
    let (registry, _) = registry();
    let breaker = registry.get_or_create("a");
    load(
        &registry,
        "[breakers.a]\nwindow = '1m'\nbuckets = 12\nmin_calls = 11\nfailure_rate = '0.5%'\nslow = '2s'\n\
         slow_rate = 45.5\nfailure_count = 8\nconsecutive_failures = 'off'\ncount_running = true\n\
         warmup = '3s'\non_cancel = 'failure'\nwait = '1m 30s'\nwait_multiplier = 2\nwait_max = '10m'\n\
         wait_jitter = 20\nwait_by_failure_rate = true\nwait_recover = '1h'\nauto_half_open = true\n\
         half_open_calls = 0x10\nhalf_open_concurrency = 4\nhalf_open_delay = '250ms'\n\
         half_open_successes = 3\nhalf_open_failures = 2\nhalf_open_failure_window = '20s'\n\
         half_open_slow = '1.5s'\nhalf_open_attempts = 6\nhalf_open_max_wait = '45s'\n\
         half_open_max_wait_state = 'closed'\nramp = '9s'\nmode = 'enabled'\n",
    );
    let chosen: Vec<_> = breaker
        .config()
        .into_iter()
        .map(|chosen| format!("{} {}", chosen.setting, chosen.value))
        .collect();
    let wanted = [
        "window 60s",
        "buckets 12",
        "min_calls 11",
        "failure_rate 0.5",
        "slow 2s",
        "slow_rate 45.5",
        "failure_count 8",
        "consecutive_failures off",
        "count_running true",
        "warmup 3s",
        "on_cancel failure",
        "wait 90s",
        "wait_multiplier 2.0",
        "wait_max 600s",
        "wait_jitter 20.0",
        "wait_by_failure_rate true",
        "wait_recover 3600s",
        "auto_half_open true",
        "half_open_calls 16",
        "half_open_concurrency 4",
        "half_open_delay 250ms",
        "half_open_successes 3",
        "half_open_failures 2",
        "half_open_failure_window 20s",
        "half_open_slow 1.5s",
        "half_open_attempts 6",
        "half_open_max_wait 45s",
        "half_open_max_wait_state closed",
        "ramp 9s",
        "mode enabled",
    ];
    assert_eq!(chosen, wanted);
    load(&registry, "[breakers.a]\nhalf_open_success_rate = 60");
    load(
        &registry,
        "[breakers.a]\nhalf_open_failure_rate = 60\nwait_jitter = 'off'",
    );
    assert_eq!(settings(&breaker)[0], "wait_jitter = off (file, \"a\")");
}
