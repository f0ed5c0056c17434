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
    /// A template of the registry.
    Template(String),
    /// The attribute of an annotated function.
    Attribute,
    /// Given when the breaker was made by code.
    Code,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("registry default"),
            Self::Template(name) => write!(f, "template \"{name}\""),
            Self::Attribute => f.write_str("attribute"),
            Self::Code => f.write_str("code"),
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
    layers: Vec<(Layer, Config)>,
    merged: Config,
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
        let mut settings = Settings::default();
        let mut layers = Vec::new();
        let mut left_out = Vec::new();
        for (layer, config) in [(Layer::Default, Config::new())].into_iter().chain(given) {
            let next = merged.overlay(&config);
            match resolve(&next, timeout) {
                Ok(resolved) => {
                    merged = next;
                    settings = resolved;
                    layers.push((layer, config));
                }
                Err(error) => left_out.push((layer, error)),
            }
        }
        (
            Self {
                layers,
                merged,
                settings,
            },
            left_out,
        )
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the same was chosen. Defaults that follow a function's timeout do not matter.
    pub(crate) fn agree_with(&self, other: &Self) -> bool {
        self.merged == other.merged
    }

    pub(crate) fn chosen(&self) -> Vec<ChosenSetting> {
        let mut chosen: Vec<ChosenSetting> = Vec::new();
        for (layer, config) in &self.layers {
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
