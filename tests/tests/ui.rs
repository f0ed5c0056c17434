//! What the compiler says about mistakes: one file each, named after it.
//!
//! To accept new messages, run with `TRYBUILD=overwrite` and read them: each must name what is
//! wrong, where it is, and what to write instead.

use std::process::Command;

/// Compilers word and point differently, so messages are compared on this one only.
const MESSAGES_OF: &str = "rustc 1.95.";

#[test]
fn messages() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .unwrap()
        .stdout;
    let tests = trybuild::TestCases::new();
    tests.pass("tests/ui/pass/*.rs");
    if version.starts_with(MESSAGES_OF.as_bytes()) {
        tests.compile_fail("tests/ui/*.rs");
    }
}
