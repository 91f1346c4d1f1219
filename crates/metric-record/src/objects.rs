use std::fmt;

use crate::IdKey;

/// One side of a data set of images in memory: its objects, or its detections, as columns of equal
/// length.
///
/// ```
/// use metric_record::{Document, IdKey, ObjectColumns, Objects};
///
/// // A dog in the first of two images.
/// let truth = Objects::new(ObjectColumns {
///     images: vec![IdKey::Number(1), IdKey::Number(2)],
///     classes: vec![(IdKey::Number(18), "dog".to_owned())],
///     image: vec![1].into(),
///     class: vec![18].into(),
///     bbox: Some(vec![[0.0, 0.0, 10.0, 20.0]]),
///     ..ObjectColumns::default()
/// })?;
/// assert_eq!(truth.len(), 1);
/// let document = Document::objects("truth", truth);
///
/// let error = Objects::new(ObjectColumns { score: Some(vec![0.5]), ..ObjectColumns::default() });
/// assert_eq!(error.unwrap_err().to_string(), "column score has 1 value: expected 0, one per object");
/// # Ok::<(), metric_record::ColumnLengthError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    columns: ObjectColumns,
}

/// The columns of [`Objects`]. Except for the lists of images and classes, each has one value per object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectColumns {
    /// The ids of all images, also of those without objects. Only ground truth needs them.
    pub images: Vec<IdKey<'static>>,
    /// The height and width of each of `images`, in pixels. Only masks that are given as polygons need
    /// them.
    pub sizes: Option<Vec<[u32; 2]>>,
    /// The ids of all classes with their names. Only ground truth needs them.
    pub classes: Vec<(IdKey<'static>, String)>,
    /// The image of each object.
    pub image: IdColumn,
    /// The class of each object.
    pub class: IdColumn,
    /// The box of each object: x, y, width and height.
    pub bbox: Option<Vec<[f64; 4]>>,
    /// The mask of each object: the JSON text of a COCO `segmentation`.
    pub segmentation: Option<Vec<String>>,
    /// The confidence of each detection.
    pub score: Option<Vec<f64>>,
    /// The position of each detection in its file, by which detections of equal scores are ranked across images. It
    /// is the index of the row if `None`; equal positions are ranked by image.
    pub position: Option<Vec<u32>>,
    /// The area of each object, which decides its area range. It is that of the shape if `None`.
    pub area: Option<Vec<f64>>,
    /// Whether each object is a crowd. None is if `None`.
    pub crowd: Option<Vec<bool>>,
    /// Whether each object is excluded from the score. None is if `None`.
    pub ignore: Option<Vec<bool>>,
    /// The id of each object.
    pub id: Option<Vec<i64>>,
}

/// One id per object.
///
/// ```
/// use metric_record::{IdColumn, IdKey};
///
/// assert_eq!(IdColumn::from(vec![18, 1]).len(), 2);
/// assert_eq!(IdColumn::from(vec![IdKey::from("dog")]).len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum IdColumn {
    /// Integers, in a third of the memory.
    Numbers(Vec<i64>),
    /// Ids of any kind.
    Keys(Vec<IdKey<'static>>),
}

impl IdColumn {
    /// Returns the number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Keys(keys) => keys.len(),
        }
    }

    /// Returns whether there are no ids.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for IdColumn {
    fn default() -> Self {
        Self::Numbers(Vec::new())
    }
}

impl From<Vec<i64>> for IdColumn {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Vec<IdKey<'static>>> for IdColumn {
    fn from(keys: Vec<IdKey<'static>>) -> Self {
        Self::Keys(keys)
    }
}

impl Objects {
    /// Checks that the columns have one value per object.
    ///
    /// # Errors
    ///
    /// Returns an error if a column has more or fewer values than `image`, or if `sizes` has more or
    /// fewer than `images`.
    pub fn new(columns: ObjectColumns) -> Result<Self, ColumnLengthError> {
        fn of<T>(column: &Option<Vec<T>>) -> Option<usize> {
            column.as_ref().map(Vec::len)
        }
        let expected = columns.image.len();
        let lengths = [
            ("class", Some(columns.class.len())),
            ("bbox", of(&columns.bbox)),
            ("segmentation", of(&columns.segmentation)),
            ("score", of(&columns.score)),
            ("position", of(&columns.position)),
            ("area", of(&columns.area)),
            ("crowd", of(&columns.crowd)),
            ("ignore", of(&columns.ignore)),
            ("id", of(&columns.id)),
        ];
        let lengths = lengths.map(|(column, length)| (column, length, expected, "object"));
        let sizes = ("sizes", of(&columns.sizes), columns.images.len(), "image");
        let wrong =
            lengths
                .into_iter()
                .chain([sizes])
                .find_map(|(column, length, expected, of)| {
                    let length = length.filter(|&length| length != expected)?;
                    Some(ColumnLengthError {
                        column,
                        length,
                        expected,
                        of,
                    })
                });
        match wrong {
            Some(error) => Err(error),
            None => Ok(Self { columns }),
        }
    }

    /// Returns the columns.
    #[must_use]
    pub fn columns(&self) -> &ObjectColumns {
        &self.columns
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.image.len()
    }

    /// Returns whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.image.is_empty()
    }
}

/// A column that has more or fewer values than it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnLengthError {
    /// The name of the column.
    pub column: &'static str,
    /// The number of values it has.
    pub length: usize,
    /// The number it must have.
    pub expected: usize,
    /// The item that each value belongs to: `object` or `image`.
    pub of: &'static str,
}

impl fmt::Display for ColumnLengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            length,
            expected,
            of,
        } = self;
        let values = if *length == 1 { "value" } else { "values" };
        write!(
            f,
            "column {column} has {length} {values}: expected {expected}, one per {of}"
        )
    }
}

impl std::error::Error for ColumnLengthError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_other_lengths() {
        let one = ObjectColumns {
            images: vec![IdKey::Number(1)],
            image: vec![1].into(),
            class: vec![IdKey::Number(1)].into(),
            ..ObjectColumns::default()
        };
        assert_eq!(
            Objects::new(one.clone()).map(|objects| objects.len()),
            Ok(1)
        );
        for (columns, expected) in [
            (
                ObjectColumns {
                    class: IdColumn::default(),
                    ..one.clone()
                },
                "column class has 0 values: expected 1, one per object",
            ),
            (
                ObjectColumns {
                    bbox: Some(vec![[0.0; 4]; 2]),
                    ..one.clone()
                },
                "column bbox has 2 values: expected 1, one per object",
            ),
            (
                ObjectColumns {
                    id: Some(vec![]),
                    ..one.clone()
                },
                "column id has 0 values: expected 1, one per object",
            ),
            (
                ObjectColumns {
                    sizes: Some(vec![]),
                    ..one
                },
                "column sizes has 0 values: expected 1, one per image",
            ),
        ] {
            let error = Objects::new(columns).expect_err(expected);
            assert_eq!(error.to_string(), expected);
        }
    }
}
