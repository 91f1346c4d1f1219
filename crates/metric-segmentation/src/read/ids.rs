//! The ids of the pixels of an image, row by row.

use std::fmt;

use metric_record::{Grid, GridRow, Message, ReadError, json};

use super::{FileOddities, MapOptions, OpenedFile, PngHeader, PngRows};

/// The width and the height of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    /// Returns the number of pixels, if it is allowed.
    pub(crate) fn pixels(self, options: MapOptions) -> Result<usize, Message> {
        let (width, height) = (self.width.into(), self.height.into());
        let checked = options.check_pixels("", width, height);
        checked.map_err(|error| error.problem)?;
        // As many as are allowed have an index.
        Ok(width as usize * height as usize)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.width, self.height)
    }
}

/// The ids of an image, from wherever they are.
pub(crate) enum IdRows<'g> {
    Png(Box<PngIds<'g>>),
    Map(IdMap),
    Grid(GridIds<'g>),
    /// No segment at all.
    Void {
        size: Size,
        row: Vec<u32>,
        next: u32,
    },
}

impl IdRows<'_> {
    pub(crate) fn size(&self) -> Size {
        match self {
            Self::Png(rows) => rows.size,
            Self::Map(map) => map.size,
            Self::Grid(grid) => grid.size,
            Self::Void { size, .. } => *size,
        }
    }

    /// Returns what is odd about the file of the ids.
    pub(crate) fn oddities(&self) -> FileOddities {
        match self {
            Self::Png(png) => png.rows.oddities(),
            _ => FileOddities::default(),
        }
    }

    /// Returns the next row; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<&[u32]>, ReadError> {
        match self {
            Self::Png(rows) => rows.next(),
            Self::Map(map) => Ok(map.next()),
            Self::Grid(grid) => grid.next(),
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
    pub(crate) fn empty(size: Size, options: MapOptions) -> Result<Self, Message> {
        let pixels = size.pixels(options)?;
        let mut ids = Vec::new();
        ids.try_reserve_exact(pixels)
            .map_err(|_| Message::from(format!("out of memory for {size} pixels")))?;
        ids.resize(pixels, 0);
        Ok(Self { size, ids, next: 0 })
    }

    /// Parses a list of rows.
    pub(crate) fn parse(rows: &str, options: MapOptions) -> Result<Self, Message> {
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
        size.pixels(options)?;
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

/// The ids of a grid that somebody else holds.
pub(crate) struct GridIds<'g> {
    grid: &'g dyn Grid,
    size: Size,
    next: usize,
    wide: Vec<i64>,
    ids: Vec<u32>,
}

impl<'g> GridIds<'g> {
    pub(crate) fn new(grid: &'g dyn Grid, options: MapOptions) -> Result<Self, Message> {
        let [height, width] = grid
            .size()
            .map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        let size = Size { width, height };
        size.pixels(options)?;
        Ok(Self {
            grid,
            size,
            next: 0,
            wide: Vec::new(),
            ids: Vec::new(),
        })
    }

    fn next(&mut self) -> Result<Option<&[u32]>, ReadError> {
        let index = self.next;
        if index >= self.size.height as usize {
            return Ok(None);
        }
        self.next += 1;
        self.ids.clear();
        match self.grid.row(index, &mut self.wide) {
            GridRow::Bytes(row) => self.ids.extend(row.iter().copied().map(u32::from)),
            GridRow::Wide(row) => {
                for (column, id) in row.iter().enumerate() {
                    let problem = || {
                        let found = format!("found {id} in row {index}, column {column}");
                        format!("{found}: expected an id of 0 to {}", u32::MAX)
                    };
                    let id = u32::try_from(*id).map_err(|_| ReadError::new("ids", problem()))?;
                    self.ids.push(id);
                }
            }
        }
        Ok(Some(&self.ids))
    }
}

/// The ids of a PNG file, whose pixels have R + 256 G + 65536 B as id.
pub(crate) struct PngIds<'b> {
    rows: PngRows<OpenedFile<'b>>,
    size: Size,
    ids: Vec<u32>,
}

impl<'b> PngIds<'b> {
    /// Reads the header of a file. `name` is the name of the file, for messages.
    pub(crate) fn new(
        name: &str,
        input: OpenedFile<'b>,
        options: MapOptions,
    ) -> Result<Self, ReadError> {
        let rows = PngRows::new(name, input, options)?;
        let header = rows.header();
        if let Some(problem) = other_png(header) {
            return Err(ReadError::new(name, problem));
        }
        let size = Size {
            width: header.width,
            height: header.height,
        };
        Ok(Self {
            rows,
            size,
            ids: vec![0; size.width as usize],
        })
    }

    fn next(&mut self) -> Result<Option<&[u32]>, ReadError> {
        let channels = self.rows.header().channels;
        let Some(bytes) = self.rows.next_row()? else {
            return Ok(None);
        };
        let id = |red, green, blue| u32::from_le_bytes([red, green, blue, 0]);
        if channels == 3 {
            let (pixels, _) = bytes.as_chunks();
            for (to, &[red, green, blue]) in self.ids.iter_mut().zip(pixels) {
                *to = id(red, green, blue);
            }
        } else {
            let (pixels, _) = bytes.as_chunks();
            for (to, &[red, green, blue, _alpha]) in self.ids.iter_mut().zip(pixels) {
                *to = id(red, green, blue);
            }
        }
        Ok(Some(&self.ids))
    }
}

/// The problem of a file without three or four channels of 8 bits.
fn other_png(header: PngHeader) -> Option<String> {
    let bits = header.bits;
    let found = match header.channels {
        _ if header.is_palette => "has a palette".to_owned(),
        1 => format!("is gray of {bits} bits"),
        2 => format!("is gray of {bits} bits with alpha"),
        _ if bits != 8 => format!("has {bits} bits per channel"),
        _ => return None,
    };
    let hint = match header.channels {
        1 => ". A map of classes is for the metric segmentation",
        _ => "",
    };
    Some(format!(
        "{found}: expected 3 or 4 channels of 8 bits (RGB or RGBA), as panoptic files have{hint}"
    ))
}
