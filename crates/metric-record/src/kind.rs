use std::fmt;

/// The kind of a value, as far as its first byte tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// No value: a prediction that is missing.
    Missing,
    /// A line of text, which has no type of its own.
    Line,
    /// A text with alternatives, `{ a / b }`.
    Alternatives,
    /// JSON's null.
    Null,
    /// True or false.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// The bytes of a file.
    Bytes,
    /// A list.
    List,
    /// An object.
    Object,
    /// Text that is not JSON.
    Invalid,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "no value",
            Self::Line => "a line of text",
            Self::Alternatives => "a text with alternatives, { a / b }, which only wer reads",
            Self::Null => "null",
            Self::Boolean => "true or false",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Bytes => "bytes",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Invalid => "no JSON",
        })
    }
}
