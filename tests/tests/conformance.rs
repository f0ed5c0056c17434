//! The recorded traces of the reference breaker, replayed on the engine.

#![allow(clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cb_tests::replay::{Summary, has_late_outcome};
use cb_tests::trace::{self, Scenario};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("conformance")
        .join(name)
}

fn file(name: &str) -> Vec<Scenario> {
    trace::read(&path(name)).expect("the traces are part of the package")
}

/// The numbers are asserted too, so that an empty or shortened file cannot pass.
fn agrees(name: &str, scenarios: usize, steps: usize) {
    let mut summary = Summary::default();
    for scenario in file(name) {
        summary.add(&scenario);
    }
    println!("{name}: {summary}");
    let differences: Vec<_> = summary
        .differences
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        differences.is_empty(),
        "{name}: {summary}\n{}",
        differences.join("\n")
    );
    assert_eq!(
        (summary.scenarios, summary.steps),
        (scenarios, steps),
        "{name}"
    );
}

#[test]
fn hand_written_scenarios_agree() {
    agrees("hand.jsonl", 108, 2402);
}

#[test]
fn experiments_on_the_defaults_agree() {
    agrees("defaults.jsonl", 14, 3129);
}

#[test]
fn random_scenarios_agree() {
    agrees("random.jsonl", 1000, 31128);
}

/// The replay tells late outcomes from the trace alone; the recorder's tags say the same.
#[test]
fn late_outcomes_are_where_the_tags_say() {
    for name in ["hand.jsonl", "defaults.jsonl", "random.jsonl"] {
        for scenario in file(name) {
            assert_eq!(
                has_late_outcome(&scenario),
                scenario.tagged("stale"),
                "{}",
                scenario.id
            );
        }
    }
}

/// A trace that tells something else must not pass: each kind of observation is compared.
#[test]
fn a_falsified_trace_is_noticed() {
    let falsified = |change: &dyn Fn(&mut Scenario)| {
        let mut scenario = file("hand.jsonl").swap_remove(0);
        let mut summary = Summary::default();
        change(&mut scenario);
        summary.add(&scenario);
        summary
            .differences
            .iter()
            .map(|d| d.step)
            .collect::<Vec<_>>()
    };
    assert_eq!(falsified(&|_| {}), [0; 0]);
    assert_eq!(
        falsified(&|s| s.steps[4].op = trace::Op::Acquire { c: 3, p: 0 }),
        [4]
    );
    assert_eq!(
        falsified(&|s| s.steps[3].state = Some(trace::StateName::Open)),
        [3]
    );
    assert_eq!(
        falsified(&|s| s.steps[5].figures = Some(trace::Figures::NONE)),
        [5]
    );
    assert_eq!(falsified(&|s| s.steps[5].events.clear()), [5]);
    assert_eq!(
        falsified(&|s| s.steps[6].throws = Some("refused".to_owned())),
        [6]
    );
}

/// Runs the program `replay` and gives its exit code and what it wrote.
fn replay(args: &[&Path]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_replay"))
        .args(args)
        .output();
    let output = output.expect("the program was built for this test");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_program_says_what_differs_and_exits_accordingly() {
    let defaults = path("defaults.jsonl");
    let (code, out, _) = replay(&[&defaults]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "14 scenarios, 3129 steps, 0 differences\n")
    );
    let (code, out, _) = replay(&[&path("hand.jsonl"), &defaults]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "122 scenarios, 5531 steps, 0 differences\n")
    );

    let text = fs::read_to_string(path("hand.jsonl")).expect("readable");
    let first = text.lines().next().expect("a scenario");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let write = |name: &str, text: String| {
        let path = scratch.join(name);
        fs::write(&path, text).expect("writable");
        path
    };
    let tagged = first.replacen("\"tags\":[]", "\"tags\":[\"of a later version\"]", 1);
    let (code, out, _) = replay(&[&write("tagged.jsonl", format!("{tagged}\n\n"))]);
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "1 scenarios, 10 steps, 0 differences\n")
    );

    let wrong = first.replacen("\"s\":\"OPEN\"", "\"s\":\"CLOSED\"", 1);
    let (code, out, _) = replay(&[&write("wrong.jsonl", format!("{wrong}\n{first}\n"))]);
    assert_eq!(code, Some(1));
    assert!(
        out.starts_with("min_calls, step 9: state: expected \"CLOSED\", got \"OPEN\"\n"),
        "{out}"
    );
    assert!(
        out.ends_with("\n2 scenarios, 19 steps, 1 differences\n"),
        "{out}"
    );

    let cut = format!("{first}\n{}\n", &first[..100]);
    let (code, _, error) = replay(&[&write("cut.jsonl", cut)]);
    assert_eq!(code, Some(2));
    assert!(
        error.contains("cut.jsonl, line 2: not a scenario"),
        "{error}"
    );
    assert_eq!(replay(&[Path::new("no such file")]).0, Some(2));
    assert_eq!(replay(&[]).0, Some(2));
}
