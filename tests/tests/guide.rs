//! What the guide says agrees with the UI tests and with the table of arguments.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == extension))
        .collect();
    found.sort();
    found
}

fn read_all(directory: &Path, extension: &str) -> String {
    let files = files(directory, extension);
    assert!(!files.is_empty(), "nothing in {}", directory.display());
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_message_in_the_guide_is_one_that_the_compiler_gives() {
    let messages = read_all(&here("tests/ui"), "stderr");
    let pages = read_all(&here("../cb-runtime/src/guide/mistakes"), "md");
    let shown: Vec<_> = pages
        .split("```text\n")
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect();
    assert!(shown.len() > 10, "found {shown:?}");
    for message in shown {
        assert!(messages.contains(message), "no UI test has: {message}");
    }
}

#[test]
fn every_argument_has_a_section_and_nothing_else_has() {
    // One line of the table of keys for each argument.
    let table = fs::read_to_string(here("../cb-macros/src/keys.rs")).unwrap();
    let mut arguments: Vec<_> = table
        .lines()
        .filter(|line| !line.contains("Kind::Later"))
        .filter_map(|line| {
            let line = line.trim();
            let rest = line
                .strip_prefix("key(\"")
                .or_else(|| line.strip_prefix("optional(\""))?;
            rest.split('"').next()
        })
        .collect();
    assert!(arguments.len() > 20, "found {arguments:?}");
    let pages = read_all(&here("../cb-runtime/src/guide/arguments"), "md");
    let mut sections: Vec<_> = pages
        .lines()
        .filter_map(|line| line.strip_prefix("# `")?.strip_suffix('`'))
        .collect();
    arguments.sort_unstable();
    sections.sort_unstable();
    assert_eq!(sections, arguments);
}
