use std::fmt;
use std::num::NonZeroU32;

use crate::{Message, Side};

/// Data that cannot be read: where, what was found, and what was expected.
///
/// ```
/// use metric_record::ReadError;
///
/// let error = ReadError::new("truth.json", "found a list: expected an object").at("annotations[3]").field("bbox");
/// assert_eq!(
///     error.to_string(),
///     "truth.json: annotations[3]: bbox: found a list: expected an object",
/// );
/// let error = ReadError::new("truth.jsonl", "no field \"id\"").line(7);
/// assert_eq!(error.to_string(), "truth.jsonl:7: no field \"id\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, counted from 1, where the format has lines.
    pub line: Option<u64>,
    /// The record or the row, such as `annotations[3]` or `task "a"`; empty for the whole file.
    pub record: String,
    /// The field of the record; empty for the whole record.
    pub field: String,
    /// The value found, and what was expected.
    pub problem: Message,
    /// Whether the data is well-formed and only too large: see [`limit`](Self::limit).
    pub is_limit: bool,
    /// Whether the machine lacks something, such as memory: see [`machine`](Self::machine).
    pub is_machine: bool,
    /// The byte of a file of JSON, counted from 1, at which the problem was found; `None` past 4 GiB.
    pub position: Option<NonZeroU32>,
}

impl ReadError {
    /// Returns a problem with a whole file.
    pub fn new(file: impl Into<String>, problem: impl Into<Message>) -> Self {
        Self {
            file: file.into(),
            line: None,
            record: String::new(),
            field: String::new(),
            problem: problem.into(),
            is_limit: false,
            is_machine: false,
            position: None,
        }
    }

    /// Sets the byte of a file of JSON, counted from 0, at which the problem was found.
    #[must_use]
    pub fn position(mut self, offset: usize) -> Self {
        let byte = u32::try_from(offset.saturating_add(1)).ok();
        self.position = byte.and_then(NonZeroU32::new);
        self
    }

    /// Marks what the machine lacks, such as memory, rather than the data.
    #[must_use]
    pub fn machine(mut self) -> Self {
        self.is_machine = true;
        self
    }

    /// Marks data that is well-formed, but takes more time or memory than a limit allows.
    #[must_use]
    pub fn limit(mut self) -> Self {
        self.is_limit = true;
        self
    }

    /// Names the line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Names the record.
    #[must_use]
    pub fn at(mut self, record: impl Into<String>) -> Self {
        self.record = record.into();
        self
    }

    /// Names the field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Returns the whole error as a message.
    #[must_use]
    pub fn message(&self) -> Message {
        let mut location = self.file.clone();
        if let Some(line) = self.line {
            location.push_str(&format!(":{line}"));
        }
        for part in [&self.record, &self.field] {
            if !part.is_empty() {
                location = if location.is_empty() {
                    part.clone()
                } else {
                    format!("{location}: {part}")
                };
            }
        }
        if !location.is_empty() {
            location.push_str(": ");
        }
        Message::from(location).message(&self.problem)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for ReadError {}

/// A value that a metric cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The side of the record that it is on.
    pub side: Side,
    /// The field next to the value of that side that it is about, such as a weight; `None` for the value.
    pub field: Option<String>,
    /// The value found, and what was expected.
    pub problem: Message,
    /// Whether the value is well-formed and only too large: see [`limit`](Self::limit).
    pub is_limit: bool,
}

impl FieldError {
    /// Returns a problem with one side of a record.
    pub fn new(side: Side, problem: impl Into<Message>) -> Self {
        Self {
            side,
            field: None,
            problem: problem.into(),
            is_limit: false,
        }
    }

    /// Returns a problem with a field next to the reference, which the message names.
    ///
    /// ```
    /// use metric_record::FieldError;
    ///
    /// let error = FieldError::field("weight", "found -1: expected a positive number");
    /// assert_eq!(error.field.as_deref(), Some("weight"));
    /// assert_eq!(error.to_string(), "reference: field \"weight\": found -1: expected a positive number");
    /// ```
    pub fn field(field: &str, problem: impl Into<Message>) -> Self {
        let problem = Message::from(format!("field {field:?}: ")).message(&problem.into());
        Self::reference(problem).of_field(field)
    }

    /// Returns a problem with the prediction.
    pub fn prediction(problem: impl Into<Message>) -> Self {
        Self::new(Side::Prediction, problem)
    }

    /// Returns a problem with the reference.
    pub fn reference(problem: impl Into<Message>) -> Self {
        Self::new(Side::Reference, problem)
    }

    /// Names the field next to the value that the problem is about.
    #[must_use]
    pub fn of_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    /// Marks a value that is well-formed, but takes more time or memory than a limit allows.
    ///
    /// ```
    /// use metric_record::FieldError;
    ///
    /// let error = FieldError::prediction("40,000,000 cells: expected at most 1,000,000").limit();
    /// assert!(error.is_limit);
    /// ```
    #[must_use]
    pub fn limit(mut self) -> Self {
        self.is_limit = true;
        self
    }

    /// Returns the side and the problem as a message.
    #[must_use]
    pub fn message(&self) -> Message {
        Message::from(format!("{}: ", self.side)).message(&self.problem)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for FieldError {}

/// The first record of a batch that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Its index in the batch, counted from 0.
    pub index: usize,
    /// The error.
    pub error: FieldError,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: {}", self.index, self.error)
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
