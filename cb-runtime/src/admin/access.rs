//! Who may write.

use std::fmt;
use std::pin::Pin;

use axum::http::request::Parts;

use crate::breaker::CircuitBreaker;

/// What a request wants done to a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`CircuitBreaker::force_open`].
    ForceOpen,
    /// [`CircuitBreaker::close`].
    Close,
    /// [`CircuitBreaker::disable`].
    Disable,
    /// [`CircuitBreaker::enable`].
    Enable,
    /// [`CircuitBreaker::metrics_only`].
    MetricsOnly,
    /// [`CircuitBreaker::reset`].
    Reset,
}

impl Operation {
    pub(super) const ALL: [Self; 6] = [
        Self::ForceOpen,
        Self::Close,
        Self::Disable,
        Self::Enable,
        Self::MetricsOnly,
        Self::Reset,
    ];

    /// As the path has it: `force_open`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ForceOpen => "force_open",
            Self::Close => "close",
            Self::Disable => "disable",
            Self::Enable => "enable",
            Self::MetricsOnly => "metrics_only",
            Self::Reset => "reset",
        }
    }

    pub(super) fn apply(self, breaker: &CircuitBreaker) {
        match self {
            Self::ForceOpen => breaker.force_open(),
            Self::Close => breaker.close(),
            Self::Disable => breaker.disable(),
            Self::Enable => breaker.enable(),
            Self::MetricsOnly => breaker.metrics_only(),
            Self::Reset => breaker.reset(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A request to write, as the authoriser sees it.
#[derive(Clone)]
pub struct WriteRequest {
    pub(super) parts: Parts,
    pub(super) operation: Operation,
    pub(super) breaker: String,
}

impl WriteRequest {
    /// The request without its body: method, address, headers, and what middleware has put into
    /// the extensions.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What it wants done.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The name of the breaker, as the client gave it. There may be none of this name.
    #[must_use]
    pub fn breaker(&self) -> &str {
        &self.breaker
    }
}

/// Without the headers, which hold secrets.
impl fmt::Debug for WriteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteRequest")
            .field("operation", &self.operation)
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}

type Decision = Pin<Box<dyn Future<Output = bool> + Send>>;

/// The application's decision.
pub(super) struct Authoriser(Box<dyn Fn(WriteRequest) -> Decision + Send + Sync>);

impl Authoriser {
    pub(super) fn sync(allow: impl Fn(&WriteRequest) -> bool + Send + Sync + 'static) -> Self {
        Self(Box::new(move |request| {
            let allowed = allow(&request);
            Box::pin(std::future::ready(allowed))
        }))
    }

    pub(super) fn asynchronous<F>(allow: impl Fn(WriteRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        Self(Box::new(move |request| Box::pin(allow(request))))
    }

    pub(super) async fn allows(&self, request: WriteRequest) -> bool {
        (self.0)(request).await
    }
}
