//! The guarded functions. Each awaits the answer that it is given, so that a scenario decides what
//! the service does and when.

use std::error::Error;
use std::fmt;

use cb_examples::poll::Call;
use cb_runtime::{CallNotPermitted, circuit_breaker};

pub(crate) type Outcome = Result<(), AppError>;
pub(crate) type Answer = Call<Outcome>;

#[derive(Debug)]
pub(crate) struct BusinessError;

#[derive(Debug)]
pub(crate) enum AppError {
    /// The service is down.
    Outage,
    /// The service is well and says no.
    Business(BusinessError),
    NotPermitted(CallNotPermitted),
}

/// A guarded function and the name of its breaker.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) breaker: &'static str,
    pub(crate) call: fn(Answer) -> Call<Outcome>,
}

/// The same call under Resilience4j's defaults and under ours.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) theirs: Service,
    pub(crate) ours: Service,
}

macro_rules! pair {
    ($theirs:ident $their_name:literal, $ours:ident $our_name:literal) => {
        Pair {
            theirs: Service {
                breaker: $their_name,
                call: |answer| Box::pin($theirs(answer)),
            },
            ours: Service {
                breaker: $our_name,
                call: |answer| Box::pin($ours(answer)),
            },
        }
    };
}

/// Nothing but the defaults.
pub(crate) const PLAIN: Pair = pair!(theirs "theirs", ours "ours");

#[circuit_breaker(name = "theirs", base = "resilience4j")]
async fn theirs(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours")]
async fn ours(answer: Answer) -> Outcome {
    answer.await
}

/// A second interface behind the breaker of [`PLAIN`].
pub(crate) const SECOND: Pair = pair!(theirs_second "theirs", ours_second "ours");

#[circuit_breaker(name = "theirs", base = "resilience4j")]
async fn theirs_second(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours")]
async fn ours_second(answer: Answer) -> Outcome {
    answer.await
}

/// A second interface with a breaker of its own.
pub(crate) const OWN: Pair = pair!(theirs_own "theirs.own", ours_own "ours.own");

#[circuit_breaker(name = "theirs.own", base = "resilience4j")]
async fn theirs_own(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours.own")]
async fn ours_own(answer: Answer) -> Outcome {
    answer.await
}

/// With the automatic transition to HALF_OPEN.
pub(crate) const AUTO: Pair = pair!(theirs_auto "theirs.auto", ours_auto "ours.auto");

#[circuit_breaker(name = "theirs.auto", base = "resilience4j", auto_half_open = true)]
async fn theirs_auto(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours.auto", auto_half_open = true)]
async fn ours_auto(answer: Answer) -> Outcome {
    answer.await
}

/// Business errors are ignored.
pub(crate) const IGNORING: Pair =
    pair!(theirs_ignoring "theirs.ignoring", ours_ignoring "ours.ignoring");

#[circuit_breaker(name = "theirs.ignoring", base = "resilience4j", ignore = BusinessError)]
async fn theirs_ignoring(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours.ignoring", ignore = BusinessError)]
async fn ours_ignoring(answer: Answer) -> Outcome {
    answer.await
}

/// Only outages are failures; business errors are successes.
pub(crate) const RECORDING: Pair =
    pair!(theirs_recording "theirs.recording", ours_recording "ours.recording");

#[circuit_breaker(name = "theirs.recording", base = "resilience4j", record = AppError::Outage)]
async fn theirs_recording(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours.recording", record = AppError::Outage)]
async fn ours_recording(answer: Answer) -> Outcome {
    answer.await
}

/// With a slow limit of 2 s at 50 %.
pub(crate) const SLOW: Pair = pair!(theirs_slow "theirs.slow", ours_slow "ours.slow");

#[circuit_breaker(
    name = "theirs.slow",
    base = "resilience4j",
    slow = "2s",
    slow_rate = 50
)]
async fn theirs_slow(answer: Answer) -> Outcome {
    answer.await
}

#[circuit_breaker(name = "ours.slow", slow = "2s", slow_rate = 50)]
async fn ours_slow(answer: Answer) -> Outcome {
    answer.await
}

impl From<CallNotPermitted> for AppError {
    fn from(rejection: CallNotPermitted) -> Self {
        Self::NotPermitted(rejection)
    }
}

impl fmt::Display for BusinessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}

impl Error for BusinessError {}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outage => f.write_str("the service is down"),
            Self::Business(error) => error.fmt(f),
            Self::NotPermitted(rejection) => rejection.fmt(f),
        }
    }
}

impl Error for AppError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Business(error) => Some(error),
            Self::Outage | Self::NotPermitted(_) => None,
        }
    }
}
