//! Loading a configuration file: all of it or nothing, and back again.

use std::sync::Arc;

use super::changing::Configured;
use super::sources::Sources;
use super::{Registry, read, write};
use crate::announced;
use crate::config_file::{ConfigFile, ConfigFileError, Document, FileLayers, LoadReport, position};
use crate::sync::lock;

mod check;
mod compare;
mod target;

use target::Target;

/// So many earlier versions of the file are kept.
const KEPT: usize = 16;

impl Registry {
    /// Puts a configuration file in force, in place of an earlier one, for the breakers that exist and
    /// for those to come, while they work: state, window and calls in flight stay, as
    /// [`configure`](Self::configure) says. [`ConfigFile`] says what a file can have and which layer
    /// wins.
    ///
    /// All or nothing: nothing changes if anything is wrong with the file. A file that is in force
    /// already changes nothing.
    ///
    /// Watching the file is the application's business: load it again when it has changed.
    ///
    /// ```
    /// use cb_runtime::{Config, ConfigFile, Registry, Window};
    ///
    /// let registry = Registry::new();
    /// let breaker = registry.create("stock", &Config::new().window(Window::Calls(100)))?;
    ///
    /// let file = ConfigFile::new("breakers.toml", "[breakers.stock]\nmin_calls = 20");
    /// let report = registry.load_config(&file)?;
    /// assert_eq!(report.changes_of("stock")[0].to_string(), "min_calls 10 → 20");
    ///
    /// let slip = ConfigFile::new("breakers.toml", "[breakers.stokc]\nmin_calls = 200");
    /// let error = registry.load_config(&slip).unwrap_err();
    /// assert_eq!((error.errors()[0].line, error.errors()[0].column), (1, 11));
    /// assert_eq!(breaker.snapshot().min_calls, 20);
    ///
    /// registry.roll_back_config();
    /// assert_eq!(breaker.snapshot().min_calls, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Everything that is wrong, each with line and column: what is no TOML; unknown sections, settings
    /// and templates; names that no breaker has, unless
    /// [they are allowed](ConfigFile::allow_unknown_names); values of the wrong kind or out of range;
    /// and what contradicts other settings of a breaker, also those of its attribute.
    pub fn load_config(&self, file: &ConfigFile) -> Result<LoadReport, ConfigFileError> {
        self.put_file(file, true)
    }

    /// What [`load_config`](Self::load_config) would answer. Nothing changes: for a test that the file
    /// fits the program, or before a reload.
    ///
    /// # Errors
    ///
    /// Those of [`load_config`](Self::load_config).
    pub fn check_config(&self, file: &ConfigFile) -> Result<LoadReport, ConfigFileError> {
        self.put_file(file, false)
    }

    /// Puts the version of the configuration file in force that was so before; before the first one that
    /// was no file at all. Called again, it goes one further back; the last 16 are kept. `None` if there
    /// is none.
    ///
    /// A breaker that has been made since may be at odds with it: then the file's settings for it are
    /// left out and reported as a [`Conflict`](crate::Conflict).
    pub fn roll_back_config(&self) -> Option<LoadReport> {
        let (report, aftermath) = {
            let _turn = lock(&self.shared.changing);
            let targets = self.targets();
            let mut sources = write(&self.shared.sources);
            let file = sources.earlier_files.pop()?;
            let report = compare::report(&mut sources, &targets, file.as_ref());
            sources.file = file;
            sources.version += 1;
            drop(sources);
            (report, self.refresh(made(targets)))
        };
        aftermath.tell(self);
        Some(report)
    }

    fn put_file(&self, file: &ConfigFile, keep: bool) -> Result<LoadReport, ConfigFileError> {
        let (document, mut problems) = Document::read(file.text());
        let layers = Arc::new(FileLayers::new(document, file.text()));
        let (report, aftermath) = {
            let _turn = lock(&self.shared.changing);
            let targets = self.targets();
            let mut sources = write(&self.shared.sources);
            if !layers.document.unreadable {
                let unknown = file.allows_unknown_names();
                problems.extend(check::problems(&mut sources, &targets, &layers, unknown));
            }
            if !problems.is_empty() {
                drop(sources);
                return Err(file.error(problems));
            }
            let report = compare::report(&mut sources, &targets, Some(&layers));
            if !keep || sources.file.as_ref() == Some(&layers) {
                return Ok(report);
            }
            if sources.earlier_files.len() == KEPT {
                sources.earlier_files.remove(0);
            }
            let before = sources.file.replace(layers);
            sources.earlier_files.push(before);
            sources.version += 1;
            drop(sources);
            (report, self.refresh(made(targets)))
        };
        aftermath.tell(self);
        Ok(report)
    }

    /// Everything that has settings, sorted by name, also what is not made yet.
    fn targets(&self) -> Vec<Target> {
        let mut targets: Vec<_> = self
            .configured(|_| true)
            .into_iter()
            .map(Target::made)
            .collect();
        let names = self.shared.announced.then(announced::announced_names);
        for name in names.into_iter().flatten() {
            for keyed in [false, true] {
                let is_made = match keyed {
                    true => read(&self.shared.keyed).get(name).is_some(),
                    false => read(&self.shared.entries).get(name).is_some(),
                };
                let sites = self.announced(name, keyed);
                if !is_made && !sites.is_empty() {
                    targets.push(self.target_of(name, &sites));
                }
            }
        }
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        targets
    }
}

fn made(targets: Vec<Target>) -> Vec<Configured> {
    targets.into_iter().filter_map(|one| one.made).collect()
}

/// The line that a byte of the file's text is in.
fn line(file: &FileLayers, at: &std::ops::Range<usize>) -> usize {
    position(&file.text, at.start).0
}

/// What `look` sees with another file in force.
fn with_file<T>(
    sources: &mut Sources,
    file: Option<&Arc<FileLayers>>,
    look: impl FnOnce(&mut Sources) -> T,
) -> T {
    let before = std::mem::replace(&mut sources.file, file.cloned());
    let seen = look(sources);
    sources.file = before;
    seen
}
