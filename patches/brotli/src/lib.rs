//! The part of the crate `brotli` that `parquet` needs to read files.
//!
//! `parquet` depends on the whole crate, although nothing here writes Parquet files. The compressor and its tables take
//! a twentieth of the Python wheel, so `[patch.crates-io]` in the manifest of the workspace puts this crate in its
//! place. What compresses is there, as `parquet` names it, and refuses.

use std::io::{Error, ErrorKind, Result, Write};

pub use brotli_decompressor::Decompressor;

/// A writer that accepts nothing.
#[derive(Debug)]
pub struct CompressorWriter<W>(W);

impl<W: Write> CompressorWriter<W> {
    /// Returns a writer that accepts nothing, whatever the size of its buffer, its quality and its window.
    pub const fn new(writer: W, _buffer_size: usize, _quality: u32, _window: u32) -> Self {
        Self(writer)
    }
}

impl<W: Write> Write for CompressorWriter<W> {
    fn write(&mut self, _: &[u8]) -> Result<usize> {
        let problem = "Brotli is not compressed here, only read";
        Err(Error::new(ErrorKind::Unsupported, problem))
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}
