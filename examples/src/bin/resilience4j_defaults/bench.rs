//! One experiment's traffic, on a clock and a registry of its own.

use std::future::{pending, ready};
use std::time::Duration;

use cb_examples::poll::{Call, poll_once};
use cb_runtime::testing::Scope;
use cb_runtime::{State, registry};
use tokio::sync::oneshot;

use crate::services::{Answer, AppError, BusinessError, Outcome, Service};

pub(crate) struct Bench {
    scope: Scope,
}

/// A call under way, and the means to end it.
pub(crate) struct Held {
    call: Call<Outcome>,
    end: oneshot::Sender<Outcome>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            scope: Scope::new(),
        }
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.scope.clock().advance(time);
    }

    /// Makes a call that returns at once.
    pub(crate) fn call(&self, service: Service, outcome: Outcome) -> Outcome {
        let mut call = (service.call)(Box::pin(ready(outcome)));
        // A call that is ready ends at its first poll; if it did not, that would be an outage.
        poll_once(&mut call).unwrap_or(Err(AppError::Outage))
    }

    pub(crate) fn succeed(&self, service: Service, times: u32) {
        (0..times).for_each(|_| _ = self.call(service, Ok(())));
    }

    pub(crate) fn fail(&self, service: Service, times: u32) {
        (0..times).for_each(|_| _ = self.call(service, Err(AppError::Outage)));
    }

    /// 60 of 100 calls are answered with a business error, evenly spread.
    pub(crate) fn say_no_to_60_of_100(&self, service: Service) {
        for number in 0..100 {
            let says_no = number % 5 < 3;
            _ = self.call(
                service,
                if says_no {
                    Err(AppError::Business(BusinessError))
                } else {
                    Ok(())
                },
            );
        }
    }

    /// Starts `count` calls and keeps those that were permitted under way.
    pub(crate) fn hold(&self, service: Service, count: u32) -> Vec<Held> {
        (0..count)
            .filter_map(|_| {
                let (end, ended) = oneshot::channel();
                // A call whose end is dropped goes on for ever.
                let answer: Answer = Box::pin(async {
                    match ended.await {
                        Ok(outcome) => outcome,
                        Err(_) => pending().await,
                    }
                });
                let mut call = (service.call)(answer);
                poll_once(&mut call).is_none().then_some(Held { call, end })
            })
            .collect()
    }

    /// Opens the breaker the hard way and lets `wait` pass.
    pub(crate) fn opened(self, service: Service, wait: Duration) -> Self {
        self.fail(service, 100);
        self.advance(wait);
        self
    }

    pub(crate) fn state(&self, service: Service) -> State {
        self.scope.breaker(service.breaker).state()
    }

    /// `OPEN (10 of 10 failed)`.
    pub(crate) fn figures(&self, service: Service) -> String {
        let now = self.scope.breaker(service.breaker).snapshot();
        format!("{} ({} of {} failed)", now.state, now.failed, now.calls)
    }

    /// `OPEN (10 of 10 slow)`.
    pub(crate) fn slow_figures(&self, service: Service) -> String {
        let now = self.scope.breaker(service.breaker).snapshot();
        format!("{} ({} of {} slow)", now.state, now.slow, now.calls)
    }

    /// How many of `count` calls that would succeed are rejected.
    pub(crate) fn rejected_of(&self, service: Service, count: u32) -> usize {
        (0..count)
            .filter(|_| rejected(&self.call(service, Ok(()))))
            .count()
    }

    /// How many breakers of the scope with a name that starts so are OPEN.
    pub(crate) fn open_ones(&self, prefix: &str) -> usize {
        let open = |state| state == State::Open;
        registry()
            .breakers()
            .iter()
            .filter(|breaker| breaker.name().starts_with(prefix) && open(breaker.state()))
            .count()
    }
}

impl Held {
    pub(crate) fn end(mut self, outcome: Outcome) {
        _ = self.end.send(outcome);
        _ = poll_once(&mut self.call);
    }
}

pub(crate) fn rejected(outcome: &Outcome) -> bool {
    matches!(outcome, Err(AppError::NotPermitted(_)))
}
