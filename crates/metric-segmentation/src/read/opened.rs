//! Files on disk and in memory, which are read in the same way.

use std::fs::{File, metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use metric_record::ReadError;

/// A file on disk, or the bytes of one.
pub enum OpenedFile<'b> {
    /// On disk.
    Disk(BufReader<File>),
    /// In memory.
    Memory(Cursor<&'b [u8]>),
}

/// The bytes of a file that are read at once.
const PART_BYTES: usize = 1 << 16;

impl OpenedFile<'_> {
    /// Opens a file on disk.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened, or if it is a pipe or a folder.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let refused = |problem: String| ReadError::new(path.display().to_string(), problem);
        let cannot = |error: io::Error| refused(format!("cannot be opened: {error}"));
        // Opening a pipe would wait.
        if !metadata(path).map_err(cannot)?.is_file() {
            let problem = "is not a plain file: expected the file of a picture";
            return Err(refused(problem.to_owned()));
        }
        let file = File::open(path).map_err(cannot)?;
        Ok(Self::Disk(BufReader::with_capacity(PART_BYTES, file)))
    }
}

impl<'b> From<&'b [u8]> for OpenedFile<'b> {
    fn from(bytes: &'b [u8]) -> Self {
        Self::Memory(Cursor::new(bytes))
    }
}

impl Read for OpenedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl BufRead for OpenedFile<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Disk(file) => file.fill_buf(),
            Self::Memory(bytes) => bytes.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match self {
            Self::Disk(file) => file.consume(bytes),
            Self::Memory(all) => all.consume(bytes),
        }
    }
}

impl Seek for OpenedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Disk(file) => file.seek(to),
            Self::Memory(bytes) => bytes.seek(to),
        }
    }
}
