//! A saved dataset whose rows are in an order of their own.

use std::path::PathBuf;

/// The files of a dataset, and those of the order of its rows.
#[derive(Debug)]
pub(crate) struct Dataset {
    pub(crate) folder: PathBuf,
    pub(crate) shards: Vec<PathBuf>,
    pub(crate) indices: Vec<PathBuf>,
}

impl Dataset {
    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        self.folder.display().to_string()
    }
}
