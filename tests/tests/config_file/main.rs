//! Configuration files: what they say, what is wrong with them, and what loading one changes.

#![allow(clippy::unwrap_used)] // in the helpers of the tests

mod errors;
mod layers;
mod loading;

use std::time::Duration;

use cb_runtime::testing::TestClock;
use cb_runtime::{CircuitBreaker, ConfigFile, ConfigFileError, LoadReport, Registry};

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn registry() -> (Registry, TestClock) {
    let clock = TestClock::new();
    (Registry::with_clock(&clock), clock)
}

fn file(text: &str) -> ConfigFile {
    ConfigFile::new("test.toml", text)
}

fn load(registry: &Registry, text: &str) -> LoadReport {
    let loaded = registry.load_config(&file(text));
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

/// What is wrong with the text.
fn refused(registry: &Registry, text: &str) -> ConfigFileError {
    let loaded = registry.load_config(&file(text));
    loaded.expect_err(text)
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let _ = breaker.call(|| Err::<(), _>("connection refused"));
    }
}

fn settings(breaker: &CircuitBreaker) -> Vec<String> {
    breaker.config().iter().map(ToString::to_string).collect()
}
