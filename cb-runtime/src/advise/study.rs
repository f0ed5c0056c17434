//! Which simulations answer the questions.

use std::time::Duration;

use super::simulate::{Ending, Run, Scene, Sickness, Until};
use super::{Change, Course, Opening, Outage, OutageKind, Traffic};
use crate::clock::{Nanos, nanos};
use crate::config::{Config, Settings, Window};
use crate::error::ConfigError;

/// So many calls are simulated one by one; of more than that, only some are.
const MANY_CALLS: f64 = 100_000.0;
/// More than this are never simulated, even if a limit may then not be reached.
const TOO_MANY_CALLS: f64 = 1_000_000.0;
/// Events in all the simulations that look for the worst moment to heal, or that make a fleet.
const EFFORT: u64 = 500_000;
/// At so many moments the downstream heals, if there are more to choose from.
const MOMENTS: usize = 64;
/// So many instances stand for a larger fleet.
const FLEET: u32 = 64;
const WEEK: Nanos = 7 * 86_400 * SECOND;
const SECOND: Nanos = 1_000_000_000;

pub(super) struct Study<'a> {
    pub(super) config: &'a Config,
    pub(super) settings: &'a Settings,
    pub(super) traffic: &'a Traffic,
    pub(super) sampling: u64,
    /// Calls a second that are simulated.
    rate: f64,
}

impl<'a> Study<'a> {
    pub(super) fn new(config: &'a Config, settings: &'a Settings, traffic: &'a Traffic) -> Self {
        let mut study = Self {
            config,
            settings,
            traffic,
            sampling: 1,
            rate: traffic.rate,
        };
        study.sample();
        study
    }

    /// At an extreme rate, simulates only some of the calls, but enough to reach each limit.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 10⁷
    fn sample(&mut self) {
        let (window, longest) = (seconds(self.window()), seconds(self.longest_call()));
        let warmup = seconds(self.settings.warmup.unwrap_or(0));
        let places = self.places();
        // Calls that find no place cost nothing.
        let admitted = self.admitted(nanos(self.traffic.latency));
        let calls = admitted * (warmup + window + longest);
        let failures = self.settings.failure_count.unwrap_or(0);
        let needed = f64::from(self.settings.min_calls.max(failures));
        // What is simulated can still be twice as many as are needed, and takes at most a second
        // more to come to as many as a limit counts.
        let most = if window > 0.0 {
            let ended = self.admitted(self.longest_call()) * window;
            places.min(ended / (2.0 * needed))
        } else {
            places
        };
        let most = most.min(self.rate / f64::from(self.calls()));
        let sampling = (calls / MANY_CALLS).min(most);
        let sampling = sampling.max(calls / TOO_MANY_CALLS).max(1.0).floor();
        self.sampling = sampling as u64;
        self.rate /= sampling;
    }

    /// The length of a time window, else 0.
    fn window(&self) -> Nanos {
        match self.settings.window {
            Window::Time(time) => nanos(time),
            Window::Calls(_) => 0,
        }
    }

    /// How many calls a second find a place, if each takes so long.
    fn admitted(&self, time: Nanos) -> f64 {
        self.rate.min(self.places() / seconds(time))
    }

    /// For the calls that are simulated.
    fn places(&self) -> f64 {
        let sampling = u32::try_from(self.sampling).unwrap_or(u32::MAX);
        let places = self.traffic.concurrency;
        places.map_or(f64::INFINITY, |calls| f64::from(calls.div_ceil(sampling)))
    }

    fn longest_call(&self) -> Nanos {
        let traffic = self.traffic;
        let times = [
            traffic.latency,
            traffic.timeout.unwrap_or_default(),
            traffic.slow_time(),
            traffic.drop_time(),
        ];
        times.into_iter().max().map_or(0, nanos)
    }

    /// So many calls fill a window of calls and reach every limit.
    fn calls(&self) -> u32 {
        let settings = self.settings;
        let window = match settings.window {
            Window::Calls(calls) => calls,
            Window::Time(_) => 0,
        };
        let failures = settings
            .failure_count
            .max(settings.consecutive_failures)
            .unwrap_or(0);
        window.max(settings.min_calls).max(failures)
    }

    pub(super) fn sickness(&self, kind: OutageKind) -> Sickness {
        let traffic = self.traffic;
        let (ending, after) = match kind {
            OutageKind::Errors => (Ending::Failure, Some(traffic.latency)),
            OutageKind::Slow => (Ending::Success, Some(traffic.slow_time())),
            OutageKind::Hang => (Ending::Failure, traffic.timeout),
            OutageKind::Dropped => (Ending::Dropped, Some(traffic.drop_time())),
        };
        Sickness {
            ending,
            after: after.map(nanos),
        }
    }

    /// An outage of this kind from the first call on.
    fn scene(&self, kind: OutageKind) -> Scene<'a> {
        let fill = f64::from(self.calls() + 1) / self.admitted(self.longest_call());
        let warmup = seconds(self.settings.warmup.unwrap_or(0));
        let span = warmup + seconds(self.window()) + seconds(self.longest_call()) + fill;
        let horizon = Duration::try_from_secs_f64(2.0 * span).map_or(WEEK, nanos);
        let sampling = self.sampling;
        Scene {
            config: self.config,
            settings: self.settings,
            rate: self.rate,
            latency: nanos(self.traffic.latency),
            places: self
                .traffic
                .concurrency
                .map_or(u64::MAX, |calls| u64::from(calls).div_ceil(sampling)),
            sickness: self.sickness(kind),
            healthy_calls: 0,
            heals: None,
            phase: 0,
            draws: 0,
            horizon: horizon.min(WEEK),
            effort: u64::MAX,
        }
    }

    /// Enough good calls to fill any window, and for the oldest bucket to have gone once.
    fn steady_scene(&self, kind: OutageKind) -> Scene<'a> {
        let time = 1.2 * seconds(self.window()) * self.rate;
        let turned_away = self.rate / self.admitted(nanos(self.traffic.latency));
        let calls = (f64::from(self.calls()) * turned_away).max(time);
        // What begins during the warm-up does not count.
        let lost = seconds(self.settings.warmup.unwrap_or(0)) + self.traffic.latency.as_secs_f64();
        let lost = lost * self.rate;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let healthy_calls = (calls + lost) as u64 + 2;
        Scene {
            healthy_calls,
            ..self.scene(kind)
        }
    }

    /// Good calls only.
    pub(super) fn healthy(&self) -> Result<Run, ConfigError> {
        let scene = Scene {
            horizon: 0,
            ..self.steady_scene(OutageKind::Errors)
        };
        scene.run(Until::Opened)
    }

    pub(super) fn fresh(&self, kind: OutageKind) -> Result<Course, ConfigError> {
        Ok(self.course(&self.scene(kind).run(Until::Opened)?))
    }

    fn course(&self, run: &Run) -> Course {
        Course {
            opening: run.opening().map(|shift| Opening {
                after: Duration::from_nanos(shift.at),
                sent: run.sent * self.sampling,
                ended: run.ended * self.sampling,
                cause: shift.cause,
            }),
            stuck: run.stuck * self.sampling,
            turned_away: run.turned_away * self.sampling,
            simulated: Duration::from_nanos(run.lasted),
        }
    }

    pub(super) fn outage(&self, kind: OutageKind) -> Result<Outage, ConfigError> {
        let fresh = self.scene(kind).run(Until::Opened)?;
        let steady = self.steady_scene(kind).run(Until::Opened)?;
        let mut outage = Outage {
            kind,
            call_time: self.sickness(kind).after.map(Duration::from_nanos),
            fresh: self.course(&fresh),
            steady: self.course(&steady),
            recovery: None,
            fleet_probes: 0,
            fleet_probes_per_second: 0,
            timeline: Vec::new(),
            healed: None,
        };
        if fresh.opening().is_some() {
            self.recovery(&fresh, &mut outage)?;
        }
        Ok(outage)
    }

    /// From here on the outage is a long one.
    fn long_scene(&self, kind: OutageKind, opening: &Run) -> Scene<'a> {
        Scene {
            horizon: 100 * 365 * 86_400 * SECOND,
            effort: 10_000 + 4 * opening.events,
            ..self.scene(kind)
        }
    }

    fn recovery(&self, opening: &Run, outage: &mut Outage) -> Result<(), ConfigError> {
        let config = self.longest_waits();
        let mut scene = Scene {
            config: &config,
            ..self.long_scene(outage.kind, opening)
        };
        let sick = scene.run(Until::Settled)?;
        // What happens depends on the healing only by the calls that come before it, so the worst
        // moment is right after one.
        let moments = moments(&sick);
        let tries = (EFFORT / sick.events.max(1)).max(2);
        let tries = usize::try_from(tries).map_or(MOMENTS, |tries| tries.min(MOMENTS));
        let mut worst: Option<(Nanos, Nanos, Run)> = None;
        let mut stays_open = false;
        for moment in spread(&moments, tries) {
            let healed = moment + 1;
            scene.heals = Some(healed);
            let run = scene.run(Until::Closed)?;
            let Some(closed) = run.closed() else {
                stays_open = true;
                worst = Some((Nanos::MAX, healed, run));
                break;
            };
            let took = closed.saturating_sub(healed);
            if worst.as_ref().is_none_or(|(longest, ..)| took >= *longest) {
                worst = Some((took, healed, run));
            }
        }
        let shown = worst.as_ref().map_or(&sick, |(.., run)| run);
        outage.timeline = shown
            .shifts
            .iter()
            .map(|shift| Change {
                at: Duration::from_nanos(shift.at),
                to: shift.to,
                cause: shift.cause,
            })
            .collect();
        let healed = worst.as_ref().map_or(0, |(_, healed, _)| *healed);
        outage.healed = Some(Duration::from_nanos(healed));
        outage.recovery = worst
            .filter(|_| !stays_open)
            .map(|(took, ..)| Duration::from_nanos(took));
        self.fleet(opening, &sick, outage)
    }

    /// The configuration with each random wait at its longest.
    fn longest_waits(&self) -> Config {
        let mut config = self.config.clone();
        let Settings {
            wait,
            wait_max,
            wait_jitter,
            ..
        } = *self.settings;
        if let Some(jitter) = wait_jitter {
            let longest = Duration::try_from_secs_f64(seconds(wait) * (1.0 + jitter));
            let longest = longest.map_or(Nanos::MAX, nanos).max(wait);
            config = config
                .wait_jitter_off()
                .wait(Duration::from_nanos(longest.min(wait_max)));
        }
        config
    }

    /// All instances see the same outage, with their calls evenly spread over each other's.
    fn fleet(&self, opening: &Run, sick: &Run, outage: &mut Outage) -> Result<(), ConfigError> {
        let mut scene = self.long_scene(outage.kind, opening);
        // After some rounds, and not in the middle of one.
        scene.heals = sick.openings().last().map(|shift| shift.at + 1);
        let instances = self.traffic.instances;
        let affordable = (EFFORT / (scene.effort / 4).max(1)).max(1);
        let simulated = u32::try_from(affordable)
            .unwrap_or(FLEET)
            .min(FLEET)
            .min(instances);
        let mut probes = Vec::new();
        for instance in 0..simulated {
            let late = f64::from(instance) / f64::from(simulated) / self.rate;
            scene.phase = Duration::try_from_secs_f64(late).map_or(0, nanos);
            scene.draws = instance;
            probes.extend(scene.run(Until::Closed)?.probes);
        }
        let whole = |peak: u64| (peak * u64::from(instances)).div_ceil(u64::from(simulated.max(1)));
        outage.fleet_probes = whole(peak(probes.iter().copied()));
        let second = probes.iter().map(|(begin, _)| (*begin, begin + SECOND));
        outage.fleet_probes_per_second = whole(peak(second));
        Ok(())
    }
}

fn seconds(time: Nanos) -> f64 {
    Duration::from_nanos(time).as_secs_f64()
}

/// When the downstream may heal: at the first of the last three openings, or right after one of
/// the probes since then. Two rounds, since one can differ from the next: the calls go on at their
/// own pace.
fn moments(run: &Run) -> Vec<Nanos> {
    let first = run
        .openings()
        .rev()
        .take(3)
        .last()
        .map_or(0, |shift| shift.at);
    let last = run.openings().last().map_or(0, |shift| shift.at);
    let begins = run.probes.iter().map(|(began, _)| *began);
    let complete = begins.filter(|at| (first..last).contains(at));
    std::iter::once(first).chain(complete).collect()
}

/// At most so many of them, the first and the last among them.
fn spread(moments: &[Nanos], most: usize) -> Vec<Nanos> {
    if moments.len() <= most {
        return moments.to_vec();
    }
    (0..most)
        .map(|index| moments[index * (moments.len() - 1) / (most - 1)])
        .collect()
}

/// The most of these intervals that overlap.
fn peak(intervals: impl Iterator<Item = (Nanos, Nanos)>) -> u64 {
    let mut edges: Vec<(Nanos, bool)> = intervals
        .flat_map(|(begin, end)| [(begin, true), (end, false)])
        .collect();
    // An end comes before a beginning at the same time.
    edges.sort_unstable();
    let (mut now, mut most) = (0_u64, 0);
    for (_, begins) in edges {
        now = if begins {
            now + 1
        } else {
            now.saturating_sub(1)
        };
        most = most.max(now);
    }
    most
}
