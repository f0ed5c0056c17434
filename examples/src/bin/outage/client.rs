//! The two HTTP clients, with no breaker in sight.

use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;

use crate::api::{ApiError, Stock, read};
use crate::policy::{LAST_RESORT, TIMEOUT};

pub(crate) type AsyncClient = Client<HttpConnector, Empty<Bytes>>;

/// A blocking call cannot be interrupted from outside, so its client must have the timeout.
pub(crate) fn blocking_client() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .build()
        .into()
}

pub(crate) fn async_client() -> AsyncClient {
    Client::builder(TokioExecutor::new()).build_http()
}

pub(crate) fn get_blocking(agent: &ureq::Agent, uri: &Uri) -> Result<Stock, ApiError> {
    let failed = |error| match error {
        ureq::Error::Timeout(_) => ApiError::TimedOut,
        ureq::Error::Io(error) => ApiError::transport(error),
        error => ApiError::transport(error),
    };
    let mut response = agent.get(uri).call().map_err(failed)?;
    let body = response.body_mut().read_to_vec().map_err(failed)?;
    read(response.status().as_u16(), &body)
}

/// Ends by itself only at the last resort, so that the timeout of the caller's choice decides.
pub(crate) async fn get_async(client: &AsyncClient, uri: &Uri) -> Result<Stock, ApiError> {
    within(LAST_RESORT, async {
        let response = client.get(uri.clone()).await.map_err(ApiError::transport)?;
        let status = response.status().as_u16();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(ApiError::transport)?;
        read(status, &body.to_bytes())
    })
    .await
}

pub(crate) async fn within<T>(
    time: Duration,
    call: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    tokio::time::timeout(time, call)
        .await
        .unwrap_or(Err(ApiError::TimedOut))
}
