//! Counts of pixels from arrays, for `metric_suite.evaluate.mean_iou`.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use metric_segmentation::{LabelRow, Metric, PixelConfusions, Segmentation, for_each_run};
use numpy::{Element, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The pixels of images by their labels, which are counted before it is known which labels are classes.
#[pyclass(module = "metric_suite._native")]
#[derive(Default)]
pub(crate) struct LabelPairs {
    pairs: HashMap<(i64, i64), u64, RandomState>,
}

/// The mean IoU, the mean accuracy, the overall accuracy, and the IoU and the accuracy of each class.
type Scores = (
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Vec<Option<f64>>,
    Vec<Option<f64>>,
);

#[pymethods]
impl LabelPairs {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds an image: two arrays of the same shape (height, width), of integers of 8 to 64 bits or booleans. Arrays whose rows lie in
    /// memory one label after the other are not copied.
    fn add(&mut self, prediction: &Bound<'_, PyAny>, reference: &Bound<'_, PyAny>) -> PyResult<()> {
        let [prediction, reference] = [Map::new(prediction)?, Map::new(reference)?];
        if prediction.size() != reference.size() {
            let [(rows, columns), (height, width)] = [prediction.size(), reference.size()];
            return Err(PyValueError::new_err(format!(
                "prediction has the shape ({rows}, {columns}), and its reference ({height}, {width}): expected equal shapes"
            )));
        }
        let mut rows = [Vec::new(), Vec::new()];
        for index in 0..reference.size().0 {
            let [label_row, predicted_row] = &mut rows;
            let label_row = reference.row(index, label_row);
            let predicted_row = prediction.row(index, predicted_row);
            for_each_run(label_row, predicted_row, |label, predicted, pixels| {
                *self.pairs.entry((label, predicted)).or_default() += pixels;
            });
        }
        Ok(())
    }

    /// Returns the scores of evaluate's `mean_iou`: of the labels 0 to `classes` - 1, with one label ignored, others mapped, and
    /// labels of references reduced by 1.
    #[pyo3(signature = (classes, ignored, label_map, reduces))]
    fn scores(
        &self,
        classes: u64,
        ignored: Option<i64>,
        label_map: Vec<(i64, i64)>,
        reduces: bool,
    ) -> PyResult<Scores> {
        let invalid = |error: metric_segmentation::SegmentationError| {
            PyValueError::new_err(error.to_string())
        };
        let metric = Segmentation::new(classes).map_err(invalid)?;
        let mut metric = metric.with_ignored(ignored).with_label_map(label_map);
        if reduces {
            metric = metric.with_reduced_labels().map_err(invalid)?;
        }
        let mut counter = metric.counter();
        for ((label, predicted), pixels) in &self.pairs {
            counter.add(*label, *predicted, *pixels);
        }
        let state: PixelConfusions = counter.finish();
        let scores = metric.compute(&state);
        let of_classes = metric.class_pixels(&state);
        Ok((
            scores.m_iou,
            scores.m_acc,
            scores.a_acc,
            of_classes.iter().map(|class| class.iou()).collect(),
            of_classes.iter().map(|class| class.accuracy()).collect(),
        ))
    }
}

/// An array of labels.
enum Map<'py> {
    Bools(PyReadonlyArray2<'py, bool>),
    Bytes(PyReadonlyArray2<'py, u8>),
    I8(PyReadonlyArray2<'py, i8>),
    I16(PyReadonlyArray2<'py, i16>),
    I32(PyReadonlyArray2<'py, i32>),
    I64(PyReadonlyArray2<'py, i64>),
    U16(PyReadonlyArray2<'py, u16>),
    U32(PyReadonlyArray2<'py, u32>),
}

impl<'py> Map<'py> {
    fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        fn read<'py, T: Element>(array: &Bound<'py, PyAny>) -> Option<PyReadonlyArray2<'py, T>> {
            let array = array.cast::<numpy::PyArray2<T>>().ok()?;
            array.try_readonly().ok()
        }
        let map = read(array).map(Self::Bytes);
        let map = map.or_else(|| read(array).map(Self::I64));
        let map = map.or_else(|| read(array).map(Self::I32));
        let map = map.or_else(|| read(array).map(Self::U16));
        let map = map.or_else(|| read(array).map(Self::I16));
        let map = map.or_else(|| read(array).map(Self::Bools));
        let map = map.or_else(|| read(array).map(Self::I8));
        let map = map.or_else(|| read(array).map(Self::U32));
        map.ok_or_else(|| {
            let problem = "expected an array of the shape (height, width) of integers or booleans";
            PyValueError::new_err(problem)
        })
    }

    /// The height and the width.
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Bools(array) => array.as_array().dim(),
            Self::Bytes(array) => array.as_array().dim(),
            Self::I8(array) => array.as_array().dim(),
            Self::I16(array) => array.as_array().dim(),
            Self::I32(array) => array.as_array().dim(),
            Self::I64(array) => array.as_array().dim(),
            Self::U16(array) => array.as_array().dim(),
            Self::U32(array) => array.as_array().dim(),
        }
    }

    /// A row of labels, in `room` if it is not one in memory.
    fn row<'r>(&'r self, index: usize, room: &'r mut Vec<i64>) -> LabelRow<'r> {
        match self {
            Self::Bytes(array) => {
                if let Some(bytes) = slice_of(array, index) {
                    return LabelRow::Bytes(bytes);
                }
                fill(array, index, room);
            }
            Self::I64(array) => {
                if let Some(labels) = slice_of(array, index) {
                    return LabelRow::Wide(labels);
                }
                fill(array, index, room);
            }
            Self::Bools(array) => fill(array, index, room),
            Self::I8(array) => fill(array, index, room),
            Self::I16(array) => fill(array, index, room),
            Self::I32(array) => fill(array, index, room),
            Self::U16(array) => fill(array, index, room),
            Self::U32(array) => fill(array, index, room),
        }
        LabelRow::Wide(room)
    }
}

/// A row, if its labels are next to each other.
fn slice_of<'r, T: Element>(array: &'r PyReadonlyArray2<'_, T>, index: usize) -> Option<&'r [T]> {
    let slice = array.as_slice().ok()?;
    let (_, width) = array.as_array().dim();
    slice.get(index * width..(index + 1) * width)
}

/// Copies a row.
fn fill<T: Element + Copy + Into<i64>>(
    array: &PyReadonlyArray2<'_, T>,
    index: usize,
    room: &mut Vec<i64>,
) {
    room.clear();
    let array = array.as_array();
    room.extend(array.row(index).iter().map(|label| (*label).into()));
}
