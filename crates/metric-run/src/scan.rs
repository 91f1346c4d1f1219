//! Finds the records of a block: where their ids and values stand, not what the values mean.

use std::borrow::Cow;

use metric_record::json::scan::end_of_numbers;
use metric_record::json::{Entries, without_position};
use metric_record::{Id, Message, Value, quoted_id};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::source::{Block, Format};

/// What a field of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Id,
    /// The value of this side. It may stand under several names, of which a record has one.
    Value,
    /// The value of the other side, where one file has both.
    Other,
}

/// The names of the fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct FieldNames {
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    /// The name as it stands in most files.
    quoted: String,
    role: Role,
    /// The option that gives another name.
    option: &'static str,
}

impl FieldNames {
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = (&'n str, Role, &'static str)>) -> Self {
        let field = |(name, role, option): (&str, Role, &'static str)| Field {
            name: name.to_owned(),
            quoted: serde_json::Value::from(name).to_string(),
            role,
            option,
        };
        Self {
            fields: names.into_iter().map(field).collect(),
        }
    }

    /// Says that a record, or each record, has no field with this role, which fields there are, and which
    /// of them is probably meant.
    #[cold]
    pub(crate) fn no_field(&self, role: Role, record: &str) -> Message {
        let with_role = || self.fields.iter().filter(|field| field.role == role);
        let names: Vec<_> = with_role()
            .map(|field| format!("{:?}", field.name))
            .collect();
        let option = with_role().next().map_or("", |field| field.option);
        let present: Vec<Cow<'_, str>> = serde_json::from_str::<Entries<'_>>(record)
            .map(|entries| entries.0.into_iter().map(|(name, _)| name).collect())
            .unwrap_or_default();
        let others = present
            .iter()
            .filter(|name| !self.fields.iter().any(|field| field.name == ***name));
        let message = Message::from(format!("no field {}", names.join(" or ")));
        let message = match present.as_slice() {
            [] => return message.text(": the record has no fields"),
            present => message.text(format_args!(": the record has {}", listed(present))),
        };
        let wanted = with_role().map(|field| field.name.as_str());
        match probably_meant(role, wanted, others.map(|name| &**name)) {
            Some(name) => message
                .text("; did you mean ")
                .option(option, name)
                .text("?"),
            None => message
                .text("; another name is given by ")
                .option(option, ""),
        }
    }
}

/// The first few names of fields, in quotes.
fn listed(names: &[Cow<'_, str>]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| quoted_id(name))
        .collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    shown.join(", ") + more
}

/// Names that fields of ids have in other programs' files.
const ID_NAMES: [&str; 7] = [
    "doc_id",
    "question_id",
    "key",
    "idx",
    "image_id",
    "row_id",
    "Id",
];

/// The name that is nearest to one that is wanted, if it is near.
fn probably_meant<'n>(
    role: Role,
    wanted: impl Iterator<Item = &'n str> + Clone,
    present: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    /// From here on, names are abbreviations or misspellings of each other.
    const NEAR: f64 = 0.8;
    if role == Role::Id
        && let Some(name) = present.clone().find(|name| ID_NAMES.contains(name))
    {
        return Some(name);
    }
    let nearness = |name: &str| {
        let each = wanted
            .clone()
            .map(|wanted| strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()));
        each.fold(0.0, f64::max)
    };
    let near = present.map(|name| (nearness(name), name));
    near.filter(|(nearness, _)| *nearness >= NEAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// A part of a block's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }

    /// Where `part` stands in `text`, of which it is a slice.
    fn within(text: &str, part: &str) -> Self {
        let start = part.as_ptr().addr() - text.as_ptr().addr();
        Self {
            start,
            end: start + part.len(),
        }
    }
}

#[derive(Clone, Debug)]
enum FoundId {
    Here(Span),
    /// An id whose text differs from how it stands in the file.
    Unescaped(Box<str>),
    Line(u64),
}

/// A record of a block.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    id: FoundId,
    pub(crate) value: Span,
    /// The value of the other side, where one file has both and the record has it.
    other: Option<Span>,
    /// The whole record; empty where there is nothing beside the value.
    record: Span,
    /// The number of its line.
    pub(crate) line: u64,
    is_text: bool,
}

impl Found {
    pub(crate) fn id<'a>(&'a self, text: &'a str) -> Id<'a> {
        match &self.id {
            FoundId::Here(span) => Id::Text(span.of(text)),
            FoundId::Unescaped(id) => Id::Text(id),
            FoundId::Line(number) => Id::Line(*number),
        }
    }

    pub(crate) fn is_whole_file(&self) -> bool {
        matches!(&self.id, FoundId::Unescaped(id) if **id == *WHOLE_FILE_ID)
    }

    pub(crate) fn value<'a>(&self, text: &'a str) -> Value<'a> {
        let value = self.value.of(text);
        match self.is_text {
            true => Value::line(value),
            false => Value::json(value),
        }
    }

    /// The value of the other side, if the record has one.
    pub(crate) fn other<'a>(&self, text: &'a str) -> Option<Value<'a>> {
        self.other.map(|other| Value::json(other.of(text)))
    }

    pub(crate) fn has_other(&self) -> bool {
        self.other.is_some()
    }

    pub(crate) fn record<'a>(&self, text: &'a str) -> Option<&'a str> {
        (self.record != Span::default()).then(|| self.record.of(text))
    }
}

/// A record that is none.
#[derive(Debug)]
pub(crate) struct ScanError {
    /// Where in the block.
    pub(crate) offset: usize,
    pub(crate) problem: Message,
}

/// The records of a block, in their order.
pub(crate) fn scan(
    block: &Block,
    format: Format,
    names: &FieldNames,
    whole_file: fn(&str) -> bool,
) -> Result<Vec<Found>, ScanError> {
    match format {
        Format::JsonLines => {
            let plain = is_plain(&block.text);
            lines(block)
                .zip(block.first_line..)
                .filter(|(line, _)| !line.of(&block.text).trim_ascii().is_empty())
                .map(|(line, number)| json_line(&block.text, plain, line, number, names))
                .collect()
        }
        Format::Text => Ok(lines(block)
            .zip(block.first_line..)
            .map(|(value, number)| Found {
                id: FoundId::Line(number),
                value,
                other: None,
                record: Span::default(),
                line: number,
                is_text: true,
            })
            .collect()),
        Format::Kaldi => lines(block)
            .zip(block.first_line..)
            .map(|(line, number)| kaldi_line(&block.text, line, number))
            .collect(),
        Format::Json => json_map(&block.text, whole_file),
    }
}

/// Reads a line `ID TEXT`. The id ends at the first space or tab, and a line without one is an id with an
/// empty text.
fn kaldi_line(text: &str, line: Span, number: u64) -> Result<Found, ScanError> {
    let of_line = line.of(text);
    let id_bytes = memchr::memchr2(b' ', b'\t', of_line.as_bytes()).unwrap_or(of_line.len());
    let (id, value) = of_line.split_at(id_bytes);
    if id.is_empty() {
        let found = if of_line.trim_ascii().is_empty() {
            "an empty line"
        } else {
            "white space"
        };
        return Err(ScanError {
            offset: line.start,
            problem: format!("found {found}: expected an id, white space, and a text").into(),
        });
    }
    Ok(Found {
        id: FoundId::Here(Span::within(text, id)),
        value: Span::within(text, value.trim_ascii()),
        other: None,
        record: Span::default(),
        line: number,
        is_text: true,
    })
}

/// Whether no string in the text can have an escape or a control character.
fn is_plain(text: &str) -> bool {
    text.as_bytes().chunks(4096).all(|bytes| {
        let suspect = |&byte: &u8| (byte < 0x20) & (byte != b'\n') | (byte == b'\\');
        !bytes
            .iter()
            .fold(false, |found, byte| found | suspect(byte))
    })
}

/// The lines of a block, without their ends (`\n` or `\r\n`) and without a byte order mark.
fn lines(block: &Block) -> impl Iterator<Item = Span> {
    let bytes = block.text.as_bytes();
    // A byte order mark stands at the start of a file; anywhere else it is a character.
    let marked = block.first_line == 1 && block.text.starts_with('\u{feff}');
    let mut start = if marked { 3 } else { 0 };
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let next = ends.next().unwrap_or(bytes.len());
        let end = next - usize::from(next > start && bytes[next - 1] == b'\r');
        let line = Span { start, end };
        start = next + 1;
        Some(line)
    })
}

/// The id of the one example of a file that is one example.
const WHOLE_FILE_ID: &str = "file";

/// A file that is one example, if it is JSON.
pub(crate) fn whole(text: &str) -> Option<Found> {
    let json = text.trim_start_matches('\u{feff}').trim_ascii();
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    Some(Found {
        id: FoundId::Unescaped(WHOLE_FILE_ID.into()),
        value: Span::within(text, json),
        other: None,
        record: Span::default(),
        line: 1,
        is_text: false,
    })
}

/// Whether a file is one example, judged by its first value. A file that is not a map is not.
pub(crate) fn is_one_example(text: &str, whole_file: fn(&str) -> bool) -> bool {
    one_example(text, whole_file).unwrap_or_default()
}

/// The same, or `None` for a file that is not a map or that has no value to judge it by.
pub(crate) fn one_example(text: &str, whole_file: fn(&str) -> bool) -> Option<bool> {
    let json = text.trim_start_matches('\u{feff}');
    let entries = serde_json::from_str::<Entries<'_>>(json).ok()?;
    let is_empty = entries.0.is_empty();
    (!is_empty).then(|| is_whole(&entries, whole_file))
}

fn is_whole(entries: &Entries<'_>, whole_file: fn(&str) -> bool) -> bool {
    let first = entries.0.first();
    first.is_some_and(|(_, value)| whole_file(value))
}

fn json_map(text: &str, whole_file: fn(&str) -> bool) -> Result<Vec<Found>, ScanError> {
    let json = text.trim_start_matches('\u{feff}');
    let error = |error: serde_json::Error| ScanError {
        offset: offset_of(json, &error) + (text.len() - json.len()),
        problem: Message::from(match error.column() {
            0 => describe(json, &error),
            column => format!("{} at column {column}", describe(json, &error)),
        }),
    };
    if json.trim_ascii_start().starts_with('[') {
        return Err(ScanError {
            offset: text.len() - json.trim_ascii_start().len(),
            problem: "expected an object, id to value, found a list; records stand in a .jsonl file, one a line".into(),
        });
    }
    let entries: Entries<'_> = serde_json::from_str(json).map_err(error)?;
    let (mut line, mut counted) = (1, 0);
    let mut found = |id, value: &str| {
        let value = Span::within(text, value);
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..value.start]).count() as u64;
        counted = value.start;
        Found {
            id,
            value,
            other: None,
            record: Span::default(),
            line,
            is_text: false,
        }
    };
    if is_whole(&entries, whole_file) {
        return Ok(whole(text).into_iter().collect());
    }
    Ok(entries
        .0
        .into_iter()
        .map(|(key, value)| {
            let id = match key {
                Cow::Borrowed(key) => FoundId::Here(Span::within(text, key)),
                Cow::Owned(key) => FoundId::Unescaped(key.into()),
            };
            found(id, value)
        })
        .collect())
}

/// What serde_json found wrong in `json`, without the position, which is said in another way.
fn describe(json: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = without_position(&text);
    if [
        "lone leading surrogate in hex escape",
        "unexpected end of hex escape",
    ]
    .contains(&text)
    {
        return "half of a surrogate pair, which is no character".to_owned();
    }
    match error.classify() {
        serde_json::error::Category::Data => text.to_owned(),
        _ => match no_number(json, offset_of(json, error)) {
            Some("NaN") => "malformed JSON: NaN is no JSON number".to_owned(),
            Some(word) => {
                let written = word.replace("Infinity", "inf");
                format!(
                    "malformed JSON: {word} is no JSON number (a class score is written {written:?})"
                )
            }
            None => format!("malformed JSON: {text}"),
        },
    }
}

/// The number around this place that Python writes and JSON does not have.
fn no_number(json: &str, offset: usize) -> Option<&'static str> {
    // Of a negative number the sign was read already.
    [("-Infinity", 1), ("Infinity", 0), ("NaN", 0)]
        .into_iter()
        .find(|(word, read)| {
            let rest = offset
                .checked_sub(*read)
                .and_then(|start| json.get(start..));
            rest.is_some_and(|rest| rest.starts_with(word))
        })
        .map(|(word, _)| word)
}

fn offset_of(text: &str, error: &serde_json::Error) -> usize {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = match error.line() {
        0 | 1 => 0,
        line => lines.take(line - 1).last().map_or(0, |place| place + 1),
    };
    (start + error.column().saturating_sub(1)).min(text.len())
}

/// Reads one line as a record.
///
/// The shape of nearly all lines, an object whose strings have no escapes, is taken apart here
/// at the speed of a search for quotes; whatever else a value is goes through serde_json.
#[inline]
fn json_line(
    text: &str,
    plain: bool,
    line: Span,
    number: u64,
    names: &FieldNames,
) -> Result<Found, ScanError> {
    let mut cursor = Cursor {
        text,
        plain,
        at: line.start,
        end: line.end,
    };
    cursor.fields(line, number, names).map_err(|problem| {
        let offset = cursor.at.clamp(line.start, line.end);
        match problem {
            Problem::Content(problem) => ScanError { offset, problem },
            // The line is not an object: let serde_json say why.
            Problem::Syntax => {
                let problem = match serde_json::from_str::<IgnoredAny>(line.of(text)) {
                    Err(error) => {
                        let problem = describe(line.of(text), &error);
                        let hint = if error.is_eof() {
                            "; a record stands on one line"
                        } else {
                            ""
                        };
                        format!("{problem} at column {}{hint}", error.column())
                    }
                    Ok(_) => "expected an object with an id".to_owned(),
                };
                ScanError {
                    offset,
                    problem: problem.into(),
                }
            }
        }
    })
}

enum Problem {
    Syntax,
    Content(Message),
}

/// Steps through a line.
struct Cursor<'a> {
    text: &'a str,
    /// Whether the text [is plain](is_plain).
    plain: bool,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn fields(&mut self, line: Span, number: u64, names: &FieldNames) -> Result<Found, Problem> {
        // By role: where the field stands, and which of the names it has.
        let mut found: [Option<(Span, usize)>; 3] = [None; 3];
        self.expect(b'{')?;
        if !self.take(b'}') {
            loop {
                let field = self.field(names)?;
                self.expect(b':')?;
                let value = self.value()?;
                if let Some(index) = field {
                    let Field { name, role, .. } = &names.fields[index];
                    if let Some((_, before)) = found[*role as usize].replace((value, index)) {
                        return Err(Problem::Content(Message::from(if before == index {
                            format!("duplicate field {name:?}")
                        } else {
                            let before = &names.fields[before].name;
                            format!("both {before:?} and {name:?}: expected one of them")
                        })));
                    }
                }
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.skip_space();
        if self.at != self.end {
            return Err(Problem::Syntax);
        }
        let [id, value, other] = found.map(|found| found.map(|(span, _)| span));
        let required = |span: Option<Span>, role| {
            span.ok_or_else(|| Problem::Content(names.no_field(role, line.of(self.text))))
        };
        let (id, value) = (required(id, Role::Id)?, required(value, Role::Value)?);
        Ok(Found {
            id: self.id(id)?,
            value,
            other,
            record: line,
            line: number,
            is_text: false,
        })
    }

    /// Steps over a key and tells which of the names it is.
    #[inline]
    fn field(&mut self, names: &FieldNames) -> Result<Option<usize>, Problem> {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.at..self.end];
        for (index, field) in names.fields.iter().enumerate() {
            if rest.starts_with(field.quoted.as_bytes()) {
                self.at += field.quoted.len();
                return Ok(Some(index));
            }
        }
        let key = self.value()?;
        let name = self.name(key)?;
        Ok(names.fields.iter().position(|field| field.name == *name))
    }

    /// The text of a string; those with escapes are rare and read by serde_json.
    #[inline]
    fn name(&self, key: Span) -> Result<Cow<'a, str>, Problem> {
        let inner = self.string_inner(key).ok_or(Problem::Syntax)?;
        let text = inner.of(self.text);
        if !self.plain && text.contains('\\') {
            let unescaped = serde_json::from_str(key.of(self.text));
            return unescaped.map(Cow::Owned).map_err(|error| {
                let problem = describe(key.of(self.text), &error);
                Problem::Content(Message::from(format!("no text: {problem}")))
            });
        }
        Ok(Cow::Borrowed(text))
    }

    #[inline]
    fn id(&self, id: Span) -> Result<FoundId, Problem> {
        let text = id.of(self.text);
        if self.string_inner(id).is_some() {
            return Ok(match self.name(id)? {
                Cow::Borrowed(id) => FoundId::Here(Span::within(self.text, id)),
                Cow::Owned(id) => FoundId::Unescaped(id.into()),
            });
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        match text {
            "-0" => Ok(FoundId::Unescaped("0".into())),
            _ if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(FoundId::Here(id))
            }
            _ => Err(Problem::Content(Message::from(format!(
                "the id is {text}: expected a string or an integer"
            )))),
        }
    }

    #[inline]
    fn string_inner(&self, span: Span) -> Option<Span> {
        self.text.as_bytes()[span.start..span.end]
            .starts_with(b"\"")
            .then(|| Span {
                start: span.start + 1,
                end: span.end - 1,
            })
    }

    #[inline]
    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < self.end && matches!(bytes[self.at], b' ' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.at < self.end && self.text.as_bytes()[self.at] == byte;
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(Problem::Syntax)
        }
    }

    /// Steps over a value and checks that it is valid JSON.
    fn value(&mut self) -> Result<Span, Problem> {
        self.skip_space();
        let start = self.at;
        let rest = &self.text.as_bytes()[start..self.end];
        if let Some(length) = plain_string(rest, self.plain) {
            self.at = start + length;
        } else if let Some(length) = end_of_numbers(&self.text[start..self.end]) {
            self.at = start + length;
        } else {
            let mut values =
                serde_json::Deserializer::from_str(&self.text[start..self.end]).into_iter();
            let value: &RawValue = match values.next() {
                Some(Ok(value)) => value,
                _ => return Err(Problem::Syntax),
            };
            self.at = start + value.get().len();
        }
        Ok(Span {
            start,
            end: self.at,
        })
    }
}

/// The length of the string, with its quotes, that `bytes` starts with, if it has no escapes and
/// no control characters, as is known of all strings of a `plain` text.
fn plain_string(bytes: &[u8], plain: bool) -> Option<usize> {
    let inner = bytes.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', inner)?;
    let plain = plain || is_plain_string(&inner[..end]);
    plain.then_some(end + 2)
}

fn is_plain_string(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte >= 0x20 && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    fn names() -> FieldNames {
        FieldNames::new([
            ("id", Role::Id, "id-field"),
            ("reference", Role::Value, "reference-field"),
            ("references", Role::Value, "reference-field"),
        ])
    }

    fn scan_line(line: &str) -> Result<Vec<Found>, ScanError> {
        let block = Block {
            text: line.to_owned(),
            first_line: 1,
        };
        scan(&block, Format::JsonLines, &names(), |_| false)
    }

    /// JSON values of all kinds, with the characters that need care.
    fn json() -> impl Strategy<Value = Json> {
        let text = "[a\"\\\\é\u{0}\t \u{1F600}{}:,]{0,6}";
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            (-1e9..1e9_f64).prop_map(Json::from),
            text.prop_map(Json::from),
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                proptest::collection::btree_map(text, inner, 0..3).prop_map(Json::from_iter),
            ]
        })
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_of_the_file_only() {
        let values = |first_line| {
            let text = "\u{feff}a\r\n\u{feff}b".to_owned();
            let block = Block { text, first_line };
            let found = scan(&block, Format::Text, &names(), |_| false).expect("lines");
            found
                .iter()
                .map(|found| found.value.of(&block.text).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(values(1), ["a", "\u{feff}b"]);
        assert_eq!(values(2), ["\u{feff}a", "\u{feff}b"]);
    }

    #[test]
    fn half_of_a_surrogate_pair_is_named() {
        for line in [
            r#"{"id": "\ud800", "reference": 1}"#,
            r#"{"\ud800x": 1, "id": 1, "reference": 1}"#,
        ] {
            let error = scan_line(line).expect_err("no text");
            let problem = "no text: half of a surrogate pair, which is no character";
            assert_eq!(error.problem.to_string(), problem);
        }
    }

    proptest! {
        #[test]
        fn finds_what_serde_json_finds(
            id in prop_oneof![any::<i64>().prop_map(Json::from), "[a\"\\\\é]{0,4}".prop_map(Json::from)],
            value in json(),
            other in json(),
            spaces in "[ \t\r]{0,2}",
            place in 0_usize..3,
        ) {
            let mut fields = vec![
                format!("\"id\"{spaces}:{id}"),
                format!("{spaces}\"reference\":{spaces}{value}{spaces}"),
            ];
            fields.insert(place, format!("\"more\" : {other}"));
            let line = format!("{spaces}{{{}}}{spaces}", fields.join(","));
            let found = scan_line(&line).expect("a record");
            prop_assert_eq!(found.len(), 1);
            let expected = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            prop_assert_eq!(found[0].id(&line).to_string(), expected);
            let text = found[0].value.of(&line);
            prop_assert_eq!(serde_json::from_str::<Json>(text).expect("JSON"), value);
        }

        #[test]
        fn takes_no_line_that_serde_json_refuses(
            // Fragments of records, in any order: most are no JSON, some nearly so.
            parts in proptest::collection::vec(prop_oneof![
                Just("{"), Just("}"), Just("\"id\""), Just("\"reference\""), Just(":"), Just(","),
                Just("1"), Just("-"), Just("\"x\""), Just("\"\\\""), Just("["), Just("]"), Just(" "),
                Just("null"), Just("tru"), Just("\u{1}"), Just("\\"), Just("é"),
                Just("{\"id\":1,\"reference\":"), Just("\"a\\u0041\""),
            ], 0..9),
        ) {
            let line = parts.concat();
            if let Ok(found) = scan_line(&line) && !found.is_empty() {
                let record: Json = serde_json::from_str(&line).expect("a JSON record");
                prop_assert!(record.get("id").is_some());
            }
        }
    }
}
