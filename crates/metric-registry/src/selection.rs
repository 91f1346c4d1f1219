//! Conditions on the fields of records, which select those that are scored.

use std::borrow::Cow;

use metric_record::{FieldError, FieldPath, FieldPathError, Kind, json};

use crate::OptionError;
use crate::plan::texts;

/// A selection of records by their fields.
///
/// A record is selected if each field that it has holds one of the values that are wanted, and none of those that are
/// not. A field that a record lacks says nothing about it: the other side of an example may have the field.
///
/// ```
/// use metric_registry::Selection;
///
/// let selection = Selection::read(["doc.subject=law", "filter!=flexible-extract"])?;
/// let selection = selection.expect("two conditions");
/// let is_selected = |record: &str| selection.judge(record).map(|verdict| verdict.is_selected());
/// assert_eq!(is_selected(r#"{"doc": {"subject": "law"}, "filter": "strict-match"}"#), Ok(true));
/// assert_eq!(is_selected(r#"{"doc": {"subject": "art"}}"#), Ok(false));
/// assert_eq!(is_selected(r#"{"id": 7}"#), Ok(true));
/// # Ok::<(), metric_registry::OptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    fields: Vec<Condition>,
}

/// The values of a field that select a record.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    path: FieldPath,
    /// The values of which a record has one; empty for all.
    any_of: Vec<String>,
    /// The values of which a record has none.
    none_of: Vec<String>,
}

/// What a selection says about a record, with a bit for each of its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The fields that the record has.
    pub found: u64,
    /// The fields whose values are not those that are wanted.
    pub refused: u64,
}

impl Verdict {
    /// Returns whether the record is selected.
    #[must_use]
    pub const fn is_selected(self) -> bool {
        self.refused == 0
    }
}

impl Selection {
    /// The name of the option that has the conditions.
    pub const OPTION: &'static str = "where";

    /// The number of fields that a verdict has room for.
    const MOST_FIELDS: usize = 64;

    /// Reads conditions such as `filter=strict-match`, `doc.subject!=law`; `None` for none. Several values of one field
    /// are alternatives.
    ///
    /// # Errors
    ///
    /// Returns an error about a condition without a field or without `=`, and about too many fields.
    pub fn read<'c>(
        conditions: impl IntoIterator<Item = &'c str>,
    ) -> Result<Option<Self>, OptionError> {
        let mut fields: Vec<Condition> = Vec::new();
        for condition in conditions {
            let wrong = |reason: &str| OptionError::new(Self::OPTION, condition, reason.to_owned());
            let expected = "expected a field and a value, as in FIELD=VALUE or FIELD!=VALUE";
            let (field, value) = condition.split_once('=').ok_or_else(|| wrong(expected))?;
            let (field, is_wanted) = match field.strip_suffix('!') {
                Some(field) => (field.trim(), false),
                None => (field.trim(), true),
            };
            if field.is_empty() {
                return Err(wrong(expected));
            }
            let position = fields.iter().position(|it| it.path.name() == field);
            let position = position.unwrap_or_else(|| {
                fields.push(Condition {
                    path: FieldPath::new(field),
                    any_of: Vec::new(),
                    none_of: Vec::new(),
                });
                fields.len() - 1
            });
            if fields.len() > Self::MOST_FIELDS {
                return Err(wrong("expected at most 64 fields"));
            }
            let values = if is_wanted {
                &mut fields[position].any_of
            } else {
                &mut fields[position].none_of
            };
            if !values.iter().any(|known| known == value) {
                values.push(value.to_owned());
            }
        }
        // The order says nothing, and states with equal selections merge.
        fields.sort_by(|a, b| a.path.name().cmp(b.path.name()));
        for condition in &mut fields {
            condition.any_of.sort_unstable();
            condition.none_of.sort_unstable();
        }
        Ok((!fields.is_empty()).then_some(Self { fields }))
    }

    /// Returns the names of the fields, in the order of the alphabet.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|condition| condition.path.name())
    }

    /// Returns the conditions as they are written, each once and in one order.
    #[must_use]
    pub fn conditions(&self) -> Vec<String> {
        let of_field = |it: &Condition| {
            let name = it.path.name();
            let any_of = it.any_of.iter().map(|value| format!("{name}={value}"));
            let none_of = it.none_of.iter().map(|value| format!("{name}!={value}"));
            any_of.chain(none_of).collect::<Vec<_>>()
        };
        self.fields.iter().flat_map(of_field).collect()
    }

    /// Returns what the selection says about a record, which is a JSON object.
    ///
    /// # Errors
    ///
    /// Returns an error if the value of a field is an object or holds one, or if the record is not valid JSON.
    pub fn judge(&self, record: &str) -> Result<Verdict, FieldError> {
        let mut verdict = Verdict::default();
        for (bit, condition) in self.fields.iter().enumerate() {
            let name = condition.path.name();
            let value = match condition.path.find(record) {
                Ok(value) => value,
                Err(FieldPathError::Absent { .. } | FieldPathError::NotAnObject { .. }) => continue,
                Err(error) => return Err(FieldError::field(name, error.to_string())),
            };
            verdict.found |= 1 << bit;
            if !condition.holds(value)? {
                verdict.refused |= 1 << bit;
            }
        }
        Ok(verdict)
    }

    /// Returns the value of a field of a record as it is written in a condition, for messages.
    #[must_use]
    pub fn value_of(&self, field: usize, record: &str) -> Option<String> {
        let path = &self.fields.get(field)?.path;
        let values = values(path.name(), path.find(record).ok()?).ok()?;
        values.into_iter().next().map(Cow::into_owned)
    }
}

impl Condition {
    /// Whether a value, or one of a list, is wanted.
    fn holds(&self, json: &str) -> Result<bool, FieldError> {
        let (kind, values) = (json::kind(json), values(self.path.name(), json)?);
        let has = |wanted: &String| values.iter().any(|value| is_same(kind, value, wanted));
        let is_wanted = self.any_of.is_empty() || self.any_of.iter().any(has);
        Ok(is_wanted && !self.none_of.iter().any(has))
    }
}

/// A value as texts: those of a list, `null` for null.
fn values<'v>(name: &str, json: &'v str) -> Result<Vec<Cow<'v, str>>, FieldError> {
    match json::kind(json) {
        Kind::Null => Ok(vec![Cow::Borrowed("null")]),
        _ => texts(name, json),
    }
}

/// Whether a value is the one that is written in a condition. Numbers are equal however they are written, and Python
/// writes `True`.
fn is_same(kind: Kind, value: &str, wanted: &str) -> bool {
    match kind {
        Kind::Boolean => value.eq_ignore_ascii_case(wanted),
        Kind::Number => {
            let number = |text: &str| text.parse::<f64>().ok();
            value == wanted || number(value).is_some_and(|it| number(wanted) == Some(it))
        }
        _ => value == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(conditions: &[&str]) -> Selection {
        let read = Selection::read(conditions.iter().copied());
        read.expect("conditions").expect("some")
    }

    #[test]
    fn values_of_one_field_are_alternatives_and_fields_are_not() {
        for (conditions, record, expected) in [
            (&["a=1"][..], r#"{"a": "1"}"#, true),
            (&["a=1"], r#"{"a": 1.0}"#, true),
            (&["a=1.0"], r#"{"a": "1"}"#, false),
            (&["a=1", "a=2"], r#"{"a": 2}"#, true),
            (&["a=1", "a=2"], r#"{"a": 3}"#, false),
            (&["a!=1", "a!=2"], r#"{"a": 3}"#, true),
            (&["a!=1", "a!=2"], r#"{"a": 2}"#, false),
            (&["a=1", "b=2"], r#"{"a": 1, "b": 3}"#, false),
            (&["a=1", "b=2"], r#"{"a": 1}"#, true),
            (&["a=true"], r#"{"a": true}"#, true),
            (&["a=True"], r#"{"a": true}"#, true),
            (&["a=x"], r#"{"a": ["y", "x"]}"#, true),
            (&["a!=x"], r#"{"a": ["y", "x"]}"#, false),
            (&["a=x"], r#"{"a": null}"#, false),
            (&["a!=x"], r#"{"a": null}"#, true),
            (&["a=null"], r#"{"a": null}"#, true),
            (&["a="], r#"{"a": ""}"#, true),
            (&["a=b=c"], r#"{"a": "b=c"}"#, true),
            (&["a.b=1"], r#"{"a": {"b": 1}}"#, true),
            (&["a.b=1"], r#"{"a": {"b": 2}}"#, false),
            (&["a.b=1"], r#"{"a": null}"#, true),
            (&["a.b=1"], r#"{"a.b": 2}"#, false),
        ] {
            let verdict = selection(conditions).judge(record).expect("a verdict");
            assert_eq!(verdict.is_selected(), expected, "{conditions:?} {record}");
        }
        let error = selection(&["a=1"]).judge(r#"{"a": {}}"#);
        assert!(error.is_err_and(|error| error.to_string().contains("found an object")));
    }

    #[test]
    fn the_order_of_conditions_says_nothing() {
        let one = selection(&["b!=y", "a=2", "a=1", "a=2"]);
        assert_eq!(one, selection(&["a=1", "b!=y", "a=2"]));
        assert_eq!(one.conditions(), ["a=1", "a=2", "b!=y"]);
        assert_eq!(one.fields().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(Selection::read([]), Ok(None));
        for condition in ["a", "=1", "!=1", ""] {
            let error = Selection::read([condition]).expect_err("no condition");
            assert!(error.to_string().contains("as in FIELD=VALUE"), "{error}");
        }
    }
}
