//! Our breaker, through the attribute and through `call`.

use cb_runtime::{CallError, CircuitBreaker, State};

use crate::answer::Answer;
use crate::subject::{List, answer as answer_of};
use crate::work::Down;

mod attribute;
mod call;

/// How many breakers, or keys, the cases with many of them have.
pub(crate) const BREAKERS: usize = 1_000;
pub(crate) const KEYS: usize = 10_000;

pub(crate) fn add(list: &mut List) {
    attribute::add(list);
    call::add(list);
}

/// The keys, in the order in which they are used.
pub(crate) fn keys() -> Vec<String> {
    (0..KEYS).map(|n| format!("host-{n:05}.example")).collect()
}

/// Which of so many it is the turn of.
#[inline]
pub(crate) fn turn(n: u64, many: usize) -> usize {
    #[allow(clippy::cast_possible_truncation)] // below `many`
    {
        (n % many as u64) as usize
    }
}

/// How a call of ours ended.
#[inline]
pub(crate) fn answer(result: Result<u64, CallError<Down>>) -> Answer {
    answer_of(result, |error| matches!(error, CallError::NotPermitted(_)))
}

/// The state, or what in the figures contradicts the case.
fn state(breaker: &CircuitBreaker, failing: bool) -> String {
    let figures = breaker.snapshot();
    let recording = matches!(figures.state, State::Closed | State::MetricsOnly);
    if recording && (figures.calls == 0 || (figures.failed > 0) != failing) {
        return format!(
            "{} with {} of {} calls failed",
            figures.state, figures.failed, figures.calls
        );
    }
    figures.state.to_string()
}

/// Opens it, lets it become HALF_OPEN and keeps its only probe under way for good.
fn fill_half_open(breaker: &CircuitBreaker) {
    breaker.open().expect("it is CLOSED");
    breaker.half_open().expect("it is OPEN");
    let probe = breaker.try_acquire_owned().expect("it has one probe");
    std::mem::forget(probe);
}
