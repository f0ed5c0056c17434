//! Many callers at a time, and how long each of them waited.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use cb_examples::server::PIECES;
use hyper::Uri;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::api::{ApiError, Stock};
use crate::client::{AsyncClient, async_client, blocking_client, get_async, get_blocking, within};
use crate::guarded;
use crate::policy::{BARE_WORKERS, TIMEOUT, WORKERS};

/// What a caller got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Fresh,
    /// "Out of stock": an answer of a healthy service.
    Business,
    Fallback,
    /// The breaker's error.
    Rejected,
    TimedOut,
    Refused,
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) answer: Answer,
    pub(crate) waited: Duration,
}

impl Call {
    /// Whether the breaker answered it.
    pub(crate) fn spared(&self) -> bool {
        matches!(self.answer, Answer::Fallback | Answer::Rejected)
    }
}

type AsyncQuery = fn(AsyncClient, Uri) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;
type Outcome = Result<Stock, ApiError>;

/// One way to ask the service, and the crowd that does.
pub(crate) struct Caller {
    pub(crate) title: &'static str,
    /// The breaker's name, if there is one.
    pub(crate) breaker: Option<&'static str>,
    pub(crate) workers: u32,
    way: Way,
}

#[allow(clippy::large_enum_variant)] // two of them in the whole program
enum Way {
    Blocking(ureq::Agent, fn(&ureq::Agent, &Uri) -> Outcome),
    Async(Runtime, Box<AsyncClient>, AsyncQuery),
}

impl Caller {
    pub(crate) fn blocking(guard: bool) -> Self {
        let (breaker, workers, query): (_, _, fn(&ureq::Agent, &Uri) -> Outcome) = match guard {
            true => (Some(guarded::BLOCKING), WORKERS, guarded::query_blocking),
            false => (None, BARE_WORKERS, get_blocking),
        };
        let way = Way::Blocking(blocking_client(), query);
        Self {
            title: "blocking",
            breaker,
            workers,
            way,
        }
    }

    pub(crate) fn asynchronous(guard: bool) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (breaker, workers, query): (_, _, AsyncQuery) = match guard {
            true => (Some(guarded::ASYNC), WORKERS, |client, uri| {
                Box::pin(async move { guarded::query_async(&client, &uri).await })
            }),
            false => (None, BARE_WORKERS, |client, uri| {
                Box::pin(async move { within(TIMEOUT, get_async(&client, &uri)).await })
            }),
        };
        let way = Way::Async(runtime, Box::new(async_client()), query);
        Ok(Self {
            title: "async",
            breaker,
            workers,
            way,
        })
    }

    /// Lets all workers call, with `pause` between two calls of one worker, until `more` says no.
    pub(crate) fn crowd(
        &self,
        uri: &Uri,
        pause: Duration,
        more: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Vec<Call> {
        match &self.way {
            Way::Blocking(agent, query) => thread::scope(|scope| {
                let work = || {
                    let mut calls = Vec::new();
                    while more() {
                        let start = Instant::now();
                        calls.push(Call::of(start, query(agent, uri)));
                        thread::sleep(pause);
                    }
                    calls
                };
                let workers: Vec<_> = (0..self.workers).map(|_| scope.spawn(work)).collect();
                workers
                    .into_iter()
                    .flat_map(|worker| worker.join().unwrap_or_default())
                    .collect()
            }),
            Way::Async(runtime, client, query) => runtime.block_on(async {
                let more = Arc::new(more);
                let mut workers = JoinSet::new();
                for _ in 0..self.workers {
                    let (more, client) = (Arc::clone(&more), AsyncClient::clone(client));
                    let (query, uri) = (*query, uri.clone());
                    workers.spawn(async move {
                        let mut calls = Vec::new();
                        while more() {
                            let start = Instant::now();
                            calls.push(Call::of(start, query(client.clone(), uri.clone()).await));
                            tokio::time::sleep(pause).await;
                        }
                        calls
                    });
                }
                workers.join_all().await.concat()
            }),
        }
    }
}

impl Call {
    fn of(start: Instant, outcome: Outcome) -> Self {
        let waited = start.elapsed();
        let answer = match outcome {
            Ok(stock) if stock.cached => Answer::Fallback,
            Ok(stock) if stock.pieces == PIECES => Answer::Fresh,
            Err(ApiError::Business(_)) => Answer::Business,
            Err(ApiError::NotPermitted(_)) => Answer::Rejected,
            Err(ApiError::TimedOut) => Answer::TimedOut,
            Err(ApiError::Refused) => Answer::Refused,
            Ok(_) | Err(ApiError::Status(_) | ApiError::Broken(_)) => Answer::Failed,
        };
        Self { answer, waited }
    }
}
