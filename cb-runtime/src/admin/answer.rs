//! Answers: JSON, and the headers that all of them have.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;

/// An answer with a body of this type, never cached and never taken for another type.
pub(super) fn with_body(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(body) => with_body(StatusCode::OK, "application/json", body),
        Err(_) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the answer could not be written",
        ),
    }
}

/// Says what is wrong. It never repeats what the client sent.
pub(super) fn refusal(status: StatusCode, why: &'static str) -> Response<Body> {
    #[derive(Serialize)]
    struct Refusal {
        error: &'static str,
    }
    let body = serde_json::to_vec(&Refusal { error: why }).unwrap_or_default();
    with_body(status, "application/json", body)
}

pub(super) fn unknown() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "there is no circuit breaker of this name",
    )
}
