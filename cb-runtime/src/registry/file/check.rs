//! What is wrong with a file in this registry: names, templates and contradictions.

use std::ops::Range;
use std::sync::Arc;

use super::super::sources::Sources;
use super::target::Target;
use super::with_file;
use crate::config_file::{FileLayers, Problem};
use crate::error::ConfigError;
use crate::layers::Layer;
use crate::pattern;
use crate::suggest::nearest;

pub(super) fn problems(
    sources: &mut Sources,
    targets: &[Target],
    file: &Arc<FileLayers>,
    unknown_names: bool,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !unknown_names {
        names(targets, file, &mut problems);
    }
    templates(sources, file, &mut problems);
    lost_templates(sources, targets, file, &mut problems);
    let mut found = Vec::new();
    if !file.document.defaults.broken {
        // Defaults and templates alone: sections for breakers may put right what is wrong with them,
        // but only for those.
        let mut alone = FileLayers::clone(file);
        alone.document.breakers.clear();
        let alone = Arc::new(alone);
        contradictions(sources, &Target::imagined("", None), "", &alone, &mut found);
        for template in &file.document.templates {
            let target = Target::imagined("", Some(&template.name));
            contradictions(sources, &target, "", &alone, &mut found);
        }
        for section in &file.document.breakers {
            let name = &section.name;
            if !targets.iter().any(|one| pattern::matches(name, &one.name)) {
                contradictions(sources, &Target::imagined(name, None), "", file, &mut found);
            }
        }
        for target in targets {
            contradictions(sources, target, &target.name, file, &mut found);
        }
    }
    problems.extend(found.into_iter().map(Contradiction::problem));
    problems
}

fn names(targets: &[Target], file: &FileLayers, problems: &mut Vec<Problem>) {
    for section in &file.document.breakers {
        let name = &section.name;
        let known = || targets.iter().map(|target| target.name.as_str());
        if section.nested || known().any(|known| pattern::matches(name, known)) {
            continue;
        }
        let whole = name.split_once('[').map(|(whole, _)| whole);
        let message = match whole.filter(|whole| known().any(|known| known == *whole)) {
            Some(whole) => format!(
                "`{name}`: all keys of a name have its settings; write `[breakers.\"{whole}\"]`"
            ),
            None if name.contains('*') => format!("no breaker has a name like `{name}`"),
            None => match nearest(name, known()) {
                Some(near) => format!("there is no breaker `{name}`: did you mean `{near}`?"),
                None => format!("there is no breaker `{name}`"),
            },
        };
        let at = section.at.clone();
        problems.push(Problem { at, message });
    }
}

fn templates(sources: &Sources, file: &FileLayers, problems: &mut Vec<Problem>) {
    let known = file.template_names(&sources.templates);
    for section in &file.document.breakers {
        let Some((base, at)) = &section.base else {
            continue;
        };
        if !known.contains(&base.as_str()) {
            let message = match nearest(base, known.iter().copied()) {
                Some(near) => format!("there is no template `{base}`: did you mean `{near}`?"),
                None => format!("there is no template `{base}`; write `[templates.\"{base}\"]`"),
            };
            let at = at.clone();
            problems.push(Problem { at, message });
        }
    }
}

/// A contradiction, and how many breakers have it.
struct Contradiction {
    at: Range<usize>,
    error: ConfigError,
    message: String,
    others: usize,
}

impl Contradiction {
    fn problem(self) -> Problem {
        let message = match self.others {
            0 => self.message,
            others => format!("{}; the same for {others} more", self.message),
        };
        Problem {
            at: self.at,
            message,
        }
    }
}

/// Finds them one by one: what is found is taken out of a copy of the file, which is looked at again.
fn contradictions(
    sources: &mut Sources,
    target: &Target,
    shown: &str,
    file: &Arc<FileLayers>,
    found: &mut Vec<Contradiction>,
) {
    let parts = file.parts(&target.name, target.template());
    if parts.iter().any(|part| file.section(*part).broken) {
        return;
    }
    let present = target.merge(sources).left_out;
    // What the file has itself must always fit; what has it not may have been at odds before.
    let of_file = |layer: &Layer| match layer {
        Layer::FileDefaults | Layer::FileBase(_) | Layer::File(_) => true,
        Layer::Template(_) => shown.is_empty(),
        _ => false,
    };
    let mut trial = Arc::clone(file);
    let mut told = Vec::new();
    loop {
        let mut look = |trial: &Arc<FileLayers>| {
            let merged = with_file(sources, Some(trial), |sources| target.merge(sources));
            let left_out = merged.left_out.into_iter();
            left_out
                .filter(|one| of_file(&one.0) || !present.contains(one))
                .collect::<Vec<_>>()
        };
        // Of a setting that was told already the next one is only what comes of taking it out.
        let next = look(&trial)
            .into_iter()
            .find(|(_, error)| !told.contains(&error.field()));
        let Some((_, error)) = next else { break };
        told.push(error.field());
        let mut settings = parts.iter().flat_map(|part| {
            let places = trial.section(*part).places.iter();
            places.map(|(setting, at)| (*part, *setting, at.clone()))
        });
        let culprit = settings
            .clone()
            .find(|(_, setting, _)| *setting == error.field())
            .or_else(|| {
                settings.find(|(part, setting, _)| {
                    let mut without = Arc::clone(&trial);
                    Arc::make_mut(&mut without).unset(*part, setting);
                    !look(&without).iter().any(|(_, other)| *other == error)
                })
            });
        let at = match &culprit {
            Some((.., at)) => at.clone(),
            None => parts
                .first()
                .map_or(0..0, |part| file.section(*part).at.clone()),
        };
        let is_own = culprit
            .as_ref()
            .is_some_and(|(_, setting, _)| *setting == error.field());
        note(shown, at, is_own, error, found);
        let Some((part, setting, _)) = culprit else {
            break;
        };
        Arc::make_mut(&mut trial).unset(part, setting);
    }
}

/// One line for all breakers that have the same contradiction at the same place. `is_own`: it is the
/// setting there that is refused, rather than one from elsewhere because of it.
fn note(
    shown: &str,
    at: Range<usize>,
    is_own: bool,
    error: ConfigError,
    found: &mut Vec<Contradiction>,
) {
    let same = |one: &&mut Contradiction| one.at == at && one.error.field() == error.field();
    if let Some(same) = found.iter_mut().find(same) {
        same.others += usize::from(!shown.is_empty());
        return;
    }
    let message = match (shown, is_own) {
        ("", _) => error.to_string(),
        (name, true) => format!("for `{name}`: {error}"),
        (name, false) => format!("with this, `{name}` makes no sense: {error}"),
    };
    found.push(Contradiction {
        at,
        error,
        message,
        others: 0,
    });
}

/// Templates that breakers start from and that only the file had that is in force now.
fn lost_templates(
    sources: &mut Sources,
    targets: &[Target],
    file: &Arc<FileLayers>,
    problems: &mut Vec<Problem>,
) {
    for target in targets {
        let present = target.merge(sources).missing_template;
        let lost = with_file(sources, Some(file), |sources| target.merge(sources));
        let named_here = file.of(&target.name).base.is_some();
        if let (None, Some(template), false) = (present, lost.missing_template, named_here) {
            let name = &target.name;
            problems.push(Problem {
                at: 0..0,
                message: format!(
                    "`{name}` starts from the template `{template}`, which is missing now"
                ),
            });
        }
    }
}
