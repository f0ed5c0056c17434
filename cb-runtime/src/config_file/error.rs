//! What is wrong with a configuration file, and where.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// Something wrong, and the bytes of the text that are wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
}

/// Everything that is wrong with a configuration file; nothing of it is in force.
///
/// `Display` shows each error under the line it is in, as a compiler would:
///
/// ```text
/// error: unknown setting `min_cals`: did you mean `min_calls`?
///  --> breakers.toml:2:1
///   |
/// 2 | min_cals = 20
///   | ^^^^^^^^
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFileError {
    source: String,
    errors: Vec<FileError>,
}

/// One thing that is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FileError {
    /// The line, from 1; 0 if the file could not be read at all.
    pub line: usize,
    /// The column, in characters, from 1; 0 if the file could not be read at all.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
    /// The line's text.
    pub text: String,
    /// How many of its characters are wrong.
    pub length: usize,
}

impl ConfigFileError {
    pub(crate) fn new(source: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.at.start);
        let errors = problems.into_iter().map(|one| one.in_text(text)).collect();
        let source = source.to_owned();
        Self { source, errors }
    }

    pub(crate) fn unreadable(source: &str, error: &std::io::Error) -> Self {
        let errors = vec![FileError {
            line: 0,
            column: 0,
            message: format!("cannot be read: {error}"),
            text: String::new(),
            length: 0,
        }];
        let source = source.to_owned();
        Self { source, errors }
    }

    /// The errors, in the order of their lines; never empty.
    #[must_use]
    pub fn errors(&self) -> &[FileError] {
        &self.errors
    }
}

impl Problem {
    fn in_text(self, text: &str) -> FileError {
        let (line, column) = position(text, self.at.start);
        let line_text = text.lines().nth(line - 1).unwrap_or_default();
        let wrong = text.get(self.at).unwrap_or_default();
        let wrong = wrong.lines().next().unwrap_or_default();
        FileError {
            line,
            column,
            message: self.message,
            text: line_text.to_owned(),
            length: wrong.chars().count().max(1),
        }
    }
}

/// Line and column, from 1, of a byte of the text.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

impl fmt::Display for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            error.show(f, &self.source)?;
        }
        Ok(())
    }
}

impl FileError {
    fn show(&self, f: &mut fmt::Formatter<'_>, source: &str) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        if self.line == 0 {
            return writeln!(f, " --> {source}");
        }
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the marks stand below what they mark.
        let indent = self.text.chars().take(self.column - 1);
        let indent: String = indent.map(|c| if c == '\t' { c } else { ' ' }).collect();
        writeln!(f, "{margin}--> {source}:{}:{}", self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.text)?;
        writeln!(f, "{margin} | {indent}{}", "^".repeat(self.length))
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Error for ConfigFileError {}

impl Error for FileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let text = "ä = 1\n\tö = 2\n";
        let at = text.find('2').unwrap();
        assert_eq!(position(text, at), (2, 6));
        assert_eq!(position(text, text.len()), (3, 1));
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("", 99), (1, 1));
    }
}
