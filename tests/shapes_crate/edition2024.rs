//! What came with edition 2024.

use std::future::Future;

use crate::breaker::circuit_breaker;
use crate::shapes::Answer;

/// Captures nothing.
#[circuit_breaker(name = "captures_nothing", crate = crate::breaker)]
pub fn captures_nothing(text: &str) -> impl Future<Output = Answer<usize>> + use<> {
    let length = text.len();
    async move { Ok(length) }
}

/// Captures what it is given without saying so.
#[circuit_breaker(name = "captures_all", crate = crate::breaker)]
pub fn captures_all(text: &str) -> impl Future<Output = Answer<usize>> {
    let text = text.trim();
    async move { Ok(text.len()) }
}

/// Says what it captures.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "captures", crate = crate::breaker)]
pub fn captures<'a>(items: &'a [u32], _other: &str) -> Answer<impl Iterator<Item = &'a u32> + use<'a>> {
    Ok(items.iter())
}

/// The lock is let go before the parameter is.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "tail", crate = crate::breaker)]
pub fn tail(mut lock: std::sync::Arc<std::sync::Mutex<u32>>) -> Answer<u32> {
    lock = std::sync::Arc::clone(&lock);
    Ok(lock.lock().map_or(0, |count| *count))
}
