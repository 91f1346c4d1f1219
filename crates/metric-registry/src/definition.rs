//! The definition of a metric: how it reads records, what prepares them, and the signature of both.

use std::any::TypeId;

use metric_record::{FieldError, Message, Missing, Record, Value};

use crate::numbers::Named;
use crate::reading::{AnyReading, Counted, Facts};

/// A reading with what it is called and what comes before it.
pub(crate) struct Definition {
    pub(crate) reading: Box<dyn AnyReading>,
    /// The type of the reading, which its states and headers belong to.
    pub(crate) kind: TypeId,
    pub(crate) facts: Facts,
    pub(crate) signature: String,
    pub(crate) before: Option<Box<dyn Prepare>>,
    /// The warnings about options, whatever the data are.
    pub(crate) warnings: Vec<Message>,
}

/// The value of a part of the signature that only the data tell, such as the number of references: states that differ
/// in it merge, and [`Numbers::signature`](crate::Numbers::signature) of their total has the value.
pub const OF_DATA: &str = "*";

impl Definition {
    /// Whether parts of the signature depend on the data.
    pub(crate) fn is_open(&self) -> bool {
        let mut parts = self.facts.signature.iter();
        parts.any(|(_, value)| value == OF_DATA)
    }

    /// Whether states of the other definition are states of this one. Two metrics of one signature, of which the second
    /// replaced the first, may have states of different types.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.signature == other.signature && self.kind == other.kind
    }
}

/// The preparation of the values of a record before they are read.
pub(crate) trait Prepare: Send + Sync {
    /// The parts of the signature, by name.
    fn signature(&self) -> Named<String>;

    /// Returns the values that are read in place of those of a record.
    fn prepare(&self, record: &Record<'_>) -> Result<Prepared, FieldError>;
}

/// The values of a record that are not read as they are.
pub(crate) struct Prepared {
    /// The prediction, and whether it is JSON.
    pub(crate) prediction: Option<(String, bool)>,
    /// The same of the reference.
    pub(crate) reference: Option<(String, bool)>,
    /// Whether a prepared text may be a number, as a line may.
    pub(crate) are_labels: bool,
    /// Whether there is no prediction after all.
    pub(crate) is_missing: bool,
    /// The events that are worth a warning.
    pub(crate) note: Option<Counted>,
}

impl Prepared {
    pub(crate) fn record<'r>(&'r self, mut record: Record<'r>) -> Record<'r> {
        let sides = [
            (&self.prediction, &mut record.prediction),
            (&self.reference, &mut record.reference),
        ];
        for (prepared, value) in sides {
            match prepared {
                Some((json, true)) => *value = Value::json(json),
                Some((text, false)) if self.are_labels => *value = Value::line(text),
                Some((text, false)) => *value = Value::string(text),
                None => {}
            }
        }
        if self.is_missing {
            record.prediction = Value::missing();
            record.join.missing = Missing::Empty;
        }
        record
    }
}

/// Returns the signature `metric|name:value|...|v:version`.
///
/// A bar in a value is written `%7C` and a percent sign `%25`, so different choices have different
/// signatures, and every `|` ends a part.
///
/// ```
/// use metric_registry::signature;
///
/// let parts = [("k".to_owned(), "5".to_owned())];
/// assert_eq!(signature("accuracy-at-k", &parts, "0.1.0"), "accuracy-at-k|k:5|v:0.1.0");
///
/// let parts = [("labels".to_owned(), "a|b,100%".to_owned())];
/// let text = signature("classification", &parts, "0.1.0");
/// assert_eq!(text, "classification|labels:a%7Cb,100%25|v:0.1.0");
/// ```
#[must_use]
pub fn signature(metric: &str, parts: &[(String, String)], version: &str) -> String {
    let mut text = metric.to_owned();
    for (name, value) in parts {
        let value = value.replace('%', "%25").replace('|', "%7C");
        text.extend(["|", name, ":", &value]);
    }
    text + "|v:" + version
}
