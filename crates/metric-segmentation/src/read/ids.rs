//! The ids of the pixels of an image, row by row.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use metric_record::{Message, ReadError, json};
use png::{BitDepth, ColorType, Decoder, DecodingError, Reader};

use super::limits::Limits;

/// The width and the height of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    /// Returns the number of pixels, if it is allowed.
    pub(crate) fn pixels(self, limits: Limits) -> Result<usize, Message> {
        let pixels = u64::from(self.width) * u64::from(self.height);
        if pixels == 0 {
            return Err(format!("has {self} pixels: expected at least one").into());
        }
        let number = usize::try_from(pixels).ok();
        number
            .filter(|_| pixels <= limits.max_pixels)
            .ok_or_else(|| {
                Message::from(format!("has {self} pixels: expected at most "))
                    .option("max-pixels", &limits.max_pixels.to_string())
            })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.width, self.height)
    }
}

/// The ids of an image, from wherever they are.
pub(crate) enum IdRows {
    Png(PngIds),
    Map(IdMap),
    /// No segment at all.
    Void { size: Size, row: Vec<u32>, next: u32 },
}

impl IdRows {
    pub(crate) fn size(&self) -> Size {
        match self {
            Self::Png(rows) => rows.size,
            Self::Map(map) => map.size,
            Self::Void { size, .. } => *size,
        }
    }

    /// Returns the next row; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u32]>, ReadError> {
        match self {
            Self::Png(rows) => rows.next(),
            Self::Map(map) => Ok(map.next()),
            Self::Void { size, row, next } => {
                *next += 1;
                Ok((*next <= size.height).then_some(row))
            }
        }
    }

    /// Returns the ids of an image of this size without segments.
    pub(crate) fn void(size: Size) -> Self {
        let row = vec![0; size.width as usize];
        Self::Void { size, row, next: 0 }
    }
}

/// The ids of an image in memory.
#[derive(Clone, Debug)]
pub(crate) struct IdMap {
    size: Size,
    ids: Vec<u32>,
    next: usize,
}

impl IdMap {
    /// Returns a map of VOID.
    pub(crate) fn empty(size: Size, limits: Limits) -> Result<Self, Message> {
        let pixels = size.pixels(limits)?;
        let mut ids = Vec::new();
        ids.try_reserve_exact(pixels)
            .map_err(|_| Message::from(format!("out of memory for {size} pixels")))?;
        ids.resize(pixels, 0);
        Ok(Self { size, ids, next: 0 })
    }

    /// Parses a list of rows.
    pub(crate) fn parse(rows: &str, limits: Limits) -> Result<Self, Message> {
        let of_ids = |problem: String| Message::from(format!("ids: {problem}"));
        let rows: Vec<Vec<u32>> = json::typed(rows).map_err(of_ids)?;
        let width = rows.first().map_or(0, Vec::len);
        for (index, row) in rows.iter().enumerate() {
            if row.len() != width {
                let problem = format!(
                    "row {index} has {} ids: expected {width}, as in row 0",
                    row.len()
                );
                return Err(of_ids(problem));
            }
        }
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let size = Size {
            width: number(width),
            height: number(rows.len()),
        };
        size.pixels(limits)?;
        Ok(Self {
            size,
            ids: rows.concat(),
            next: 0,
        })
    }

    /// The pixels of the columns one after the other are those from `start`: sets them to an id, unless one is set already,
    /// which is returned.
    pub(crate) fn set_run(&mut self, start: usize, length: usize, id: u32) -> Option<u32> {
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        for pixel in start..start + length {
            let index = (pixel % height) * width + pixel / height;
            let found = self.ids.get_mut(index)?;
            if *found != 0 {
                return Some(*found);
            }
            *found = id;
        }
        None
    }

    fn next(&mut self) -> Option<&[u32]> {
        let start = self.next;
        self.next += self.size.width as usize;
        self.ids.get(start..self.next)
    }
}

/// The ids of a PNG file, whose pixels have R + 256 G + 65536 B as id.
pub(crate) struct PngIds {
    name: String,
    size: Size,
    reader: Reader<BufReader<File>>,
    /// The pixels of an interlaced file, whose rows come in another order.
    whole: Option<Vec<u8>>,
    channels: usize,
    bytes: Vec<u8>,
    ids: Vec<u32>,
    next: u32,
}

impl PngIds {
    /// Opens a file, and reads its header.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let refused = |problem: Message| ReadError::new(&name, problem);
        let cannot = |error: std::io::Error| refused(format!("cannot be opened: {error}").into());
        let metadata = path.metadata().map_err(cannot)?;
        if !metadata.is_file() {
            return Err(refused("found no plain file, expected a PNG file".into()));
        }
        let file = File::open(path).map_err(cannot)?;
        let invalid = |error: DecodingError| refused(png_problem(&error).into());
        let mut decoder = Decoder::new(BufReader::new(file));
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let header = decoder.read_header_info().map_err(invalid)?;
        let size = Size {
            width: header.width,
            height: header.height,
        };
        let pixels = size.pixels(limits).map_err(|problem| refused(problem).limit())?;
        let channels = match (header.color_type, header.bit_depth) {
            (ColorType::Rgb, BitDepth::Eight) => 3,
            (ColorType::Rgba, BitDepth::Eight) => 4,
            (color, depth) => return Err(refused(other_png(color, depth).into())),
        };
        let is_interlaced = header.interlaced;
        let mut reader = decoder.read_info().map_err(invalid)?;
        let mut whole = None;
        if is_interlaced {
            let mut bytes = Vec::new();
            bytes
                .try_reserve_exact(pixels * channels)
                .map_err(|_| refused(format!("out of memory for {size} pixels").into()))?;
            bytes.resize(pixels * channels, 0);
            reader.next_frame(&mut bytes).map_err(invalid)?;
            whole = Some(bytes);
        }
        let width = size.width as usize;
        Ok(Self {
            bytes: vec![0; width * channels],
            ids: vec![0; width],
            name,
            size,
            reader,
            whole,
            channels,
            next: 0,
        })
    }

    fn next(&mut self) -> Result<Option<&[u32]>, ReadError> {
        if self.next == self.size.height {
            return Ok(None);
        }
        let row = self.next as usize * self.bytes.len();
        let bytes = match &self.whole {
            Some(whole) => &whole[row..row + self.bytes.len()],
            None => {
                let read = self.reader.read_row(&mut self.bytes);
                read.map_err(|error| ReadError::new(&self.name, png_problem(&error)))?;
                &self.bytes
            }
        };
        self.next += 1;
        let id = |[red, green, blue]: [u8; 3]| u32::from_le_bytes([red, green, blue, 0]);
        if self.channels == 3 {
            let (pixels, _) = bytes.as_chunks::<3>();
            for (to, pixel) in self.ids.iter_mut().zip(pixels) {
                *to = id(*pixel);
            }
        } else {
            let (pixels, _) = bytes.as_chunks::<4>();
            for (to, &[red, green, blue, _]) in self.ids.iter_mut().zip(pixels) {
                *to = id([red, green, blue]);
            }
        }
        Ok(Some(&self.ids))
    }
}

/// The problem of a file without three or four channels of 8 bits.
fn other_png(color: ColorType, depth: BitDepth) -> String {
    let expected = "expected 3 or 4 channels of 8 bits (RGB or RGBA), as panoptic files have";
    let hint = "; a map of classes is for the metric segmentation";
    match (color, depth as u8) {
        (ColorType::Grayscale, depth) => format!("is gray of {depth} bits: {expected}{hint}"),
        (ColorType::GrayscaleAlpha, depth) => {
            format!("is gray of {depth} bits with alpha: {expected}{hint}")
        }
        (ColorType::Indexed, _) => format!("has a palette: {expected}{hint}"),
        (_, depth) => format!("has {depth} bits per channel: {expected}"),
    }
}

fn png_problem(error: &DecodingError) -> String {
    match error {
        DecodingError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "is truncated: the file ends before its last row".to_owned()
        }
        DecodingError::IoError(error) => format!("cannot be read: {error}"),
        error => format!("is not a PNG file that can be decoded: {error}"),
    }
}
