//! Replays a trace on the engine and compares what both show after every step.
//!
//! The engine differs from the reference on purpose in a few points. The replay makes up for
//! those, and for no others:
//!
//! - A wait is over *at* its deadline; the reference's, strictly after it. Where no timer ends the
//!   wait, every wait is made 1 ms longer.
//! - A minimum above a count window is lowered to the window; the engine refuses it. The minimum
//!   as configured still says how many probes decide in HALF_OPEN.
//! - A time window gets one bucket a second, whatever its length.
//! - A call that is dropped leaves no trace.
//! - Rejections in FORCED_OPEN are no events; nor are cancelled calls.
//! - A late outcome has no effect. A scenario that has one is compared up to it.
//!
//! Results that depend on 32-bit floats, on a clock set back, or on a defect of the reference are
//! not compared: those scenarios are left out by their tags.

use std::fmt;

use crate::trace::Scenario;

mod driver;
mod mapping;
mod shown;
mod stays;

use driver::Driver;
use stays::Stays;

/// Tags of scenarios that are left out.
const LEFT_OUT: [&str; 3] = ["quirk", "f32", "backwards"];

/// The first step of a scenario at which engine and trace disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The scenario's name.
    pub scenario: String,
    /// The step, counted from 0.
    pub step: usize,
    /// What was expected and what came instead.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, step {}: {}", self.scenario, self.step, self.what)
    }
}

/// What was compared, and what did not agree.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Scenarios compared.
    pub scenarios: usize,
    /// Steps compared.
    pub steps: usize,
    /// At most one a scenario: what follows a difference says nothing.
    pub differences: Vec<Difference>,
}

impl Summary {
    /// Replays one more scenario, unless its tags leave it out.
    pub fn add(&mut self, scenario: &Scenario) {
        if LEFT_OUT.iter().any(|tag| scenario.tagged(tag)) {
            return;
        }
        self.scenarios += 1;
        let replay = replay(scenario);
        self.steps += replay.steps;
        self.differences.extend(replay.difference);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scenarios,
            steps,
            differences,
        } = self;
        write!(
            f,
            "{scenarios} scenarios, {steps} steps, {} differences",
            differences.len()
        )
    }
}

/// How far a scenario was compared, and where it ended early.
struct Replay {
    steps: usize,
    difference: Option<Difference>,
}

fn replay(scenario: &Scenario) -> Replay {
    let difference = |step, what| {
        let scenario = scenario.id.clone();
        Replay {
            steps: step,
            difference: Some(Difference {
                scenario,
                step,
                what,
            }),
        }
    };
    let driver = match Driver::new(scenario) {
        Ok(driver) => driver,
        Err(refused) => return difference(0, format!("the configuration is refused: {refused}")),
    };
    let mut run = driver.run();
    let mut stays = Stays::default();
    for (index, step) in scenario.steps.iter().enumerate() {
        if stays.ends_late(step.op) {
            if scenario.tagged("stale") {
                return Replay {
                    steps: index,
                    difference: None,
                };
            }
            return difference(index, "a late outcome, but no tag `stale`".to_owned());
        }
        stays.follow(step);
        if let Err(what) = run.compare(step) {
            return difference(index, what);
        }
    }
    Replay {
        steps: scenario.steps.len(),
        difference: None,
    }
}

/// Whether a call of the scenario ends in another stay than the one it was permitted in.
#[must_use]
pub fn has_late_outcome(scenario: &Scenario) -> bool {
    let mut stays = Stays::default();
    scenario.steps.iter().any(|step| {
        let late = stays.ends_late(step.op);
        stays.follow(step);
        late
    })
}
