//! Each trap is seen where it is, and not where it is not.

use cb_runtime::advise::{OutageKind, Traffic, Trap};
use cb_runtime::{Config, Mode, OnCancel, Window};
use cb_tests::harness::{ms, s};

use crate::{advice, quiet};

/// Nothing to warn of.
fn sound() -> (Config, Traffic) {
    let config = Config::new().slow(s(2));
    let traffic = Traffic::per_second(20.0).timeout(s(5)).concurrency(200);
    (config, traffic)
}

/// The warning, which must be there once for each of the kinds, or once.
#[track_caller]
fn says(config: &Config, traffic: &Traffic, trap: Trap, phrase: &str) {
    let advice = advice(config, traffic);
    assert!(advice.warns(trap), "{advice}");
    let mut texts = advice.warnings.iter().filter(|one| one.trap == trap);
    assert!(texts.any(|one| one.text.contains(phrase)), "{advice}");
}

#[test]
fn a_sound_configuration_has_no_warnings() {
    let (config, traffic) = sound();
    let advice = advice(&config, &traffic);
    assert_eq!(advice.warnings, [], "{advice}");
    assert!(advice.to_string().contains("No warnings."));
}

#[test]
fn minimum_never_reached() {
    let traffic = Traffic::per_second(0.2).timeout(s(5));
    let config = Config::new().slow(s(2));
    says(
        &config,
        &traffic,
        Trap::MinimumNeverReached,
        "never hold more than 6 calls: no rate is ever judged. Only `consecutive_failures` (10)",
    );
    let alone = config.consecutive_failures_off();
    let phrase = "Nothing else would open it";
    says(&alone, &traffic, Trap::MinimumNeverReached, phrase);
    let phrase = "Fast errors never open it, nothing is protected: no rate is judged";
    says(&alone, &traffic, Trap::NeverOpens, phrase);
    // One call in three seconds: ten in the window.
    let enough = Traffic::per_second(0.34).timeout(s(5));
    assert!(!advice(&alone, &enough).warns(Trap::MinimumNeverReached));
}

#[test]
fn late_opening_because_of_the_timeout_or_of_the_good_calls() {
    let traffic = quiet().timeout(s(90));
    let phrase = "Hangs: nothing is protected for 96s. The cause: the first call has no outcome \
                  before 90s";
    says(&Config::new(), &traffic, Trap::LateOpening, phrase);
    let diluted = Config::new()
        .window(Window::Calls(1000))
        .consecutive_failures_off();
    let phrase = "the good calls before it outweigh the first bad ones (500 of 1000 calls failed";
    says(&diluted, &quiet(), Trap::LateOpening, phrase);
}

#[test]
fn slow_and_the_timeout() {
    let (config, traffic) = sound();
    let at = config.clone().slow(s(5));
    let phrase = "no call runs for longer than its timeout of 5s";
    says(&at, &traffic, Trap::SlowNotBelowTimeout, phrase);
    let below = config.clone().slow(ms(4400));
    assert_eq!(advice(&below, &traffic).warnings.len(), 1); // dropped after 2.5 s
    let off = config.slow_off();
    let long = traffic.timeout(s(6));
    says(&off, &long, Trap::SlowOff, "a call can run up to 6s");
    let short = Traffic::per_second(20.0).timeout(s(5));
    assert!(!advice(&off, &short).warns(Trap::SlowOff));
    let none = Traffic::per_second(20.0);
    says(&off, &none, Trap::SlowOff, "for ever");
}

#[test]
fn kinds_that_never_open_it() {
    let never = |config: &Config, traffic: &Traffic, phrase| {
        says(config, traffic, Trap::NeverOpens, phrase);
    };
    let (config, traffic) = sound();
    let off = config.clone().slow_off();
    never(
        &off,
        &traffic,
        "Slow successes never open it, nothing is protected: `slow` is off",
    );
    never(&off, &traffic, "so a dropped call leaves no trace");
    let ignoring = config.clone().on_cancel(OnCancel::Ignore);
    never(&ignoring, &traffic, "`on_cancel` is `ignore`");
    let lax = config.clone().slow(s(3));
    never(
        &lax,
        &traffic,
        "Hangs dropped by their callers never open it",
    );
    never(&lax, &traffic, "none runs for longer than `slow`, 3s");
    let endless = Traffic::per_second(20.0).concurrency(200);
    never(
        &config,
        &endless,
        "Hangs never open it, nothing is protected: a call without a timeout",
    );
    let hang = advice(&config, &endless);
    let hang = hang.outage(OutageKind::Hang).unwrap();
    assert_eq!((hang.call_time, hang.worst().stuck), (None, 200));
}

#[test]
fn places_taken_before_it_opens() {
    let (config, traffic) = sound();
    let few = traffic.concurrency(5);
    let phrase = "Hangs: all 5 places are taken before it opens after";
    says(&config, &few, Trap::PlacesTaken, phrase);
}

#[test]
fn half_open_without_limit_can_last_for_ever() {
    let (config, traffic) = sound();
    let unlimited = config.half_open_max_wait_off();
    let phrase = "`half_open_max_wait` is off";
    says(&unlimited, &traffic, Trap::HalfOpenUnlimited, phrase);
    assert!(!advice(&unlimited, &traffic).warns(Trap::NeverCloses));
    // Five probes that never end take all permits. Callers drop theirs, but without a trace.
    let stuck = Config::resilience4j().slow(s(1)).wait(s(10));
    let traffic = Traffic::per_second(20.0);
    assert!(advice(&stuck, &traffic).warns(Trap::HalfOpenUnlimited));
}

#[test]
fn a_wait_without_end_never_closes() {
    let (config, traffic) = sound();
    let forever = config.wait(std::time::Duration::MAX);
    let phrase = "Fast errors open it, and it does not close";
    says(&forever, &traffic, Trap::NeverCloses, phrase);
}

#[test]
fn a_window_of_calls_that_are_old() {
    let traffic = Traffic::per_second(0.3).timeout(s(5));
    let config = Config::new().slow(s(2)).window(Window::Calls(100));
    let phrase = "The last 100 calls reach back 5m 33s";
    says(&config, &traffic, Trap::OldCalls, phrase);
    let config = config.window(Window::Calls(90));
    assert!(!advice(&config, &traffic).warns(Trap::OldCalls));
}

#[test]
fn waits_that_are_short_or_long() {
    let (config, traffic) = sound();
    let wait = |wait| config.clone().wait(ms(wait));
    says(&wait(2999), &traffic, Trap::ShortWait, "`wait` is 3.0s");
    says(&wait(60_001), &traffic, Trap::LongWait, "`wait` is");
    for fine in [3000, 60_000] {
        assert_eq!(advice(&wait(fine), &traffic).warnings, []);
    }
}

#[test]
fn one_success_closes() {
    let (config, traffic) = sound();
    let phrase = "One good probe closes it";
    let calls = config.clone().half_open_calls(1);
    says(&calls, &traffic, Trap::OneSuccessCloses, phrase);
    let successes = config.clone().half_open_successes(1);
    says(&successes, &traffic, Trap::OneSuccessCloses, phrase);
    let minimum = config.min_calls(1).half_open_delay(s(1));
    says(&minimum, &traffic, Trap::OneSuccessCloses, phrase);
}

#[test]
fn good_calls_that_count_as_slow() {
    let (config, traffic) = sound();
    let strict = config.slow(ms(40));
    says(
        &strict,
        &traffic,
        Trap::OpensWhenHealthy,
        "a good call takes 50ms",
    );
}

#[test]
fn a_mode_that_does_not_protect() {
    let (config, traffic) = sound();
    for mode in [Mode::MetricsOnly, Mode::Disabled, Mode::ForcedOpen] {
        let config = config.clone().mode(mode);
        says(&config, &traffic, Trap::NotEnabled, "`mode` is");
        assert!(!advice(&config, &traffic).warns(Trap::NeverOpens));
    }
}
