//! A random configuration, and what the checks need to know of it.

use std::time::Duration;

use cb_runtime::{Config, MaxWaitState, Mode, OnCancel, State, Window};

use super::random::Random;

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
pub(crate) const YEAR: Duration = Duration::from_secs(365 * 86_400);

pub(crate) struct Given {
    pub(crate) config: Config,
    pub(crate) mode: State,
    /// Calls in a window of calls.
    pub(crate) window_calls: Option<u32>,
    /// The longest wait that the breaker itself may choose.
    pub(crate) longest_wait: Duration,
    pub(crate) half_open: HalfOpen,
    pub(crate) ramp: bool,
    pub(crate) count_running: bool,
}

/// What a HALF_OPEN stay keeps to its end.
#[derive(Clone, Copy)]
pub(crate) struct HalfOpen {
    pub(crate) calls: u32,
    pub(crate) concurrency: u32,
    pub(crate) delay: Option<Duration>,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) max_wait_state: MaxWaitState,
}

impl Given {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let mut config = Config::new();
        let window_calls = window(&mut config, random);
        let count_running = opening(&mut config, random, window_calls);
        let longest_wait = waits(&mut config, random);
        let mut given = Self {
            config,
            mode: State::Closed,
            window_calls,
            longest_wait,
            half_open: HalfOpen {
                calls: 5,
                concurrency: 5,
                delay: None,
                max_wait: Some(30 * SECOND),
                max_wait_state: MaxWaitState::Decide,
            },
            ramp: random.one_in(3),
            count_running,
        };
        if given.ramp {
            let time = random.pick(&[Duration::from_nanos(1), SECOND, 60 * SECOND, YEAR]);
            given.set(|config| config.ramp(time));
        }
        given.draw_half_open(random);
        if random.one_in(8) {
            let modes = [
                (Mode::Enabled, State::Closed),
                (Mode::MetricsOnly, State::MetricsOnly),
                (Mode::Disabled, State::Disabled),
                (Mode::ForcedOpen, State::ForcedOpen),
            ];
            let (mode, state) = random.pick(&modes);
            given.set(|config| config.mode(mode));
            given.mode = state;
        }
        given.config.validate().expect("the settings go together");
        given
    }

    fn set(&mut self, change: impl FnOnce(Config) -> Config) {
        self.config = change(std::mem::take(&mut self.config));
    }

    fn draw_half_open(&mut self, random: &mut Random) {
        if random.one_in(2) {
            let calls = random.pick(&[1, 2, 3, 10, 40, 1000]);
            self.half_open.calls = calls;
            self.set(|config| config.half_open_calls(calls));
        }
        let calls = self.half_open.calls;
        self.half_open.concurrency = calls;
        if random.one_in(3) {
            self.half_open.concurrency = random.between(1, calls);
            let concurrency = self.half_open.concurrency;
            self.set(|config| config.half_open_concurrency(concurrency));
        }
        self.half_open_times(random);
        self.half_open_rules(random, calls);
    }

    fn half_open_times(&mut self, random: &mut Random) {
        if random.one_in(4) {
            let delay = random.pick(&[MILLI, 500 * MILLI, 3 * SECOND, 20 * SECOND]);
            self.half_open.delay = Some(delay);
            self.set(|config| config.half_open_delay(delay));
        }
        if random.one_in(2) {
            let states = [
                MaxWaitState::Decide,
                MaxWaitState::Open,
                MaxWaitState::Closed,
            ];
            let state = random.pick(&states);
            self.half_open.max_wait_state = state;
            self.set(|config| config.half_open_max_wait_state(state));
        }
        if random.one_in(5) {
            self.half_open.max_wait = None;
            self.set(Config::half_open_max_wait_off);
        } else if random.one_in(2) {
            let short = match self.half_open.max_wait_state {
                // One call a second must find the stay before it is over.
                MaxWaitState::Open => SECOND,
                _ => Duration::ZERO,
            };
            let longer = [MILLI, SECOND, 10 * SECOND, 3600 * SECOND, YEAR];
            let free = short + random.pick(&longer);
            let max_wait = self.half_open.delay.unwrap_or_default() + free;
            self.half_open.max_wait = Some(max_wait);
            self.set(|config| config.half_open_max_wait(max_wait));
        }
    }

    fn half_open_rules(&mut self, random: &mut Random, calls: u32) {
        let rate = random.pick(&[1.0, 30.0, 50.0, 100.0]);
        let (successes, failures) = (random.between(1, calls), random.between(1, calls));
        let with_failures = random.one_in(3);
        if with_failures {
            self.set(|config| config.half_open_failures(failures));
            if random.one_in(2) {
                let window = random.pick(&[MILLI, SECOND, 10 * SECOND]);
                self.set(|config| config.half_open_failure_window(window));
            }
        }
        match random.below(4) {
            0 => self.set(|config| config.half_open_successes(successes)),
            1 => self.set(|config| config.half_open_success_rate(rate)),
            2 if !with_failures => self.set(|config| config.half_open_failure_rate(rate)),
            _ => {}
        }
    }
}

fn window(config: &mut Config, random: &mut Random) -> Option<u32> {
    let given = std::mem::take(config);
    let seconds = random.pick(&[1, 5, 12, 30, 60, 3600, 86_400]);
    let (changed, calls) = match random.below(6) {
        0 => (given, None),
        1 => {
            let time = Window::Time(Duration::from_secs(seconds));
            (given.window(time), None)
        }
        2 => {
            let buckets = random.between(1, 100);
            let time = Window::Time(Duration::from_secs(seconds));
            (given.window(time).buckets(buckets), None)
        }
        3 => {
            let calls = random.pick(&[63, 64, 65, 300]);
            (given.window(Window::Calls(calls)), Some(calls))
        }
        _ => {
            let calls = random.between(1, 15);
            (given.window(Window::Calls(calls)), Some(calls))
        }
    };
    *config = changed;
    calls
}

/// Returns whether calls under way count.
fn opening(config: &mut Config, random: &mut Random, window_calls: Option<u32>) -> bool {
    let mut given = std::mem::take(config);
    let most = window_calls.unwrap_or(30);
    if random.one_in(2) {
        given = given.min_calls(random.between(1, most));
    }
    if random.one_in(2) {
        given = given.failure_rate(random.pick(&[0.1, 1.0, 29.0, 66.6, 100.0]));
    }
    let mut count_running = false;
    if random.one_in(2) {
        let slow = random.pick(&[Duration::from_nanos(1), MILLI, SECOND, YEAR, Duration::MAX]);
        given = given.slow(slow);
        // A ring of sixteenths of `slow`, with numbers that are to last for decades.
        count_running = slow >= SECOND && random.one_in(2);
        given = given.count_running(count_running);
        if random.one_in(2) {
            given = given.slow_rate(random.pick(&[1.0, 30.0, 100.0]));
        }
        if random.one_in(2) {
            given =
                given.half_open_slow((slow / random.between(1, 2)).max(Duration::from_nanos(1)));
        }
    }
    if random.one_in(3) {
        given = given.failure_count(random.between(1, most));
    }
    given = match random.below(3) {
        0 => given.consecutive_failures(random.between(1, 12)),
        1 => given.consecutive_failures_off(),
        _ => given,
    };
    if random.one_in(5) {
        given = given.warmup(random.pick(&[Duration::from_nanos(1), SECOND, YEAR]));
    }
    let on_cancel = random.pick(&[OnCancel::Slow, OnCancel::Ignore, OnCancel::Failure]);
    *config = given.on_cancel(on_cancel);
    count_running
}

/// Returns the longest wait.
fn waits(config: &mut Config, random: &mut Random) -> Duration {
    let mut given = std::mem::take(config);
    let mut wait = Duration::from_secs(10);
    if random.one_in(2) {
        let waits = [
            Duration::from_nanos(1),
            Duration::from_micros(300),
            MILLI,
            777 * MILLI,
            SECOND,
            3600 * SECOND,
            YEAR,
            Duration::MAX,
        ];
        wait = random.pick(&waits);
        given = given.wait(wait);
    }
    let mut longest = wait;
    if random.one_in(3) {
        let jitter = random.pick(&[1.0, 20.0, 100.0]);
        given = given.wait_jitter(jitter);
        longest = wait.max(MILLI).saturating_mul(2);
    }
    if random.one_in(2) {
        let max = match random.below(8) {
            0 => wait,
            1 => Duration::MAX,
            _ => wait.saturating_mul(random.between(1, 9)),
        };
        longest = max;
        given = given.wait_max(max);
        if random.one_in(2) {
            given = given.wait_multiplier(random.pick(&[1.0, 1.001, 1.5, 2.0, 100.0]));
        }
        if random.one_in(3) {
            given = given.wait_by_failure_rate(true);
        }
        if random.one_in(3) {
            given = given.half_open_attempts(random.pick(&[1, 2, 5, 10_000]));
        }
    }
    if random.one_in(4) {
        given = given.wait_recover(random.pick(&[Duration::from_nanos(1), SECOND, YEAR]));
    }
    *config = given.auto_half_open(random.one_in(2));
    longest.max(MILLI)
}
