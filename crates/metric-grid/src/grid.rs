use std::fmt;

use ndarray::{Array2, ArrayView2};

/// The smallest number of rows or columns of a grid.
pub const MIN_SIDE: usize = 1;
/// The greatest number of rows or columns of a grid.
pub const MAX_SIDE: usize = 30;
/// The number of colors: cells are 0 to 9.
pub const COLOURS: u8 = 10;

/// An ARC grid: rectangular, 1 to 30 cells on a side, each cell a color 0 to 9.
///
/// The limits are those of the ARC data sets (F. Chollet, *On the Measure of Intelligence*, 2019,
/// section III.1).
///
/// ```
/// use metric_grid::{Grid, InvalidGrid};
///
/// let grid = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!((grid.rows(), grid.columns()), (2, 3));
/// assert_eq!(grid.as_array()[[1, 0]], 4);
///
/// assert_eq!(
///     Grid::from_rows(&[[1, 10]]),
///     Err(InvalidGrid::Value { row: 0, column: 1, value: 10 }),
/// );
/// # Ok::<(), InvalidGrid>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// In standard layout, row after row without gaps.
    cells: Array2<u8>,
}

impl Grid {
    /// Returns the grid of these rows, from the top.
    ///
    /// # Errors
    ///
    /// Returns an error with the first problem found: a row that is not as long as the first one,
    /// no cells, a side above [`MAX_SIDE`], or a value that is not a color.
    pub fn from_rows(rows: &[impl AsRef<[i64]>]) -> Result<Self, InvalidGrid> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some((row, found)) = rows
            .iter()
            .map(|row| row.as_ref().len())
            .enumerate()
            .find(|&(_, found)| found != columns)
        {
            return Err(InvalidGrid::Ragged {
                row,
                expected: columns,
                found,
            });
        }
        check_shape(rows.len(), columns)?;
        let mut cells = Array2::zeros((rows.len(), columns));
        for ((row, column), cell) in cells.indexed_iter_mut() {
            *cell = colour(row, column, rows[row].as_ref()[column])?;
        }
        Ok(Self { cells })
    }

    /// The grid of cells that are known to be colors, row after row.
    #[cfg(feature = "read")]
    pub(crate) fn from_cells(
        rows: usize,
        columns: usize,
        cells: Vec<u8>,
    ) -> Result<Self, InvalidGrid> {
        check_shape(rows, columns)?;
        let cells = Array2::from_shape_vec((rows, columns), cells);
        // A wrong number of cells is not a grid either; readers give the right one.
        let cells = cells.map_err(|_| InvalidGrid::Empty { rows, columns })?;
        Ok(Self { cells })
    }

    /// Returns the number of rows, 1 to 30.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.cells.nrows()
    }

    /// Returns the number of columns, 1 to 30.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.cells.ncols()
    }

    /// Returns the cells, indexed by row and column, in standard layout.
    #[must_use]
    pub fn as_array(&self) -> ArrayView2<'_, u8> {
        self.cells.view()
    }

    /// The cells row after row.
    pub(crate) fn cells(&self) -> &[u8] {
        self.cells.as_slice().unwrap_or_default()
    }
}

impl TryFrom<Array2<u8>> for Grid {
    type Error = InvalidGrid;

    /// The grid of these cells, in any memory layout.
    fn try_from(cells: Array2<u8>) -> Result<Self, InvalidGrid> {
        check_shape(cells.nrows(), cells.ncols())?;
        for ((row, column), &cell) in cells.indexed_iter() {
            colour(row, column, i64::from(cell))?;
        }
        let cells = if cells.is_standard_layout() {
            cells
        } else {
            cells.as_standard_layout().into_owned()
        };
        Ok(Self { cells })
    }
}

fn check_shape(rows: usize, columns: usize) -> Result<(), InvalidGrid> {
    if rows.min(columns) < MIN_SIDE {
        Err(InvalidGrid::Empty { rows, columns })
    } else if rows.max(columns) > MAX_SIDE {
        Err(InvalidGrid::TooLarge { rows, columns })
    } else {
        Ok(())
    }
}

fn colour(row: usize, column: usize, value: i64) -> Result<u8, InvalidGrid> {
    match u8::try_from(value) {
        Ok(colour) if colour < COLOURS => Ok(colour),
        _ => Err(InvalidGrid::Value { row, column, value }),
    }
}

/// The error for rows that are not an ARC grid. Rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidGrid {
    /// There are no cells.
    Empty {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// There are more than [`MAX_SIDE`] rows or columns.
    TooLarge {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A row is not as long as the first one.
    Ragged {
        /// The row.
        row: usize,
        /// The length of the first row.
        expected: usize,
        /// The length of this row.
        found: usize,
    },
    /// A cell is not a color.
    Value {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// Its value.
        value: i64,
    },
}

impl fmt::Display for InvalidGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { rows, columns } => {
                write!(f, "a grid of {rows} x {columns} has no cells")
            }
            Self::TooLarge { rows, columns } => write!(
                f,
                "a grid of {rows} x {columns} has more than {MAX_SIDE} cells on a side"
            ),
            Self::Ragged {
                row,
                expected,
                found,
            } => write!(
                f,
                "row {row} has length {found}: expected {expected}, as in the first row"
            ),
            Self::Value { row, column, value } => write!(
                f,
                "cell ({row}, {column}) is {value}, not a color from 0 to {}",
                COLOURS - 1
            ),
        }
    }
}

impl std::error::Error for InvalidGrid {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_grid() {
        let wide = vec![0; 31];
        let cases: &[(&[Vec<i64>], InvalidGrid)] = &[
            (
                &[],
                InvalidGrid::Empty {
                    rows: 0,
                    columns: 0,
                },
            ),
            (
                &[vec![]],
                InvalidGrid::Empty {
                    rows: 1,
                    columns: 0,
                },
            ),
            (
                &[wide],
                InvalidGrid::TooLarge {
                    rows: 1,
                    columns: 31,
                },
            ),
            (
                &[vec![1, 2], vec![3]],
                InvalidGrid::Ragged {
                    row: 1,
                    expected: 2,
                    found: 1,
                },
            ),
            (
                &[vec![0, 9], vec![-1, 0]],
                InvalidGrid::Value {
                    row: 1,
                    column: 0,
                    value: -1,
                },
            ),
            (
                &[vec![256]],
                InvalidGrid::Value {
                    row: 0,
                    column: 0,
                    value: 256,
                },
            ),
        ];
        for (rows, error) in cases {
            assert_eq!(Grid::from_rows(rows).as_ref(), Err(error), "{rows:?}");
        }
        assert!(Grid::from_rows(&vec![vec![9; 30]; 30]).is_ok());
    }

    #[test]
    fn an_array_in_column_order_is_the_same_grid() {
        let rows = Grid::from_rows(&[[1, 2, 3], [4, 5, 6]]).unwrap();
        let turned = Array2::from_shape_vec((3, 2), vec![1, 4, 2, 5, 3, 6]).unwrap();
        let columns = Grid::try_from(turned.reversed_axes()).unwrap();
        assert_eq!(columns, rows);
        assert_eq!(columns.cells(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(
            Grid::try_from(Array2::from_elem((2, 2), 10)),
            Err(InvalidGrid::Value {
                row: 0,
                column: 0,
                value: 10
            })
        );
        assert_eq!(
            Grid::try_from(Array2::zeros((31, 1))),
            Err(InvalidGrid::TooLarge {
                rows: 31,
                columns: 1
            })
        );
    }

    #[test]
    fn errors_name_the_place() {
        let error = Grid::from_rows(&[[0, 12]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cell (0, 1) is 12, not a color from 0 to 9"
        );
    }
}
