//! Files, standard input and data in memory as blocks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metric_record::{Content, Document, Message, ReadError};

use crate::RunError;

/// How many bytes a block of lines has, unless a line is longer: enough to spread over threads,
/// little enough to stay in the cache between its reading and its scoring.
const BLOCK_BYTES: usize = 64 * 1024;

/// Room that reading to the end wants beyond what there is to read.
const PROBE_BYTES: usize = 64;

/// How much of a document is read before it is looked at.
const PART_BYTES: usize = 1 << 20;

/// How many bytes of data a run holds in memory by default.
pub const DEFAULT_MAX_BYTES: u64 = 8_000_000_000;

/// Says that something takes more memory than allowed.
fn too_long(what: &str, max_bytes: u64) -> Message {
    Message::from(format!("{what} takes more memory than allowed by "))
        .option("max-bytes", &max_bytes.to_string())
}

/// How a source holds records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// One JSON object: id to value, or one example.
    Json,
    /// One value per line, whose id is the line number.
    Text,
    /// One id per line, and after a space or tab the text, as Kaldi's `text` files have it.
    Kaldi,
}

impl Format {
    /// Returns the format that the name of a file tells.
    ///
    /// ```
    /// use metric_run::Format;
    ///
    /// assert_eq!(Format::of_name("truth.JSONL"), Some(Format::JsonLines));
    /// assert_eq!(Format::of_name("truth"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: impl AsRef<Path>) -> Option<Self> {
        match extension(name.as_ref()).as_deref()? {
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "json" => Some(Self::Json),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Compression {
    None,
    Gzip,
    Zstandard,
}

/// Data that are not yet read: a file, a folder, standard input, bytes in memory, or a reader.
#[derive(Clone, Debug)]
pub struct Source {
    origin: Origin,
    /// The format, where it is known.
    format: Option<Format>,
    /// Whether the caller stated the format, rather than the name of a file.
    is_stated: bool,
    compression: Compression,
}

#[derive(Clone)]
enum Origin {
    File(PathBuf),
    Folder(PathBuf),
    StandardInput,
    Memory(String, Arc<[u8]>),
    /// A reader, until it is taken.
    Reader(String, Arc<Mutex<Option<Stream>>>),
}

/// What a source is read from.
type Stream = Box<dyn Read + Send + Sync>;

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Folder(_) => "Folder",
            Self::StandardInput => "StandardInput",
            Self::Memory(..) => "Memory",
            Self::Reader(..) => "Reader",
        })
    }
}

impl Source {
    /// The file or folder at a path. The name of a file tells the format of its records: `.jsonl`,
    /// `.ndjson`, `.json` or `.txt`, also with `.gz` or `.zst`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at the path.
    pub fn path(path: impl Into<PathBuf>) -> Result<Self, RunError> {
        let path = path.into();
        let metadata = std::fs::metadata(&path).map_err(|error| {
            ReadError::new(path.display().to_string(), format!("cannot open: {error}"))
        })?;
        if metadata.is_dir() {
            return Ok(Self {
                origin: Origin::Folder(path),
                format: None,
                is_stated: false,
                compression: Compression::None,
            });
        }
        let compression = match extension(&path).as_deref() {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstandard,
            _ => Compression::None,
        };
        let stem = match compression {
            Compression::None => path.clone(),
            Compression::Gzip | Compression::Zstandard => path.with_extension(""),
        };
        let format = match Format::of_name(&stem) {
            // A pipe that the shell made has no name of its own, nor has a file that it opened.
            None if !metadata.is_file() || is_descriptor(&path) => Some(Format::JsonLines),
            format => format,
        };
        Ok(Self {
            origin: Origin::File(path),
            format,
            is_stated: false,
            compression,
        })
    }

    /// Standard input, in JSON Lines and not compressed.
    #[must_use]
    pub fn standard_input() -> Self {
        Self {
            origin: Origin::StandardInput,
            format: Some(Format::JsonLines),
            is_stated: false,
            compression: Compression::None,
        }
    }

    /// Bytes in memory. The name is for messages.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>, format: Format) -> Self {
        Self {
            origin: Origin::Memory(name.into(), bytes.into()),
            format: Some(format),
            is_stated: true,
            compression: Compression::None,
        }
    }

    /// A reader, which is read once. The name is for messages.
    pub fn reader(
        name: impl Into<String>,
        reader: impl Read + Send + Sync + 'static,
        format: Format,
    ) -> Self {
        let reader: Stream = Box::new(reader);
        Self {
            origin: Origin::Reader(name.into(), Arc::new(Mutex::new(Some(reader)))),
            format: Some(format),
            is_stated: true,
            compression: Compression::None,
        }
    }

    /// The same source with its records in this format, whatever its name says.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self {
            format: Some(format),
            is_stated: true,
            ..self
        }
    }

    /// Returns the format of the records, where the name tells it.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// Returns the format of the records.
    ///
    /// # Errors
    ///
    /// Returns an error if the source is a folder, or if its name does not tell the format.
    pub(crate) fn record_format(&self) -> Result<Format, RunError> {
        if self.is_folder() {
            let problem = "is a folder: expected a file";
            return Err(ReadError::new(self.name(), problem).into());
        }
        self.format.ok_or_else(|| {
            let problem = format!(
                "{}: the name does not tell the format: expected .jsonl, .json or .txt, also with .gz or .zst, or ",
                self.name()
            );
            RunError::Usage(Message::from(problem).option("input-format", ""))
        })
    }

    /// Whether the caller stated the format, rather than the name of a file.
    pub(crate) fn has_stated_format(&self) -> bool {
        self.is_stated
    }

    /// Whether the source is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self.origin, Origin::Folder(_))
    }

    /// Whether the source is standard input.
    #[must_use]
    pub fn is_standard_input(&self) -> bool {
        matches!(self.origin, Origin::StandardInput)
    }

    /// All of it, for a metric that reads it by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, if it is not UTF-8, or if it has more than `max_bytes`
    /// bytes.
    pub fn document(&self, max_bytes: u64) -> Result<Document, RunError> {
        let name = self.name();
        let content = match &self.origin {
            Origin::Folder(path) => Content::Folder(path.clone()),
            _ => {
                let failed = |error: io::Error| cannot_read(&name, &error);
                let mut bytes = Vec::new();
                // The size that it has at least, as far as it is known, and room to see that it ends.
                let size = usize::try_from(self.bytes().min(max_bytes)).unwrap_or(usize::MAX);
                bytes
                    .try_reserve_exact(size.saturating_add(PART_BYTES + 1))
                    .map_err(|error| failed(error.into()))?;
                let mut reader = self.stream(Arc::default())?;
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
                    if bytes.len() as u64 > max_bytes {
                        let error = ReadError::new(&name, too_long("the file", max_bytes));
                        return Err(error.limit().into());
                    }
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
        match &self.origin {
            Origin::File(path) => path.is_file(),
            Origin::Memory(..) => true,
            Origin::Folder(_) | Origin::StandardInput | Origin::Reader(..) => false,
        }
    }

    /// The size on disk; 0 if it is not known.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.origin {
            Origin::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Origin::Memory(_, bytes) => bytes.len() as u64,
            Origin::Folder(_) | Origin::StandardInput | Origin::Reader(..) => 0,
        }
    }

    /// The name for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::File(path) | Origin::Folder(path) => path.display().to_string(),
            Origin::StandardInput => "standard input".to_owned(),
            Origin::Memory(name, _) | Origin::Reader(name, _) => name.clone(),
        }
    }

    /// The text of the source as it comes; `progress` counts the bytes as they are read from disk.
    fn stream(&self, progress: Arc<AtomicU64>) -> Result<Stream, RunError> {
        let mut left = 0;
        let raw: Stream = match &self.origin {
            Origin::File(path) | Origin::Folder(path) => {
                let file = File::open(path).map_err(|error| {
                    ReadError::new(self.name(), format!("cannot open: {error}"))
                })?;
                let metadata = file.metadata().ok().filter(|metadata| metadata.is_file());
                left = metadata.map_or(0, |metadata| metadata.len());
                Box::new(file)
            }
            Origin::StandardInput => Box::new(io::stdin()),
            Origin::Memory(_, bytes) => Box::new(io::Cursor::new(Arc::clone(bytes))),
            Origin::Reader(name, reader) => {
                let taken = reader.lock().ok().and_then(|mut reader| reader.take());
                taken.ok_or_else(|| ReadError::new(name, "was read already"))?
            }
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
                    .map_err(|error| ReadError::new(self.name(), error.to_string()))?;
                Box::new(decoder)
            }
        })
    }

    /// Opens the source; `progress` counts the bytes as they are read from disk.
    /// A line must not be longer than `max_bytes`, nor must a file of JSON.
    pub(crate) fn open(
        &self,
        progress: &Arc<AtomicU64>,
        max_bytes: u64,
    ) -> Result<Blocks, RunError> {
        Ok(Blocks {
            reader: self.stream(Arc::clone(progress))?,
            name: self.name(),
            format: self.record_format()?,
            buffer: Vec::new(),
            next_line: 1,
            spare: Vec::new(),
            ended: false,
            max_bytes,
        })
    }
}

/// Whether a path names a file that is open already.
fn is_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    folders.iter().any(|folder| path.starts_with(folder)) || path == Path::new("/dev/stdin")
}

fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?;
    Some(extension.to_ascii_lowercase())
}

struct Counted {
    inner: Stream,
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
    reader: Stream,
    name: String,
    /// A source of JSON is one block.
    format: Format,
    /// What has been read and is in no block yet: the start of a line.
    buffer: Vec<u8>,
    next_line: u64,
    /// The memory of blocks that are done with.
    spare: Vec<String>,
    ended: bool,
    max_bytes: u64,
}

impl Blocks {
    /// The next block, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, RunError> {
        if self.ended {
            return Ok(None);
        }
        let mut wanted = BLOCK_BYTES;
        let mut searched = 0;
        let end = loop {
            let start = self.buffer.len();
            let limit = wanted.saturating_sub(start) as u64;
            // Reading would not ask whether there is so much memory, nor for the room to see that it ends.
            let room = self
                .buffer
                .try_reserve(wanted.saturating_sub(start) + PROBE_BYTES);
            room.map_err(|error| cannot_read(&self.name, &error.into()))?;
            let count = (&mut self.reader)
                .take(limit)
                .read_to_end(&mut self.buffer)
                .map_err(|error| cannot_read(&self.name, &error))?;
            if !matches!(self.format, Format::Text | Format::Kaldi) {
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
            }
            if self.buffer.len() as u64 >= self.max_bytes {
                let what = match self.format {
                    Format::Json => "the file",
                    _ => "the line",
                };
                let error = ReadError::new(&self.name, too_long(what, self.max_bytes));
                return Err(error.line(self.next_line).limit().into());
            }
            // Memory for twice as much, unless that is not allowed.
            wanted = (2 * wanted).min(usize::try_from(self.max_bytes).unwrap_or(usize::MAX));
        };
        let first_line = self.next_line;
        let bytes = &self.buffer[..end];
        if bytes.is_empty() {
            if self.format == Format::Json {
                let problem = "is empty: expected a JSON object";
                return Err(ReadError::new(&self.name, problem).into());
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

/// The error of a source that cannot be read, or not held: memory is the machine's, not the data's.
fn cannot_read(name: &str, error: &io::Error) -> RunError {
    match error.kind() {
        io::ErrorKind::OutOfMemory => RunError::Internal(format!("{name}: out of memory")),
        _ => ReadError::new(name, format!("cannot read: {error}")).into(),
    }
}

/// Says where the bytes from this line on cease to be text.
fn not_utf8(name: &str, first_line: u64, bytes: &[u8], valid: usize) -> RunError {
    unreadable(name, first_line, bytes, valid, "not UTF-8")
}

/// Fails at the first zero byte from `start` on. No JSON and no XML has one, but a hole in a file
/// reads as zeros, however large it is, and so does text of two bytes a character.
fn refuse_zeros(name: &str, first_line: u64, bytes: &[u8], start: usize) -> Result<(), RunError> {
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

fn unreadable(name: &str, first_line: u64, bytes: &[u8], place: usize, problem: &str) -> RunError {
    let before = &bytes[..place];
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    let column = place - memchr::memrchr(b'\n', before).map_or(0, |start| start + 1) + 1;
    let byte = bytes.get(place).copied().unwrap_or_default();
    let problem = format!("{problem}: byte 0x{byte:02x} at byte {column} of the line");
    ReadError::new(name, problem).line(line).into()
}
