//! The layers that belong to the registry rather than to one breaker.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::config::Config;
use crate::layers::{Layer, Layers, LeftOut};

/// Breakers with the same layers share them; so many of the latest are looked through.
const SHARED: usize = 16;

pub(super) struct Sources {
    /// Rises with each change, so that a breaker which is made meanwhile is seen to be out of date.
    pub(super) version: u64,
    pub(super) default: Config,
    pub(super) templates: HashMap<String, Config>,
    /// Made while the program runs, by the breaker's name.
    pub(super) changes: HashMap<String, Config>,
    made: Vec<Weak<Layers>>,
}

/// Layers merged for a breaker.
pub(super) struct Merged {
    pub(super) layers: Arc<Layers>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) missing_template: Option<String>,
    /// Of the sources that they are from.
    pub(super) version: u64,
}

impl Sources {
    pub(super) fn new() -> Self {
        Self {
            version: 0,
            default: Config::new(),
            templates: HashMap::from([("resilience4j".to_owned(), Config::resilience4j())]),
            changes: HashMap::new(),
            made: Vec::new(),
        }
    }

    /// Puts a breaker's own layers, `own`, between those of the registry. `timeout` is the longest
    /// of the functions that it guards.
    pub(super) fn merge(
        &mut self,
        name: &str,
        own: &[(Layer, Config)],
        timeout: Option<Duration>,
    ) -> Merged {
        let mut missing_template = None;
        let mut given = vec![(Layer::Default, self.default.clone())];
        for (layer, config) in own {
            let config = match layer {
                Layer::Template(template) => {
                    let found = self.templates.get(template).cloned();
                    found.unwrap_or_else(|| {
                        missing_template = Some(template.clone());
                        Config::new()
                    })
                }
                _ => config.clone(),
            };
            given.push((layer.clone(), config));
        }
        let change = self.changes.get(name);
        given.extend(change.map(|config| (Layer::Runtime, config.clone())));
        let (layers, left_out) = self.shared(given, timeout);
        Merged {
            layers,
            left_out,
            missing_template,
            version: self.version,
        }
    }

    fn shared(
        &mut self,
        given: Vec<(Layer, Config)>,
        timeout: Option<Duration>,
    ) -> (Arc<Layers>, Vec<LeftOut>) {
        self.made.retain(|layers| layers.strong_count() > 0);
        let made = self.made.iter().filter_map(Weak::upgrade);
        let same = made
            .into_iter()
            .find(|layers| layers.are_from(&given, timeout));
        let (layers, left_out) = Layers::merge(given, timeout);
        let layers = same.unwrap_or_else(|| {
            let layers = Arc::new(layers);
            if self.made.len() == SHARED {
                self.made.remove(0);
            }
            self.made.push(Arc::downgrade(&layers));
            layers
        });
        (layers, left_out)
    }
}
