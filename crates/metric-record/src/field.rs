use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{self, Entries, Text};
use crate::{Kind, quoted_id};

/// The name of a field of a record, which may lie inside other values.
///
/// 1. A top-level field of exactly this name wins, so `output.text` may be a plain name.
/// 2. Otherwise a name that starts with `/` is a JSON pointer ([RFC 6901]: `~1` is `/`, `~0` is `~`), and
///    a name with dots is a path: `output.text`, `choices.0.message.content`. Where the value is a list, a
///    part made of digits is an index, counted from 0 and written without leading zeros.
/// 3. A path that a record does not have is an error, never a null.
///
/// # Cost
///
/// One pass over the record, and one over each value that the path goes through. No tree is built. A
/// record with at most 16 fields and no escapes in their names needs no memory.
///
/// [RFC 6901]: https://www.rfc-editor.org/rfc/rfc6901
///
/// ```
/// use metric_record::FieldPath;
///
/// let record = r#"{"id": 7, "output": {"tokens": [3, 1], "raw": "a cat"}, "output.raw": "a dog"}"#;
/// assert_eq!(FieldPath::new("id").find(record)?, "7");
/// assert_eq!(FieldPath::new("output.tokens.1").find(record)?, "1");
/// assert_eq!(FieldPath::new("/output/raw").find(record)?, r#""a cat""#);
/// // A field of exactly this name wins.
/// assert_eq!(FieldPath::new("output.raw").find(record)?, r#""a dog""#);
///
/// let error = FieldPath::new("output.text").find(record).unwrap_err();
/// assert_eq!(error.to_string(), r#""output" has no "text"; it has "tokens", "raw""#);
/// # Ok::<(), metric_record::FieldPathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath {
    name: Box<str>,
    /// Empty for a plain name.
    parts: Vec<Part>,
}

/// One step of a path: the key of an object, or the index of an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    key: Box<str>,
    /// Where the part ends in the name.
    end: usize,
}

impl FieldPath {
    /// Returns the path that a name means. Every text is a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let parts = match name.strip_prefix('/') {
            Some(pointer) => split(pointer, '/', 1, |part| {
                part.replace("~1", "/").replace("~0", "~")
            }),
            None if name.contains('.') => split(name, '.', 0, str::to_owned),
            None => Vec::new(),
        };
        Self {
            name: name.into(),
            parts,
        }
    }

    /// Returns the name as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the name may also be a path, and not only the name of a field.
    ///
    /// ```
    /// use metric_record::FieldPath;
    ///
    /// assert!(FieldPath::new("output.text").is_path());
    /// assert!(!FieldPath::new("output").is_path());
    /// ```
    #[must_use]
    pub fn is_path(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the keys and indices that the path goes through; none for a plain name.
    ///
    /// ```
    /// use metric_record::FieldPath;
    ///
    /// let path = FieldPath::new("/choices/0/a~1b");
    /// assert_eq!(path.parts().collect::<Vec<_>>(), ["choices", "0", "a/b"]);
    /// ```
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts.iter().map(|part| &*part.key)
    }

    /// Returns the JSON of the field's value in a record, which is a JSON object.
    ///
    /// # Errors
    ///
    /// Returns an error if the record is not a JSON object, if it does not have the field, or if an object
    /// that was searched has a key twice.
    pub fn find<'a>(&self, record: &'a str) -> Result<&'a str, FieldPathError> {
        self.find_or(record, |_| false)
    }

    /// Returns the same, and null where the path goes through null: the answer of a request that failed.
    ///
    /// ```
    /// use metric_record::FieldPath;
    ///
    /// let path = FieldPath::new("response.body.text");
    /// assert_eq!(path.find_to_null(r#"{"response": null}"#)?, "null");
    /// assert!(path.find_to_null(r#"{"response": 3}"#).is_err());
    /// # Ok::<(), metric_record::FieldPathError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error as [`find`](Self::find) does.
    pub fn find_to_null<'a>(&self, record: &'a str) -> Result<&'a str, FieldPathError> {
        self.find_or(record, |value| json::kind(value) == Kind::Null)
    }

    /// Goes as far as to a value at which `ends` says so.
    fn find_or<'a>(
        &self,
        record: &'a str,
        ends: impl Fn(&str) -> bool,
    ) -> Result<&'a str, FieldPathError> {
        let found = json::kind(record);
        if found != Kind::Object {
            return Err(FieldPathError::NotAnObject { found });
        }
        let first = self.parts.first().map_or(&self.name, |part| &part.key);
        let (mut value, rest) = match self.member(0, record, &self.name, first)? {
            Member::Exact(value) => return Ok(value),
            Member::First(value) => (value, self.parts.iter().enumerate().skip(1)),
            Member::Absent => return Err(self.absent(0, first, record)),
        };
        for (depth, part) in rest {
            if ends(value) {
                break;
            }
            value = self.step(depth, value, &part.key)?;
        }
        Ok(value)
    }

    /// Goes from the value that `depth` parts lead to one part further.
    fn step<'a>(&self, depth: usize, value: &'a str, key: &str) -> Result<&'a str, FieldPathError> {
        let next = match json::kind(value) {
            Kind::Object => match self.member(depth, value, key, key)? {
                Member::Exact(next) | Member::First(next) => Some(next),
                Member::Absent => None,
            },
            Kind::List => index(key).and_then(|index| parse(Item(index), value).ok()?),
            _ => None,
        };
        next.ok_or_else(|| self.absent(depth, key, value))
    }

    fn member<'a>(
        &self,
        depth: usize,
        object: &'a str,
        exact: &str,
        first: &str,
    ) -> Result<Member<'a>, FieldPathError> {
        let duplicate = |key: Cow<'_, str>| FieldPathError::DuplicateKey {
            parent: self.parent(depth),
            key: key.into_owned(),
        };
        parse(Members { exact, first }, object)
            .map_err(|problem| FieldPathError::Invalid { problem })?
            .map_err(duplicate)
    }

    fn absent(&self, depth: usize, key: &str, parent: &str) -> FieldPathError {
        let contents = match json::kind(parent) {
            Kind::Object => {
                let entries: Entries<'_> = json::typed(parent).unwrap_or_default();
                let keys = entries.0.into_iter().map(|(key, _)| key.into_owned());
                FieldContents::Fields(keys.collect())
            }
            Kind::List => {
                let items: Vec<&RawValue> = json::typed(parent).unwrap_or_default();
                FieldContents::Items(items.len())
            }
            kind => FieldContents::Single(kind),
        };
        FieldPathError::Absent {
            parent: self.parent(depth),
            part: key.to_owned(),
            contents,
        }
    }

    /// The first `depth` parts, as they are written in the name.
    fn parent(&self, depth: usize) -> String {
        let last = depth.checked_sub(1).and_then(|last| self.parts.get(last));
        let parent = last.and_then(|part| self.name.get(..part.end));
        parent.unwrap_or_default().to_owned()
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Splits the text that follows the first `start` bytes of a name.
fn split(text: &str, by: char, start: usize, key: impl Fn(&str) -> String) -> Vec<Part> {
    let mut end = start;
    let part = |part: &str| {
        let ended = end + part.len();
        end = ended + by.len_utf8();
        Part {
            key: key(part).into(),
            end: ended,
        }
    };
    text.split(by).map(part).collect()
}

/// The index that a part is, if it is made of digits, without leading zeros as RFC 6901 demands.
fn index(part: &str) -> Option<usize> {
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = part.len() == 1 || !part.starts_with('0');
    (digits && canonical).then(|| part.parse().ok()).flatten()
}

/// Reads a whole JSON text.
fn parse<'a, S: DeserializeSeed<'a>>(seed: S, json: &'a str) -> Result<S::Value, String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = seed.deserialize(&mut deserializer);
    value
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| json::described(json, &error))
}

/// The field that an object has.
enum Member<'a> {
    /// The one of exactly the whole name.
    Exact(&'a str),
    /// The one that the path starts with.
    First(&'a str),
    Absent,
}

/// Looks for the fields of two names in an object, or returns a key that it has twice.
struct Members<'p> {
    exact: &'p str,
    first: &'p str,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Result<Member<'de>, Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Result<Member<'de>, Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut member, mut duplicate) = (Member::Absent, None);
        let mut keys = Keys::default();
        while let Some(key) = map.next_key_seed(Text)? {
            if key == self.exact {
                member = Member::Exact(map.next_value::<&RawValue>()?.get());
            } else if key == self.first && !matches!(member, Member::Exact(_)) {
                member = Member::First(map.next_value::<&RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            // The rest is read all the same: a text that is not JSON is the more serious error.
            duplicate = duplicate.or_else(|| keys.insert(key));
        }
        Ok(duplicate.map_or(Ok(member), Err))
    }
}

/// The keys of an object. Most objects have few, which are compared without hashing.
struct Keys<'a> {
    few: [Cow<'a, str>; 16],
    len: usize,
    many: HashSet<Cow<'a, str>>,
}

impl Default for Keys<'_> {
    fn default() -> Self {
        Self {
            few: [const { Cow::Borrowed("") }; 16],
            len: 0,
            many: HashSet::new(),
        }
    }
}

impl<'a> Keys<'a> {
    /// Adds a key, or returns it if it is already present.
    fn insert(&mut self, key: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if self.few.iter().take(self.len).any(|other| *other == key) {
            return Some(key);
        }
        match self.few.get_mut(self.len) {
            Some(free) => {
                *free = key;
                self.len += 1;
                None
            }
            None if self.many.contains(&key) => Some(key),
            None => {
                self.many.insert(key);
                None
            }
        }
    }
}

/// Looks for one item of a list.
struct Item(usize);

impl<'de> DeserializeSeed<'de> for Item {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Item {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.0 {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let item = list.next_element::<&RawValue>()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(item.map(RawValue::get))
    }
}

/// A field that a record does not have, or a record that cannot be searched for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldPathError {
    /// The record is not a JSON object.
    NotAnObject {
        /// The kind of value.
        found: Kind,
    },
    /// The record is not JSON.
    Invalid {
        /// The error.
        problem: String,
    },
    /// The path leads to a value that does not have its next part.
    Absent {
        /// The deepest part of the path that exists, as it is written in the name; empty for the record.
        parent: String,
        /// The part that it does not have.
        part: String,
        /// The fields it has.
        contents: FieldContents,
    },
    /// An object has a key twice.
    DuplicateKey {
        /// The path to the object, as it is written in the name; empty for the record.
        parent: String,
        /// The key.
        key: String,
    },
}

/// Contents of a value that does not have a part of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldContents {
    /// The names of the fields of an object.
    Fields(Vec<String>),
    /// The number of items of a list.
    Items(usize),
    /// A value that has no parts.
    Single(Kind),
}

impl fmt::Display for FieldPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |parent: &str| match parent {
            "" => "the record".to_owned(),
            parent => quoted_id(parent),
        };
        match self {
            Self::NotAnObject { found } => write!(f, "found {found}: expected an object"),
            Self::Invalid { problem } => f.write_str(problem),
            Self::Absent {
                parent,
                part,
                contents,
            } => {
                let (parent, part) = (named(parent), quoted_id(part));
                write!(f, "{parent} has no {part}; it {contents}")
            }
            Self::DuplicateKey { parent, key } => {
                write!(f, "{} has the key {} twice", named(parent), quoted_id(key))
            }
        }
    }
}

impl std::error::Error for FieldPathError {}

/// `has "tokens", "raw"`.
impl fmt::Display for FieldContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The number of fields that a message names.
        const NAMED: usize = 10;
        match self {
            Self::Fields(names) if names.is_empty() => f.write_str("is an empty object"),
            Self::Fields(names) => {
                let shown: Vec<String> = names.iter().take(NAMED).map(|it| quoted_id(it)).collect();
                write!(f, "has {}", shown.join(", "))?;
                match names.len() - shown.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::Items(0) => f.write_str("is an empty list"),
            Self::Items(1) => f.write_str("is a list of 1 item"),
            Self::Items(items) => write!(f, "is a list of {items} items"),
            Self::Single(kind) => write!(f, "is {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;

    const RECORD: &str = r#"{
        "id": 7,
        "output": {"raw": "a.b", "tokens": [[1, 2], {"t": null}], "": {"": 0}, "0": "zero"},
        "a.b": "flat", "a": {"b": "nested", "c.d": 1, "e": {}, "f": []},
        "/p": "a field", "p": "a pointer", "x/y": 1, "m~n": 2, "~1": 3,
        "esc\u0061ped": true
    }"#;

    fn check(name: &str, expected: Result<&str, &str>) {
        let found = FieldPath::new(name)
            .find(RECORD)
            .map_err(|error| error.to_string());
        let found = found.as_deref().map_err(String::as_str);
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn names_and_what_they_find() {
        let rows: &[(&str, Result<&str, &str>)] = &[
            ("id", Ok("7")),
            ("/id", Ok("7")),
            ("escaped", Ok("true")),
            // A field of exactly this name wins.
            ("a.b", Ok(r#""flat""#)),
            ("/a/b", Ok(r#""nested""#)),
            ("/p", Ok(r#""a field""#)),
            // Only the whole name: inside, a key with a dot needs a pointer.
            (
                "a.c.d",
                Err(r#""a" has no "c"; it has "b", "c.d", "e", "f""#),
            ),
            ("/a/c.d", Ok("1")),
            ("/x~1y", Ok("1")),
            ("/m~0n", Ok("2")),
            ("/~01", Ok("3")),
            ("output.tokens.0.1", Ok("2")),
            ("/output/tokens/1/t", Ok("null")),
            ("output.", Ok(r#"{"": 0}"#)),
            ("output..", Ok("0")),
            // A number is a key where the value is an object.
            ("output.0", Ok(r#""zero""#)),
            (
                "output.text",
                Err(r#""output" has no "text"; it has "raw", "tokens", "", "0""#),
            ),
            (
                "/output/tokens/2",
                Err(r#""/output/tokens" has no "2"; it is a list of 2 items"#),
            ),
            (
                "output.tokens.01",
                Err(r#""output.tokens" has no "01"; it is a list of 2 items"#),
            ),
            (
                "output.tokens.99999999999999999999",
                Err(r#""output.tokens" has no "99999999999999999999"; it is a list of 2 items"#),
            ),
            (
                "/output/tokens/-",
                Err(r#""/output/tokens" has no "-"; it is a list of 2 items"#),
            ),
            (
                "output.raw.a",
                Err(r#""output.raw" has no "a"; it is a string"#),
            ),
            ("id.0", Err(r#""id" has no "0"; it is a number"#)),
            ("a.e.x", Err(r#""a.e" has no "x"; it is an empty object"#)),
            ("a.f.0", Err(r#""a.f" has no "0"; it is an empty list"#)),
            (
                "none.at.all",
                Err(
                    r#"the record has no "none"; it has "id", "output", "a.b", "a", "/p", "p", "x/y", "m~n", "~1", "escaped""#,
                ),
            ),
        ];
        for (name, expected) in rows {
            check(name, *expected);
        }
    }

    #[test]
    fn records_that_cannot_be_searched() {
        let message = |name: &str, record: &str| {
            let found = FieldPath::new(name).find(record);
            found.expect_err(record).to_string()
        };
        let rows = [
            ("id", "[1]", "found a list: expected an object"),
            ("id", "", "found no JSON: expected an object"),
            ("id", r#"{"id": 1"#, "the text ends within an object"),
            ("id", r#"{"id": 1} 2"#, "trailing characters"),
            (
                "id",
                r#"{"a": 1, "a": 2, "id": 3}"#,
                r#"the record has the key "a" twice"#,
            ),
            (
                "id",
                r#"{"id": 1, "\u0069d": 2}"#,
                r#"the record has the key "id" twice"#,
            ),
            (
                "a.b",
                r#"{"a": {"b": 1, "c": 2, "c": 3}}"#,
                r#""a" has the key "c" twice"#,
            ),
            (
                "/a/b/c",
                r#"{"a": {"b": {"c": 1, "c": 1}}}"#,
                r#""/a/b" has the key "c" twice"#,
            ),
        ];
        for (name, record, expected) in rows {
            assert_eq!(message(name, record), expected, "{record}");
        }
        // Parts that are not searched are not read.
        let record = r#"{"a": 1, "b": {"c": 1, "c": 2}}"#;
        assert_eq!(FieldPath::new("b").find(record), Ok(r#"{"c": 1, "c": 2}"#));
    }

    #[test]
    fn a_key_may_come_twice_after_many() {
        let fields: Vec<String> = (0..40).map(|key| format!("\"{key}\": {key}")).collect();
        let record = format!("{{{}}}", fields.join(", "));
        assert_eq!(FieldPath::new("39").find(&record), Ok("39"));
        let error = FieldPath::new("x").find(&record).unwrap_err().to_string();
        assert!(error.ends_with(r#""9" and 30 more"#), "{error}");
        for twice in [0, 15, 16, 39] {
            let record = format!("{{{}, \"{twice}\": 0}}", fields.join(", "));
            let key = twice.to_string();
            let parent = String::new();
            let duplicate = FieldPathError::DuplicateKey { parent, key };
            assert_eq!(FieldPath::new("1").find(&record), Err(duplicate));
        }
    }

    fn trees() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
            "[a\"\\\\é/~.]{0,3}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                proptest::collection::btree_map(keys(), inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    fn keys() -> impl Strategy<Value = String> {
        "[0-2ab]|[ab/~.\"\\\\é]{0,2}"
    }

    proptest! {
        /// A pointer finds what it finds in the tree, except where a field of exactly its name wins.
        #[test]
        fn pointers_agree_with_serde_json(
            fields in proptest::collection::btree_map(keys(), trees(), 0..5),
            pointer in "(/([0-2ab]|[ab/~.\"é]{0,2}|~0|~1|00|-)){1,4}",
        ) {
            let record = Json::Object(fields.into_iter().collect());
            let expected = record.get(&pointer).or_else(|| record.pointer(&pointer));
            let text = record.to_string();
            let found = FieldPath::new(&pointer).find(&text);
            let found: Option<Json> = found.ok().map(|json| serde_json::from_str(json).unwrap());
            prop_assert_eq!(found.as_ref(), expected);
        }

        /// A path with dots is the pointer with slashes, if no key has either.
        #[test]
        fn paths_agree_with_pointers(
            tree in trees(),
            parts in proptest::collection::vec("[0-2ab]|", 2..5),
        ) {
            let record = json!({"a": tree, "b": [tree], "": tree}).to_string();
            let path = FieldPath::new(&parts.join(".")).find(&record).ok();
            let pointer = FieldPath::new(&format!("/{}", parts.join("/"))).find(&record).ok();
            // No two fields have one name here, so a dot in a key cannot matter at the top.
            prop_assert_eq!(path, pointer);
        }

        #[test]
        fn any_text_is_a_name_and_no_record_is_a_panic(name in any::<String>(), record in any::<String>()) {
            let path = FieldPath::new(&name);
            prop_assert_eq!(path.name(), &name);
            let _ = path.find(&record);
            let record = json!({name.as_str(): 1}).to_string();
            prop_assert_eq!(path.find(&record), Ok("1"));
        }
    }
}
