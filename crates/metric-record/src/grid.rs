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
/// let value = Value::grid(&pixels);
/// assert_eq!(value.as_grid().map(|grid| grid.size()), Some([2, 3]));
/// // What reads no grids finds a list of rows.
/// assert_eq!(Value::grid(&pixels).to_json()?.as_deref(), Some("[[1,1,2],[3,1,2]]"));
/// # Ok::<(), String>(())
/// ```
pub trait Grid: fmt::Debug + Send + Sync {
    /// Returns the number of rows, and of columns.
    fn size(&self) -> [usize; 2];

    /// Returns a row, which is written to `room` if it is not in memory in this form. There are no columns after the last row.
    fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r>;

    /// Returns what else its record has: the name of the field that is the grid, and a JSON object with the other fields; `None` if
    /// the grid is the whole value.
    fn fields(&self) -> Option<(&str, &str)> {
        None
    }
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

/// Returns the JSON of a grid, and of its other fields.
pub(crate) fn to_json(grid: &dyn Grid) -> Result<String, String> {
    let rows = serde_json::to_string(&rows(grid)).map_err(|error| error.to_string())?;
    let Some((name, fields)) = grid.fields() else {
        return Ok(rows);
    };
    let name = serde_json::to_string(name).map_err(|error| error.to_string())?;
    let others = fields.trim().strip_prefix('{').unwrap_or("}");
    let comma = if others.trim_start() == "}" { "" } else { "," };
    Ok(format!("{{{name}:{rows}{comma}{others}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Value};

    #[derive(Debug)]
    struct Wide(&'static str);

    impl Grid for Wide {
        fn size(&self) -> [usize; 2] {
            [2, 1]
        }

        fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r> {
            *room = vec![300 + index as i64];
            GridRow::Wide(room)
        }

        fn fields(&self) -> Option<(&str, &str)> {
            Some(("ids", self.0))
        }
    }

    #[test]
    fn a_grid_is_one_of_the_fields_of_its_record() {
        for (others, expected) in [
            ("{}", r#"{"ids":[[300],[301]]}"#),
            (r#"{"a":1}"#, r#"{"ids":[[300],[301]],"a":1}"#),
        ] {
            let grid = Wide(others);
            let mut value = Value::grid(&grid);
            assert_eq!(value.kind(), Kind::Object);
            assert_eq!(value.to_json().unwrap().as_deref(), Some(expected));
            assert!(value.text().is_err());
        }
    }
}
