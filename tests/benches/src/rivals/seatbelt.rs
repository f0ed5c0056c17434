//! seatbelt: a rate over a time in 10 buckets, one breaker for each key; async only. In HALF_OPEN it
//! sends another probe after each `break_duration`, so it is never full for long. It does not tell
//! its state.

use layered::{Execute, Service, Stack};
use seatbelt::breaker::{Breaker, BreakerId};
use seatbelt::{RecoveryInfo, ResilienceContext};
use tick::Clock;

use super::{LONG, OPENING, WINDOW};
use crate::answer::Answer;
use crate::case::Case;
use crate::ours::{KEYS, keys, turn};
use crate::subject::{List, Who, answer, block_on};
use crate::work::{Down, fail_tenth, forbidden, succeed};

const THEM: Who = Who::Rival("seatbelt");

#[derive(Debug)]
enum Error {
    Down,
    Rejected,
}

impl From<Down> for Error {
    fn from(_: Down) -> Self {
        Self::Down
    }
}

type Result<T> = std::result::Result<T, Error>;

fn told(result: Result<u64>) -> Answer {
    answer(result, |error| matches!(error, Error::Rejected))
}

/// The service that guards this work. What says which key a call is for gets its number.
fn service(
    work: impl Fn(u64) -> std::result::Result<u64, Down> + Clone + Send + Sync + 'static,
    key: Option<fn(&u64) -> BreakerId>,
) -> impl Service<u64, Out = Result<u64>> + 'static {
    // A clock of tokio needs the runtime it is made in.
    let clock = block_on(async { Clock::new_tokio() });
    let context: ResilienceContext<u64, Result<u64>> = ResilienceContext::new(&clock);
    let mut layer = Breaker::layer("rival", &context)
        .failure_threshold(0.5)
        .min_throughput(10)
        .sampling_duration(WINDOW)
        .break_duration(LONG)
        .recovery_with(|result: &Result<u64>, _| match result {
            Ok(_) => RecoveryInfo::never(),
            Err(_) => RecoveryInfo::retry(),
        })
        .rejected_input_error(|_, _| Error::Rejected);
    if let Some(key) = key {
        layer = layer.breaker_id(key);
    }
    let work = Execute::new(move |n| {
        let result = work(n).map_err(Error::from);
        async move { result }
    });
    (layer, work).into_service()
}

pub(super) fn add(list: &mut List) {
    let called = service(succeed, None);
    let call = async move |n| told(called.execute(n).await);
    list.asynchronous_untold(Case::Time, THEM, call);

    let called = service(fail_tenth, None);
    let call = async move |n| told(called.execute(n).await);
    list.asynchronous_untold(Case::TimeTenth, THEM, call);

    let called = service(
        |n| {
            if n == u64::MAX {
                Err(Down)
            } else {
                forbidden(n)
            }
        },
        None,
    );
    block_on(async {
        for _ in 0..OPENING {
            let _ = called.execute(u64::MAX).await;
        }
    });
    let call = async move |n| told(called.execute(n).await);
    list.asynchronous_untold(Case::Open, THEM, call);

    let called = service(
        succeed,
        Some(|n| BreakerId::from(keys_of()[turn(*n, KEYS)].as_str())),
    );
    let call = async move |n| told(called.execute(n).await);
    list.asynchronous_untold(Case::Keys, THEM, call);
}

fn keys_of() -> &'static [String] {
    static ALL: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(keys);
    &ALL
}
