use std::borrow::Cow;
use std::fmt;

use metric_core::{Malformed, Reader, Writer, Written};

use crate::quoted_id;

/// Text for people that may name options.
///
/// The command line writes an option as `--lang java`, Python as `lang="java"`. Libraries therefore say
/// *which* option they mean, and the front end that prints the message decides how it is written.
/// [`Display`](fmt::Display) writes options as the command line does.
///
/// ```
/// use metric_record::{Message, OptionStyle};
///
/// let message = Message::from("a text is too long; to allow it, use ").option("max-bytes", "8GB");
/// assert_eq!(message.to_string(), "a text is too long; to allow it, use --max-bytes 8GB");
/// let python = message.render(OptionStyle::Python);
/// assert_eq!(python, "a text is too long; to allow it, use max_bytes=\"8GB\"");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Text(String),
    /// An option with its value, which is empty where only the option is meant.
    Option(String, String),
    /// Text of the data, such as names of classes.
    Data(String),
    /// The id of an example.
    Id(String),
}

/// A list of the parts, each a map from its kind to its text.
impl Written for Message {
    fn write(&self, to: &mut Writer) {
        to.list(self.parts.len());
        for part in &self.parts {
            to.map(1);
            match part {
                Part::Text(text) => to.field("text", text),
                Part::Option(name, value) => to.field("option", &[name.clone(), value.clone()]),
                Part::Data(text) => to.field("data", text),
                Part::Id(id) => to.field("id", id),
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut message = Self::default();
        for _ in 0..from.list()? {
            from.map()?;
            message.parts.push(match from.text()? {
                "text" => Part::Text(String::read(from)?),
                "option" => {
                    let [name, value] = <[String; 2]>::read(from)?;
                    Part::Option(name, value)
                }
                "data" => Part::Data(String::read(from)?),
                "id" => Part::Id(String::read(from)?),
                _ => return Err("expected a kind of text".into()),
            });
        }
        Ok(message)
    }
}

/// The way in which a front end writes the name of an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionStyle {
    /// `--ignore-case`, `--lang java`.
    #[default]
    CommandLine,
    /// `ignore_case`, `lang="java"`.
    Python,
}

impl Message {
    /// Appends text.
    #[must_use]
    pub fn text(mut self, text: impl fmt::Display) -> Self {
        let text = text.to_string();
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(&text),
            _ => self.parts.push(Part::Text(text)),
        }
        self
    }

    /// Appends an option with a value; an empty value names the option alone.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        let part = Part::Option(name.to_owned(), value.to_owned());
        self.parts.push(part);
        self
    }

    /// Appends text of the data, such as a list of classes, which [`without_data`](Self::without_data) leaves out.
    ///
    /// ```
    /// use metric_record::Message;
    ///
    /// let message = Message::from("2 classes are never predicted").data(": \"a\", \"b\"");
    /// assert_eq!(message.to_string(), "2 classes are never predicted: \"a\", \"b\"");
    /// assert_eq!(message.without_data().to_string(), "2 classes are never predicted");
    /// ```
    #[must_use]
    pub fn data(mut self, text: impl fmt::Display) -> Self {
        self.parts.push(Part::Data(text.to_string()));
        self
    }

    /// Appends the id of an example, which is data that is written in quotes.
    ///
    /// ```
    /// use metric_record::Message;
    ///
    /// let message = Message::from("1 prediction is empty").data(": ").id("a");
    /// assert_eq!(message.to_string(), "1 prediction is empty: \"a\"");
    /// assert_eq!(message.without_data().to_string(), "1 prediction is empty");
    /// ```
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.parts.push(Part::Id(id.into()));
        self
    }

    /// Returns the message without text of the data.
    #[must_use]
    pub fn without_data(&self) -> Self {
        let is_own = |part: &&Part| !matches!(part, Part::Data(_) | Part::Id(_));
        Self {
            parts: self.parts.iter().filter(is_own).cloned().collect(),
        }
    }

    /// Returns the message with ids of examples as `map` writes them.
    ///
    /// ```
    /// use metric_record::Message;
    ///
    /// let message = Message::from("2 predictions are empty").data(": ").id("1").data(", ").id("3");
    /// let mapped = message.with_ids(|id| format!("line {id}"));
    /// assert_eq!(mapped.to_string(), "2 predictions are empty: line 1, line 3");
    /// ```
    #[must_use]
    pub fn with_ids(&self, map: impl Fn(&str) -> String) -> Self {
        let part = |part: &Part| match part {
            Part::Id(id) => Part::Data(map(id)),
            other => other.clone(),
        };
        Self {
            parts: self.parts.iter().map(part).collect(),
        }
    }

    /// Appends another message.
    #[must_use]
    pub fn message(mut self, other: &Self) -> Self {
        for part in &other.parts {
            self = match part {
                Part::Text(text) => self.text(text),
                Part::Option(name, value) => self.option(name, value),
                Part::Data(text) => self.data(text),
                Part::Id(id) => self.id(id),
            };
        }
        self
    }

    /// Returns the text as a front end of this style prints it.
    #[must_use]
    pub fn render(&self, style: OptionStyle) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(part) | Part::Data(part) => text.push_str(part),
                Part::Option(name, value) => text.push_str(&style.option(name, value)),
                Part::Id(id) => text.push_str(&quoted_id(id)),
            }
        }
        text
    }

    /// Returns the name of the first option that the message names.
    ///
    /// ```
    /// use metric_record::Message;
    ///
    /// let message = Message::from("invalid value \"2\" for ").option("confidence", "");
    /// assert_eq!(message.first_option(), Some("confidence"));
    /// ```
    #[must_use]
    pub fn first_option(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            Part::Option(name, _) => Some(name.as_str()),
            Part::Text(_) | Part::Data(_) | Part::Id(_) => None,
        })
    }

    /// Returns whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl OptionStyle {
    /// Returns an option with its value; an empty value gives the option alone.
    ///
    /// ```
    /// use metric_record::OptionStyle;
    ///
    /// assert_eq!(OptionStyle::CommandLine.option("fail-under", "f1=0.5"), "--fail-under f1=0.5");
    /// assert_eq!(OptionStyle::CommandLine.option("id-field", "the id"), "--id-field 'the id'");
    /// assert_eq!(OptionStyle::Python.option("ignore-case", ""), "ignore_case");
    /// // Where only the command line has an option, Python's counterpart.
    /// assert_eq!(OptionStyle::Python.option("state-out", ""), "to_bytes()");
    /// ```
    #[must_use]
    pub fn option(self, name: &str, value: &str) -> String {
        match (self, value) {
            (Self::CommandLine, "") => format!("--{name}"),
            (Self::CommandLine, value) => format!("--{name} {}", in_shell(value)),
            (Self::Python, "") => in_python(name),
            (Self::Python, value) => {
                let name = in_python(name);
                match value.parse::<f64>() {
                    Ok(_) => format!("{name}={value}"),
                    Err(_) => format!("{name}={value:?}"),
                }
            }
        }
    }
}

/// What Python has in place of options that only the command line has.
const ONLY_COMMAND_LINE: &[(&str, &str)] = &[
    ("names", "predictions"),
    ("pairs", "references"),
    ("state-out", "to_bytes()"),
];

/// The name of an option in Python.
fn in_python(name: &str) -> String {
    let found = ONLY_COMMAND_LINE.iter().find(|(option, _)| *option == name);
    found.map_or_else(|| name.replace('-', "_"), |(_, name)| (*name).to_owned())
}

/// A value as a shell takes it: in single quotes, if it has characters that mean something to a shell.
fn in_shell(value: &str) -> Cow<'_, str> {
    let is_special = |char: char| char.is_whitespace() || "\"'$`\\;|&<>#".contains(char);
    if value.contains(is_special) {
        Cow::Owned(format!("'{}'", value.replace('\'', r"'\''")))
    } else {
        Cow::Borrowed(value)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self {
            parts: vec![Part::Text(text)],
        }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<fmt::Arguments<'_>> for Message {
    fn from(text: fmt::Arguments<'_>) -> Self {
        Self::from(text.to_string())
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(OptionStyle::CommandLine))
    }
}

impl std::error::Error for Message {}
