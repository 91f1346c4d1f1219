//! Images of labels in arrays of numpy, which are read row by row where they are.

use metric_run::record::{Grid, GridRow};
use ndarray::ArrayView2;
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

/// Images: a list of arrays of the shape (height, width), of integers or booleans. With further fields of their records,
/// `fields` has a JSON object for each, and `name` is the name of the field that is the array.
#[pyclass(module = "metric_suite._native", frozen)]
pub(crate) struct Grids {
    arrays: Vec<Py<PyAny>>,
    name: String,
    fields: Option<Vec<String>>,
}

#[pymethods]
impl Grids {
    #[new]
    #[pyo3(signature = (arrays, name = String::new(), fields = None))]
    fn new(arrays: Vec<Py<PyAny>>, name: String, fields: Option<Vec<String>>) -> Self {
        Self {
            arrays,
            name,
            fields,
        }
    }
}

impl Grids {
    /// The arrays, or the index of the first one that is none.
    pub(crate) fn arrays<'py>(&self, py: Python<'py>) -> Result<Vec<Image<'py>>, usize> {
        let image = |(index, array): (usize, &Py<PyAny>)| {
            let fields = self.fields.as_ref().and_then(|fields| fields.get(index));
            Ok(Image {
                pixels: Pixels::new(array.bind(py)).ok_or(index)?,
                fields: fields.map(|fields| (self.name.clone(), fields.clone())),
            })
        };
        self.arrays.iter().enumerate().map(image).collect()
    }
}

/// An image, with the owner of its pixels.
pub(crate) struct Image<'py> {
    pixels: Pixels<'py>,
    fields: Option<(String, String)>,
}

impl Image<'_> {
    pub(crate) fn view(&self) -> ImageView<'_> {
        let fields = self.fields.as_ref();
        ImageView {
            cells: self.pixels.cells(),
            fields: fields.map(|(name, fields)| (&**name, &**fields)),
        }
    }
}

/// An image that another thread may read.
#[derive(Debug)]
pub(crate) struct ImageView<'a> {
    cells: Cells<'a>,
    fields: Option<(&'a str, &'a str)>,
}

impl Grid for ImageView<'_> {
    fn size(&self) -> [usize; 2] {
        self.cells.size()
    }

    fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r> {
        self.cells.row(index, room)
    }

    fn fields(&self) -> Option<(&str, &str)> {
        self.fields
    }
}

macro_rules! arrays {
    ($($kind:ident of $cell:ty),*) => {
        /// An array of labels.
        pub(crate) enum Pixels<'py> {
            $($kind(PyReadonlyArray2<'py, $cell>)),*
        }

        /// The labels of an array.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Cells<'a> {
            $($kind(ArrayView2<'a, $cell>)),*
        }

        impl<'py> Pixels<'py> {
            /// Borrows an array; `None` if it is none of such labels with two dimensions.
            pub(crate) fn new(array: &Bound<'py, PyAny>) -> Option<Self> {
                $(if let Ok(array) = array.cast::<PyArray2<$cell>>() {
                    return array.try_readonly().ok().map(Self::$kind);
                })*
                None
            }

            pub(crate) fn cells(&self) -> Cells<'_> {
                match self {
                    $(Self::$kind(array) => Cells::$kind(array.as_array())),*
                }
            }
        }

        impl Cells<'_> {
            /// The height and the width.
            pub(crate) fn size(&self) -> [usize; 2] {
                match self {
                    $(Self::$kind(array) => array.dim().into()),*
                }
            }

            /// Copies a row.
            fn copy_row(&self, index: usize, room: &mut Vec<i64>) {
                room.clear();
                match self {
                    $(Self::$kind(array) => {
                        let row = array.outer_iter().nth(index).into_iter().flatten();
                        // No label is as large.
                        room.extend(row.map(|cell| i64::try_from(*cell).unwrap_or(i64::MAX)));
                    })*
                }
            }
        }
    };
}

arrays!(
    Bytes of u8, I64 of i64, I32 of i32, U16 of u16, I16 of i16, Bools of bool, I8 of i8, U32 of u32, U64 of u64
);

impl Cells<'_> {
    /// A row of labels, in `room` if they are not next to each other as bytes or integers of 64 bits.
    pub(crate) fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r> {
        let row = match self {
            Self::Bytes(array) => array
                .outer_iter()
                .nth(index)
                .and_then(|row| row.to_slice().map(GridRow::Bytes)),
            Self::I64(array) => array
                .outer_iter()
                .nth(index)
                .and_then(|row| row.to_slice().map(GridRow::Wide)),
            _ => None,
        };
        match row {
            Some(row) => row,
            None => {
                self.copy_row(index, room);
                GridRow::Wide(room)
            }
        }
    }
}
