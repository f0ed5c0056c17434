//! Operations by hand, for whom the application allows them.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::routing::post;
use serde::Serialize;

use super::access::{Operation, WriteRequest};
use super::name::Name;
use super::{Shared, answer};
use crate::snapshot::Snapshot;

/// What a page of another site cannot add to a request unless the application's CORS headers let
/// it, and a form never.
const HEADER: &str = "x-circuit-breaker-admin";

pub(super) fn routes() -> Router<Arc<Shared>> {
    let mut router = Router::new();
    for operation in Operation::ALL {
        let write = move |shared: State<Arc<Shared>>, name: Name, request: Request| {
            write(shared, name, operation, request)
        };
        router = router
            .route(&format!("/breakers/{{name}}/{operation}"), post(write))
            // The same for names that no path carries.
            .route(&format!("/breaker/{operation}"), post(write));
    }
    router
}

#[derive(Serialize)]
struct Done {
    now: f64,
    breaker: Snapshot,
}

async fn write(
    State(shared): State<Arc<Shared>>,
    name: Name,
    operation: Operation,
    request: Request,
) -> Response<Body> {
    // The body is never read: there is nothing in it to know.
    let (parts, _) = request.into_parts();
    if !parts.headers.contains_key(HEADER) {
        return answer::refusal(
            StatusCode::FORBIDDEN,
            "the header x-circuit-breaker-admin is missing",
        );
    }
    let (Some(authoriser), Some(wanted)) = (&shared.authoriser, &name.0) else {
        return answer::unknown();
    };
    let request = WriteRequest {
        parts,
        operation,
        breaker: wanted.clone(),
    };
    if !authoriser.allows(request).await {
        return answer::refusal(StatusCode::FORBIDDEN, "you may not do this");
    }
    let Some(breaker) = shared.breaker(&name) else {
        return answer::unknown();
    };
    operation.apply(&breaker);
    answer::json(&Done {
        now: shared.now(),
        breaker: breaker.snapshot(),
    })
}
