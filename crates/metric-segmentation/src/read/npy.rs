use std::io::{self, BufRead, Read as _};

use metric_record::ReadError;

use super::{FileOddities, MapOptions};
use crate::LabelRow;

/// The rows of a NumPy file (`.npy`, versions 1 to 3) with an array of integers or of booleans, of the shape (height,
/// width) or with further axes of length one.
///
/// Memory is a row, or the whole array if it is in Fortran order. The header of the format is a line of text, for which a
/// library would bring a parser of Python.
pub struct NpyRows<R> {
    name: String,
    width: usize,
    height: usize,
    kind: Kind,
    input: R,
    /// The bytes of a row, or of the whole array.
    bytes: Vec<u8>,
    labels: Vec<i64>,
    rows: usize,
    is_fortran: bool,
    has_surplus: bool,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    is_signed: bool,
    is_big: bool,
    size: usize,
}

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// No header of two axes is longer.
const MAX_HEADER: u64 = 1 << 14;

impl<R: BufRead> NpyRows<R> {
    /// Reads the header of a NumPy file. `name` is the name of the file, for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if this is not a NumPy file of integers or booleans in two axes, or if it is larger than the options allow.
    pub fn new(
        name: impl Into<String>,
        mut input: R,
        options: MapOptions,
    ) -> Result<Self, ReadError> {
        let name = name.into();
        let refused = |problem: String| ReadError::new(&name, problem);
        let header = header(&mut input).map_err(refused)?;
        let (descr, is_fortran, shape) = parsed(&header).ok_or_else(|| {
            refused(format!(
                "is not a valid NumPy file: found the header {:?}",
                header.trim_end()
            ))
        })?;
        let kind = kind(descr, &shape).map_err(refused)?;
        let [height, width] = two_axes(&shape).ok_or_else(|| {
            refused(format!(
                "has an array of the shape {}: expected (height, width)",
                shown(&shape)
            ))
        })?;
        options.check_pixels(&name, width, height)?;
        let row = width.saturating_mul(kind.size as u64);
        let (held, why) = if is_fortran {
            (row.saturating_mul(height), "because it is in Fortran order")
        } else {
            (row, "for each row")
        };
        let held = options.check_bytes(&name, held, why)?;
        Ok(Self {
            name,
            width: width as usize,
            height: height as usize,
            kind,
            input,
            bytes: vec![0; held],
            labels: Vec::new(),
            rows: 0,
            is_fortran,
            has_surplus: false,
        })
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the width and the height.
    pub fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// Returns the labels of the next row; `None` after the last row. A label that is greater than all `i64` is the greatest
    /// of these.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is cut off.
    pub fn next_row(&mut self) -> Result<Option<LabelRow<'_>>, ReadError> {
        if self.rows == self.height {
            return Ok(None);
        }
        if !self.is_fortran || self.rows == 0 {
            self.fill()?;
        }
        let (row, kind) = (self.rows, self.kind);
        self.rows += 1;
        if self.rows == self.height {
            self.has_surplus = self.input.fill_buf().is_ok_and(|rest| !rest.is_empty());
        }
        if kind.size == 1 && !kind.is_signed && !self.is_fortran {
            return Ok(Some(LabelRow::Bytes(&self.bytes)));
        }
        self.labels.clear();
        let numbers = self.bytes.chunks_exact(kind.size);
        if self.is_fortran {
            let numbers = numbers.skip(row).step_by(self.height);
            self.labels
                .extend(numbers.map(|number| label(number, kind)));
        } else {
            self.labels
                .extend(numbers.map(|number| label(number, kind)));
        }
        Ok(Some(LabelRow::Wide(&self.labels)))
    }

    /// Returns what is odd about the file: nothing but data after the array.
    pub fn oddities(&self) -> FileOddities {
        FileOddities {
            has_surplus: self.has_surplus,
            ..FileOddities::default()
        }
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        let filled = self.input.read_exact(&mut self.bytes);
        filled.map_err(|error| ReadError::new(&self.name, unreadable(&error)))
    }
}

/// What is wrong with a file that cannot be read.
fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut off: expected a complete NumPy file".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// The label that these bytes are.
fn label(bytes: &[u8], kind: Kind) -> i64 {
    let mut wide = [0; 8];
    if kind.is_big {
        for (wide, byte) in wide.iter_mut().zip(bytes.iter().rev()) {
            *wide = *byte;
        }
    } else {
        wide[..bytes.len()].copy_from_slice(bytes);
    }
    let unused = 64 - 8 * bytes.len() as u32;
    if kind.is_signed {
        (i64::from_le_bytes(wide) << unused) >> unused
    } else {
        i64::try_from(u64::from_le_bytes(wide)).unwrap_or(i64::MAX)
    }
}

/// Reads the text of the header.
fn header(input: &mut impl BufRead) -> Result<String, String> {
    let mut start = [0; 8];
    let read = input.read_exact(&mut start);
    read.map_err(|error| unreadable(&error))?;
    let invalid = |problem: &str| format!("is not a valid NumPy file: {problem}");
    if !start.starts_with(MAGIC) {
        return Err(invalid("expected it to begin with \\x93NUMPY"));
    }
    let mut size = [0; 4];
    let bytes = match start[6] {
        1 => &mut size[..2],
        2 | 3 => &mut size[..],
        version => {
            return Err(invalid(&format!(
                "found version {version}, expected 1, 2 or 3"
            )));
        }
    };
    let read = input.read_exact(bytes);
    read.map_err(|error| unreadable(&error))?;
    let size = u64::from(u32::from_le_bytes(size));
    if size > MAX_HEADER {
        return Err(invalid(&format!(
            "found a header of {size} bytes, expected at most {MAX_HEADER}"
        )));
    }
    let mut text = Vec::new();
    let read = input.take(size).read_to_end(&mut text);
    read.map_err(|error| unreadable(&error))?;
    if (text.len() as u64) < size {
        return Err(unreadable(&io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The type, the order and the shape that a header states: a dictionary of Python with three keys.
fn parsed(header: &str) -> Option<(&str, bool, Vec<u64>)> {
    let value = |key: &str| {
        let (_, rest) = header.split_once(key)?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = value("'descr'")?.strip_prefix('\'');
    let descr = descr
        .and_then(|rest| rest.split_once('\''))
        .map_or("structured", |(descr, _)| descr);
    let order = value("'fortran_order'")?;
    let is_fortran = match (order.starts_with("True"), order.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => return None,
    };
    let (shape, _) = value("'shape'")?.strip_prefix('(')?.split_once(')')?;
    let axes = shape
        .split(',')
        .map(str::trim)
        .filter(|axis| !axis.is_empty());
    let axes = axes.map(|axis| axis.trim_end_matches('L').parse().ok());
    Some((descr, is_fortran, axes.collect::<Option<_>>()?))
}

/// The type of this name, if it is one of labels.
fn kind(descr: &str, shape: &[u64]) -> Result<Kind, String> {
    let mut chars = descr.chars();
    let is_big = chars.next() == Some('>');
    let letter = chars.next();
    let size = chars.as_str().parse::<usize>().ok();
    match (letter, size) {
        (Some(letter @ ('b' | 'i' | 'u')), Some(size @ (1 | 2 | 4 | 8)))
            if letter != 'b' || size == 1 =>
        {
            Ok(Kind {
                is_signed: letter == 'i',
                is_big,
                size,
            })
        }
        (Some('f'), _) => Err(format!(
            "has an array of the type {descr:?} and the shape {}, which looks like scores of classes: expected \
             integers, so take the argmax over the classes",
            shown(shape)
        )),
        _ => Err(format!(
            "has an array of the type {descr:?}: expected integers or booleans"
        )),
    }
}

/// The height and the width, without axes of length one.
fn two_axes(shape: &[u64]) -> Option<[u64; 2]> {
    let mut axes = shape;
    while axes.len() > 2 {
        axes = match axes {
            [1, rest @ ..] | [rest @ .., 1] => rest,
            _ => return None,
        };
    }
    axes.try_into().ok()
}

/// A shape as NumPy writes it.
fn shown(shape: &[u64]) -> String {
    let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
    match &*axes {
        [only] => format!("({only},)"),
        axes => format!("({})", axes.join(", ")),
    }
}
