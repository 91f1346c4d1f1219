//! Sources as whole documents, for metrics that read them by themselves.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use metric_record::{Content, Document, Folder, ReadError, Reopen, Stream as LaterText};

use super::unreadable::{cannot_read, not_utf8, refuse_zeros, too_long};
use super::{Origin, Source};
use crate::RunError;
use crate::formats::Format;

/// The number of bytes of a document that are read before it is inspected.
const PART_BYTES: usize = 1 << 20;

/// The length that texts which are searched for do not reach.
const LONGEST_SEARCHED: usize = 64;

/// Reads two bytes as a unit of UTF-16.
type ReadUnit = fn([u8; 2]) -> u16;

/// The byte order marks of UTF-16, each with how a unit is read.
const UTF_16: [(&[u8], ReadUnit); 2] = [
    (b"\xff\xfe", u16::from_le_bytes),
    (b"\xfe\xff", u16::from_be_bytes),
];

/// The text of UTF-16 with a byte order mark.
fn from_utf16(name: &str, bytes: &[u8]) -> Result<String, RunError> {
    let of_mark = UTF_16.iter().find(|(mark, _)| bytes.starts_with(mark));
    let read = of_mark.map_or(u16::from_le_bytes as ReadUnit, |(_, read)| *read);
    let (units, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(units.len());
    let invalid = |text: &str| {
        let line = 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        ReadError::new(
            name,
            "not UTF-16, though the file starts with its byte order mark",
        )
        .line(line)
    };
    for char in char::decode_utf16(units.iter().copied().map(read)) {
        text.push(char.map_err(|_| invalid(&text))?);
    }
    match rest {
        [] => Ok(text),
        _ => Err(invalid(&text).into()),
    }
}

impl Source {
    /// Returns all of it, for a metric that reads it by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the source cannot be read, if it is not UTF-8, or if it has more than `max_bytes`
    /// bytes.
    pub fn document(&self, max_bytes: u64) -> Result<Document, RunError> {
        let name = self.name();
        let content = match &self.origin {
            Origin::Folder(path) => Content::Folder(self.as_folder(path, max_bytes)),
            Origin::File(path) if self.describes_data_set() => {
                Content::Folder(self.as_folder(path, max_bytes))
            }
            Origin::Several(..) => {
                let problem = "are several files: expected one file or folder";
                return Err(ReadError::new(name, problem).into());
            }
            _ => {
                let failed = |error: io::Error| cannot_read(&name, &error);
                let may_be_utf16 = self.format == Some(Format::TextGrid);
                let is_utf16 = |bytes: &[u8]| {
                    may_be_utf16 && UTF_16.iter().any(|(mark, _)| bytes.starts_with(mark))
                };
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
                    if !is_utf16(&bytes) {
                        refuse_zeros(&name, 1, &bytes, start)?;
                    }
                    if bytes.len() as u64 > max_bytes {
                        let error = ReadError::new(&name, too_long("the file", max_bytes));
                        return Err(error.limit().into());
                    }
                }
                if is_utf16(&bytes) {
                    return Ok(Document {
                        content: Content::Text(from_utf16(&name, &bytes)?),
                        name,
                    });
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

    fn as_folder(&self, path: &Path, max_bytes: u64) -> Folder {
        Folder {
            path: path.to_owned(),
            max_bytes,
            original: None,
            split: self.split.clone(),
        }
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

    /// Whether one of these texts occurs in the source, as far as it can be read and has no zero byte. They are shorter than
    /// [`LONGEST_SEARCHED`].
    pub(crate) fn has_any(&self, texts: &[String]) -> bool {
        let Ok(mut stream) = self.stream(Arc::default()) else {
            return false;
        };
        let finders: Vec<_> = texts.iter().map(memchr::memmem::Finder::new).collect();
        let mut bytes = vec![0; LONGEST_SEARCHED + (64 << 10)];
        let mut kept = 0;
        loop {
            let read = match stream.read(&mut bytes[kept..]) {
                Ok(read) if read > 0 => read,
                _ => return false,
            };
            let part = &bytes[..kept + read];
            if finders.iter().any(|finder| finder.find(part).is_some()) {
                return true;
            }
            if memchr::memchr(0, part).is_some() {
                return false;
            }
            // A text may be cut off at the end.
            let start = part.len().saturating_sub(LONGEST_SEARCHED);
            let end = part.len();
            kept = end - start;
            bytes.copy_within(start..end, 0);
        }
    }

    /// The same, not yet read if it can be read again later.
    pub(crate) fn document_later(&self, max_bytes: u64) -> Result<Document, RunError> {
        let is_file = matches!(self.origin, Origin::File(_) | Origin::Memory(..));
        if !is_file || !self.is_rereadable() || self.describes_data_set() {
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
