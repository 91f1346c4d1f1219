//! Classes as labels name them.

use std::fmt;

use metric_core::{Malformed, Reader, Writer, Written};
use metric_record::quoted_id;
use serde::Serialize;

/// A class: the integer 3 and the string "3" are two. Integers come first, by their value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(crate) enum Class {
    Integer(i64),
    Text(String),
}

/// The integer, or the text.
impl Written for Class {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Integer(number) => number.write(to),
            Self::Text(text) => to.text(text),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match from.attempt(i64::read) {
            Some(number) => Ok(Self::Integer(number)),
            None => String::read(from).map(Self::Text),
        }
    }
}

/// A class whose text is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassView<'a> {
    Integer(i64),
    Text(&'a str),
}

impl ClassView<'_> {
    pub(crate) fn to_class(self) -> Class {
        match self {
            Self::Integer(number) => Class::Integer(number),
            Self::Text(text) => Class::Text(text.to_owned()),
        }
    }
}

/// The integer that a text is, if it is written as integers are in JSON.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_written_so = matches!(digits.as_bytes(), [b'0'] | [b'1'..=b'9', ..]);
    is_written_so.then(|| text.parse().ok()).flatten()
}

/// The integer that a text names, also with a point and zeros after it, as tables write labels once they were numbers:
/// `3` and `3.0`.
pub(crate) fn named_integer(text: &str) -> Option<i64> {
    let (whole, zeros) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = zeros.bytes().all(|byte| byte == b'0');
    is_whole.then(|| integer(whole)).flatten()
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Class {
    /// The class in words: the string "3" in quotes, the integer without.
    pub(crate) fn quoted(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => quoted_id(text),
        }
    }

    /// The integer that the label names, however it is written.
    pub(crate) fn named_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => named_integer(text),
        }
    }

    pub(crate) fn view(&self) -> ClassView<'_> {
        match self {
            Self::Integer(number) => ClassView::Integer(*number),
            Self::Text(text) => ClassView::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_name_integers() {
        let rows = [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("-3.00", Some(-3)),
            ("3.", Some(3)),
            ("0.0", Some(0)),
            ("3.5", None),
            ("03.0", None),
            ("3.0.0", None),
            (".0", None),
            ("v3.0", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(named_integer(text), expected, "{text:?}");
        }
    }
}
