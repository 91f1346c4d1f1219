use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{Validity, ValidityError, within};

/// A column of texts, borrowed from the vectors or the Arrow buffers that hold them.
///
/// | constructor | memory of the owner |
/// |---|---|
/// | [`utf8`](Self::utf8) | Arrow Utf8: n + 1 offsets of 32 bits into one run of bytes |
/// | [`large_utf8`](Self::large_utf8) | Arrow LargeUtf8: the same with offsets of 64 bits |
/// | [`utf8_view`](Self::utf8_view) | Arrow Utf8View: n views of 16 bytes, and buffers for long texts |
/// | `From<&[&str]>`, `From<&[String]>`, `From<&[Cow<str>]>` | a slice, without nulls |
/// | `From<&[Option<&str>]>` | a slice, with nulls |
/// | `FromIterator<Option<&str>>` | texts anywhere, with nulls: 16 bytes per cell |
///
/// # Cost
///
/// The constructors read each byte once, to see that it is UTF-8. Offsets stay where they are; views are
/// resolved once, into 16 bytes per cell. [`get`](Self::get) then reads no text.
///
/// ```
/// use metric_record::{Texts, Validity};
///
/// // "a", null, "cat", as Arrow stores them.
/// let validity = Validity::new(&[0b101], 0, 3)?;
/// let texts = Texts::utf8(&[0, 1, 1, 4], b"acat", Some(validity))?;
/// assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a"), None, Some("cat")]);
///
/// let texts = Texts::from(&["a", "cat"][..]);
/// assert_eq!(texts.get(1), Some("cat"));
///
/// let error = Texts::utf8(&[0, 9], b"cat", None).unwrap_err();
/// assert_eq!(error.to_string(), "the text at index 0 is bytes 0 to 9 of 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    layout: Layout<'a>,
    validity: Option<Validity<'a>>,
}

#[derive(Clone, Debug)]
enum Layout<'a> {
    Utf8(Spans<'a, i32>),
    LargeUtf8(Spans<'a, i64>),
    /// Not a `Cow`, which would keep a column from being used as one that lives less long.
    Collected(Vec<Option<&'a str>>),
    Options(&'a [Option<&'a str>]),
    Strs(&'a [&'a str]),
    Strings(&'a [String]),
    Cows(&'a [Cow<'a, str>]),
}

impl<'a> Texts<'a> {
    /// Returns the texts of an Arrow array of type Utf8: text i is the bytes from `offsets[i]` to
    /// `offsets[i + 1]`. An array without cells may have no offsets.
    ///
    /// # Errors
    ///
    /// Returns an error if the offsets decrease, leave the bytes or split a character, if the bytes between
    /// the first and the last offset are not UTF-8 (also those of nulls), or if `validity` has another number
    /// of cells.
    pub fn utf8(
        offsets: &'a [i32],
        bytes: &'a [u8],
        validity: Option<Validity<'a>>,
    ) -> Result<Self, TextsError> {
        Self::new(Layout::Utf8(Spans::new(offsets, bytes)?), validity)
    }

    /// Returns the texts of an Arrow array of type LargeUtf8, whose offsets have 64 bits.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`utf8`](Self::utf8).
    pub fn large_utf8(
        offsets: &'a [i64],
        bytes: &'a [u8],
        validity: Option<Validity<'a>>,
    ) -> Result<Self, TextsError> {
        Self::new(Layout::LargeUtf8(Spans::new(offsets, bytes)?), validity)
    }

    /// Returns the texts of an Arrow array of type Utf8View.
    ///
    /// A view is four little-endian integers of 32 bits. The first is the length of the text in bytes. A text
    /// of at most 12 bytes follows; of a longer one, its first 4 bytes, the index of a buffer and the
    /// offset there. Views of nulls are not read. From the bytes of a views buffer,
    /// `bytes.as_chunks::<16>().0` gives the views.
    ///
    /// # Errors
    ///
    /// Returns an error if a length is negative, if a view leaves its buffer, has no buffer, or starts
    /// otherwise than its text, if a text is not UTF-8, or if `validity` has another number of cells.
    pub fn utf8_view(
        views: &'a [[u8; 16]],
        buffers: &[&'a [u8]],
        validity: Option<Validity<'a>>,
    ) -> Result<Self, TextsError> {
        Validity::check(validity, views.len())?;
        let valid = |row| validity.is_none_or(|validity| validity.is_valid(row));
        let cell = |(row, view)| {
            let text = valid(row).then(|| view_text(view, buffers, row));
            text.transpose()
        };
        let cells: Result<Vec<_>, TextsError> = views.iter().enumerate().map(cell).collect();
        Ok(cells?.into_iter().collect())
    }

    fn new(layout: Layout<'a>, validity: Option<Validity<'a>>) -> Result<Self, TextsError> {
        let texts = Self { layout, validity };
        Validity::check(validity, texts.len())?;
        Ok(texts)
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.layout {
            Layout::Utf8(spans) => spans.len(),
            Layout::LargeUtf8(spans) => spans.len(),
            Layout::Collected(cells) => cells.len(),
            Layout::Options(cells) => cells.len(),
            Layout::Strs(texts) => texts.len(),
            Layout::Strings(texts) => texts.len(),
            Layout::Cows(texts) => texts.len(),
        }
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text at an index, counted from 0; `None` for a null and after the last cell.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        if self
            .validity
            .is_some_and(|validity| !validity.is_valid(row))
        {
            return None;
        }
        match &self.layout {
            Layout::Utf8(spans) => spans.get(row),
            Layout::LargeUtf8(spans) => spans.get(row),
            Layout::Collected(cells) => cells.get(row).copied().flatten(),
            Layout::Options(cells) => cells.get(row).copied().flatten(),
            Layout::Strs(texts) => texts.get(row).copied(),
            Layout::Strings(texts) => texts.get(row).map(String::as_str),
            Layout::Cows(texts) => texts.get(row).map(|text| &**text),
        }
    }

    /// Returns all cells in their order; `None` is a null.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a str>> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Returns how many cells have the text of the same cell of another column; `None` if one of both has nulls, or
    /// another number of cells.
    ///
    /// Columns of the same Arrow layout are compared byte by byte, where they are.
    ///
    /// ```
    /// use metric_record::Texts;
    ///
    /// let texts = Texts::utf8(&[0, 1, 4], b"acat", None)?;
    /// assert_eq!(texts.count_equal(&Texts::utf8(&[0, 1, 4], b"bcat", None)?), Some(1));
    /// assert_eq!(texts.count_equal(&Texts::from(&["a", "cat"][..])), Some(2));
    /// assert_eq!(texts.count_equal(&Texts::from(&["a"][..])), None);
    /// assert_eq!(texts.count_equal(&Texts::from(&[Some("a"), None][..])), None);
    /// # Ok::<(), metric_record::TextsError>(())
    /// ```
    #[must_use]
    pub fn count_equal(&self, other: &Texts<'_>) -> Option<usize> {
        if self.len() != other.len() || self.first_null().or(other.first_null()).is_some() {
            return None;
        }
        Some(match (&self.layout, &other.layout) {
            (Layout::Utf8(spans), Layout::Utf8(others)) => spans.count_equal(others),
            (Layout::LargeUtf8(spans), Layout::LargeUtf8(others)) => spans.count_equal(others),
            _ => self
                .iter()
                .zip(other.iter())
                .filter(|(a, b)| a == b)
                .count(),
        })
    }

    /// Returns the index of the first null, in at most one pass.
    #[must_use]
    pub fn first_null(&self) -> Option<usize> {
        match &self.layout {
            Layout::Collected(cells) => cells.iter().position(Option::is_none),
            Layout::Options(cells) => cells.iter().position(Option::is_none),
            _ => self.validity.and_then(|validity| validity.first_null()),
        }
    }

    /// Returns the cells of a range, without a copy. The range ends at the last cell at the latest.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Texts<'_> {
        let range = within(range, self.len());
        let validity = self.validity.map(|validity| validity.slice(range.clone()));
        let layout = match &self.layout {
            Layout::Utf8(spans) => Layout::Utf8(spans.slice(range)),
            Layout::LargeUtf8(spans) => Layout::LargeUtf8(spans.slice(range)),
            Layout::Collected(cells) => Layout::Options(cells.get(range).unwrap_or_default()),
            Layout::Options(cells) => Layout::Options(cells.get(range).unwrap_or_default()),
            Layout::Strs(texts) => Layout::Strs(texts.get(range).unwrap_or_default()),
            Layout::Strings(texts) => Layout::Strings(texts.get(range).unwrap_or_default()),
            Layout::Cows(texts) => Layout::Cows(texts.get(range).unwrap_or_default()),
        };
        Texts { layout, validity }
    }
}

impl<'a> From<&'a [&'a str]> for Texts<'a> {
    fn from(texts: &'a [&'a str]) -> Self {
        Self {
            layout: Layout::Strs(texts),
            validity: None,
        }
    }
}

impl<'a> From<&'a [String]> for Texts<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self {
            layout: Layout::Strings(texts),
            validity: None,
        }
    }
}

impl<'a> From<&'a [Cow<'a, str>]> for Texts<'a> {
    fn from(texts: &'a [Cow<'a, str>]) -> Self {
        Self {
            layout: Layout::Cows(texts),
            validity: None,
        }
    }
}

impl<'a> From<&'a [Option<&'a str>]> for Texts<'a> {
    fn from(cells: &'a [Option<&'a str>]) -> Self {
        Self {
            layout: Layout::Options(cells),
            validity: None,
        }
    }
}

/// Collects texts, 16 bytes for each; `None` is a null.
impl<'a> FromIterator<Option<&'a str>> for Texts<'a> {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        Self {
            layout: Layout::Collected(cells.into_iter().collect()),
            validity: None,
        }
    }
}

/// Offsets and the text that they divide, both checked.
#[derive(Clone, Debug)]
struct Spans<'a, O> {
    offsets: &'a [O],
    /// The offset at which `bytes` starts.
    first: usize,
    bytes: &'a [u8],
    /// The index of the first text in `blocks`.
    row: usize,
    blocks: Arc<[Block<'a>]>,
}

/// The text of [`ROWS`] texts, or fewer at the end.
#[derive(Clone, Copy, Debug)]
struct Block<'a> {
    /// The offset at which it starts.
    first: usize,
    text: &'a str,
}

/// The number of texts that are checked at a time: their bytes are read twice, the second time from the processor's
/// cache.
const ROWS: usize = 1 << 10;

impl<'a, O: Copy + PartialOrd + Into<i64> + TryInto<usize>> Spans<'a, O> {
    fn new(offsets: &'a [O], bytes: &'a [u8]) -> Result<Self, TextsError> {
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Ok(Self {
                offsets,
                first: 0,
                bytes: &[],
                row: 0,
                blocks: Arc::new([]),
            });
        };
        let ends = (first.try_into().ok(), last.try_into().ok());
        let inside = match ends {
            (Some(first), Some(last)) if ascending(offsets) => bytes.get(first..last),
            _ => None,
        };
        let (Some(first), Some(inside)) = (ends.0, inside) else {
            return Err(out_of_range(offsets, bytes.len()));
        };
        let rows = offsets.len() - 1;
        let block = |row: usize| {
            let end = rows.min(row + ROWS);
            Block::new(offsets.get(row..=end)?, first, inside)
        };
        let blocks: Option<_> = (0..rows).step_by(ROWS).map(block).collect();
        Ok(Self {
            offsets,
            first,
            bytes: inside,
            row: 0,
            blocks: blocks.ok_or_else(|| bad_text(offsets, first, inside))?,
        })
    }

    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn get(&self, row: usize) -> Option<&'a str> {
        let (&[start, end], _) = self.offsets.get(row..)?.split_first_chunk::<2>()?;
        let block = self.blocks.get((self.row + row) / ROWS)?;
        let at = |offset: O| offset.try_into().ok()?.checked_sub(block.first);
        block.text.get(at(start)?..at(end)?)
    }

    /// The number of texts that equal those of the same index.
    fn count_equal(&self, other: &Self) -> usize {
        self.bytes()
            .zip(other.bytes())
            .filter(|(a, b)| a == b)
            .count()
    }

    /// The bytes of each text, without looking at where characters start.
    fn bytes(&self) -> impl Iterator<Item = &'a [u8]> {
        let (bytes, first) = (self.bytes, self.first);
        let at = move |offset: O| offset.try_into().ok()?.checked_sub(first);
        let next = self.offsets.get(1..).unwrap_or_default();
        let bounds = self.offsets.iter().zip(next);
        bounds.map(move |(&start, &end)| {
            let bounds = at(start).zip(at(end));
            let found = bounds.and_then(|(start, end)| bytes.get(start..end));
            found.unwrap_or_default()
        })
    }

    fn slice(&self, range: Range<usize>) -> Self {
        let offsets = self.offsets.get(range.start..=range.end);
        Self {
            offsets: offsets.unwrap_or_default(),
            row: self.row + range.start,
            ..self.clone()
        }
    }
}

impl<'a> Block<'a> {
    /// The block of some offsets into `bytes`, which start at the offset `first`; `None` if it is not UTF-8, or if an
    /// offset is within a character.
    fn new<O: Copy + TryInto<usize>>(offsets: &[O], first: usize, bytes: &'a [u8]) -> Option<Self> {
        let at = |offset: O| offset.try_into().ok()?.checked_sub(first);
        let (start, end) = (at(*offsets.first()?)?, at(*offsets.last()?)?);
        let text = simdutf8::basic::from_utf8(bytes.get(start..end)?).ok()?;
        let block = Self {
            first: first + start,
            text,
        };
        // Without a branch per offset.
        let are_starts = offsets.iter().fold(true, |all, &offset| {
            all & is_start(offset, block.first, text.as_bytes())
        });
        are_starts.then_some(block)
    }
}

/// Whether an offset is at the start of a character or at the end of the bytes, which start at the offset `first`.
fn is_start<O: TryInto<usize>>(offset: O, first: usize, bytes: &[u8]) -> bool {
    let offset: Option<usize> = offset.try_into().ok();
    let at = offset.map_or(usize::MAX, |offset| offset.wrapping_sub(first));
    bytes
        .get(at)
        .map_or(at == bytes.len(), |byte| byte & 0xc0 != 0x80)
}

fn ascending<O: Copy + PartialOrd>(offsets: &[O]) -> bool {
    // Without a branch per offset, so that the compiler can look at many at once.
    let next = offsets.get(1..).unwrap_or_default();
    let pairs = offsets.iter().zip(next);
    pairs.fold(true, |ascending, (start, end)| ascending & (start <= end))
}

/// Names the first text of offsets that decrease or leave the bytes.
fn out_of_range<O: Copy + Into<i64>>(offsets: &[O], bytes: usize) -> TextsError {
    let most = i64::try_from(bytes).unwrap_or(i64::MAX);
    let spans = offsets.windows(2).map(|span| match span {
        &[start, end] => (start.into(), end.into()),
        _ => (0, 0),
    });
    let bad = |&(_, (start, end)): &(usize, (i64, i64))| start < 0 || end < start || end > most;
    // A single offset divides nothing, and can only be outside itself.
    let single = offsets.first().map_or(0, |&offset| offset.into());
    let (row, (start, end)) = spans.enumerate().find(bad).unwrap_or((0, (single, single)));
    TextsError::OutOfRange {
        row,
        start,
        end,
        bytes,
    }
}

/// Names the text with the first byte that is not UTF-8, or the first one that ends within a character.
fn bad_text<O: Copy + TryInto<usize>>(offsets: &[O], first: usize, bytes: &[u8]) -> TextsError {
    let Err(error) = std::str::from_utf8(bytes) else {
        let split = |&offset: &O| !is_start(offset, first, bytes);
        // The first offset is the start of the text.
        let row = offsets.iter().position(split).unwrap_or_default();
        return TextsError::SplitCharacter {
            row: row.saturating_sub(1),
        };
    };
    let position = first.saturating_add(error.valid_up_to());
    let before = |&offset: &O| offset.try_into().is_ok_and(|offset| offset <= position);
    TextsError::NotUtf8 {
        row: offsets.partition_point(before).saturating_sub(1),
    }
}

/// The text of an Arrow view.
fn view_text<'a>(
    view: &'a [u8; 16],
    buffers: &[&'a [u8]],
    row: usize,
) -> Result<&'a str, TextsError> {
    let &[a, b, c, d, ref rest @ ..] = view;
    let length = i32::from_le_bytes([a, b, c, d]);
    let Ok(len) = usize::try_from(length) else {
        return Err(TextsError::NegativeLength { row, length });
    };
    let bytes = match rest.get(..len) {
        Some(bytes) => bytes,
        None => long_text(rest, len, buffers, row)?,
    };
    simdutf8::basic::from_utf8(bytes).map_err(|_| TextsError::NotUtf8 { row })
}

/// The bytes of a view whose text is in a buffer.
fn long_text<'a>(
    view: &[u8; 12],
    len: usize,
    buffers: &[&'a [u8]],
    row: usize,
) -> Result<&'a [u8], TextsError> {
    let [prefix, buffer, offset] = [0, 4, 8].map(|start| {
        let part = view.get(start..).and_then(|view| view.first_chunk());
        part.copied().unwrap_or_default()
    });
    let [buffer, offset] = [buffer, offset].map(i32::from_le_bytes);
    let found = usize::try_from(buffer).ok().and_then(|at| buffers.get(at));
    let bytes = found.ok_or(TextsError::NoBuffer {
        row,
        buffer,
        buffers: buffers.len(),
    })?;
    let start = usize::try_from(offset).ok();
    let text = start.and_then(|start| bytes.get(start..start.checked_add(len)?));
    let text = text.ok_or(TextsError::OutOfRange {
        row,
        start: offset.into(),
        end: i64::from(offset).saturating_add_unsigned(len as u64),
        bytes: bytes.len(),
    })?;
    if text.starts_with(&prefix) {
        Ok(text)
    } else {
        Err(TextsError::Prefix { row })
    }
}

/// Buffers that are not a column of texts. Rows are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextsError {
    /// The validity is not that of the column.
    Validity(ValidityError),
    /// A text is not within the bytes, or ends before it starts.
    OutOfRange {
        /// Index of the text.
        row: usize,
        /// Its start.
        start: i64,
        /// Its end.
        end: i64,
        /// The bytes that there are.
        bytes: usize,
    },
    /// The bytes of a text are not UTF-8.
    NotUtf8 {
        /// Index of the text.
        row: usize,
    },
    /// A text ends within a character.
    SplitCharacter {
        /// Index of the text.
        row: usize,
    },
    /// A view has a negative length.
    NegativeLength {
        /// Index of the text.
        row: usize,
        /// The length.
        length: i32,
    },
    /// A view refers to a buffer that does not exist.
    NoBuffer {
        /// Index of the text.
        row: usize,
        /// Index of the buffer.
        buffer: i32,
        /// The number of buffers.
        buffers: usize,
    },
    /// The first bytes of a text are not those that its view has.
    Prefix {
        /// Index of the text.
        row: usize,
    },
}

impl fmt::Display for TextsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validity(error) => error.fmt(f),
            Self::OutOfRange {
                row,
                start,
                end,
                bytes,
            } => write!(
                f,
                "the text at index {row} is bytes {start} to {end} of {bytes}"
            ),
            Self::NotUtf8 { row } => write!(f, "the text at index {row} is not UTF-8"),
            Self::SplitCharacter { row } => {
                write!(f, "the text at index {row} ends within a character")
            }
            Self::NegativeLength { row, length } => {
                write!(f, "the text at index {row} has the length {length}")
            }
            Self::NoBuffer {
                row,
                buffer,
                buffers,
            } => write!(
                f,
                "the text at index {row} is in buffer {buffer} of {buffers}, counted from 0"
            ),
            Self::Prefix { row } => write!(
                f,
                "the text at index {row} does not start with the bytes of its view"
            ),
        }
    }
}

impl std::error::Error for TextsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Validity(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ValidityError> for TextsError {
    fn from(error: ValidityError) -> Self {
        Self::Validity(error)
    }
}

#[cfg(test)]
mod tests;
