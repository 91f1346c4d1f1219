//! The chunks of a PNG file, followed while a decoder reads it.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What a decoder has read of a file, as those see it who do not have the file.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The number of bytes of the compressed image.
    pub(super) image: AtomicU64,
    /// Whether there are bytes after the last chunk.
    pub(super) goes_on: AtomicBool,
}

/// A file whose chunks are counted while it is read.
pub(super) struct Followed<R> {
    input: R,
    chunks: Chunks,
    progress: Arc<Progress>,
}

/// The most bytes of chunks that are not the image, which are skipped.
const MOST_OTHERS: u64 = 1 << 31;

impl<R: BufRead> Followed<R> {
    pub(super) fn new(input: R, progress: Arc<Progress>) -> Self {
        Self {
            input,
            chunks: Chunks::default(),
            progress,
        }
    }
}

impl<R: BufRead> BufRead for Followed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunks.others > MOST_OTHERS {
            let problem = format!(
                "more than {MOST_OTHERS} bytes are not the image: expected fewer, so write the file anew without them"
            );
            return Err(io::Error::other(problem));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        // What is consumed is in the buffer.
        if let Ok(buffer) = self.input.fill_buf() {
            self.chunks.follow(buffer.get(..bytes).unwrap_or(buffer));
        }
        self.input.consume(bytes);
        self.progress.image.store(self.chunks.image, Relaxed);
        if self.chunks.is_over() {
            let goes_on = self.input.fill_buf().is_ok_and(|rest| !rest.is_empty());
            self.progress.goes_on.store(goes_on, Relaxed);
        }
    }
}

impl<R: BufRead> Read for Followed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Seek> Seek for Followed<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.input.seek(to)
    }
}

/// The bytes of a file, divided into those of the image and others.
#[derive(Debug)]
struct Chunks {
    /// The start of a chunk, its length and its type, as far as it is known.
    head: Vec<u8>,
    /// The number of bytes that are left of the chunk, with its checksum.
    left: u64,
    is_image: bool,
    is_last: bool,
    image: u64,
    others: u64,
}

/// The length of the signature that a file starts with.
const SIGNATURE: u64 = 8;

/// The length of the checksum that a chunk ends with.
const CHECKSUM: u64 = 4;

impl Default for Chunks {
    fn default() -> Self {
        Self {
            head: Vec::with_capacity(8),
            left: SIGNATURE,
            is_image: false,
            is_last: false,
            image: 0,
            others: 0,
        }
    }
}

impl Chunks {
    /// Whether the last chunk is complete.
    fn is_over(&self) -> bool {
        self.is_last && self.left == 0
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over() {
            if self.left > 0 {
                let skipped = bytes
                    .len()
                    .min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= skipped as u64;
                if self.is_image {
                    self.image += skipped as u64;
                } else {
                    self.others += skipped as u64;
                }
                bytes = &bytes[skipped..];
                continue;
            }
            let (start, rest) = bytes.split_at(bytes.len().min(8 - self.head.len()));
            self.head.extend_from_slice(start);
            bytes = rest;
            if let [a, b, c, d, kind @ ..] = &*self.head
                && kind.len() == 4
            {
                self.left = u64::from(u32::from_be_bytes([*a, *b, *c, *d])) + CHECKSUM;
                self.is_image = kind == b"IDAT";
                self.is_last = kind == b"IEND";
                self.head.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_image_are_told_from_others() {
        let chunk = |kind: &[u8], data: &[u8]| {
            [&(data.len() as u32).to_be_bytes(), kind, data, &[0; 4]].concat()
        };
        let file = [
            vec![0; 8],
            chunk(b"IHDR", &[0; 13]),
            chunk(b"IDAT", &[0; 5]),
            chunk(b"IDAT", &[0; 2]),
            chunk(b"IEND", b""),
        ];
        let file = file.concat();
        for size in [1, 3, 7, 100] {
            let mut chunks = Chunks::default();
            for part in file.chunks(size) {
                assert!(!chunks.is_over());
                chunks.follow(part);
            }
            assert!(chunks.is_over());
            // With the checksums of both chunks.
            assert_eq!((chunks.image, chunks.others), (7 + 8, 8 + 17 + 4));
        }
    }
}
