//! Server-sent events: how they are written, and a body that makes them one by one.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode, header};
use futures_core::Stream;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use super::answer;

/// One message. `data` is JSON, so it has no line breaks of its own.
pub(super) fn message(event: Option<&str>, id: Option<&str>, data: &impl Serialize) -> Bytes {
    let mut text = String::new();
    for (field, value) in [("event", event), ("id", id)] {
        if let Some(value) = value {
            text.push_str(field);
            text.push_str(": ");
            text.push_str(value);
            text.push('\n');
        }
    }
    text.push_str("data: ");
    text.push_str(&serde_json::to_string(data).unwrap_or_default());
    text.push_str("\n\n");
    text.into()
}

/// How long a browser waits before it connects again, in milliseconds.
const RETRY: &str = "retry: 2000\n\n";

/// What makes a client's messages. It is asked for the next one when the connection has taken the
/// one before, so a slow client costs no memory here.
pub(super) trait Source: Send + Sized + 'static {
    /// The next message; never ends.
    fn next(self) -> impl Future<Output = (Self, Bytes)> + Send;
}

/// An answer that goes on until the client leaves. The permit is its place among the clients.
pub(super) fn stream(source: impl Source, place: OwnedSemaphorePermit) -> Response<Body> {
    let stream = Messages {
        started: false,
        source: Some(source),
        next: None,
        _place: place,
    };
    let body = Body::from_stream(stream);
    let mut response = answer::with_body(StatusCode::OK, "text/event-stream", body);
    // Proxies that collect answers before they pass them on.
    let unbuffered = axum::http::HeaderValue::from_static("no");
    response
        .headers_mut()
        .insert("x-accel-buffering", unbuffered);
    response
}

/// There is no place for another client.
pub(super) fn full() -> Response<Body> {
    let mut response = answer::refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many clients follow the breakers",
    );
    let later = axum::http::HeaderValue::from_static("5");
    response.headers_mut().insert(header::RETRY_AFTER, later);
    response
}

type Next<S> = Pin<Box<dyn Future<Output = (S, Bytes)> + Send>>;

struct Messages<S> {
    started: bool,
    source: Option<S>,
    next: Option<Next<S>>,
    _place: OwnedSemaphorePermit,
}

// Nothing in it is pinned in place.
impl<S> Unpin for Messages<S> {}

impl<S: Source> Stream for Messages<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.started {
            self.started = true;
            return Poll::Ready(Some(Ok(Bytes::from_static(RETRY.as_bytes()))));
        }
        if let Some(source) = self.source.take() {
            self.next = Some(Box::pin(source.next()));
        }
        let Some(next) = &mut self.next else {
            return Poll::Ready(None);
        };
        let (source, message) = ready!(next.as_mut().poll(cx));
        self.next = None;
        self.source = Some(source);
        Poll::Ready(Some(Ok(message)))
    }
}
