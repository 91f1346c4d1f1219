//! Finds the records of a block: the positions of their ids and values, not what the values mean.

use crate::block::{Block, Rows};
use crate::fields::{FieldNames, Role};
use crate::formats::{Format, csv, transcript};
use crate::found::{Form, Found, FoundId, Refuse, ScanError, Span, WHOLE_FILE_ID};
use std::borrow::Cow;

use metric_record::json::scan::{Scanner, ShortText, end_of_number, end_of_numbers, end_of_string};
use metric_record::json::{Entries, is_json_lines, kind, no_number, offset_of, without_position};
use metric_record::{Kind, Message};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The records of a block, in their order, all of which are valid. Values that are written in another way than they
/// are read are appended to its text.
pub(crate) fn scan(
    block: &mut Block,
    format: Format,
    names: &FieldNames,
    whole_file: fn(&str) -> bool,
) -> Result<Vec<Found>, ScanError> {
    scan_valid(block, format, names, whole_file, &mut Err)
}

/// The valid records of a block, in their order; `refuse` decides about the others.
pub(crate) fn scan_valid(
    block: &mut Block,
    format: Format,
    names: &FieldNames,
    whole_file: fn(&str) -> bool,
    refuse: &mut Refuse<'_>,
) -> Result<Vec<Found>, ScanError> {
    let mut found = scan_fields(block, format, names, whole_file, refuse)?;
    if names.is_one_sided {
        for record in &mut found {
            record.other = Some((record.value, record.form));
        }
    }
    Ok(found)
}

/// The same with the fields that the records have.
fn scan_fields(
    block: &mut Block,
    format: Format,
    names: &FieldNames,
    whole_file: fn(&str) -> bool,
    refuse: &mut Refuse<'_>,
) -> Result<Vec<Found>, ScanError> {
    match &mut block.rows {
        Rows::Lines => {}
        Rows::Csv(layout) => {
            let records = csv::scan(&mut block.text, block.first_line, layout, refuse)?;
            block.with_rows = records.with_rows;
            return Ok(records.found);
        }
        #[cfg(feature = "columns")]
        Rows::Columns(columns) => {
            return columns.scan(&mut block.text, block.first_line, &block.part, refuse);
        }
        Rows::Found(found) => return Ok(std::mem::take(found)),
    }
    let block = &*block;
    let mut each_line = |read: fn(&str, Span, u64) -> Result<Option<Found>, ScanError>| {
        let mut found = Vec::new();
        for (line, number) in lines(block).zip(block.first_line..) {
            match read(&block.text, line, number) {
                Ok(record) => found.extend(record),
                Err(error) => refuse(error)?,
            }
        }
        Ok(found)
    };
    match format {
        Format::Kaldi => each_line(kaldi_line),
        Format::Trn => each_line(transcript::trn_line),
        Format::JsonLines => json_lines(block, names, refuse),
        Format::Json => json_map(&block.text, names, whole_file, refuse),
        _ => {
            let found = |(value, number)| Found {
                id: FoundId::Line(block.before + number),
                value,
                form: Form::Line,
                other: None,
                record: Span::default(),
                line: number,
            };
            let mut all = Vec::with_capacity(probable_lines(block));
            all.extend(lines(block).zip(block.first_line..).map(found));
            Ok(all)
        }
    }
}

/// Reads a line `ID TEXT`. The id ends at the first space or tab, and a line without one is an id with an
/// empty text.
fn kaldi_line(text: &str, line: Span, number: u64) -> Result<Option<Found>, ScanError> {
    let of_line = line.slice(text);
    let id_bytes = memchr::memchr2(b' ', b'\t', of_line.as_bytes()).unwrap_or(of_line.len());
    let (id, value) = of_line.split_at(id_bytes);
    if id.is_empty() {
        let found = if of_line.trim_ascii().is_empty() {
            "an empty line"
        } else {
            "white space"
        };
        let problem = format!("found {found}: expected an id, white space, and a text");
        return Err(ScanError::new(line.start, problem));
    }
    Ok(Some(Found {
        id: FoundId::Here(Span::within(text, id)),
        value: Span::within(text, value.trim_ascii()),
        form: Form::Line,
        other: None,
        record: Span::default(),
        line: number,
    }))
}

/// Where the lines of a block start: after the byte order mark at the start of a file. Anywhere else it is a
/// character.
fn start_of_lines(block: &Block) -> usize {
    let is_marked = block.first_line == 1 && block.text.starts_with('\u{feff}');
    if is_marked { 3 } else { 0 }
}

/// The lines of a block, without their ends (`\n` or `\r\n`) and without a byte order mark.
fn lines(block: &Block) -> impl Iterator<Item = Span> {
    let bytes = block.text.as_bytes();
    let mut start = start_of_lines(block);
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let next = ends.next().unwrap_or(bytes.len());
        let line = line_of(bytes, start, next);
        start = next + 1;
        Some(line)
    })
}

/// About the number of lines of a block, from those at its start; of a huge block no more than that of a usual one.
fn probable_lines(block: &Block) -> usize {
    let start = &block.text.as_bytes()[..block.text.len().min(4096)];
    let lines = memchr::memchr_iter(b'\n', start).count() + 1;
    let blocks = block.text.len() / start.len().max(1) + 1;
    (blocks * lines * 9 / 8).min(1 << 19)
}

/// The line between its start and its `\n`.
fn line_of(bytes: &[u8], start: usize, next: usize) -> Span {
    let end = next - usize::from(next > start && bytes[next - 1] == b'\r');
    Span { start, end }
}

/// The records of JSON Lines.
///
/// Nearly all lines differ from the line before them in their values only, and are taken apart by comparing the
/// rest with it.
fn json_lines(
    block: &Block,
    names: &FieldNames,
    refuse: &mut Refuse<'_>,
) -> Result<Vec<Found>, ScanError> {
    let (text, bytes) = (block.text.as_str(), block.text.as_bytes());
    let mut found = Vec::new();
    let (mut start, mut number) = (start_of_lines(block), block.first_line);
    let mut shape: Option<Shape<'_>> = None;
    while start < bytes.len() {
        if let Some((record, next)) = shape.as_ref().and_then(|it| it.read(text, start, number)) {
            found.push(record);
            start = next;
        } else {
            let next = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |it| start + it);
            let line = line_of(bytes, start, next);
            if !line.slice(text).trim_ascii().is_empty() {
                match json_line(text, line, number, names) {
                    Err(error) => refuse(error)?,
                    Ok(record) => {
                        // Null on the path to a value is where other lines have more of the path.
                        let is_cut = names.has_paths && names.allows_null;
                        let is_cut = is_cut && record.has_null(text);
                        shape = (!is_cut).then(|| Shape::from_line(text, &record)).flatten();
                        if found.is_empty() {
                            // About as many as there are lines of this length, and some more.
                            found.reserve((bytes.len() - start) / (next + 1 - start) * 9 / 8 + 1);
                        }
                        found.push(record);
                    }
                }
            }
            start = next + 1;
        }
        number += 1;
    }
    Ok(found)
}

/// The text of a line between its values, which decides which value is which.
///
/// A line with other values in the same positions is read as that line is: the keys are the same, so they are as
/// valid, and a valid value in place of another one leaves JSON valid.
struct Shape<'t> {
    /// The text before each value, and the side that the value belongs to.
    values: [(Fixed<'t>, usize); 3],
    /// The number of values.
    count: usize,
    /// The text after the last value.
    rest: Fixed<'t>,
}

/// A text that all lines have.
#[derive(Clone, Default)]
struct Fixed<'t> {
    text: &'t str,
    short: Option<ShortText>,
}

impl<'t> Fixed<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            short: ShortText::new(text.as_bytes()),
        }
    }

    /// Where the text ends that starts at a position, if it is there.
    #[inline]
    fn end_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let short = self.short.as_ref();
        let found = short.and_then(|short| short.end_at(bytes, at));
        found.or_else(|| {
            let end = at + self.text.len();
            (bytes.get(at..end) == Some(self.text.as_bytes())).then_some(end)
        })
    }
}

impl<'t> Shape<'t> {
    /// The shape of a line that was read.
    fn from_line(text: &'t str, found: &Found) -> Option<Self> {
        let id = match &found.id {
            FoundId::Here(id) if id.start > 0 && text.as_bytes()[id.start - 1] == b'"' => {
                Some(Span::new(id.start - 1, id.end + 1))
            }
            FoundId::Here(id) => Some(*id),
            FoundId::Line(_) => None,
            FoundId::Unescaped(_) => return None,
        };
        let other = found.other.map(|(other, _)| other);
        let mut spans = [id, Some(found.value), other];
        let mut values = <[(Fixed<'_>, usize); 3]>::default();
        let (mut count, mut end) = (0, found.record.start);
        // By their position in the line.
        while let Some((role, span)) = (0..3)
            .filter_map(|role| Some((role, spans[role]?)))
            .min_by_key(|(_, span)| span.start)
        {
            spans[role] = None;
            // One value may be a part of another one, where its name is a path.
            values[count] = (Fixed::new(text.get(end..span.start)?), role);
            count += 1;
            end = span.end;
        }
        Some(Self {
            values,
            count,
            rest: Fixed::new(text.get(end..found.record.end)?),
        })
    }

    /// Reads the line that starts at an offset, and returns where the next one starts; `None` if the line has
    /// another shape, or values that are not plain.
    #[inline]
    fn read(&self, text: &str, start: usize, number: u64) -> Option<(Found, usize)> {
        let bytes = text.as_bytes();
        let mut at = start;
        let mut spans = [(Span::default(), Form::Json); 3];
        for (before, role) in self.values.get(..self.count)? {
            at = before.end_at(bytes, at)?;
            let (end, form) = match role {
                0 => id_end(bytes, at)?,
                _ => value_end(text, at)?,
            };
            spans[*role] = (Span::new(at, end), form);
            at = end;
        }
        let end = self.rest.end_at(bytes, at)?;
        let next = match bytes.get(end) {
            None => end,
            Some(b'\n') => end + 1,
            Some(b'\r') if bytes.get(end + 1) == Some(&b'\n') => end + 2,
            Some(_) => return None,
        };
        let [(id, id_form), (value, form), other] = spans;
        let record = Found {
            id: match id_form {
                _ if id.is_empty() => FoundId::Line(0),
                Form::Plain => FoundId::Here(Span::new(id.start + 1, id.end - 1)),
                _ => FoundId::Here(id),
            },
            value,
            form,
            other: (!other.0.is_empty()).then_some(other),
            record: Span::new(start, end),
            line: number,
        };
        Some((record, next))
    }
}

/// Where an id ends that is a string without escapes, or an integer as it is written in ids.
#[inline]
fn id_end(bytes: &[u8], at: usize) -> Option<(usize, Form)> {
    if let Some((end, is_plain)) = end_of_string(bytes, at) {
        return is_plain.then_some((end, Form::Plain));
    }
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let digits = bytes.get(start..)?.iter();
    let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
    // JSON has no leading zeros, and -0 is the id 0.
    let is_plain = digits > 0 && (bytes[start] != b'0' || (digits == 1 && start == at));
    is_plain.then_some((start + digits, Form::Json))
}

/// Where a value ends that does not go on in the next line.
#[inline]
fn value_end(text: &str, at: usize) -> Option<(usize, Form)> {
    let bytes = text.as_bytes();
    match *bytes.get(at)? {
        b'"' => {
            let (end, is_plain) = end_of_string(bytes, at)?;
            Some((end, if is_plain { Form::Plain } else { Form::Json }))
        }
        b'[' | b'{' => {
            if let Some(end) = end_of_numbers(bytes, at) {
                return Some((end, Form::Json));
            }
            let line = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
            Some((at + end_of_value(text.get(at..line)?)?, Form::Json))
        }
        b'-' | b'0'..=b'9' => Some((end_of_number(bytes, at)?, Form::Json)),
        b't' | b'f' | b'n' => Some((at + end_of_value(text.get(at..)?)?, Form::Json)),
        // Above all white space, which is not part of the value.
        _ => None,
    }
}

/// The length of the value that a text starts with.
fn end_of_value(text: &str) -> Option<usize> {
    let mut scanner = Scanner::new(text);
    scanner.skip_value()?;
    Some(scanner.at())
}

/// A file that is one example, if it is JSON.
pub(crate) fn file_record(text: &str) -> Option<Found> {
    let json = text.trim_start_matches('\u{feff}').trim_ascii();
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    Some(Found {
        id: FoundId::Unescaped(WHOLE_FILE_ID.into()),
        value: Span::within(text, json),
        form: Form::Json,
        other: None,
        record: Span::default(),
        line: 1,
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

/// The list of records of an object that has it as its `data`, next to facts about the data set: DocVQA, InfographicVQA,
/// TextVQA and ST-VQA have this form. An object of values by id may have an id of this name.
fn list_with_facts<'a>(entries: &Entries<'a>, names: &FieldNames) -> Option<&'a str> {
    let list = entries.get("data")?;
    let first = list.trim_ascii_start().strip_prefix('[')?;
    first.trim_ascii_start().starts_with('{').then_some(())?;
    let mut others = entries.0.iter().filter(|(name, _)| name != "data");
    let are_facts = entries.0.len() > 1
        && others.all(|(_, value)| !matches!(kind(value), Kind::List | Kind::Object));
    let has_records = || {
        let mut scanner = Scanner::new(first);
        let record = scanner.raw();
        record.is_some_and(|record| names.has_all(record.0))
    };
    (are_facts || has_records()).then_some(list)
}

/// Says how to read JSON Lines in a file that is read as JSON.
fn in_json_lines(message: Message) -> Message {
    message
        .text("for JSON Lines, one record per line, name the file .jsonl or use ")
        .option("input-format", "jsonl")
}

fn json_map(
    text: &str,
    names: &FieldNames,
    whole_file: fn(&str) -> bool,
    refuse: &mut Refuse<'_>,
) -> Result<Vec<Found>, ScanError> {
    let json = text.trim_start_matches('\u{feff}');
    let error = |error: serde_json::Error| {
        let problem = match error.column() {
            0 => describe(json, &error),
            column => format!("{} at column {column}", describe(json, &error)),
        };
        let problem = if is_json_lines(json) {
            in_json_lines(Message::from(problem).text("; "))
        } else {
            problem.into()
        };
        ScanError::new(offset_of(json, &error) + (text.len() - json.len()), problem)
    };
    if json.trim_ascii_start().starts_with('[') {
        let records: Vec<&RawValue> = serde_json::from_str(json).map_err(error)?;
        return json_list(text, &records, names, refuse);
    }
    let entries: Entries<'_> = serde_json::from_str(json).map_err(error)?;
    if let Some(list) = list_with_facts(&entries, names) {
        let records: Vec<&RawValue> = serde_json::from_str(list).map_err(error)?;
        return json_list(text, &records, names, refuse);
    }
    let is_record = names.are_all_in(&entries) && !is_whole(&entries, whole_file);
    let has_both = names.fields.iter().any(|field| field.role == Role::Other);
    if is_record || has_both {
        let problem = if has_both {
            "found an object: expected a list of records, which have both fields"
        } else {
            "found one record: expected a list of records, or an object of values by id"
        };
        let problem = if is_record {
            in_json_lines(Message::from(problem).text("; "))
        } else {
            problem.into()
        };
        return Err(ScanError::new(text.len() - json.len(), problem));
    }
    let (mut line, mut counted) = (1, 0);
    let mut found = |id, value: &str| {
        let value = Span::within(text, value);
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..value.start]).count() as u64;
        counted = value.start;
        Found {
            id,
            value,
            form: Form::Json,
            other: None,
            record: Span::default(),
            line,
        }
    };
    if is_whole(&entries, whole_file) {
        return Ok(file_record(text).into_iter().collect());
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

/// Reads a list of records.
fn json_list(
    text: &str,
    records: &[&RawValue],
    names: &FieldNames,
    refuse: &mut Refuse<'_>,
) -> Result<Vec<Found>, ScanError> {
    let (mut line, mut counted) = (1, 0);
    let mut found = Vec::with_capacity(records.len());
    for record in records {
        let record = Span::within(text, record.get());
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..record.start]).count() as u64;
        counted = record.start;
        match json_line(text, record, line, names) {
            Ok(record) => found.push(record),
            Err(error) => refuse(error)?,
        }
    }
    Ok(found)
}

/// serde_json's error for `json`, without the position, which is given in another way.
fn describe(json: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = without_position(&text).replace("EOF while parsing", "the text ends within");
    let text = text.as_str();
    if [
        "lone leading surrogate in hex escape",
        "unexpected end of hex escape",
    ]
    .contains(&text)
    {
        return "half of a surrogate pair, which is not a character".to_owned();
    }
    match error.classify() {
        serde_json::error::Category::Data => text.to_owned(),
        _ => match no_number(json, error) {
            Some("NaN") => "malformed JSON: NaN is not a JSON number".to_owned(),
            Some(word) => {
                let written = word.replace("Infinity", "inf");
                format!(
                    "malformed JSON: {word} is not a JSON number (a class score is written {written:?})"
                )
            }
            None => format!("malformed JSON: {text}"),
        },
    }
}

/// Reads one line as a record.
///
/// The shape of nearly all lines, an object whose strings have no escapes, is taken apart here
/// at the speed of a search for quotes; whatever else a value is goes through serde_json.
#[inline]
fn json_line(text: &str, line: Span, number: u64, names: &FieldNames) -> Result<Found, ScanError> {
    let mut cursor = Cursor {
        text,
        at: line.start,
        end: line.end,
    };
    cursor.fields(line, number, names).map_err(|problem| {
        let offset = cursor.at.clamp(line.start, line.end);
        match problem {
            Problem::Content(problem) => ScanError::new(offset, problem),
            // The line is not an object: let serde_json say why.
            Problem::Syntax => {
                let problem = match serde_json::from_str::<IgnoredAny>(line.slice(text)) {
                    Err(error) => {
                        let problem = describe(line.slice(text), &error);
                        let hint = if error.is_eof() {
                            "; each record must be complete, on a single line"
                        } else {
                            ""
                        };
                        format!("{problem} at column {}{hint}", error.column())
                    }
                    Ok(_) => "expected an object with an id".to_owned(),
                };
                ScanError::new(offset, problem)
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
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn fields(&mut self, line: Span, number: u64, names: &FieldNames) -> Result<Found, Problem> {
        // By role: the position of the field, and which of the names it has.
        let mut found: [Option<(Span, Form, usize)>; 3] = [None; 3];
        self.expect(b'{')?;
        if !self.take(b'}') {
            loop {
                let field = self.field(names)?;
                self.expect(b':')?;
                let (value, form) = self.value()?;
                if let Some(index) = field {
                    let role = names.fields[index].role as usize;
                    if let Some((.., before)) = found[role].replace((value, form, index)) {
                        return Err(Problem::Content(names.both(before, index)));
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
        let paths = if names.has_paths {
            &names.fields[..]
        } else {
            &[]
        };
        for (index, field) in paths.iter().enumerate() {
            if let (Some(path), None) = (&field.path, found[field.role as usize]) {
                let inner = names.find(field.role, path, line.slice(self.text));
                let inner = inner.map_err(Problem::Content)?;
                let inner = Span::within(self.text, inner);
                found[field.role as usize] = Some((inner, Form::Json, index));
            }
        }
        let [id, value, other] = found.map(|found| found.map(|(span, form, _)| (span, form)));
        let required = |found: Option<(Span, Form)>, role| {
            found.ok_or_else(|| Problem::Content(names.no_field(role, line.slice(self.text))))
        };
        let id = if names.has_row_ids {
            FoundId::Line(0)
        } else {
            self.id(required(id, Role::Id)?.0)?
        };
        let (value, form) = required(value, Role::Value)?;
        Ok(Found {
            id,
            value,
            form,
            other,
            record: line,
            line: number,
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
        let (key, _) = self.value()?;
        let name = self.name(key)?;
        Ok(names.fields.iter().position(|field| field.name == *name))
    }

    /// The text of a string; those with escapes are rare and read by serde_json.
    #[inline]
    fn name(&self, key: Span) -> Result<Cow<'a, str>, Problem> {
        let inner = self.string_inner(key).ok_or(Problem::Syntax)?;
        let text = inner.slice(self.text);
        if text.contains('\\') {
            let unescaped = serde_json::from_str(key.slice(self.text));
            return unescaped.map(Cow::Owned).map_err(|error| {
                let problem = describe(key.slice(self.text), &error);
                Problem::Content(Message::from(format!("no text: {problem}")))
            });
        }
        Ok(Cow::Borrowed(text))
    }

    #[inline]
    fn id(&self, id: Span) -> Result<FoundId, Problem> {
        let text = id.slice(self.text);
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
        while self.at < self.end && matches!(bytes[self.at], b' ' | b'\t' | b'\r' | b'\n') {
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
    fn value(&mut self) -> Result<(Span, Form), Problem> {
        self.skip_space();
        let start = self.at;
        let rest = &self.text[start..self.end];
        let mut form = Form::Json;
        if let Some((length, is_plain)) = end_of_string(rest.as_bytes(), 0) {
            self.at = start + length;
            if is_plain {
                form = Form::Plain;
            }
        } else if let Some(end) =
            end_of_numbers(self.text.as_bytes(), start).filter(|end| *end <= self.end)
        {
            self.at = end;
        } else if let Some(length) = end_of_value(rest) {
            self.at = start + length;
        } else {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter();
            let value: &RawValue = match values.next() {
                Some(Ok(value)) => value,
                _ => return Err(Problem::Syntax),
            };
            self.at = start + value.get().len();
        }
        Ok((Span::new(start, self.at), form))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use metric_record::Value;

    use super::*;

    fn names() -> FieldNames {
        FieldNames::new([
            ("id", Role::Id, "id-field"),
            ("reference", Role::Value, "reference-field"),
            ("references", Role::Value, "reference-field"),
        ])
    }

    #[test]
    fn lists_next_to_facts_about_the_data() {
        let scan_json = |text: &str| {
            let mut block = Block::lines(text.to_owned(), 1);
            let found = scan(&mut block, Format::Json, &names(), |_| false)?;
            let read = |found: &Found| {
                let value = found.value.slice(text).to_owned();
                (found.id(text).to_string(), value, found.line)
            };
            Ok::<_, ScanError>(found.iter().map(read).collect::<Vec<_>>())
        };
        let records = "[{\"id\": 7, \"reference\": [\"a\"]},\n {\"id\": 8, \"reference\": 1}]";
        let expected = [("7", "[\"a\"]", 1), ("8", "1", 2)];
        let expected = expected.map(|(id, value, line)| (id.to_owned(), value.to_owned(), line));
        for text in [
            records.to_owned(),
            format!("{{\"data\": {records}}}"),
            format!(
                "{{\"dataset_name\": \"x\", \"version\": 1.0, \"data\": {records}, \"split\": null}}"
            ),
        ] {
            assert_eq!(scan_json(&text).expect("records"), expected, "{text}");
        }
        // One line of JSON Lines.
        let one = "{\"id\": 7, \"reference\": \"a\"}";
        let problem = scan_json(one).expect_err("one record").problem;
        let problem = problem.to_string();
        assert!(
            problem.ends_with("name the file .jsonl or use --input-format jsonl"),
            "{problem}"
        );
        // An object of values by id.
        for (text, ids) in [
            (
                format!("{{\"data\": {records}, \"b\": [1]}}"),
                &["data", "b"][..],
            ),
            ("{\"data\": [{\"x\": 1}]}".to_owned(), &["data"]),
            ("{\"data\": [1, 2], \"b\": 1}".to_owned(), &["data", "b"]),
            ("{\"data\": \"a\", \"b\": \"c\"}".to_owned(), &["data", "b"]),
        ] {
            let found = scan_json(&text).expect("values by id");
            let found: Vec<&str> = found.iter().map(|(id, ..)| id.as_str()).collect();
            // The first has lists only, and could have records.
            let expected = if text.contains("reference") && ids.len() > 1 {
                &["7", "8"][..]
            } else {
                ids
            };
            assert_eq!(found, expected, "{text}");
        }
        let error =
            scan_json("{\"name\": \"x\", \"data\": [{\"questionId\": 7, \"reference\": 1}]}");
        let problem = error.expect_err("no id").problem.to_string();
        assert!(
            problem.contains("did you mean --id-field questionId?"),
            "{problem}"
        );
    }

    fn scan_line(line: &str) -> Result<Vec<Found>, ScanError> {
        let mut block = Block::lines(line.to_owned(), 1);
        scan(&mut block, Format::JsonLines, &names(), |_| false)
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
            let mut block = Block::lines(text, first_line);
            let found = scan(&mut block, Format::Text, &names(), |_| false).expect("lines");
            found
                .iter()
                .map(|found| found.value.slice(&block.text).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(values(1), ["a", "\u{feff}b"]);
        assert_eq!(values(2), ["\u{feff}a", "\u{feff}b"]);
    }

    #[test]
    fn white_space_before_a_value_is_no_part_of_it() {
        for value in [
            "\"a\"",
            "\"\\n\"",
            "[1]",
            "{\"x\": 1}",
            "-1",
            "null",
            "true",
        ] {
            let lines =
                format!("{{\"id\":0,\"reference\":1}}\n{{\"id\": 1,\"reference\":\t {value}}}");
            let mut block = Block::lines(lines, 1);
            let found = scan(&mut block, Format::JsonLines, &names(), |_| false).expect("records");
            assert_eq!(found[1].value.slice(&block.text), value);
            assert_eq!(found[1].id(&block.text).to_string(), "1");
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_is_named() {
        for line in [
            r#"{"id": "\ud800", "reference": 1}"#,
            r#"{"\ud800x": 1, "id": 1, "reference": 1}"#,
        ] {
            let error = scan_line(line).expect_err("no text");
            let problem = "no text: half of a surrogate pair, which is not a character";
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
            position in 0_usize..3,
        ) {
            let mut fields = vec![
                format!("\"id\"{spaces}:{id}"),
                format!("{spaces}\"reference\":{spaces}{value}{spaces}"),
            ];
            fields.insert(position, format!("\"more\" : {other}"));
            let line = format!("{spaces}{{{}}}{spaces}", fields.join(","));
            let found = scan_line(&line).expect("a record");
            prop_assert_eq!(found.len(), 1);
            let expected = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
            prop_assert_eq!(found[0].id(&line).to_string(), expected);
            let text = found[0].value.slice(&line);
            prop_assert_eq!(serde_json::from_str::<Json>(text).expect("JSON"), value);
        }

        /// A line that is compared with the one before it is read as it is read alone.
        #[test]
        fn lines_are_read_as_if_alone(
            lines in proptest::collection::vec((
                proptest::sample::select(vec![
                    "{\"id\":ID,\"reference\":VALUE}", "{\"id\":ID,\"reference\":VALUE}",
                    "{\"id\":ID,\"reference\":VALUE}", "{\"reference\": VALUE, \"id\": ID}",
                    " {\"id\" :ID, \"x\": [1, \"}\"],\"reference\":VALUE } ", "{\"id\":ID,\"references\":VALUE}",
                    "{\"id\":ID,\"reference\":VALUE,\"prediction\":ID}", "{\"id\":\"ID\",\"reference\":\"VALUE\"}",
                    "{\"id\":ID,\"reference\":VALUE,\"reference\":1}", "{\"id\":ID}", "", "ID",
                ]),
                proptest::sample::select(vec![
                    "1", "22", "\"a\"", "\"\"", "\"bc\"", "-3", "0", "-0", "01", "1.5", "\"\\u0041\"", "null", "1e",
                ]),
                proptest::sample::select(vec![
                    "1", "-2.5e3", "\"abcdefghijklmnopqrstuvwxyz\"", "\"a\\n\"", "\"\"", "[1, 2]", "[[1],[2]]", "[1,",
                    "{\"a\": [\"]\"]}", "null", "true", "nul", "\"a", "01", "\"\u{1}\"", "\"é\"", "[\"a\", 1]", "{",
                ]),
                proptest::sample::select(vec!["\n", "\n", "\r\n"]),
            ), 1..6),
        ) {
            let names = FieldNames::new([
                ("id", Role::Id, "id-field"),
                ("reference", Role::Value, "reference-field"),
                ("references", Role::Value, "reference-field"),
                ("prediction", Role::Other, "prediction-field"),
            ]);
            let lines = lines.iter().map(|(shape, id, value, end)| {
                shape.replace("ID", id).replace("VALUE", value) + end
            });
            let lines: Vec<String> = lines.collect();
            let read = |text: &str, first_line| {
                let mut block = Block::lines(text.to_owned(), first_line);
                let found = scan(&mut block, Format::JsonLines, &names, |_| false);
                let found = found.map_err(|error| (block.line_at(error.offset), error.problem.to_string()))?;
                let seen = found.iter().map(|found| {
                    let json = |value: Option<Value<'_>>| {
                        let value = value.map(|mut value| (value.kind(), value.text(), value.to_json().map(|it| it.map(Cow::into_owned))));
                        format!("{value:?}")
                    };
                    let (id, record) = (found.id(text).to_string(), found.record(text).map(str::to_owned));
                    (id, json(Some(found.value(text))), json(found.other(text)), record, found.line)
                });
                Ok(seen.collect::<Vec<_>>())
            };
            let mut alone = Ok(Vec::new());
            for (line, number) in lines.iter().zip(1..) {
                let one: Result<Vec<_>, (u64, String)> = read(line, number);
                alone = alone.and_then(|mut all: Vec<_>| {
                    all.extend(one?);
                    Ok(all)
                });
            }
            prop_assert_eq!(read(&lines.concat(), 1), alone);
        }

        #[test]
        fn takes_no_line_that_serde_json_refuses(
            // Fragments of records, in any order: most are not JSON, some nearly so.
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
