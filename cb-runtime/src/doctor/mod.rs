//! What is wrong with the breakers of a registry, or soon will be.

mod finding;
mod history;
mod patient;
mod settings;
mod traffic;

use std::fmt;

use crate::conflict::{Conflict, ConflictKind};
use crate::counted::counted;
use crate::keys::KeyFigures;
use crate::registry::Registry;

use finding::Findings;
pub use finding::{Finding, Severity, Symptom};
use patient::Patient;

/// What [`Registry::doctor`] has found. `Display` is the whole list, for logs and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Diagnosis {
    /// How many breakers were looked at.
    pub breakers: usize,
    /// The worst first, then by name.
    pub findings: Vec<Finding>,
}

impl Registry {
    /// Looks at all breakers, their settings, their traffic and their history, for what keeps them from
    /// protecting or from recovering. Changes nothing.
    ///
    /// What it sees is the present and the totals since each breaker was made, so it is best asked after
    /// some time of ordinary traffic. [`Symptom`] lists what it looks for.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cb_runtime::{Config, Registry, Symptom};
    ///
    /// let registry = Registry::new();
    /// registry.create("stock", &Config::new().wait(Duration::from_secs(1)))?;
    /// let diagnosis = registry.doctor();
    /// assert_eq!(diagnosis.findings[0].symptom, Symptom::ShortWait);
    /// assert_eq!(
    ///     diagnosis.to_string(),
    ///     "warning: `stock`: `wait` is 1s: what is down is probed without a pause to recover.\n    \
    ///      Raise `wait` to 3s or more.\n"
    /// );
    /// # Ok::<(), cb_runtime::ConfigError>(())
    /// ```
    #[must_use]
    pub fn doctor(&self) -> Diagnosis {
        let mut found = Findings::default();
        self.conflicts()
            .iter()
            .for_each(|one| conflict(one, &mut found));
        suspended(self, &mut found);
        let keyed = self.key_names();
        keyed
            .iter()
            .for_each(|(name, figures)| keys(name, *figures, &mut found));
        let breakers = self.breakers();
        // All keys of a name have its settings, which are told once.
        let mut told: Vec<&str> = Vec::new();
        for breaker in &breakers {
            let patient = Patient::new(breaker);
            let shared = keyed.iter().map(|(name, _)| *name).find(|name| {
                let rest = patient.name().strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with('['))
            });
            if shared.is_none_or(|name| !told.contains(&name)) {
                settings::examine(&patient, shared.unwrap_or(patient.name()), &mut found);
            }
            told.extend(shared);
            traffic::examine(&patient, &mut found);
            history::examine(&patient, &mut found);
        }
        Diagnosis {
            breakers: breakers.len(),
            findings: found.sorted(),
        }
    }
}

fn conflict(conflict: &Conflict, found: &mut Findings) {
    let (severity, advice) = match conflict.kind {
        ConflictKind::LeftOut { .. } => (
            Severity::Problem,
            "Change one of the two: the breaker works without that layer.",
        ),
        ConflictKind::MissingTemplate(_) => (
            Severity::Problem,
            "Set the template before the first call, or correct its name.",
        ),
        ConflictKind::Policies { .. } => (
            Severity::Warning,
            "Let one function set the policy, or give them two names.",
        ),
        ConflictKind::KeyedAndNot { .. } => (Severity::Warning, "Give both a `key`, or two names."),
        ConflictKind::AlreadyMade => (
            Severity::Warning,
            "Make it in one place; `configure` changes one that exists.",
        ),
    };
    // The sentence begins with the breaker's name, which the finding has.
    let text = conflict.to_string();
    let text = text
        .split_once("`: ")
        .map_or(text.as_str(), |(_, text)| text);
    found.say(
        severity,
        &conflict.breaker,
        Symptom::Conflict,
        format!("{text}."),
        advice,
    );
}

fn suspended(registry: &Registry, found: &mut Findings) {
    for (pattern, mode) in registry.suspensions() {
        found.say(
            Severity::Warning,
            &pattern,
            Symptom::Suspended,
            format!("suspended: {mode:?} until it is restored."),
            "`restore` it when the emergency is over.",
        );
    }
}

fn keys(name: &str, figures: KeyFigures, found: &mut Findings) {
    if figures.overflowed > 0 {
        found.say(
            Severity::Warning,
            name,
            Symptom::KeysShareABreaker,
            format!(
                "{} found no breaker for the key, since all {} were in use, and shared one.",
                counted(figures.overflowed, "call"),
                figures.max_keys
            ),
            "Raise `max_keys`, or take a key with fewer values.",
        );
    }
}

impl Diagnosis {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }

    /// Those of one symptom.
    pub fn of(&self, symptom: Symptom) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |one| one.symptom == symptom)
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_healthy() {
            let breakers = counted(self.breakers as u64, "breaker");
            return writeln!(f, "nothing found, {breakers} looked at");
        }
        self.findings
            .iter()
            .try_for_each(|one| writeln!(f, "{one}"))
    }
}
