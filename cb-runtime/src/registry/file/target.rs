//! What a file can change: a breaker, those of all keys of a name, or what is yet to be made.

use std::time::Duration;

use super::super::changing::Configured;
use super::super::entry::ruling;
use super::super::sources::{Merged, Sources};
use super::Registry;
use crate::config::Config;
use crate::layers::Layer;
use crate::site::Site;

pub(super) struct Target {
    pub(super) name: String,
    /// Its own layers, without the registry's.
    own: Vec<(Layer, Config)>,
    timeout: Option<Duration>,
    /// `None` if it is yet to be made.
    pub(super) made: Option<Configured>,
}

impl Target {
    pub(super) fn made(made: Configured) -> Self {
        let layers = made.layers();
        Self {
            name: made.name().to_owned(),
            own: layers.own(),
            timeout: layers.timeout(),
            made: Some(made),
        }
    }

    /// Something of this name that starts from the template, if there is one.
    pub(super) fn imagined(name: &str, template: Option<&str>) -> Self {
        let base = template.map(|name| (Layer::Template(name.to_owned()), Config::new()));
        Self {
            name: name.to_owned(),
            own: base.into_iter().collect(),
            timeout: None,
            made: None,
        }
    }

    pub(super) fn merge(&self, sources: &mut Sources) -> Merged {
        sources.merge(&self.name, &self.own, self.timeout)
    }

    /// The template that it starts from if the file names no other one.
    pub(super) fn template(&self) -> Option<&str> {
        self.own.iter().find_map(|(layer, _)| match layer {
            Layer::Template(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

impl Registry {
    pub(super) fn target_of(&self, name: &str, sites: &[&'static Site]) -> Target {
        Target {
            name: name.to_owned(),
            own: self.layers_of(ruling(sites)),
            timeout: sites.iter().filter_map(|site| site.function.timeout).max(),
            made: None,
        }
    }
}
