use std::fmt;
use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::{DEFAULT_MAX_BYTES, Objects, ReadError};

/// A text by name: one file of a data set, in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'a> {
    /// The name, for messages.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

impl<'a> File<'a> {
    /// Returns the text without a byte order mark.
    ///
    /// ```
    /// use metric_record::File;
    ///
    /// let file = File { name: "truth.json", text: "\u{feff}{}" };
    /// assert_eq!(file.content(), "{}");
    /// ```
    #[must_use]
    pub fn content(&self) -> &'a str {
        self.text.strip_prefix('\u{feff}').unwrap_or(self.text)
    }
}

/// One side of a data set that a metric reads as a whole, such as a COCO results file or a folder of
/// labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The name, for messages.
    pub name: String,
    /// The data.
    pub content: Content,
}

/// The content of a [`Document`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// The text of a file.
    Text(String),
    /// A folder, whose files the reader of the format opens.
    Folder(Folder),
    /// The objects of images, which are in memory.
    Objects(Arc<Objects>),
    /// A file that is not yet read.
    Stream(Stream),
}

/// A file that can be read part by part, or as one text, as often as needed.
pub trait Reopen: Send + Sync {
    /// Opens the file at its start, or returns `None` if it cannot be read part by part; [`text`](Self::text)
    /// then says why.
    fn open(&self) -> Option<Box<dyn Read + Send>>;

    /// Reads all of it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, if it is not UTF-8, or if it is larger than allowed.
    fn text(&self) -> Result<String, ReadError>;
}

/// A text in memory, which is copied when it is opened.
impl Reopen for String {
    fn open(&self) -> Option<Box<dyn Read + Send>> {
        Some(Box::new(Cursor::new(self.clone())))
    }

    fn text(&self) -> Result<String, ReadError> {
        Ok(self.clone())
    }
}

/// A file that is not yet read. A reader of large files reads it part by part; for all others,
/// [`Document::file`] reads its text when it is first asked for.
///
/// ```
/// use metric_record::{Content, Document, Stream};
///
/// let content = Content::Stream(Stream::new("[]".to_owned()));
/// let document = Document { name: "results.json".to_owned(), content };
/// assert_eq!(document.file()?.text, "[]");
/// # Ok::<(), metric_record::ReadError>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    source: Arc<dyn Reopen>,
    text: Arc<OnceLock<Result<String, ReadError>>>,
}

impl Stream {
    /// Returns a file that is read from a source.
    pub fn new(source: impl Reopen + 'static) -> Self {
        Self {
            source: Arc::new(source),
            text: Arc::default(),
        }
    }

    /// Opens the file at its start, see [`Reopen::open`].
    #[must_use]
    pub fn open(&self) -> Option<Box<dyn Read + Send>> {
        self.source.open()
    }

    /// Returns the text, which is kept.
    fn text(&self) -> Result<&str, ReadError> {
        let text = self.text.get_or_init(|| self.source.text());
        text.as_deref().map_err(Clone::clone)
    }

    /// Reads the text without keeping it.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Reopen::text`] does.
    pub fn read(&self) -> Result<String, ReadError> {
        self.source.text()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

/// Streams are equal if they are of one source.
impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text)
    }
}

/// A folder of files that are not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its path, or that of a file that describes a data set of several folders, such as `data.yaml`.
    pub path: PathBuf,
    /// The number of bytes of its files that may be held in memory.
    pub max_bytes: u64,
    /// The folder of which this one is a copy whose files may lack lines. It has the format of the original.
    pub original: Option<PathBuf>,
    /// The part of the data set that is chosen, such as `val`.
    pub split: Option<String>,
}

impl Folder {
    /// Returns a folder; at most [`DEFAULT_MAX_BYTES`] of it are held in memory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: DEFAULT_MAX_BYTES,
            original: None,
            split: None,
        }
    }
}

impl Document {
    /// Returns a file in memory.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            content: Content::Text(text.into()),
        }
    }

    /// Returns a folder; at most [`DEFAULT_MAX_BYTES`] of it are held in memory.
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        let folder = Folder::new(path);
        Self {
            name: folder.path.display().to_string(),
            content: Content::Folder(folder),
        }
    }

    /// Objects in memory.
    pub fn objects(name: impl Into<String>, objects: impl Into<Arc<Objects>>) -> Self {
        Self {
            name: name.into(),
            content: Content::Objects(objects.into()),
        }
    }

    /// Returns the document as a file.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a file, or if it is one that cannot be read.
    pub fn file(&self) -> Result<File<'_>, ReadError> {
        let problem = match &self.content {
            Content::Text(text) => {
                return Ok(File {
                    name: &self.name,
                    text,
                });
            }
            Content::Stream(stream) => {
                return Ok(File {
                    name: &self.name,
                    text: stream.text()?,
                });
            }
            Content::Folder(_) => "is a folder: expected a file",
            Content::Objects(_) => "holds objects in memory: expected a file",
        };
        Err(ReadError::new(&self.name, problem))
    }
}
