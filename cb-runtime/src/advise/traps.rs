//! What is likely not meant.

use std::fmt;
use std::time::Duration;

use super::study::Study;
use super::{Advice, Course, Outage, OutageKind};
use crate::clock::{TestClock, nanos};
use crate::config::{Mode, Settings, Window, resolve};
use crate::error::ConfigError;
use crate::explain::Seconds;
use crate::outcome::OnCancel;
use crate::registry::Registry;
use crate::state::State;

/// Later than this is late.
const LATE: Duration = Duration::from_secs(60);
const OLD: Duration = Duration::from_secs(300);
const LONG_TIMEOUT: Duration = Duration::from_secs(5);
const SHORT_WAIT: Duration = Duration::from_secs(3);
const LONG_WAIT: Duration = Duration::from_secs(60);
/// The default of `min_calls`.
const FEW_CALLS: u32 = 10;

/// A warning: `Display` is a sentence or two that say what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Which trap it is.
    pub trap: Trap,
    /// In words.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The known traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trap {
    /// `mode` is not `enabled`.
    NotEnabled,
    /// Opens while all is well.
    OpensWhenHealthy,
    /// A kind of outage does not open it.
    NeverOpens,
    /// The window never holds `min_calls` calls at this rate, so no rate is ever judged.
    MinimumNeverReached,
    /// Opens more than a minute after the outage began.
    LateOpening,
    /// All of the traffic's `concurrency` is taken before it opens.
    PlacesTaken,
    /// `slow` is not below the timeout: what hangs is never slow.
    SlowNotBelowTimeout,
    /// `slow` is off, and a call can take longer than 5 s.
    SlowOff,
    /// Opens in an outage and then stays OPEN or HALF_OPEN, though the downstream has healed.
    NeverCloses,
    /// `half_open_max_wait` is off.
    HalfOpenUnlimited,
    /// A window of calls in which some are older than 5 minutes.
    OldCalls,
    /// `wait` is below 3 s.
    ShortWait,
    /// `wait` is above 60 s.
    LongWait,
    /// A single good probe closes.
    OneSuccessCloses,
}

pub(super) fn find(study: &Study<'_>, advice: &Advice) -> Result<Vec<Warning>, ConfigError> {
    let mut found = Found(Vec::new());
    if study.settings.mode != Mode::Enabled {
        let mode = study.settings.mode;
        found.say(
            Trap::NotEnabled,
            format!("`mode` is {mode:?}: the breaker does not open by itself."),
        );
    }
    let healthy = study.healthy()?;
    if healthy.opened_before {
        found.say(
            Trap::OpensWhenHealthy,
            format!(
                "It opens while all is well: a good call takes {}, which counts as slow.",
                Seconds(study.traffic.latency)
            ),
        );
    }
    let starved = healthy.recorded < study.settings.min_calls && !healthy.opened_before;
    if study.settings.mode == Mode::Enabled {
        for outage in &advice.outages {
            never_opens(study, outage, starved, &mut found);
        }
    }
    if starved {
        minimum(study, healthy.recorded, &mut found);
    }
    for outage in &advice.outages {
        late(study, outage, &mut found)?;
    }
    for outage in &advice.outages {
        places(study, outage, &mut found);
    }
    slow(study, &mut found);
    recovery(study, advice, &mut found)?;
    Ok(found.0)
}

struct Found(Vec<Warning>);

impl Found {
    fn say(&mut self, trap: Trap, text: String) {
        self.0.push(Warning { trap, text });
    }
}

fn never_opens(study: &Study<'_>, outage: &Outage, starved: bool, found: &mut Found) {
    if outage.worst().opening.is_some() {
        return;
    }
    let Settings {
        slow, on_cancel, ..
    } = *study.settings;
    let time = outage.call_time;
    let dropped = outage.kind == OutageKind::Dropped;
    let unnoticed = match slow.map(Duration::from_nanos) {
        None if dropped => Some("`slow` is off, so a dropped call leaves no trace".into()),
        None => Some("`slow` is off, so a late success is a good one".into()),
        Some(slow) if time.is_some_and(|time| time <= slow) => Some(format!(
            "none runs for longer than `slow`, {}",
            Seconds(slow)
        )),
        Some(_) => None,
    };
    let reason = match (outage.kind, on_cancel) {
        (OutageKind::Hang, _) if time.is_none() => Some(
            "a call without a timeout never has an outcome; give it one, or set `count_running`"
                .into(),
        ),
        (OutageKind::Dropped, OnCancel::Ignore) => {
            Some("`on_cancel` is `ignore`, so dropped calls leave no trace".into())
        }
        (OutageKind::Dropped, OnCancel::Slow) | (OutageKind::Slow, _) => unnoticed,
        _ => None,
    };
    let reason = reason.unwrap_or_else(|| {
        if starved {
            let min_calls = study.settings.min_calls;
            format!(
                "no rate is judged, since the window never holds `min_calls`, {min_calls} calls"
            )
        } else {
            "no rule reaches its limit".into()
        }
    });
    let kind = outage.kind;
    found.say(
        Trap::NeverOpens,
        format!("{kind} never open it, nothing is protected: {reason}."),
    );
}

fn minimum(study: &Study<'_>, recorded: u32, found: &mut Found) {
    let settings = study.settings;
    let window = match settings.window {
        Window::Time(time) => format!("the last {}", Seconds(time)),
        Window::Calls(calls) => format!("the last {calls} calls"),
    };
    let mut others = Vec::new();
    if let Some(failures) = settings.failure_count.filter(|count| *count <= recorded) {
        others.push(format!("`failure_count` ({failures})"));
    }
    if let Some(failures) = settings.consecutive_failures {
        others.push(format!("`consecutive_failures` ({failures})"));
    }
    let others = if others.is_empty() {
        "Nothing else would open it".into()
    } else {
        format!("Only {} can open it", others.join(" and "))
    };
    found.say(
        Trap::MinimumNeverReached,
        format!(
            "`min_calls` is {}, but {window} never hold more than {recorded} calls: no rate is ever \
             judged. {others}.",
            settings.min_calls
        ),
    );
}

fn late(study: &Study<'_>, outage: &Outage, found: &mut Found) -> Result<(), ConfigError> {
    let worst = outage.worst();
    let Some(opening) = worst.opening.filter(|opening| opening.after > LATE) else {
        return Ok(());
    };
    let lowered = with_few_calls(study, outage.kind)?;
    let sooner = lowered
        .and_then(|course| course.opening)
        .filter(|sooner| sooner.after.mul_f64(1.1) < opening.after);
    let cause = match (sooner, outage.call_time) {
        (Some(sooner), _) if worst == &outage.fresh => format!(
            "no rate is judged below `min_calls`, {} calls; with {FEW_CALLS} it would open after {}",
            study.settings.min_calls,
            Seconds(sooner.after)
        ),
        (_, Some(time)) if time * 2 > opening.after => {
            format!("the first call has no outcome before {}", Seconds(time))
        }
        _ if worst == &outage.steady => format!(
            "the good calls before it outweigh the first bad ones ({})",
            opening.cause
        ),
        _ => opening.cause.to_string(),
    };
    found.say(
        Trap::LateOpening,
        format!(
            "{}: nothing is protected for {}. The cause: {cause}.",
            outage.kind,
            Seconds(opening.after)
        ),
    );
    Ok(())
}

/// What would happen with a small `min_calls`, if it is not small.
fn with_few_calls(study: &Study<'_>, kind: OutageKind) -> Result<Option<Course>, ConfigError> {
    if study.settings.min_calls <= FEW_CALLS {
        return Ok(None);
    }
    let config = study.config.clone().min_calls(FEW_CALLS);
    let settings = resolve(&config, None)?;
    let study = Study::new(&config, &settings, study.traffic);
    study.fresh(kind).map(Some)
}

fn places(study: &Study<'_>, outage: &Outage, found: &mut Found) {
    let worst = outage.worst();
    let taken = |calls: &u32| worst.stuck >= u64::from(*calls) && worst.turned_away > 0;
    if let Some(calls) = study.traffic.concurrency.filter(taken) {
        let until = match worst.opening {
            Some(opening) => format!("before it opens after {}", Seconds(opening.after)),
            None => "and it never opens".into(),
        };
        found.say(
            Trap::PlacesTaken,
            format!(
                "{}: all {calls} places are taken {until}; {} calls find none.",
                outage.kind, worst.turned_away
            ),
        );
    }
}

fn slow(study: &Study<'_>, found: &mut Found) {
    let timeout = study.traffic.timeout;
    match (study.settings.slow.map(Duration::from_nanos), timeout) {
        (Some(slow), Some(timeout)) if slow >= timeout => found.say(
            Trap::SlowNotBelowTimeout,
            format!(
                "`slow` is {}, but no call runs for longer than its timeout of {}: none is ever slow.",
                Seconds(slow),
                Seconds(timeout)
            ),
        ),
        (None, timeout) if timeout.is_none_or(|timeout| timeout > LONG_TIMEOUT) => {
            let up_to = match timeout {
                Some(timeout) => format!("up to {}", Seconds(timeout)),
                None => "for ever".into(),
            };
            found.say(
                Trap::SlowOff,
                format!("`slow` is off, but a call can run {up_to}: a slow success is a good one."),
            );
        }
        _ => {}
    }
}

fn recovery(study: &Study<'_>, advice: &Advice, found: &mut Found) -> Result<(), ConfigError> {
    let settings = study.settings;
    let rate = study.traffic.rate;
    for outage in &advice.outages {
        if outage.fresh.opening.is_some() && outage.recovery.is_none() {
            let kind = outage.kind;
            found.say(
                Trap::NeverCloses,
                format!("{kind} open it, and it does not close after the downstream has healed."),
            );
        }
    }
    if settings
        .half_open_max_wait
        .is_none_or(|limit| limit == u64::MAX)
    {
        found.say(
            Trap::HalfOpenUnlimited,
            format!(
                "`half_open_max_wait` is off: with a probe that hangs, or fewer than {} calls, \
                 HALF_OPEN lasts for ever.",
                settings.half_open_calls
            ),
        );
    }
    if let Window::Calls(calls) = settings.window {
        let age = Duration::try_from_secs_f64(f64::from(calls) / rate).unwrap_or(Duration::MAX);
        if age > OLD {
            found.say(
                Trap::OldCalls,
                format!(
                    "The last {calls} calls reach back {} at this rate: the rates are about a time \
                     long past. Use a window of time, or a shorter one.",
                    Seconds(age)
                ),
            );
        }
    }
    let wait = Duration::from_nanos(settings.wait);
    if wait < SHORT_WAIT {
        found.say(
            Trap::ShortWait,
            format!(
                "`wait` is {}: a downstream that is down is probed without a pause to recover.",
                Seconds(wait)
            ),
        );
    } else if wait > LONG_WAIT {
        found.say(
            Trap::LongWait,
            format!(
                "`wait` is {}: callers are refused for so long though the downstream may be well.",
                Seconds(wait)
            ),
        );
    }
    if settings.mode == Mode::Enabled && closes_at_once(study)? {
        found.say(
            Trap::OneSuccessCloses,
            "One good probe closes it: a downstream that recovers only partly makes it flap."
                .into(),
        );
    }
    Ok(())
}

/// Whether one good probe closes the breaker.
fn closes_at_once(study: &Study<'_>) -> Result<bool, ConfigError> {
    let clock = TestClock::new();
    let breaker = Registry::with_clock(&clock).create("advise", study.config)?;
    let _ = breaker.open();
    let _ = breaker.half_open();
    clock.advance(Duration::from_nanos(
        study.settings.half_open_delay.unwrap_or(0),
    ));
    if let Ok(probe) = breaker.try_acquire() {
        // Its time must not be what ends HALF_OPEN.
        let limit = study.settings.half_open_max_wait.unwrap_or(u64::MAX);
        let time = nanos(study.traffic.latency).min(limit / 4);
        clock.advance(Duration::from_nanos(time));
        probe.success();
    }
    Ok(breaker.state() == State::Closed)
}
