use std::fmt;
use std::ops::Range;

use super::{Cells, Column, Texts, within};
use crate::{FieldError, Id, JoinPolicy, Record, quoted_id};

/// Many records at once, joined and not yet read: one cell of each column per record.
///
/// That ids are unique is for the join to check, not for a batch.
///
/// ```
/// use metric_record::{Batch, Cells, Column, Id, Ids, Texts};
///
/// let (predictions, references) = ([3, 1, 2], [3, 2, 2]);
/// let langs = ["en", "de", "en"];
/// let batch = Batch::new(
///     Ids::Positions(1),
///     Column::Integers(Cells::from(&predictions[..])),
///     Column::Integers(Cells::from(&references[..])),
///     vec![("lang", Column::Texts(Texts::from(&langs[..])))],
/// )?;
/// assert_eq!(batch.len(), 3);
///
/// // A metric without a path for columns reads records.
/// let mut buffer = String::new();
/// let mut record = batch.record_with_fields(1, &mut buffer)?.expect("there are 3 records");
/// assert_eq!(record.id, Id::Integer(2));
/// assert_eq!(record.prediction.read::<i64>(), Ok(1));
/// assert_eq!(record.fields, Some(r#"{"lang":"de"}"#));
///
/// // One that has a path takes the columns.
/// if let Column::Integers(labels) = batch.references() {
///     assert_eq!(labels.without_nulls(), Some(&[3, 2, 2][..]));
/// }
///
/// let short = Column::Integers(Cells::from(&references[..2]));
/// let error = Batch::new(Ids::Positions(1), batch.predictions().clone(), short, vec![]).unwrap_err();
/// assert_eq!(error.to_string(), "2 references, but 3 predictions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    ids: Ids<'a>,
    predictions: Column<'a>,
    references: Column<'a>,
    fields: Vec<(&'a str, Column<'a>)>,
    join: JoinPolicy,
}

/// The ids of the records of a [`Batch`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Ids<'a> {
    /// The positions of the records; the first one has this number.
    Positions(u64),
    /// Strings.
    Texts(Texts<'a>),
    /// Integers. 17 is the same id as "17".
    Integers(Cells<'a, i64>),
}

impl<'a> Batch<'a> {
    /// Returns the batch of columns that have one cell per record.
    ///
    /// `fields` are further columns by the names under which metrics look for them. They belong to the
    /// references.
    ///
    /// # Errors
    ///
    /// Returns an error if columns differ in length, if an id is null, or if two fields have one name.
    pub fn new(
        ids: Ids<'a>,
        predictions: Column<'a>,
        references: Column<'a>,
        fields: Vec<(&'a str, Column<'a>)>,
    ) -> Result<Self, BatchError> {
        let batch = Self {
            ids,
            predictions,
            references,
            fields,
            join: JoinPolicy::default(),
        };
        batch.check()?;
        Ok(batch)
    }

    /// Returns the same batch, in whose records the parts are joined by this policy; by default they are
    /// joined strictly.
    #[must_use]
    pub fn with_join(self, join: JoinPolicy) -> Self {
        Self { join, ..self }
    }

    fn check(&self) -> Result<(), BatchError> {
        let ids = match &self.ids {
            Ids::Positions(_) => None,
            Ids::Texts(ids) => Some((ids.len(), ids.first_null())),
            Ids::Integers(ids) => Some((ids.len(), ids.first_null())),
        };
        self.check_length("references", self.references.len())?;
        if let Some((len, null)) = ids {
            self.check_length("ids", len)?;
            if let Some(row) = null {
                return Err(BatchError::NullId { row });
            }
        }
        for (index, (name, column)) in self.fields.iter().enumerate() {
            if self.fields.iter().take(index).any(|field| field.0 == *name) {
                return Err(BatchError::DuplicateField((*name).to_owned()));
            }
            let expected = self.predictions.len();
            if column.len() != expected {
                return Err(BatchError::FieldLength {
                    name: (*name).to_owned(),
                    found: column.len(),
                    expected,
                });
            }
        }
        Ok(())
    }

    fn check_length(&self, column: &'static str, found: usize) -> Result<(), BatchError> {
        let expected = self.predictions.len();
        if found == expected {
            return Ok(());
        }
        Err(BatchError::LengthMismatch {
            column,
            found,
            expected,
        })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.predictions.len()
    }

    /// Returns whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the predictions.
    #[must_use]
    pub const fn predictions(&self) -> &Column<'a> {
        &self.predictions
    }

    /// Returns the references.
    #[must_use]
    pub const fn references(&self) -> &Column<'a> {
        &self.references
    }

    /// Returns the column of a further field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Column<'a>> {
        let field = self.fields.iter().find(|field| field.0 == name);
        field.map(|(_, column)| column)
    }

    /// Returns the names of the further fields.
    pub fn field_names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.fields.iter().map(|(name, _)| *name)
    }

    /// Returns the id of a record, counted from 0; `None` after the last record.
    #[must_use]
    pub fn id(&self, row: usize) -> Option<Id<'a>> {
        if row >= self.len() {
            return None;
        }
        match &self.ids {
            Ids::Positions(first) => Some(Id::Line(first.saturating_add(row as u64))),
            Ids::Texts(ids) => ids.get(row).map(Id::Text),
            Ids::Integers(ids) => ids.get(row).map(Id::Integer),
        }
    }

    /// Returns a record without its further fields; `None` after the last record.
    ///
    /// Nothing is copied.
    #[must_use]
    pub fn record(&self, row: usize) -> Option<Record<'_>> {
        Some(Record {
            id: self.id(row)?,
            prediction: self.predictions.value(row),
            reference: self.references.value(row),
            fields: None,
            join: self.join,
        })
    }

    /// Returns the policy of the records.
    #[must_use]
    pub const fn join(&self) -> JoinPolicy {
        self.join
    }

    /// Returns a record with its further fields, as a JSON object that is written into `buffer` in place of
    /// what that holds; `None` after the last record. Without further fields there is no object.
    ///
    /// The buffer can be used again for each record, and then needs no new memory.
    ///
    /// # Errors
    ///
    /// Returns an error if a field holds a number that JSON has no form for.
    pub fn record_with_fields<'b>(
        &'b self,
        row: usize,
        buffer: &'b mut String,
    ) -> Result<Option<Record<'b>>, FieldError> {
        let Some(mut record) = self.record(row) else {
            return Ok(None);
        };
        if !self.fields.is_empty() {
            self.write_fields(row, buffer)?;
            record.fields = Some(buffer);
        }
        Ok(Some(record))
    }

    fn write_fields(&self, row: usize, buffer: &mut String) -> Result<(), FieldError> {
        let mut separator = '{';
        buffer.clear();
        for (name, column) in &self.fields {
            let error = |problem| FieldError::reference(format!("field {name:?}: {problem}"));
            let key = serde_json::to_string(name).map_err(|it| error(it.to_string()))?;
            let mut value = column.value(row);
            let json = value.to_json_or("null").map_err(error)?;
            buffer.push(separator);
            buffer.push_str(&key);
            buffer.push(':');
            buffer.push_str(&json);
            separator = ',';
        }
        buffer.push('}');
        Ok(())
    }

    /// Returns all records in their order, without further fields.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        (0..self.len()).map_while(|row| self.record(row))
    }

    /// Returns the records of a range, without a copy, for work in parallel. The range ends at the last
    /// record at the latest. Positions go on counting from the start of the whole batch.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Batch<'_> {
        let range = within(range, self.len());
        Batch {
            ids: match &self.ids {
                Ids::Positions(first) => Ids::Positions(first.saturating_add(range.start as u64)),
                Ids::Texts(ids) => Ids::Texts(ids.slice(range.clone())),
                Ids::Integers(ids) => Ids::Integers(ids.slice(range.clone())),
            },
            predictions: self.predictions.slice(range.clone()),
            references: self.references.slice(range.clone()),
            fields: self
                .fields
                .iter()
                .map(|(name, column)| (*name, column.slice(range.clone())))
                .collect(),
            join: self.join,
        }
    }
}

/// Columns that are not a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchError {
    /// The ids or references are more or fewer than the predictions.
    LengthMismatch {
        /// `ids` or `references`.
        column: &'static str,
        /// Its cells.
        found: usize,
        /// The predictions.
        expected: usize,
    },
    /// The cells of a field are more or fewer than the predictions.
    FieldLength {
        /// Name of the field.
        name: String,
        /// Its cells.
        found: usize,
        /// The predictions.
        expected: usize,
    },
    /// Two fields have one name.
    DuplicateField(
        /// The name.
        String,
    ),
    /// An id is null.
    NullId {
        /// Index of the record, counted from 0.
        row: usize,
    },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {one}s"),
        };
        match self {
            Self::LengthMismatch {
                column,
                found,
                expected,
            } => {
                let found = plural(*found, column.trim_end_matches('s'));
                write!(f, "{found}, but {}", plural(*expected, "prediction"))
            }
            Self::FieldLength {
                name,
                found,
                expected,
            } => {
                let (name, found) = (quoted_id(name), plural(*found, "value"));
                write!(
                    f,
                    "field {name}: {found}, but {}",
                    plural(*expected, "prediction")
                )
            }
            Self::DuplicateField(name) => write!(f, "2 fields have the name {}", quoted_id(name)),
            Self::NullId { row } => write!(
                f,
                "the id at index {row} is null: expected a string or an integer"
            ),
        }
    }
}

impl std::error::Error for BatchError {}

#[cfg(test)]
mod tests;
