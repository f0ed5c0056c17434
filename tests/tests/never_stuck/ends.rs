//! Never stuck: one call a second is admitted in bounded time, and once the downstream is healthy
//! the breaker closes in bounded time.

use std::time::Duration;

use cb_runtime::{CircuitBreaker, MaxWaitState, Outcome, Snapshot, State};

use super::given::YEAR;
use super::world::{Checked, World, ensure};

const SECOND: Duration = Duration::from_secs(1);

/// Waits of decades count as for ever: the clock of a test ends after 584 years.
const FOR_EVER: Duration = YEAR.saturating_mul(10);

/// HALF_OPEN stays until the breaker is CLOSED: one that had failures before the downstream was
/// healthy, and one that has none.
const STAYS: usize = 2;

/// Whether somebody has decided that no probe is to be sent.
fn waits_for_ever(world: &World, shown: &Snapshot) -> bool {
    match shown.state {
        State::ForcedOpen => true,
        State::Open => shown.retry_after.is_none_or(|rest| rest > FOR_EVER),
        // Nothing ends a stay without a limit but the probes that are under way.
        State::HalfOpen => world.half_open().max_wait.is_none() && world.under_way() > 0,
        _ => false,
    }
}

/// Whole seconds until something can happen: calls before are all rejected.
fn idle(world: &World, shown: &Snapshot) -> Duration {
    let probes = shown.probes.as_ref();
    let pause = probes.and_then(|probes| probes.pause);
    let rest = match shown.state {
        State::Open => shown.retry_after,
        State::HalfOpen if pause.is_some() => pause,
        State::HalfOpen if !world.breaker.would_permit() => {
            probes.and_then(|probes| probes.ends_in)
        }
        _ => None,
    }
    .unwrap_or_default();
    let seconds = rest.as_secs() + u64::from(rest.subsec_nanos() > 0);
    SECOND * u32::try_from(seconds.max(1)).unwrap_or(u32::MAX)
}

/// Without any of the calls under way coming back, one call a second is admitted in time.
pub(crate) fn admits(world: &mut World) -> Checked {
    world.seen.probed();
    let begin = world.clock.elapsed();
    let longest_wait = world.given.longest_wait.max(world.by_hand_wait);
    // The stay that is going on, and the next one.
    let stays = [world.half_open(), world.given.half_open];
    let stay: Duration = stays.iter().filter_map(|stay| stay.max_wait).sum();
    let pause: Duration = stays.iter().filter_map(|stay| stay.delay).sum();
    // A ramp admits one of ten at first.
    let calls = if world.given.ramp { 13 } else { 3 };
    let bound = longest_wait
        .saturating_add(stay)
        .saturating_add(pause + calls * SECOND);
    loop {
        let asked = world.clock.elapsed();
        let answer = world.breaker.try_acquire();
        let waited = asked.saturating_sub(begin);
        if let Ok(permit) = answer {
            // Given back, so that the checks that follow find the stay as it was.
            permit.ignore();
            ensure!(waited <= bound, "no call admitted for {waited:?}");
            return Ok(());
        }
        let shown = world.breaker.snapshot();
        if waits_for_ever(world, &shown) {
            return Ok(());
        }
        ensure!(
            waited <= bound,
            "no call admitted for {waited:?}: {shown:?}"
        );
        world.clock.advance(idle(world, &shown));
    }
}

/// With a healthy downstream the breaker closes in bounded time.
pub(crate) fn closes(world: &mut World) -> Checked {
    world.seen.probed();
    let own = world.half_open();
    if own.max_wait.is_none() || world.given.half_open.max_wait.is_none() {
        // Only their return can end the stay.
        world.drop_calls();
    }
    let mut stays = Stays::default();
    // One that began under other settings may have had no chance.
    let changed = world.changed_in == world.breaker.snapshot().generation;
    let most = STAYS + usize::from(changed);
    loop {
        let shown = world.breaker.snapshot();
        match shown.state {
            State::Closed | State::Disabled | State::MetricsOnly => break,
            _ if waits_for_ever(world, &shown) => return Ok(()),
            _ => {}
        }
        if world.clock.elapsed() > super::world::OLDEST + YEAR * 20 {
            return Ok(());
        }
        if stays.count(&shown) > most {
            ensure!(hopeless(world), "healthy, and not CLOSED: {shown:?}");
            return Ok(());
        }
        let admitted = call(&world.breaker);
        let now = world.breaker.snapshot();
        let next = if admitted { SECOND } else { idle(world, &now) };
        world.clock.advance(next);
    }
    if stays.count == 0 {
        // It was not closed by this: failures may lie in the window.
        return Ok(());
    }
    let generation = world.breaker.snapshot().generation;
    for _ in 0..3 {
        let admitted = call(&world.breaker);
        ensure!(
            admitted || world.given.ramp,
            "rejected by a breaker that has closed"
        );
    }
    ensure!(
        world.breaker.snapshot().generation == generation,
        "opened by successes"
    );
    Ok(())
}

fn call(breaker: &CircuitBreaker) -> bool {
    match breaker.try_acquire() {
        Ok(permit) => {
            permit.finish(Outcome::Success);
            true
        }
        Err(_) => false,
    }
}

/// One call a second cannot make so many probes within the longest stay, and the configuration says
/// that the breaker then opens.
fn hopeless(world: &World) -> bool {
    let given = world.given.half_open;
    let free = given
        .max_wait
        .map(|limit| limit.saturating_sub(given.delay.unwrap_or_default()));
    given.max_wait_state == MaxWaitState::Open
        && free.is_some_and(|free| free < SECOND * (given.calls + 1))
}

/// The HALF_OPEN stays that were seen.
#[derive(Default)]
struct Stays {
    last: Option<u64>,
    count: usize,
}

impl Stays {
    fn count(&mut self, shown: &Snapshot) -> usize {
        if shown.state == State::HalfOpen && self.last != Some(shown.generation) {
            self.last = Some(shown.generation);
            self.count += 1;
        }
        self.count
    }
}
