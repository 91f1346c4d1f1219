//! Python values as columns: lists, numpy arrays and Arrow arrays, without a copy where the layout allows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::types::{UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use metric_run::record::{Cells, Column, Ids, Texts, Validity, Value};
use ndarray::ArrayView2;
use numpy::{
    Element, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString};

use crate::arrow;
use crate::error::{Location, metric_error, side_of};
use crate::grids::{Item, ItemView, Pictures};
use crate::json::{Problem, each_to_json, kind, lone_surrogate};

/// The name of an argument, for messages.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a str,
}

impl Argument<'_> {
    /// A `MetricError` about one value, or about all.
    pub(crate) fn refused(self, py: Python<'_>, index: Option<usize>, problem: &str) -> PyErr {
        let item = index.map_or_else(String::new, |index| format!("[{index}]"));
        let message = format!("{}{item}: {problem}", self.name);
        let location = Location {
            index,
            side: side_of(self.name),
            ..Location::default()
        };
        metric_error(py, &message, &location)
    }

    /// A `MetricError` about a part of an item, such as `[1]` or `["a"]`, that has no JSON form.
    pub(crate) fn invalid(self, py: Python<'_>, item: &str, problem: &Problem) -> PyErr {
        let path = format!("{item}{}", problem.path);
        let message = format!("{}{path}: {}", self.name, problem.text);
        let index = path.strip_prefix('[').and_then(|path| path.split_once(']'));
        let location = Location {
            index: index.and_then(|(index, _)| index.parse().ok()),
            side: side_of(self.name),
            ..Location::default()
        };
        metric_error(py, &message, &location)
    }
}

/// Texts that are JSON: a column of values of any kind.
#[pyclass(module = "metric_suite._native", frozen)]
pub(crate) struct JsonTexts(Py<PyAny>);

#[pymethods]
impl JsonTexts {
    #[new]
    const fn new(texts: Py<PyAny>) -> Self {
        Self(texts)
    }
}

/// Whether a value is a set, whose order is arbitrary. The keys of a dict have an order.
pub(crate) fn is_set(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PySet>().is_ok() || value.cast::<PyFrozenSet>().is_ok()
}

/// Values that columns are made from, with their owners.
pub(crate) enum Owned<'py> {
    Strings(Vec<Option<Bound<'py, PyString>>>),
    Json(Vec<String>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    IntegerArray(PyReadonlyArray1<'py, i64>),
    NumberArray(PyReadonlyArray1<'py, f64>),
    NumberArray32(PyReadonlyArray1<'py, f32>),
    Scores(PyReadonlyArray2<'py, f64>),
    Scores32(PyReadonlyArray2<'py, f32>),
    Labels(PyReadonlyArray2<'py, i64>),
    Pictures(Vec<Item<'py>>),
    Arrow(Vec<ArrayRef>),
}

impl<'py> Owned<'py> {
    /// Reads an argument.
    pub(crate) fn new(value: &Bound<'py, PyAny>, argument: Argument<'_>) -> PyResult<Self> {
        let py = value.py();
        if value.cast::<PyString>().is_ok() {
            let problem =
                "found one string: expected a sequence of values, such as a list of strings";
            return Err(argument.refused(py, None, problem));
        }
        // Before it is asked for what arrays have, each of which takes an exception.
        if value.cast_exact::<PyList>().is_ok() {
            return Self::of_items(value, argument);
        }
        if is_set(value) {
            let problem =
                "found a set, which has no order: expected a sequence of values, such as a list";
            return Err(argument.refused(py, None, problem));
        }
        if value.cast::<PyMapping>().is_ok() {
            let problem = "found a mapping: expected a sequence of values (give ids as ids=list(x), values as list(x.values()))";
            return Err(argument.refused(py, None, problem));
        }
        if let Ok(texts) = value.cast::<JsonTexts>() {
            let texts = Self::new(texts.get().0.bind(py), argument)?;
            let borrowed = texts.borrowed()?;
            let column = borrowed.column();
            let Ok(Column::Texts(texts)) = column else {
                let problem = "expected strings of JSON";
                return Err(argument.refused(py, None, problem));
            };
            let json = texts.iter().map(|text| text.unwrap_or("null").to_owned());
            return Ok(Self::Json(json.collect()));
        }
        if let Ok(pictures) = value.cast::<Pictures>() {
            let items = pictures.get().items(py);
            return items
                .map(Self::Pictures)
                .map_err(|(index, problem)| argument.invalid(py, &format!("[{index}]"), &problem));
        }
        // The test of the type needs numpy, which is there only if the value is of numpy.
        if value.hasattr("__array_interface__")?
            && let Ok(array) = value.cast::<PyUntypedArray>()
        {
            return Self::of_array(array, argument);
        }
        if let Some(chunks) = arrow::chunks(value)?
            && chunks.iter().all(|chunk| is_typed(chunk.data_type()))
        {
            return Ok(Self::Arrow(chunks));
        }
        // Arrays of torch, JAX and pandas.
        for method in ["to_pylist", "to_list"] {
            if value.hasattr(method)? {
                return Self::of_items(&value.call_method0(method)?, argument);
            }
        }
        if value.hasattr("__array__")? {
            let value = if value.hasattr("detach")? {
                value.call_method0("detach")?.call_method0("cpu")?
            } else {
                value.clone()
            };
            let array = py.import("numpy")?.call_method1("asarray", (value,))?;
            return Self::of_array(array.cast::<PyUntypedArray>()?, argument);
        }
        Self::of_items(value, argument)
    }

    fn of_array(array: &Bound<'py, PyUntypedArray>, argument: Argument<'_>) -> PyResult<Self> {
        let py = array.py();
        let kind = array.dtype().kind();
        let wanted = match (kind, array.dtype().itemsize()) {
            (b'i' | b'u', _) => "int64",
            (b'f', 4) => "float32",
            (b'f', _) => "float64",
            _ => return Self::of_items(&array.call_method0("tolist")?, argument),
        };
        // A copy only where the type or the layout asks for one.
        let array = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (array, wanted))?;
        fn of<'py, T: Element, D: ndarray::Dimension>(
            array: &Bound<'py, PyAny>,
        ) -> PyResult<numpy::PyReadonlyArray<'py, T, D>> {
            Ok(array.cast::<numpy::PyArray<T, D>>()?.try_readonly()?)
        }
        let dimensions = array.cast::<PyUntypedArray>()?.ndim();
        Ok(match (dimensions, wanted) {
            (1, "int64") => Self::IntegerArray(of(&array)?),
            (1, "float32") => Self::NumberArray32(of(&array)?),
            (1, _) => Self::NumberArray(of(&array)?),
            (2, "int64") => Self::Labels(of(&array)?),
            (2, "float32") => Self::Scores32(of(&array)?),
            (2, _) => Self::Scores(of(&array)?),
            (0, _) => {
                let problem = "found an array without dimensions: expected one row per example";
                return Err(argument.refused(py, None, problem));
            }
            _ => return Self::of_items(&array.call_method0("tolist")?, argument),
        })
    }

    fn of_items(values: &Bound<'py, PyAny>, argument: Argument<'_>) -> PyResult<Self> {
        let py = values.py();
        let Ok(items) = values.try_iter() else {
            let problem = format!("found {}: expected a sequence of values", kind(values));
            return Err(argument.refused(py, None, &problem));
        };
        let items: Vec<Bound<'py, PyAny>> = items.collect::<PyResult<_>>()?;
        let is_text = |item: &Bound<'py, PyAny>| item.is_none() || item.cast::<PyString>().is_ok();
        if !items.is_empty()
            && items.iter().all(is_text)
            && !items.iter().all(|item| item.is_none())
        {
            let texts = items.into_iter().enumerate();
            let text = |(index, item): (usize, Bound<'py, PyAny>)| {
                if item.is_none() {
                    return Ok(None);
                }
                let text = item.cast_into::<PyString>().map_err(PyErr::from)?;
                // Read here once, after which it keeps its UTF-8 form.
                match text.to_str() {
                    Ok(_) => Ok(Some(text)),
                    Err(_) => Err(argument.refused(py, Some(index), &lone_surrogate())),
                }
            };
            return texts.map(text).collect::<PyResult<_>>().map(Self::Strings);
        }
        let is_integer = |item: &Bound<'py, PyAny>| {
            item.cast::<PyInt>().is_ok() && item.cast::<PyBool>().is_err()
        };
        if !items.is_empty() && items.iter().all(is_integer) {
            let integers: PyResult<Vec<i64>> = items.iter().map(|item| item.extract()).collect();
            if let Ok(integers) = integers {
                return Ok(Self::Integers(integers));
            }
        }
        if !items.is_empty() && items.iter().all(|item| item.cast::<PyFloat>().is_ok()) {
            let numbers: PyResult<Vec<f64>> = items.iter().map(|item| item.extract()).collect();
            return numbers.map(Self::Numbers);
        }
        let json = each_to_json(&items);
        json.map(Self::Json)
            .map_err(|(index, problem)| argument.invalid(py, &format!("[{index}]"), &problem))
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Strings(it) => it.len(),
            Self::Json(it) => it.len(),
            Self::Integers(it) => it.len(),
            Self::Numbers(it) => it.len(),
            Self::IntegerArray(it) => it.len(),
            Self::NumberArray(it) => it.len(),
            Self::NumberArray32(it) => it.len(),
            Self::Scores(it) => it.shape()[0],
            Self::Scores32(it) => it.shape()[0],
            Self::Labels(it) => it.shape()[0],
            Self::Pictures(it) => it.len(),
            Self::Arrow(chunks) => chunks.iter().map(|chunk| chunk.len()).sum(),
        }
    }

    /// The part that a column of these values borrows.
    pub(crate) fn borrowed(&self) -> PyResult<Borrowed<'_>> {
        Ok(match self {
            Self::Strings(texts) => {
                let texts = texts
                    .iter()
                    .map(|text| text.as_ref().map(|text| text.to_str()));
                let texts = texts.map(Option::transpose);
                Borrowed::Texts(texts.collect::<PyResult<_>>()?)
            }
            Self::Json(texts) => Borrowed::Json(texts.iter().map(|text| Some(&**text)).collect()),
            Self::Integers(cells) => Borrowed::Integers(cells),
            Self::Numbers(cells) => Borrowed::Numbers(cells),
            Self::IntegerArray(array) => Borrowed::Integers(array.as_slice()?),
            Self::NumberArray(array) => Borrowed::Numbers(array.as_slice()?),
            Self::NumberArray32(array) => Borrowed::Numbers32(array.as_slice()?),
            Self::Scores(array) => Borrowed::Scores(array.as_array()),
            Self::Scores32(array) => Borrowed::Scores32(array.as_array()),
            Self::Labels(array) => Borrowed::Labels(array.as_array()),
            Self::Pictures(items) => Borrowed::Pictures(items.iter().map(Item::view).collect()),
            Self::Arrow(chunks) => Borrowed::of_arrow(chunks),
        })
    }
}

/// Values that were read, as slices that another thread may use while Python goes on.
pub(crate) enum Borrowed<'a> {
    Texts(Vec<Option<&'a str>>),
    Json(Vec<Option<&'a str>>),
    Integers(&'a [i64]),
    Numbers(&'a [f64]),
    Numbers32(&'a [f32]),
    Scores(ArrayView2<'a, f64>),
    Scores32(ArrayView2<'a, f32>),
    Labels(ArrayView2<'a, i64>),
    Pictures(Vec<ItemView<'a>>),
    /// The bytes of files.
    Files(Vec<Option<&'a [u8]>>),
    /// One chunk of a type with a column of its own.
    Chunk(&'a ArrayRef),
    /// Texts of several chunks.
    TextChunks(&'a [ArrayRef]),
    /// Integers of another width, or of several chunks, and which of them are not null.
    OwnedIntegers(Vec<i64>, Option<Vec<u8>>),
    OwnedNumbers(Vec<f64>, Option<Vec<u8>>),
}

/// Whether a type of Arrow has a column of its own. Values of other types are converted to Python's.
fn is_typed(data_type: &DataType) -> bool {
    data_type.is_integer() && *data_type != DataType::UInt64
        || matches!(
            data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::Float32
                | DataType::Float64
        )
}

fn bits(valid: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bits = vec![0; valid.len().div_ceil(8)];
    for (row, valid) in valid.enumerate() {
        if valid {
            bits[row / 8] |= 1 << (row % 8);
        }
    }
    bits
}

impl<'a> Borrowed<'a> {
    fn of_arrow(chunks: &'a [ArrayRef]) -> Self {
        let Some(first) = chunks.first() else {
            return Self::Texts(Vec::new());
        };
        let data_type = first.data_type();
        let is_text = matches!(
            data_type,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        );
        if let ([chunk], true) = (
            chunks,
            is_text
                || matches!(
                    data_type,
                    DataType::Int64 | DataType::Float64 | DataType::Float32
                ),
        ) {
            return Self::Chunk(chunk);
        }
        if is_text {
            return Self::TextChunks(chunks);
        }
        if let Some(files) = files(chunks) {
            return Self::Files(files);
        }
        if matches!(data_type, DataType::Float32 | DataType::Float64) {
            let mut numbers: Vec<Option<f64>> = Vec::new();
            for chunk in chunks {
                match chunk.data_type() {
                    DataType::Float32 => {
                        let chunk = chunk.as_primitive::<Float32Type>().iter();
                        numbers.extend(chunk.map(|number| number.map(f64::from)));
                    }
                    _ => numbers.extend(chunk.as_primitive::<Float64Type>().iter()),
                }
            }
            let has_nulls = numbers.iter().any(Option::is_none);
            let valid = has_nulls.then(|| bits(numbers.iter().map(Option::is_some)));
            let numbers = numbers.into_iter().map(Option::unwrap_or_default);
            return Self::OwnedNumbers(numbers.collect(), valid);
        }
        let mut integers: Vec<Option<i64>> = Vec::new();
        macro_rules! of {
            ($chunk:expr, $type:ty) => {
                integers.extend(
                    $chunk
                        .as_primitive::<$type>()
                        .iter()
                        .map(|it| it.map(i64::from)),
                )
            };
        }
        for chunk in chunks {
            match chunk.data_type() {
                DataType::Int8 => of!(chunk, Int8Type),
                DataType::Int16 => of!(chunk, Int16Type),
                DataType::Int32 => of!(chunk, Int32Type),
                DataType::UInt8 => of!(chunk, UInt8Type),
                DataType::UInt16 => of!(chunk, UInt16Type),
                DataType::UInt32 => of!(chunk, UInt32Type),
                _ => of!(chunk, Int64Type),
            }
        }
        let has_nulls = integers.iter().any(Option::is_none);
        let valid = has_nulls.then(|| bits(integers.iter().map(Option::is_some)));
        let integers = integers.into_iter().map(Option::unwrap_or_default);
        Self::OwnedIntegers(integers.collect(), valid)
    }

    /// The column, or the problem of the array.
    pub(crate) fn column(&self) -> Result<Column<'_>, String> {
        Ok(match self {
            Self::Texts(texts) => Column::Texts(Texts::from(&texts[..])),
            Self::Json(texts) => Column::Json(Texts::from(&texts[..])),
            Self::Integers(cells) => Column::Integers(Cells::from(*cells)),
            Self::Numbers(cells) => Column::Numbers(Cells::from(*cells)),
            Self::Numbers32(cells) => Column::NumbersF32(Cells::from(*cells)),
            Self::Scores(rows) => Column::Scores(rows.view()),
            Self::Scores32(rows) => Column::ScoresF32(rows.view()),
            Self::Labels(rows) => Column::Labels(rows.view()),
            Self::Pictures(items) => Column::Values(items.iter().map(ItemView::value).collect()),
            Self::Files(files) => {
                let values = files.iter().map(|file| match file {
                    Some(bytes) => Value::picture(bytes),
                    None => Value::null(),
                });
                Column::Values(values.collect())
            }
            Self::OwnedIntegers(cells, valid) => {
                Column::Integers(with_nulls(cells, valid.as_deref())?)
            }
            Self::OwnedNumbers(cells, valid) => {
                Column::Numbers(with_nulls(cells, valid.as_deref())?)
            }
            Self::Chunk(chunk) => of_chunk(chunk)?,
            Self::TextChunks(chunks) => {
                let mut texts = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
                for chunk in *chunks {
                    if let Column::Texts(chunk) = of_chunk(chunk)? {
                        texts.extend(chunk.iter());
                    }
                }
                Column::Texts(texts.into_iter().collect())
            }
        })
    }

    /// The values as ids.
    pub(crate) fn ids(&self) -> Result<Ids<'_>, String> {
        match self.column()? {
            Column::Texts(texts) => Ok(Ids::Texts(texts)),
            Column::Integers(cells) => Ok(Ids::Integers(cells)),
            other => Err(format!(
                "found {}: expected strings or integers",
                other.kind()
            )),
        }
    }
}

/// The values of chunks of bytes.
fn files(chunks: &[ArrayRef]) -> Option<Vec<Option<&[u8]>>> {
    let mut files = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
    for chunk in chunks {
        match chunk.data_type() {
            DataType::Binary => files.extend(chunk.as_binary::<i32>()),
            DataType::LargeBinary => files.extend(chunk.as_binary::<i64>()),
            DataType::BinaryView => files.extend(chunk.as_binary_view()),
            _ => return None,
        }
    }
    Some(files)
}

fn with_nulls<'a, T: Copy>(
    cells: &'a [T],
    valid: Option<&'a [u8]>,
) -> Result<Cells<'a, T>, String> {
    let valid = valid.map(|bits| Validity::new(bits, 0, cells.len()));
    let valid = valid.transpose().map_err(|error| error.to_string())?;
    Cells::new(cells, valid).map_err(|error| error.to_string())
}

/// The column of one chunk, without a copy. The bytes and offsets of texts are checked here.
fn of_chunk(chunk: &ArrayRef) -> Result<Column<'_>, String> {
    let nulls = chunk.nulls();
    let valid = nulls.map(|nulls| Validity::new(nulls.validity(), nulls.offset(), nulls.len()));
    let valid = valid.transpose().map_err(|error| error.to_string())?;
    let cells = |error: metric_run::record::ValidityError| error.to_string();
    let texts = |error: metric_run::record::TextsError| error.to_string();
    Ok(match chunk.data_type() {
        DataType::Int64 => {
            let values = chunk.as_primitive::<Int64Type>().values();
            Column::Integers(Cells::new(values, valid).map_err(cells)?)
        }
        DataType::Float64 => {
            let values = chunk.as_primitive::<Float64Type>().values();
            Column::Numbers(Cells::new(values, valid).map_err(cells)?)
        }
        DataType::Float32 => {
            let values = chunk.as_primitive::<Float32Type>().values();
            Column::NumbersF32(Cells::new(values, valid).map_err(cells)?)
        }
        DataType::Utf8 => {
            let array = chunk.as_string::<i32>();
            let found = Texts::utf8(array.value_offsets(), array.value_data(), valid);
            Column::Texts(found.map_err(texts)?)
        }
        DataType::LargeUtf8 => {
            let array = chunk.as_string::<i64>();
            let found = Texts::large_utf8(array.value_offsets(), array.value_data(), valid);
            Column::Texts(found.map_err(texts)?)
        }
        DataType::Utf8View => {
            let array = chunk.as_string_view();
            let (views, _) = array.views().inner().as_slice().as_chunks::<16>();
            let buffers: Vec<&[u8]> = array
                .data_buffers()
                .iter()
                .map(|it| it.as_slice())
                .collect();
            Column::Texts(Texts::utf8_view(views, &buffers, valid).map_err(texts)?)
        }
        other => return Err(format!("found an Arrow array of {other}")),
    })
}
