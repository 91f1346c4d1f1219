//! CSV and TSV, read strictly: RFC 4180 with the extensions that real writers need.
//!
//! Common readers accept a quote in the middle of a field, text after a closing quote, or a file that ends inside of
//! quotes, and return something. Here one pass splits a record and checks each byte of its structure.

use std::borrow::Cow;
use std::fmt;

use metric_record::{Message, json, quoted_id};

use crate::fields::{ColumnPath, FieldNames, RecordColumns};
use crate::found::{Form, Found, FoundId, Refuse, ScanError, Span};

/// The dialect of a CSV or TSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// The byte between fields; `None` for the one that the format implies, a comma or a tab. It is never
    /// guessed.
    pub delimiter: Option<u8>,
    /// Whether a field may be in quotes. Otherwise quotes are text.
    pub has_quotes: bool,
    /// Whether the first record is the header. Otherwise the columns are called `1`, `2` and so on.
    pub has_header: bool,
    /// The meaning of a field that is empty and not in quotes.
    pub empty: EmptyField,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            has_quotes: true,
            has_header: true,
            empty: EmptyField::Error,
        }
    }
}

/// The meaning of a field that is empty and not in quotes, where a value is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmptyField {
    /// An error: some writers leave the quotes off an empty text, and others mean a missing value.
    #[default]
    Error,
    /// The empty text.
    Text,
    /// JSON's null.
    Null,
}

/// Delimiters by name.
const DELIMITERS: [(&str, u8); 4] = [
    ("comma", b','),
    ("tab", b'\t'),
    ("semicolon", b';'),
    ("pipe", b'|'),
];

impl CsvOptions {
    /// Returns the delimiter of a name, or the one that is written as itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a name or an ASCII character that can separate fields.
    ///
    /// ```
    /// use metric_run::CsvOptions;
    ///
    /// assert_eq!(CsvOptions::delimiter("semicolon"), Ok(b';'));
    /// assert_eq!(CsvOptions::delimiter("^"), Ok(b'^'));
    /// assert!(CsvOptions::delimiter("\"").is_err());
    /// ```
    pub fn delimiter(name: &str) -> Result<u8, InvalidDelimiter> {
        if let Some((_, byte)) = DELIMITERS.iter().find(|(known, _)| *known == name) {
            return Ok(*byte);
        }
        match name.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n\0".contains(byte) => Ok(*byte),
            _ => Err(InvalidDelimiter),
        }
    }
}

/// Returns the name of a delimiter, or the delimiter itself.
pub(crate) fn delimiter_name(delimiter: u8) -> String {
    let known = DELIMITERS.iter().find(|(_, byte)| *byte == delimiter);
    known.map_or_else(
        || char::from(delimiter).to_string(),
        |(name, _)| (*name).to_owned(),
    )
}

/// A text that is not a delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidDelimiter;

impl fmt::Display for InvalidDelimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = DELIMITERS.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        write!(f, "expected {names} or one ASCII character")
    }
}

impl std::error::Error for InvalidDelimiter {}

/// The separator of fields, and whether they may be in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) has_quotes: bool,
}

impl Dialect {
    /// The length of the whole records at the start of a text that starts with a record, if there are any.
    ///
    /// In a well-formed text, a line end is outside of quotes if the number of quotes before it is even.
    pub(crate) fn whole_records(self, bytes: &[u8]) -> Option<usize> {
        if !self.has_quotes {
            return memchr::memrchr(b'\n', bytes).map(|index| index + 1);
        }
        let mut inside = memchr::memchr_iter(b'"', bytes).count() % 2 == 1;
        let mut end = bytes.len();
        while let Some(index) = memchr::memrchr2(b'\n', b'"', &bytes[..end]) {
            match bytes[index] {
                b'"' => inside = !inside,
                _ if !inside => return Some(index + 1),
                _ => {}
            }
            end = index;
        }
        None
    }

    /// The length of the record that bytes start with, if it ends after this index; all of them if it does not end.
    pub(crate) fn record_len(self, bytes: &[u8], index: usize) -> usize {
        let mut is_inside = false;
        for at in memchr::memchr2_iter(b'\n', b'"', bytes) {
            match bytes[at] {
                b'"' => is_inside ^= self.has_quotes,
                _ if !is_inside && at >= index => return at + 1,
                _ => {}
            }
        }
        bytes.len()
    }

    /// Whether the first record of a text is malformed, whatever follows the text. A field in quotes that is
    /// not closed may be closed later.
    pub(crate) fn is_malformed(self, bytes: &[u8]) -> bool {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_some() => return true,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut records = Records::new(text, 0, 1, self);
        match records.next(&mut Vec::new()) {
            Err(problem) => {
                !matches!(problem.what, What::OpenQuote) && problem.offset + 2 < text.len()
            }
            Ok(_) => false,
        }
    }
}

/// A field of a record.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Its text, without the quotes around it.
    span: Span,
    quoting: Quoting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting {
    None,
    Quoted,
    /// In quotes, with quotes inside, each of which is written twice.
    Doubled,
}

impl Cell {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let inner = self.span.slice(text);
        match self.quoting {
            Quoting::Doubled => Cow::Owned(inner.replace("\"\"", "\"")),
            _ => Cow::Borrowed(inner),
        }
    }

    fn is_missing(&self) -> bool {
        self.quoting == Quoting::None && self.span.is_empty()
    }
}

/// The error in the structure of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    AfterQuote,
    OpenQuote,
    BareQuote,
    SpaceBeforeQuote,
    CarriageReturn,
}

struct Malformed {
    offset: usize,
    line: u64,
    /// Index of the field.
    column: usize,
    what: What,
}

/// The records of a text.
struct Records<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    /// The line on which the record starts.
    record_line: u64,
    dialect: Dialect,
    /// Whether any carriage return has to be looked at.
    has_returns: bool,
}

impl<'t> Records<'t> {
    fn new(text: &'t str, at: usize, line: u64, dialect: Dialect) -> Self {
        Self {
            text,
            at,
            line,
            record_line: line,
            dialect,
            has_returns: memchr::memchr(b'\r', text.as_bytes()).is_some(),
        }
    }

    /// Reads the fields of the next record, and returns the line on which it starts.
    fn next(&mut self, cells: &mut Vec<Cell>) -> Result<Option<u64>, Malformed> {
        cells.clear();
        let bytes = self.text.as_bytes();
        if self.at >= bytes.len() {
            return Ok(None);
        }
        self.record_line = self.line;
        loop {
            let quoted = self.dialect.has_quotes && bytes.get(self.at) == Some(&b'"');
            let is_last = if quoted {
                self.quoted(cells)?
            } else {
                self.plain(cells)?
            };
            if is_last {
                return Ok(Some(self.record_line));
            }
        }
    }

    fn malformed(&self, offset: usize, column: usize, what: What) -> Malformed {
        Malformed {
            offset,
            line: match what {
                // Which of the lines of a record it is, only the quote itself tells.
                What::OpenQuote => self.line,
                _ => self.record_line,
            },
            column,
            what,
        }
    }

    /// Reads a field that is not in quotes, and returns whether it is the last one of its record.
    fn plain(&mut self, cells: &mut Vec<Cell>) -> Result<bool, Malformed> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let rest = &bytes[start..];
        let delimiter = self.dialect.delimiter;
        let stop = if self.dialect.has_quotes {
            memchr::memchr3(delimiter, b'\n', b'"', rest)
        } else {
            memchr::memchr2(delimiter, b'\n', rest)
        };
        let stop = stop.map_or(bytes.len(), |stop| start + stop);
        let mut end = stop;
        let (is_last, next) = match bytes.get(stop) {
            Some(b'"') => {
                let before = &bytes[start..stop];
                let what = if !before.is_empty() && before.iter().all(|&byte| byte == b' ') {
                    What::SpaceBeforeQuote
                } else {
                    What::BareQuote
                };
                return Err(self.malformed(stop, cells.len(), what));
            }
            Some(b'\n') => {
                end -= usize::from(end > start && bytes[end - 1] == b'\r');
                self.line += 1;
                (true, stop + 1)
            }
            Some(_) => (false, stop + 1),
            None => (true, stop),
        };
        if self.has_returns
            && let Some(index) = memchr::memchr(b'\r', &bytes[start..end])
        {
            return Err(self.malformed(start + index, cells.len(), What::CarriageReturn));
        }
        self.at = next;
        cells.push(Cell {
            span: Span::new(start, end),
            quoting: Quoting::None,
        });
        Ok(is_last)
    }

    /// Reads a field in quotes, and returns whether it is the last one of its record.
    fn quoted(&mut self, cells: &mut Vec<Cell>) -> Result<bool, Malformed> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut quoting = Quoting::Quoted;
        let mut at = start;
        let end = loop {
            let Some(index) = memchr::memchr(b'"', &bytes[at..]) else {
                return Err(self.malformed(self.at, cells.len(), What::OpenQuote));
            };
            at += index + 1;
            if bytes.get(at) != Some(&b'"') {
                break at - 1;
            }
            quoting = Quoting::Doubled;
            at += 1;
        };
        self.line += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64;
        let (is_last, next) = match &bytes[at..] {
            [] => (true, at),
            [byte, ..] if *byte == self.dialect.delimiter => (false, at + 1),
            [b'\n', ..] => (true, at + 1),
            [b'\r', b'\n', ..] => (true, at + 2),
            [b'\r', ..] => return Err(self.malformed(at, cells.len(), What::CarriageReturn)),
            _ => {
                cells.push(Cell {
                    span: Span::new(start, end),
                    quoting,
                });
                return Err(self.malformed(at, cells.len() - 1, What::AfterQuote));
            }
        };
        self.line += u64::from(is_last && next > at);
        self.at = next;
        cells.push(Cell {
            span: Span::new(start, end),
            quoting,
        });
        Ok(is_last)
    }
}

/// The columns of a file, and how its records are read.
#[derive(Debug)]
pub(crate) struct Layout {
    dialect: Dialect,
    empty: EmptyField,
    has_header: bool,
    names: Vec<String>,
    columns: RecordColumns,
}

impl Layout {
    /// Reads the header of a file, or the width of its first record.
    pub(crate) fn read(
        text: &str,
        dialect: Dialect,
        options: &CsvOptions,
        names: &FieldNames,
    ) -> Result<Self, ScanError> {
        let mut cells = Vec::new();
        let (at, line) = start(text, 1);
        let mut records = Records::new(text, at, line, dialect);
        let line = loop {
            match records.next(&mut cells) {
                Ok(Some(_)) if is_empty_line(&cells) => {}
                Ok(Some(line)) => break line,
                Ok(None) => {
                    let expected = if options.has_header {
                        "a header"
                    } else {
                        "a record"
                    };
                    return Err(ScanError::new(0, format!("is empty: expected {expected}")));
                }
                Err(problem) => return Err(refuse_header(text, &cells, &problem, dialect)),
            }
        };
        let header: Vec<String> = if options.has_header {
            cells
                .iter()
                .map(|cell| cell.text(text).into_owned())
                .collect()
        } else {
            (1..=cells.len()).map(|number| number.to_string()).collect()
        };
        let refuse = |problem: Message| ScanError {
            line: Some(line),
            ..ScanError::new(0, problem)
        };
        for (index, name) in header.iter().enumerate() {
            let before = header[..index].iter().position(|other| other == name);
            if let Some(before) = before.filter(|_| !name.is_empty()) {
                let problem = format!(
                    "the column {} occurs twice, as columns {} and {}: expected each name once",
                    quoted_id(name),
                    before + 1,
                    index + 1
                );
                return Err(refuse(problem.into()));
            }
        }
        let present: Vec<&str> = header.iter().map(String::as_str).collect();
        let columns = names.columns(&present).map_err(|problem| {
            let separator = || {
                let [one] = present.as_slice() else {
                    return None;
                };
                let mut known = DELIMITERS.iter();
                known.find(|(_, byte)| *byte != dialect.delimiter && one.as_bytes().contains(byte))
            };
            match separator() {
                Some((name, byte)) => refuse(
                    Message::from(format!(
                        "the header has only one column, and it contains {0:?}; if {0:?} separates the fields, use ",
                        char::from(*byte)
                    ))
                    .option("delimiter", name),
                ),
                None => refuse(problem),
            }
        })?;
        if let Some(column) = columns.all().find(|column| !column.path.is_empty()) {
            let problem = format!(
                "the column {} holds text: expected the name of a column, found a path",
                quoted_id(&header[column.index])
            );
            return Err(refuse(problem.into()));
        }
        Ok(Self {
            dialect,
            empty: options.empty,
            has_header: options.has_header,
            names: header,
            columns,
        })
    }

    /// The columns of the value of this side and of the other one, for messages.
    pub(crate) fn column_names(&self) -> [String; 2] {
        let name = |column: Option<&ColumnPath>| {
            column.map_or_else(String::new, |column| self.column(column.index))
        };
        [
            name(Some(&self.columns.value)),
            name(self.columns.other.as_ref()),
        ]
    }

    /// The names of further fields, each with its column for messages.
    pub(crate) fn further_names(&self) -> Vec<(String, String)> {
        let further = self.columns.further.iter();
        let named = further.map(|(name, column)| (name.clone(), self.column(column.index)));
        named.collect()
    }

    /// A column for messages, such as `column 3 "prediction"`.
    fn column(&self, index: usize) -> String {
        match self.names.get(index) {
            Some(name) if self.has_header => format!("column {} {}", index + 1, quoted_id(name)),
            _ => format!("column {}", index + 1),
        }
    }

    fn error(
        &self,
        offset: usize,
        line: u64,
        column: usize,
        problem: impl Into<Message>,
    ) -> ScanError {
        ScanError {
            line: Some(line),
            location: self.column(column),
            ..ScanError::new(offset, problem)
        }
    }

    fn malformed(&self, problem: &Malformed) -> ScanError {
        let message = problem.what.message(self.dialect.delimiter);
        self.error(problem.offset, problem.line, problem.column, message)
    }

    fn missing(&self, cell: &Cell, line: u64, column: usize) -> ScanError {
        let mut problem =
            Message::from("is empty and not in quotes: write \"\" for an empty text, or use ")
                .option("empty-field", "text");
        let is_id = |id: &ColumnPath| id.index == column;
        // An id is not null.
        if !self.columns.id.as_ref().is_some_and(is_id) {
            problem = problem.text(" or ").option("empty-field", "null");
        }
        self.error(cell.span.start, line, column, problem)
    }
}

impl What {
    fn message(self, delimiter: u8) -> Message {
        let delimiter = char::from(delimiter);
        match self {
            Self::AfterQuote => Message::from(format!(
                "found text after the closing quote: expected {delimiter:?} or the end of the line (a quote inside a field is written twice); if quotes are part of the text, use "
            ))
            .option("quote", "none"),
            Self::OpenQuote => Message::from(
                "a quote opens here and is never closed; if quotes are part of the text, use ",
            )
            .option("quote", "none"),
            Self::BareQuote => Message::from(
                "found a quote inside a field that is not in quotes: put the field in quotes and write the quote twice, or use ",
            )
            .option("quote", "none"),
            Self::SpaceBeforeQuote => Message::from(format!(
                "found a quote after a space, inside a field that is not in quotes: remove the space that precedes the quote (white space is data), so that the quote follows {delimiter:?}"
            )),
            Self::CarriageReturn => Message::from(
                "found a carriage return without a line feed: expected lines that end in LF or CRLF",
            ),
        }
    }
}

/// The error in a header that cannot be split.
fn refuse_header(text: &str, cells: &[Cell], problem: &Malformed, dialect: Dialect) -> ScanError {
    let at = text.as_bytes().get(problem.offset);
    let separator = DELIMITERS.iter().find(|(_, byte)| Some(byte) == at);
    let message = match (problem.what, separator, cells.last()) {
        (What::AfterQuote, Some((name, byte)), Some(cell)) => Message::from(format!(
            "found {:?} after the closing quote of {}: if that separates the fields, use ",
            char::from(*byte),
            quoted_id(&cell.text(text))
        ))
        .option("delimiter", name),
        _ => problem.what.message(dialect.delimiter),
    };
    ScanError {
        line: Some(problem.line),
        location: format!("column {}", problem.column + 1),
        ..ScanError::new(problem.offset, message)
    }
}

/// Where the records of a block start, and on which line: after a byte order mark at the start of a file, and after
/// Excel's line that names the delimiter.
fn start(text: &str, first_line: u64) -> (usize, u64) {
    if first_line > 1 {
        return (0, first_line);
    }
    match separator_line(text) {
        Some((_, end)) => (end, 2),
        None => (text.len() - without_mark(text).len(), 1),
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The delimiter that a first line `sep=;` names, which Excel writes and reads, and where the line ends.
pub(crate) fn separator_line(text: &str) -> Option<(u8, usize)> {
    let line = without_mark(text).split_inclusive('\n').next()?;
    let end = text.len() - without_mark(text).len() + line.len();
    let line = line.trim_end_matches(['\r', '\n']);
    let in_quotes = line
        .strip_prefix('"')
        .and_then(|line| line.strip_suffix('"'));
    let (name, delimiter) = in_quotes.unwrap_or(line).split_once('=')?;
    let delimiter = CsvOptions::delimiter(delimiter).ok()?;
    name.eq_ignore_ascii_case("sep").then_some((delimiter, end))
}

fn is_empty_line(cells: &[Cell]) -> bool {
    matches!(cells, [cell] if cell.is_missing())
}

/// Finds the records of a block. Fields that are not written as they read are appended to its text.
pub(crate) fn scan(
    text: &mut String,
    first_line: u64,
    layout: &Layout,
    refuse: &mut Refuse<'_>,
) -> Result<CsvRecords, ScanError> {
    let mut written = String::new();
    let records = records(text, &mut written, first_line, layout, refuse)?;
    text.push_str(&written);
    Ok(records)
}

/// The records of a block.
#[derive(Default)]
pub(crate) struct CsvRecords {
    pub(crate) found: Vec<Found>,
    /// The lines of those that probably have other rows inside of their quotes, ascending.
    pub(crate) with_rows: Vec<u64>,
}

/// Whether a field in quotes is what quotes that are text make of several rows: with as many tabs in each of its lines as
/// rows have from the quote in the first one to that in the last one. Texts of several lines in tables with commas are
/// usual, and look like this by chance.
fn has_rows(field: &str, column: usize, width: usize, delimiter: u8) -> bool {
    if delimiter != b'\t' {
        return false;
    }
    let tabs = |line: &str| memchr::memchr_iter(b'\t', line.as_bytes()).count();
    let mut lines = field.split('\n');
    let first = lines.next().unwrap_or_default();
    let Some(last) = lines.next_back() else {
        return false;
    };
    // Without a first cell, the tabs of the last line indent it.
    tabs(first) == width - 1 - column
        && tabs(last) == column
        && !last.starts_with('\t')
        && !last.trim_ascii().is_empty()
        && lines.all(|line| tabs(line) == width - 1)
}

fn records(
    text: &str,
    written: &mut String,
    first_line: u64,
    layout: &Layout,
    refuse: &mut Refuse<'_>,
) -> Result<CsvRecords, ScanError> {
    let mut found = CsvRecords::default();
    let mut cells = Vec::with_capacity(layout.names.len());
    let (at, line) = start(text, first_line);
    let mut records = Records::new(text, at, line, layout.dialect);
    let mut is_header = first_line == 1 && layout.has_header;
    let mut reader = CellReader {
        text,
        written,
        layout,
    };
    loop {
        let record = records.at;
        let line = match records.next(&mut cells) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(found),
            Err(problem) => {
                // Where the next record starts is not known.
                refuse(layout.malformed(&problem).last())?;
                return Ok(found);
            }
        };
        let wanted = layout.names.len();
        if is_empty_line(&cells) && (wanted > 1 || is_header) {
            continue;
        }
        if std::mem::take(&mut is_header) {
            continue;
        }
        if cells.len() != wanted {
            let names = if layout.has_header {
                layout.names.join(", ")
            } else {
                "as in the first record".to_owned()
            };
            let plural = if cells.len() == 1 { "" } else { "s" };
            let problem = format!(
                "found {} field{plural}: expected {wanted} ({names})",
                cells.len()
            );
            refuse(ScanError {
                line: Some(line),
                ..ScanError::new(record, problem)
            })?;
            continue;
        }
        match reader.record(&cells, line) {
            Ok(record) => found.found.push(record),
            Err(error) => {
                refuse(error)?;
                continue;
            }
        }
        if records.line > line + 1 {
            let mut cells = cells.iter().enumerate();
            let delimiter = layout.dialect.delimiter;
            if cells
                .any(|(column, cell)| has_rows(cell.span.slice(text), column, wanted, delimiter))
            {
                found.with_rows.push(line);
            }
        }
    }
}

/// Reads the fields of records that are requested.
struct CellReader<'t, 'w> {
    text: &'t str,
    written: &'w mut String,
    layout: &'t Layout,
}

impl CellReader<'_, '_> {
    fn record(&mut self, cells: &[Cell], line: u64) -> Result<Found, ScanError> {
        let layout = self.layout;
        let columns = &layout.columns;
        let id = match &columns.id {
            None => FoundId::Line(0),
            Some(column) => self.id(cells, column.index, line)?,
        };
        let [items, other_items] = &columns.items;
        let (value, form) = self.value(cells, columns.value.index, items, line)?;
        let other = columns.other.as_ref();
        let other = other.map(|column| self.value(cells, column.index, other_items, line));
        Ok(Found {
            id,
            value,
            form,
            other: other.transpose()?,
            record: self.further(cells),
            line,
        })
    }

    fn id(&mut self, cells: &[Cell], index: usize, line: u64) -> Result<FoundId, ScanError> {
        let cell = &cells[index];
        if cell.is_missing() && self.layout.empty != EmptyField::Text {
            return Err(self.layout.missing(cell, line, index));
        }
        Ok(match cell.quoting {
            Quoting::Doubled => FoundId::Unescaped(cell.text(self.text).into()),
            _ => FoundId::Here(cell.span),
        })
    }

    fn value(
        &mut self,
        cells: &[Cell],
        index: usize,
        items: &[ColumnPath],
        line: u64,
    ) -> Result<(Span, Form), ScanError> {
        if !items.is_empty() {
            return Ok((self.list(cells, items, line)?, Form::Json));
        }
        let cell = &cells[index];
        if cell.is_missing() {
            match self.layout.empty {
                EmptyField::Error => return Err(self.layout.missing(cell, line, index)),
                EmptyField::Text => {}
                EmptyField::Null => return Ok((self.write("null"), Form::Json)),
            }
        }
        // Several references are a list.
        let form = if self.layout.names[index] == "references" {
            Form::Json
        } else {
            Form::Line
        };
        let span = match cell.quoting {
            Quoting::Doubled => self.write(&cell.text(self.text)),
            _ => cell.span,
        };
        Ok((span, form))
    }

    /// Writes the fields of some columns as a list.
    fn list(&mut self, cells: &[Cell], items: &[ColumnPath], line: u64) -> Result<Span, ScanError> {
        let start = self.text.len() + self.written.len();
        self.written.push('[');
        for (number, column) in items.iter().enumerate() {
            let cell = &cells[column.index];
            let text = cell.text(self.text);
            if number > 0 {
                self.written.push(',');
            }
            if cell.is_missing() && self.layout.empty == EmptyField::Error {
                return Err(self.layout.missing(cell, line, column.index));
            } else if cell.is_missing() && self.layout.empty == EmptyField::Null {
                self.written.push_str("null");
            } else if json::scan::end_of_number(text.as_bytes(), 0) == Some(text.len()) {
                self.written.push_str(&text);
            } else {
                let text = serde_json::Value::from(text);
                self.written.push_str(&text.to_string());
            }
        }
        self.written.push(']');
        Ok(Span::new(start, self.text.len() + self.written.len()))
    }

    /// Writes the further fields as a JSON object.
    fn further(&mut self, cells: &[Cell]) -> Span {
        let further = &self.layout.columns.further;
        if further.is_empty() {
            return Span::default();
        }
        let mut object = String::from("{");
        for (name, column) in further {
            let cell = &cells[column.index];
            let text = cell.text(self.text);
            let value = if cell.is_missing() && self.layout.empty != EmptyField::Text {
                Cow::Borrowed("null")
            } else if cell.quoting == Quoting::None && is_number(&text) {
                text
            } else {
                Cow::Owned(serde_json::Value::from(text).to_string())
            };
            if object.len() > 1 {
                object.push(',');
            }
            let name = serde_json::Value::from(name.as_str());
            object.push_str(&format!("{name}:{value}"));
        }
        object.push('}');
        self.write(&object)
    }

    fn write(&mut self, text: &str) -> Span {
        let start = self.text.len() + self.written.len();
        self.written.push_str(text);
        Span::new(start, start + text.len())
    }
}

/// Whether a text is a decimal number as programs write it: `-3` and `0.25`, not `007`, `1e5` or `+1`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole)
        && are_digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && text != "-0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excel_names_the_delimiter_in_a_first_line() {
        let rows = [
            ("sep=;\r\na;b\r\n", Some((b';', 7))),
            ("\u{feff}SEP=,\na,b", Some((b',', 9))),
            ("\"sep=;\"\na;b", Some((b';', 8))),
            ("sep=\t", Some((b'\t', 5))),
            ("sep=\na", None),
            ("sep=ab\na", None),
            ("id,sep=;\n", None),
            ("a,b\nsep=;\n", None),
        ];
        for (text, expected) in rows {
            assert_eq!(separator_line(text), expected, "{text:?}");
        }
        assert_eq!(start("sep=;\na;b", 1), (6, 2));
        assert_eq!(start("\u{feff}a,b", 1), (3, 1));
        assert_eq!(start("sep=;\na;b", 9), (0, 9));
    }

    #[test]
    fn rows_inside_of_quotes() {
        // The columns of a row of three, in which a quote opens and closes.
        let rows = [
            ("a\ta\n2\tb", 1, true),
            ("a\ta\n2\tx\ty\n3\tb", 1, true),
            ("1\tx\ty\n2", 0, true),
            ("y\n2\tx\tb", 2, true),
            // Texts of several lines, and text that is indented.
            ("a\nb", 1, false),
            ("a\ta\nb", 1, false),
            ("if x:\n\ty = 1", 2, false),
            ("a\n\tb\tc", 2, false),
            ("y\n2\tx\tb\n", 2, false),
        ];
        for (field, column, expected) in rows {
            let found = has_rows(field, column, 3, b'\t');
            assert_eq!(found, expected, "{field:?} in column {column}");
            assert!(!has_rows(&field.replace('\t', ","), column, 3, b','));
        }
    }
}
