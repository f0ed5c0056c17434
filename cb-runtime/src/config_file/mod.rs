//! Settings from a file, for breakers that exist and for those to come.

mod document;
mod elsewhere;
mod error;
mod layer;
mod report;
mod setting;
mod unit;

use std::path::Path;

pub use error::{ConfigFileError, FileError};
pub use report::{BreakerChange, LoadReport, NotApplied, SettingChange, WhyNot};

pub(crate) use document::{Document, Section};
pub(crate) use error::{Problem, position};
pub(crate) use layer::FileLayers;

/// The text of a configuration file, for [`Registry::load_config`](crate::Registry::load_config).
///
/// The file is TOML. Settings have the names and values that the attribute has; what is off is
/// written `"off"`.
///
/// ```toml
/// [defaults]                      # above the registry's default
/// wait = "20s"
///
/// [templates.patient]             # for `base = "patient"`, here or at the attribute
/// wait = "1m"
/// half_open_calls = 3
///
/// [breakers."payments.*"]         # all whose name begins so
/// failure_rate = 30
///
/// [breakers."payments.card"]      # the more specific section wins
/// base = "patient"
/// failure_rate = "0.5%"
/// slow = "2s"
/// ```
///
/// # Which setting wins
///
/// From the last to the first: what [`Registry::configure`](crate::Registry::configure) has changed,
/// the file's sections under `breakers`, the attribute or the code that made the breaker, the template
/// it starts from, the file's `defaults`, [`Registry::set_default`](crate::Registry::set_default), the
/// built-in defaults.
///
/// In the name of a section `*` stands for any number of any characters, dots too. If several sections
/// match a breaker, all of them apply, and for each setting the most specific one wins: the breaker's
/// name before any pattern, then the pattern with more characters besides `*`, then the later one in
/// alphabetical order. `base` replaces the template that the attribute names; its settings stay below
/// the attribute's. A template replaces one of the same name in the registry while the file is loaded.
///
/// All breakers of a name with a `key` have the settings of that name.
///
/// # What a file cannot change
///
/// What belongs to a function is not applied: timeouts, classification, fallback, key. A function's own
/// `on_cancel` wins. `mode` is what new breakers start with; one that exists keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    source: String,
    text: String,
    later_names: bool,
}

impl ConfigFile {
    /// A file of this text. `source` stands for it in errors, usually its path.
    #[must_use]
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            text: text.into(),
            later_names: false,
        }
    }

    /// Reads a file. Blocks until it is read.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not UTF-8.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigFileError> {
        let path = path.as_ref();
        let source = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self::new(source, text)),
            Err(error) => Err(ConfigFileError::unreadable(&source, &error)),
        }
    }

    /// Accepts names and patterns that match no breaker: for a program whose breakers are made by code
    /// after the file is loaded. Such breakers start with the file's settings. Without this, such a
    /// name is an error, since it is most likely a slip.
    #[must_use]
    pub fn allow_unknown_names(mut self) -> Self {
        self.later_names = true;
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn allows_unknown_names(&self) -> bool {
        self.later_names
    }

    pub(crate) fn error(&self, problems: Vec<Problem>) -> ConfigFileError {
        ConfigFileError::new(&self.source, &self.text, problems)
    }
}
