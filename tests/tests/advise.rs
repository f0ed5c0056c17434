//! What `advise` says before production, and whether that is what happens.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

#[path = "advise/direct.rs"]
mod direct;
#[path = "advise/random.rs"]
mod random;
#[path = "advise/warnings.rs"]
mod warnings;

use std::time::Duration;

use cb_runtime::advise::{Advice, Outage, OutageKind, Traffic, Trap, advise};
use cb_runtime::{Cause, Config, State, Window};
use cb_tests::harness::{ms, s};

const KINDS: [OutageKind; 4] = [
    OutageKind::Errors,
    OutageKind::Slow,
    OutageKind::Hang,
    OutageKind::Dropped,
];

fn advice(config: &Config, traffic: &Traffic) -> Advice {
    advise(config, traffic).expect("a valid question")
}

fn outage(config: &Config, traffic: &Traffic, kind: OutageKind) -> Outage {
    advice(config, traffic).outage(kind).unwrap().clone()
}

fn opens_after(outage: &Outage) -> Duration {
    outage.worst().opening.expect("it opens").after
}

/// 1.5 calls a second that hang for 30 s.
fn quiet() -> Traffic {
    Traffic::per_second(1.5).timeout(s(30))
}

#[test]
fn resilience4j_protects_nothing_for_over_a_minute_and_the_minimum_is_named() {
    let advice = advice(&Config::resilience4j(), &quiet());
    for kind in [OutageKind::Errors, OutageKind::Hang] {
        let outage = advice.outage(kind).unwrap();
        assert!(opens_after(outage) > s(60), "{outage}");
        assert_eq!(outage.worst().opening.unwrap().ended, 100);
    }
    let hang = advice.outage(OutageKind::Hang).unwrap();
    assert_eq!(opens_after(hang), s(96));
    assert_eq!(hang.worst().stuck, 45);
    // A window full of good calls is a longer road than the minimum, here too.
    assert!(hang.steady.opening.unwrap().after > s(60));
    let text = advice.to_string();
    assert!(
        text.contains(
            "Hangs: nothing is protected for 96s. The cause: no rate is judged below `min_calls`, \
             100 calls; with 10 it would open after 36s."
        ),
        "{text}"
    );
}

#[test]
fn the_defaults_protect_after_ten_calls() {
    let advice = advice(&Config::new(), &quiet());
    let errors = advice.outage(OutageKind::Errors).unwrap();
    assert_eq!(opens_after(errors), ms(6050));
    let hang = advice.outage(OutageKind::Hang).unwrap();
    assert_eq!(opens_after(hang), s(36));
    for outage in [errors, hang] {
        for course in [&outage.fresh, &outage.steady] {
            assert_eq!(course.opening.unwrap().ended, 10, "{outage}");
        }
    }
    let text = advice.to_string();
    assert!(
        text.contains("opens after 36s and 10 calls that ended badly"),
        "{text}"
    );
    assert!(!advice.warns(Trap::LateOpening), "{text}");
}

#[test]
fn good_calls_in_the_window_make_it_later() {
    let config = Config::new()
        .window(Window::Calls(100))
        .consecutive_failures_off();
    let outage = outage(&config, &Traffic::per_second(10.0), OutageKind::Errors);
    assert_eq!(outage.fresh.opening.unwrap().ended, 10);
    assert_eq!(outage.steady.opening.unwrap().ended, 50);
    assert_eq!(outage.worst(), &outage.steady);
    let cause = outage.steady.opening.unwrap().cause;
    assert!(matches!(cause, Cause::FailureRate { calls: 100, .. }));
}

#[test]
fn the_timeline_is_the_outage_that_is_noticed_last() {
    let outage = outage(&Config::new(), &quiet(), OutageKind::Errors);
    let states: Vec<_> = outage.timeline.iter().map(|change| change.to).collect();
    let (open, half, closed) = (State::Open, State::HalfOpen, State::Closed);
    assert_eq!(states, [open, half, open, half, open, half, closed]);
    let closed = outage.timeline.last().unwrap().at;
    assert_eq!(closed - outage.healed.unwrap(), outage.recovery.unwrap());
    // Three of five probes fail, the wait, and five more.
    assert!(outage.recovery.unwrap() > s(13) && outage.recovery.unwrap() < s(15));
}

#[test]
fn a_growing_wait_makes_recovery_later() {
    let grows = Config::new().wait_multiplier(2.0).wait_max(s(60));
    let outage = outage(&grows, &quiet(), OutageKind::Errors);
    assert!(outage.recovery.unwrap() > s(60), "{outage}");
}

#[test]
fn jitter_counts_at_its_longest_for_recovery_and_spreads_the_fleet() {
    let traffic = Traffic::per_second(10.0).instances(50);
    let (even, spread) = (Config::new(), Config::new().wait_jitter(50.0));
    let even = outage(&even, &traffic, OutageKind::Errors);
    let spread = outage(&spread, &traffic, OutageKind::Errors);
    let more = spread.recovery.unwrap() - even.recovery.unwrap();
    assert!(more >= ms(4900) && more <= ms(5100), "{more:?}");
    assert!(
        2 * spread.fleet_probes_per_second < even.fleet_probes_per_second,
        "{spread}{even}"
    );
}

#[test]
fn a_fleet_probes_with_all_its_instances() {
    let one = outage(&Config::new(), &quiet(), OutageKind::Hang);
    let ten = outage(&Config::new(), &quiet().instances(10), OutageKind::Hang);
    let many = outage(&Config::new(), &quiet().instances(1000), OutageKind::Hang);
    assert_eq!(one.fleet_probes, 5);
    assert_eq!(ten.fleet_probes, 50);
    assert_eq!(many.fleet_probes, 5000);
    let careful = Config::new().half_open_concurrency(1);
    let careful = outage(&careful, &quiet().instances(10), OutageKind::Hang);
    assert_eq!(careful.fleet_probes, 10);
}

#[test]
fn more_of_the_bad_is_never_better() {
    let after = |config: &Config, traffic: &Traffic, kind| {
        outage(config, traffic, kind)
            .worst()
            .opening
            .map_or(Duration::MAX, |opening| opening.after)
    };
    let base = Config::new().consecutive_failures_off().slow(s(2));
    for kind in KINDS {
        let by_minimum = [10, 20, 40, 80].map(|min| {
            let config = base.clone().window(Window::Calls(100)).min_calls(min);
            after(&config, &quiet(), kind)
        });
        assert!(by_minimum.is_sorted(), "{kind}: {by_minimum:?}");

        let by_rate = [100.0, 20.0, 5.0, 1.0, 0.1].map(|rate| {
            let traffic = Traffic::per_second(rate).timeout(s(30));
            after(&base.clone().window(Window::Calls(100)), &traffic, kind)
        });
        assert!(by_rate.is_sorted(), "{kind}: {by_rate:?}");

        let by_wait = [1, 5, 20, 60].map(|wait| {
            let config = base.clone().wait(s(wait));
            outage(&config, &quiet(), kind).recovery.unwrap()
        });
        assert!(by_wait.is_sorted(), "{kind}: {by_wait:?}");
    }
    let stuck = [1, 5, 10, 30].map(|timeout| {
        let traffic = quiet().timeout(s(timeout));
        let outage = outage(&base, &traffic, OutageKind::Hang);
        (opens_after(&outage), outage.worst().stuck)
    });
    assert!(stuck.is_sorted(), "{stuck:?}");
}

#[test]
fn extreme_rates_are_sampled_and_open_all_the_same() {
    let config = Config::new().slow(s(1));
    let traffic = Traffic::per_second(1_000_000.0).timeout(s(5));
    let sampled = advice(&config, &traffic);
    assert!(sampled.sampling > 1);
    assert!(sampled.to_string().contains("upper bounds"));
    // Nobody waits in line, so with few places there are few calls.
    let few = advice(&config, &traffic.concurrency(200));
    assert_eq!(few.sampling, 1);
    for advice in [&sampled, &few] {
        for outage in &advice.outages {
            assert!(outage.worst().opening.is_some(), "{advice}");
        }
    }
    let hang = sampled.outage(OutageKind::Hang).unwrap();
    assert!(hang.worst().stuck > 4_900_000, "{hang}");
    // One call in three hours.
    let rare = Traffic::per_second(0.000_1).timeout(s(5));
    let rare = outage(&config, &rare, OutageKind::Errors);
    assert_eq!(rare.worst().opening.unwrap().ended, 10);
}

#[test]
fn a_question_without_sense_names_what_is_wrong() {
    let field = |config: Config, traffic: Traffic| advise(&config, &traffic).unwrap_err().field();
    let traffic = Traffic::per_second;
    assert_eq!(field(Config::new().min_calls(0), quiet()), "min_calls");
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(field(Config::new(), traffic(rate)), "calls_per_second");
    }
    assert_eq!(field(Config::new(), quiet().latency(s(30))), "timeout");
    assert_eq!(
        field(Config::new(), quiet().latency(Duration::ZERO)),
        "latency"
    );
    assert_eq!(field(Config::new(), quiet().concurrency(0)), "concurrency");
    assert_eq!(field(Config::new(), quiet().instances(0)), "instances");
    assert_eq!(field(Config::new(), quiet().gives_up(s(0))), "gives_up");
}

#[test]
fn count_running_sees_a_hang_while_it_hangs() {
    let config = Config::new().slow(s(2));
    let running = config.clone().count_running(true);
    for traffic in [quiet(), Traffic::per_second(1.5)] {
        let outage = outage(&running, &traffic, OutageKind::Hang);
        assert!(opens_after(&outage) < s(20), "{outage}");
        assert_eq!(outage.worst().opening.unwrap().ended, 0);
    }
    let late = outage(&config, &quiet(), OutageKind::Hang);
    assert_eq!(opens_after(&late), s(36));
}

#[test]
fn a_warm_up_delays_a_fresh_breaker_only() {
    let config = Config::new().warmup(s(60));
    let outage = outage(&config, &quiet(), OutageKind::Errors);
    assert!(outage.fresh.opening.unwrap().after > s(66), "{outage}");
    assert_eq!(outage.steady.opening.unwrap().ended, 10);
}
