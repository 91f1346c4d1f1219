//! Many records at once, as columns that are borrowed from their owner.
//!
//! A [`Batch`] holds the predictions, the references and further fields of many records, each as a [`Column`]
//! of one type: texts, integers, numbers, rows of scores or labels. The data stay where they are (in
//! numpy arrays, Arrow arrays or vectors). Constructors check everything once, so that reading cannot fail
//! and is quick. A metric that has a fast path takes a column as a whole; every other metric takes
//! [`Batch::record`], in which each cell is a [`Value`](crate::Value), as if the record had been read from a
//! file.

mod batch;
mod cells;
mod column;
mod lists;
mod row;
mod texts;
mod validity;

pub use batch::{Batch, BatchError, Ids};
pub use cells::Cells;
pub use column::{Column, ColumnKind};
pub use lists::{ListItems, Lists, ListsError};
pub(crate) use row::Row;
pub use texts::{Texts, TextsError};
pub use validity::{Validity, ValidityError};

use std::ops::Range;

/// The part of a range that lies within `len` rows.
fn within(range: Range<usize>, len: usize) -> Range<usize> {
    let start = range.start.min(len);
    start..range.end.clamp(start, len)
}
