//! Texts in other encodings than UTF-8, which are decoded while they are read.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult};

use super::Stream;

/// The encoding of a text, by one of the names of the WHATWG's Encoding Standard: `utf-16`, `windows-1252`, `shift_jis`.
///
/// A byte order mark at the start of a text tells more than the name: `utf-16` is either byte order.
///
/// ```
/// use metric_run::Encoding;
///
/// let encoding: Encoding = "latin1".parse()?;
/// assert_eq!(encoding.to_string(), "windows-1252");
/// assert!("latin-17".parse::<Encoding>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// Returns the text of a stream in UTF-8.
    pub(super) fn decode(self, stream: Stream) -> Stream {
        Box::new(Decoding {
            encoding: self,
            decoder: self.0.new_decoder(),
            stream,
            input: vec![0; INPUT_BYTES],
            unread: 0..0,
            text: String::new(),
            given: 0,
            before: 0,
            has_ended: false,
        })
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes());
        found.map(Self).ok_or_else(|| {
            "expected the name of an encoding, such as utf-16, windows-1252, shift_jis or gb18030".to_owned()
        })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

/// The number of bytes that are decoded at a time.
const INPUT_BYTES: usize = 16 * 1024;

/// Decodes what it reads.
struct Decoding {
    encoding: Encoding,
    decoder: Decoder,
    stream: Stream,
    input: Vec<u8>,
    /// What was read into the input and is not decoded yet.
    unread: std::ops::Range<usize>,
    text: String,
    /// The number of bytes of the text that were given away.
    given: usize,
    /// The number of bytes before the input.
    before: u64,
    has_ended: bool,
}

impl Decoding {
    /// Decodes the next part of the input.
    fn fill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.given = 0;
        if self.unread.is_empty() {
            self.before += self.unread.end as u64;
            self.unread = 0..self.stream.read(&mut self.input)?;
            self.has_ended = self.unread.is_empty();
        }
        let input = &self.input[self.unread.clone()];
        let room = self
            .decoder
            .max_utf8_buffer_length_without_replacement(input.len());
        self.text.reserve(room.unwrap_or(4 * INPUT_BYTES));
        let decoded = self.decoder.decode_to_string_without_replacement(
            input,
            &mut self.text,
            self.has_ended,
        );
        let (result, read) = decoded;
        self.unread.start += read;
        if let DecoderResult::Malformed(length, after) = result {
            let end = self.before + self.unread.start as u64 - u64::from(after);
            let (encoding, start) = (self.encoding, end.saturating_sub(u64::from(length)));
            return Err(io::Error::other(format!(
                "byte {} is not {encoding}",
                start + 1
            )));
        }
        Ok(())
    }
}

impl Read for Decoding {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.has_ended {
            self.fill()?;
        }
        let rest = &self.text.as_bytes()[self.given..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(name: &str, bytes: &[u8]) -> Result<String, String> {
        let encoding: Encoding = name.parse()?;
        let mut stream = encoding.decode(Box::new(io::Cursor::new(bytes.to_vec())));
        let mut text = String::new();
        let read = stream.read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_by_hand() {
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        let long = "caf\u{e9} \u{1f600}\n".repeat(5000);
        for (name, bytes, expected) in [
            (
                "windows-1252",
                b"caf\xe9 \x80".to_vec(),
                "caf\u{e9} \u{20ac}",
            ),
            ("latin1", b"\xe9".to_vec(), "\u{e9}"),
            ("windows-1251", b"\xc4\xe0".to_vec(), "\u{414}\u{430}"),
            (
                "utf-16",
                utf16("\u{feff}a\u{e9}", u16::to_le_bytes),
                "a\u{e9}",
            ),
            (
                "utf-16",
                utf16("\u{feff}a\u{e9}", u16::to_be_bytes),
                "a\u{e9}",
            ),
            ("utf-16be", utf16("a\u{e9}", u16::to_be_bytes), "a\u{e9}"),
            ("utf-16", utf16(&long, u16::to_le_bytes), long.as_str()),
            ("utf-8", long.clone().into_bytes(), long.as_str()),
            ("shift_jis", b"\x93\xfa".to_vec(), "\u{65e5}"),
            ("windows-1252", Vec::new(), ""),
        ] {
            let found = decoded(name, &bytes);
            assert!(
                found.as_deref() == Ok(expected),
                "{name}: {:?}",
                found.err()
            );
        }
        let cut = decoded("utf-16", b"a\0b");
        assert_eq!(cut, Err("byte 3 is not utf-16le".to_owned()));
        let malformed = decoded("shift_jis", b"ab\x81\x0a");
        assert_eq!(malformed, Err("byte 3 is not shift_jis".to_owned()));
    }
}
