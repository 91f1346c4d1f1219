use std::fmt;

/// A grid of integers in memory that its owner lends row by row, such as the labels of the pixels of an image.
///
/// ```
/// use metric_record::{Grid, GridRow, Value};
///
/// #[derive(Debug)]
/// struct Pixels([[u8; 3]; 2]);
///
/// impl Grid for Pixels {
///     fn size(&self) -> [usize; 2] {
///         [2, 3]
///     }
///
///     fn row<'r>(&'r self, index: usize, _: &'r mut Vec<i64>) -> GridRow<'r> {
///         GridRow::Bytes(self.0.get(index).map_or(&[], |row| row))
///     }
/// }
///
/// let pixels = Pixels([[1, 1, 2], [3, 1, 2]]);
/// let mut value = Value::picture(&pixels);
/// assert!(value.as_picture().is_some());
/// // What reads no pictures finds a list of rows.
/// assert_eq!(value.to_json()?.as_deref(), Some("[[1,1,2],[3,1,2]]"));
/// # Ok::<(), String>(())
/// ```
pub trait Grid: fmt::Debug + Send + Sync {
    /// Returns the number of rows, and of columns.
    fn size(&self) -> [usize; 2];

    /// Returns a row, which is written to `room` if it is not in memory in this form. There are no columns after the last row.
    fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r>;
}

/// A row of a [`Grid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridRow<'a> {
    /// Integers of 0 to 255.
    Bytes(&'a [u8]),
    /// Any integers.
    Wide(&'a [i64]),
}

/// Returns a grid as a list of lists.
pub(crate) fn rows(grid: &dyn Grid) -> Vec<Vec<i64>> {
    let mut room = Vec::new();
    let row = |index| match grid.row(index, &mut room) {
        GridRow::Bytes(row) => row.iter().map(|cell| i64::from(*cell)).collect(),
        GridRow::Wide(row) => row.to_vec(),
    };
    (0..grid.size()[0]).map(row).collect()
}
