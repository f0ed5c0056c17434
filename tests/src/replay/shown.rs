//! What a breaker shows after a step.

use std::fmt::Debug;

use crate::trace::Figures;

#[derive(Debug)]
pub(super) struct Shown {
    /// Whether the call was permitted, if the step asked for one.
    pub(super) permitted: Option<bool>,
    /// Whether the operation was refused.
    pub(super) refused: bool,
    pub(super) state: String,
    pub(super) figures: Figures,
    pub(super) events: Vec<String>,
}

impl Shown {
    /// `self` is what is expected; the error lists every part in which `got` differs.
    pub(super) fn compare(&self, got: &Self) -> Result<(), String> {
        let differences: Vec<_> = [
            part("permitted", &self.permitted, &got.permitted),
            part("refused", &self.refused, &got.refused),
            part("state", &self.state, &got.state),
            part("figures", &self.figures, &got.figures),
            part("events", &self.events, &got.events),
        ]
        .into_iter()
        .flatten()
        .collect();
        if differences.is_empty() {
            Ok(())
        } else {
            Err(differences.join("; "))
        }
    }
}

fn part<T: PartialEq + Debug>(name: &str, expected: &T, got: &T) -> Option<String> {
    (expected != got).then(|| format!("{name}: expected {expected:?}, got {got:?}"))
}
