//! Reading JSON with messages that say what was found and what was expected.
//!
//! The functions read one value at a time. Positions are left out of their messages: a value has no lines
//! of its own, and whoever knows the file adds the position there.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor,
};
use serde_json::value::RawValue;

use crate::Kind;

pub mod blocks;
pub mod scan;

/// Returns what kind of value a JSON text starts with, by its first byte.
///
/// ```
/// use metric_record::{Kind, json};
///
/// assert_eq!(json::kind(" [1]"), Kind::List);
/// assert_eq!(json::kind("-1").to_string(), "a number");
/// ```
#[must_use]
pub fn kind(json: &str) -> Kind {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => Kind::String,
        Some(b'[') => Kind::List,
        Some(b'{') => Kind::Object,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') => Kind::Null,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        _ => Kind::Invalid,
    }
}

/// Returns whether a text that is not one JSON value starts like JSON Lines: with a line that is an object, and another one
/// after it.
///
/// ```
/// use metric_record::json::is_json_lines;
///
/// assert!(is_json_lines("{\"id\": 1}\n{\"id\": 2}\n"));
/// assert!(!is_json_lines("{\"id\": 1}\n"));
/// assert!(!is_json_lines("{\n\"id\": 1\n}\n{\"id\": 2}\n"));
/// ```
#[must_use]
pub fn is_json_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim_ascii().is_empty());
    let mut next_is_object = || {
        let line = lines.next()?;
        (kind(line) == Kind::Object).then_some(line)
    };
    let first = next_is_object();
    let has_next = next_is_object().is_some();
    has_next && first.is_some_and(|line| serde_json::from_str::<IgnoredAny>(line).is_ok())
}

/// Reads one value of a type.
///
/// # Errors
///
/// Returns what was found and what the type expected, in plain words and without a position.
///
/// ```
/// use metric_record::json;
///
/// assert_eq!(json::typed::<Vec<i64>>("[1, 2]"), Ok(vec![1, 2]));
/// let error = json::typed::<Vec<i64>>("{}").unwrap_err();
/// assert_eq!(error, "found an object, expected a list");
/// ```
pub fn typed<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| described(json, &error))
}

/// Returns the message of an error of `serde_json` without its position, in plain words.
#[must_use]
pub fn cut(error: &serde_json::Error) -> String {
    in_words(without_position(&error.to_string()))
}

/// Returns the message of an error of `serde_json` in this text without its position, in plain words. It names `NaN` and
/// `Infinity`, which Python writes and JSON does not have.
///
/// ```
/// use metric_record::json;
///
/// let text = r#"{"score": NaN}"#;
/// let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
/// assert_eq!(json::described(text, &error), "NaN is not a JSON number");
/// ```
#[must_use]
pub fn described(text: &str, error: &serde_json::Error) -> String {
    match no_number(text, error) {
        Some(word) => format!("{word} is not a JSON number"),
        None => cut(error),
    }
}

/// Returns the message of an error of `serde_json` in this text with its position, and names numbers like
/// [`described`].
#[must_use]
pub fn located(text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    match no_number(text, error) {
        Some(word) => format!("{word} is not a JSON number at line {line} column {column}"),
        None => error.to_string(),
    }
}

/// Returns the number at an error of `serde_json` that Python writes and JSON does not have: `NaN`, `Infinity` or
/// `-Infinity`.
#[must_use]
pub fn no_number(text: &str, error: &serde_json::Error) -> Option<&'static str> {
    if !error.is_syntax() {
        return None;
    }
    let offset = offset_of(text, error);
    // The sign of a negative number was already read.
    let words = [("-Infinity", 1), ("Infinity", 0), ("NaN", 0)];
    let found = words.into_iter().find(|(word, read)| {
        let start = offset.checked_sub(*read);
        let rest = start.and_then(|start| text.get(start..));
        rest.is_some_and(|rest| rest.starts_with(word))
    });
    found.map(|(word, _)| word)
}

/// Returns the byte at which an error of `serde_json` was found in a text, counted from 0: that of its line and column,
/// or the length of the text.
///
/// ```
/// use metric_record::json;
///
/// let text = "[1,\n x]";
/// let error = serde_json::from_str::<Vec<i64>>(text).unwrap_err();
/// assert_eq!(json::offset_of(text, &error), text.find('x').unwrap());
/// ```
#[must_use]
pub fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let mut ends = text.match_indices('\n');
    let start = match error.line() {
        0 | 1 => 0,
        line => ends.nth(line - 2).map_or(0, |(end, _)| end + 1),
    };
    (start + error.column().saturating_sub(1)).min(text.len())
}

/// Returns a message of `serde_json` without its position.
#[must_use]
pub fn without_position(message: &str) -> &str {
    message
        .rfind(" at line ")
        .map_or(message, |end| &message[..end])
}

/// Returns a message of serde without the words of its data model. Where a string is expected, it says how to write a number
/// as one.
#[must_use]
pub fn in_words(message: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("EOF while parsing", "the text ends within"),
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("expected f64", "expected a number"),
        ("expected i64", "expected an integer"),
        ("expected u64", "expected a whole number"),
        ("expected u32", "expected a whole number"),
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
            "half of a surrogate pair, which is not a character",
        ),
        (
            "unexpected end of hex escape",
            "half of a surrogate pair, which is not a character",
        ),
    ];
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    let text = WORDS.iter().fold(message.to_owned(), replace);
    let found = text.strip_prefix("found the number `");
    let found = found.or_else(|| text.strip_prefix("found `"));
    match found.and_then(|found| found.split_once("`, expected a string")) {
        Some((value, rest)) if rest.is_empty() || rest.starts_with(" at line ") => {
            text.clone() + &as_string(value)
        }
        _ => text,
    }
}

/// Reads a string, borrowed where it has no escapes.
///
/// # Errors
///
/// Returns what was found if the text is not one JSON string.
///
/// ```
/// use metric_record::json;
///
/// assert_eq!(json::string(r#""a\"b""#).as_deref(), Ok("a\"b"));
/// assert_eq!(json::string("7").unwrap_err(), "expected a string, found a number: write it as \"7\"");
/// assert_eq!(
///     json::string(r#"["a"]"#).unwrap_err(),
///     "expected a string, found a list of one string: write the string without brackets, or name the field with .0, as in FIELD.0",
/// );
/// ```
#[inline]
pub fn string(json: &str) -> Result<Cow<'_, str>, String> {
    let inner = json
        .trim_ascii()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or_else(|| no_string(json))?;
    if is_plain(inner.as_bytes()) {
        Ok(Cow::Borrowed(inner))
    } else {
        typed::<String>(json).map(Cow::Owned)
    }
}

/// The error for a value that is not a string. Some programs write a list of one string, and numbers without quotes.
pub(crate) fn no_string(json: &str) -> String {
    let found = kind(json);
    match typed::<[String; 1]>(json) {
        Ok(_) if found == Kind::List => {
            "expected a string, found a list of one string: write the string without brackets, or name the field with .0, as in FIELD.0"
                .to_owned()
        }
        _ => format!("expected a string, found {found}{}", as_string(json)),
    }
}

/// How the end of a message starts that says how to write a value as a string.
pub const WRITE_IT_AS: &str = ": write it as ";

/// Returns how to write a number or a Boolean as a string, for the end of a message that expects one; empty for other
/// values.
///
/// ```
/// use metric_record::json::as_string;
///
/// assert_eq!(as_string("3.5"), ": write it as \"3.5\"");
/// assert_eq!(as_string("[3.5]"), "");
/// ```
#[must_use]
pub fn as_string(json: &str) -> String {
    /// The length in bytes up to which a message repeats a value.
    const SHORT: usize = 40;
    let json = json.trim_ascii();
    match kind(json) {
        Kind::Number | Kind::Boolean if json.len() <= SHORT => {
            format!("{WRITE_IT_AS}\"{json}\"")
        }
        _ => String::new(),
    }
}

/// Whether the inside of a string has no quotes, escapes or control characters.
fn is_plain(inner: &[u8]) -> bool {
    let special = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
    let (blocks, rest) = inner.as_chunks::<32>();
    // Without a branch per byte, so that the compiler can look at many at once.
    let is_plain = |block: &[u8; 32]| {
        !block
            .iter()
            .fold(false, |found, &byte| found | special(byte))
    };
    let (words, rest) = rest.as_chunks::<8>();
    // Nor does the end of a text, which is all of a short one, need many branches.
    let is_plain_word = |word: &[u8; 8]| {
        !word
            .iter()
            .fold(false, |found, &byte| found | special(byte))
    };
    blocks.iter().all(is_plain)
        && words.iter().all(is_plain_word)
        && !rest.iter().any(|&byte| special(byte))
}

/// The JSON of a value that has not been read.
///
/// ```
/// use metric_record::json::{self, Raw};
///
/// assert_eq!(json::typed::<Vec<Raw<'_>>>("[1, {} ]"), Ok(vec![Raw("1"), Raw("{}")]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(
    /// The text, without white space around it.
    pub &'a str,
);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}

/// A name in data: a string, or an integer as it is written.
///
/// ```
/// use metric_record::json::{self, Name};
///
/// let name: Name<'_> = json::typed("3")?;
/// assert_eq!(name.0, "3");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'a>(
    /// The name as text.
    pub Cow<'a, str>,
);

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

/// Reads the entries of the object that a record is, if one of `fields` can be among them; otherwise there
/// are none. Most records have no further fields, and are then not read twice.
///
/// # Errors
///
/// Returns what was found if the text is not an object, or has a key twice.
pub fn fields<'a>(object: Option<&'a str>, fields: &[&str]) -> Result<Entries<'a>, String> {
    match object {
        Some(object) if fields.iter().any(|field| object.contains(field)) => typed(object),
        _ => Ok(Entries::default()),
    }
}

/// The entries of a JSON object in their order; the same key twice is an error.
///
/// ```
/// use metric_record::json::{self, Entries};
///
/// let entries: Entries<'_> = json::typed(r#"{"a": [1], "b": null}"#)?;
/// assert_eq!(entries.get("a"), Some("[1]"));
/// assert!(json::typed::<Entries<'_>>(r#"{"a": 1, "a": 2}"#).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries<'a>(
    /// Keys, each with the JSON of its value.
    pub Vec<(Cow<'a, str>, &'a str)>,
);

impl<'a> Entries<'a> {
    /// Takes the entries that `serde_json` reads, or nothing, see [`scan`].
    ///
    /// ```
    /// use metric_record::json::Entries;
    ///
    /// let entries = Entries::scan(r#"{"a": [1], "b": null}"#).unwrap();
    /// assert_eq!(entries.get("a"), Some("[1]"));
    /// assert_eq!(Entries::scan(r#"{"a": 1, "a": 2}"#), None);
    /// ```
    #[must_use]
    pub fn scan(json: &'a str) -> Option<Self> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut scanner = scan::Scanner::new(json);
        scanner.object(|value, key| {
            entries.push((Cow::Borrowed(key), value.raw()?.0));
            seen.insert(key).then_some(())
        })?;
        scanner.is_at_end().then_some(Self(entries))
    }

    /// Returns the JSON of the value of `key`, by a search from the start.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, json)| *json)
    }

    /// Returns the value of `key` as a [`Name`], if it is present and not null.
    ///
    /// # Errors
    ///
    /// Returns what was found if the value is neither a string nor an integer.
    pub fn name(&self, key: &str) -> Result<Option<Cow<'a, str>>, String> {
        match self.get(key) {
            None | Some("null") => Ok(None),
            Some(value) => typed::<Name<'_>>(value)
                .map(|name| Some(name.0))
                .map_err(|problem| format!("field {key:?}: {problem}")),
        }
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

/// Reads a string, borrowed where it can be: a seed, for keys of objects and for values.
#[derive(Clone, Copy, Debug)]
pub struct Text;

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

/// A flag: true, false, 1 or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(
    /// Whether it is set.
    pub bool,
);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, 1 or 0")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                match number {
                    0 | 1 => Ok(Flag(number == 1)),
                    other => Err(E::invalid_value(Unexpected::Unsigned(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_where_strings_are_expected() {
        let error = |json: &str| typed::<Vec<String>>(json).expect_err("no list of strings");
        let rows = [
            (
                "[3]",
                "found the number `3`, expected a string: write it as \"3\"",
            ),
            (
                "[3.5]",
                "found the number `3.5`, expected a string: write it as \"3.5\"",
            ),
            (
                "[true]",
                "found `true`, expected a string: write it as \"true\"",
            ),
            ("[null]", "found null, expected a string"),
            ("3", "found the number `3`, expected a list"),
        ];
        for (json, expected) in rows {
            assert_eq!(error(json), expected);
        }
        let whole = serde_json::from_str::<Vec<String>>("[3]").expect_err("no list of strings");
        let whole = in_words(&whole.to_string());
        assert_eq!(
            whole,
            "found the number `3`, expected a string at line 1 column 2: write it as \"3\""
        );
    }
}
