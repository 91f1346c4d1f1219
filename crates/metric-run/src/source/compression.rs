//! Compression of whole files, which the ending of a name tells.

use std::io::{self, Read};
use std::path::Path;

use metric_record::ReadError;

use super::{Stream, cannot_read};
use crate::RunError;
use crate::formats::extension;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstandard,
}

impl Compression {
    /// The compression that the name of a file tells.
    pub(super) fn of_name(path: &Path) -> Self {
        match extension(path).as_deref() {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstandard,
            _ => Self::None,
        }
    }

    /// The content of a file of this name. A file that starts otherwise than the compression does is refused.
    pub(super) fn decompress(self, name: &str, mut raw: Stream) -> Result<Stream, RunError> {
        if self == Self::None {
            return Ok(raw);
        }
        let mut start = Vec::new();
        let read = raw.by_ref().take(4).read_to_end(&mut start);
        read.map_err(|error| cannot_read(name, &error))?;
        if !self.has_start(&start) {
            let problem = match self {
                Self::Gzip => {
                    "is not a gzip file, though its name ends in .gz: expected a file that gzip has written"
                }
                _ => {
                    "is not a Zstandard file, though its name ends in .zst: expected a file that zstd has written"
                }
            };
            let problem = format!("{problem} (rename it if it is not compressed)");
            return Err(ReadError::new(name, problem).into());
        }
        let whole = io::Cursor::new(start).chain(raw);
        Ok(match self {
            Self::Gzip => Box::new(Decompressed(flate2::read::MultiGzDecoder::new(whole))),
            _ => {
                let decoder = zstd::stream::read::Decoder::new(whole);
                let decoder = decoder.map_err(|error| cannot_read(name, &error))?;
                Box::new(Decompressed(decoder))
            }
        })
    }

    /// Whether a file may start with these bytes. A Zstandard file may start with a frame that is skipped.
    fn has_start(self, start: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Gzip => start.starts_with(&[0x1f, 0x8b]),
            Self::Zstandard => matches!(
                start,
                [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18]
            ),
        }
    }
}

/// The content of a compressed file. If the file ends before its content does, the error says so.
struct Decompressed<D>(D);

impl<D: Read> Read for Decompressed<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::other("the compressed file is cut short: copy or download it again")
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_starts_like_its_compression() {
        let gzip = |text: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).expect("gzip");
            encoder.finish().expect("gzip")
        };
        let zstandard = |text: &[u8]| zstd::encode_all(text, 1).expect("zstd");
        let text = b"id,reference\n".as_slice();
        // A frame of four bytes, which is skipped.
        let skipped = [
            b"\x5a\x2a\x4d\x18\x04\0\0\0skip".as_slice(),
            &zstandard(text),
        ]
        .concat();
        for (name, bytes, expected) in [
            ("a.csv", text.to_vec(), Ok(text)),
            ("a.csv.gz", gzip(text), Ok(text)),
            ("a.csv.GZ", gzip(b""), Ok(&b""[..])),
            ("a.csv.zst", zstandard(text), Ok(text)),
            ("a.csv.zst", skipped, Ok(text)),
            (
                "a.csv.gz",
                text.to_vec(),
                Err("is not a gzip file, though its name ends in .gz"),
            ),
            ("a.csv.gz", zstandard(text), Err("is not a gzip file")),
            ("a.csv.gz", Vec::new(), Err("is not a gzip file")),
            (
                "a.csv.zst",
                text.to_vec(),
                Err("is not a Zstandard file, though its name ends in .zst"),
            ),
            (
                "a.csv.zst",
                gzip(text),
                Err("rename it if it is not compressed"),
            ),
        ] {
            let raw: Stream = Box::new(io::Cursor::new(bytes));
            let compression = Compression::of_name(Path::new(name));
            match (compression.decompress(name, raw), expected) {
                (Ok(mut stream), Ok(expected)) => {
                    let mut read = Vec::new();
                    stream.read_to_end(&mut read).expect("the content");
                    assert_eq!(read, expected, "{name}");
                }
                (Err(error), Err(part)) => {
                    let error = error.to_string();
                    assert!(error.starts_with(name) && error.contains(part), "{error}");
                }
                (given, expected) => panic!("{name}: {:?}, {expected:?}", given.map(drop)),
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_is_an_error_that_says_so() {
        let text = b"id,reference\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).expect("gzip");
        let gzip = gzip.finish().expect("gzip");
        let zstandard = zstd::encode_all(&*text, 1).expect("zstd");
        for (name, bytes) in [("a.gz", gzip), ("a.zst", zstandard)] {
            // Inside of the header, of the content and of what follows it.
            for length in [6, bytes.len() / 2, bytes.len() - 1] {
                let raw: Stream = Box::new(io::Cursor::new(bytes[..length].to_vec()));
                let stream = Compression::of_name(Path::new(name)).decompress(name, raw);
                let mut stream = stream.expect("a stream");
                let error = stream.read_to_end(&mut Vec::new()).err();
                let error = error.map(|error| error.to_string());
                let expected = "the compressed file is cut short: copy or download it again";
                assert_eq!(error.as_deref(), Some(expected), "{name} {length}");
            }
        }
    }
}
