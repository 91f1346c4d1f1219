//! Files and standard input as blocks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metric_suite::registry::{Content, Document};

use crate::error::Failure;

/// How many bytes a block of lines has, unless a line is longer: enough to spread over threads,
/// little enough to stay in the cache between its reading and its scoring.
const BLOCK_BYTES: usize = 64 * 1024;

/// How much of a document is read before it is looked at.
const PART_BYTES: usize = 1 << 20;

/// How long a line may be. A longer one is no record, but what memory could not hold: a file with a
/// hole, or one that has no lines.
const MAX_LINE_BYTES: usize = 1 << 30;

/// How records stand in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A JSON object a line.
    JsonLines,
    /// One JSON object: id to value, or one example.
    Json,
    /// A value a line, whose id is the line number.
    Text,
}

#[derive(Clone, Copy, Debug)]
enum Compression {
    None,
    Gzip,
    Zstandard,
}

/// A file or standard input, not yet opened.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// `None` is standard input.
    path: Option<PathBuf>,
    pub(crate) format: Format,
    compression: Compression,
    is_folder: bool,
}

impl Source {
    /// The source of records that `argument` names; `-` is standard input, in JSON Lines.
    pub(crate) fn new(argument: &str) -> Result<Self, Failure> {
        let source = Self::whole(argument)?;
        let Some(path) = &source.path else {
            return Ok(source);
        };
        if source.is_folder {
            return Err(Failure::Input(format!(
                "{argument}: is a folder: expected a file"
            )));
        }
        let stem = match source.compression {
            Compression::None => path.clone(),
            Compression::Gzip | Compression::Zstandard => path.with_extension(""),
        };
        let format = match extension(&stem).as_deref() {
            Some("jsonl" | "ndjson") => Format::JsonLines,
            Some("json") => Format::Json,
            Some("txt") => Format::Text,
            // A pipe that the shell made has no name of its own.
            _ if !path.is_file() => Format::JsonLines,
            _ => {
                return Err(Failure::Usage(format!(
                    "{argument}: the name does not tell the format: expected .jsonl, .json or .txt, also with .gz or .zst"
                )));
            }
        };
        Ok(Self { format, ..source })
    }

    /// The file or folder that `argument` names, whatever it is; `-` is standard input.
    pub(crate) fn whole(argument: &str) -> Result<Self, Failure> {
        if argument == "-" {
            return Ok(Self {
                path: None,
                format: Format::JsonLines,
                compression: Compression::None,
                is_folder: false,
            });
        }
        let path = PathBuf::from(argument);
        let metadata = std::fs::metadata(&path)
            .map_err(|error| Failure::Input(format!("{argument}: cannot open: {error}")))?;
        let compression = match extension(&path).as_deref() {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstandard,
            _ => Compression::None,
        };
        Ok(Self {
            path: Some(path),
            format: Format::Json,
            compression,
            is_folder: metadata.is_dir(),
        })
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// All of it, for a metric that reads it by itself.
    pub(crate) fn document(&self) -> Result<Document, Failure> {
        let name = self.name();
        let content = match &self.path {
            Some(path) if self.is_folder => Content::Folder(path.clone()),
            _ => {
                let failed = |error| Failure::Input(format!("{name}: cannot read: {error}"));
                let mut bytes = Vec::new();
                // The size that it has at least, as far as it is known, and room to see that it ends.
                let size = usize::try_from(self.bytes()).unwrap_or(usize::MAX);
                bytes
                    .try_reserve_exact(size.saturating_add(PART_BYTES + 1))
                    .map_err(|error| failed(error.into()))?;
                let mut reader = self.reader(Arc::default())?;
                loop {
                    let start = bytes.len();
                    // Reading would not ask whether there is so much memory.
                    bytes
                        .try_reserve(PART_BYTES + 1)
                        .map_err(|error| failed(error.into()))?;
                    let part = (&mut reader)
                        .take(PART_BYTES as u64)
                        .read_to_end(&mut bytes);
                    if part.map_err(failed)? == 0 {
                        break;
                    }
                    refuse_zeros(&name, 1, &bytes, start)?;
                }
                let text = String::from_utf8(bytes).map_err(|error| {
                    let valid = error.utf8_error().valid_up_to();
                    not_utf8(&name, 1, error.as_bytes(), valid)
                })?;
                Content::Text(text)
            }
        };
        Ok(Document { name, content })
    }

    /// Whether the source can be read a second time.
    pub(crate) fn is_rereadable(&self) -> bool {
        self.path.as_deref().is_some_and(Path::is_file)
    }

    /// The size on disk; 0 if it is not known.
    pub(crate) fn bytes(&self) -> u64 {
        self.path
            .as_deref()
            .and_then(|path| std::fs::metadata(path).ok())
            .map_or(0, |metadata| metadata.len())
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "standard input".to_owned(),
        }
    }

    /// The text of the source as it comes; `progress` counts the bytes as they are read from disk.
    fn reader(&self, progress: Arc<AtomicU64>) -> Result<Box<dyn Read + Send + Sync>, Failure> {
        let mut left = 0;
        let raw: Box<dyn Read + Send + Sync> = match &self.path {
            Some(path) => {
                let file = File::open(path).map_err(|error| {
                    Failure::Input(format!("{}: cannot open: {error}", self.name()))
                })?;
                let metadata = file.metadata().ok().filter(|metadata| metadata.is_file());
                left = metadata.map_or(0, |metadata| metadata.len());
                Box::new(file)
            }
            None => Box::new(io::stdin()),
        };
        let counted = Counted {
            inner: raw,
            bytes: progress,
            left,
        };
        Ok(match self.compression {
            Compression::None => Box::new(counted),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(counted)),
            Compression::Zstandard => {
                let decoder = zstd::stream::read::Decoder::new(counted)
                    .map_err(|error| Failure::Input(format!("{}: {error}", self.name())))?;
                Box::new(decoder)
            }
        })
    }

    /// Opens the source; `progress` counts the bytes as they are read from disk.
    pub(crate) fn open(&self, progress: &Arc<AtomicU64>) -> Result<Blocks, Failure> {
        Ok(Blocks {
            reader: self.reader(Arc::clone(progress))?,
            name: self.name(),
            format: self.format,
            buffer: Vec::new(),
            next_line: 1,
            spare: Vec::new(),
            ended: false,
        })
    }
}

fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    Some(extension.to_ascii_lowercase())
}

struct Counted {
    inner: Box<dyn Read + Send + Sync>,
    bytes: Arc<AtomicU64>,
    /// How much a file had, when it was opened, beyond what was read.
    left: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            let problem = "the file became shorter while it was read";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        self.left = self.left.saturating_sub(count as u64);
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Whole lines of a source.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
}

impl Block {
    /// The number of the line in which `offset` lies.
    pub(crate) fn line_at(&self, offset: usize) -> u64 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        self.first_line + memchr::memchr_iter(b'\n', before).count() as u64
    }
}

/// Reads a source block by block.
pub(crate) struct Blocks {
    reader: Box<dyn Read + Send + Sync>,
    name: String,
    /// A source of JSON is one block.
    format: Format,
    /// What has been read and is in no block yet: the start of a line.
    buffer: Vec<u8>,
    next_line: u64,
    /// The memory of blocks that are done with.
    spare: Vec<String>,
    ended: bool,
}

impl Blocks {
    /// The next block, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, Failure> {
        if self.ended {
            return Ok(None);
        }
        let mut wanted = BLOCK_BYTES;
        let mut searched = 0;
        let end = loop {
            let start = self.buffer.len();
            let limit = wanted.saturating_sub(start) as u64;
            let count = (&mut self.reader)
                .take(limit)
                .read_to_end(&mut self.buffer)
                .map_err(|error| Failure::Input(format!("{}: cannot read: {error}", self.name)))?;
            if self.format != Format::Text {
                refuse_zeros(&self.name, self.next_line, &self.buffer, start)?;
            }
            if (count as u64) < limit {
                self.ended = true;
                break self.buffer.len();
            }
            if self.format != Format::Json {
                if let Some(place) = memchr::memrchr(b'\n', &self.buffer[searched..]) {
                    break searched + place + 1;
                }
                searched = self.buffer.len();
                if searched >= MAX_LINE_BYTES {
                    return Err(Failure::Input(format!(
                        "{}:{}: the line is longer than {} MiB",
                        self.name,
                        self.next_line,
                        MAX_LINE_BYTES >> 20
                    )));
                }
            }
            wanted *= 2;
        };
        let first_line = self.next_line;
        let bytes = &self.buffer[..end];
        if bytes.is_empty() {
            if self.format == Format::Json {
                return Err(Failure::Input(format!(
                    "{}: is empty: expected a JSON object",
                    self.name
                )));
            }
            return Ok(None);
        }
        // A copy within the cache costs less than what the faster validation saves, and keeps the
        // buffer; a text that is larger than the cache is validated where it is.
        let text = if end <= 2 * BLOCK_BYTES {
            let valid = simdutf8::compat::from_utf8(bytes).map_err(|error| {
                not_utf8(&self.name, self.next_line, bytes, error.valid_up_to())
            })?;
            let mut text = self.spare.pop().unwrap_or_default();
            text.clear();
            text.push_str(valid);
            self.buffer.drain(..end);
            text
        } else {
            let rest = self.buffer.split_off(end);
            let bytes = std::mem::replace(&mut self.buffer, rest);
            String::from_utf8(bytes).map_err(|error| {
                let valid = error.utf8_error().valid_up_to();
                not_utf8(&self.name, self.next_line, error.as_bytes(), valid)
            })?
        };
        self.next_line += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        Ok(Some(Block { text, first_line }))
    }

    /// Whether all has been read.
    pub(crate) fn at_end(&self) -> bool {
        self.ended
    }

    /// Takes back a block that is done with, to reuse its memory.
    pub(crate) fn recycle(&mut self, block: Block) {
        if block.text.capacity() <= 4 * BLOCK_BYTES && self.spare.len() < 64 {
            self.spare.push(block.text);
        }
    }
}

/// Says where the bytes from this line on cease to be text.
fn not_utf8(name: &str, first_line: u64, bytes: &[u8], valid: usize) -> Failure {
    unreadable(name, first_line, bytes, valid, "not UTF-8")
}

/// Fails at the first zero byte from `start` on. No JSON and no XML has one, but a hole in a file
/// reads as zeros, however large it is, and so does text of two bytes a character.
fn refuse_zeros(name: &str, first_line: u64, bytes: &[u8], start: usize) -> Result<(), Failure> {
    match memchr::memchr(0, &bytes[start..]) {
        Some(place) => {
            let place = start + place;
            // What is wrong before that comes first.
            let valid = std::str::from_utf8(&bytes[..place]);
            let place = valid.map_or_else(|error| error.valid_up_to(), str::len);
            let problem = match bytes.get(place) {
                Some(0) => "no text",
                _ => "not UTF-8",
            };
            Err(unreadable(name, first_line, bytes, place, problem))
        }
        None => Ok(()),
    }
}

fn unreadable(name: &str, first_line: u64, bytes: &[u8], place: usize, problem: &str) -> Failure {
    let before = &bytes[..place];
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    let column = place - memchr::memrchr(b'\n', before).map_or(0, |start| start + 1) + 1;
    let byte = bytes.get(place).copied().unwrap_or_default();
    Failure::Input(format!(
        "{name}:{line}: {problem}: byte 0x{byte:02x} at byte {column} of the line"
    ))
}
