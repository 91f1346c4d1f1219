//! Texts as blocks of whole lines, or of whole records where these span lines.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use metric_record::{Message, ReadError};

use super::unreadable::{NO_TEXT, cannot_read, not_utf8, refuse_zeros, too_long};
use super::{Source, Stream};
use crate::RunError;
use crate::block::{Block, Rows, scan_error};
use crate::fields::FieldNames;
use crate::formats::Format;
use crate::formats::csv::{CsvOptions, Dialect, Layout, delimiter_name, separator_line};
use crate::part::{Part, Unit};

/// The size in bytes of a block of lines, unless a line is longer: large enough to spread over
/// threads, small enough to stay in the cache between reading and scoring.
const BLOCK_BYTES: usize = 64 * 1024;

/// The approximate number of lines in a block of short lines. The data found in a short line takes many times its
/// bytes, so a block of [`BLOCK_BYTES`] would not stay in the cache.
const BLOCK_LINES: u64 = 2048;

/// Room that reading to the end wants beyond what there is to read.
const PROBE_BYTES: usize = 64;

/// The options for reading a CSV file.
struct Csv {
    dialect: Dialect,
    options: CsvOptions,
    names: FieldNames,
    /// The columns, known after the first block.
    layout: Option<Arc<Layout>>,
}

/// Reads a text block by block.
pub(super) struct TextBlocks {
    reader: Stream,
    part: Arc<Part>,
    /// A source of JSON is one block.
    format: Format,
    /// Whether the format is the one of sources without a name, which may have another one.
    is_usual: bool,
    csv: Option<Csv>,
    /// Text that has been read and is not in a block yet: the start of a line.
    buffer: Vec<u8>,
    /// The size in bytes of the next block, unless a line is longer.
    block_bytes: usize,
    next_line: u64,
    /// The memory of blocks that are done with.
    spare: Vec<String>,
    ended: bool,
    is_started: bool,
    /// The error in the line before the buffer, which comes after those that were read.
    failed: Option<RunError>,
    /// Whether the last error was that of a line before the buffer.
    is_past_line: bool,
    /// Whether the buffer ends within a malformed record.
    is_cut: bool,
    max_bytes: u64,
}

impl TextBlocks {
    /// Opens a file of text.
    pub(super) fn open(
        source: &Source,
        format: Format,
        names: &FieldNames,
        progress: &Arc<AtomicU64>,
        max_bytes: u64,
    ) -> Result<Self, RunError> {
        Ok(Self {
            reader: source.stream(Arc::clone(progress))?,
            csv: format.is_csv().then(|| Csv {
                dialect: Dialect {
                    delimiter: source.csv.delimiter.unwrap_or(match format {
                        Format::Tsv => b'\t',
                        _ => b',',
                    }),
                    has_quotes: source.csv.has_quotes,
                },
                options: source.csv,
                names: names.clone(),
                layout: None,
            }),
            part: Arc::new(Part {
                file: source.name(),
                ..Part::default()
            }),
            format,
            is_usual: source.has_usual_format(),
            buffer: Vec::new(),
            block_bytes: BLOCK_BYTES,
            next_line: 1,
            spare: Vec::new(),
            ended: false,
            is_started: false,
            failed: None,
            is_past_line: false,
            is_cut: false,
            max_bytes,
        })
    }

    /// The number of lines that were read.
    pub(super) fn lines(&self) -> u64 {
        self.next_line - 1
    }

    /// Whether all has been read.
    pub(super) fn at_end(&self) -> bool {
        self.ended && self.buffer.is_empty() && self.failed.is_none()
    }

    /// Whether the last error was that of a line, after which reading goes on; asked once.
    pub(super) fn take_past_line(&mut self) -> bool {
        std::mem::take(&mut self.is_past_line)
    }

    /// The next block, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Block>, RunError> {
        if let Some(error) = self.failed.take() {
            self.is_past_line = true;
            return Err(error);
        }
        if self.at_end() {
            return Ok(None);
        }
        let end = if self.ended {
            self.buffer.len()
        } else {
            self.fill()?
        };
        let first_line = self.next_line;
        let bytes = &self.buffer[..end];
        if bytes.is_empty() {
            let problem = match self.format {
                Format::Json => "is empty: expected a JSON object",
                format if format.is_csv() && first_line == 1 => "is empty: expected a header",
                _ => return Ok(None),
            };
            return Err(ReadError::new(&self.part.file, problem).into());
        }
        let text = self.take_text(end)?;
        let lines = self.next_line - first_line;
        let line_bytes = text.len() as u64 / lines.max(1);
        let block_bytes = (line_bytes + 1).saturating_mul(BLOCK_LINES);
        self.block_bytes =
            usize::try_from(block_bytes).map_or(BLOCK_BYTES, |it| it.min(BLOCK_BYTES));
        Ok(Some(Block {
            rows: self.rows(&text)?,
            text,
            first_line,
            before: 0,
            with_rows: Vec::new(),
            refused: None,
            part: Arc::clone(&self.part),
        }))
    }

    /// Refuses a source without a name that does not start like JSON Lines.
    fn refuse_other_format(&self) -> Result<(), RunError> {
        let start = self
            .buffer
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.buffer);
        let start = start.trim_ascii_start();
        if !self.is_usual || start.is_empty() || start.starts_with(b"{") {
            return Ok(());
        }
        let problem = "expected JSON Lines, one object per line: for another format, use ";
        let problem = Message::from(problem).option("input-format", "");
        Err(ReadError::new(&self.part.file, problem).line(1).into())
    }

    /// Reads until the buffer has a whole block. Returns where that ends.
    fn fill(&mut self) -> Result<usize, RunError> {
        let mut wanted = self.block_bytes;
        let mut searched = 0;
        loop {
            let start = self.buffer.len();
            let limit = wanted.saturating_sub(start) as u64;
            // Reading would not ask whether there is so much memory, nor for the room to see that it ends.
            let room = self
                .buffer
                .try_reserve(wanted.saturating_sub(start) + PROBE_BYTES);
            room.map_err(|error| cannot_read(&self.part.file, &error.into()))?;
            let count = (&mut self.reader)
                .take(limit)
                .read_to_end(&mut self.buffer)
                .map_err(|error| cannot_read(&self.part.file, &error))?;
            if !std::mem::replace(&mut self.is_started, true) {
                self.format.refuse_start(&self.part.file, &self.buffer)?;
                self.refuse_other_format()?;
            }
            if !matches!(self.format, Format::Text | Format::Kaldi) {
                refuse_zeros(&self.part.file, self.next_line, &self.buffer, start)
                    .map_err(|error| self.in_words(error))?;
            }
            if (count as u64) < limit {
                self.ended = true;
                return Ok(self.buffer.len());
            }
            if let Some(csv) = &self.csv {
                if let Some(length) = csv.dialect.whole_records(&self.buffer) {
                    return Ok(length);
                }
                // The end of a malformed record is not waited for.
                if csv.dialect.is_malformed(&self.buffer) {
                    self.ended = true;
                    self.is_cut = true;
                    return Ok(self.buffer.len());
                }
            } else if self.format != Format::Json {
                if let Some(offset) = memchr::memrchr(b'\n', &self.buffer[searched..]) {
                    return Ok(searched + offset + 1);
                }
                searched = self.buffer.len();
            }
            if self.buffer.len() as u64 >= self.max_bytes {
                let what = match self.format {
                    Format::Json => "the file",
                    _ => "the line",
                };
                let error = ReadError::new(&self.part.file, too_long(what, self.max_bytes));
                return Err(error.line(self.next_line).limit().into());
            }
            // Memory for twice as much, unless that is not allowed.
            wanted = (2 * wanted).min(usize::try_from(self.max_bytes).unwrap_or(usize::MAX));
        }
    }

    /// Takes a text from the start of the buffer. If a line is not UTF-8, takes the lines before it, and keeps the error.
    fn take_text(&mut self, end: usize) -> Result<String, RunError> {
        // A copy within the cache costs less than what the faster validation saves, and keeps the
        // buffer; a text that is larger than the cache is validated where it is.
        if end <= 2 * BLOCK_BYTES {
            match simdutf8::compat::from_utf8(&self.buffer[..end]) {
                Ok(valid) => {
                    let mut text = self.spare.pop().unwrap_or_default();
                    text.clear();
                    text.push_str(valid);
                    self.drop_bytes(end);
                    Ok(text)
                }
                Err(error) => self.take_valid_lines(error.valid_up_to(), end),
            }
        } else {
            let rest = self.buffer.split_off(end);
            match String::from_utf8(std::mem::replace(&mut self.buffer, rest)) {
                Ok(text) => {
                    self.count_lines(LineCount::of(text.as_bytes()));
                    Ok(text)
                }
                Err(error) => {
                    let valid = error.utf8_error().valid_up_to();
                    let rest = std::mem::replace(&mut self.buffer, error.into_bytes());
                    self.buffer.extend(rest);
                    self.take_valid_lines(valid, end)
                }
            }
        }
    }

    /// Takes the lines before the one in which the bytes cease to be text, and leaves those after it.
    fn take_valid_lines(&mut self, valid: usize, end: usize) -> Result<String, RunError> {
        let bytes = &self.buffer[..end];
        let error = self.in_words(not_utf8(&self.part.file, self.next_line, bytes, valid));
        let Some((start, next)) = self.record_around(valid, end) else {
            return Err(error);
        };
        let text = std::str::from_utf8(&bytes[..start]).unwrap_or_default();
        let text = text.to_owned();
        self.drop_bytes(next);
        self.failed = Some(error);
        Ok(text)
    }

    /// Where the line or the record of CSV around an index starts and ends, unless nothing after it can be read.
    fn record_around(&self, index: usize, end: usize) -> Option<(usize, usize)> {
        let before = &self.buffer[..index];
        let after_line = |end: usize| end + 1;
        match &self.csv {
            None if self.format == Format::Json => None,
            None => {
                let start = memchr::memrchr(b'\n', before).map_or(0, after_line);
                let next = memchr::memchr(b'\n', &self.buffer[index..end]);
                Some((start, next.map_or(end, |it| index + it + 1)))
            }
            Some(csv) => {
                let start = csv.dialect.whole_records(before).unwrap_or(0);
                // Without its header, a table cannot be read.
                let has_header = csv.layout.is_some() || start > 0;
                let of_record = &self.buffer[start..end];
                let length = csv.dialect.record_len(of_record, index - start);
                (has_header && !self.is_cut).then_some((start, start + length))
            }
        }
    }

    /// Drops bytes from the start of the buffer, and counts their lines.
    fn drop_bytes(&mut self, end: usize) {
        let lines = LineCount::of(&self.buffer[..end]);
        self.buffer.drain(..end);
        self.count_lines(lines);
    }

    /// Counts lines that have left the buffer.
    fn count_lines(&mut self, lines: LineCount) {
        self.next_line += lines.ended;
        if self.ended && self.buffer.is_empty() && lines.has_rest {
            self.next_line += 1;
        }
    }

    /// The form in which a block with this text holds its records.
    fn rows(&mut self, text: &str) -> Result<Rows, RunError> {
        let Some(csv) = &mut self.csv else {
            return Ok(Rows::Lines);
        };
        if let Some(layout) = &csv.layout {
            return Ok(Rows::Csv(Arc::clone(layout)));
        }
        if let Some((delimiter, _)) = separator_line(text) {
            let given = *csv.options.delimiter.get_or_insert(delimiter);
            if given != delimiter {
                let problem = format!(
                    "the first line says that {:?} separates the fields: remove the line, or use ",
                    char::from(delimiter)
                );
                let problem = Message::from(problem);
                let problem = problem.option("delimiter", &delimiter_name(delimiter));
                return Err(ReadError::new(&self.part.file, problem).into());
            }
            csv.dialect.delimiter = delimiter;
        }
        let layout = Layout::read(text, csv.dialect, &csv.options, &csv.names);
        let layout = layout.map_err(|error| scan_error(&self.part.file, Some(1), error))?;
        self.part = Arc::new(Part {
            file: self.part.file.clone(),
            unit: Unit::FirstLine,
            columns: layout.column_names(),
            further: layout.further_names(),
        });
        let layout = csv.layout.insert(Arc::new(layout));
        Ok(Rows::Csv(Arc::clone(layout)))
    }

    /// Says the line of an error in words, where records may span lines.
    fn in_words(&self, error: RunError) -> RunError {
        match error {
            RunError::Read(mut error) if self.format.spans_lines() => {
                if let Some(location) = error.problem.to_string().strip_prefix(NO_TEXT) {
                    let (location, hint) = location.split_once("; ").unwrap_or((location, ""));
                    let hint = if hint.is_empty() {
                        String::new()
                    } else {
                        format!("; {hint}")
                    };
                    let problem = format!("found a zero byte{location}: expected text{hint}");
                    error.problem = problem.into();
                }
                if let Some(line) = error.line.take() {
                    error.record = format!("line {line}");
                }
                RunError::Read(error)
            }
            error => error,
        }
    }

    /// Takes back a block that is done with, to reuse its memory.
    pub(super) fn recycle(&mut self, block: Block) {
        if block.text.capacity() <= 4 * BLOCK_BYTES && self.spare.len() < 64 {
            self.spare.push(block.text);
        }
    }
}

/// The lines of bytes.
#[derive(Clone, Copy)]
struct LineCount {
    ended: u64,
    /// Whether there is a line without its end.
    has_rest: bool,
}

impl LineCount {
    fn of(bytes: &[u8]) -> Self {
        Self {
            ended: memchr::memchr_iter(b'\n', bytes).count() as u64,
            has_rest: bytes.last().is_some_and(|last| *last != b'\n'),
        }
    }
}
