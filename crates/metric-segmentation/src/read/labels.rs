use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Component, Path};

use metric_record::{Grid, GridRow, Message, ReadError};

use super::npy::{self, NpyRows};
use super::opened::OpenedFile;
use super::png::PngRows;
use super::{FileOddities, MapOptions};
use crate::LabelRow;

/// The rows of a map of labels, in a PNG or a NumPy file, or in memory.
///
/// The label of a pixel is the sample as it is stored: the index of a palette, never its color, and gray of 1, 2 or 4 bits is
/// not scaled.
///
/// ```no_run
/// use metric_segmentation::read::{LabelRows, MapOptions};
///
/// let mut rows = LabelRows::open("labels/im0.png".as_ref(), MapOptions::default())?;
/// let [width, height] = rows.size();
/// while let Some(row) = rows.next_row()? {
///     assert_eq!(row.len(), width);
/// }
/// # Ok::<(), metric_record::ReadError>(())
/// ```
pub struct LabelRows<'g, R: BufRead + Seek> {
    format: Format<'g, R>,
    /// The labels of a row whose samples are not bytes.
    bytes: Vec<u8>,
    wide: Vec<i64>,
}

enum Format<'g, R: BufRead + Seek> {
    Png(Box<PngRows<R>>),
    Npy(NpyRows<R>),
    /// The rows that are left, the last one first.
    Rows(String, [usize; 2], Vec<Vec<i64>>),
    /// A grid, and the index of the next row.
    Grid(String, &'g dyn Grid, usize),
}

/// The rows of a file on disk or in memory, of a list or of a grid.
pub type OpenedRows<'g> = LabelRows<'g, OpenedFile<'g>>;

/// The first bytes of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl<'g> LabelRows<'g, OpenedFile<'g>> {
    /// Opens the file at a path that is relative to a folder, and not trusted.
    ///
    /// # Errors
    ///
    /// Returns an error if the path leads out of the folder or over a link, and as [`open`](Self::open) does.
    pub fn open_within(folder: &Path, path: &str, options: MapOptions) -> Result<Self, ReadError> {
        let mut whole = folder.to_owned();
        for part in Path::new(path).components() {
            if !matches!(part, Component::Normal(_) | Component::CurDir) {
                let problem =
                    "leads out of the folder: expected a path below the folder of the file";
                return Err(ReadError::new(path, problem));
            }
            whole.push(part);
            if fs::symlink_metadata(&whole).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(ReadError::new(path, "is a symbolic link: expected a file"));
            }
        }
        Self::open(&whole, options)
    }

    /// Returns rows that are in memory. `name` says what they are, for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no pixels, or if the rows differ in length.
    pub fn of_rows(name: impl Into<String>, mut rows: Vec<Vec<i64>>) -> Result<Self, ReadError> {
        let name = name.into();
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(no_pixels(name));
        }
        if let Some(index) = rows.iter().position(|row| row.len() != width) {
            let problem = format!(
                "found {} labels in row {}, and {width} in the first one: expected rows of the same length",
                rows[index].len(),
                index + 1
            );
            return Err(ReadError::new(name, problem));
        }
        let size = [width, rows.len()];
        rows.reverse();
        Ok(Self {
            format: Format::Rows(name, size, rows),
            bytes: Vec::new(),
            wide: Vec::new(),
        })
    }

    /// Returns the rows of a grid, which are not copied. `name` says what they are, for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no pixels.
    pub fn of_grid(name: impl Into<String>, grid: &'g dyn Grid) -> Result<Self, ReadError> {
        let name = name.into();
        if grid.size().contains(&0) {
            return Err(no_pixels(name));
        }
        Ok(Self {
            format: Format::Grid(name, grid, 0),
            bytes: Vec::new(),
            wide: Vec::new(),
        })
    }

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, and as [`new`](Self::new) does.
    pub fn open(path: &Path, options: MapOptions) -> Result<Self, ReadError> {
        let file = OpenedFile::open(path)?;
        Self::new(path.display().to_string(), file, options)
    }

    /// Reads a file that is in memory.
    ///
    /// # Errors
    ///
    /// Returns an error as [`new`](Self::new) does.
    pub fn in_memory(
        name: impl Into<String>,
        bytes: &'g [u8],
        options: MapOptions,
    ) -> Result<Self, ReadError> {
        Self::new(name, bytes.into(), options)
    }
}

/// A file that is read from its start to its end, such as a compressed one. Readers of images never move in it.
pub struct Forward(BufReader<Box<dyn Read + Send>>);

impl Read for Forward {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Forward {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.0.consume(bytes);
    }
}

impl Seek for Forward {
    fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl LabelRows<'_, Forward> {
    /// Reads a file from its start to its end.
    ///
    /// # Errors
    ///
    /// Returns an error as [`new`](Self::new) does.
    pub fn forward(
        name: impl Into<String>,
        input: Box<dyn Read + Send>,
        options: MapOptions,
    ) -> Result<Self, ReadError> {
        Self::new(name, Forward(BufReader::new(input)), options)
    }
}

impl<R: BufRead + Seek> LabelRows<'_, R> {
    /// Reads the header of a file. `name` is the name of the file, for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is neither a PNG file with one channel nor a NumPy file of integers or booleans, or if
    /// it is larger than the options allow.
    pub fn new(
        name: impl Into<String>,
        mut input: R,
        options: MapOptions,
    ) -> Result<Self, ReadError> {
        let name = name.into();
        let start = input.fill_buf();
        let start =
            start.map_err(|error| ReadError::new(&name, format!("cannot be read: {error}")))?;
        let format = if start.starts_with(PNG) {
            let rows = PngRows::new(name, input, options)?;
            Format::Png(Box::new(if options.first_channel {
                rows
            } else {
                one_channel(rows)?
            }))
        } else if start.starts_with(npy::MAGIC) {
            Format::Npy(NpyRows::new(name, input, options)?)
        } else {
            let problem = "is neither a PNG nor a NumPy file: expected labels as .png or .npy";
            return Err(ReadError::new(name, problem));
        };
        Ok(Self {
            format,
            bytes: Vec::new(),
            wide: Vec::new(),
        })
    }

    /// Returns the width and the height.
    pub fn size(&self) -> [usize; 2] {
        match &self.format {
            Format::Png(rows) => {
                let header = rows.header();
                [header.width as usize, header.height as usize]
            }
            Format::Npy(rows) => rows.size(),
            Format::Rows(_, size, _) => *size,
            Format::Grid(_, grid, _) => {
                let [height, width] = grid.size();
                [width, height]
            }
        }
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        match &self.format {
            Format::Png(rows) => rows.name(),
            Format::Npy(rows) => rows.name(),
            Format::Rows(name, ..) | Format::Grid(name, ..) => name,
        }
    }

    /// Returns what is odd about the file.
    pub fn oddities(&self) -> FileOddities {
        match &self.format {
            Format::Png(rows) => rows.oddities(),
            Format::Npy(rows) => rows.oddities(),
            Format::Rows(..) | Format::Grid(..) => FileOddities::default(),
        }
    }

    /// Returns pixels at equal distances, in at most this many rows and columns.
    ///
    /// # Errors
    ///
    /// Returns an error as [`next_row`](Self::next_row) does.
    pub fn sampled(mut self, most: usize) -> Result<Vec<Vec<i64>>, ReadError> {
        let [width, height] = self.size();
        let step = width.max(height).div_ceil(most.max(1));
        let (mut rows, mut index) = (Vec::new(), 0);
        while let Some(row) = self.next_row()? {
            if index % step == 0 {
                let columns = (0..width).step_by(step);
                rows.push(columns.filter_map(|column| row.get(column)).collect());
            }
            index += 1;
        }
        Ok(rows)
    }

    /// Returns the labels of the next row; `None` after the last row.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is cut off or damaged.
    pub fn next_row(&mut self) -> Result<Option<LabelRow<'_>>, ReadError> {
        match &mut self.format {
            Format::Npy(rows) => rows.next_row(),
            Format::Rows(_, _, rows) => {
                let Some(row) = rows.pop() else {
                    return Ok(None);
                };
                self.wide = row;
                Ok(Some(LabelRow::Wide(&self.wide)))
            }
            Format::Grid(_, grid, next) => {
                let index = *next;
                if index >= grid.size()[0] {
                    return Ok(None);
                }
                *next += 1;
                Ok(Some(grid.row(index, &mut self.wide).into()))
            }
            Format::Png(rows) => {
                let header = rows.header();
                let Some(row) = rows.next_row()? else {
                    return Ok(None);
                };
                let channels = usize::from(header.channels);
                Ok(Some(match header.bits {
                    8 if channels == 1 => LabelRow::Bytes(row),
                    8 => {
                        self.bytes.clear();
                        self.bytes.extend(row.iter().step_by(channels));
                        LabelRow::Bytes(&self.bytes)
                    }
                    16 => {
                        self.wide.clear();
                        let samples = row.chunks_exact(2).step_by(channels);
                        let label =
                            |bytes: &[u8]| i64::from(u16::from_be_bytes([bytes[0], bytes[1]]));
                        self.wide.extend(samples.map(label));
                        LabelRow::Wide(&self.wide)
                    }
                    bits => {
                        unpack(row, bits, header.width as usize, &mut self.bytes);
                        LabelRow::Bytes(&self.bytes)
                    }
                }))
            }
        }
    }
}

impl<'a> From<GridRow<'a>> for LabelRow<'a> {
    fn from(row: GridRow<'a>) -> Self {
        match row {
            GridRow::Bytes(row) => Self::Bytes(row),
            GridRow::Wide(row) => Self::Wide(row),
        }
    }
}

fn no_pixels(name: String) -> ReadError {
    let problem = "expected at least one pixel, found an empty list";
    ReadError::new(name, problem)
}

/// Refuses files of colors.
fn one_channel<R: BufRead + Seek>(mut rows: PngRows<R>) -> Result<PngRows<R>, ReadError> {
    let header = rows.header();
    let found = match header.channels {
        1 => return Ok(rows),
        2 => "gray with alpha",
        3 => "RGB",
        _ => "RGBA",
    };
    let problem = if header.channels > 2 && is_gray(&mut rows)? {
        Message::from(format!(
            "has {} channels ({found}) with equal values in red, green and blue: expected one channel, so convert it to \
             gray, or read the first one with ",
            header.channels
        ))
        .option("channel", "first")
    } else {
        Message::from(format!(
            "has {} channels ({found}): expected one channel with the index of the class, so convert colors to class \
             indices",
            header.channels
        ))
    };
    Err(ReadError::new(rows.name(), problem))
}

/// Whether red, green and blue are the same everywhere.
fn is_gray<R: BufRead + Seek>(rows: &mut PngRows<R>) -> Result<bool, ReadError> {
    let header = rows.header();
    let sample = usize::from(header.bits / 8).max(1);
    let pixel = sample * usize::from(header.channels);
    while let Some(row) = rows.next_row()? {
        let is_gray = |pixel: &[u8]| {
            let mut samples = pixel.chunks_exact(sample).take(3);
            let red = samples.next();
            samples.all(|other| Some(other) == red)
        };
        if !row.chunks_exact(pixel).all(is_gray) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Unpacks samples of 1, 2 or 4 bits, of which the first one of a byte has its highest bits.
fn unpack(row: &[u8], bits: u8, width: usize, labels: &mut Vec<u8>) {
    labels.clear();
    let mask = (1_u8 << bits) - 1;
    for byte in row {
        let mut shift = 8;
        while shift > 0 && labels.len() < width {
            shift -= bits;
            labels.push((byte >> shift) & mask);
        }
    }
}
