use std::ops::Range;

use super::{Validity, ValidityError, within};

/// A column of integers or numbers: a slice, and which of its cells are null.
///
/// ```
/// use metric_record::{Cells, Validity};
///
/// let labels = Cells::from(&[3, 1, 2][..]);
/// assert_eq!(labels.get(0), Some(3));
/// assert_eq!(labels.without_nulls(), Some(&[3, 1, 2][..]));
///
/// let validity = Validity::new(&[0b101], 0, 3)?;
/// let labels = Cells::new(&[3, 1, 2], Some(validity))?;
/// assert_eq!(labels.get(1), None);
/// assert_eq!(labels.without_nulls(), None);
/// # Ok::<(), metric_record::ValidityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a, T> {
    values: &'a [T],
    validity: Option<Validity<'a>>,
}

impl<'a, T: Copy> Cells<'a, T> {
    /// Returns a column of values, some of which are null. The values of nulls are not read.
    ///
    /// # Errors
    ///
    /// Returns an error if the validity has another number of cells.
    pub fn new(values: &'a [T], validity: Option<Validity<'a>>) -> Result<Self, ValidityError> {
        Validity::check(validity, values.len())?;
        Ok(Self { values, validity })
    }

    /// Returns the number of cells.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value at an index, counted from 0; `None` for a null and after the last cell.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        let null = self
            .validity
            .is_some_and(|validity| !validity.is_valid(row));
        let value = self.values.get(row).copied();
        value.filter(|_| !null)
    }

    /// Returns all values, also those of nulls, which may be anything.
    #[must_use]
    pub const fn values(&self) -> &'a [T] {
        self.values
    }

    /// Returns all values as a slice if none is null, in at most one pass over the validity.
    #[must_use]
    pub fn without_nulls(&self) -> Option<&'a [T]> {
        self.first_null().is_none().then_some(self.values)
    }

    /// Returns the index of the first null, in at most one pass over the validity.
    #[must_use]
    pub fn first_null(&self) -> Option<usize> {
        self.validity.and_then(|validity| validity.first_null())
    }

    /// Returns the cells of a range, without a copy. The range ends at the last cell at the latest.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let range = within(range, self.len());
        Self {
            values: self.values.get(range.clone()).unwrap_or_default(),
            validity: self.validity.map(|validity| validity.slice(range)),
        }
    }
}

impl<'a, T> From<&'a [T]> for Cells<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self {
            values,
            validity: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_slices() {
        let validity = Validity::new(&[0b0110_1000], 2, 5).unwrap();
        let cells = Cells::new(&[10, 11, 12, 13, 14], Some(validity)).unwrap();
        let read = |cells: Cells<'_, i64>| (0..=cells.len()).map(|row| cells.get(row)).collect();
        let whole: Vec<_> = read(cells);
        assert_eq!(whole, [None, Some(11), None, Some(13), Some(14), None]);
        let part: Vec<_> = read(cells.slice(3..9));
        assert_eq!(part, [Some(13), Some(14), None]);
        assert_eq!(cells.first_null(), Some(0));
        assert_eq!(cells.slice(3..5).without_nulls(), Some(&[13, 14][..]));
        assert_eq!(
            Cells::new(&[1.5, 2.5], Some(validity))
                .unwrap_err()
                .to_string(),
            "the validity has 5 cells: expected 2"
        );
    }
}
