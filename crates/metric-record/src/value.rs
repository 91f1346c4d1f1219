use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as PlainError;
use serde_json::value::RawValue;

#[cfg(feature = "columns")]
use crate::columns::Row;
use crate::grid;
use crate::items::{finite, list};
use crate::json;
use crate::kind::Kind;
use crate::picture::{self, Picture, Pixels};
use crate::single::Single;

/// A value of a record, in the form in which it arrived and not yet read.
///
/// A value is read at most once, by the metric that knows its type: [`text`](Self::text) for strings,
/// [`read`](Self::read) for everything else. Over JSON that is part of a longer text, reading also finds
/// [where the value ends](Self::end), so that nobody has to search for its extent first.
///
/// The forms do not mix: the string `"1"` is never the number 1. Only a line of text has no type of its
/// own, and is whatever the metric expects.
///
/// ```
/// use metric_record::{Kind, Value};
///
/// let mut row = Value::json("[3, 1, 2]");
/// assert_eq!(row.kind(), Kind::List);
/// assert_eq!(row.read::<Vec<i64>>(), Ok(vec![3, 1, 2]));
///
/// let mut line = Value::line("3");
/// assert_eq!(line.read::<i64>(), Ok(3));
/// assert_eq!(line.text().as_deref(), Ok("3"));
///
/// // The value ends after 5 bytes; the rest of the text is the caller's.
/// let mut first = Value::json_prefix(r#""cat", "id": 7}"#);
/// assert_eq!(first.text().as_deref(), Ok("cat"));
/// assert_eq!(first.end(), Some(5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    form: Form<'a>,
    end: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Missing,
    /// JSON that is the value and nothing else.
    Json(&'a str),
    /// JSON that is a string without escapes, with its quotes.
    Plain(&'a str),
    /// A text that starts with the JSON of the value.
    Prefix(&'a str),
    Line(&'a str),
    /// Several lines.
    Lines(&'a str),
    /// A text with alternatives, `{ a / b }`.
    Alternatives(&'a str),
    String(&'a str),
    Integer(i64),
    Number(f64),
    Number32(f32),
    Integers(&'a [i64]),
    Numbers(&'a [f64]),
    Numbers32(&'a [f32]),
    Picture(&'a dyn Picture),
    /// A row of a column that is not a slice.
    #[cfg(feature = "columns")]
    Row(Row<'a>),
}

impl<'a> Value<'a> {
    /// Returns a JSON text that holds the value and nothing else but white space.
    #[must_use]
    pub const fn json(text: &'a str) -> Self {
        Self::from_form(Form::Json(text))
    }

    /// Returns a JSON text that is a string without escapes, with its quotes and nothing else, as
    /// [`end_of_string`](crate::json::scan::end_of_string) finds it. The string is what is between the quotes: it is
    /// not searched for escapes again.
    ///
    /// ```
    /// use metric_record::{Kind, Value};
    ///
    /// let mut value = Value::plain_json_string("\"cat\"");
    /// assert_eq!(value.kind(), Kind::String);
    /// assert_eq!(value.text().as_deref(), Ok("cat"));
    /// ```
    #[must_use]
    pub const fn plain_json_string(text: &'a str) -> Self {
        Self::from_form(Form::Plain(text))
    }

    /// Returns a text that starts with the JSON of the value, and goes on after it.
    #[must_use]
    pub const fn json_prefix(text: &'a str) -> Self {
        Self::from_form(Form::Prefix(text))
    }

    /// Returns a line of text, which has no type of its own.
    #[must_use]
    pub const fn line(text: &'a str) -> Self {
        Self::from_form(Form::Line(text))
    }

    /// Returns a list of lines of text, which are given with a line end between them.
    ///
    /// ```
    /// use metric_record::{Kind, Value};
    ///
    /// let mut value = Value::lines("a cat\nthe cat");
    /// assert_eq!((value.kind(), value.as_lines()), (Kind::List, Some("a cat\nthe cat")));
    /// assert_eq!(value.read::<Vec<String>>()?, ["a cat", "the cat"]);
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub const fn lines(text: &'a str) -> Self {
        Self::from_form(Form::Lines(text))
    }

    /// Returns a text with alternatives, `{ a / b }`, which is not a string: few metrics read it.
    ///
    /// ```
    /// use metric_record::{Kind, Value};
    ///
    /// let mut value = Value::alternatives("we { will / shall } go");
    /// assert_eq!(value.kind(), Kind::Alternatives);
    /// assert_eq!(value.as_alternatives(), Some("we { will / shall } go"));
    /// assert!(value.text().is_err());
    /// ```
    #[must_use]
    pub const fn alternatives(text: &'a str) -> Self {
        Self::from_form(Form::Alternatives(text))
    }

    /// Returns a string, which is never read as a number.
    #[must_use]
    pub const fn string(text: &'a str) -> Self {
        Self::from_form(Form::String(text))
    }

    /// Returns an integer.
    #[must_use]
    pub const fn integer(number: i64) -> Self {
        Self::from_form(Form::Integer(number))
    }

    /// Returns a number.
    #[must_use]
    pub const fn number(number: f64) -> Self {
        Self::from_form(Form::Number(number))
    }

    /// Returns a number of 32 bits. Read as a number of 64 bits, it is the one that its shortest decimal form gives, as
    /// if it had been written to a file: 0.1 is 0.1.
    ///
    /// ```
    /// use metric_record::Value;
    ///
    /// assert_eq!(Value::number_f32(0.1).read::<f64>(), Ok(0.1));
    /// assert_eq!(Value::number_f32(0.1).read::<f32>(), Ok(0.1));
    /// assert_eq!(f64::from(0.1_f32), 0.10000000149011612);
    /// ```
    #[must_use]
    pub const fn number_f32(number: f32) -> Self {
        Self::from_form(Form::Number32(number))
    }

    /// Returns a row of integers, such as ranked labels.
    #[must_use]
    pub const fn integers(row: &'a [i64]) -> Self {
        Self::from_form(Form::Integers(row))
    }

    /// Returns a row of numbers, such as the scores of all classes.
    #[must_use]
    pub const fn numbers(row: &'a [f64]) -> Self {
        Self::from_form(Form::Numbers(row))
    }

    /// Returns a row of numbers of 32 bits, each read as [`number_f32`](Self::number_f32) says.
    #[must_use]
    pub const fn numbers_f32(row: &'a [f32]) -> Self {
        Self::from_form(Form::Numbers32(row))
    }

    /// Returns a picture, and the other fields of its record if it has some. To what does not ask for
    /// [a picture](Self::as_picture), a grid is a list of lists, or an object with such a list; the bytes of a file are nothing that
    /// it reads.
    #[must_use]
    pub const fn picture(picture: &'a dyn Picture) -> Self {
        Self::from_form(Form::Picture(picture))
    }

    /// JSON's null.
    #[must_use]
    pub const fn null() -> Self {
        Self::json("null")
    }

    #[cfg(feature = "columns")]
    pub(crate) const fn row(row: Row<'a>) -> Self {
        Self::from_form(Form::Row(row))
    }

    /// Returns a missing value: a prediction that counts as the metric's empty one.
    #[must_use]
    pub const fn missing() -> Self {
        Self::from_form(Form::Missing)
    }

    /// Returns the same value for a shorter time, next to values that do not live as long.
    ///
    /// ```
    /// use metric_record::Value;
    ///
    /// let value = Value::line("3");
    /// assert_eq!(value.view().read::<i64>(), Ok(3));
    /// ```
    #[must_use]
    pub fn view(&self) -> Value<'_> {
        let form = match &self.form {
            Form::Missing => Form::Missing,
            Form::Json(text) => Form::Json(text),
            Form::Plain(text) => Form::Plain(text),
            Form::Prefix(text) => Form::Prefix(text),
            Form::Line(text) => Form::Line(text),
            Form::Lines(text) => Form::Lines(text),
            Form::Alternatives(text) => Form::Alternatives(text),
            Form::String(text) => Form::String(text),
            Form::Integer(number) => Form::Integer(*number),
            Form::Number(number) => Form::Number(*number),
            Form::Number32(number) => Form::Number32(*number),
            Form::Integers(row) => Form::Integers(row),
            Form::Numbers(row) => Form::Numbers(row),
            Form::Numbers32(row) => Form::Numbers32(row),
            Form::Picture(picture) => Form::Picture(*picture),
            #[cfg(feature = "columns")]
            Form::Row(row) => Form::Row(row.view()),
        };
        Value {
            form,
            end: self.end,
        }
    }

    const fn from_form(form: Form<'a>) -> Self {
        Self { form, end: None }
    }

    /// Returns whether there is no value.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self.form, Form::Missing)
    }

    /// Returns what the value is, without reading it.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.form {
            Form::Missing => Kind::Missing,
            Form::Json(text) | Form::Prefix(text) => json::kind(text),
            Form::Line(_) => Kind::Line,
            Form::Lines(_) => Kind::List,
            Form::Alternatives(_) => Kind::Alternatives,
            Form::String(_) | Form::Plain(_) => Kind::String,
            Form::Integer(_) | Form::Number(_) | Form::Number32(_) => Kind::Number,
            Form::Integers(_) | Form::Numbers(_) | Form::Numbers32(_) => Kind::List,
            Form::Picture(picture) => match (picture.fields(), picture.pixels()) {
                (Some(_), _) => Kind::Object,
                (None, Pixels::Grid(_)) => Kind::List,
                (None, Pixels::File(_)) => Kind::Bytes,
            },
            #[cfg(feature = "columns")]
            Form::Row(_) => Kind::List,
        }
    }

    /// Returns where the value ends in the text of [`json_prefix`](Self::json_prefix), in bytes; `None`
    /// until it has been read, and for values of other forms.
    #[must_use]
    pub const fn end(&self) -> Option<usize> {
        self.end
    }

    /// Reads a string, borrowed where it has no escapes. A missing value is the empty string.
    ///
    /// # Errors
    ///
    /// Returns what was found if the value is not a string.
    #[inline]
    pub fn text(&mut self) -> Result<Cow<'a, str>, String> {
        match self.form {
            Form::Missing => Ok(Cow::Borrowed("")),
            Form::Line(text) | Form::String(text) => Ok(Cow::Borrowed(text)),
            Form::Plain(text) => Ok(Cow::Borrowed(between_quotes(text))),
            Form::Json(text) => json::string(text),
            Form::Prefix(text) => {
                let raw = self.raw(text)?;
                json::string(raw)
            }
            Form::Alternatives(_) | Form::Picture(_) => {
                Err(format!("expected a string, found {}", self.kind()))
            }
            _ => Err(match self.to_json() {
                Ok(Some(json)) => json::no_string(&json),
                _ => format!("expected a string, found {}", self.kind()),
            }),
        }
    }

    /// Returns the value with numbers and Booleans as strings, also those of a list, as they are written; other values are as
    /// they were. A text that this takes is written into `buffer`.
    ///
    /// ```
    /// use metric_record::Value;
    ///
    /// let mut buffer = String::new();
    /// assert_eq!(Value::json("3.50").as_text(&mut buffer).text().as_deref(), Ok("3.50"));
    /// let list = Value::json("[7, \"a\", true]");
    /// assert_eq!(list.as_text(&mut buffer).read::<Vec<String>>(), Ok(["7", "a", "true"].map(String::from).to_vec()));
    /// ```
    #[must_use]
    pub fn as_text<'b>(&'b self, buffer: &'b mut String) -> Value<'b> {
        let is_plain = |json: &str| matches!(json::kind(json), Kind::Number | Kind::Boolean);
        let (kind, json) = match (self.kind(), self.view().to_json()) {
            (kind @ (Kind::Number | Kind::Boolean | Kind::List), Ok(Some(json))) => (kind, json),
            _ => return self.view(),
        };
        if kind != Kind::List {
            buffer.clear();
            buffer.push_str(json.trim_ascii());
            return Value::string(buffer);
        }
        let items: Vec<&RawValue> = json::typed(&json).unwrap_or_default();
        if !items.iter().any(|item| is_plain(item.get())) {
            return self.view();
        }
        let item = |item: &&RawValue| {
            if is_plain(item.get()) {
                serde_json::Value::from(item.get()).to_string()
            } else {
                item.get().to_owned()
            }
        };
        let items: Vec<String> = items.iter().map(item).collect();
        *buffer = format!("[{}]", items.join(","));
        Value::json(buffer)
    }

    /// Reads a value of a type that serde knows. A line of text is read as JSON, and a missing value as
    /// null.
    ///
    /// # Errors
    ///
    /// Returns what was found and what the type expected.
    pub fn read<T: Deserialize<'a>>(&mut self) -> Result<T, String> {
        let plain = |error: PlainError| json::in_words(&error.to_string());
        match self.form {
            Form::Missing => T::deserialize(().into_deserializer()).map_err(plain),
            Form::Json(text) | Form::Plain(text) | Form::Line(text) => json::typed(text),
            Form::Prefix(text) => {
                let mut deserializer = serde_json::Deserializer::from_str(text);
                let value = T::deserialize(&mut deserializer)
                    .map_err(|error| json::described(text, &error))?;
                // The rest of the text starts where the value ends.
                let rest = deserializer.into_iter::<serde::de::IgnoredAny>();
                self.end = Some(rest.byte_offset());
                Ok(value)
            }
            Form::Alternatives(_) => Err(format!("found {}", self.kind())),
            Form::String(text) => {
                let borrowed = serde::de::value::BorrowedStrDeserializer::new(text);
                T::deserialize(borrowed).map_err(plain)
            }
            Form::Integer(number) => T::deserialize(number.into_deserializer()).map_err(plain),
            Form::Number(number) => T::deserialize(number.into_deserializer()).map_err(plain),
            Form::Number32(number) => {
                T::deserialize(Single(number).into_deserializer()).map_err(plain)
            }
            Form::Lines(text) => list(text.split('\n')),
            Form::Integers(row) => list(row.iter().copied()),
            Form::Numbers(row) => list(row.iter().copied()),
            Form::Numbers32(row) => list(row.iter().copied().map(Single)),
            Form::Picture(picture) => match (picture.fields(), picture.pixels()) {
                (None, Pixels::Grid(grid)) => list(grid::rows(grid).into_iter()),
                _ => Err(format!("found {}", self.kind())),
            },
            #[cfg(feature = "columns")]
            Form::Row(row) => row.read(),
        }
    }

    /// Reads the value as JSON text, written anew where it did not arrive as JSON. A line of text is
    /// taken as JSON; a missing value is `None`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong if the text does not start with JSON, or if a number is not finite.
    pub fn to_json(&mut self) -> Result<Option<Cow<'a, str>>, String> {
        let written = |json: serde_json::Result<String>| {
            json.map(|text| Some(Cow::Owned(text)))
                .map_err(|error| error.to_string())
        };
        match self.form {
            Form::Missing => Ok(None),
            Form::Json(text) | Form::Plain(text) | Form::Line(text) => {
                Ok(Some(Cow::Borrowed(text)))
            }
            Form::Prefix(text) => Ok(Some(Cow::Borrowed(self.raw(text)?))),
            Form::String(text) | Form::Alternatives(text) => written(serde_json::to_string(text)),
            Form::Integer(number) => Ok(Some(Cow::Owned(number.to_string()))),
            Form::Lines(text) => {
                written(serde_json::to_string(&text.split('\n').collect::<Vec<_>>()))
            }
            Form::Integers(row) => written(serde_json::to_string(row)),
            Form::Number(number) => {
                finite([number]).and_then(|()| written(serde_json::to_string(&number)))
            }
            Form::Number32(number) => {
                finite([number]).and_then(|()| written(serde_json::to_string(&number)))
            }
            Form::Numbers(row) => {
                finite(row.iter().copied()).and_then(|()| written(serde_json::to_string(row)))
            }
            Form::Numbers32(row) => {
                finite(row.iter().copied()).and_then(|()| written(serde_json::to_string(row)))
            }
            Form::Picture(picture) => picture::to_json(picture).map(|json| Some(Cow::Owned(json))),
            #[cfg(feature = "columns")]
            Form::Row(row) => row.to_json().map(|json| Some(Cow::Owned(json))),
        }
    }

    /// Returns the same as [`to_json`](Self::to_json), with `empty` in place of a missing value.
    ///
    /// # Errors
    ///
    /// Returns an error as [`to_json`](Self::to_json) does.
    pub fn to_json_or(&mut self, empty: &'a str) -> Result<Cow<'a, str>, String> {
        Ok(self.to_json()?.unwrap_or(Cow::Borrowed(empty)))
    }

    /// Returns a line of text, if the value is one.
    #[must_use]
    pub const fn as_line(&self) -> Option<&'a str> {
        match self.form {
            Form::Line(text) => Some(text),
            _ => None,
        }
    }

    /// Returns lines of text with a line end between them, if the value is a list of [lines](Self::lines).
    #[must_use]
    pub const fn as_lines(&self) -> Option<&'a str> {
        match self.form {
            Form::Lines(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a text with alternatives, if the value is one.
    #[must_use]
    pub const fn as_alternatives(&self) -> Option<&'a str> {
        match self.form {
            Form::Alternatives(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the JSON of a value that arrived as JSON and nothing else.
    #[must_use]
    #[inline]
    pub const fn as_json(&self) -> Option<&'a str> {
        match self.form {
            Form::Json(text) | Form::Plain(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an integer that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        match self.form {
            Form::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a string that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_string(&self) -> Option<&'a str> {
        match self.form {
            Form::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a row of integers that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_integers(&self) -> Option<&'a [i64]> {
        match self.form {
            Form::Integers(row) => Some(row),
            _ => None,
        }
    }

    /// Returns a row of numbers of 32 bits that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_numbers_f32(&self) -> Option<&'a [f32]> {
        match self.form {
            Form::Numbers32(row) => Some(row),
            _ => None,
        }
    }

    /// Returns a number of 32 bits that arrived as one, and not as JSON.
    ///
    /// ```
    /// use metric_record::Value;
    ///
    /// assert_eq!(Value::number_f32(0.1).as_number_f32(), Some(0.1));
    /// assert_eq!(Value::number(0.1).as_number_f32(), None);
    /// ```
    #[must_use]
    pub const fn as_number_f32(&self) -> Option<f32> {
        match self.form {
            Form::Number32(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a row of numbers that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_numbers(&self) -> Option<&'a [f64]> {
        match self.form {
            Form::Numbers(row) => Some(row),
            _ => None,
        }
    }

    /// Returns a picture that arrived as one, and not as JSON.
    #[must_use]
    pub const fn as_picture(&self) -> Option<&'a dyn Picture> {
        match self.form {
            Form::Picture(picture) => Some(picture),
            _ => None,
        }
    }

    /// Finds the end of the value that `text` starts with.
    fn raw(&mut self, text: &'a str) -> Result<&'a str, String> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let raw = <&serde_json::value::RawValue>::deserialize(&mut deserializer)
            .map_err(|error| json::described(text, &error))?;
        let rest = deserializer.into_iter::<serde::de::IgnoredAny>();
        self.end = Some(rest.byte_offset());
        Ok(raw.get())
    }
}

#[inline]
fn between_quotes(text: &str) -> &str {
    text.get(1..text.len().saturating_sub(1))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn forms_do_not_mix() {
        assert!(Value::string("1").read::<i64>().is_err());
        assert!(Value::integer(1).text().is_err());
        assert!(Value::json("1").text().is_err());
        assert_eq!(Value::integer(1).read::<i64>(), Ok(1));
        assert_eq!(Value::string("1").read::<String>(), Ok("1".to_owned()));
        assert_eq!(Value::line("1").read::<i64>(), Ok(1));
        assert_eq!(Value::missing().read::<Option<i64>>(), Ok(None));
        assert_eq!(
            Value::numbers(&[0.5, 2.0]).read::<Vec<f64>>(),
            Ok(vec![0.5, 2.0])
        );
        assert_eq!(Value::integers(&[5]).read::<Vec<i64>>(), Ok(vec![5]));
    }

    #[test]
    fn json_is_written_where_there_is_none() {
        let json =
            |mut value: Value<'static>| value.to_json().map(|json| json.map(Cow::into_owned));
        let some = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(json(Value::string("a\"b")), some(r#""a\"b""#));
        assert_eq!(json(Value::integer(-3)), some("-3"));
        assert_eq!(json(Value::number(0.1)), some("0.1"));
        assert_eq!(json(Value::numbers(&[1.0, 0.5])), some("[1.0,0.5]"));
        assert_eq!(json(Value::missing()), Ok(None));
        assert!(json(Value::number(f64::NAN)).is_err());
    }

    #[test]
    fn what_follows_a_whole_value_is_an_error() {
        assert!(Value::json("1 2").read::<i64>().is_err());
        assert!(Value::line("[1] x").read::<Vec<i64>>().is_err());
    }

    proptest! {
        /// Reading a value out of a longer text gives what reading it alone gives, and its end.
        #[test]
        fn a_prefix_reads_as_the_whole(
            value in prop_oneof![
                any::<i64>().prop_map(Json::from),
                "[a\"\\\\é\u{1F600} ]{0,5}".prop_map(Json::from),
                proptest::collection::vec(any::<i32>(), 0..4).prop_map(Json::from),
                Just(Json::Null),
            ],
            rest in "(,|\\}|\\]| )[a\\]\\}\",:1]{0,4}",
        ) {
            let text = value.to_string();
            let longer = format!("{text}{rest}");
            let mut prefix = Value::json_prefix(&longer);
            prop_assert_eq!(prefix.kind(), Value::json(&text).kind());
            prop_assert_eq!(prefix.read::<Json>(), Value::json(&text).read::<Json>());
            prop_assert_eq!(prefix.end(), Some(text.len()));
            let mut prefix = Value::json_prefix(&longer);
            prop_assert_eq!(prefix.to_json(), Value::json(&text).to_json());
            prop_assert_eq!(prefix.end(), Some(text.len()));
            if value.is_string() {
                let mut prefix = Value::json_prefix(&longer);
                prop_assert_eq!(prefix.text(), Value::json(&text).text());
                prop_assert_eq!(prefix.end(), Some(text.len()));
            }
        }
    }
}
