use std::future::{IntoFuture, Ready, ready};

use cb_runtime::circuit_breaker;

type Error = cb_runtime::CallError<()>;

/// Sent when it is awaited.
struct Request;

impl IntoFuture for Request {
    type Output = u32;
    type IntoFuture = Ready<u32>;
    fn into_future(self) -> Ready<u32> {
        ready(1)
    }
}

#[circuit_breaker(name = "query")]
fn query() -> Result<Request, Error> {
    Ok(Request)
}

fn main() {}
