use std::fmt;
use std::ops::Range;

use ndarray::{ArrayView1, ArrayView2, Axis, Slice};

use super::{Cells, Lists, Row, Texts, within};
use crate::Value;

/// One value for each of many records, all of one type and borrowed from their owner.
///
/// | variant | cell | as a [`Value`] |
/// |---|---|---|
/// | `Texts` | a string | [`Value::string`] |
/// | `Lines` | a line of text, which has no type of its own | [`Value::line`] |
/// | `Json` | the JSON of any value | [`Value::json`] |
/// | `Integers` | `i64` | [`Value::integer`] |
/// | `Numbers`, `NumbersF32` | `f64`, `f32` | [`Value::number`], [`Value::number_f32`] |
/// | `Scores`, `ScoresF32` | a row of C numbers | a list of numbers |
/// | `Labels` | a row of K integers | a list of integers |
/// | `TextLists`, `IntegerLists` | a list of any length | a list |
/// | `Values` | any value, such as a picture | itself |
///
/// The cell at index i belongs to record i, counted from 0. A null is [`Value::null`], which is not the same as
/// a prediction that is missing. Rows of arrays have no nulls. Numbers may be NaN or infinite: these are
/// values that JSON has no form for, and an error of the metrics that do not take them.
///
/// # Cost
///
/// A cell is a value without a copy. Rows of an array in standard layout are slices
/// ([`Value::as_numbers`]); those of another layout are read item by item.
///
/// ```
/// use metric_record::{Cells, Column, Texts};
/// use ndarray::array;
///
/// let texts = Column::Texts(["a", "b"].map(Some).into_iter().collect());
/// assert_eq!(texts.value(1).text().as_deref(), Ok("b"));
///
/// let scores = array![[0.1, 0.9], [0.8, 0.2]];
/// let column = Column::Scores(scores.view());
/// assert_eq!(column.len(), 2);
/// assert_eq!(column.kind().to_string(), "rows of numbers");
/// assert_eq!(column.value(1).as_numbers(), Some(&[0.8, 0.2][..]));
/// // Whole columns in another order of memory are read in the same way.
/// let column = Column::Scores(scores.t());
/// assert_eq!(column.value(1).read::<Vec<f64>>(), Ok(vec![0.9, 0.2]));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Column<'a> {
    /// Strings.
    Texts(Texts<'a>),
    /// Lines of text.
    Lines(Texts<'a>),
    /// Values as JSON texts.
    Json(Texts<'a>),
    /// Integers.
    Integers(Cells<'a, i64>),
    /// Numbers.
    Numbers(Cells<'a, f64>),
    /// Numbers of 32 bits.
    NumbersF32(Cells<'a, f32>),
    /// Rows of numbers, such as the scores of C classes: N by C.
    Scores(ArrayView2<'a, f64>),
    /// Rows of numbers of 32 bits: N by C.
    ScoresF32(ArrayView2<'a, f32>),
    /// Rows of integers, such as K ranked labels: N by K.
    Labels(ArrayView2<'a, i64>),
    /// Lists of strings of different lengths.
    TextLists(Lists<'a, Texts<'a>>),
    /// Lists of integers of different lengths.
    IntegerLists(Lists<'a, Cells<'a, i64>>),
    /// Values of any kind, such as pictures next to the paths of others.
    Values(Vec<Value<'a>>),
}

impl Column<'_> {
    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(texts) | Self::Lines(texts) | Self::Json(texts) => texts.len(),
            Self::Integers(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
            Self::NumbersF32(cells) => cells.len(),
            Self::Scores(rows) => rows.nrows(),
            Self::ScoresF32(rows) => rows.nrows(),
            Self::Labels(rows) => rows.nrows(),
            Self::TextLists(lists) => lists.len(),
            Self::IntegerLists(lists) => lists.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the cells.
    #[must_use]
    pub const fn kind(&self) -> ColumnKind {
        match self {
            Self::Texts(_) => ColumnKind::Texts,
            Self::Lines(_) => ColumnKind::Lines,
            Self::Json(_) => ColumnKind::Json,
            Self::Integers(_) => ColumnKind::Integers,
            Self::Numbers(_) | Self::NumbersF32(_) => ColumnKind::Numbers,
            Self::Scores(_) | Self::ScoresF32(_) => ColumnKind::Scores,
            Self::Labels(_) => ColumnKind::Labels,
            Self::TextLists(_) => ColumnKind::TextLists,
            Self::IntegerLists(_) => ColumnKind::IntegerLists,
            Self::Values(_) => ColumnKind::Values,
        }
    }

    /// Returns the cell of one record, counted from 0. After the last one, values are missing.
    #[must_use]
    pub fn value(&self, row: usize) -> Value<'_> {
        if row >= self.len() {
            return Value::missing();
        }
        let value = match self {
            Self::Texts(texts) => texts.get(row).map(Value::string),
            Self::Lines(texts) => texts.get(row).map(Value::line),
            Self::Json(texts) => texts.get(row).map(Value::json),
            Self::Integers(cells) => cells.get(row).map(Value::integer),
            Self::Numbers(cells) => cells.get(row).map(Value::number),
            Self::NumbersF32(cells) => cells.get(row).map(Value::number_f32),
            Self::Scores(rows) => row_value(rows, row, Value::numbers, Row::Numbers),
            Self::ScoresF32(rows) => row_value(rows, row, Value::numbers_f32, Row::Numbers32),
            Self::Labels(rows) => row_value(rows, row, Value::integers, Row::Integers),
            Self::TextLists(lists) => lists
                .range(row)
                .map(|list| Value::row(Row::Texts(lists.items(), list.start, list.end))),
            Self::IntegerLists(lists) => lists
                .range(row)
                .map(|list| Value::integers(lists.items().slice(list).values())),
            Self::Values(values) => values.get(row).map(Value::view),
        };
        value.unwrap_or_else(Value::null)
    }

    /// Returns the cells of a range of records, without a copy, for work in parallel. The range ends at the
    /// last cell at the latest.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Column<'_> {
        let range = within(range, self.len());
        match self {
            Self::Texts(texts) => Column::Texts(texts.slice(range)),
            Self::Lines(texts) => Column::Lines(texts.slice(range)),
            Self::Json(texts) => Column::Json(texts.slice(range)),
            Self::Integers(cells) => Column::Integers(cells.slice(range)),
            Self::Numbers(cells) => Column::Numbers(cells.slice(range)),
            Self::NumbersF32(cells) => Column::NumbersF32(cells.slice(range)),
            Self::Scores(rows) => Column::Scores(rows.slice_axis(Axis(0), Slice::from(range))),
            Self::ScoresF32(rows) => {
                Column::ScoresF32(rows.slice_axis(Axis(0), Slice::from(range)))
            }
            Self::Labels(rows) => Column::Labels(rows.slice_axis(Axis(0), Slice::from(range))),
            Self::TextLists(lists) => Column::TextLists(lists.slice(range)),
            Self::IntegerLists(lists) => Column::IntegerLists(lists.slice(range)),
            Self::Values(values) => {
                let values = values.get(range).unwrap_or_default();
                Column::Values(values.iter().map(Value::view).collect())
            }
        }
    }
}

/// A row of an array, which is a slice in standard layout.
fn row_value<'a, T>(
    rows: &'a ArrayView2<'_, T>,
    row: usize,
    slice: fn(&'a [T]) -> Value<'a>,
    strided: fn(ArrayView1<'a, T>) -> Row<'a>,
) -> Option<Value<'a>> {
    let row = rows.outer_iter().nth(row)?;
    Some(match row.to_slice() {
        Some(row) => slice(row),
        None => Value::row(strided(row)),
    })
}

/// Type of the cells of a [`Column`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Strings.
    Texts,
    /// Lines of text.
    Lines,
    /// Values as JSON texts.
    Json,
    /// Integers.
    Integers,
    /// Numbers of 32 or 64 bits.
    Numbers,
    /// Rows of numbers of 32 or 64 bits.
    Scores,
    /// Rows of integers.
    Labels,
    /// Lists of strings.
    TextLists,
    /// Lists of integers.
    IntegerLists,
    /// Values of any kind.
    Values,
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Texts => "strings",
            Self::Lines => "lines of text",
            Self::Json => "JSON texts",
            Self::Integers => "integers",
            Self::Numbers => "numbers",
            Self::Scores => "rows of numbers",
            Self::Labels => "rows of integers",
            Self::TextLists => "lists of strings",
            Self::IntegerLists => "lists of integers",
            Self::Values => "values of any kind",
        })
    }
}
