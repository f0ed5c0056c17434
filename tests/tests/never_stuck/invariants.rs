//! What holds after every step.

use std::time::Duration;

use cb_runtime::{Cause, EventKind, MaxWaitState, Snapshot, State};

use super::world::{Checked, OLDEST, World, ensure};

/// What was seen last.
pub(crate) struct Seen {
    generation: u64,
    state: State,
    /// The end of the wait in this OPEN stay.
    deadline: Option<Duration>,
    /// The end of this HALF_OPEN stay.
    stay_end: Option<(u64, Duration)>,
    /// Where the last transition that was heard of led.
    heard: State,
    heard_at: Duration,
    heard_generation: u64,
}

impl Seen {
    pub(crate) fn first(shown: &Snapshot) -> Self {
        Self {
            generation: shown.generation,
            state: shown.state,
            deadline: None,
            stay_end: None,
            heard: shown.state,
            heard_at: Duration::ZERO,
            heard_generation: shown.generation,
        }
    }

    /// The settings have changed: an OPEN stay may end at another time.
    pub(crate) fn configured(&mut self) {
        self.deadline = None;
    }

    /// Probes have come and gone since the last look.
    pub(crate) fn probed(&mut self) {
        self.stay_end = None;
    }
}

/// Reads, compares with what was seen before, and checks that reading changes nothing.
pub(crate) fn hold(world: &mut World, by_hand: bool) -> Checked {
    world.look();
    let state = world.breaker.state();
    let shown = world.breaker.snapshot();
    let would = world.breaker.would_permit();
    let _ = world.breaker.explain();
    ensure!(
        shown.state == state,
        "state() says {state}, the snapshot {shown:?}"
    );
    let again = (
        world.breaker.state(),
        world.breaker.snapshot(),
        world.breaker.would_permit(),
    );
    ensure!(
        again == (state, shown.clone(), would),
        "reading changed {shown:?}\n to {:?}",
        again.1
    );
    figures(world, &shown)?;
    probes(world, &shown, would)?;
    stay(world, &shown, would)?;
    events(world, &shown, by_hand)
}

fn figures(world: &World, shown: &Snapshot) -> Checked {
    let recorded = shown.failed + shown.successful + shown.cancelled;
    ensure!(recorded == shown.calls, "calls do not add up: {shown:?}");
    ensure!(
        shown.slow_failed <= shown.slow
            && shown.slow_failed <= shown.failed
            && shown.cancelled <= shown.slow
            && shown.slow <= shown.calls,
        "slow calls do not add up: {shown:?}"
    );
    let in_window = matches!(shown.state, State::Closed | State::MetricsOnly);
    if let Some(calls) = world.given.window_calls.filter(|_| in_window) {
        ensure!(shown.calls <= calls, "more calls than the window holds");
    }
    if matches!(shown.state, State::ForcedOpen | State::Disabled) {
        ensure!(shown.calls == 0, "recorded in {}", shown.state);
    }
    let enough = shown.calls >= shown.min_calls;
    for (rate, part) in [
        (shown.failure_rate, shown.failed),
        (shown.slow_rate, shown.slow),
    ] {
        ensure!(rate.is_some() == enough, "a rate, or none: {shown:?}");
        let expected = f64::from(part) * 100.0 / f64::from(shown.calls);
        ensure!(
            rate.is_none_or(|rate| (rate - expected).abs() < 1e-9),
            "a rate of {rate:?}: {shown:?}"
        );
    }
    let under_way = world.under_way_in(shown.generation);
    let changed = world.changed_in == shown.generation;
    ensure!(
        shown.in_flight.is_none_or(|calls| {
            // Those that began before `count_running` was on are not seen.
            calls as usize == under_way || changed && (calls as usize) < under_way
        }) && shown.in_flight.is_some() == (in_window && world.given.count_running),
        "{under_way} calls under way: {shown:?}"
    );
    ensure!(shown.overdue <= shown.in_flight, "overdue: {shown:?}");
    let share = shown.admitted.unwrap_or(100.0);
    ensure!((10.0..=100.0).contains(&share), "a share of {share} %");
    ensure!(shown.dropped_events == 0, "events were dropped");
    Ok(())
}

fn probes(world: &mut World, shown: &Snapshot, would: bool) -> Checked {
    let Some(probes) = shown.probes else {
        ensure!(shown.state != State::HalfOpen, "HALF_OPEN without probes");
        return Ok(());
    };
    ensure!(shown.state == State::HalfOpen, "probes in {}", shown.state);
    let given = world.half_open();
    let under_way = world.under_way_in(shown.generation);
    ensure!(
        probes.in_flight as usize == under_way,
        "{under_way} probes under way, it says {probes:?}"
    );
    ensure!(
        probes.permitted == given.calls
            && probes.in_flight + probes.returned <= given.calls
            && probes.in_flight <= given.concurrency,
        "too many permits: {probes:?}"
    );
    let pausing = given.delay.is_some_and(|delay| shown.in_state_for < delay);
    ensure!(
        probes.pause.is_some() == pausing && probes.pause <= given.delay,
        "the pause: {shown:?}"
    );
    let room =
        probes.in_flight < given.concurrency && probes.in_flight + probes.returned < given.calls;
    ensure!(
        would == (room && !pausing),
        "would_permit() {would}: {shown:?}"
    );
    longest_stay(world, shown)
}

/// The end of the longest stay. Where the probes decide, it is counted from the first of them.
fn longest_stay(world: &mut World, shown: &Snapshot) -> Checked {
    let (given, seen) = (world.half_open(), &mut world.seen);
    let Some(probes) = shown.probes else {
        seen.stay_end = None;
        return Ok(());
    };
    let from_probes = given.max_wait_state == MaxWaitState::Decide;
    let counts = !from_probes || probes.in_flight + probes.returned > 0;
    let limit = given.max_wait.filter(|_| counts);
    ensure!(
        probes.ends_in.is_some() == limit.is_some(),
        "the end of the stay: {shown:?}"
    );
    let (Some(limit), Some(rest)) = (limit, probes.ends_in) else {
        seen.stay_end = None;
        return Ok(());
    };
    let expected = if from_probes {
        let end = world.clock.elapsed() + rest;
        let same = seen.stay_end.filter(|(stay, _)| *stay == shown.generation);
        seen.stay_end = Some((shown.generation, end));
        let pause = given.delay.unwrap_or_default();
        same.map_or(rest.min(limit - pause), |(_, same)| {
            same.saturating_sub(world.clock.elapsed())
        })
    } else {
        limit.saturating_sub(shown.in_state_for)
    };
    ensure!(
        rest == expected && !rest.is_zero(),
        "the stay ends in {expected:?}: {shown:?}"
    );
    Ok(())
}

fn stay(world: &mut World, shown: &Snapshot, would: bool) -> Checked {
    let now = world.clock.elapsed();
    let seen = &mut world.seen;
    ensure!(shown.generation >= seen.generation, "the generation fell");
    if shown.generation == seen.generation {
        ensure!(shown.state == seen.state, "another state in the same stay");
    } else {
        seen.deadline = None;
    }
    (seen.generation, seen.state) = (shown.generation, shown.state);
    match shown.state {
        State::Open => {
            ensure!(
                shown.wait.is_some() == shown.retry_after.is_some(),
                "a wait without an end or an end without a wait"
            );
            let (Some(wait), Some(rest)) = (shown.wait, shown.retry_after) else {
                ensure!(!would, "permitted in a wait without an end");
                return Ok(());
            };
            let longest = world.given.longest_wait.max(world.by_hand_wait);
            ensure!(
                wait <= longest && wait >= Duration::from_millis(1),
                "a wait of {wait:?}, at most {longest:?}"
            );
            // A breaker can keep time for 73 years.
            ensure!(
                rest == wait.saturating_sub(shown.in_state_for) || wait > OLDEST / 2,
                "retry_after {rest:?}: {shown:?}"
            );
            let deadline = *seen.deadline.get_or_insert(now + rest);
            ensure!(
                rest == deadline.saturating_sub(now),
                "the deadline moved from {deadline:?}"
            );
            let free = rest.is_zero() && world.given.half_open.delay.is_none();
            ensure!(would == free, "would_permit() {would}: {shown:?}");
        }
        State::ForcedOpen => ensure!(!would, "would permit in FORCED_OPEN"),
        State::Closed if shown.admitted.is_some() => {
            ensure!(world.given.ramp, "a ramp that nobody asked for");
        }
        State::Closed | State::Disabled | State::MetricsOnly => {
            ensure!(would, "would not permit in {}", shown.state);
        }
        _ => {}
    }
    if shown.state != State::Open {
        ensure!(
            shown.retry_after.is_none() && shown.wait.is_none(),
            "a wait in {}",
            shown.state
        );
    }
    Ok(())
}

/// The transitions are a chain of legal ones, in the order of time, up to the present state.
fn events(world: &mut World, shown: &Snapshot, by_hand: bool) -> Checked {
    let now = world.clock.elapsed();
    for event in world.log.take() {
        let seen = &mut world.seen;
        ensure!(
            event.at <= now && event.generation <= shown.generation,
            "from the future: {event:?}"
        );
        match event.kind {
            EventKind::Transition { from, to, cause } => {
                ensure!(
                    from == seen.heard && from != to,
                    "after {}: {event:?}",
                    seen.heard
                );
                ensure!(
                    event.at >= seen.heard_at && event.generation > seen.heard_generation,
                    "out of order: {event:?}"
                );
                let legal = if cause == Cause::Manual {
                    by_hand && (from, to) != (State::Closed, State::HalfOpen)
                } else {
                    matches!(
                        (from, to),
                        (State::Closed, State::Open)
                            | (State::Open, State::HalfOpen)
                            | (State::HalfOpen, State::Open | State::Closed)
                    )
                };
                ensure!(legal, "not legal: {event:?}");
                seen.heard = to;
                seen.heard_at = event.at;
                seen.heard_generation = event.generation;
            }
            EventKind::CyclesSkipped { cycles } => ensure!(
                cycles > 0 && seen.heard == State::Open,
                "skipped in {}: {event:?}",
                seen.heard
            ),
            _ => {}
        }
    }
    ensure!(
        world.seen.heard == shown.state,
        "heard of {}, now {}",
        world.seen.heard,
        shown.state
    );
    Ok(())
}
