//! Files, standard input and data in memory, not yet read.

pub(crate) mod blocks;
mod class_names;
mod compression;
#[cfg(feature = "arrow")]
pub(crate) mod dataset;
mod documents;
mod encoding;
mod fingerprint;
pub(crate) mod pages;
pub(crate) mod paths;
mod text;
mod unreadable;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metric_record::{Message, ReadError};

use compression::Compression;
#[cfg(feature = "arrow")]
use dataset::Dataset;
pub use encoding::Encoding;
pub(crate) use fingerprint::hexadecimal;
pub use fingerprint::{Fingerprint, Hashed};
pub(crate) use unreadable::{cannot_open, cannot_read, too_long, with_encoding_option};

use crate::RunError;
use crate::formats::csv::{CsvOptions, EmptyField, delimiter_name};
use crate::formats::segments::TranscriptOptions;
use crate::formats::{Format, extension};
use crate::found::Found;

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
    /// The encoding of text; `None` for UTF-8.
    encoding: Option<Encoding>,
    transcript: TranscriptOptions,
    /// The split of a dataset folder.
    split: Option<String>,
    /// Where the hash of the bytes goes, if it is requested.
    fingerprint: Option<Fingerprint>,
}

#[derive(Clone)]
enum Origin {
    File(PathBuf),
    Folder(PathBuf),
    /// Several files of one format, read one after another.
    Several(String, Arc<Files>),
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

/// Several files.
struct Files {
    sources: Vec<Source>,
    /// Whether a folder or a pattern names them, so that they are joined by name if they are texts.
    are_found: bool,
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
        let metadata = std::fs::metadata(&path).map_err(|error| cannot_open(&path, &error))?;
        if metadata.is_dir() {
            return Ok(Self::from_origin(Origin::Folder(path), None));
        }
        let compression = Compression::of_name(&path);
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

    fn from_origin(origin: Origin, format: Option<Format>) -> Self {
        Self {
            origin,
            format,
            is_stated: false,
            compression: Compression::None,
            csv: CsvOptions::default(),
            encoding: None,
            transcript: TranscriptOptions::default(),
            split: None,
            fingerprint: None,
        }
    }

    /// Several sources of one format, read one after another.
    pub(crate) fn several(name: String, sources: Vec<Self>) -> Self {
        let format = sources.first().and_then(|source| source.format);
        let are_found = false;
        let files = Files { sources, are_found };
        Self::from_origin(Origin::Several(name, Arc::new(files)), format)
    }

    /// The same of files that a folder or a pattern names.
    fn found(name: String, sources: Vec<Self>) -> Self {
        let format = sources.first().and_then(|source| source.format);
        let are_found = true;
        let files = Files { sources, are_found };
        Self::from_origin(Origin::Several(name, Arc::new(files)), format)
    }

    /// Whether the source is the text files of a folder or of a pattern.
    fn has_pages(&self) -> bool {
        match &self.origin {
            Origin::Several(_, files) => files.are_found && self.format == Some(Format::Text),
            _ => false,
        }
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

    /// Returns the same source with its text in this encoding; `None` for UTF-8. Formats that are not text have none.
    #[must_use]
    pub fn with_encoding(self, encoding: Option<Encoding>) -> Self {
        Self { encoding, ..self }
    }

    /// Returns the same source with its transcripts read in this way.
    #[must_use]
    pub fn with_transcript(self, transcript: TranscriptOptions) -> Self {
        Self { transcript, ..self }
    }

    pub(crate) fn transcript_options(&self) -> &TranscriptOptions {
        &self.transcript
    }

    /// Returns the same source with this split of the dataset that a folder holds.
    #[must_use]
    pub fn with_split(self, split: impl Into<String>) -> Self {
        let split = Some(split.into());
        Self { split, ..self }
    }

    /// Hashes the bytes of the source while they are read, on a thread of its own. Returns where the hash is then
    /// found; `None` if the source is not read from its start to its end, such as a folder or a file of Parquet.
    ///
    /// ```
    /// use metric_run::registry::{Options, find};
    /// use metric_run::{Format, Run, Source};
    ///
    /// # if find("wer").is_none() { return Ok(()); }
    /// let lines = |name: &str| Source::memory(name, *b"a cat\n", Format::Text);
    /// let mut references = lines("r.txt");
    /// let fingerprint = references.fingerprint().ok_or("not read as a whole")?;
    /// let entry = find("wer").ok_or("not there")?;
    /// Run::new(entry, &Options::default())?.score(references, lines("p.txt"))?;
    /// assert_eq!(fingerprint.hashed().map(|hashed| hashed.bytes), Some(6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprint(&mut self) -> Option<Fingerprint> {
        let is_stream = match &self.origin {
            Origin::File(_) | Origin::StandardInput | Origin::Memory(..) | Origin::Reader(..) => {
                self.format.is_none_or(Format::is_text)
            }
            _ => false,
        };
        let fingerprint = is_stream.then(Fingerprint::default);
        self.fingerprint.clone_from(&fingerprint);
        fingerprint
    }

    /// The files of a source of several, or the source itself.
    pub(crate) fn files(&self) -> Vec<Self> {
        match &self.origin {
            Origin::Several(_, files) => {
                let of_all = |source: &Self| Self {
                    format: self.format,
                    csv: self.csv,
                    encoding: self.encoding,
                    transcript: self.transcript.clone(),
                    ..source.clone()
                };
                files.sources.iter().map(of_all).collect()
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
            if self.name().to_ascii_lowercase().ends_with(".rttm") {
                let problem = format!(
                    "{}: RTTM has times of speakers and no words, which every metric here needs: expected STM (.stm) or SegLST (.seglst.json)",
                    self.name()
                );
                return RunError::Usage(Message::from(problem));
            }
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

    /// Whether neither the caller nor a name tells the format, so that lines of JSON are expected.
    fn has_usual_format(&self) -> bool {
        let has_no_name = match &self.origin {
            Origin::StandardInput => true,
            Origin::File(path) => {
                let stem = path.with_extension("");
                Format::of_name(path).or(Format::of_name(stem)).is_none()
            }
            _ => false,
        };
        has_no_name && !self.is_stated
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

    /// Whether the source is a file that describes a data set of several folders: Ultralytics' `data.yaml` or darknet's
    /// `obj.data`.
    pub(crate) fn describes_data_set(&self) -> bool {
        self.format.is_none() && self.has_ending(&["yaml", "yml", "data"])
    }

    /// The folder that the file is in, or the first one of several; `None` for data that are not in a file.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        match &self.origin {
            Origin::File(path) => Some(path.parent()?.to_owned()),
            Origin::Several(_, files) => files.sources.first()?.folder(),
            _ => None,
        }
    }

    /// Whether the name of the file has one of these endings.
    pub(crate) fn has_ending(&self, endings: &[&str]) -> bool {
        let extension = extension(Path::new(&self.name()));
        extension.is_some_and(|extension| endings.contains(&&*extension))
    }

    /// Returns whether the source is standard input.
    #[must_use]
    pub fn is_standard_input(&self) -> bool {
        matches!(self.origin, Origin::StandardInput)
    }

    /// The first option for CSV that is not the usual one, with its value.
    pub(crate) fn csv_option(&self) -> Option<(&'static str, String)> {
        let CsvOptions {
            delimiter,
            has_quotes,
            has_header,
            empty,
        } = self.csv;
        let empty = match empty {
            EmptyField::Error => None,
            EmptyField::Text => Some("text"),
            EmptyField::Null => Some("null"),
        };
        let none = |has: bool| (!has).then(|| "none".to_owned());
        [
            ("delimiter", delimiter.map(delimiter_name)),
            ("quote", none(has_quotes)),
            ("header", none(has_header)),
            ("empty-field", empty.map(str::to_owned)),
        ]
        .into_iter()
        .find_map(|(option, value)| Some((option, value?)))
    }

    /// Whether the source has several files.
    pub(crate) fn is_several(&self) -> bool {
        matches!(self.origin, Origin::Several(..))
    }

    /// Whether the source can be read a second time.
    pub(crate) fn is_rereadable(&self) -> bool {
        match &self.origin {
            Origin::File(path) => path.is_file(),
            Origin::Memory(..) | Origin::Records(..) => true,
            #[cfg(feature = "arrow")]
            Origin::Dataset(_) => true,
            Origin::Several(_, files) => files.sources.iter().all(Self::is_rereadable),
            Origin::Folder(_) | Origin::StandardInput | Origin::Reader(..) => false,
        }
    }

    /// The size on disk; 0 if it is not known.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.origin {
            Origin::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            Origin::Memory(_, bytes) => bytes.len() as u64,
            Origin::Several(_, files) => files.sources.iter().map(Self::bytes).sum(),
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
        let raw = match &self.fingerprint {
            Some(fingerprint) => fingerprint.watch(raw),
            None => raw,
        };
        let counted = Counted {
            inner: raw,
            bytes: progress,
            left,
        };
        let stream = self
            .compression
            .decompress(&self.name(), Box::new(counted))?;
        let encoding = self.encoding().filter(|_| self.is_encoded());
        Ok(match encoding {
            Some(encoding) => encoding.decode(stream),
            None => stream,
        })
    }

    /// The encoding that is given.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Whether the source is text, which may have another encoding than UTF-8.
    pub(crate) fn is_encoded(&self) -> bool {
        self.format.is_some_and(|format| !format.is_columnar())
    }

    /// Returns the bytes of a file, without its compression. Errors while they are read do not name the file.
    ///
    /// # Errors
    ///
    /// Returns an error if the source is not one file, or if it cannot be opened or is not compressed as its name says.
    pub fn bytes_of_file(&self) -> Result<impl Read + use<>, RunError> {
        self.stream(Arc::default())
    }

    fn no_stream(&self) -> RunError {
        ReadError::new(self.name(), "is not one file: expected one file").into()
    }

    /// An input that can be read at any position: a file, or bytes in memory.
    #[cfg(feature = "columns")]
    pub(crate) fn seekable(&self) -> Result<Seekable, RunError> {
        match &self.origin {
            Origin::File(path) if path.is_file() => {
                let file = File::open(path).map_err(|error| cannot_open(path, &error))?;
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
            return Err(io::Error::other(problem));
        }
        self.left = self.left.saturating_sub(count as u64);
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
