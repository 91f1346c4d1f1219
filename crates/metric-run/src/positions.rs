//! Reading files at positions, on several threads where the system can do that.

use std::fs::File;
use std::io;

/// Whether threads may read a file at the same time.
pub(crate) const ARE_SHARED: bool = cfg!(any(unix, windows));

/// Reads some bytes from a position, and returns their number. What is written next goes where it would have gone, or
/// to the end.
#[cfg(unix)]
pub(crate) fn read_some_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

/// Reads some bytes from a position, and returns their number. What is written next goes to the end.
#[cfg(not(unix))]
pub(crate) fn read_some_at(mut file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    use std::io::{Seek, SeekFrom};

    #[cfg(windows)]
    let count = std::os::windows::fs::FileExt::seek_read(file, buffer, position)?;
    #[cfg(not(windows))]
    let count = {
        file.seek(SeekFrom::Start(position))?;
        io::Read::read(&mut file, buffer)?
    };
    file.seek(SeekFrom::End(0))?;
    Ok(count)
}

/// Fills a buffer from a position.
pub(crate) fn read_at(file: &File, mut buffer: &mut [u8], mut position: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_some_at(file, buffer, position) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                position += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
