use std::fmt;

use crate::Value;

/// The id of a record: text, or the number of a line or row.
///
/// The integer 17 and the text "17" are one id.
#[derive(Clone, Copy, Debug)]
pub enum Id<'a> {
    /// An id from the data.
    Text(&'a str),
    /// A line or row number, counted from 1.
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

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Line(a), Self::Line(b)) => a == b,
            (Self::Text(text), Self::Line(line)) | (Self::Line(line), Self::Text(text)) => {
                *text == line.to_string()
            }
        }
    }
}

impl Eq for Id<'_> {}

/// How references without a prediction are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// They are scored against an empty prediction.
    Empty,
    /// They are left out.
    Skip,
}

/// How strict a join is. Metrics whose records have parts join these in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinPolicy {
    /// References without a prediction.
    pub missing: Missing,
    /// Whether predictions without a reference are left out; otherwise they are an error.
    pub ignore_extra: bool,
}

/// A prediction and its reference, joined by id and not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The id.
    pub id: Id<'a>,
    /// The model's prediction.
    pub prediction: Value<'a>,
    /// The reference that the prediction is compared with.
    pub reference: Value<'a>,
    /// The whole JSON object that the reference is in, for the other fields of it.
    pub fields: Option<&'a str>,
    /// How the parts of the record are joined.
    pub join: JoinPolicy,
}

impl<'a> Record<'a> {
    /// A record without further fields, joined strictly.
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

/// One of the two sides of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The model's prediction.
    Prediction,
    /// The reference that it is compared with.
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
