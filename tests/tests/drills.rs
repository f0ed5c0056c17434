//! What the drills of `cb-examples` show holds: the relations between their figures, not the
//! figures.

use std::time::Duration;

use cb_runtime::Config;

#[allow(dead_code)] // the program prints more than is compared here
#[path = "../../examples/src/bin/drills/flapping.rs"]
mod flapping;
#[allow(dead_code)]
#[path = "../../examples/src/bin/drills/fleet.rs"]
mod fleet;
#[allow(dead_code)]
#[path = "../../examples/src/bin/drills/opening.rs"]
mod opening;
#[allow(dead_code)]
#[path = "../../examples/src/bin/drills/recovery.rs"]
mod recovery;
#[allow(dead_code)]
#[path = "../../examples/src/bin/drills/sim.rs"]
mod sim;

use opening::Sickness;

const TEN_A_SECOND: Duration = Duration::from_millis(100);

#[track_caller]
fn opened(config: &Config, sickness: Sickness) -> opening::Opened {
    opening::opens(config, sickness, TEN_A_SECOND).expect("it opens")
}

#[test]
fn our_defaults_open_long_before_resilience4js() {
    let (ours, theirs) = (Config::new(), Config::resilience4j());
    assert_eq!(opened(&ours, Sickness::Dead).calls, 10);
    assert_eq!(opened(&theirs, Sickness::Dead).calls, 100);
    let each_second = Duration::from_secs(1);
    let late = opening::opens(&theirs, Sickness::Dead, each_second).expect("it opens");
    assert!(late.after >= Duration::from_secs(99));
}

#[test]
fn only_slow_and_running_calls_show_a_hang_while_it_hangs() {
    let slow = Config::new().slow(Duration::from_secs(2));
    let running = slow.clone().count_running(true);
    let hang = |config: &Config| opened(config, Sickness::Hangs);
    assert!(hang(&Config::new()).after >= Duration::from_secs(30));
    assert!(hang(&slow).after >= Duration::from_secs(30));
    assert!(hang(&running).after < Duration::from_secs(5));
    assert!(10 * hang(&running).under_way < hang(&slow).under_way * 2);
    let rising = |config: &Config| opened(config, Sickness::Latency).after;
    assert!(rising(&running) <= rising(&slow));
    assert!(4 * rising(&slow) < rising(&Config::new()));
}

#[test]
fn a_longer_wait_recovers_later_and_spares_the_sick() {
    let curve = |seconds| recovery::curve(&Config::new().wait(Duration::from_secs(seconds)));
    let mean = |curve: &[recovery::Recovery]| curve.iter().map(|one| one.took).sum::<Duration>();
    let hits = |curve: &[recovery::Recovery]| curve.iter().map(|one| one.hits).sum::<u32>();
    let curves = [1, 5, 10, 30].map(curve);
    for pair in curves.windows(2) {
        assert!(mean(&pair[0]) < mean(&pair[1]));
        assert!(2 * hits(&pair[0]) > 3 * hits(&pair[1]));
    }
    for (curve, wait) in curves.iter().zip([1, 5, 10, 30]) {
        let longest = curve.iter().map(|one| one.took).max();
        assert!(
            longest <= Some(Duration::from_secs(wait + 1)),
            "{longest:?}"
        );
    }
}

#[test]
fn stricter_rules_flap_less() {
    let half = |config: &Config| flapping::flaps(config, 50, 1);
    let new = Config::new;
    let ours = half(&new());
    assert!(ours.closings > 50, "half of the probes fail: {ours:?}");
    for config in [
        new().half_open_successes(3),
        new().half_open_success_rate(80.0),
        new().half_open_failures(1),
        new().wait_multiplier(2.0).wait_max(Duration::from_secs(60)),
        new()
            .half_open_attempts(1)
            .wait_max(Duration::from_secs(60)),
    ] {
        let strict = half(&config);
        assert!(strict.closings < ours.closings, "{config:?}: {strict:?}");
        assert!(strict.failed < ours.failed, "{config:?}: {strict:?}");
    }
}

#[test]
fn jitter_and_concurrency_lower_the_peak_of_a_fleet_and_a_ramp_its_return() {
    let new = Config::new;
    let ours = fleet::outage(&new());
    let jitter = fleet::outage(&new().wait_jitter(50.0));
    let one = fleet::outage(&new().half_open_concurrency(1));
    assert!(2 * jitter.peak_probes < ours.peak_probes, "{jitter:?}");
    assert!(2 * one.peak_probes <= ours.peak_probes, "{one:?}");
    let ramp = fleet::outage(&new().ramp(Duration::from_secs(30)));
    assert!(2 * ramp.steepest <= ours.steepest, "{ramp:?}");
    assert!(ramp.traffic_back > ours.traffic_back);
    assert_eq!(ramp.peak_probes, ours.peak_probes);
}

#[test]
fn the_same_each_time() {
    let config = Config::new().wait_jitter(20.0);
    assert_eq!(fleet::outage(&config), fleet::outage(&config));
    assert_eq!(
        flapping::flaps(&config, 50, 1),
        flapping::flaps(&config, 50, 1)
    );
}
