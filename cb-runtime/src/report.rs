//! The one place that writes to standard error.

/// For what a user must learn although nobody asked: a timeout that cannot work, functions that
/// disagree about their breaker. Each such thing is said once.
#[allow(clippy::print_stderr)]
pub(crate) fn warn(text: &str) {
    eprintln!("warning: circuit breaker: {text}");
}
