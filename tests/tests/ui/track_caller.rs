use std::panic::Location;

use cb_runtime::{CallError, circuit_breaker};

#[circuit_breaker(name = "query")]
#[track_caller]
fn query() -> Result<u32, CallError<String>> {
    Err(CallError::Failed(Location::caller().to_string()))
}

fn main() {
    let _ = query();
}
