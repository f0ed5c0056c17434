//! The page, and the files it is made of.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{OriginalUri, Path};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::routing::get;

use super::{Shared, answer};

/// Nothing but what this router serves, no code in the markup, and no framing. Text never becomes
/// markup: the browser itself refuses it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = include_str!("page/dashboard.html");

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($name:literal: $content_type:expr),* $(,)?) => {
        &[$(($name, $content_type, include_str!(concat!("page/", $name)))),*]
    };
}

/// Name, type and content.
const FILES: &[(&str, &str, &str)] = files! {
    "base.css": CSS,
    "tiles.css": CSS,
    "detail.css": CSS,
    "icon.svg": "image/svg+xml",
    "main.js": JAVASCRIPT,
    "actions.js": JAVASCRIPT,
    "announce.js": JAVASCRIPT,
    "breakers.js": JAVASCRIPT,
    "calls.js": JAVASCRIPT,
    "conflicts.js": JAVASCRIPT,
    "connection.js": JAVASCRIPT,
    "detail.js": JAVASCRIPT,
    "elements.js": JAVASCRIPT,
    "list.js": JAVASCRIPT,
    "pictures.js": JAVASCRIPT,
    "text.js": JAVASCRIPT,
    "tile.js": JAVASCRIPT,
};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(to_page))
        .route("/dashboard", get(page))
        .route("/page/{file}", get(file))
}

async fn page() -> Response<Body> {
    let mut response = answer::with_body(StatusCode::OK, "text/html; charset=utf-8", HTML);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn file(Path(name): Path<String>) -> Response<Body> {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, content_type, content)) => {
            answer::with_body(StatusCode::OK, content_type, *content)
        }
        None => answer::refusal(StatusCode::NOT_FOUND, "there is no such file"),
    }
}

/// To the page, relative to where the router is nested: a proxy may have put more in front of it.
async fn to_page(OriginalUri(uri): OriginalUri) -> Response<Body> {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let target = if last.is_empty() {
        "dashboard".to_owned()
    } else {
        format!("./{last}/dashboard")
    };
    let mut response = answer::with_body(StatusCode::SEE_OTHER, "text/plain", Body::empty());
    if let Ok(target) = HeaderValue::try_from(target) {
        response.headers_mut().insert(header::LOCATION, target);
    }
    response
}
