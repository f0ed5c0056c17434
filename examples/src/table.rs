//! Columns that line up.

use std::fmt;

/// A table of text: the first column to the left, the others to the right unless told otherwise.
/// Lines between rows can be added in full width.
#[derive(Debug, Default)]
pub struct Table {
    lines: Vec<Line>,
    left: bool,
}

#[derive(Debug)]
enum Line {
    Cells(Vec<String>),
    Text(String),
}

impl Table {
    /// A table with these headings.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Self::default();
        table.row(headings.iter().copied());
        table
    }

    /// All columns to the left: for words instead of figures.
    #[must_use]
    pub fn left(mut self) -> Self {
        self.left = true;
        self
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.lines
            .push(Line::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// Adds a line that is no row.
    pub fn text(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Text(text.into()));
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for line in &self.lines {
            let Line::Cells(cells) = line else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = cell.chars().count().max(*width);
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for line in &self.lines {
            match line {
                Line::Text(text) => writeln!(f, "{text}")?,
                Line::Cells(cells) => {
                    let mut padded = String::new();
                    for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                        let gap = if column == 0 { "" } else { "  " };
                        padded += &match self.left || column == 0 {
                            true => format!("{gap}{cell:<width$}"),
                            false => format!("{gap}{cell:>width$}"),
                        };
                    }
                    writeln!(f, "{}", padded.trim_end())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["phase", "n"]);
        table.row(["hang", "240"]);
        table.text("  a remark that is wider than the table");
        assert_eq!(
            table.to_string(),
            "phase    n\nhang   240\n  a remark that is wider than the table\n"
        );
        assert!(
            table
                .left()
                .to_string()
                .starts_with("phase  n\nhang   240\n")
        );
    }
}
