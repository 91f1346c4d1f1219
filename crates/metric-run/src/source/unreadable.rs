//! Sources that cannot be read, and bytes that are not text.

use std::io;
use std::path::Path;

use metric_record::{Message, ReadError, no_text, probable_encoding};

use crate::{RunError, memory};

/// The error of a path at which there is nothing to read.
pub(crate) fn cannot_open(path: &Path, error: &io::Error) -> RunError {
    let name = path.display().to_string();
    // A text that may be the name of a data set on the Hugging Face Hub: `squad` or `owner/name`.
    let is_hub_name = error.kind() == io::ErrorKind::NotFound
        && path.is_relative()
        && path.extension().is_none()
        && path.components().count() <= 2
        && !name.starts_with('.');
    let hint = if is_hub_name {
        " (names of the Hugging Face Hub are not resolved: save the data with Dataset.save_to_disk, or give its files)"
    } else {
        ""
    };
    ReadError::new(name, format!("cannot open: {error}{hint}")).into()
}

/// The error of a source that cannot be read, or not held.
pub(crate) fn cannot_read(name: &str, error: &io::Error) -> RunError {
    match error.kind() {
        io::ErrorKind::OutOfMemory => ReadError::new(name, memory::lack()).limit().into(),
        _ => ReadError::new(name, format!("cannot read: {error}")).into(),
    }
}

/// Says that something takes more memory than allowed.
pub(crate) fn too_long(what: &str, max_bytes: u64) -> Message {
    Message::from(format!("{what} takes more memory than allowed by "))
        .option("max-bytes", &max_bytes.to_string())
}

/// Says where the bytes from this line on cease to be text.
pub(super) fn not_utf8(name: &str, first_line: u64, bytes: &[u8], valid: usize) -> RunError {
    with_encoding_option(
        no_text(name, first_line, bytes, valid, "not UTF-8"),
        bytes,
        valid,
    )
    .into()
}

/// An error with the option that reads the bytes in the encoding that they probably have.
pub(crate) fn with_encoding_option(mut error: ReadError, bytes: &[u8], offset: usize) -> ReadError {
    // A decoder looks at the byte order mark; there is none for four bytes.
    let encoding = probable_encoding(bytes, offset).filter(|encoding| *encoding != "UTF-32");
    if let Some(encoding) = encoding {
        let problem = error.problem.text("; to read it as it is, use ");
        error.problem = problem.option("encoding", &encoding.to_lowercase());
    }
    error
}

/// The start of the message about a zero byte.
pub(super) const NO_TEXT: &str = "not text: byte 0x00";

/// Fails at the first zero byte at or after `start`. No JSON and no XML has one, but a hole in a
/// file reads as zeros, however large it is, and so does text of two bytes per character.
pub(super) fn refuse_zeros(
    name: &str,
    first_line: u64,
    bytes: &[u8],
    start: usize,
) -> Result<(), RunError> {
    match memchr::memchr(0, &bytes[start..]) {
        Some(offset) => {
            let offset = start + offset;
            // Errors before that come first.
            let valid = std::str::from_utf8(&bytes[..offset]);
            let offset = valid.map_or_else(|error| error.valid_up_to(), str::len);
            let problem = match bytes.get(offset) {
                Some(0) => "not text",
                _ => "not UTF-8",
            };
            let error = no_text(name, first_line, bytes, offset, problem);
            Err(with_encoding_option(error, bytes, offset).into())
        }
        None => Ok(()),
    }
}
