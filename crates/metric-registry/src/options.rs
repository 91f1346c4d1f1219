use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::str::FromStr;

use metric_core::Choice;
use metric_record::Message;
use serde::{Deserialize, Serialize};

/// One option of a metric: what the command line, its help and bindings are made from.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name, in words joined by hyphens.
    pub name: &'static str,
    /// A second name, as another program calls the option; empty for none.
    pub also: &'static str,
    /// The values that the option accepts.
    pub kind: OptionKind,
    /// The name of the value in help; empty for a flag.
    pub value: &'static str,
    /// The value if none is given; empty for none.
    pub default: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Other names of the choices, each with the choice that it means.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The words that a value is made of, such as the steps of a normalization, each with its meaning, if the help does
    /// not say it.
    pub words: &'static [(&'static str, &'static str)],
    /// Choices of other programs that there are not, with what to do instead: words, and the choice that follows them.
    pub refused: (&'static [&'static str], &'static str, &'static str),
    /// Another option and the values of it without which this one is an error; no name for none.
    pub only_with: (&'static str, &'static [&'static str]),
    /// Whether the values of a list may be the lines of a file, which the engine reads before the metric is built.
    pub may_be_file: bool,
}

/// The values that an option accepts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OptionKind {
    /// Nothing: the option is on when it is named.
    Flag,
    /// One of a fixed set of words.
    Choice(fn() -> Vec<&'static str>),
    /// An integer within bounds that belong to it.
    Integer(i64, i64),
    /// A number within bounds that belong to it.
    Number(f64, f64),
    /// Any text.
    Text,
    /// A file, which the engine reads and hands over with the data.
    Path,
    /// Several values of a kind. A command line separates them by commas, and writes a value that contains one in
    /// quotes, as CSV does; a binding takes a list.
    List(&'static OptionKind),
}

impl OptionKind {
    /// Returns the name of the kind.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Choice(_) => "choice",
            Self::Integer(..) => "integer",
            Self::Number(..) => "number",
            Self::Text => "text",
            Self::Path => "path",
            Self::List(_) => "list",
        }
    }

    /// Returns the allowed words of a choice, or of a list of them; otherwise none.
    #[must_use]
    pub fn choices(&self) -> Vec<&'static str> {
        match self {
            Self::Choice(choices) => choices(),
            Self::List(item) => item.choices(),
            _ => Vec::new(),
        }
    }
}

/// The option that asks for groups.
const GROUPS: &str = "groups";

impl OptionSpec {
    const fn new(
        name: &'static str,
        kind: OptionKind,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            also: "",
            kind,
            value,
            default: "",
            help,
            aliases: &[],
            words: &[],
            refused: (&[], "", ""),
            only_with: ("", &[]),
            may_be_file: false,
        }
    }

    /// Returns an option that is on when it is named.
    #[must_use]
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, OptionKind::Flag, "", help)
    }

    /// Returns an option that accepts the names of an enum.
    #[must_use]
    pub const fn choice<T: Choice>(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            aliases: T::ALIASES,
            ..Self::one_of(name, value, T::names, help)
        }
    }

    /// Returns an option that accepts these words.
    #[must_use]
    pub const fn one_of(
        name: &'static str,
        value: &'static str,
        words: fn() -> Vec<&'static str>,
        help: &'static str,
    ) -> Self {
        Self::new(name, OptionKind::Choice(words), value, help)
    }

    /// Returns the option that asks for tables of groups in addition to the total, without which there are none.
    #[must_use]
    pub const fn groups(kinds: fn() -> Vec<&'static str>, help: &'static str) -> Self {
        Self::one_of(GROUPS, "KIND", kinds, help).or("none")
    }

    /// Returns an option that accepts integers within these bounds.
    #[must_use]
    pub const fn integer(
        name: &'static str,
        value: &'static str,
        bounds: RangeInclusive<i64>,
        help: &'static str,
    ) -> Self {
        let kind = OptionKind::Integer(*bounds.start(), *bounds.end());
        Self::new(name, kind, value, help)
    }

    /// Returns an option that accepts numbers within these bounds.
    #[must_use]
    pub const fn number(
        name: &'static str,
        value: &'static str,
        bounds: RangeInclusive<f64>,
        help: &'static str,
    ) -> Self {
        let kind = OptionKind::Number(*bounds.start(), *bounds.end());
        Self::new(name, kind, value, help)
    }

    /// Returns an option that accepts any text.
    #[must_use]
    pub const fn text(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, OptionKind::Text, value, help)
    }

    /// Returns an option that names a file.
    #[must_use]
    pub const fn path(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, OptionKind::Path, value, help)
    }

    /// Returns an option that accepts several values of a kind.
    #[must_use]
    pub const fn list(
        name: &'static str,
        value: &'static str,
        items: &'static OptionKind,
        help: &'static str,
    ) -> Self {
        Self::new(name, OptionKind::List(items), value, help)
    }

    /// Returns the same option with the value that it has if none is given.
    ///
    /// ```
    /// use metric_registry::OptionSpec;
    ///
    /// let tolerance = OptionSpec::number("tolerance", "T", 0.0..=1.0, "Relative tolerance").or("0.05");
    /// assert_eq!((tolerance.kind.name(), tolerance.default), ("number", "0.05"));
    /// ```
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Returns the same option with a second name.
    ///
    /// ```
    /// use metric_registry::{OptionSpec, Options};
    ///
    /// let specs = [OptionSpec::flag("stemmer", "Compare stems").also("use-stemmer")];
    /// let options = Options::default().set("use-stemmer", "true");
    /// assert!(options.without_aliases(&specs).has("stemmer"));
    /// ```
    #[must_use]
    pub const fn also(self, name: &'static str) -> Self {
        Self { also: name, ..self }
    }

    /// Returns the same option, a choice, with words that it does not accept, and with what to do instead of them: words,
    /// and the choice that follows these.
    #[must_use]
    pub const fn without(
        self,
        words: &'static [&'static str],
        instead: &'static str,
        choice: &'static str,
    ) -> Self {
        Self {
            refused: (words, instead, choice),
            ..self
        }
    }

    /// Returns the same option for these values of another one, such as a profile; with others it is an error.
    ///
    /// ```
    /// use metric_registry::{Entry, OptionSpec, Options};
    ///
    /// const OPTIONS: &[OptionSpec] = &[
    ///     OptionSpec::one_of("profile", "PROFILE", || vec!["new", "old"], "Convention").or("new"),
    ///     OptionSpec::flag("strict", "Only with the profile old").only_with("profile", &["old"]),
    /// ];
    /// let entry = Entry { options: OPTIONS, ..Entry::BASE };
    /// let error = entry.scorer(&Options::default().set("strict", "")).unwrap_err();
    /// assert_eq!(error.to_string(), "--strict: expected only with --profile old");
    /// ```
    #[must_use]
    pub const fn only_with(self, option: &'static str, values: &'static [&'static str]) -> Self {
        Self {
            only_with: (option, values),
            ..self
        }
    }

    /// Returns the same option, a list, whose value may also be the name of a file with a value per line.
    #[must_use]
    pub const fn or_file(self) -> Self {
        Self {
            may_be_file: true,
            ..self
        }
    }

    /// Whether the option may be given next to these others of a metric.
    fn judge_others(&self, options: &Options, specs: &[Self]) -> Result<(), OptionError> {
        let (option, values) = self.only_with;
        let default = specs.iter().find(|spec| spec.name == option);
        let default = default.map(|spec| spec.default.into());
        let value = options.get(option).or(default).unwrap_or_default();
        if values.is_empty() || !options.has(self.name) || values.contains(&&*value) {
            return Ok(());
        }
        let given = options.given(self.name);
        let given = if self.is_flag() { "" } else { given.as_str() };
        let (first, others) = values.split_first().unwrap_or((&"", &[]));
        let others: String = others.iter().map(|other| format!(" or {other}")).collect();
        let reason = Message::from("expected only with ").option(option, first);
        Err(OptionError::new(self.name, given, reason.text(others)))
    }

    /// Returns the same option with the meanings of the words that a value is made of.
    #[must_use]
    pub const fn of(self, words: &'static [(&'static str, &'static str)]) -> Self {
        Self { words, ..self }
    }

    /// Returns whether the option is a flag, which is on when it is named.
    #[must_use]
    pub const fn is_flag(&self) -> bool {
        matches!(self.kind, OptionKind::Flag)
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// One value, written as text.
    One(String),
    /// A list of values, each written as text; a value may contain commas.
    List(Vec<String>),
}

impl From<&str> for OptionValue {
    fn from(value: &str) -> Self {
        Self::One(value.to_owned())
    }
}

impl<T: fmt::Display> From<&[T]> for OptionValue {
    fn from(values: &[T]) -> Self {
        Self::List(values.iter().map(T::to_string).collect())
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => f.write_str(value),
            Self::List(values) => f.write_str(&values.join(",")),
        }
    }
}

/// The chosen values of a metric's options, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    values: BTreeMap<String, OptionValue>,
    details: bool,
    // The form in which details are written; the state is the same.
    #[serde(skip)]
    compact: bool,
}

impl Options {
    /// Chooses a value; a flag is on with any value.
    ///
    /// ```
    /// # use metric_registry::Options;
    /// let options = Options::default().set("profile", "exact").set("k", &[1, 5][..]);
    /// assert_eq!(options.get("profile").as_deref(), Some("exact"));
    /// assert_eq!(options.get("k").as_deref(), Some("1,5"));
    /// ```
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<OptionValue>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the chosen values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OptionValue)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Also gathers the data for [`State::details`](crate::State::details), for metrics that
    /// otherwise skip that work.
    #[must_use]
    pub fn with_details(mut self) -> Self {
        self.details = true;
        self
    }

    /// Returns the same with details that are small enough to look at: at most 200 points per curve, and no arrays over
    /// all axes of a metric.
    #[must_use]
    pub fn with_compact_details(mut self) -> Self {
        self.compact = true;
        self.with_details()
    }

    /// Returns whether details are to be small enough to look at.
    #[must_use]
    pub fn compact_details(&self) -> bool {
        self.compact
    }

    /// Returns whether details are requested.
    #[must_use]
    pub fn details(&self) -> bool {
        self.details
    }

    /// Returns the chosen value as text, with commas between the values of a list.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.values.get(name).map(|value| match value {
            OptionValue::One(value) => Cow::Borrowed(value.as_str()),
            list => Cow::Owned(list.to_string()),
        })
    }

    /// Returns the chosen value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&OptionValue> {
        self.values.get(name)
    }

    /// Returns whether the chosen or default value is this one.
    #[must_use]
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.get(name).as_deref() == Some(value)
    }

    /// Returns whether the [option for groups](OptionSpec::groups) asks for this kind.
    #[must_use]
    pub fn asks_for_groups(&self, kind: &str) -> bool {
        self.is(GROUPS, kind)
    }

    /// Returns whether a flag is on, or any value was chosen.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the given text of an option for an error; empty where none was given.
    pub fn given(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().into_owned()
    }

    /// Returns the chosen value, parsed; `None` if none was chosen and there is no default.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not parse; the error carries the parser's reason.
    pub fn parse<T>(&self, name: &str) -> Result<Option<T>, OptionError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        self.get(name)
            .map(|value| {
                value
                    .parse()
                    .map_err(|reason: T::Err| OptionError::new(name, &value, reason.to_string()))
            })
            .transpose()
    }

    /// Returns the chosen or default value, parsed.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or does not parse.
    pub fn require<T>(&self, name: &str) -> Result<T, OptionError>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        self.parse(name)?
            .ok_or_else(|| OptionError::new(name, "", "a value is needed".to_owned()))
    }

    /// Returns the chosen or default value, a number; it may be infinite, where the metric can take
    /// that.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or not a number.
    pub fn number(&self, name: &str) -> Result<f64, OptionError> {
        let number = |text: &str| text.trim().parse().ok().filter(|f: &f64| !f.is_nan());
        self.one(name, "a number", number)
    }

    /// Returns the chosen number; `None` if none was chosen and there is no default.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not a number.
    pub fn number_if_given(&self, name: &str) -> Result<Option<f64>, OptionError> {
        self.has(name).then(|| self.number(name)).transpose()
    }

    /// Returns the chosen or default value, a non-negative integer.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or not such a number.
    pub fn integer<T: FromStr>(&self, name: &str) -> Result<T, OptionError> {
        let number = |text: &str| text.trim().parse().ok();
        self.one(name, "a non-negative integer", number)
    }

    fn one<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, OptionError> {
        let text = self.given(name);
        read(&text).ok_or_else(|| OptionError::new(name, &text, format!("expected {expected}")))
    }

    /// Returns the values of an option that is a list, each read by `read`; none without a value.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not what was `expected`, or is listed twice.
    pub fn list<T: PartialEq>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, OptionError> {
        let values = self.sequence(name, expected, read)?;
        let again = (1..values.len()).find(|&index| values[..index].contains(&values[index]));
        let Some(again) = again else {
            return Ok(values);
        };
        let parts = self.parts(name)?;
        let reason = format!("{} is listed twice", parts[again]);
        Err(OptionError::new(name, &self.given(name), reason))
    }

    /// Returns the values of an option that is a list, as texts. In the text of a list they are separated by commas; a
    /// value in double quotes may contain commas and white space around it, and writes a quote twice, as in CSV.
    ///
    /// # Errors
    ///
    /// Returns an error if a quote is not closed, or if text follows a closing quote.
    pub(crate) fn parts(&self, name: &str) -> Result<Vec<Cow<'_, str>>, OptionError> {
        match self.values.get(name) {
            None => Ok(Vec::new()),
            Some(OptionValue::One(one)) if one.is_empty() => Ok(Vec::new()),
            Some(OptionValue::One(one)) => {
                split_list(one).map_err(|reason| OptionError::new(name, one, reason))
            }
            Some(OptionValue::List(list)) => {
                Ok(list.iter().map(|value| value.as_str().into()).collect())
            }
        }
    }

    /// Returns the values of an option that is a list, in which a value may occur again.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not what was `expected`.
    pub fn sequence<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, OptionError> {
        let text = self.given(name);
        let value = |part: &str| {
            let value = (!part.is_empty()).then(|| read(part)).flatten();
            let problem = || format!("found {part:?}, expected {expected}");
            value.ok_or_else(|| OptionError::new(name, &text, problem()))
        };
        let parts = self.parts(name)?;
        parts.iter().map(|part| value(part)).collect()
    }

    /// Returns the chosen or default value, a whole number from 1 to `most`; `None` if there is neither.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not such a number.
    pub fn counting(&self, name: &str, most: usize) -> Result<Option<NonZeroUsize>, OptionError> {
        let number = |text: Cow<'_, str>| {
            counting(&text, most).map_err(|reason| OptionError::new(name, &text, reason))
        };
        self.get(name).map(number).transpose()
    }

    pub(crate) fn check(&self, specs: &[OptionSpec]) -> Result<(), OptionError> {
        for (name, value) in &self.values {
            if !specs.iter().any(|spec| spec.name == name) {
                let names: Vec<_> = specs.iter().map(|spec| spec.name).collect();
                let reason = match names.as_slice() {
                    [] => "this metric has no options".to_owned(),
                    names => format!("this metric has {}", names.join(", ")),
                };
                return Err(OptionError::new(name, &value.to_string(), reason));
            }
        }
        for spec in specs {
            // The words of a list are judged by the metric, which knows how they combine.
            if let (OptionKind::Choice(choices), Some(value)) = (&spec.kind, self.get(spec.name)) {
                let choices = choices();
                if !choices.contains(&&*value) {
                    let (words, instead, choice) = spec.refused;
                    let reason = if words.contains(&&*value) {
                        Message::from(instead).option(spec.name, choice)
                    } else {
                        format!("expected one of {}", choices.join(", ")).into()
                    };
                    return Err(OptionError::new(spec.name, &value, reason));
                }
            }
            spec.judge_others(self, specs)?;
        }
        Ok(())
    }

    /// Returns the same options with the names and choices that aliases mean in their place.
    #[must_use]
    pub fn without_aliases(&self, specs: &[OptionSpec]) -> Self {
        let mut options = self.clone();
        for spec in specs {
            if !spec.also.is_empty()
                && let Some(value) = options.values.remove(spec.also)
            {
                options.values.insert(spec.name.to_owned(), value);
            }
            if let Some(OptionValue::One(value)) = options.values.get_mut(spec.name)
                && let Some((_, meant)) = spec.aliases.iter().find(|(alias, _)| alias == value)
            {
                *value = (*meant).to_owned();
            }
        }
        options
    }

    /// Returns the same options, with the value of each of these that has one if none is given.
    #[must_use]
    pub fn with_defaults(&self, specs: &[OptionSpec]) -> Self {
        let mut options = self.clone();
        for spec in specs.iter().filter(|spec| !spec.default.is_empty()) {
            options
                .values
                .entry(spec.name.to_owned())
                .or_insert_with(|| spec.default.into());
        }
        options
    }
}

/// The values of a list that is written as one text; or what is wrong with its quotes.
pub(crate) fn split_list(text: &str) -> Result<Vec<Cow<'_, str>>, &'static str> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        if let Some(quoted) = rest.trim_start().strip_prefix('"') {
            let end = end_of_quoted(quoted).ok_or(
                "a quote opens and is never closed (a quote inside quotes is written twice)",
            )?;
            values.push(Cow::Owned(quoted[..end].replace("\"\"", "\"")));
            rest = quoted[end + 1..].trim_start();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            values.push(Cow::Borrowed(rest[..end].trim()));
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.is_empty() => return Ok(values),
            None => {
                return Err(
                    "found text after a closing quote: expected a comma (a quote inside quotes is written twice)",
                );
            }
        }
    }
}

/// Where the quote is that closes a text in quotes.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        at += 2;
    }
}

/// A value as it is written in the text of a list: in quotes, if it would otherwise be read as another one.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn in_list(value: &str) -> Cow<'_, str> {
    if value.contains(',') || value.starts_with('"') || value.trim() != value {
        Cow::Owned(format!("\"{}\"", value.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(value)
    }
}

/// A whole number from 1 to `most`.
///
/// # Errors
///
/// Returns an error in words for anything else.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn counting(text: &str, most: usize) -> Result<NonZeroUsize, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number: &NonZeroUsize| number.get() <= most)
        .ok_or_else(|| match most {
            usize::MAX => "expected a positive integer".to_owned(),
            most => format!("expected a whole number from 1 to {most}"),
        })
}

/// A finite number.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Values as they appear in a signature.
#[allow(dead_code, reason = "used by whichever domains are switched on")]
pub(crate) fn comma_separated<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    let values: Vec<Cow<'_, str>> = values.iter().map(|value| in_list(value)).collect();
    values.join(",")
}

/// An option that a metric cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The option's name.
    pub option: String,
    /// The value that was given; empty for none.
    pub value: String,
    /// The error.
    pub reason: Message,
}

impl OptionError {
    /// Returns an error about an option and the value that was given for it.
    pub fn new(option: &str, value: &str, reason: impl Into<Message>) -> Self {
        Self {
            option: option.to_owned(),
            value: value.to_owned(),
            reason: reason.into(),
        }
    }

    /// Returns the error as a message.
    #[must_use]
    pub fn message(&self) -> Message {
        let message = Message::default().option(&self.option, "");
        let message = match self.value.as_str() {
            "" => message.text(": "),
            value => message.text(format_args!(" {value:?}: ")),
        };
        message.message(&self.reason)
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for OptionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_list_may_be_in_quotes() {
        let rows: &[(&str, &[&str])] = &[
            ("a", &["a"]),
            ("a, b ,c", &["a", "b", "c"]),
            ("a,,b,", &["a", "", "b", ""]),
            ("\"a,b\"", &["a,b"]),
            (" \"a, b\" , c", &["a, b", "c"]),
            ("\" a\"", &[" a"]),
            ("\"\"\"\"", &["\""]),
            ("\"the \"\"d\"\"\"", &["the \"d\""]),
            ("\"\",x", &["", "x"]),
            ("a \"b\"", &["a \"b\""]),
        ];
        for (text, expected) in rows {
            let values = split_list(text).expect("a list");
            assert_eq!(values, *expected, "{text}");
            let again: Vec<_> = expected.iter().map(|value| in_list(value)).collect();
            let again = again.join(",");
            assert_eq!(split_list(&again).expect("a list"), *expected, "{again}");
        }
        for text in ["\"a", "\"a\" b", "\"a\"\"", "x,\"", "\"a\"b,c"] {
            assert!(split_list(text).is_err(), "{text}");
        }
    }
}
