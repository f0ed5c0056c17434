//! What a guarded call can end in besides its value.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::{CallNotPermitted, TimedOut};

/// What a guarded call can end in besides its value: the error type of
/// [`CircuitBreaker::call`](crate::CircuitBreaker::call), the reason that a
/// `fallback_on = "failure"` function is given, and an error type for functions that have no other
/// need for one of their own.
///
/// # With `?`
///
/// An error of the body's own becomes one with `map_err(CallError::Failed)`. There is no
/// `From<E>`: it would overlap with the ones for rejections and timeouts.
///
/// ```
/// # fn main() {
/// # #[cfg(feature = "macros")] {
/// use cb_runtime::{CallError, circuit_breaker};
///
/// #[circuit_breaker(name = "settings.read")]
/// fn port(path: &str) -> Result<u16, CallError<Box<dyn std::error::Error>>> {
///     let text = std::fs::read_to_string(path).map_err(|error| CallError::Failed(error.into()))?;
///     text.trim().parse().map_err(|_| CallError::Failed("not a port".into()))
/// }
///
/// #[circuit_breaker(name = "settings.list")]
/// fn list(path: &str) -> Result<Vec<String>, CallError<std::io::Error>> {
///     let mut names = Vec::new();
///     for entry in std::fs::read_dir(path).map_err(CallError::Failed)? {
///         let entry = entry.map_err(CallError::Failed)?;
///         names.push(entry.file_name().to_string_lossy().into_owned());
///     }
///     Ok(names)
/// }
/// assert!(port("/none/such").is_err() && list("/none/such").is_err());
/// # }}
/// ```
///
/// # In logs
///
/// `Display` says only which of the four it is. The breaker, the reason and the wait, or the error of
/// the call, are its [`source`](Error::source), so that a printed chain says each thing once and
/// whoever walks the chain finds the error itself. So log the chain (`{error:#}` with anyhow,
/// `error = &error as &dyn Error` with tracing) or `{error:?}`, not `{error}` alone.
///
/// ```
/// use std::error::Error;
/// # let breaker = cb_runtime::Registry::new().get_or_create("stock");
/// # breaker.force_open();
/// let error = breaker.call(|| "7".parse::<u8>()).unwrap_err();
/// assert_eq!(error.to_string(), "the call was not permitted");
/// let why = error.source().unwrap();
/// assert_eq!(why.to_string(), "circuit breaker `stock` is forced open");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError<E> {
    /// The breaker refused the call.
    NotPermitted(CallNotPermitted),
    /// The call ran into its timeout.
    TimedOut(TimedOut),
    /// The call failed with this error.
    Failed(E),
    /// The call returned a value that `failure_if` judged a failure.
    FailedValue,
}

impl<E> CallError<E> {
    /// Whether the breaker refused the call, so that the guarded function did not run.
    ///
    /// ```
    /// # let breaker = cb_runtime::Registry::new().get_or_create("stock");
    /// breaker.force_open();
    /// let error = breaker.call(|| Err::<u32, _>("refused")).unwrap_err();
    /// assert!(error.is_not_permitted());
    /// ```
    #[must_use]
    pub fn is_not_permitted(&self) -> bool {
        matches!(self, Self::NotPermitted(_))
    }

    /// Whether the call ran into its timeout.
    #[must_use]
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    /// How long until a probe is let through, if the breaker refused the call and knows:
    /// [`CallNotPermitted::retry_after`]. `None` for all else.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cb_runtime::{Registry, testing::TestClock};
    ///
    /// let breaker = Registry::with_clock(&TestClock::new()).get_or_create("stock");
    /// breaker.open().unwrap();
    /// let error = breaker.call(|| Err::<u32, _>("refused")).unwrap_err();
    /// assert_eq!(error.retry_after(), Some(Duration::from_secs(10)));
    /// ```
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::NotPermitted(rejection) => rejection.retry_after(),
            _ => None,
        }
    }

    /// The call's own error.
    ///
    /// # Errors
    ///
    /// All else, unchanged.
    ///
    /// ```
    /// # let breaker = cb_runtime::Registry::new().get_or_create("stock");
    /// let error = breaker.call(|| "x".parse::<u8>()).unwrap_err();
    /// match error.into_failed() {
    ///     Ok(parse_error) => assert_eq!(parse_error.to_string(), "invalid digit found in string"),
    ///     Err(other) => panic!("{other:?}"), // rejected, timed out, or a value judged a failure
    /// }
    /// ```
    pub fn into_failed(self) -> Result<E, Self> {
        match self {
            Self::Failed(error) => Ok(error),
            other => Err(other),
        }
    }
}

impl<E> From<CallNotPermitted> for CallError<E> {
    fn from(rejection: CallNotPermitted) -> Self {
        Self::NotPermitted(rejection)
    }
}

impl<E> From<TimedOut> for CallError<E> {
    fn from(timeout: TimedOut) -> Self {
        Self::TimedOut(timeout)
    }
}

/// What happened; the details are those of the [`source`](Error::source).
impl<E> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPermitted(_) => "the call was not permitted",
            Self::TimedOut(_) => "the call timed out",
            Self::Failed(_) => "the call failed",
            Self::FailedValue => "the call returned a value that was judged a failure",
        })
    }
}

impl<E: Error + 'static> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotPermitted(rejection) => Some(rejection),
            Self::TimedOut(timeout) => Some(timeout),
            Self::Failed(error) => Some(error),
            Self::FailedValue => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Reason, Why};
    use crate::name::Name;

    #[test]
    fn a_call_error_tells_which_it_is_and_gives_out_what_it_holds() {
        let why = Why::new(Reason::Open, Some(1_500_000_000));
        let refused = CallError::NotPermitted(CallNotPermitted::new(Name::literal("a"), why));
        let timed_out = CallError::TimedOut(TimedOut {
            name: Name::literal("a"),
            after: Duration::from_secs(2),
        });
        let rest = Some(Duration::from_millis(1500));
        for (error, is_refused, is_timed_out, retry_after, failed) in [
            (refused, true, false, rest, None),
            (timed_out, false, true, None, None),
            (CallError::Failed("own"), false, false, None, Some("own")),
            (CallError::FailedValue, false, false, None, None),
        ] {
            assert_eq!(error.is_not_permitted(), is_refused, "{error:?}");
            assert_eq!(error.is_timed_out(), is_timed_out, "{error:?}");
            assert_eq!(error.retry_after(), retry_after, "{error:?}");
            let given_out = error.clone().into_failed();
            assert_eq!(given_out, failed.ok_or(error));
        }
    }
}
