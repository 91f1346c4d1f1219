//! Why a submission is refused, for folders and archives alike.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use crate::limits::size;

/// The most entries of an archive, or of a folder that is looked at.
pub(crate) const MOST_ENTRIES: usize = 50_000;

/// Files that operating systems add to folders and archives.
pub(crate) const OF_SYSTEMS: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"];

/// The reason why a task has no predictions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmissionError {
    /// The submission has no such file.
    Missing(String),
    /// The submission, or the file in it, cannot be used.
    Invalid(String),
    /// It is larger than a limit allows.
    Limit(String),
    /// The machine failed, and not the submission.
    Machine(String),
}

impl fmt::Display for SubmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(reason)
            | Self::Invalid(reason)
            | Self::Limit(reason)
            | Self::Machine(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for SubmissionError {}

impl SubmissionError {
    /// The predictions are larger than allowed.
    pub(crate) fn too_large(most: u64) -> Self {
        Self::Limit(format!("exceeded {} of predictions", size(most)))
    }

    /// A file or folder of ours that cannot be written.
    pub(crate) fn machine(path: &Path, error: &io::Error) -> Self {
        Self::Machine(format!("{}: cannot write: {error}", path.display()))
    }

    /// A file of an archive that cannot be written: the machine has no room, or the name is one that no file can have.
    pub(crate) fn unwritten(name: &str, path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{
            OutOfMemory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };

        match error.kind() {
            OutOfMemory | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull => {
                Self::machine(path, error)
            }
            kind => Self::Invalid(format!("{name}: cannot be a file: {kind}")),
        }
    }
}

/// That a submission has no file of a name.
pub(crate) fn missing(name: &str) -> String {
    format!("{name}: not in the submission")
}

/// Refuses a file if there are others whose names differ in case only.
pub(crate) fn refuse_cases(name: &str, similar: &BTreeSet<String>) -> Result<(), SubmissionError> {
    let other = similar.iter().find(|other| *other != name);
    match (similar.contains(name), other) {
        (_, None) => Ok(()),
        (true, Some(other)) => Err(SubmissionError::Invalid(format!(
            "{name} and {other} differ in case only: expected one of them"
        ))),
        (false, Some(other)) => Err(SubmissionError::Missing(format!(
            "{}, which has {other}",
            missing(name)
        ))),
    }
}

pub(crate) fn too_many_entries() -> SubmissionError {
    SubmissionError::Limit(format!("exceeded {MOST_ENTRIES} files"))
}
