use std::fmt;
use std::path::PathBuf;

/// A value as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Valid JSON.
    Json(&'a str),
    /// A line of text.
    Text(&'a str),
    /// No value: a prediction that is missing and stands as the metric's empty one.
    Missing,
}

/// The id of a record: text, or the number of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id<'a> {
    /// An id from the file.
    Text(&'a str),
    /// A line number, from 1.
    Line(u64),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(id) => f.write_str(id),
            Self::Line(number) => write!(f, "{number}"),
        }
    }
}

/// What to do with references that have no prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Refuse the data.
    #[default]
    Error,
    /// Score them against an empty prediction.
    Empty,
    /// Leave them out.
    Skip,
}

/// How strict a join is; for metrics whose records have parts that are joined too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinPolicy {
    /// References without a prediction.
    pub missing: Missing,
    /// Whether predictions without a reference are left out; otherwise they are an error.
    pub ignore_extra: bool,
}

/// A prediction beside its reference, joined by id and not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The id.
    pub id: Id<'a>,
    /// What the model put out.
    pub prediction: Value<'a>,
    /// What it is held against.
    pub reference: Value<'a>,
    /// The whole JSON object that the reference stands in, for fields beside it.
    pub fields: Option<&'a str>,
    /// How the parts of the record are to be joined.
    pub join: JoinPolicy,
}

impl<'a> Record<'a> {
    /// A record without fields beside the reference.
    #[must_use]
    pub fn new(id: &'a str, prediction: Value<'a>, reference: Value<'a>) -> Self {
        Self {
            id: Id::Text(id),
            prediction,
            reference,
            fields: None,
            join: JoinPolicy::default(),
        }
    }
}

/// Which half of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What the model put out.
    Prediction,
    /// What it is held against.
    Reference,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prediction => "prediction",
            Self::Reference => "reference",
        })
    }
}

/// A value that a metric cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Where it stands.
    pub side: Side,
    /// What is wrong, and what was expected.
    pub problem: String,
}

impl FieldError {
    /// Something wrong with the prediction.
    pub fn prediction(problem: impl fmt::Display) -> Self {
        Self {
            side: Side::Prediction,
            problem: problem.to_string(),
        }
    }

    /// Something wrong with the reference.
    pub fn reference(problem: impl fmt::Display) -> Self {
        Self {
            side: Side::Reference,
            problem: problem.to_string(),
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.side, self.problem)
    }
}

impl std::error::Error for FieldError {}

/// The record of a batch that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub error: FieldError,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: {}", self.index, self.error)
    }
}

impl std::error::Error for RecordError {}

/// A whole file or folder, for metrics that read a data set by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name, for messages.
    pub name: String,
    /// What is there.
    pub content: Content,
}

/// What a [`Document`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The text of a file.
    Text(String),
    /// A folder.
    Folder(PathBuf),
}

/// Documents that cannot be read: file, record, field, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError(pub String);

impl DocumentError {
    /// Of a metric that takes records.
    pub(crate) fn only_records(references: &Document) -> Self {
        let name = &references.name;
        Self(format!(
            "{name}: this metric reads records, not whole files"
        ))
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DocumentError {}
