use std::fmt;
use std::hash::{Hash, Hasher};

use crate::{Kind, Message, Value};

/// The id of a record: text, an integer, or the number of a line or row.
///
/// The integer 17 and the text "17" are one id; "017" is another. Equal ids have equal hashes.
///
/// ```
/// use metric_record::Id;
///
/// assert_eq!(Id::Integer(17), Id::Text("17"));
/// assert_eq!(Id::Line(17), Id::Integer(17));
/// assert_ne!(Id::Integer(17), Id::Text("017"));
/// assert_eq!(Id::Integer(-3).to_string(), "-3");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Id<'a> {
    /// An id from the data that is text.
    Text(&'a str),
    /// An id from the data that is an integer.
    Integer(i64),
    /// A line or row number, counted from 1.
    Line(u64),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(id) => f.write_str(id),
            Self::Integer(id) => write!(f, "{id}"),
            Self::Line(number) => write!(f, "{number}"),
        }
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a == b,
            _ => self.text(&mut Digits::default()) == other.text(&mut Digits::default()),
        }
    }
}

impl Eq for Id<'_> {}

impl Hash for Id<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text(&mut Digits::default()).hash(state);
    }
}

impl Id<'_> {
    const fn number(&self) -> Option<i128> {
        match self {
            Self::Text(_) => None,
            Self::Integer(number) => Some(*number as i128),
            Self::Line(number) => Some(*number as i128),
        }
    }

    /// The id as text, for which a number needs digits but no memory.
    fn text<'b>(&'b self, digits: &'b mut Digits) -> &'b str {
        match self {
            Self::Text(text) => text,
            Self::Integer(number) => digits.write(number.unsigned_abs(), *number < 0),
            Self::Line(number) => digits.write(*number, false),
        }
    }
}

/// Room for the sign and the digits of a number of 64 bits.
#[derive(Default)]
struct Digits([u8; 21]);

impl Digits {
    fn write(&mut self, mut number: u64, negative: bool) -> &str {
        let mut start = self.0.len();
        for digit in self.0.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            start -= 1;
            if number == 0 {
                break;
            }
        }
        if negative && let Some(sign) = start.checked_sub(1) {
            self.0[sign] = b'-';
            start = sign;
        }
        std::str::from_utf8(&self.0[start..]).unwrap_or_default()
    }
}

/// The treatment of references without a prediction.
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

/// The strictness of a join. Metrics whose records have parts join these in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinPolicy {
    /// References without a prediction.
    pub missing: Missing,
    /// Whether predictions without a reference are left out; otherwise they are an error.
    pub ignore_extra: bool,
    /// Predictions that are null, such as refusals and failed requests; `None` for the rule of those that are missing.
    pub null: Option<Missing>,
    /// Whether numbers and Booleans are read as texts, as they are written.
    pub as_text: bool,
}

impl JoinPolicy {
    /// Returns the rule for predictions that are null.
    #[must_use]
    pub fn of_null(self) -> Missing {
        self.null.unwrap_or(self.missing)
    }

    /// Adds the options that take a prediction that is null to a message about it.
    ///
    /// ```
    /// use metric_record::{JoinPolicy, Message};
    ///
    /// let message = JoinPolicy::with_options_of_null("expected a string, found null".into());
    /// assert!(message.to_string().ends_with("to leave it out, use --null skip"));
    /// ```
    #[must_use]
    pub fn with_options_of_null(message: Message) -> Message {
        let message = message.text("; to score it as an empty prediction, use ");
        let message = message.option("null", "empty");
        let message = message.text("; to leave it out, use ");
        message.option("null", "skip")
    }
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
    /// The rule by which the parts of the record are joined.
    pub join: JoinPolicy,
}

impl<'a> Record<'a> {
    /// Returns a record without further fields, joined strictly.
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

    /// Returns the record as metrics read it under its [policy](Self::join): a prediction that is null is missing, unless it
    /// is an error, and numbers are texts if they are read as such. The texts that this takes are written into `texts`.
    ///
    /// ```
    /// use metric_record::{JoinPolicy, Missing, Record, Value};
    ///
    /// let policy = JoinPolicy { null: Some(Missing::Skip), as_text: true, ..JoinPolicy::default() };
    /// let mut record = Record::new("7", Value::json("null"), Value::json("3.50"));
    /// record.join = policy;
    /// let mut texts = Default::default();
    /// let mut taken = record.taken(&mut texts);
    /// assert_eq!((taken.prediction.is_missing(), taken.join.missing), (true, Missing::Skip));
    /// assert_eq!(taken.reference.text().as_deref(), Ok("3.50"));
    /// ```
    #[must_use]
    pub fn taken<'b>(&'b self, texts: &'b mut [String; 2]) -> Record<'b> {
        let mut record = self.view();
        if self.join.as_text {
            let [prediction, reference] = texts;
            record.prediction = self.prediction.as_text(prediction);
            record.reference = self.reference.as_text(reference);
        }
        let rule = self.join.of_null();
        if rule != Missing::Error && self.prediction.kind() == Kind::Null {
            record.prediction = Value::missing();
            record.join.missing = rule;
        }
        record
    }

    /// Returns the same record for a shorter time, as [`Value::view`] does.
    #[must_use]
    pub fn view(&self) -> Record<'_> {
        Record {
            id: self.id,
            prediction: self.prediction.view(),
            reference: self.reference.view(),
            fields: self.fields,
            join: self.join,
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

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// All forms of an id are equal, and hash as its text does.
        #[test]
        fn an_integer_is_its_text(
            number in prop_oneof![any::<i64>(), -20_i64..20, Just(i64::MIN), Just(i64::MAX)],
            other in prop_oneof![any::<i64>(), -20_i64..20],
        ) {
            let hasher = RandomState::new();
            let (text, other_text) = (number.to_string(), other.to_string());
            let mut forms = vec![Id::Text(&text), Id::Integer(number)];
            forms.extend(u64::try_from(number).map(Id::Line));
            for a in &forms {
                for b in &forms {
                    prop_assert_eq!(a, b);
                    prop_assert_eq!(hasher.hash_one(a), hasher.hash_one(b));
                }
                prop_assert_eq!(a.to_string(), text.as_str());
                prop_assert_eq!(*a == Id::Integer(other), number == other);
                prop_assert_eq!(*a == Id::Text(&other_text), number == other);
                prop_assert_ne!(*a, Id::Text(&format!("0{number}")));
            }
        }
    }
}
