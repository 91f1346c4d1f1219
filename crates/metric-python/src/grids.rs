//! Pictures in memory: arrays of numpy, which are read row by row where they are, and the bytes of files.

use metric_run::record::{Grid, GridRow, Picture, Pixels, Value};
use ndarray::ArrayView2;
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::json::{Problem, to_json};

/// A list of values, some of which are pictures: arrays of the shape (height, width), of integers or booleans, or bytes. Other values
/// are written as JSON, such as the paths of files. With further fields of their records, `fields` has a JSON object for each
/// picture, and `name` is the name of the field that is the picture.
#[pyclass(module = "metric_suite._native", frozen)]
pub(crate) struct Pictures {
    values: Vec<Py<PyAny>>,
    name: String,
    fields: Option<Vec<Option<String>>>,
}

#[pymethods]
impl Pictures {
    #[new]
    #[pyo3(signature = (values, name = String::new(), fields = None))]
    fn new(values: Vec<Py<PyAny>>, name: String, fields: Option<Vec<Option<String>>>) -> Self {
        Self {
            values,
            name,
            fields,
        }
    }
}

impl Pictures {
    /// The values, or the index and the problem of the first one that is none.
    pub(crate) fn items<'py>(&self, py: Python<'py>) -> Result<Vec<Item<'py>>, (usize, Problem)> {
        let item = |(index, value): (usize, &Py<PyAny>)| {
            let value = value.bind(py);
            let fields = self.fields.as_ref().and_then(|fields| fields.get(index));
            let fields = fields.cloned().flatten();
            let fields = fields.map(|fields| (self.name.clone(), fields));
            if let Ok(bytes) = value.cast::<PyBytes>() {
                return Ok(Item::Picture(Owner::File(bytes.clone()), fields));
            }
            if let Some(array) = Array::new(value) {
                return Ok(Item::Picture(Owner::Array(array), fields));
            }
            let json = to_json(value).map_err(|problem| (index, problem))?;
            Ok(Item::Json(json))
        };
        self.values.iter().enumerate().map(item).collect()
    }
}

/// A value, with the owner of its pixels and its further fields if it is a picture.
pub(crate) enum Item<'py> {
    Picture(Owner<'py>, Option<(String, String)>),
    Json(String),
}

/// The owner of pixels.
pub(crate) enum Owner<'py> {
    Array(Array<'py>),
    File(Bound<'py, PyBytes>),
}

impl Item<'_> {
    pub(crate) fn view(&self) -> ItemView<'_> {
        match self {
            Self::Json(json) => ItemView::Json(json),
            Self::Picture(owner, fields) => ItemView::Picture(PictureView {
                pixels: match owner {
                    Owner::Array(array) => PixelsView::Array(array.cells()),
                    Owner::File(bytes) => PixelsView::File(bytes.as_bytes()),
                },
                fields: fields.as_ref().map(|(name, fields)| (&**name, &**fields)),
            }),
        }
    }
}

/// A value that another thread may read.
#[derive(Debug)]
pub(crate) enum ItemView<'a> {
    Picture(PictureView<'a>),
    Json(&'a str),
}

impl ItemView<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Picture(picture) => Value::picture(picture),
            Self::Json(json) => Value::json(json),
        }
    }
}

/// A picture that another thread may read.
#[derive(Debug)]
pub(crate) struct PictureView<'a> {
    pixels: PixelsView<'a>,
    fields: Option<(&'a str, &'a str)>,
}

#[derive(Debug)]
enum PixelsView<'a> {
    Array(Cells<'a>),
    File(&'a [u8]),
}

impl Picture for PictureView<'_> {
    fn pixels(&self) -> Pixels<'_> {
        match &self.pixels {
            PixelsView::Array(cells) => Pixels::Grid(cells),
            PixelsView::File(bytes) => Pixels::File(bytes),
        }
    }

    fn fields(&self) -> Option<(&str, &str)> {
        self.fields
    }
}

impl Grid for Cells<'_> {
    fn size(&self) -> [usize; 2] {
        self.size()
    }

    fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> GridRow<'r> {
        self.row(index, room)
    }
}

macro_rules! arrays {
    ($($kind:ident of $cell:ty),*) => {
        /// An array of labels.
        pub(crate) enum Array<'py> {
            $($kind(PyReadonlyArray2<'py, $cell>)),*
        }

        /// The labels of an array.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Cells<'a> {
            $($kind(ArrayView2<'a, $cell>)),*
        }

        impl<'py> Array<'py> {
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
