//! The trace file format: what a reference breaker answered, one scenario a line.
//!
//! This is the only reader of that format. `conformance/README.md` describes it in words.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One breaker from its creation on.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    /// Unique name.
    pub id: String,
    /// What the scenario shows.
    pub note: Option<String>,
    /// Properties by which scenarios are selected.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The breaker's settings.
    pub config: Settings,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// Whether the scenario has this tag.
    #[must_use]
    pub fn tagged(&self, tag: &str) -> bool {
        self.tags.iter().any(|t| t == tag)
    }
}

/// Settings in the reference's words. Durations are milliseconds, rates percentages.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs)] // the names are the documentation
pub struct Settings {
    pub window_type: WindowType,
    /// Calls, or seconds.
    pub window_size: u32,
    pub minimum_number_of_calls: u32,
    pub failure_rate_threshold: f64,
    pub slow_call_rate_threshold: f64,
    pub slow_call_duration_threshold_ms: u64,
    pub wait_interval: WaitInterval,
    pub permitted_number_of_calls_in_half_open_state: u32,
    /// Zero: no limit.
    pub max_wait_duration_in_half_open_state_ms: u64,
    pub transition_to_state_after_wait_duration: StateName,
    pub automatic_transition: bool,
    /// CLOSED if absent.
    pub initial_state: Option<StateName>,
    /// The clock when the breaker is made.
    pub start_ms: u64,
}

/// What the window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs)]
pub enum WindowType {
    Count,
    Time,
}

/// The wait in OPEN.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitInterval {
    /// Always so many milliseconds.
    Fixed(u64),
    /// Growing from opening to opening.
    #[serde(rename_all = "camelCase")]
    Exponential {
        /// The first wait.
        initial_ms: u64,
        /// How many times longer the next one is.
        multiplier: f64,
        /// The longest one.
        max_ms: Option<u64>,
    },
}

/// A state as the traces write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs)]
pub enum StateName {
    Closed,
    Open,
    HalfOpen,
    ForcedOpen,
    Disabled,
    MetricsOnly,
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "CLOSED",
            Self::Open => "OPEN",
            Self::HalfOpen => "HALF_OPEN",
            Self::ForcedOpen => "FORCED_OPEN",
            Self::Disabled => "DISABLED",
            Self::MetricsOnly => "METRICS_ONLY",
        })
    }
}

/// One operation, and what the breaker showed after it. An absent `state` or `figures` is that of
/// the step before; absent `events` are none.
#[derive(Clone, Debug, Deserialize)]
pub struct Step {
    /// What was done.
    #[serde(flatten)]
    pub op: Op,
    /// The error with which the operation was refused.
    pub throws: Option<String>,
    /// The state afterwards.
    #[serde(rename = "s")]
    pub state: Option<StateName>,
    /// The figures afterwards.
    #[serde(rename = "m")]
    pub figures: Option<Figures>,
    /// The events published during the step, in order.
    #[serde(default, rename = "e")]
    pub events: Vec<String>,
}

/// The eight figures: failure rate and slow call rate (-1 below the minimum), then the numbers of
/// buffered, failed, slow, slow failed, successful and not permitted calls.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Figures(
    pub f32,
    pub f32,
    pub u64,
    pub u64,
    pub u64,
    pub u64,
    pub u64,
    pub u64,
);

impl Figures {
    /// What a new breaker shows.
    pub const NONE: Self = Self(-1.0, -1.0, 0, 0, 0, 0, 0, 0);
}

/// An operation. `c` is the number of a call, `p` 1 if it was permitted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(missing_docs)]
pub enum Op {
    Acquire { c: u64, p: u8 },
    Success { c: u64 },
    Error { c: u64 },
    FailedResult { c: u64 },
    IgnoredError { c: u64 },
    UnrecordedError { c: u64 },
    Release { c: u64 },
    Advance { ms: i64 },
    Reset,
    ForceOpen,
    Disable,
    MetricsOnly,
    ToOpen,
    ToOpenFor { ms: u64 },
    ToClosed,
    ToHalfOpen,
}

impl Op {
    /// The call that ends with this operation.
    #[must_use]
    pub fn ends(self) -> Option<u64> {
        match self {
            Self::Success { c }
            | Self::Error { c }
            | Self::FailedResult { c }
            | Self::IgnoredError { c }
            | Self::UnrecordedError { c }
            | Self::Release { c } => Some(c),
            _ => None,
        }
    }

    /// Whether somebody changes the breaker's state by hand, be it to the same one.
    #[must_use]
    pub fn is_manual(self) -> bool {
        match self {
            Self::Acquire { .. } | Self::Advance { .. } => false,
            other => other.ends().is_none(),
        }
    }
}

/// A file that is no trace file.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be read.
    Io(PathBuf, io::Error),
    /// A line, counted from 1, is no scenario.
    Format(PathBuf, usize, serde_json::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Format(path, line, error) => {
                write!(
                    f,
                    "{}, line {line}: not a scenario: {error}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::Format(_, _, error) => Some(error),
        }
    }
}

/// Reads the scenarios of a file. Empty lines are passed over.
///
/// # Errors
///
/// If the file cannot be read, or a line is no scenario.
pub fn read(path: &Path) -> Result<Vec<Scenario>, ReadError> {
    let text = fs::read_to_string(path).map_err(|e| ReadError::Io(path.to_owned(), e))?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|e| ReadError::Format(path.to_owned(), index + 1, e))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{"windowType":"time","windowSize":4,"minimumNumberOfCalls":5,
        "failureRateThreshold":1,"slowCallDurationThresholdMs":500,"slowCallRateThreshold":33.3,
        "waitInterval":{"exponential":{"initialMs":100,"multiplier":1.5}},
        "permittedNumberOfCallsInHalfOpenState":1,"maxWaitDurationInHalfOpenStateMs":1,
        "transitionToStateAfterWaitDuration":"OPEN","automaticTransition":false,"startMs":999}"#;

    fn scenario(steps: &str) -> Result<Scenario, serde_json::Error> {
        let tags = r#"["stale","of a later version"]"#;
        serde_json::from_str(&format!(
            r#"{{"id":"x","tags":{tags},"config":{CONFIG},"steps":[{steps}]}}"#
        ))
    }

    #[test]
    fn a_step_reads_with_what_is_absent_left_out() {
        let steps = r#"{"op":"acquire","c":3,"p":0,"s":"HALF_OPEN","m":[66.666664,-1,3,2,0,0,1,1],
            "e":["NOT_PERMITTED"]},{"op":"advance","ms":-5}"#;
        let scenario = scenario(steps).unwrap();
        assert!(scenario.tagged("stale") && !scenario.tagged("f32"));
        assert_eq!(scenario.config.failure_rate_threshold, 1.0);
        let [first, second] = &scenario.steps[..] else {
            panic!("two steps")
        };
        assert!(matches!(first.op, Op::Acquire { c: 3, p: 0 }));
        assert_eq!(first.state, Some(StateName::HalfOpen));
        assert_eq!(
            first.figures,
            Some(Figures(66.666_664, -1.0, 3, 2, 0, 0, 1, 1))
        );
        assert_eq!(first.events, ["NOT_PERMITTED"]);
        assert!(matches!(second.op, Op::Advance { ms: -5 }));
        assert!(second.figures.is_none() && second.state.is_none() && second.events.is_empty());
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert!(scenario(r#"{"op":"explode"}"#).is_err());
        assert!(scenario(r#"{"op":"acquire","c":1}"#).is_err());
        assert!(scenario(r#"{"op":"reset","s":"AJAR"}"#).is_err());
        assert!(scenario(r#"{"op":"reset","m":[0,0,0]}"#).is_err());
    }
}
