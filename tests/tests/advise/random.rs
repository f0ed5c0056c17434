//! Random configurations, checked against the direct simulation.

use std::time::Duration;

use cb_runtime::advise::{Course, Outage, Traffic};
use cb_runtime::{Config, MaxWaitState, OnCancel, Window};
use cb_tests::harness::ms;

use crate::direct::{Direct, Given, STEP, Seen};
use crate::{KINDS, advice};

const CONFIGURATIONS: u64 = 20;

/// xorshift: any numbers will do, if they are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    fn count(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.between(low.into(), high.into())).unwrap()
    }

    fn percent(&mut self) -> f64 {
        self.count(20, 100).into()
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    /// A time in milliseconds.
    fn time(&mut self, low: u64, high: u64) -> u64 {
        self.between(low / STEP, high / STEP) * STEP
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    fn given(&mut self) -> Given {
        let periods = [40, 100, 250, 500, 800, 1000, 2000];
        let timeout = self.time(1000, 12_000);
        Given {
            period: periods[self.index(periods.len())],
            latency: self.time(10, 200),
            timeout,
            slow_latency: self.time(500, timeout),
            gives_up: self.time(500, timeout),
            concurrency: match self.one_in(2) {
                true => 2 + self.index(39),
                false => usize::MAX,
            },
        }
    }

    fn config(&mut self, given: &Given) -> Config {
        let mut config = Config::new();
        let mut largest = 100;
        if self.one_in(2) {
            largest = self.count(5, 60);
            config = config.window(Window::Calls(largest));
        } else {
            config = config.window(Window::Time(ms(1000 * self.between(2, 30))));
        }
        config = config
            .min_calls(self.count(1, 30).min(largest))
            .failure_rate(self.percent())
            .wait(ms(self.time(1000, 15_000)))
            .auto_half_open(self.one_in(2));
        if self.one_in(4) {
            config = config.warmup(ms(self.time(1000, 20_000)));
        }
        if self.one_in(2) {
            config = config.consecutive_failures_off();
        }
        if self.one_in(3) {
            config = config.failure_count(self.count(2, 20).min(largest));
        }
        if !self.one_in(3) {
            let limit = self.time(200, given.timeout);
            config = config.slow(ms(limit)).slow_rate(self.percent());
        }
        let on_cancel = [OnCancel::Slow, OnCancel::Ignore, OnCancel::Failure];
        config = config.on_cancel(on_cancel[self.index(3)]);
        let probes = self.count(1, 8);
        config = config
            .half_open_calls(probes)
            .half_open_concurrency(self.count(1, probes))
            .half_open_max_wait(ms(self.time(5000, 40_000)));
        match self.below(4) {
            0 => config = config.half_open_successes(self.count(1, probes)),
            1 => config = config.half_open_success_rate(self.percent()),
            2 => config = config.half_open_failures(self.count(1, probes)),
            _ => {}
        }
        if self.one_in(3) {
            config = config.half_open_delay(ms(self.time(500, 4000)));
        }
        if self.one_in(3) {
            config = config.wait_multiplier(2.0).wait_max(ms(20_000));
        }
        if self.one_in(3) {
            config = config.half_open_max_wait_state(MaxWaitState::Open);
        }
        config
    }
}

fn traffic(given: &Given) -> Traffic {
    let traffic = Traffic::per_second(1000.0 / f64::from(u32::try_from(given.period).unwrap()))
        .latency(ms(given.latency))
        .timeout(ms(given.timeout))
        .slow_latency(ms(given.slow_latency))
        .gives_up(ms(given.gives_up));
    match u32::try_from(given.concurrency) {
        Ok(calls) => traffic.concurrency(calls),
        Err(_) => traffic,
    }
}

fn opened(course: &Course) -> Option<Duration> {
    course.opening.map(|opening| opening.after)
}

/// From a fresh start there is nothing to choose: the figures are the same.
fn same_start(seen: &Seen, course: &Course, context: &str) {
    assert_eq!(seen.opened, opened(course), "{context}");
    assert_eq!(seen.stuck, course.stuck, "stuck, {context}");
    if let Some(opening) = course.opening {
        assert_eq!(seen.ended, opening.ended, "ended, {context}");
        assert_eq!(seen.sent, opening.sent, "sent, {context}");
        assert_eq!(seen.turned_away, course.turned_away, "away, {context}");
    }
}

/// A bucket or so; with few places calls end in bursts, a call's time apart.
fn slack(given: &Given) -> Duration {
    let bursts = given.concurrency < usize::MAX;
    ms(3000 + 2 * given.period + u64::from(bursts) * given.timeout)
}

/// How many good calls there were, and how they lie in the buckets of a time window, is left
/// open: the bad ones may have to wait for one bucket more, or for one less.
fn about_the_same(seen: &Seen, course: &Course, given: &Given, context: &str) {
    match (seen.opened, opened(course)) {
        (Some(seen), Some(said)) => {
            assert!(
                seen.abs_diff(said) <= slack(given),
                "{seen:?}, {said:?}, {context}"
            );
        }
        (seen, said) => assert_eq!(seen, said, "{context}"),
    }
}

/// It takes so long at the moment that was found, and no longer at others.
fn noticed(direct: &Direct<'_>, outage: &Outage, dice: &mut Dice, context: &str) {
    let (Some(healed), Some(took)) = (outage.healed, outage.recovery) else {
        return;
    };
    let healed = Duration::from_millis(u64::try_from(healed.as_millis()).unwrap());
    let limit = |healed| healed + 2 * took + ms(60_000);
    let closed = |healed| {
        let seen = direct.until_closed(healed, limit(healed));
        seen.closed.map(|closed| closed - healed)
    };
    // The nanosecond by which it heals after the call.
    let exact = took + Duration::from_nanos(1);
    assert_eq!(closed(healed), Some(exact), "recovery, {context}");
    let opened = opened(&outage.fresh).unwrap();
    let later = u64::try_from(healed.saturating_sub(opened).as_millis()).unwrap();
    for _ in 0..4 {
        let other = opened + ms(dice.below(later / STEP + 1) * STEP);
        let other = closed(other);
        assert!(
            other.is_some_and(|other| other <= exact),
            "{other:?}, {context}"
        );
    }
}

#[test]
fn a_direct_simulation_sees_the_same() {
    let mut dice = Dice(0x5eed_ca11);
    let (mut openings, mut recoveries) = (0, 0);
    for number in 0..CONFIGURATIONS {
        let given = dice.given();
        let config = dice.config(&given);
        let advice = advice(&config, &traffic(&given));
        for kind in KINDS {
            let outage = advice.outage(kind).unwrap();
            let context = format!("configuration {number}, {kind}: {given:?}, {config:?}");
            let mut direct = Direct {
                config: &config,
                given,
                kind,
                good: 0,
            };
            let seen = direct.until_open(outage.fresh.simulated);
            same_start(&seen, &outage.fresh, &context);
            noticed(&direct, outage, &mut dice, &context);
            openings += u32::from(outage.fresh.opening.is_some());
            recoveries += u32::from(outage.recovery.is_some());
            direct.good = 100 + 65_000 / given.period;
            let limit = outage.steady.simulated + slack(&given);
            let seen = direct.until_open(limit);
            about_the_same(&seen, &outage.steady, &given, &context);
        }
    }
    // Else this test has seen nothing.
    assert!(
        openings >= 40 && recoveries >= 40,
        "{openings}, {recoveries}"
    );
}
