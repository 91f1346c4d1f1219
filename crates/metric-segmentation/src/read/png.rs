use std::io::{self, BufRead, Seek};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use metric_record::ReadError;
use png::{
    BitDepth, ColorType, DecodeOptions, Decoder, DecodingError, InterlaceInfo, Limits, Reader,
};

use super::MapOptions;
use super::chunks::{Followed, Progress};

/// The header of a PNG file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PngHeader {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The number of samples of a pixel: 1 for gray and palettes, 2 for gray with alpha, 3 for RGB, 4 for RGBA.
    pub channels: u8,
    /// The number of bits of a sample: 1, 2, 4, 8 or 16.
    pub bits: u8,
    /// Whether samples are indices of a palette.
    pub is_palette: bool,
    /// Whether further images follow, of an animation. Only the default image is read.
    pub is_animated: bool,
}

/// What is odd about a file that is read all the same, as far as it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOddities {
    /// Whether further images follow, of an animation. Only the default image is read.
    pub is_animated: bool,
    /// Whether there are data after the last row, or after the last chunk. Of the image, at most 16 compressed bytes may
    /// follow the last row unnoticed: programs end it in different ways.
    pub has_surplus: bool,
}

/// The rows of a PNG file as they are stored: nothing is scaled, and no palette is applied.
///
/// Memory is a few rows and a window of 32 KiB, whatever the size of the image. An interlaced image is held as a whole. Text,
/// color profiles and other chunks are skipped; the checksums of chunks and the end of the file are checked.
pub struct PngRows<R: BufRead + Seek> {
    name: String,
    header: PngHeader,
    reader: Reader<Followed<R>>,
    progress: Arc<Progress>,
    /// The bytes of a row, or of the whole image if it is interlaced.
    bytes: Vec<u8>,
    row_bytes: usize,
    /// The number of rows that were read.
    rows: u32,
    is_interlaced: bool,
    has_surplus: bool,
}

/// The most bytes of the image that follow its last row without being further data: the end of the compressed data, which may have
/// empty blocks, and checksums.
const MOST_END: u64 = 16;

/// Enough for the palettes and the ancillary chunks that the decoder keeps.
const CHUNK_BYTES: usize = 1 << 20;

impl<R: BufRead + Seek> PngRows<R> {
    /// Reads the header of a PNG file. `name` is the name of the file, for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if this is not a PNG file, or if the image is larger than the options allow.
    pub fn new(name: impl Into<String>, input: R, options: MapOptions) -> Result<Self, ReadError> {
        let name = name.into();
        let mut decoding = DecodeOptions::default();
        decoding.set_ignore_checksums(false);
        decoding.set_ignore_text_chunk(true);
        decoding.set_ignore_iccp_chunk(true);
        let progress = Arc::<Progress>::default();
        let input = Followed::new(input, Arc::clone(&progress));
        let mut decoder = Decoder::new_with_options(input, decoding);
        let refused = |error| invalid(&name, error);
        let info = decoder.read_header_info().map_err(refused)?;
        let (width, height, is_interlaced) = (info.width, info.height, info.interlaced);
        let row_bytes = info.raw_row_length() - 1;
        options.check_pixels(&name, width.into(), height.into())?;
        let image_bytes = row_bytes as u64 * u64::from(height);
        // The decoder holds a few rows.
        let (held, why) = if is_interlaced {
            (image_bytes, "because it is interlaced")
        } else {
            (row_bytes as u64, "for each row")
        };
        let held = options.check_bytes(&name, held, why)?;
        decoder.set_limits(Limits {
            bytes: CHUNK_BYTES.saturating_add(row_bytes.saturating_mul(4)),
        });
        let reader = decoder.read_info().map_err(refused)?;
        let info = reader.info();
        let header = PngHeader {
            width,
            height,
            channels: info.color_type.samples() as u8,
            bits: bits(info.bit_depth),
            is_palette: info.color_type == ColorType::Indexed,
            is_animated: info.animation_control().is_some(),
        };
        Ok(Self {
            name,
            header,
            reader,
            progress,
            bytes: vec![0; held],
            row_bytes,
            rows: 0,
            is_interlaced,
            has_surplus: false,
        })
    }

    /// Returns the header.
    pub fn header(&self) -> PngHeader {
        self.header
    }

    /// Returns what is odd about the file.
    pub fn oddities(&self) -> FileOddities {
        FileOddities {
            is_animated: self.header.is_animated,
            has_surplus: self.has_surplus,
        }
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the next row: samples of 8 bits as bytes, samples of 16 bits as two bytes, the higher one first, and smaller
    /// samples packed from the highest bit of each byte. `None` after the last row.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is cut off or damaged.
    pub fn next_row(&mut self) -> Result<Option<&[u8]>, ReadError> {
        if self.rows == self.header.height {
            return Ok(None);
        }
        if self.is_interlaced {
            if self.rows == 0 {
                self.read_interlaced()?;
            }
        } else {
            let read = self.reader.read_row(&mut self.bytes);
            read.map_err(|error| invalid(&self.name, error))?;
        }
        let start = if self.is_interlaced {
            self.row_bytes * self.rows as usize
        } else {
            0
        };
        self.rows += 1;
        if self.rows == self.header.height {
            self.finish()?;
        }
        Ok(self.bytes.get(start..start + self.row_bytes))
    }

    /// Reads the seven passes of an interlaced image.
    fn read_interlaced(&mut self) -> Result<(), ReadError> {
        let bits = self.header.bits * self.header.channels;
        let mut row = vec![0; self.row_bytes];
        loop {
            let read = self.reader.read_row(&mut row);
            match read.map_err(|error| invalid(&self.name, error))? {
                None => return Ok(()),
                Some(InterlaceInfo::Adam7(pass)) => {
                    png::expand_interlaced_row(&mut self.bytes, self.row_bytes, &row, &pass, bits);
                }
                Some(InterlaceInfo::Null(_)) => {}
            }
        }
    }

    /// Reads what follows the image up to the end of the file, which decodes nothing.
    fn finish(&mut self) -> Result<(), ReadError> {
        // The frames of an animation are not looked at.
        if self.header.is_animated {
            return Ok(());
        }
        let read = self.progress.image.load(Relaxed);
        let finished = self.reader.finish();
        finished.map_err(|error| invalid(&self.name, error))?;
        let left = self.progress.image.load(Relaxed) - read;
        self.has_surplus = left > MOST_END || self.progress.goes_on.load(Relaxed);
        Ok(())
    }
}

/// The number of bits of a sample.
fn bits(depth: BitDepth) -> u8 {
    depth as u8
}

/// The error of a file that the decoder refuses.
fn invalid(name: &str, error: DecodingError) -> ReadError {
    let problem = match error {
        DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "is cut off: expected a complete PNG file".to_owned()
        }
        DecodingError::IoError(error) => {
            return ReadError::new(name, format!("cannot be read: {error}"));
        }
        error => {
            let error = error.to_string();
            format!("is not a valid PNG file: {}", error.trim_end_matches('.'))
        }
    };
    ReadError::new(name, problem)
}
