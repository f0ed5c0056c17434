//! What came with edition 2021.

use std::future::Future;

use crate::breaker::circuit_breaker;
use crate::shapes::Answer;

/// Captures single fields.
#[derive(Debug, Default)]
pub struct Pair {
    a: String,
    b: String,
}

/// Takes one field, and lends the other.
#[circuit_breaker(name = "fields", crate = crate::breaker)]
pub fn fields(pair: &mut Pair) -> impl Future<Output = Answer<usize>> + '_ {
    let Pair { a, .. } = pair;
    a.push('a');
    let later = async { pair.b.len() };
    async move { Ok(later.await) }
}

/// A capture in a format string.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "format", crate = crate::breaker)]
pub async fn format(text: &str, count: u32) -> Answer<String> {
    std::future::ready(()).await;
    Ok(format!("{text} {count}"))
}
