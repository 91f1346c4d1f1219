use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::{Message, ReadError};

/// The number of bytes of data that are held in memory, unless a caller says otherwise.
pub const DEFAULT_MAX_BYTES: u64 = 8_000_000_000;

/// Reads whole files, such as those of a folder, which together have a bounded number of bytes.
///
/// ```
/// use metric_record::FileReader;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.txt");
/// std::fs::write(&path, "12345")?;
///
/// let mut reader = FileReader::new(8);
/// assert_eq!(reader.read(&path)?.1, "12345");
/// assert!(reader.read(&path).unwrap_err().is_limit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FileReader {
    max_bytes: u64,
    left: u64,
}

impl FileReader {
    /// Returns a reader of files whose sizes add up to at most `max_bytes`.
    #[must_use]
    pub const fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            left: max_bytes,
        }
    }

    /// Returns the name of a file, as [`name_text`] writes it, and its text.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a plain file, if it cannot be read, if it is not UTF-8, and, as a
    /// [limit](ReadError::limit), if it has more bytes than are left.
    pub fn read(&mut self, path: &Path) -> Result<(String, String), ReadError> {
        let name = name_text(path.as_os_str()).into_owned();
        let failed = |why: io::Error| match why.kind() {
            io::ErrorKind::OutOfMemory => {
                let problem =
                    Message::from("out of memory: expected a smaller file, or more memory; ")
                        .option("max-bytes", "")
                        .text(" refuses larger ones at once");
                ReadError::new(&name, problem).limit()
            }
            _ => ReadError::new(&name, format!("cannot be read: {why}")),
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(ReadError::new(&name, "found no plain file, expected one"));
        }
        let mut bytes = Vec::new();
        if metadata.len() <= self.left {
            // One byte more than allowed tells of a file that grows while it is read.
            let file = fs::File::open(path).map_err(failed)?;
            let mut part = file.take(self.left.saturating_add(1));
            part.read_to_end(&mut bytes).map_err(failed)?;
        }
        let size = metadata.len().max(bytes.len() as u64);
        let Some(left) = self.left.checked_sub(size) else {
            let problem = format!(
                "with {size} bytes, the files of the folder take more memory than allowed by "
            );
            let problem = Message::from(problem).option("max-bytes", &self.max_bytes.to_string());
            return Err(ReadError::new(&name, problem).limit());
        };
        self.left = left;
        let text = String::from_utf8(bytes).map_err(|wrong| {
            let index = wrong.utf8_error().valid_up_to();
            no_text(&name, 1, wrong.as_bytes(), index, "not UTF-8")
        })?;
        Ok((name, text))
    }
}

/// Returns the error of bytes that start with this line of a file and cease to be text at an offset.
///
/// ```
/// use metric_record::no_text;
///
/// // A character of two bytes without the second one.
/// let error = no_text("a.txt", 7, b"a\nb\xc3", 3, "not UTF-8");
/// assert_eq!(error.to_string(), "a.txt:8: not UTF-8: byte 0xc3 at byte 2 of the line");
/// ```
#[must_use]
pub fn no_text(
    name: &str,
    first_line: u64,
    bytes: &[u8],
    offset: usize,
    problem: &str,
) -> ReadError {
    let (before, rest) = bytes.split_at(offset.min(bytes.len()));
    let line = first_line + before.iter().filter(|byte| **byte == b'\n').count() as u64;
    let of_line = before.iter().rev().take_while(|byte| **byte != b'\n');
    let column = 1 + of_line.count();
    let byte = rest.first().copied().unwrap_or_default();
    let hint = encoding_hint(bytes, offset);
    let problem = format!("{problem}: byte 0x{byte:02x} at byte {column} of the line{hint}");
    ReadError::new(name, problem).line(line)
}

/// Returns how to convert a file of text to UTF-8, for the end of a message about the byte at an offset at which it ceases
/// to be UTF-8; empty if no encoding is probable.
///
/// ```
/// use metric_record::encoding_hint;
///
/// let hint = encoding_hint(b"caf\xe9 au lait", 3);
/// assert_eq!(hint, "; to convert a file in WINDOWS-1252, use iconv -f WINDOWS-1252 -t UTF-8");
/// assert!(encoding_hint(b"i\0d\0", 1).ends_with("iconv -f UTF-16LE -t UTF-8"));
/// assert_eq!(encoding_hint("\u{e9}".as_bytes().split_at(1).0, 0), "");
/// ```
#[must_use]
pub fn encoding_hint(bytes: &[u8], offset: usize) -> String {
    match probable_encoding(bytes, offset) {
        Some(encoding) => {
            format!("; to convert a file in {encoding}, use iconv -f {encoding} -t UTF-8")
        }
        None => String::new(),
    }
}

/// Returns the encoding in which the bytes around an offset are probably text.
#[must_use]
pub fn probable_encoding(bytes: &[u8], offset: usize) -> Option<&'static str> {
    let marks: [(&[u8], &str); 4] = [
        (b"\xff\xfe\0\0", "UTF-32"),
        (b"\0\0\xfe\xff", "UTF-32"),
        (b"\xff\xfe", "UTF-16"),
        (b"\xfe\xff", "UTF-16"),
    ];
    if let Some((_, encoding)) = marks.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return Some(encoding);
    }
    let rest = bytes.get(offset..)?;
    match rest {
        // Letters of ASCII, each with a zero.
        [0, letter, 0, ..] if *letter > 0 => Some(if offset % 2 == 1 {
            "UTF-16LE"
        } else {
            "UTF-16BE"
        }),
        [first, ..] if !first.is_ascii() => {
            let is_cut = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            // Words of Cyrillic have no letter of ASCII.
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = &line[..line.len().min(200)];
            let letters = line.iter().filter(|byte| **byte >= 0xc0).count();
            let of_ascii = line
                .iter()
                .filter(|byte| byte.is_ascii_alphabetic())
                .count();
            let encoding = if letters > 2.max(of_ascii) {
                "WINDOWS-1251"
            } else {
                "WINDOWS-1252"
            };
            (!is_cut).then_some(encoding)
        }
        _ => None,
    }
}

/// Returns the name of a file as text. Bytes that are not UTF-8, which some systems allow in names, are
/// written as `\xFF`.
///
/// ```
/// # #[cfg(unix)] {
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
///
/// use metric_record::name_text;
///
/// assert_eq!(name_text(OsStr::new("caf\u{e9}")), "caf\u{e9}");
/// assert_eq!(name_text(OsStr::from_bytes(b"caf\xe9")), r"caf\xE9");
/// # }
/// ```
#[must_use]
pub fn name_text(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    Cow::Owned(text)
}
