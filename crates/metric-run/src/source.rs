//! Files, standard input and data in memory as blocks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metric_record::{Content, Document, Folder, Message, ReadError, Reopen, Stream as LaterText};

use crate::RunError;
use crate::formats::csv::{CsvOptions, Dialect, Layout};
#[cfg(feature = "arrow")]
use crate::formats::datasets::Dataset;
#[cfg(feature = "columns")]
use crate::formats::grouped;
use crate::formats::{Format, extension, paths};
use crate::scan::{FieldNames, Found, Role, ScanError};

/// The size in bytes of a block of lines, unless a line is longer: large enough to spread over
/// threads, small enough to stay in the cache between reading and scoring.
const BLOCK_BYTES: usize = 64 * 1024;

/// The approximate number of lines in a block of short lines. The data found in a short line takes many times its
/// bytes, so a block of [`BLOCK_BYTES`] would not stay in the cache.
const BLOCK_LINES: u64 = 2048;

/// Room that reading to the end wants beyond what there is to read.
const PROBE_BYTES: usize = 64;

/// The number of bytes of a document that are read before it is inspected.
const PART_BYTES: usize = 1 << 20;

/// Says that something takes more memory than allowed.
fn too_long(what: &str, max_bytes: u64) -> Message {
    Message::from(format!("{what} takes more memory than allowed by "))
        .option("max-bytes", &max_bytes.to_string())
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
    csv: CsvOptions,
    /// The split of a dataset folder.
    split: Option<String>,
}

#[derive(Clone)]
enum Origin {
    File(PathBuf),
    Folder(PathBuf),
    /// Several files of one format, read one after another.
    Several(String, Arc<[Source]>),
    /// The rows of a dataset, in an order of their own.
    #[cfg(feature = "arrow")]
    Dataset(Arc<Dataset>),
    /// Records that were read from a file of another form.
    Records(String, Arc<Records>),
    StandardInput,
    Memory(String, Arc<[u8]>),
    /// A reader, until it is taken.
    Reader(String, Arc<Mutex<Option<Stream>>>),
}

/// Records that were read from a file, and the text that they are in.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    pub(crate) text: String,
    pub(crate) found: Vec<Found>,
}

/// The input that a source is read from.
pub(crate) type Stream = Box<dyn Read + Send + Sync>;

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Folder(_) => "Folder",
            Self::Several(..) => "Several",
            #[cfg(feature = "arrow")]
            Self::Dataset(_) => "Dataset",
            Self::Records(..) => "Records",
            Self::StandardInput => "StandardInput",
            Self::Memory(..) => "Memory",
            Self::Reader(..) => "Reader",
        })
    }
}

impl Source {
    /// Returns the file or folder at a path. The name of a file tells the format of its records, as
    /// [`Format::of_name`] says; that of a text may end in `.gz` or `.zst` after that.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at the path.
    pub fn path(path: impl Into<PathBuf>) -> Result<Self, RunError> {
        let path = path.into();
        let metadata =
            std::fs::metadata(&path).map_err(|error| paths::cannot_open(&path, &error))?;
        if metadata.is_dir() {
            return Ok(Self::from_origin(Origin::Folder(path), None));
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
            compression,
            ..Self::from_origin(Origin::File(path), format)
        })
    }

    /// Returns the files that paths and patterns name, as one source: `part-*.parquet`, `**/*.jsonl`. One path is the
    /// file or folder that exists.
    ///
    /// Named files keep their order. Those of a pattern or a folder are ordered by name, with runs of digits
    /// by their number: `part-2` comes before `part-10`. Hidden files are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at a path, if a pattern matches nothing, or if a file is named
    /// twice.
    pub fn paths<P: AsRef<Path>>(paths: &[P]) -> Result<Self, RunError> {
        paths::source(paths)
    }

    fn from_origin(origin: Origin, format: Option<Format>) -> Self {
        Self {
            origin,
            format,
            is_stated: false,
            compression: Compression::None,
            csv: CsvOptions::default(),
            split: None,
        }
    }

    /// Several sources of one format, read one after another.
    pub(crate) fn several(name: String, sources: Vec<Self>) -> Self {
        let format = sources.first().and_then(|source| source.format);
        Self::from_origin(Origin::Several(name, sources.into()), format)
    }

    /// The rows of a dataset.
    #[cfg(feature = "arrow")]
    pub(crate) fn dataset(dataset: Dataset) -> Self {
        Self::from_origin(Origin::Dataset(Arc::new(dataset)), Some(Format::Arrow))
    }

    /// Records that were read from a file of this format.
    pub(crate) fn records(name: String, records: Records, format: Format) -> Self {
        Self::from_origin(Origin::Records(name, Arc::new(records)), Some(format))
    }

    /// The ids and the texts of records that were read.
    #[cfg(test)]
    pub(crate) fn found_records(&self) -> Vec<(String, String)> {
        let Origin::Records(_, records) = &self.origin else {
            return Vec::new();
        };
        let text = &records.text;
        let read = |found: &Found| {
            (
                found.id(text).to_string(),
                found.value.slice(text).to_owned(),
            )
        };
        records.found.iter().map(read).collect()
    }

    /// Returns standard input, as uncompressed JSON Lines.
    #[must_use]
    pub fn standard_input() -> Self {
        Self::from_origin(Origin::StandardInput, Some(Format::JsonLines))
    }

    /// Bytes in memory. The name is for messages.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>, format: Format) -> Self {
        let origin = Origin::Memory(name.into(), bytes.into());
        Self::from_origin(origin, None).with_format(format)
    }

    /// Returns a reader, which is read once. The name is for messages.
    pub fn reader(
        name: impl Into<String>,
        reader: impl Read + Send + Sync + 'static,
        format: Format,
    ) -> Self {
        let reader: Stream = Box::new(reader);
        let origin = Origin::Reader(name.into(), Arc::new(Mutex::new(Some(reader))));
        Self::from_origin(origin, None).with_format(format)
    }

    /// Returns the same source with its records in this format, whatever its name says.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self {
            format: Some(format),
            is_stated: true,
            ..self
        }
    }

    /// Returns the same source with its CSV or TSV written in this way.
    #[must_use]
    pub fn with_csv(self, csv: CsvOptions) -> Self {
        Self { csv, ..self }
    }

    /// Returns the same source with this split of the dataset that a folder holds.
    #[must_use]
    pub fn with_split(self, split: impl Into<String>) -> Self {
        let split = Some(split.into());
        Self { split, ..self }
    }

    /// Returns the names of the classes of a column of integers, which Hugging Face's datasets have: folders that
    /// `Dataset.save_to_disk` wrote, and files of Parquet or Arrow. The column may be a path to a nested field.
    ///
    /// # Errors
    ///
    /// Returns an error if the source has no such names, or if the column is not a `ClassLabel`.
    pub fn class_names(&self, column: &str) -> Result<Vec<String>, RunError> {
        let names = match &self.origin {
            #[cfg(feature = "arrow")]
            Origin::Folder(path) if paths::is_dataset(path) => {
                crate::formats::datasets::class_names(path, self.split.as_deref(), column)?
            }
            Origin::Folder(path) => {
                paths::folder(path, None, self.format)?.names_in_schema(column)?
            }
            _ => self.names_in_schema(column)?,
        };
        names.ok_or_else(|| {
            RunError::Usage(
                Message::default()
                    .option("class-names", "")
                    .text(format_args!(
                        ": expected a Hugging Face dataset (a folder of Dataset.save_to_disk, Parquet or Arrow) in which {} is a ClassLabel, found {}",
                        metric_record::quoted_id(column),
                        self.name()
                    )),
            )
        })
    }

    /// The names of the classes of a column in the schema of the first file.
    fn names_in_schema(&self, column: &str) -> Result<Option<Vec<String>>, RunError> {
        let first = self.files().into_iter().next();
        // A stream is read once, for its records.
        let first =
            first.filter(|file| matches!(file.origin, Origin::File(_) | Origin::Memory(..)));
        let first = first.as_ref();
        Ok(match first.and_then(|file| Some((file, file.format()?))) {
            #[cfg(feature = "parquet")]
            Some((file, Format::Parquet)) => {
                let schema = crate::formats::parquet::schema(file)?;
                crate::formats::columns::class_names(&schema, column)
            }
            #[cfg(feature = "arrow")]
            Some((file, Format::Arrow)) => {
                let schema = crate::formats::arrow::schema(file)?;
                crate::formats::columns::class_names(&schema, column)
            }
            _ => {
                let _ = column;
                None
            }
        })
    }

    /// The source whose records are read: for a folder of records, its files.
    pub(crate) fn resolved(self) -> Result<Self, RunError> {
        let Origin::Folder(path) = &self.origin else {
            return match &self.split {
                None => Ok(self),
                Some(split) => Err(RunError::Usage(
                    Message::default().option("split", split).text(format_args!(
                        " selects a part of a folder that Dataset.save_to_disk wrote: {} is a file",
                        self.name()
                    )),
                )),
            };
        };
        let resolved = paths::folder(path, self.split.as_deref(), self.format)?;
        Ok(Self {
            csv: self.csv,
            is_stated: self.is_stated,
            ..resolved
        })
    }

    /// Whether the source is a folder of records, and not of a metric's own files.
    pub(crate) fn is_folder_of_records(&self) -> bool {
        match &self.origin {
            Origin::Folder(path) => self.format.is_some() || paths::holds_records(path),
            _ => false,
        }
    }

    /// The files of a source of several, or the source itself.
    pub(crate) fn files(&self) -> Vec<Self> {
        match &self.origin {
            Origin::Several(_, sources) => {
                let of_all = |source: &Self| Self {
                    format: self.format,
                    csv: self.csv,
                    ..source.clone()
                };
                sources.iter().map(of_all).collect()
            }
            _ => vec![self.clone()],
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
        let format = self.format.ok_or_else(|| {
            let problem = format!(
                "{}: the name does not tell the format: expected one of {} (a text also with .gz or .zst), or ",
                self.name(),
                Format::endings()
            );
            RunError::Usage(Message::from(problem).option("input-format", ""))
        })?;
        format.refuse_unbuilt(&self.name())?;
        let is_compressed = !matches!(self.compression, Compression::None);
        if is_compressed && !format.is_text() {
            let title = format.title();
            let problem = format!(
                "is compressed {title}: expected {title}, which has a compression of its own"
            );
            return Err(ReadError::new(self.name(), problem).into());
        }
        Ok(format)
    }

    /// Whether records have fields in addition to an id and a value.
    pub(crate) fn has_fields(&self) -> Result<bool, RunError> {
        let has_fields = self.record_format()?.has_fields();
        Ok(match &self.origin {
            Origin::Records(_, records) => records
                .found
                .iter()
                .any(|found| found.record(&records.text).is_some()),
            _ => has_fields,
        })
    }

    /// Whether the caller stated the format, rather than the name of a file.
    pub(crate) fn has_stated_format(&self) -> bool {
        self.is_stated
    }

    /// Returns whether the source is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self.origin, Origin::Folder(_))
    }

    /// Returns whether the source is standard input.
    #[must_use]
    pub fn is_standard_input(&self) -> bool {
        matches!(self.origin, Origin::StandardInput)
    }

    /// Returns all of it, for a metric that reads it by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, if it is not UTF-8, or if it has more than `max_bytes`
    /// bytes.
    pub fn document(&self, max_bytes: u64) -> Result<Document, RunError> {
        let name = self.name();
        let content = match &self.origin {
            Origin::Folder(path) => Content::Folder(Folder {
                path: path.clone(),
                max_bytes,
            }),
            Origin::Several(..) => {
                let problem = "are several files: expected one file or folder";
                return Err(ReadError::new(name, problem).into());
            }
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

    /// The text that the source starts with, if it can be read.
    pub(crate) fn start(&self, max_bytes: u64) -> Option<String> {
        const START_BYTES: u64 = 64 * 1024;
        let mut bytes = Vec::new();
        let stream = self.stream(Arc::default()).ok()?;
        let mut start = stream.take(START_BYTES.min(max_bytes));
        start.read_to_end(&mut bytes).ok()?;
        // A character may be cut off at the end.
        let end = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        bytes.truncate(end);
        String::from_utf8(bytes).ok()
    }

    /// The same, not yet read if it can be read again later.
    pub(crate) fn document_later(&self, max_bytes: u64) -> Result<Document, RunError> {
        let is_file = matches!(self.origin, Origin::File(_) | Origin::Memory(..));
        if !is_file || !self.is_rereadable() {
            return self.document(max_bytes);
        }
        let source = self.clone();
        Ok(Document {
            name: self.name(),
            content: Content::Stream(LaterText::new(Later { source, max_bytes })),
        })
    }

    /// The same, with JSON Lines as the list that a file of results is.
    pub(crate) fn document_of_records(&self, max_bytes: u64) -> Result<Document, RunError> {
        if self.format != Some(Format::JsonLines) {
            return self.document_later(max_bytes);
        }
        let mut document = self.document(max_bytes)?;
        let is_lines =
            self.format == Some(Format::JsonLines) && (!self.is_standard_input() || self.is_stated);
        if let (true, Content::Text(text)) = (is_lines, &mut document.content) {
            let lines = text.trim_start_matches('\u{feff}').lines();
            let records: Vec<&str> = lines.filter(|line| !line.trim_ascii().is_empty()).collect();
            *text = format!("[{}]", records.join(",\n"));
        }
        Ok(document)
    }

    /// Whether the source can be read a second time.
    pub(crate) fn is_rereadable(&self) -> bool {
        match &self.origin {
            Origin::File(path) => path.is_file(),
            Origin::Memory(..) | Origin::Records(..) => true,
            #[cfg(feature = "arrow")]
            Origin::Dataset(_) => true,
            Origin::Several(_, sources) => sources.iter().all(Self::is_rereadable),
            Origin::Folder(_) | Origin::StandardInput | Origin::Reader(..) => false,
        }
    }

    /// The size on disk; 0 if it is not known.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.origin {
            Origin::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Origin::Memory(_, bytes) => bytes.len() as u64,
            Origin::Several(_, sources) => sources.iter().map(Self::bytes).sum(),
            _ => 0,
        }
    }

    /// Returns the name for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::File(path) | Origin::Folder(path) => path.display().to_string(),
            Origin::StandardInput => "standard input".to_owned(),
            #[cfg(feature = "arrow")]
            Origin::Dataset(dataset) => dataset.name(),
            Origin::Memory(name, _)
            | Origin::Reader(name, _)
            | Origin::Several(name, _)
            | Origin::Records(name, _) => name.clone(),
        }
    }

    /// The text of the source as it comes; `progress` counts the bytes as they are read from disk.
    pub(crate) fn stream(&self, progress: Arc<AtomicU64>) -> Result<Stream, RunError> {
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
            #[cfg(feature = "arrow")]
            Origin::Dataset(_) => return Err(self.no_stream()),
            Origin::Several(..) | Origin::Records(..) => return Err(self.no_stream()),
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

    fn no_stream(&self) -> RunError {
        ReadError::new(self.name(), "is not one file: expected one file").into()
    }

    /// An input that can be read at any position: a file, or bytes in memory.
    #[cfg(feature = "columns")]
    pub(crate) fn seekable(&self) -> Result<Seekable, RunError> {
        match &self.origin {
            Origin::File(path) if path.is_file() => {
                let file = File::open(path).map_err(|error| paths::cannot_open(path, &error))?;
                Ok(Seekable::File(file))
            }
            Origin::Memory(_, bytes) => Ok(Seekable::Memory(Arc::clone(bytes))),
            _ => {
                let title = self.format.map_or("", Format::title);
                let problem = format!("{title} cannot be read from a pipe: expected a file");
                Err(ReadError::new(self.name(), problem).into())
            }
        }
    }

    /// Opens the source, whose records have fields of these names; `progress` counts the bytes as they are
    /// read from disk. A line must not be longer than `max_bytes`, nor must a file of JSON.
    pub(crate) fn open(
        &self,
        names: &FieldNames,
        progress: &Arc<AtomicU64>,
        max_bytes: u64,
    ) -> Result<Blocks, RunError> {
        self.record_format()?;
        let mut blocks = Blocks {
            files: self.files().into_iter().collect(),
            names: names.clone(),
            progress: Arc::clone(progress),
            max_bytes,
            current: Reading::Ended,
            before: 0,
            #[cfg(feature = "columns")]
            kinds: None,
        };
        blocks.open_next()?;
        Ok(blocks)
    }
}

/// A document that is not yet read.
struct Later {
    source: Source,
    max_bytes: u64,
}

impl Reopen for Later {
    fn open(&self) -> Option<Box<dyn Read + Send>> {
        if self.source.bytes() > self.max_bytes {
            return None;
        }
        let stream = self.source.stream(Arc::default()).ok()?;
        Some(Box::new(stream.take(self.max_bytes)))
    }

    fn text(&self) -> Result<String, ReadError> {
        let name = self.source.name();
        match self.source.document(self.max_bytes) {
            Ok(Document {
                content: Content::Text(text),
                ..
            }) => Ok(text),
            Ok(_) => Err(ReadError::new(name, "is not a file: expected one")),
            Err(RunError::Read(error)) => Err(*error),
            // A lack of resources is already reported with the name.
            Err(error) => Err(ReadError::new("", error.to_string()).machine()),
        }
    }
}

/// The input that can be read at any position.
#[cfg(feature = "columns")]
pub(crate) enum Seekable {
    File(File),
    Memory(Arc<[u8]>),
}

/// Whether a path names a file that is open already.
fn is_descriptor(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    folders.iter().any(|folder| path.starts_with(folder)) || path == Path::new("/dev/stdin")
}

struct Counted {
    inner: Stream,
    bytes: Arc<AtomicU64>,
    /// The number of bytes that a file had, when it was opened, beyond those that were read.
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

/// Where the records of a block are from, for messages.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The file.
    pub(crate) file: String,
    pub(crate) unit: Unit,
    /// The columns of the value of this side and of the other one, in words.
    pub(crate) columns: [String; 2],
}

/// The unit in which the records of a file are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// By line, one record each.
    #[default]
    Line,
    /// By line, several of which may be one record.
    FirstLine,
    /// By row, in this row group.
    #[cfg(feature = "columns")]
    RowGroup(usize),
    /// By row, in this batch.
    #[cfg(feature = "columns")]
    Batch(usize),
}

impl Part {
    /// The location of a record, with the column of one of its values.
    pub(crate) fn location(&self, number: u64, role: Option<Role>) -> String {
        let location = match self.unit {
            Unit::Line | Unit::FirstLine => format!("line {number}"),
            #[cfg(feature = "columns")]
            Unit::RowGroup(group) => format!("row group {group}, row {}", grouped(number)),
            #[cfg(feature = "columns")]
            Unit::Batch(batch) => format!("batch {batch}, row {}", grouped(number)),
        };
        match self.column(role) {
            "" => location,
            column => format!("{location}, {column}"),
        }
    }

    /// Whether records are found by their line.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self.unit, Unit::Line | Unit::FirstLine)
    }

    /// The column with this role, in words; empty for none.
    fn column(&self, role: Option<Role>) -> &str {
        match role {
            Some(Role::Value) => &self.columns[0],
            Some(Role::Other) => &self.columns[1],
            _ => "",
        }
    }

    /// The line, and the position in words; one of them says where the record is.
    pub(crate) fn line_or_location(
        &self,
        number: u64,
        role: Option<Role>,
    ) -> (Option<u64>, String) {
        match self.unit {
            Unit::Line => (Some(number), String::new()),
            _ => (None, self.location(number, role)),
        }
    }
}

/// Records of a source: whole lines, or what else its format has.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// Number of the first line or row, from 1.
    pub(crate) first_line: u64,
    /// Number of records in earlier files, where lines are counted on.
    pub(crate) before: u64,
    pub(crate) rows: Rows,
    pub(crate) part: Arc<Part>,
}

/// The form in which a block holds its records.
#[derive(Debug, Default)]
pub(crate) enum Rows {
    /// As lines of its text.
    #[default]
    Lines,
    /// As records of CSV in its text.
    Csv(Arc<Layout>),
    /// As columns.
    #[cfg(feature = "columns")]
    Columns(Box<crate::formats::columns::Rows>),
    /// As records in its text that have been found.
    Found(Vec<Found>),
}

impl Rows {
    /// Whether records are lines of the block's text.
    pub(crate) fn are_lines(&self) -> bool {
        matches!(self, Self::Lines)
    }
}

impl Block {
    /// Lines of text.
    #[cfg(test)]
    pub(crate) fn lines(text: String, first_line: u64) -> Self {
        Self {
            text,
            first_line,
            ..Self::default()
        }
    }

    /// The number of the line in which `offset` lies.
    pub(crate) fn line_at(&self, offset: usize) -> u64 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        self.first_line + memchr::memchr_iter(b'\n', before).count() as u64
    }

    /// The error of a record that cannot be found.
    pub(crate) fn error(&self, error: ScanError) -> RunError {
        let line = self.line_at(error.offset);
        scan_error(&self.part.file, line, error)
    }
}

fn scan_error(file: &str, line: u64, error: ScanError) -> RunError {
    let read = ReadError::new(file, error.problem);
    // A record that may span several lines has its first one in words.
    match (error.line, error.location.as_str()) {
        (None, location) => read.at(location).line(line).into(),
        (Some(first), "") => read.at(format!("line {first}")).into(),
        (Some(first), location) => read.at(format!("line {first}, {location}")).into(),
    }
}

/// Reads a source block by block, file by file.
pub(crate) struct Blocks {
    /// The files that are not open yet.
    files: std::collections::VecDeque<Source>,
    names: FieldNames,
    progress: Arc<AtomicU64>,
    max_bytes: u64,
    current: Reading,
    /// The number of lines in files that are read.
    before: u64,
    /// The kinds of values of the first file, where files have types.
    #[cfg(feature = "columns")]
    kinds: Kinds,
}

/// The first file with columns, and the kinds of values that its records have.
#[cfg(feature = "columns")]
pub(crate) type Kinds = Option<(String, [Option<metric_record::Kind>; 2])>;

/// The file that is open.
enum Reading {
    Text(Box<TextBlocks>),
    /// Blocks of another format. The lock is never waited for: it makes the reader one that threads share.
    Other(Mutex<Box<dyn Iterator<Item = Result<Block, RunError>> + Send>>),
    Ended,
}

impl Blocks {
    /// The blocks of nothing.
    pub(crate) fn ended() -> Self {
        Self {
            files: std::collections::VecDeque::new(),
            names: FieldNames::new([]),
            progress: Arc::default(),
            max_bytes: 0,
            current: Reading::Ended,
            before: 0,
            #[cfg(feature = "columns")]
            kinds: None,
        }
    }

    fn open_next(&mut self) -> Result<(), RunError> {
        let Some(source) = self.files.pop_front() else {
            self.current = Reading::Ended;
            return Ok(());
        };
        let other = |blocks| Reading::Other(Mutex::new(blocks));
        self.current = match (source.record_format()?, &source.origin) {
            #[cfg(feature = "arrow")]
            (_, Origin::Dataset(dataset)) => other(Box::new(dataset.blocks(&self.names)?)),
            (_, Origin::Records(name, records)) => {
                let part = Part {
                    file: name.clone(),
                    ..Part::default()
                };
                let block = Block {
                    text: records.text.clone(),
                    rows: Rows::Found(records.found.clone()),
                    part: Arc::new(part),
                    ..Block::default()
                };
                other(Box::new(std::iter::once(Ok(block))))
            }
            #[cfg(feature = "parquet")]
            (Format::Parquet, _) => other(Box::new(crate::formats::parquet::blocks(
                &source,
                &self.names,
                &mut self.kinds,
            )?)),
            #[cfg(feature = "arrow")]
            (Format::Arrow, _) => {
                let (names, progress) = (&self.names, &self.progress);
                let blocks =
                    crate::formats::arrow::blocks(&source, names, progress, &mut self.kinds);
                blocks.map(other)?
            }
            (format, _) => Reading::Text(Box::new(TextBlocks {
                reader: source.stream(Arc::clone(&self.progress))?,
                csv: format.is_csv().then(|| Csv {
                    dialect: Dialect {
                        delimiter: source.csv.delimiter.unwrap_or(match format {
                            Format::Tsv => b'\t',
                            _ => b',',
                        }),
                        has_quotes: source.csv.has_quotes,
                    },
                    options: source.csv,
                    names: self.names.clone(),
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
                max_bytes: self.max_bytes,
            })),
        };
        Ok(())
    }

    /// The next block, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Block>, RunError> {
        loop {
            let block = match &mut self.current {
                Reading::Text(text) => {
                    let block = text.next()?;
                    if block.is_none() {
                        self.before += text.next_line - 1;
                    }
                    block.map(|block| Block {
                        before: self.before,
                        ..block
                    })
                }
                Reading::Other(blocks) => {
                    let blocks = blocks.get_mut().map_err(|_| {
                        RunError::Internal("a thread that reads has failed".to_owned())
                    })?;
                    blocks.next().transpose()?
                }
                Reading::Ended => return Ok(None),
            };
            match block {
                Some(block) => return Ok(Some(block)),
                None => self.open_next()?,
            }
        }
    }

    /// Whether all has been read.
    pub(crate) fn at_end(&self) -> bool {
        match &self.current {
            Reading::Text(text) => text.ended && text.failed.is_none() && self.files.is_empty(),
            Reading::Other(_) => false,
            Reading::Ended => true,
        }
    }

    /// Takes back a block that is done with, to reuse its memory.
    pub(crate) fn recycle(&mut self, block: Block) {
        if let Reading::Text(text) = &mut self.current {
            text.recycle(block);
        }
    }
}

/// The options for reading a CSV file.
struct Csv {
    dialect: Dialect,
    options: CsvOptions,
    names: FieldNames,
    /// The columns, known after the first block.
    layout: Option<Arc<Layout>>,
}

/// Reads a text block by block.
struct TextBlocks {
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
    /// The next block, or `None` at the end.
    fn next(&mut self) -> Result<Option<Block>, RunError> {
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
    fn recycle(&mut self, block: Block) {
        if block.text.capacity() <= 4 * BLOCK_BYTES && self.spare.len() < 64 {
            self.spare.push(block.text);
        }
    }
}

/// The error of a source that cannot be read, or not held: memory is the machine's, not the data's.
fn cannot_read(name: &str, error: &io::Error) -> RunError {
    match error.kind() {
        io::ErrorKind::OutOfMemory => ReadError::new(name, "out of memory").machine().into(),
        _ => ReadError::new(name, format!("cannot read: {error}")).into(),
    }
}

/// Says where the bytes from this line on cease to be text.
fn not_utf8(name: &str, first_line: u64, bytes: &[u8], valid: usize) -> RunError {
    unreadable(name, first_line, bytes, valid, "not UTF-8")
}

/// The start of the message about a zero byte.
const NO_TEXT: &str = "no text: byte 0x00";

/// Fails at the first zero byte at or after `start`. No JSON and no XML has one, but a hole in a
/// file reads as zeros, however large it is, and so does text of two bytes per character.
fn refuse_zeros(name: &str, first_line: u64, bytes: &[u8], start: usize) -> Result<(), RunError> {
    match memchr::memchr(0, &bytes[start..]) {
        Some(offset) => {
            let offset = start + offset;
            // Errors before that come first.
            let valid = std::str::from_utf8(&bytes[..offset]);
            let offset = valid.map_or_else(|error| error.valid_up_to(), str::len);
            let problem = match bytes.get(offset) {
                Some(0) => "no text",
                _ => "not UTF-8",
            };
            Err(unreadable(name, first_line, bytes, offset, problem))
        }
        None => Ok(()),
    }
}

fn unreadable(name: &str, first_line: u64, bytes: &[u8], offset: usize, problem: &str) -> RunError {
    let before = &bytes[..offset];
    let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
    let column = offset - memchr::memrchr(b'\n', before).map_or(0, |start| start + 1) + 1;
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let problem = format!("{problem}: byte 0x{byte:02x} at byte {column} of the line");
    ReadError::new(name, problem).line(line).into()
}
