//! COCO's evaluation of objects in columns, for `metric_suite.compat.pycocotools.cocoeval`.

use metric_core::Metric;
use metric_vision::{
    Annotation, AreaRange, CocoAp, CocoArrays, CocoCurves, CocoParams, CocoSummary, DetectionLimit,
    Federated, Image, InvalidCocoParams, Keypoints, LvisAp, Prediction, Shape, Sigmas,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::masks::{Rle, read_boxes, read_mask};
use crate::threads::for_examples;

/// Objects in columns of equal length. Images and classes are positions in the lists of the evaluation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Objects<'py> {
    image: PyReadonlyArray1<'py, i64>,
    class: PyReadonlyArray1<'py, i64>,
    area: PyReadonlyArray1<'py, f64>,
    /// The confidence of a detection; for a ground-truth object, 1 if it is a crowd.
    number: PyReadonlyArray1<'py, f64>,
    /// For ground-truth objects, whether the id is not 0.
    has_id: PyReadonlyArray1<'py, bool>,
    /// For ground-truth objects, whether they are ignored without being crowds.
    ignore: PyReadonlyArray1<'py, bool>,
    shape: Shapes<'py>,
}

#[derive(FromPyObject)]
enum Shapes<'py> {
    Boxes(PyReadonlyArray2<'py, f64>),
    /// Rows of x, y and visibility of each keypoint, and the boxes of the objects.
    Keypoints(PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>),
    Masks(Vec<Rle>),
}

/// The definition of an evaluation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Definition {
    images: usize,
    classes: usize,
    iou_thresholds: Vec<f64>,
    recall_thresholds: Vec<f64>,
    areas: Vec<(f64, f64)>,
    max_detections: Vec<usize>,
    by_class: bool,
    /// For keypoints.
    sigmas: Vec<f64>,
    /// For LVIS, the classes that are known to be absent from each image, and those of which not every object is
    /// annotated.
    federated: Option<(ClassLists, ClassLists)>,
}

/// A list of classes for each image.
type ClassLists = Vec<Vec<u32>>;

/// A flat array of numbers.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// The arrays of `COCOeval.eval`: precision, recall and scores, by rows.
#[pyfunction]
#[allow(private_interfaces, reason = "only Python calls it")]
pub(crate) fn coco_arrays<'py>(
    py: Python<'py>,
    definition: Definition,
    truths: Objects<'py>,
    detections: Objects<'py>,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    match (&truths.shape, &detections.shape) {
        (Shapes::Boxes(mine), Shapes::Boxes(theirs)) => {
            let shapes = (read_boxes(mine)?, read_boxes(theirs)?);
            evaluate(py, definition, &truths, &detections, shapes)
        }
        (Shapes::Masks(mine), Shapes::Masks(theirs)) => {
            let read = |masks: &[Rle]| masks.iter().map(read_mask).collect::<PyResult<Vec<_>>>();
            let shapes = (read(mine)?, read(theirs)?);
            evaluate(py, definition, &truths, &detections, shapes)
        }
        (Shapes::Keypoints(mine, boxes), Shapes::Keypoints(theirs, _)) => {
            let sigmas = Sigmas::new(definition.sigmas.clone());
            let sigmas = sigmas.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let areas = truths.area.as_slice()?;
            let boxes = read_boxes(boxes)?;
            let truth = |row: usize, points: &[f64]| {
                let labeled = points.chunks_exact(3).map(|point| point[2] > 0.0).collect();
                let bbox = boxes.get(row).copied();
                Keypoints::truth(positions(points), labeled, bbox, areas[row], &sigmas)
            };
            let found = |_: usize, points: &[f64]| Keypoints::detection(positions(points));
            let shapes = (
                read_points(mine, sigmas.count(), truth)?,
                read_points(theirs, sigmas.count(), found)?,
            );
            evaluate(py, definition, &truths, &detections, shapes)
        }
        _ => Err(PyValueError::new_err(
            "shapes of different kinds do not compare",
        )),
    }
}

/// The positions of keypoints, without their visibility.
fn positions(points: &[f64]) -> Vec<[f64; 2]> {
    let points = points.chunks_exact(3);
    points.map(|point| [point[0], point[1]]).collect()
}

/// The keypoints of each row. Their number must equal that of the sigmas, as in numpy.
fn read_points(
    rows: &PyReadonlyArray2<'_, f64>,
    count: usize,
    read: impl Fn(usize, &[f64]) -> Keypoints,
) -> PyResult<Vec<Keypoints>> {
    let rows = rows.as_array();
    if !rows.is_empty() && rows.ncols() != 3 * count {
        let problem = format!("found {} numbers: expected {}", rows.ncols(), 3 * count);
        return Err(PyValueError::new_err(problem));
    }
    let shapes = rows.outer_iter().enumerate();
    Ok(shapes
        .map(|(row, points)| read(row, &points.to_vec()))
        .collect())
}

fn evaluate<'py, S: Shape + Send + Sync>(
    py: Python<'py>,
    definition: Definition,
    truths: &Objects<'py>,
    detections: &Objects<'py>,
    (true_shapes, shapes): (Vec<S>, Vec<S>),
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    let mut images: Vec<Image<S>> = (0..definition.images)
        .map(|image| Image::new(image as i64, Vec::new()))
        .collect();
    let mut predictions: Vec<Vec<Prediction<S>>> = Vec::new();
    predictions.resize_with(images.len(), Vec::new);

    let (image, class, area) = (
        truths.image.as_slice()?,
        truths.class.as_slice()?,
        truths.area.as_slice()?,
    );
    let (crowd, has_id) = (truths.number.as_slice()?, truths.has_id.as_slice()?);
    let ignore = truths.ignore.as_slice()?;
    for (row, shape) in true_shapes.into_iter().enumerate() {
        if let Some(to) = images.get_mut(image[row] as usize) {
            to.annotations.push(Annotation {
                class: class[row] as u32,
                crowd: crowd[row] != 0.0,
                ignore: ignore[row],
                id: i64::from(has_id[row]),
                area: area[row],
                shape,
            });
        }
    }
    let (image, class, area) = (
        detections.image.as_slice()?,
        detections.class.as_slice()?,
        detections.area.as_slice()?,
    );
    let score = detections.number.as_slice()?;
    for (row, shape) in shapes.into_iter().enumerate() {
        if let Some(to) = predictions.get_mut(image[row] as usize) {
            to.push(Prediction {
                image: image[row] as u32,
                position: row as u32,
                class: class[row] as u32,
                score: score[row],
                area: area[row],
                shape,
            });
        }
    }
    let Definition {
        classes,
        iou_thresholds,
        recall_thresholds,
        areas,
        max_detections,
        by_class,
        federated,
        ..
    } = definition;
    let is_federated = federated.is_some();
    if let Some((negative, not_exhaustive)) = federated {
        let lists = negative.into_iter().zip(not_exhaustive);
        for (image, (negative, not_exhaustive)) in images.iter_mut().zip(lists) {
            image.federated = Federated {
                negative,
                not_exhaustive,
            };
        }
    }
    let areas = areas.into_iter().enumerate();
    // Area ranges have names that no number of detections has.
    let params = CocoParams::default()
        .with_iou_thresholds(iou_thresholds)
        .with_recall_thresholds(recall_thresholds)
        .with_areas(
            areas
                .map(|(index, (least, greatest))| {
                    AreaRange::new(format!("area{index}"), least, greatest)
                })
                .collect(),
        )
        .with_max_detections(max_detections)
        .with_by_class(by_class)
        .with_quirks(true)
        .with_summary(CocoSummary::Detections);
    let refused = |error: InvalidCocoParams| PyValueError::new_err(error.to_string());
    let arrays = if is_federated {
        // The caller has cut the detections of each image.
        let metric = LvisAp::<S>::new(params, DetectionLimit::All).map_err(refused)?;
        let all = (&*images, &*predictions);
        measure(py, &metric, all, |curves| curves.arrays(classes))?
    } else {
        let metric = CocoAp::<S>::new(params).map_err(refused)?;
        let all = (&*images, &*predictions);
        measure(py, &metric, all, |curves: CocoCurves| {
            curves.arrays(classes)
        })?
    };
    let arrays = arrays.ok_or_else(|| PyValueError::new_err("too many numbers for the memory"))?;
    let array = |numbers| PyArray1::from_vec(py, numbers);
    Ok((
        array(arrays.precision),
        array(arrays.recall),
        array(arrays.scores),
    ))
}

/// The arrays of all images.
fn measure<M, S>(
    py: Python<'_>,
    metric: &M,
    (images, predictions): (&[Image<S>], &[Vec<Prediction<S>>]),
    arrays: impl Fn(M::Score) -> Option<CocoArrays> + Sync + Send,
) -> PyResult<Option<CocoArrays>>
where
    M: Metric<Prediction = [Prediction<S>], Reference = Image<S>> + Sync,
    S: Shape + Send + Sync,
{
    for_examples(py, images.len() as u64, None, || {
        let mut state = M::State::default();
        for (image, predictions) in images.iter().zip(predictions) {
            metric.update(&mut state, predictions, image);
        }
        arrays(metric.compute(&state))
    })
}

/// A flat array of positions, -1 for none.
type Positions = Py<PyArray1<i64>>;

/// Matches the detections of one image and class with its ground-truth objects, as `COCOeval.evaluateImg` does.
///
/// `ious` is by rows of detections, which come by falling score; ground-truth objects that are ignored come last.
/// Returns by rows of thresholds, for each detection the position of its match and for each ground-truth object that
/// of its detection, -1 for none.
#[pyfunction]
pub(crate) fn coco_match(
    py: Python<'_>,
    ious: PyReadonlyArray2<'_, f64>,
    ignored: Vec<bool>,
    crowd: Vec<bool>,
    thresholds: Vec<f64>,
) -> PyResult<(Positions, Positions)> {
    let ious = ious.as_slice()?;
    let truths = ignored.len();
    let detections = ious.len().checked_div(truths).unwrap_or(0);
    let mut of_detections = vec![-1_i64; thresholds.len() * detections];
    let mut of_truths = vec![-1_i64; thresholds.len() * truths];
    for (index, threshold) in thresholds.iter().enumerate() {
        let taken = &mut of_truths[index * truths..][..truths];
        for (detection, row) in ious.chunks_exact(truths.max(1)).enumerate() {
            let mut best = threshold.min(1.0 - 1e-10);
            let mut found: Option<usize> = None;
            for truth in 0..truths {
                if taken[truth] >= 0 && !crowd[truth] {
                    continue;
                }
                if found.is_some_and(|found| !ignored[found]) && ignored[truth] {
                    break;
                }
                if row[truth] < best {
                    continue;
                }
                best = row[truth];
                found = Some(truth);
            }
            if let Some(truth) = found {
                of_detections[index * detections + detection] = truth as i64;
                taken[truth] = detection as i64;
            }
        }
    }
    let array = |numbers| PyArray1::from_vec(py, numbers).unbind();
    Ok((array(of_detections), array(of_truths)))
}
