//! The layers that belong to the registry rather than to one breaker.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::config::{Config, Mode};
#[cfg(feature = "config-file")]
use crate::config_file::FileLayers;
use crate::few::Few;
use crate::layers::{Layer, Layers, LeftOut};
use crate::pattern;

/// Breakers with the same layers share them; so many of the latest are looked through.
const SHARED: usize = 16;

pub(super) struct Sources {
    /// Rises with each change, so that a breaker which is made meanwhile is seen to be out of date.
    pub(super) version: u64,
    pub(super) default: Config,
    pub(super) templates: Few<String, Config>,
    /// Made while the program runs, by the breaker's name.
    pub(super) changes: Few<String, Config>,
    /// Patterns of names whose breakers are out of the way, and how; the latest last.
    pub(super) suspensions: Vec<(String, Mode)>,
    #[cfg(feature = "config-file")]
    pub(super) file: Option<Arc<FileLayers>>,
    /// Those that were in force before, the latest last.
    #[cfg(feature = "config-file")]
    pub(super) earlier_files: Vec<Option<Arc<FileLayers>>>,
    made: Vec<Weak<Layers>>,
}

/// What the configuration file has for a breaker.
#[derive(Default)]
struct FromFile {
    defaults: Option<Config>,
    base: Option<String>,
    /// The names of its sections, and what they choose.
    own: Option<(String, Config)>,
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
        let mut templates = Few::default();
        templates.insert("resilience4j".to_owned(), Config::resilience4j());
        Self {
            version: 0,
            default: Config::new(),
            templates,
            changes: Few::default(),
            suspensions: Vec::new(),
            #[cfg(feature = "config-file")]
            file: None,
            #[cfg(feature = "config-file")]
            earlier_files: Vec::new(),
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
        let file = self.file_of(name);
        given.extend(file.defaults.map(|config| (Layer::FileDefaults, config)));
        let mut template = |name: &str| {
            self.template(name).cloned().unwrap_or_else(|| {
                missing_template = Some(name.to_owned());
                Config::new()
            })
        };
        if let Some(base) = &file.base {
            given.push((Layer::FileBase(base.clone()), template(base)));
        }
        for (layer, config) in own {
            let config = match layer {
                Layer::Template(_) if file.base.is_some() => Config::new(),
                Layer::Template(name) => template(name),
                _ => config.clone(),
            };
            given.push((layer.clone(), config));
        }
        given.extend(file.own.map(|(names, config)| (Layer::File(names), config)));
        let change = self.changes.get(name);
        given.extend(change.map(|config| (Layer::Runtime, config.clone())));
        let own_mode = given.iter().rev().find_map(|(_, config)| config.mode);
        if let (Some(mode), Mode::Enabled) =
            (self.suspension_of(name), own_mode.unwrap_or_default())
        {
            given.push((Layer::Suspension, Config::new().mode(mode)));
        }
        let (layers, left_out) = self.shared(given, timeout);
        Merged {
            layers,
            left_out,
            missing_template,
            version: self.version,
        }
    }

    /// How the breakers of this name are out of the way.
    pub(super) fn suspension_of(&self, name: &str) -> Option<Mode> {
        let latest = self.suspensions.iter().rev();
        let mut matching = latest.filter(|(pattern, _)| pattern::matches(pattern, name));
        matching.next().map(|(_, mode)| *mode)
    }

    /// The template of this name; the file's, if it has one.
    pub(super) fn template(&self, name: &str) -> Option<&Config> {
        #[cfg(feature = "config-file")]
        let found = self.file.as_ref().and_then(|file| file.template(name));
        #[cfg(not(feature = "config-file"))]
        let found = None;
        found.or_else(|| self.templates.get(name))
    }

    #[cfg(feature = "config-file")]
    fn file_of(&self, name: &str) -> FromFile {
        let Some(file) = &self.file else {
            return FromFile::default();
        };
        let of_breaker = file.of(name);
        FromFile {
            defaults: file.defaults().cloned(),
            base: of_breaker.base.map(str::to_owned),
            own: of_breaker.own,
        }
    }

    #[cfg(not(feature = "config-file"))]
    #[allow(clippy::unused_self)]
    fn file_of(&self, _name: &str) -> FromFile {
        FromFile::default()
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
