//! An outage as lines of text: the transitions, and a strip of the states.

use std::fmt::Write as _;
use std::time::Duration;

use cb_runtime::State;
use cb_runtime::advise::{Change, Outage};

use crate::units::short;

const WIDTH: u32 = 72;
/// So many transitions at the beginning, and as many at the end.
const SHOWN: usize = 6;

/// A stretch of one state.
pub(crate) struct Stretch {
    pub(crate) state: State,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

/// When the timeline ends.
pub(crate) fn end(outage: &Outage) -> Duration {
    let last = outage.timeline.last().map(|change| change.at);
    let end = last.max(outage.healed).unwrap_or(outage.fresh.simulated);
    // A little of the last state.
    end + end / 12
}

/// The states from the beginning of the outage on.
pub(crate) fn stretches(outage: &Outage) -> Vec<Stretch> {
    let mut stretches = vec![Stretch {
        state: State::Closed,
        from: Duration::ZERO,
        to: end(outage),
    }];
    for change in &outage.timeline {
        if let Some(last) = stretches.last_mut() {
            last.to = change.at;
        }
        stretches.push(Stretch {
            state: change.to,
            from: change.at,
            to: end(outage),
        });
    }
    stretches
}

pub(crate) fn of(outage: &Outage) -> String {
    let mut text = format!("{}\n", outage.kind);
    let _ = writeln!(text, "  {}", strip(outage));
    let _ = writeln!(
        text,
        "  0s{:>width$}",
        short(end(outage)),
        width = WIDTH as usize - 2
    );
    if outage.timeline.is_empty() {
        text += "  It stays CLOSED.\n";
        return text;
    }
    let mut lines: Vec<(Duration, String)> = outage.timeline.iter().map(line).collect();
    if let Some(healed) = outage.healed {
        // It heals right after a call, so before anything else at that instant.
        let place = lines.partition_point(|(at, _)| *at < healed);
        lines.insert(place, (healed, "the downstream heals".into()));
    }
    let left_out = lines.len().saturating_sub(2 * SHOWN);
    for (index, (at, what)) in lines.iter().enumerate() {
        if left_out > 0 && index == SHOWN {
            let _ = writeln!(text, "  {:>9}  ({left_out} more)", "...");
        }
        if left_out == 0 || index < SHOWN || index >= SHOWN + left_out {
            let _ = writeln!(text, "  {:>9}  {what}", short(*at));
        }
    }
    text
}

fn line(change: &Change) -> (Duration, String) {
    (change.at, format!("{}: {}", change.to, change.cause))
}

/// `-` CLOSED, `#` OPEN, `?` HALF_OPEN, `!` where the downstream heals.
fn strip(outage: &Outage) -> String {
    let end = end(outage);
    let stretches = stretches(outage);
    let cell = |column: u32| end * column / WIDTH;
    (0..WIDTH)
        .map(|column| {
            let (from, to) = (cell(column), cell(column + 1));
            if outage.healed.is_some_and(|at| from <= at && at < to) {
                return '!';
            }
            let covers = |one: &&Stretch| one.from < to && one.to > from;
            // A short stay in HALF_OPEN is worth seeing.
            let state = stretches
                .iter()
                .filter(covers)
                .map(|one| one.state)
                .max_by_key(|state| (*state == State::HalfOpen, *state == State::Open));
            match state {
                Some(State::Closed) => '-',
                Some(State::HalfOpen) => '?',
                _ => '#',
            }
        })
        .collect()
}
