use std::fmt;

use crate::grid::{self, Grid};

/// A picture that is the value of a record, or a part of it, where its owner has it in memory.
///
/// ```
/// use metric_record::{Kind, Picture, Pixels, Value};
///
/// // The bytes of a file are a picture by themselves.
/// let file: &[u8] = b"\x89PNG\r\n\x1a\n";
/// let mut value = Value::picture(&file);
/// assert_eq!(value.kind(), Kind::Bytes);
/// assert!(matches!(value.as_picture().map(Picture::pixels), Some(Pixels::File(found)) if found == file));
/// assert_eq!(value.text(), Err("expected a string, found bytes".to_owned()));
/// ```
pub trait Picture: fmt::Debug + Send + Sync {
    /// Returns the pixels.
    fn pixels(&self) -> Pixels<'_>;

    /// Returns what else its record has: the name of the field that is the picture, and a JSON object with the other fields;
    /// `None` if the picture is the whole value.
    fn fields(&self) -> Option<(&str, &str)> {
        None
    }
}

/// The pixels of a [`Picture`].
#[derive(Clone, Copy, Debug)]
pub enum Pixels<'a> {
    /// A number for each pixel.
    Grid(&'a dyn Grid),
    /// The bytes of a file, such as one of PNG, which is not read yet.
    File(&'a [u8]),
}

impl<G: Grid> Picture for G {
    fn pixels(&self) -> Pixels<'_> {
        Pixels::Grid(self)
    }
}

impl Picture for &[u8] {
    fn pixels(&self) -> Pixels<'_> {
        Pixels::File(self)
    }
}

/// Returns the JSON of a picture, and of its other fields. Files have none.
pub(crate) fn to_json(picture: &dyn Picture) -> Result<String, String> {
    let rows = match picture.pixels() {
        Pixels::Grid(grid) => serde_json::to_string(&grid::rows(grid)),
        Pixels::File(_) => return Err("found bytes, which have no form in JSON".to_owned()),
    };
    let rows = rows.map_err(|error| error.to_string())?;
    let Some((name, fields)) = picture.fields() else {
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
    use crate::{GridRow, Kind, Value};

    #[derive(Debug)]
    struct Wide;

    impl Grid for Wide {
        fn size(&self) -> [usize; 2] {
            [2, 1]
        }

        fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r> {
            *room = vec![300 + index as i64];
            GridRow::Wide(room)
        }
    }

    /// A picture with other fields: a file, or else a grid.
    #[derive(Debug)]
    struct Ids(&'static str, Option<&'static [u8]>);

    impl Picture for Ids {
        fn pixels(&self) -> Pixels<'_> {
            self.1.map_or(Pixels::Grid(&Wide), Pixels::File)
        }

        fn fields(&self) -> Option<(&str, &str)> {
            Some(("ids", self.0))
        }
    }

    #[test]
    fn a_picture_is_one_of_the_fields_of_its_record() {
        for (others, expected) in [
            ("{}", r#"{"ids":[[300],[301]]}"#),
            (r#"{"a":1}"#, r#"{"ids":[[300],[301]],"a":1}"#),
        ] {
            let grid = Ids(others, None);
            let mut value = Value::picture(&grid);
            assert_eq!(value.kind(), Kind::Object);
            assert_eq!(value.to_json().unwrap().as_deref(), Some(expected));
            assert!(value.text().is_err());
        }
    }

    #[test]
    fn the_bytes_of_a_file_are_nothing_else() {
        let file = Ids("{}", Some(b"\x89PNG"));
        let mut value = Value::picture(&file);
        assert_eq!(value.kind(), Kind::Object);
        assert!(value.to_json().is_err() && value.text().is_err());
        assert!(value.read::<Vec<u8>>().is_err());
        let alone: &[u8] = b"\x89PNG";
        let mut value = Value::picture(&alone);
        assert_eq!(value.read::<Vec<u8>>(), Err("found bytes".to_owned()));
        assert!(value.to_json().is_err());
    }
}
