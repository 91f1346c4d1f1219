use std::borrow::Cow;
use std::fmt;

use metric_core::Key;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::Id;

/// An id as it is compared: two ids are the same if their keys are equal.
///
/// The integer 17 and the text "17" are one id. Text that is not an integer in its usual form is an id of
/// its own, so "017" is neither.
///
/// ```
/// use metric_record::{IdKey, json};
///
/// assert_eq!(IdKey::from("17"), IdKey::Number(17));
/// assert_eq!(json::typed::<IdKey<'_>>("17"), json::typed(r#""17""#));
/// assert_eq!(IdKey::from("017").to_string(), "017");
/// assert_ne!(IdKey::from("017"), IdKey::Number(17));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdKey<'a> {
    /// An integer, or text that is one in its usual form.
    Number(i64),
    /// Other text, which includes integers of more than 64 bits. Build it with [`from`](Self::from), which
    /// finds the numbers.
    Text(Cow<'a, str>),
}

impl IdKey<'_> {
    /// Returns the key without a borrow.
    #[must_use]
    pub fn into_owned(self) -> IdKey<'static> {
        match self {
            Self::Number(number) => IdKey::Number(number),
            Self::Text(text) => IdKey::Text(Cow::Owned(text.into_owned())),
        }
    }
}

impl<'a> From<Cow<'a, str>> for IdKey<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        number(&text).map_or(Self::Text(text), Self::Number)
    }
}

impl<'a> From<&'a str> for IdKey<'a> {
    fn from(text: &'a str) -> Self {
        Self::from(Cow::Borrowed(text))
    }
}

impl From<i64> for IdKey<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for IdKey<'_> {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Text(number.to_string().into()), Self::Number)
    }
}

/// An integer in its usual form is a number, also where it arrived as text.
impl From<IdKey<'_>> for Key {
    fn from(id: IdKey<'_>) -> Self {
        match id {
            IdKey::Number(number) => Self::Number(number),
            IdKey::Text(text) => Self::Text(text.into()),
        }
    }
}

impl<'a> From<Id<'a>> for IdKey<'a> {
    fn from(id: Id<'a>) -> Self {
        match id {
            Id::Text(text) => Self::from(text),
            Id::Line(number) => Self::from(number),
            Id::Integer(number) => Self::Number(number),
        }
    }
}

/// Returns the integer that a text is, if it is written as integers are: no plus sign, no leading zeros, no
/// minus zero.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let usual = match digits {
        [b'0'] => digits.len() == text.len(),
        [first, ..] => first.is_ascii_digit() && *first != b'0',
        [] => false,
    };
    // Parsing refuses all other characters that are not digits.
    usual.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for IdKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IdKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl<'de> Visitor<'de> for IdVisitor {
            type Value = IdKey<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, a string or an integer")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<IdKey<'de>, E> {
                Ok(IdKey::from(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<IdKey<'de>, E> {
                Ok(IdKey::from(number))
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<IdKey<'de>, E> {
                Ok(IdKey::from(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<IdKey<'de>, E> {
                Ok(IdKey::from(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn text_is_a_number_in_its_usual_form() {
        for number in [0, 7, -7, 10, i64::MAX, i64::MIN] {
            let text = number.to_string();
            assert_eq!(IdKey::from(text.as_str()), IdKey::Number(number));
            assert_eq!(json::typed(&text), Ok(IdKey::Number(number)));
        }
        for text in [
            "007",
            "+7",
            "-",
            "-0",
            "-07",
            "7.0",
            "7a",
            "",
            " 7",
            "9223372036854775808",
        ] {
            let key = IdKey::from(text);
            assert_eq!(key, IdKey::Text(text.into()), "{text}");
            assert_eq!(key.to_string(), text);
        }
    }

    #[test]
    fn long_integers_are_their_text() {
        let text = u64::MAX.to_string();
        assert_eq!(IdKey::from(u64::MAX), IdKey::from(text.as_str()));
        assert_eq!(json::typed(&text), Ok(IdKey::from(u64::MAX)));
        assert_eq!(IdKey::from(Id::Line(3)), IdKey::from(Id::Text("3")));
        assert!(json::typed::<IdKey<'_>>("1.5").is_err());
    }
}
