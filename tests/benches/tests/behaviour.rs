//! What is measured does what its case says; with `--features rivals`, the rivals too.

use std::sync::LazyLock;

use cb_benches::{Case, Subject, Through, Who, subjects};

/// Some rivals' breakers are global: they can be made only once.
static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(subjects);

#[test]
fn every_subject_does_what_its_case_promises() {
    let complaints: Vec<_> = SUBJECTS
        .iter()
        .filter_map(|subject| subject.check(1_000).err())
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_case_is_measured_on_our_breaker() {
    for case in Case::ALL {
        let through = |through| {
            SUBJECTS
                .iter()
                .any(|subject| subject.case == case && subject.who == Who::Ours(through))
        };
        // A thousand annotated functions are no test of a breaker, and keys belong to the attribute.
        assert_eq!(
            through(Through::Attribute),
            case != Case::Breakers,
            "{case:?}"
        );
        assert_eq!(through(Through::Call), case != Case::Keys, "{case:?}");
    }
}
