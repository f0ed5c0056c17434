//! What the service answers, in the program's own words.

use std::error::Error;
use std::{fmt, io};

use cb_runtime::{CallNotPermitted, TimedOut};

/// How many of an article there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stock {
    pub(crate) pieces: u32,
    /// From the cache, because the service was not asked.
    pub(crate) cached: bool,
}

/// The service is well and says no.
#[derive(Debug)]
pub(crate) struct BusinessError;

#[derive(Debug)]
pub(crate) enum ApiError {
    Business(BusinessError),
    Status(u16),
    /// The client ran out of patience.
    TimedOut,
    /// Nobody listens.
    Refused,
    /// Whatever else can happen to a connection.
    Broken(Box<dyn Error + Send + Sync>),
    /// The breaker did not let the call through.
    NotPermitted(CallNotPermitted),
}

/// Both clients read an answer the same way.
pub(crate) fn read(status: u16, body: &[u8]) -> Result<Stock, ApiError> {
    match status {
        200 => std::str::from_utf8(body)
            .ok()
            .and_then(|text| text.parse().ok())
            .map(|pieces| Stock {
                pieces,
                cached: false,
            })
            .ok_or_else(|| ApiError::Broken("no number in the answer".into())),
        404 => Err(ApiError::Business(BusinessError)),
        other => Err(ApiError::Status(other)),
    }
}

impl ApiError {
    /// An error of a client library, whose cause is the interesting part.
    pub(crate) fn transport(error: impl Error + Send + Sync + 'static) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(link) = cause {
            if let Some(io) = link.downcast_ref::<io::Error>() {
                match io.kind() {
                    io::ErrorKind::ConnectionRefused => return Self::Refused,
                    io::ErrorKind::TimedOut => return Self::TimedOut,
                    _ => {}
                }
            }
            cause = link.source();
        }
        Self::Broken(Box::new(error))
    }
}

// These two let a function without a fallback hand the breaker's answers to its caller.
impl From<CallNotPermitted> for ApiError {
    fn from(rejection: CallNotPermitted) -> Self {
        Self::NotPermitted(rejection)
    }
}

impl From<TimedOut> for ApiError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

impl fmt::Display for BusinessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of stock")
    }
}

impl Error for BusinessError {}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Business(error) => error.fmt(f),
            Self::Status(code) => write!(f, "the service answered {code}"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Refused => f.write_str("connection refused"),
            Self::Broken(error) => error.fmt(f),
            Self::NotPermitted(rejection) => rejection.fmt(f),
        }
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Business(error) => Some(error),
            Self::NotPermitted(rejection) => Some(rejection),
            _ => None,
        }
    }
}
