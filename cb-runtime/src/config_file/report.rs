//! What loading a file has changed.

use std::fmt;

/// What loading or taking back a configuration file has changed, and what of it did not apply.
/// `Display` lists both, a line each.
///
/// ```
/// use cb_runtime::{Config, ConfigFile, Registry};
///
/// let registry = Registry::new();
/// registry.create("stock", &Config::new())?;
/// let file = ConfigFile::new("breakers.toml", "[breakers.stock]\nwait = '20s'\ntimeout = '1s'");
/// let report = registry.load_config(&file)?;
/// assert_eq!(
///     report.to_string(),
///     "stock: wait 10s → 20s\n\
///      stock: `timeout` (line 3) belongs to the function: only its attribute can set it\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoadReport {
    /// The breakers whose settings are other ones now, sorted by name. Breakers of annotated functions
    /// that were not called yet are among them; those of one name with a `key` are listed once.
    pub changed: Vec<BreakerChange>,
    /// The names of all others.
    pub unchanged: Vec<String>,
    /// What the file says and is not in force.
    pub not_applied: Vec<NotApplied>,
}

/// What has changed of one breaker, or of all those of a name with a `key`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BreakerChange {
    /// Its name.
    pub breaker: String,
    /// The settings that have changed, defaults that follow others included.
    pub settings: Vec<SettingChange>,
}

/// A setting with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SettingChange {
    /// Its name, as the attribute writes it.
    pub setting: &'static str,
    /// The value before, as in [`ChosenSetting::value`](crate::ChosenSetting::value).
    pub before: String,
    /// The value now.
    pub after: String,
}

/// Something that a file says and that is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NotApplied {
    /// The breaker, or the name of the section.
    pub name: String,
    /// The setting; `None` for a whole section.
    pub setting: Option<&'static str>,
    /// The line it is in.
    pub line: usize,
    /// Why.
    pub why: WhyNot,
}

/// Why something that a file says is not in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WhyNot {
    /// It belongs to the guarded function: timeouts, classification, fallback, key.
    BelongsToFunction,
    /// `mode` is for new breakers, and this one exists.
    BreakerExists,
    /// No breaker has a name that the section matches, so far.
    NoSuchBreaker,
    /// [`Registry::configure`](crate::Registry::configure) has set it, and wins.
    ChangedAtRuntime,
}

impl LoadReport {
    pub(crate) fn change_of(&self, breaker: &str) -> Option<&BreakerChange> {
        self.changed.iter().find(|change| change.breaker == breaker)
    }

    /// What has changed of this breaker; empty if nothing.
    #[must_use]
    pub fn changes_of(&self, breaker: &str) -> &[SettingChange] {
        self.change_of(breaker)
            .map_or(&[], |change| &change.settings)
    }

    /// Whether no breaker has other settings than before.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.changed {
            writeln!(f, "{change}")?;
        }
        for left in &self.not_applied {
            writeln!(f, "{left}")?;
        }
        if self.changed.is_empty() && self.not_applied.is_empty() {
            f.write_str("nothing changed\n")?;
        }
        Ok(())
    }
}

impl fmt::Display for BreakerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.breaker)?;
        for (at, change) in self.settings.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{change}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} → {}", self.setting, self.before, self.after)
    }
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.setting {
            Some(setting) => write!(f, "`{setting}` (line {}) ", self.line)?,
            None => write!(f, "the section in line {} ", self.line)?,
        }
        f.write_str(match self.why {
            WhyNot::BelongsToFunction => "belongs to the function: only its attribute can set it",
            WhyNot::BreakerExists => "is for new breakers, and this one exists",
            WhyNot::NoSuchBreaker => "matches no breaker so far",
            WhyNot::ChangedAtRuntime => "is not in force: a change at run time has set it",
        })
    }
}
