use std::fmt;

use crate::{Malformed, Reader, Writer, Written};

/// The name of a class or the id of an image: an integer, or text.
///
/// Integers come before texts; integers by value, texts by their bytes.
///
/// ```
/// use metric_core::Key;
///
/// assert!(Key::from(9) < Key::from(10));
/// assert!(Key::from(10) < Key::from("10"));
/// assert_eq!(Key::from("dog").to_string(), "dog");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Key {
    /// An integer.
    Number(i64),
    /// Text.
    Text(Box<str>),
}

/// The integer, or the text.
impl Written for Key {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Number(number) => number.write(to),
            Self::Text(text) => to.text(text),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.attempt(i64::read) {
            Some(number) => Ok(Self::Number(number)),
            None => from.text().map(Self::from),
        }
    }
}

impl From<i64> for Key {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}
