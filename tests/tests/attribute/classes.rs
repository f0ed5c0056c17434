//! `ignore` and `record`.

use std::error::Error;

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, ApiError, BusinessError, failed};

#[circuit_breaker(name = "class.record", record = [ApiError::Http(500..=599), ApiError::TimedOut])]
fn recorded(code: u16) -> Answer<u32> {
    failed(code)
}

#[circuit_breaker(name = "class.pattern", ignore = ApiError::Http(400..=499) | BusinessError)]
fn by_pattern(error: ApiError) -> Answer<u32> {
    Err(error)
}

#[circuit_breaker(name = "class.closure", ignore = |error| matches!(error, ApiError::Http(7)))]
fn by_closure(code: u16) -> Answer<u32> {
    failed(code)
}

#[circuit_breaker(name = "class.boxed", ignore = [BusinessError, ApiError::Http(404)])]
fn boxed(error: ApiError) -> Result<u32, Box<dyn Error + Send + Sync>> {
    Err(Box::new(error))
}

#[circuit_breaker(name = "class.generic", ignore = BusinessError)]
fn generic<E: Error + From<CallNotPermitted> + 'static>(error: E) -> Result<u32, E> {
    Err(error)
}

#[test]
fn classifies_errors() {
    let scope = Scope::new();
    let figures = |name| {
        let now = scope.breaker(name).snapshot();
        (now.calls, now.failed, now.ignored)
    };
    recorded(404).unwrap_err();
    recorded(503).unwrap_err();
    assert_eq!(figures("class.record"), (2, 1, 0));
    by_pattern(ApiError::Http(404)).unwrap_err();
    by_pattern(ApiError::Http(503)).unwrap_err();
    by_pattern(ApiError::Business(BusinessError)).unwrap_err();
    assert_eq!(figures("class.pattern"), (1, 1, 2));
    by_closure(7).unwrap_err();
    by_closure(8).unwrap_err();
    assert_eq!(figures("class.closure"), (1, 1, 1));
    boxed(ApiError::Business(BusinessError)).unwrap_err();
    boxed(ApiError::Http(404)).unwrap_err();
    boxed(ApiError::Http(405)).unwrap_err();
    assert_eq!(figures("class.boxed"), (1, 1, 2));
    generic(ApiError::Business(BusinessError)).unwrap_err();
    generic(ApiError::Http(1)).unwrap_err();
    assert_eq!(figures("class.generic"), (1, 1, 1));
}
