//! What a file says of each breaker.

use super::document::{Document, Section};
use crate::config::Config;
use crate::few::Few;
use crate::pattern;

/// A file in force.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileLayers {
    pub(crate) document: Document,
    /// Its text, for the lines of reports.
    pub(crate) text: String,
}

/// The layers that a file has for one breaker.
pub(crate) struct OfBreaker<'a> {
    pub(crate) base: Option<&'a str>,
    /// The names of the sections that match, and what they choose together.
    pub(crate) own: Option<(String, Config)>,
}

/// A section of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    Defaults,
    Template(usize),
    Breaker(usize),
}

impl FileLayers {
    /// `document`'s sections for breakers are sorted here.
    pub(crate) fn new(mut document: Document, text: &str) -> Self {
        document.breakers.sort_by(|a, b| {
            let key = |name: &str| pattern::specificity(name);
            (key(&a.name), &a.name).cmp(&(key(&b.name), &b.name))
        });
        let text = text.to_owned();
        Self { document, text }
    }

    pub(crate) fn defaults(&self) -> Option<&Config> {
        let defaults = &self.document.defaults.config;
        (*defaults != Config::new()).then_some(defaults)
    }

    pub(crate) fn template(&self, name: &str) -> Option<&Config> {
        let found = self.document.templates.iter().find(|one| one.name == name);
        found.map(|section| &section.config)
    }

    /// The positions of the sections that match, the more specific later.
    pub(crate) fn matching<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let sections = self.document.breakers.iter().enumerate();
        sections
            .filter(move |(_, section)| pattern::matches(&section.name, name))
            .map(|(at, _)| at)
    }

    pub(crate) fn of(&self, name: &str) -> OfBreaker<'_> {
        let mut base = None;
        let mut names = Vec::new();
        let mut config = Config::new();
        for at in self.matching(name) {
            let section = &self.document.breakers[at];
            base = section
                .base
                .as_ref()
                .map(|(base, _)| base.as_str())
                .or(base);
            if section.config != Config::new() {
                names.push(format!("\"{}\"", section.name));
                config = config.overlay(&section.config);
            }
        }
        let own = (!names.is_empty()).then(|| (names.join(" and "), config));
        OfBreaker { base, own }
    }

    /// The sections that a breaker has settings from, the ones that win first. `template` is the one it
    /// starts from if the file names no other.
    pub(crate) fn parts(&self, name: &str, template: Option<&str>) -> Vec<Part> {
        let mut parts: Vec<_> = self.matching(name).map(Part::Breaker).collect();
        parts.reverse();
        let template = self.of(name).base.or(template);
        let templates = self.document.templates.iter();
        let template = templates
            .map(|section| section.name.as_str())
            .position(|name| Some(name) == template);
        parts.extend(template.map(Part::Template));
        parts.push(Part::Defaults);
        parts
    }

    pub(crate) fn section(&self, part: Part) -> &Section {
        match part {
            Part::Defaults => &self.document.defaults,
            Part::Template(at) => &self.document.templates[at],
            Part::Breaker(at) => &self.document.breakers[at],
        }
    }

    /// Takes a setting out.
    pub(crate) fn unset(&mut self, part: Part, setting: &str) {
        let section = match part {
            Part::Defaults => &mut self.document.defaults,
            Part::Template(at) => &mut self.document.templates[at],
            Part::Breaker(at) => &mut self.document.breakers[at],
        };
        section.config.unset(setting);
        section.places.retain(|(name, _)| *name != setting);
    }

    /// Templates by name, over those of the registry.
    pub(crate) fn template_names<'a>(&'a self, registry: &'a Few<String, Config>) -> Vec<&'a str> {
        let mine = self.document.templates.iter().map(|one| one.name.as_str());
        mine.chain(registry.iter().map(|(name, _)| name.as_str()))
            .collect()
    }
}
