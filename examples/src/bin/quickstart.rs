//! An async function behind a circuit breaker: what its callers get while the service is down,
//! and what the registry knows.
//!
//! ```sh
//! cargo run -p cb-examples --bin quickstart
//! ```
#![allow(clippy::print_stdout)]

use cb_runtime::{CallNotPermitted, circuit_breaker, registry};

#[derive(Debug)]
enum ApiError {
    OutOfStock,
    Unavailable,
}

#[circuit_breaker(
    name = "inventory.query",
    min_calls = 5,
    slow = "2s",
    ignore = ApiError::OutOfStock,  // an answer, not an outage
    fallback = cached_stock,
)]
async fn query_stock(article: u32) -> Result<u32, ApiError> {
    // Here would be the request. This service knows no article 7 and dies at the tenth one.
    match article {
        7 => Err(ApiError::OutOfStock),
        10.. => Err(ApiError::Unavailable),
        _ => Ok(12),
    }
}

/// Called in place of the body while the breaker does not permit calls.
async fn cached_stock(article: u32, why: CallNotPermitted) -> Result<u32, ApiError> {
    println!("  (article {article} from the cache: {why})");
    Ok(11)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for article in 1..=20 {
        let answer = query_stock(article).await;
        println!("article {article:>2}: {answer:?}");
    }
    for breaker in registry().breakers() {
        println!("{}", breaker.explain());
    }
}
