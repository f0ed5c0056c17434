//! The layers of a breaker's configuration and how they were merged.

use std::fmt;
use std::time::Duration;

use crate::config::{Config, Settings, resolve};
use crate::error::ConfigError;

/// Where a setting was chosen. The later ones win.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Layer {
    /// The registry's default.
    Default,
    /// The section `defaults` of the configuration file.
    FileDefaults,
    /// A template of the registry.
    Template(String),
    /// A template that the configuration file names for the breaker, in place of its own.
    FileBase(String),
    /// The attribute of an annotated function.
    Attribute,
    /// Given when the breaker was made by code.
    Code,
    /// The configuration file: its sections that match the breaker's name, the more specific later.
    File(String),
    /// Changed while the program runs.
    Runtime,
    /// `Registry::disable`, `disable_all` or `metrics_only`: in what state new breakers start.
    Suspension,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("registry default"),
            Self::Template(name) => write!(f, "template \"{name}\""),
            Self::FileDefaults => f.write_str("file, defaults"),
            Self::FileBase(name) => write!(f, "template \"{name}\", named by the file"),
            Self::File(sections) => write!(f, "file, {sections}"),
            Self::Attribute => f.write_str("attribute"),
            Self::Code => f.write_str("code"),
            Self::Suspension => f.write_str("suspension"),
            Self::Runtime => f.write_str("run-time change"),
        }
    }
}

/// A setting that some layer chose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ChosenSetting {
    /// Its name, as the attribute writes it.
    pub setting: &'static str,
    /// Its value; `off` for what is off.
    pub value: String,
    /// The layer that chose it.
    pub layer: Layer,
}

impl fmt::Display for ChosenSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.setting, self.value, self.layer)
    }
}

/// A configuration merged from its layers.
pub(crate) struct Layers {
    /// All that were given, each with whether it is in force.
    given: Vec<(Layer, Config, bool)>,
    timeout: Option<Duration>,
    settings: Settings,
}

/// A layer that would have made the whole invalid and was left out.
pub(crate) type LeftOut = (Layer, ConfigError);

impl Layers {
    /// Merges in the given order. `timeout` is the longest one of the guarded functions.
    pub(crate) fn merge(
        given: impl IntoIterator<Item = (Layer, Config)>,
        timeout: Option<Duration>,
    ) -> (Self, Vec<LeftOut>) {
        let mut merged = Config::new();
        let mut settings = resolve(&merged, timeout).unwrap_or_default();
        let mut layers = Vec::new();
        let mut left_out = Vec::new();
        for (layer, config) in given {
            let next = merged.overlay(&config);
            let resolved = resolve(&next, timeout);
            layers.push((layer.clone(), config, resolved.is_ok()));
            match resolved {
                Ok(resolved) => {
                    merged = next;
                    settings = resolved;
                }
                Err(error) => left_out.push((layer, error)),
            }
        }
        let layers = Self {
            given: layers,
            timeout,
            settings,
        };
        (layers, left_out)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The longest timeout of the functions that the breaker guards.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether merging these would give the same.
    pub(crate) fn are_from(&self, given: &[(Layer, Config)], timeout: Option<Duration>) -> bool {
        let same = |(mine, theirs): (&(Layer, Config, bool), &(Layer, Config))| {
            mine.0 == theirs.0 && mine.1 == theirs.1
        };
        self.timeout == timeout
            && self.given.len() == given.len()
            && self.given.iter().zip(given).all(same)
    }

    /// The layers that are the breaker's own: the others are the registry's, and may change. Of a
    /// template only the name is.
    pub(crate) fn own(&self) -> Vec<(Layer, Config)> {
        let own =
            |layer: &Layer| matches!(layer, Layer::Template(_) | Layer::Attribute | Layer::Code);
        self.given
            .iter()
            .filter(|(layer, ..)| own(layer))
            .map(|(layer, config, _)| (layer.clone(), config.clone()))
            .collect()
    }

    fn in_force(&self) -> impl Iterator<Item = (&Layer, &Config)> {
        self.given
            .iter()
            .filter(|(.., in_force)| *in_force)
            .map(|(layer, config, _)| (layer, config))
    }

    pub(crate) fn merged(&self) -> Config {
        self.in_force()
            .fold(Config::new(), |merged, (_, config)| merged.overlay(config))
    }

    /// Whether the same was chosen. Defaults that follow a function's timeout do not matter.
    pub(crate) fn agree_with(&self, other: &Self) -> bool {
        self.merged() == other.merged()
    }

    pub(crate) fn chosen(&self) -> Vec<ChosenSetting> {
        let mut chosen: Vec<ChosenSetting> = Vec::new();
        for (layer, config) in self.in_force() {
            for (setting, value) in config.chosen() {
                chosen.retain(|earlier| earlier.setting != setting);
                chosen.push(ChosenSetting {
                    setting,
                    value,
                    layer: layer.clone(),
                });
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Window;

    #[test]
    fn later_layers_win_and_each_value_names_its_own() {
        let (layers, left_out) = Layers::merge(
            [
                (
                    Layer::Default,
                    Config::new().min_calls(7).wait(Duration::from_secs(3)),
                ),
                (
                    Layer::Attribute,
                    Config::new().min_calls(8).consecutive_failures_off(),
                ),
            ],
            None,
        );
        assert!(left_out.is_empty());
        assert_eq!(layers.settings().min_calls, 8);
        let lines: Vec<String> = layers.chosen().iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "wait = 3s (registry default)",
                "min_calls = 8 (attribute)",
                "consecutive_failures = off (attribute)"
            ]
        );
    }

    #[test]
    fn a_layer_that_makes_the_whole_invalid_is_left_out_whole() {
        let (layers, left_out) = Layers::merge(
            [
                (Layer::Default, Config::new().min_calls(50)),
                (
                    Layer::Attribute,
                    Config::new().window(Window::Calls(20)).failure_rate(30.0),
                ),
            ],
            None,
        );
        assert_eq!(left_out.len(), 1);
        assert_eq!(left_out[0].1.field(), "min_calls");
        assert_eq!(layers.settings().min_calls, 50);
        assert_eq!(layers.settings().failure_rate.value(), 50.0);
    }
}
