//! Records that were found in a block: the positions of their ids and values in its text.

use metric_record::{Id, Kind, Message, Value};

/// A part of a block's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) fn slice(self, text: &str) -> &str {
        &text[self.start..self.end]
    }

    /// The position of `part` in `text`; it is a slice of it.
    pub(crate) fn within(text: &str, part: &str) -> Self {
        let start = part.as_ptr().addr() - text.as_ptr().addr();
        Self {
            start,
            end: start + part.len(),
        }
    }
}

/// The form of the text of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// JSON that is a string without escapes, with its quotes.
    Plain,
    /// A line or a cell, which has no type of its own.
    Line,
    /// A text with alternatives.
    Alternatives,
    /// A string.
    #[cfg(feature = "columns")]
    Text,
}

impl Form {
    /// A number for each form.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Json => 0,
            Self::Plain => 1,
            Self::Line => 2,
            #[cfg(feature = "columns")]
            Self::Text => 3,
            Self::Alternatives => 4,
        }
    }

    /// The form of a [`code`](Self::code).
    pub(crate) const fn of_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Json,
            1 => Self::Plain,
            2 => Self::Line,
            #[cfg(feature = "columns")]
            3 => Self::Text,
            4 => Self::Alternatives,
            _ => return None,
        })
    }

    pub(crate) fn value(self, text: &str) -> Value<'_> {
        match self {
            Self::Json => Value::json(text),
            Self::Plain => Value::plain_json_string(text),
            Self::Line => Value::line(text),
            Self::Alternatives => Value::alternatives(text),
            #[cfg(feature = "columns")]
            Self::Text => Value::string(text),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum FoundId {
    Here(Span),
    /// An id whose text differs from its form in the file.
    Unescaped(Box<str>),
    Line(u64),
}

/// A record of a block.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: FoundId,
    pub(crate) value: Span,
    pub(crate) form: Form,
    /// The value of the other side, where one file has both and the record has it.
    pub(crate) other: Option<(Span, Form)>,
    /// The whole record; empty if there is nothing next to the value.
    pub(crate) record: Span,
    /// The number of its line or row.
    pub(crate) line: u64,
}

impl Found {
    pub(crate) fn id<'a>(&'a self, text: &'a str) -> Id<'a> {
        match &self.id {
            FoundId::Here(span) => Id::Text(span.slice(text)),
            FoundId::Unescaped(id) => Id::Text(id),
            FoundId::Line(number) => Id::Line(*number),
        }
    }

    pub(crate) fn is_whole_file(&self) -> bool {
        matches!(&self.id, FoundId::Unescaped(id) if **id == *WHOLE_FILE_ID)
    }

    pub(crate) fn value<'a>(&self, text: &'a str) -> Value<'a> {
        self.form.value(self.value.slice(text))
    }

    /// The value of the other side, if the record has one.
    pub(crate) fn other<'a>(&self, text: &'a str) -> Option<Value<'a>> {
        self.other
            .map(|(other, form)| form.value(other.slice(text)))
    }

    /// Whether a value of the record is null.
    pub(crate) fn has_null(&self, text: &str) -> bool {
        let is_null = |value: Value<'_>| value.kind() == Kind::Null;
        is_null(self.value(text)) || self.other(text).is_some_and(is_null)
    }

    pub(crate) fn has_other(&self) -> bool {
        self.other.is_some()
    }

    pub(crate) fn record<'a>(&self, text: &'a str) -> Option<&'a str> {
        (self.record != Span::default()).then(|| self.record.slice(text))
    }
}

/// The id of the one example of a file that is one example.
pub(crate) const WHOLE_FILE_ID: &str = "file";

/// A record that is invalid.
#[derive(Debug)]
pub(crate) struct ScanError {
    /// The position in the block.
    pub(crate) offset: usize,
    /// The line of the file, where it is not that of the offset.
    pub(crate) line: Option<u64>,
    /// The location in words, next to the line; empty for none.
    pub(crate) location: String,
    pub(crate) problem: Message,
    /// Whether nothing after the record can be read.
    pub(crate) is_last: bool,
}

impl ScanError {
    pub(crate) fn new(offset: usize, problem: impl Into<Message>) -> Self {
        Self {
            offset,
            line: None,
            location: String::new(),
            problem: problem.into(),
            is_last: false,
        }
    }

    /// Marks an error after which nothing can be read.
    pub(crate) fn last(self) -> Self {
        Self {
            is_last: true,
            ..self
        }
    }
}

/// Decides about an invalid record: an error ends the scan, and otherwise the record is left out.
pub(crate) type Refuse<'r> = dyn FnMut(ScanError) -> Result<(), ScanError> + 'r;
