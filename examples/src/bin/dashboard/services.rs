//! The functions that call the services, each behind its breaker.

use std::fmt;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

use cb_runtime::{CallNotPermitted, Config, TimedOut, circuit_breaker, registry};
use http_body_util::Empty;
use hyper::Uri;
use hyper::body::Bytes;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

use crate::outage::{LONGEST_WAIT, WAIT, WINDOW};

/// One call of one of the callers, whose number it gets.
pub(crate) type Call = fn(u32, Uri) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// The callers have no use for the details.
#[derive(Debug)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the service did not answer well")
    }
}

impl std::error::Error for Failed {}

impl From<CallNotPermitted> for Failed {
    fn from(_: CallNotPermitted) -> Self {
        Self
    }
}

impl From<TimedOut> for Failed {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

static CLIENT: LazyLock<Client<HttpConnector, Empty<Bytes>>> =
    LazyLock::new(|| Client::builder(TokioExecutor::new()).build_http());

async fn get(uri: Uri) -> Result<(), Failed> {
    let response = CLIENT.get(uri).await.map_err(|_| Failed)?;
    response.status().is_success().then_some(()).ok_or(Failed)
}

#[circuit_breaker(
    name = "inventory.query",
    window = WINDOW,
    wait = WAIT,
    half_open_calls = 4,
    half_open_concurrency = 1,
    timeout = "2s",
    fallback = cached_stock
)]
async fn query_stock(uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

async fn cached_stock(_: Uri) -> Result<(), Failed> {
    Ok(())
}

#[circuit_breaker(name = "payments.charge", window = 40, slow = "250ms", timeout = "2s", wait = WAIT)]
async fn charge(uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

#[circuit_breaker(
    name = "search.find",
    window = WINDOW,
    slow = "500ms",
    count_running = true,
    timeout = "3s",
    wait = WAIT,
    ramp = "5s"
)]
async fn find(uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

#[circuit_breaker(
    name = "shipping.quote",
    key = carrier,
    wait = WAIT,
    wait_multiplier = 2,
    wait_max = LONGEST_WAIT,
    half_open_calls = 1,
    timeout = "1s"
)]
async fn quote(carrier: &str, uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

#[circuit_breaker(name = "ledger.append", mode = "metrics_only", timeout = "2s")]
async fn append(uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

#[circuit_breaker(name = "reports.export", timeout = "30s")]
async fn export(uri: Uri) -> Result<(), Failed> {
    get(uri).await
}

/// What the callers get does not matter here, only what the breakers see.
fn forget(
    call: impl Future<Output = Result<(), Failed>> + Send + 'static,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let _ = call.await;
    })
}

pub(crate) fn inventory(_: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    forget(query_stock(uri))
}

pub(crate) fn payments(_: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    forget(charge(uri))
}

pub(crate) fn search(_: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    forget(find(uri))
}

pub(crate) fn carriers(number: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let carrier = ["north", "south", "overseas"][number as usize % 3];
    forget(async move { quote(carrier, uri).await })
}

pub(crate) fn dead_carrier(_: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    forget(async move { quote("express", uri).await })
}

pub(crate) fn ledger(_: u32, uri: Uri) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    forget(append(uri))
}

/// Breakers that make a long list, a few of them with trouble.
pub(crate) fn crowd(number: u32) {
    // Nobody exports a report here; its breaker is on the page all the same.
    let _ = export;
    let config = Config::new()
        .window(cb_runtime::Window::Calls(50))
        .wait(WAIT);
    for number in 0..number {
        let name = format!("shard.read[{number:04}]");
        let Ok(breaker) = registry().create(&name, &config) else {
            return;
        };
        tokio::spawn(async move {
            // Each with a rhythm of its own, and some worse than others.
            let pause = Duration::from_millis(400 + u64::from(number * 37 % 1600));
            for round in 0_u32.. {
                let sick = number % 50 == 7 && round % 40 < 25;
                let fails = sick || (number + round) % 19 == 0;
                let _ = breaker.call(|| if fails { Err(Failed) } else { Ok(()) });
                tokio::time::sleep(pause).await;
            }
        });
    }
}
