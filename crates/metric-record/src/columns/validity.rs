use std::fmt;
use std::ops::Range;

use super::within;

/// The cells of a column that are not null: a bitmap as defined by Arrow.
///
/// Cell i is bit `(offset + i) % 8`, counted from the least significant one, of byte `(offset + i) / 8`; 1
/// means that the cell has a value.
///
/// ```
/// use metric_record::Validity;
///
/// let validity = Validity::new(&[0b0000_0101], 0, 3)?;
/// assert_eq!([0, 1, 2].map(|row| validity.is_valid(row)), [true, false, true]);
/// assert_eq!(validity.first_null(), Some(1));
/// // The same bits, seen from the second one.
/// assert_eq!(Validity::new(&[0b0000_0101], 1, 2)?.nulls(), 1);
/// assert!(Validity::new(&[0xff], 6, 3).is_err());
/// # Ok::<(), metric_record::ValidityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Validity<'a> {
    bits: &'a [u8],
    offset: usize,
    len: usize,
}

impl<'a> Validity<'a> {
    /// Returns the validity of `len` cells, starting at bit `offset`.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer bits.
    pub fn new(bits: &'a [u8], offset: usize, len: usize) -> Result<Self, ValidityError> {
        let needed = offset.checked_add(len).map(|bits| bits.div_ceil(8));
        if needed.is_some_and(|needed| needed <= bits.len()) {
            Ok(Self { bits, offset, len })
        } else {
            Err(ValidityError::TooShort {
                bytes: bits.len(),
                offset,
                cells: len,
            })
        }
    }

    /// Returns the number of cells.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether a cell has a value. No cell after the last one has.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        // The sum does not overflow: it is below that of the constructor.
        row < self.len && {
            let bit = self.offset + row;
            let byte = self.bits.get(bit / 8).copied().unwrap_or_default();
            byte >> (bit % 8) & 1 == 1
        }
    }

    /// Returns the number of nulls, in one pass.
    #[must_use]
    pub fn nulls(&self) -> usize {
        (0..self.len).filter(|&row| !self.is_valid(row)).count()
    }

    /// Returns the index of the first null, in at most one pass.
    #[must_use]
    pub fn first_null(&self) -> Option<usize> {
        (0..self.len).find(|&row| !self.is_valid(row))
    }

    /// Returns an error unless the validity, if there is one, is that of `cells` cells.
    pub(super) fn check(validity: Option<Self>, cells: usize) -> Result<(), ValidityError> {
        match validity {
            Some(Self { len: found, .. }) if found != cells => {
                Err(ValidityError::LengthMismatch { cells, found })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn slice(self, range: Range<usize>) -> Self {
        let range = within(range, self.len);
        Self {
            bits: self.bits,
            offset: self.offset + range.start,
            len: range.len(),
        }
    }
}

/// A bitmap that is not the validity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidityError {
    /// It has fewer bits than cells.
    TooShort {
        /// The bytes of the bitmap.
        bytes: usize,
        /// The bit of the first cell.
        offset: usize,
        /// The number of cells.
        cells: usize,
    },
    /// It is that of another number of cells.
    LengthMismatch {
        /// Cells of the column.
        cells: usize,
        /// Cells of the validity.
        found: usize,
    },
}

impl fmt::Display for ValidityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort {
                bytes,
                offset,
                cells,
            } => write!(
                f,
                "the bitmap has {} bits: expected {cells} starting at bit {offset}",
                bytes.saturating_mul(8)
            ),
            Self::LengthMismatch { cells, found } => {
                write!(f, "the validity has {found} cells: expected {cells}")
            }
        }
    }
}

impl std::error::Error for ValidityError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bitmaps_that_are_too_short() {
        let fits = |bytes: usize, offset, len| Validity::new(&vec![0; bytes], offset, len).is_ok();
        assert!(fits(0, 0, 0));
        assert!(fits(1, 0, 8));
        assert!(!fits(1, 1, 8));
        assert!(!fits(0, 0, 1));
        assert!(!fits(1, usize::MAX, 1));
        assert!(!fits(1, 1, usize::MAX));
    }

    proptest! {
        #[test]
        fn a_bitmap_is_a_list_of_flags(
            flags in proptest::collection::vec(any::<bool>(), 0..40),
            start in 0_usize..45,
            end in 0_usize..45,
        ) {
            let mut bits = vec![0_u8; flags.len().div_ceil(8)];
            for (row, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
                bits[row / 8] |= 1 << (row % 8);
            }
            let whole = Validity::new(&bits, 0, flags.len()).unwrap();
            let part = whole.slice(start..end);
            let flags = &flags[within(start..end, flags.len())];
            let read: Vec<bool> = (0..part.len()).map(|row| part.is_valid(row)).collect();
            prop_assert_eq!(read, flags);
            prop_assert_eq!(part.nulls(), flags.iter().filter(|flag| !**flag).count());
            prop_assert_eq!(part.first_null(), flags.iter().position(|flag| !flag));
            prop_assert!(!part.is_valid(part.len()));
        }
    }
}
