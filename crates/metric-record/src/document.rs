use std::path::PathBuf;
use std::sync::Arc;

use crate::{DEFAULT_MAX_BYTES, Objects};

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

/// What a [`Document`] holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// The text of a file.
    Text(String),
    /// A folder, whose files the reader of the format opens.
    Folder(Folder),
    /// The objects of images, which are in memory.
    Objects(Arc<Objects>),
}

/// A folder of files that are not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes of its files may be held in memory.
    pub max_bytes: u64,
}

impl Folder {
    /// A folder, of which at most [`DEFAULT_MAX_BYTES`] are held in memory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }
}

impl Document {
    /// A file in memory.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            content: Content::Text(text.into()),
        }
    }

    /// A folder, of which at most [`DEFAULT_MAX_BYTES`] are held in memory.
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
    /// Returns an error if it is not a file.
    pub fn file(&self) -> Result<File<'_>, crate::ReadError> {
        let problem = match &self.content {
            Content::Text(text) => {
                return Ok(File {
                    name: &self.name,
                    text,
                });
            }
            Content::Folder(_) => "is a folder: expected a file",
            Content::Objects(_) => "holds objects in memory: expected a file",
        };
        Err(crate::ReadError::new(&self.name, problem))
    }
}
