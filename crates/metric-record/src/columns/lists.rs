use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{Cells, Texts, Validity, ValidityError, within};

/// A column of lists of different lengths: offsets into a column of items, as in Arrow List and LargeList.
///
/// The items are [`Texts`], such as several references per example, or [`Cells`], such as ranked labels. A list
/// may be null; an item of a list may not.
///
/// # Cost
///
/// The offsets are converted, 8 bytes per list. The items stay where they are.
///
/// ```
/// use metric_record::{Lists, Texts};
///
/// let items = ["a cat", "one cat", "a dog"];
/// let lists = Lists::new(&[0, 2, 2, 3], Texts::from(&items[..]), None)?;
/// assert_eq!(lists.len(), 3);
/// assert_eq!(lists.range(0), Some(0..2));
/// let first: Vec<_> = lists.items().slice(0..2).iter().flatten().map(str::to_owned).collect();
/// assert_eq!(first, ["a cat", "one cat"]);
/// assert_eq!(lists.range(1), Some(2..2));
/// # Ok::<(), metric_record::ListsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lists<'a, C> {
    /// One more than there are lists, or none.
    offsets: Cow<'a, [usize]>,
    items: C,
    validity: Option<Validity<'a>>,
}

impl<'a, C: ListItems> Lists<'a, C> {
    /// Returns the lists of which list i has the items from `offsets[i]` to `offsets[i + 1]`. A column
    /// without lists may have no offsets.
    ///
    /// # Errors
    ///
    /// Returns an error if the offsets decrease or leave the items, if an item of a list is null, or if
    /// `validity` has another number of cells.
    pub fn new<O: Copy + TryInto<usize>>(
        offsets: &[O],
        items: C,
        validity: Option<Validity<'a>>,
    ) -> Result<Self, ListsError> {
        let rows = offsets.len().saturating_sub(1);
        Validity::check(validity, rows).map_err(ListsError::Validity)?;
        let converted = offsets.iter().enumerate().map(|(row, &offset)| {
            let row = row.min(rows.saturating_sub(1));
            offset.try_into().map_err(|_| ListsError::Offset { row })
        });
        let lists = Self {
            offsets: converted.collect::<Result<_, _>>()?,
            items,
            validity,
        };
        lists.check()?;
        Ok(lists)
    }

    fn check(&self) -> Result<(), ListsError> {
        let items = self.items.count();
        for (row, span) in self.offsets.windows(2).enumerate() {
            let &[start, end] = span else { continue };
            if start > end || end > items {
                return Err(ListsError::OutOfRange {
                    row,
                    start,
                    end,
                    items,
                });
            }
        }
        if !self.items.has_nulls() {
            return Ok(());
        }
        for row in 0..self.len() {
            let mut list = self.range(row).unwrap_or_default().enumerate();
            if let Some((item, _)) = list.find(|&(_, at)| self.items.is_null(at)) {
                return Err(ListsError::NullItem { row, item });
            }
        }
        Ok(())
    }
}

impl<'a, C> Lists<'a, C> {
    /// Returns the number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns whether there are no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the items of all lists.
    #[must_use]
    pub const fn items(&self) -> &C {
        &self.items
    }

    /// Returns where the items of the list at an index are; `None` for a null and after the last list.
    #[must_use]
    pub fn range(&self, row: usize) -> Option<Range<usize>> {
        let null = self
            .validity
            .is_some_and(|validity| !validity.is_valid(row));
        let (&[start, end], _) = self.offsets.get(row..)?.split_first_chunk::<2>()?;
        (!null).then_some(start..end)
    }

    /// Returns the lists of a range, without a copy. The range ends at the last list at the latest.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Lists<'_, C>
    where
        C: Clone,
    {
        let range = within(range, self.len());
        let offsets = self.offsets.get(range.start..=range.end);
        Lists {
            offsets: Cow::Borrowed(offsets.unwrap_or_default()),
            items: self.items.clone(),
            validity: self.validity.map(|validity| validity.slice(range)),
        }
    }
}

/// A column whose cells can be the items of [`Lists`]: [`Texts`] or [`Cells`].
pub trait ListItems: private::Items {}

impl ListItems for Texts<'_> {}
impl<T: Copy> ListItems for Cells<'_, T> {}

mod private {
    use super::{Cells, Texts};

    pub trait Items {
        fn count(&self) -> usize;
        fn has_nulls(&self) -> bool;
        fn is_null(&self, item: usize) -> bool;
    }

    impl<T: Copy> Items for Cells<'_, T> {
        fn count(&self) -> usize {
            self.len()
        }

        fn has_nulls(&self) -> bool {
            self.first_null().is_some()
        }

        fn is_null(&self, item: usize) -> bool {
            self.get(item).is_none()
        }
    }

    impl Items for Texts<'_> {
        fn count(&self) -> usize {
            self.len()
        }

        fn has_nulls(&self) -> bool {
            self.first_null().is_some()
        }

        fn is_null(&self, item: usize) -> bool {
            self.get(item).is_none()
        }
    }
}

/// Offsets and items that are not a column of lists. Rows and items are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListsError {
    /// The validity is not that of the column.
    Validity(ValidityError),
    /// An offset is negative.
    Offset {
        /// Index of the list.
        row: usize,
    },
    /// A list is not within the items, or ends before it starts.
    OutOfRange {
        /// Index of the list.
        row: usize,
        /// Its start.
        start: usize,
        /// Its end.
        end: usize,
        /// The items that there are.
        items: usize,
    },
    /// An item of a list is null.
    NullItem {
        /// Index of the list.
        row: usize,
        /// Index of the item in the list.
        item: usize,
    },
}

impl fmt::Display for ListsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Validity(error) => error.fmt(f),
            Self::Offset { row } => write!(f, "the list at index {row} has a negative offset"),
            Self::OutOfRange {
                row,
                start,
                end,
                items,
            } => write!(
                f,
                "the list at index {row} is items {start} to {end} of {items}"
            ),
            Self::NullItem { row, item } => write!(
                f,
                "item {item} of the list at index {row} is null: expected a value"
            ),
        }
    }
}

impl std::error::Error for ListsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Validity(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_are_not_lists() {
        let items = [1, 2, 3];
        let valid = Validity::new(&[0b101], 0, 3).unwrap();
        let cells = Cells::from(&items[..]);
        let holed = Cells::new(&items, Some(valid)).unwrap();
        let error = |offsets: &[i64], items: Cells<'_, i64>, validity| {
            let lists = Lists::new(offsets, items, validity);
            lists.map(|lists| lists.len()).map_err(|it| it.to_string())
        };
        let message = |text: &str| Err(text.to_owned());
        assert_eq!(error(&[], cells, None), Ok(0));
        assert_eq!(error(&[2], cells, None), Ok(0));
        assert_eq!(error(&[0, 1, 3], cells, None), Ok(2));
        let rows = [
            (
                error(&[0, 4], cells, None),
                "the list at index 0 is items 0 to 4 of 3",
            ),
            (
                error(&[0, 2, 1], cells, None),
                "the list at index 1 is items 2 to 1 of 3",
            ),
            (
                error(&[0, 1, -1], cells, None),
                "the list at index 1 has a negative offset",
            ),
            (
                error(&[0, 1], cells, Some(valid)),
                "the validity has 3 cells: expected 1",
            ),
            (
                error(&[0, 0, 3], holed, None),
                "item 1 of the list at index 1 is null: expected a value",
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, message(expected));
        }
        // The null is in no list.
        assert_eq!(error(&[2, 3], holed, None), Ok(1));
    }
}
