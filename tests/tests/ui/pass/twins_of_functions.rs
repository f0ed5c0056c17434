//! What the messages about functions say to write, written. Each breaker is named after the mistake.

use std::future::Future;
use std::pin::Pin;

use cb_runtime::{CallError, circuit_breaker};

type Error = CallError<()>;

#[circuit_breaker(name = "const_function")]
fn const_function() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "not_a_function")]
fn query() -> Result<u32, Error> {
    Ok(1)
}

trait Service {
    fn on_the_implementation(&self) -> Result<u32, Error>;

    #[circuit_breaker(name = "method_without_body")]
    fn with_a_default_body(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

struct Shop(u32);

impl Service for Shop {
    #[circuit_breaker(name = "method_without_body")]
    fn on_the_implementation(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

#[circuit_breaker(name = "returns_never")]
fn returns_never() -> Result<std::convert::Infallible, Error> {
    Err(CallError::Failed(()))
}

#[circuit_breaker(name = "returns_type_parameter", failure_if = |_| false, fallback = T::default)]
fn judged<T: Default>() -> T {
    T::default()
}

#[circuit_breaker(name = "returns_type_parameter")]
fn in_a_result<T: Default>() -> Result<T, Error> {
    Ok(T::default())
}

trait Replies {
    type Reply: Default;

    #[circuit_breaker(name = "returns_associated_type", failure_if = |_| false, fallback = Self::cached)]
    fn query(&self) -> Self::Reply {
        Self::Reply::default()
    }

    fn cached(&self) -> Self::Reply {
        Self::Reply::default()
    }
}

impl Replies for Shop {
    type Reply = u32;
}

trait Requests {
    type Future: Future<Output = Result<u32, Error>>;
    fn call(&mut self) -> Self::Future;
}

impl Requests for Shop {
    type Future = Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>>;

    #[circuit_breaker(name = "returns_future_of_trait")]
    fn call(&mut self) -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
        Box::pin(std::future::ready(Ok(self.0)))
    }
}

#[circuit_breaker(name = "future_behind_alias_of_box")]
fn without_alias() -> Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
    Box::pin(async { Ok(1) })
}

#[circuit_breaker(name = "slow_not_below_timeout", slow = "1s", timeout = "2s")]
async fn slow_below_timeout() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "timeout_not_below_max_wait", timeout = "19s", half_open_max_wait = "20s")]
async fn timeout_below_max_wait() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "timeout_of_sync", timeout = "2s")]
async fn timeout_of_async() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "on_cancel_of_sync", on_cancel = "failure")]
async fn on_cancel_of_async() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "future_behind_alias")]
async fn behind_alias() -> Result<u32, Error> {
    Ok(1)
}

#[circuit_breaker(name = "future_behind_alias")]
fn in_full() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    Box::pin(std::future::ready(Ok(1)))
}

#[circuit_breaker(name = "future_in_result")]
async fn in_result() -> Result<u32, Error> {
    Ok(async { 1 }.await)
}

/// Sent when it is awaited.
struct Sending;

impl std::future::IntoFuture for Sending {
    type Output = u32;
    type IntoFuture = std::future::Ready<u32>;
    fn into_future(self) -> Self::IntoFuture {
        std::future::ready(1)
    }
}

#[circuit_breaker(name = "future_in_the_making")]
async fn sent() -> Result<u32, Error> {
    Ok(Sending.await)
}

#[circuit_breaker(name = "future_in_box")]
fn in_box() -> Pin<Box<dyn Future<Output = Result<u32, Error>>>> {
    Box::pin(std::future::ready(Ok(1)))
}

#[circuit_breaker(name = "future_in_option", fallback = none)]
async fn in_option() -> Option<u32> {
    Some(async { 1 }.await)
}

async fn none() -> Option<u32> {
    None
}

#[circuit_breaker(name = "future_of_async_function")]
async fn of_async() -> Result<u32, Error> {
    async { Ok(1) }.await
}

#[circuit_breaker(name = "future_behind_handle", fallback = zero)]
async fn behind_handle() -> u32 {
    tokio::spawn(async { 1 }).await.unwrap_or_default()
}

fn zero() -> u32 {
    0
}

impl Shop {
    #[circuit_breaker(name = "future_holds_what_the_fallback_needs", fallback = Self::cached, fallback_on = "failure")]
    async fn holds(&mut self) -> Result<u32, String> {
        Ok(self.0)
    }

    fn cached(&mut self, _: CallError<String>) -> Result<u32, String> {
        Ok(0)
    }
}

#[circuit_breaker(name = "future_holds_what_the_rejection_needs", fallback = cached_list)]
async fn holds(list: &mut Vec<u32>) -> Result<u32, Error> {
    list.push(1);
    Ok(list[0])
}

fn cached_list(_: &mut Vec<u32>) -> Result<u32, Error> {
    Ok(0)
}

struct Request;

#[circuit_breaker(name = "future_consumes_what_the_fallback_needs", fallback = cached)]
fn consumes(request: Request) -> impl Future<Output = Result<u32, Error>> {
    async move { send(request).await }
}

async fn send(_: Request) -> Result<u32, Error> {
    Ok(1)
}

fn cached(_: Request) -> Result<u32, Error> {
    Ok(0)
}

fn main() {
    let _ = (const_function(), query(), Shop(1).on_the_implementation(), Shop(1).with_a_default_body());
    let _: (_, u32, Result<u32, _>) = (returns_never(), judged(), in_a_result());
    let _ = (Shop(1).call(), without_alias());
    let _ = (Shop(1).query(), slow_below_timeout(), timeout_below_max_wait(), timeout_of_async());
    let _ = (on_cancel_of_async(), behind_alias(), in_full(), in_result(), sent(), in_box(), in_option());
    let _ = (of_async(), behind_handle(), Shop(1).holds(), holds(&mut vec![]), consumes(Request));
}

impl Shop {
    #[circuit_breaker(
        name = "future_holds_what_the_fallback_needs",
        fallback = Self::cached,
        fallback_on = "failure"
    )]
    fn one_block(&mut self) -> Pin<Box<dyn Future<Output = Result<u32, String>> + '_>> {
        Box::pin(async move { Ok(self.0) })
    }
}

#[circuit_breaker(name = "track_caller")]
fn told(by: &'static std::panic::Location<'static>) -> Result<u32, Error> {
    Ok(by.line())
}

struct Client<Reply>(std::marker::PhantomData<Reply>);

impl<Reply: Default> Client<Reply> {
    #[circuit_breaker(name = "returns_type_parameter_of_impl", failure_if = |_| false, fallback = Self::none)]
    fn judged(&self) -> Reply {
        Reply::default()
    }

    #[circuit_breaker(name = "returns_type_parameter_of_impl")]
    fn in_a_result(&self) -> Result<Reply, Error> {
        Ok(Reply::default())
    }

    fn none(&self) -> Reply {
        Reply::default()
    }

    // Types of one's own are not mistaken for parameters, whatever they hold.
    #[circuit_breaker(name = "stock", fallback = Self::no_stock)]
    fn stock(&self) -> Stock {
        Stock(&())
    }

    #[circuit_breaker(name = "stock", fallback = Self::no_stock)]
    async fn stock_later(&self) -> Stock {
        Stock(&())
    }

    fn no_stock(&self) -> Stock {
        Stock(&())
    }
}

#[allow(dead_code)]
struct Stock<'a>(&'a ());
