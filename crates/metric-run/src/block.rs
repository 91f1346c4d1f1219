//! Blocks of records, as sources are read.

use std::sync::Arc;

use metric_record::ReadError;

use crate::RunError;
use crate::formats::csv::Layout;
use crate::found::{Found, ScanError};
use crate::part::{Part, Unit};

/// Records of a source: whole lines, or what else its format has.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// Number of the first line or row, from 1.
    pub(crate) first_line: u64,
    /// Number of records in earlier files, where lines are counted on.
    pub(crate) before: u64,
    pub(crate) rows: Rows,
    pub(crate) part: Arc<Part>,
    /// The lines of records that probably have other rows inside of their quotes, ascending.
    pub(crate) with_rows: Vec<u64>,
    /// The error that a check reads past, in place of records.
    pub(crate) refused: Option<(RunError, Extent)>,
}

/// The part of a file that an error makes unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A line, or a record of CSV.
    Line,
    /// The file from there to its end.
    File,
}

/// The form in which a block holds its records.
#[derive(Debug, Default)]
pub(crate) enum Rows {
    /// As lines of its text.
    #[default]
    Lines,
    /// As records of CSV in its text.
    Csv(Arc<Layout>),
    /// As columns.
    #[cfg(feature = "columns")]
    Columns(Box<crate::formats::columns::Rows>),
    /// As records in its text that have been found.
    Found(Vec<Found>),
}

impl Rows {
    /// Whether records are lines of the block's text.
    pub(crate) fn are_lines(&self) -> bool {
        matches!(self, Self::Lines)
    }
}

impl Block {
    /// Lines of text.
    #[cfg(test)]
    pub(crate) fn lines(text: String, first_line: u64) -> Self {
        Self {
            text,
            first_line,
            ..Self::default()
        }
    }

    /// A part of the source that cannot be read.
    pub(crate) fn refused(error: RunError, extent: Extent) -> Self {
        Self {
            refused: Some((error, extent)),
            ..Self::default()
        }
    }

    /// The number of the line in which `offset` lies.
    pub(crate) fn line_at(&self, offset: usize) -> u64 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        self.first_line + memchr::memchr_iter(b'\n', before).count() as u64
    }

    /// The error of a record that cannot be found.
    pub(crate) fn error(&self, error: ScanError) -> RunError {
        // Rows of columns are not lines, and are named in the location.
        let has_lines = matches!(self.part.unit, Unit::Line | Unit::FirstLine);
        let line = self.line_at(error.offset);
        scan_error(&self.part.file, has_lines.then_some(line), error)
    }
}

pub(crate) fn scan_error(file: &str, line: Option<u64>, error: ScanError) -> RunError {
    let mut read = ReadError::new(file, error.problem);
    // A record that may span several lines has its first one in words.
    match (error.line, error.location.as_str()) {
        (None, location) => {
            read = read.at(location);
            read.line = line;
            read.into()
        }
        (Some(first), "") => read.at(format!("line {first}")).into(),
        (Some(first), location) => read.at(format!("line {first}, {location}")).into(),
    }
}
