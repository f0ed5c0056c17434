//! What a file changes, breaker by breaker.

use std::sync::Arc;

use super::super::sources::Sources;
use super::target::Target;
use super::{line, with_file};
use crate::config::Settings;
use crate::config_file::{
    BreakerChange, FileLayers, LoadReport, NotApplied, Section, SettingChange, WhyNot,
};

/// What would change if `file` were in force in place of the present one.
pub(super) fn report(
    sources: &mut Sources,
    targets: &[Target],
    file: Option<&Arc<FileLayers>>,
) -> LoadReport {
    let mut report = LoadReport::default();
    for target in targets {
        let before = target.merge(sources).layers;
        let after = with_file(sources, file, |sources| target.merge(sources).layers);
        let mut settings = match before.settings() == after.settings() {
            true => Vec::new(),
            false => changes(before.settings(), after.settings()),
        };
        if let Some(file) = file {
            not_in_force(sources, target, file, &settings, &mut report.not_applied);
        }
        if target.made.is_some() {
            settings.retain(|change| change.setting != "mode");
        }
        let breaker = target.name.clone();
        match settings.is_empty() {
            true => report.unchanged.push(breaker),
            false => report.changed.push(BreakerChange { breaker, settings }),
        }
    }
    if let Some(file) = file {
        of_sections(targets, file, &mut report.not_applied);
    }
    report.not_applied.sort_by_key(|left| left.line);
    report
}

/// In place of a value, where a setting does not apply.
const NONE: &str = "–";

fn changes(before: &Settings, after: &Settings) -> Vec<SettingChange> {
    let (before, after) = (before.listed(), after.listed());
    // Settings that there are under the former settings only: `buckets` of a time window.
    let gone = before
        .iter()
        .filter(|(setting, _)| !after.iter().any(|(name, _)| name == setting))
        .map(|(setting, before)| SettingChange {
            setting,
            before: before.clone(),
            after: NONE.to_owned(),
        });
    let gone: Vec<_> = gone.collect();
    let changed = after
        .into_iter()
        .filter_map(|(setting, after)| change(&before, setting, after));
    changed.chain(gone).collect()
}

fn change(
    before: &[(&'static str, String)],
    setting: &'static str,
    after: String,
) -> Option<SettingChange> {
    let before = before.iter().find(|(name, _)| *name == setting);
    let before = before.map_or(NONE, |(_, value)| value.as_str());
    (before != after).then(|| SettingChange {
        setting,
        before: before.to_owned(),
        after,
    })
}

/// What the file says of this breaker, and something stands against it.
fn not_in_force(
    sources: &Sources,
    target: &Target,
    file: &FileLayers,
    changes: &[SettingChange],
    not_applied: &mut Vec<NotApplied>,
) {
    let name = &target.name;
    let mut sections: Vec<_> = file
        .matching(name)
        .map(|at| &file.document.breakers[at])
        .collect();
    sections.insert(0, &file.document.defaults);
    // The most specific one is in force, so it is the one to name.
    let place = |setting: &str| sections.iter().rev().find_map(|one| one.place(setting));
    let mut left = |setting, why| {
        let line = place(setting).map(|at| line(file, &at));
        not_applied.extend(line.map(|line| NotApplied {
            name: name.clone(),
            setting: Some(setting),
            line,
            why,
        }));
    };
    if target.made.is_some() && changes.iter().any(|change| change.setting == "mode") {
        left("mode", WhyNot::BreakerExists);
    }
    if let Some(config) = sources.changes.get(name) {
        for (setting, _) in config.chosen() {
            left(setting, WhyNot::ChangedAtRuntime);
        }
    }
}

/// What no breaker has anything of.
fn of_sections(targets: &[Target], file: &FileLayers, not_applied: &mut Vec<NotApplied>) {
    let document = &file.document;
    let named = |section: &Section, of: &str| match section.name.as_str() {
        "" => of.to_owned(),
        name => name.to_owned(),
    };
    let all = [&document.defaults].into_iter();
    for section in all.chain(&document.templates).chain(&document.breakers) {
        for (setting, at) in &section.of_functions {
            not_applied.push(NotApplied {
                name: named(section, "defaults"),
                setting: Some(setting),
                line: line(file, at),
                why: WhyNot::BelongsToFunction,
            });
        }
    }
    for section in &document.breakers {
        let is_matched = targets
            .iter()
            .any(|target| crate::pattern::matches(&section.name, &target.name));
        if !is_matched {
            not_applied.push(NotApplied {
                name: section.name.clone(),
                setting: None,
                line: line(file, &section.at),
                why: WhyNot::NoSuchBreaker,
            });
        }
    }
}
