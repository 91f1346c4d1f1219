//! Where the records of a block are from, for messages.

use crate::fields::Role;
#[cfg(feature = "columns")]
use crate::formats::grouped;

/// Where the records of a block are from, for messages.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The file.
    pub(crate) file: String,
    pub(crate) unit: Unit,
    /// The columns of the value of this side and of the other one, in words.
    pub(crate) columns: [String; 2],
    /// The names of further fields, each with its column in words.
    pub(crate) further: Vec<(String, String)>,
}

/// The unit in which the records of a file are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// By line, one record each.
    #[default]
    Line,
    /// By line, several of which may be one record.
    FirstLine,
    /// By row, in this row group.
    #[cfg(feature = "parquet")]
    RowGroup(usize),
    /// By row, in this batch.
    #[cfg(any(feature = "arrow", all(test, feature = "columns")))]
    Batch(usize),
}

impl Part {
    /// The location of a record, with the column of one of its values in words; an empty one is left out.
    pub(crate) fn location(&self, number: u64, column: &str) -> String {
        let location = match self.unit {
            Unit::Line | Unit::FirstLine => format!("line {number}"),
            #[cfg(feature = "parquet")]
            Unit::RowGroup(group) => format!("row group {group}, row {}", grouped(number)),
            #[cfg(any(feature = "arrow", all(test, feature = "columns")))]
            Unit::Batch(batch) => format!("batch {batch}, row {}", grouped(number)),
        };
        match column {
            "" => location,
            column => format!("{location}, {column}"),
        }
    }

    /// Whether records are found by their line.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self.unit, Unit::Line | Unit::FirstLine)
    }

    /// The column with this role, in words; empty for none.
    pub(crate) fn column(&self, role: Role) -> &str {
        match role {
            Role::Id => "",
            Role::Value => &self.columns[0],
            Role::Other => &self.columns[1],
        }
    }

    /// The column of a further field, in words; empty for none.
    pub(crate) fn further_column(&self, field: &str) -> &str {
        let mut further = self.further.iter();
        let found = further.find(|(name, _)| name == field);
        found.map_or("", |(_, column)| column)
    }

    /// The line, and the position in words; one of them says where the record is.
    pub(crate) fn line_or_location(&self, number: u64, column: &str) -> (Option<u64>, String) {
        match self.unit {
            Unit::Line => (Some(number), String::new()),
            _ => (None, self.location(number, column)),
        }
    }
}
