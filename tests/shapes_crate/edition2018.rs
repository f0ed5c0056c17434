//! What later editions do not take.

use crate::breaker::circuit_breaker;
use crate::shapes::Answer;

/// A name that is a keyword now, and a parameter list of old.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "gen", crate = crate::breaker)]
pub async fn gen(gen: &str) -> Answer<usize> {
    std::future::ready(()).await;
    Ok(gen.len())
}
