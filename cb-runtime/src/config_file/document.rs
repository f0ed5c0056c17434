//! The text of a configuration file, read: sections, settings and their places.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Problem;
use super::{elsewhere, setting};
use crate::config::Config;
use crate::suggest::nearest;

const SECTIONS: &[&str] = &["defaults", "templates", "breakers"];

/// A file, as far as it can be understood without knowing what breakers there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Document {
    /// It is no TOML.
    pub(crate) unreadable: bool,
    pub(crate) defaults: Section,
    pub(crate) templates: Vec<Section>,
    pub(crate) breakers: Vec<Section>,
}

/// The settings of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Section {
    /// Of a template, or the name or pattern of breakers; empty for the defaults.
    pub(crate) name: String,
    pub(crate) at: Range<usize>,
    pub(crate) config: Config,
    /// The template that the breakers start from.
    pub(crate) base: Option<(String, Range<usize>)>,
    /// Where each setting is written.
    pub(crate) places: Vec<(&'static str, Range<usize>)>,
    /// Arguments of the attribute that no file can set, and where they are.
    pub(crate) of_functions: Vec<(&'static str, Range<usize>)>,
    /// It holds a table: most likely a name with dots that lacks its quotes.
    pub(crate) nested: bool,
    /// Some of it could not be understood.
    pub(crate) broken: bool,
}

impl Section {
    pub(crate) fn place(&self, setting: &str) -> Option<Range<usize>> {
        let found = self.places.iter().find(|(name, _)| *name == setting);
        found.map(|(_, at)| at.clone())
    }
}

impl Document {
    pub(crate) fn read(text: &str) -> (Self, Vec<Problem>) {
        let mut document = Self::default();
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            // What is read beside an error of syntax may not be what was meant.
            let problems = errors.into_iter().map(|error| Problem {
                at: error.span().unwrap_or(0..0),
                message: error.message().to_owned(),
            });
            document.unreadable = true;
            return (document, problems.collect());
        }
        let mut problems = Vec::new();
        for (key, value) in root.get_ref() {
            document.top(key, value, &mut problems);
        }
        (document, problems)
    }

    fn top(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        problems: &mut Vec<Problem>,
    ) {
        let name: &str = key.get_ref();
        let mut wrong = |message| {
            problems.push(Problem {
                at: key.span(),
                message,
            })
        };
        match (name, value.get_ref()) {
            ("defaults", DeValue::Table(table)) => {
                self.defaults = section("", key.span(), table, false, problems);
            }
            ("templates" | "breakers", DeValue::Table(tables)) => {
                for (inner, value) in tables {
                    let DeValue::Table(table) = value.get_ref() else {
                        let message = not_in_a_table(name, inner.get_ref());
                        problems.push(Problem {
                            at: inner.span(),
                            message,
                        });
                        continue;
                    };
                    let is_breaker = name == "breakers";
                    let section =
                        section(inner.get_ref(), inner.span(), table, is_breaker, problems);
                    match is_breaker {
                        true => self.breakers.push(section),
                        false => self.templates.push(section),
                    }
                }
            }
            ("defaults" | "templates" | "breakers", _) => {
                wrong(format!(
                    "`{name}` is a section: write `[{name}]` and what belongs to it below"
                ));
            }
            _ if setting::NAMES.contains(&name) => wrong(format!(
                "`{name}` is in no section: put it below `[defaults]` or `[breakers.\"a name\"]`"
            )),
            _ => wrong(match nearest(name, SECTIONS.iter().copied()) {
                Some(near) => format!("unknown section `{name}`: did you mean `{near}`?"),
                None => format!(
                    "unknown section `{name}`: there are `defaults`, `templates` and `breakers`"
                ),
            }),
        }
    }
}

/// A value where a table is wanted: most likely a name with dots that lacks its quotes.
fn not_in_a_table(kind: &str, name: &str) -> String {
    match kind {
        _ if setting::NAMES.contains(&name) => {
            format!(
                "`{name}` is a setting, but `[{kind}]` has only names: write `[{kind}.\"a name\"]`"
            )
        }
        _ => format!("`{name}` must be a section of its own: write `[{kind}.\"{name}\"]`"),
    }
}

fn section(
    name: &str,
    at: Range<usize>,
    table: &DeTable<'_>,
    is_breaker: bool,
    problems: &mut Vec<Problem>,
) -> Section {
    let mut section = Section {
        name: name.to_owned(),
        at,
        ..Section::default()
    };
    let before = problems.len();
    for (key, value) in table {
        let name: &str = key.get_ref();
        let mut wrong = |at, message| problems.push(Problem { at, message });
        if name == "base" {
            match value.get_ref() {
                _ if !is_breaker => wrong(
                    key.span(),
                    "`base` belongs to breakers: defaults and templates start from nothing".into(),
                ),
                DeValue::String(base) => section.base = Some((base.to_string(), value.span())),
                _ => wrong(
                    value.span(),
                    "`base` takes the name of a template: for example `base = \"resilience4j\"`"
                        .into(),
                ),
            }
            continue;
        }
        match setting::set(&mut section.config, name, value.get_ref()) {
            Some(Ok(())) => {
                let known = setting::NAMES.iter().find(|known| **known == name);
                let place = key.span().start..value.span().end;
                section.places.extend(known.map(|known| (*known, place)));
            }
            Some(Err(message)) => wrong(value.span(), message),
            None => match setting::OF_FUNCTIONS.iter().find(|known| **known == name) {
                Some(known) => section.of_functions.push((known, key.span())),
                None => {
                    section.nested |= value.get_ref().is_table();
                    wrong(key.span(), unknown(&section.name, name, value.get_ref()));
                }
            },
        }
    }
    section.broken = problems.len() > before;
    section
}

fn unknown(section: &str, name: &str, value: &DeValue<'_>) -> String {
    let meant = elsewhere::meant(name, setting::known());
    if let Some(here) = meant.filter(|_| !value.is_table()) {
        let message = elsewhere::message(name, here);
        return match setting::OF_FUNCTIONS.contains(&here) {
            true => {
                format!("{message}, and belongs to the function: only its attribute can set it")
            }
            false => message,
        };
    }
    let known = setting::NAMES.iter().copied().chain(["base"]);
    match (nearest(name, known), value) {
        (_, DeValue::Table(_)) => format!(
            "`{name}` is a table, but a section holds settings; if `{section}.{name}` is a name, put it \
             in quotes: `\"{section}.{name}\"`"
        ),
        (Some(near), _) => format!("unknown setting `{name}`: did you mean `{near}`?"),
        (None, _) => format!(
            "unknown setting `{name}`; the settings are {}",
            setting::NAMES.join(", ")
        ),
    }
}
