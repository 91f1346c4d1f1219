//! Submissions: folders or zip archives that are not trusted. Only files that a suite names are read, and no link,
//! device or path that leads elsewhere is followed.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::error::SuiteError;
use crate::refused::{
    MOST_ENTRIES, OF_SYSTEMS, SubmissionError, missing, refuse_cases, too_many_entries,
};

/// A folder or a zip archive with the predictions of a suite's tasks.
#[derive(Debug)]
pub struct Submission {
    content: Content,
}

#[derive(Debug)]
enum Content {
    Folder(PathBuf),
    Archive(Archive),
    /// Nothing that can be read, for any task.
    Unusable(SubmissionError),
}

/// The predictions of a task as files that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predictions {
    /// The folder that the path is relative to.
    pub(crate) folder: PathBuf,
    pub(crate) path: PathBuf,
}

impl Submission {
    /// Opens the folder or the archive at a path. If all of it is in a single folder, that folder is taken, unless its
    /// name is that of one of the `names`.
    ///
    /// A file that is not an archive is not an error here, but the outcome of each task.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing at the path.
    pub fn open(path: &Path, names: &[&str]) -> Result<Self, SuiteError> {
        let failed = |error: &io::Error| {
            let name = path.display();
            SuiteError::input(format!("{name}: cannot open the submission: {error}"))
        };
        let metadata = fs::metadata(path).map_err(|error| failed(&error))?;
        if metadata.is_dir() {
            let folder = std::path::absolute(path).map_err(|error| failed(&error))?;
            return Ok(Self {
                content: Content::Folder(looked_through(folder, names)),
            });
        }
        if !metadata.is_file() {
            let name = path.display();
            let problem =
                format!("{name}: expected a folder, a zip archive, or - for standard input");
            return Err(SuiteError::usage(problem));
        }
        let file = File::open(path).map_err(|error| failed(&error))?;
        Ok(Self::of_archive(file, names))
    }

    /// Takes an archive from a stream, such as standard input, into a file in a folder; at most this many bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream cannot be read, or the file cannot be written.
    pub fn of_stream(
        stream: impl Read,
        folder: &Path,
        most: u64,
        names: &[&str],
    ) -> Result<Self, SuiteError> {
        let path = folder.join("submission.zip");
        let failed =
            |error: io::Error| SuiteError::internal(format!("cannot keep the submission: {error}"));
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        let copied = io::copy(&mut stream.take(most.saturating_add(1)), &mut file);
        if copied.map_err(failed)? > most {
            let content = Content::Unusable(SubmissionError::too_large(most));
            return Ok(Self { content });
        }
        file.flush().map_err(failed)?;
        Ok(Self::of_archive(file, names))
    }

    fn of_archive(file: File, names: &[&str]) -> Self {
        let content = match Archive::open(file, names) {
            Ok(archive) => Content::Archive(archive),
            Err(error) => Content::Unusable(error),
        };
        Self { content }
    }

    /// Returns what is odd about the submission, but harms no task.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        match &self.content {
            Content::Archive(archive) => archive.warnings(),
            Content::Folder(_) | Content::Unusable(_) => Vec::new(),
        }
    }

    /// The predictions of this name, at most this many bytes. Those of an archive are written to the folder.
    pub(crate) fn take(
        &self,
        name: &str,
        most: u64,
        folder: &Path,
    ) -> Result<Predictions, SubmissionError> {
        match &self.content {
            Content::Unusable(error) => Err(error.clone()),
            Content::Archive(archive) => {
                archive.extract(name, most, folder)?;
                Ok(Predictions {
                    folder: folder.to_owned(),
                    path: PathBuf::from(name),
                })
            }
            Content::Folder(root) => {
                inspect(root, name, most)?;
                Ok(Predictions {
                    folder: root.clone(),
                    path: PathBuf::from(name),
                })
            }
        }
    }
}

/// The only folder in a folder that has none of the names; otherwise the folder itself.
fn looked_through(folder: PathBuf, names: &[&str]) -> PathBuf {
    let has_one = names.iter().any(|name| {
        let top = name.split('/').next().unwrap_or_default();
        fs::symlink_metadata(folder.join(top)).is_ok()
    });
    let Ok(entries) = fs::read_dir(&folder) else {
        return folder;
    };
    let is_own = |entry: &DirEntry| !OF_SYSTEMS.iter().any(|name| entry.file_name() == *name);
    let entries: Vec<DirEntry> = entries.flatten().filter(is_own).take(2).collect();
    match entries.as_slice() {
        [only] if !has_one && only.file_type().is_ok_and(|kind| kind.is_dir()) => only.path(),
        _ => folder,
    }
}

/// Checks that a name leads to a plain file or a folder of plain files, without links, and that they are not too large.
fn inspect(root: &Path, name: &str, most: u64) -> Result<(), SubmissionError> {
    let mut path = root.to_owned();
    let mut shown = String::new();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        refuse_similar(&path, part, &shown)?;
        path.push(part);
        shown = joined(&shown, part);
        let metadata = kind_of(&path, name, &shown)?;
        if parts.peek().is_some() && !metadata.is_dir() {
            return Err(SubmissionError::Missing(missing(name)));
        }
        if parts.peek().is_none() {
            let mut left = Left {
                bytes: most,
                entries: MOST_ENTRIES,
                most,
            };
            left.take(&path, &metadata, &shown)?;
        }
    }
    Ok(())
}

/// The metadata of a plain file or of a folder; anything else is an error.
fn kind_of(path: &Path, name: &str, shown: &str) -> Result<Metadata, SubmissionError> {
    let metadata = fs::symlink_metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            SubmissionError::Missing(missing(name))
        }
        _ => SubmissionError::Invalid(format!("{shown}: cannot open: {error}")),
    })?;
    match metadata.file_type() {
        kind if kind.is_file() || kind.is_dir() => Ok(metadata),
        kind if kind.is_symlink() => Err(SubmissionError::Invalid(format!(
            "{shown}: is a symbolic link: expected a file"
        ))),
        _ => Err(SubmissionError::Invalid(format!(
            "{shown}: is a device, a pipe or a socket: expected a file"
        ))),
    }
}

fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Refuses a name next to which there is one that differs in case only.
fn refuse_similar(folder: &Path, name: &str, shown: &str) -> Result<(), SubmissionError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let lower = name.to_lowercase();
    let mut similar = BTreeSet::new();
    for (count, entry) in entries.flatten().enumerate() {
        if count >= MOST_ENTRIES {
            return Err(too_many_entries());
        }
        let other = entry.file_name().to_string_lossy().into_owned();
        if other.to_lowercase() == lower {
            similar.insert(joined(shown, &other));
        }
    }
    refuse_cases(&joined(shown, name), &similar)
}

/// The bytes and files that are left for predictions.
struct Left {
    bytes: u64,
    entries: usize,
    most: u64,
}

impl Left {
    /// Counts a file, or all files of a folder.
    fn take(
        &mut self,
        path: &Path,
        metadata: &Metadata,
        shown: &str,
    ) -> Result<(), SubmissionError> {
        self.entries = self.entries.checked_sub(1).ok_or_else(too_many_entries)?;
        if !metadata.is_dir() {
            let left = self.bytes.checked_sub(metadata.len());
            self.bytes = left.ok_or_else(|| SubmissionError::too_large(self.most))?;
            return Ok(());
        }
        // Deeper paths than these are longer than systems allow.
        if shown.matches('/').count() > 100 {
            return Err(SubmissionError::Invalid(format!(
                "{shown}: is in more than 100 folders: expected fewer"
            )));
        }
        let failed =
            |error: io::Error| SubmissionError::Invalid(format!("{shown}: cannot open: {error}"));
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let shown = joined(shown, &entry.file_name().to_string_lossy());
            let metadata = kind_of(&entry.path(), &shown, &shown)?;
            self.take(&entry.path(), &metadata, &shown)?;
        }
        Ok(())
    }
}
