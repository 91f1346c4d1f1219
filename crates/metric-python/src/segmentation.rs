//! Counts of pixels from arrays, for `metric_suite.evaluate.mean_iou`.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use metric_segmentation::{LabelRow, Metric, PixelConfusions, Segmentation, for_each_run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::grids::Array;

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
        let [prediction, reference] = [pixels(prediction)?, pixels(reference)?];
        let [prediction, reference] = [prediction.cells(), reference.cells()];
        if prediction.size() != reference.size() {
            let [[rows, columns], [height, width]] = [prediction.size(), reference.size()];
            return Err(PyValueError::new_err(format!(
                "prediction has the shape ({rows}, {columns}), and its reference ({height}, {width}): expected equal shapes"
            )));
        }
        let mut rows = [Vec::new(), Vec::new()];
        for index in 0..reference.size()[0] {
            let [labels, predicted] = &mut rows;
            let labels = LabelRow::from(reference.row(index, labels));
            let predicted = LabelRow::from(prediction.row(index, predicted));
            for_each_run(labels, predicted, |label, predicted, pixels| {
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

/// The labels of an image.
fn pixels<'py>(array: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    Array::new(array).ok_or_else(|| {
        let problem = "expected an array of the shape (height, width) of integers or booleans";
        PyValueError::new_err(problem)
    })
}
