//! Reading of JSON values with messages that say what was expected.

#![allow(
    dead_code,
    reason = "which parts are used depends on the domains switched on"
)]

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::record::{FieldError, Value};

/// A problem with a value, before it is known on which side of the record it stands.
pub(crate) type Problem = String;

/// What kind of JSON value `json` is, for "expected ..., found ...".
pub(crate) fn kind(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        Some(b'-' | b'0'..=b'9') => "a number",
        _ => "no JSON",
    }
}

/// Reads a typed value; what is wrong is said in the words of the type.
pub(crate) fn typed<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Problem> {
    serde_json::from_str(json).map_err(|error| {
        // A value has no lines of its own: the position would mislead.
        let text = error.to_string();
        let text = text
            .rfind(" at line ")
            .map_or(text.as_str(), |end| &text[..end]);
        in_words(text)
    })
}

/// A message of serde without the words of its data model.
pub(crate) fn in_words(message: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("expected f64", "expected a number"),
        ("expected i64", "expected an integer"),
        ("expected a sequence", "expected a list"),
        ("found sequence", "found a list"),
        ("found map", "found an object"),
        ("found boolean", "found"),
        ("found string", "found the string"),
        ("found integer", "found the number"),
        ("found floating point", "found the number"),
        ("missing field", "no field"),
        (
            "lone leading surrogate in hex escape",
            "half of a surrogate pair, which is no character",
        ),
        (
            "unexpected end of hex escape",
            "half of a surrogate pair, which is no character",
        ),
    ];
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    WORDS.iter().fold(message.to_owned(), replace)
}

/// A string, borrowed where it has no escapes.
pub(crate) fn string(json: &str) -> Result<Cow<'_, str>, Problem> {
    let inner = json
        .trim_ascii()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| format!("expected a string, found {}", kind(json)))?;
    if inner.as_bytes().contains(&b'\\') {
        typed::<String>(json).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(inner))
    }
}

/// The text of a value on the side that `error` stands for; a missing one is empty.
pub(crate) fn text<'a>(
    value: Value<'a>,
    error: fn(Problem) -> FieldError,
) -> Result<Cow<'a, str>, FieldError> {
    match value {
        Value::Json(json) => string(json).map_err(error),
        Value::Text(text) => Ok(Cow::Borrowed(text)),
        Value::Missing => Ok(Cow::Borrowed("")),
    }
}

/// The JSON of a value: a line of text is read as JSON, and a missing value is `empty`.
pub(crate) fn json<'a>(value: Value<'a>, empty: &'a str) -> &'a str {
    match value {
        Value::Json(json) | Value::Text(json) => json,
        Value::Missing => empty,
    }
}

/// The name of a group, as a string or an integer.
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, a string or an integer")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(number.to_string())))
            }
        }
        deserializer.deserialize_any(NameVisitor)
    }
}

/// The entries of an object if one of `fields` can be among them, and else none: most records have
/// nothing beside their values, and are not read twice.
pub(crate) fn beside<'a>(object: Option<&'a str>, fields: &[&str]) -> Result<Entries<'a>, Problem> {
    match object {
        Some(object) if fields.iter().any(|field| object.contains(field)) => typed(object),
        _ => Ok(Entries::default()),
    }
}

/// The value of `field` as a [`Name`], if it is there and not null.
pub(crate) fn name<'a>(entries: &Entries<'a>, field: &str) -> Result<Option<Name<'a>>, Problem> {
    match entries.get(field) {
        None | Some("null") => Ok(None),
        Some(value) => typed(value)
            .map(Some)
            .map_err(|problem| format!("field {field:?}: {problem}")),
    }
}

/// The entries of a JSON object in their order; the same key twice is an error.
#[derive(Clone, Debug, Default)]
pub struct Entries<'a>(
    /// Keys, each with the JSON of its value.
    pub Vec<(Cow<'a, str>, &'a str)>,
);

impl<'a> Entries<'a> {
    /// The JSON of the value of `key`, by a search from the start.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, json)| *json)
    }
}

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries: Vec<(Cow<'de, str>, &'de str)> = Vec::new();
                let mut seen = HashSet::new();
                while let Some(key) = map.next_key_seed(Text)? {
                    if !seen.insert(key.clone()) {
                        return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
                    }
                    entries.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// A string, borrowed where it can be.
pub(crate) struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}
