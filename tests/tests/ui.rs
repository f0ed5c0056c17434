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

/// Every mistake has a twin that does what its message says, and compiles.
#[test]
fn every_mistake_has_a_twin() {
    let files = |folder: &str| {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .collect();
        files.sort();
        files
    };
    let twins: String = files("tests/ui/pass")
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let alone: Vec<_> = files("tests/ui")
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|mistake| !twins.contains(&format!("\"{mistake}\"")))
        .collect();
    assert!(
        alone.is_empty(),
        "without a twin in tests/ui/pass: {alone:?}"
    );
}
