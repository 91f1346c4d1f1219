//! Texts as blocks of whole lines, or of whole records where these span lines.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use metric_record::ReadError;

use super::unreadable::{NO_TEXT, cannot_read, not_utf8, refuse_zeros, too_long};
use super::{Source, Stream};
use crate::RunError;
use crate::block::{Block, Rows, scan_error};
use crate::fields::FieldNames;
use crate::formats::Format;
use crate::formats::csv::{CsvOptions, Dialect, Layout};
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
    /// The error in the line after those that were read.
    failed: Option<RunError>,
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
            buffer: Vec::new(),
            block_bytes: BLOCK_BYTES,
            next_line: 1,
            spare: Vec::new(),
            ended: false,
            is_started: false,
            failed: None,
            max_bytes,
        })
    }

    /// The number of lines that were read.
    pub(super) fn lines(&self) -> u64 {
        self.next_line - 1
    }

    /// Whether all has been read.
    pub(super) fn at_end(&self) -> bool {
        self.ended && self.failed.is_none()
    }

    /// The next block, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Block>, RunError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.ended {
            return Ok(None);
        }
        let end = self.fill()?;
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
        self.next_line += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        if self.ended && !text.ends_with('\n') {
            self.next_line += 1;
        }
        let line_bytes = text.len() as u64 / (self.next_line - first_line).max(1);
        let block_bytes = (line_bytes + 1).saturating_mul(BLOCK_LINES);
        self.block_bytes =
            usize::try_from(block_bytes).map_or(BLOCK_BYTES, |it| it.min(BLOCK_BYTES));
        Ok(Some(Block {
            rows: self.rows(&text)?,
            text,
            first_line,
            before: 0,
            part: Arc::clone(&self.part),
        }))
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
            let bytes = &self.buffer[..end];
            let valid = match simdutf8::compat::from_utf8(bytes) {
                Ok(valid) => valid,
                Err(error) => {
                    let valid = &bytes[..error.valid_up_to()];
                    let error = not_utf8(&self.part.file, self.next_line, bytes, valid.len());
                    let error = self.in_words(error);
                    // The lines before that one come first.
                    let lines = match self.format {
                        Format::Json => None,
                        format if format.spans_lines() => None,
                        _ => memchr::memrchr(b'\n', valid),
                    };
                    let lines = lines.and_then(|end| std::str::from_utf8(&valid[..=end]).ok());
                    let Some(lines) = lines else {
                        return Err(error);
                    };
                    self.failed = Some(error);
                    lines
                }
            };
            let mut text = self.spare.pop().unwrap_or_default();
            text.clear();
            text.push_str(valid);
            self.buffer.drain(..end);
            Ok(text)
        } else {
            let rest = self.buffer.split_off(end);
            let bytes = std::mem::replace(&mut self.buffer, rest);
            String::from_utf8(bytes).map_err(|error| {
                let valid = error.utf8_error().valid_up_to();
                self.in_words(not_utf8(
                    &self.part.file,
                    self.next_line,
                    error.as_bytes(),
                    valid,
                ))
            })
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
        let layout = Layout::read(text, csv.dialect, &csv.options, &csv.names);
        let layout = layout.map_err(|error| scan_error(&self.part.file, 1, error))?;
        self.part = Arc::new(Part {
            file: self.part.file.clone(),
            unit: Unit::FirstLine,
            columns: layout.column_names(),
        });
        let layout = csv.layout.insert(Arc::new(layout));
        Ok(Rows::Csv(Arc::clone(layout)))
    }

    /// Says the line of an error in words, where records may span lines.
    fn in_words(&self, error: RunError) -> RunError {
        match error {
            RunError::Read(mut error) if self.format.spans_lines() => {
                if let Some(location) = error.problem.to_string().strip_prefix(NO_TEXT) {
                    error.problem = format!("found a zero byte{location}: expected text").into();
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
