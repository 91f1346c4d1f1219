use std::fmt;

use metric_core::Metric;
use metric_record::json::Raw;
use metric_record::{Kind, json};
use serde::Deserialize;

use super::coco::{
    CocoOptions, Form, Identified, KeypointFields, MaskSizes, Problem, Readable, ShapeFields, Size,
    TruthFields, add, distinct, federated, file_error, in_list, number_of, plain_in, size, warn,
};
use super::fields::{Flag, Id, Number, Numbers, record};
use super::list::records;
use super::{File, ReadError, Warning, Warnings};
use crate::{
    BBox, ClassState, Classes, Image, Key, Keypoints, Mask, ObjectKind, Prediction, Shape as _,
    Sigmas, YoloShape,
};

/// One image with its ground truth and its detections, read by [`parse_record`].
#[derive(Clone, Debug)]
pub struct ImageRecord<S = BBox> {
    image: Image<S>,
    predictions: Vec<Prediction<S>>,
    classes: Vec<u32>,
    warnings: Warnings,
}

impl<S> ImageRecord<S> {
    /// Returns the image with its ground truth, whose classes are indices into [`classes`](Self::classes).
    #[must_use]
    pub fn image(&self) -> &Image<S> {
        &self.image
    }

    /// Returns the detections in the order of the list, whose classes are indices into
    /// [`classes`](Self::classes).
    #[must_use]
    pub fn predictions(&self) -> &[Prediction<S>] {
        &self.predictions
    }

    /// Returns the classes of the record in the order of their keys, each by its index in the
    /// [`Classes`] that the record was read with.
    #[must_use]
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// Returns the things that were corrected or left out, each with the number of times.
    #[must_use]
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Measures the image. The classes of the state are indices into the [`Classes`] that the record
    /// was read with.
    ///
    /// Classes are ranked by key here, as in a data set, so that ties between classes do not depend on
    /// which class appeared first.
    #[must_use]
    pub fn measure<M>(&self, metric: &M) -> M::State
    where
        M: Metric<Prediction = [Prediction<S>], Reference = Image<S>, State: ClassState> + ?Sized,
    {
        let mut state = metric.measure(&self.predictions, &self.image);
        let renumbered = state.renumber_classes(&self.classes);
        debug_assert!(renumbered.is_ok(), "the classes of the record");
        state
    }
}

impl<S> ImageRecord<S> {
    /// The same image with shapes made of its own.
    fn map<T>(&self, mut make: impl FnMut(&S) -> T) -> ImageRecord<T> {
        let annotations = self.image.annotations.iter();
        let annotations = annotations.map(|real| real.with_shape(make(&real.shape)));
        let annotations = annotations.collect();
        let predictions = self.predictions.iter();
        let predictions = predictions.map(|found| found.with_shape(make(&found.shape)));
        ImageRecord {
            image: Image {
                key: self.image.key.clone(),
                annotations,
                federated: self.image.federated.clone(),
            },
            predictions: predictions.collect(),
            classes: self.classes.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// The shapes of the image: of true objects, then of detections.
    fn shapes(&self) -> impl Iterator<Item = &S> {
        let real = self.image.annotations.iter().map(|real| &real.shape);
        real.chain(self.predictions.iter().map(|found| &found.shape))
    }
}

/// The boxes of an image with what another reading has of the same objects, whose bounds are their boxes if they have no
/// other.
fn with_boxes<T: Clone>(
    boxes: Result<ImageRecord<BBox>, RecordError>,
    others: &ImageRecord<T>,
    bounds: fn(&T) -> BBox,
    combine: fn(YoloShape, T) -> YoloShape,
) -> Result<ImageRecord<YoloShape>, RecordError> {
    let boxes = match boxes {
        Err(RecordError::Reference(error) | RecordError::Prediction(error))
            if lacks_boxes(&error) =>
        {
            others.map(bounds)
        }
        boxes => boxes?,
    };
    let mut shapes = others.shapes();
    Ok(boxes.map(|bbox| match shapes.next() {
        Some(other) => combine(YoloShape::Box(*bbox), other.clone()),
        None => YoloShape::Box(*bbox),
    }))
}

/// Whether an error is that of an object without a box.
pub(super) fn lacks_boxes(error: &ReadError) -> bool {
    error.field == "bbox" && error.problem.to_string().starts_with("missing")
}

/// Reads the ground-truth boxes and the detected boxes of one image.
///
/// This is the content of a COCO file for one image, so that a data set can be read image by image:
///
/// - The reference is a list of objects, or an object with the list in `annotations` and the image's
///   `width` and `height`, which only masks need.
/// - Each ground-truth box has a `bbox`, `[x, y, width, height]`, and may have an `area`, `iscrowd`, an
///   `id`, and `ignore` or `difficult`, which exclude it from the score.
/// - The prediction is a list of objects, each with a `bbox` and a `score`.
/// - The class of each is an integer or a name, in the field `category_id`, `category` or `class`. `17`
///   and `"17"` are the same class.
///
/// Everything else is as in [`parse_coco`](super::parse_coco): the checks, the defaults, and the
/// [`Warnings`] about them. The exceptions are that all classes count that occur in a reference or a
/// prediction, since no list says otherwise, that `ignore` is read, and that only the ids of one image
/// are compared with each other.
///
/// ```
/// use metric_core::Metric;
/// use metric_vision::read::parse_record;
/// use metric_vision::{ClassState, Classes, VocAp, VocState};
///
/// let metric = VocAp::new(0.5)?;
/// let mut classes = Classes::new();
/// let record = parse_record(
///     "image 1",
///     r#"[{"class": "dog", "bbox": [0, 0, 10, 10]}, {"class": "cat", "bbox": [50, 0, 10, 10]}]"#,
///     r#"[{"class": "dog", "bbox": [0, 0, 10, 9], "score": 0.8}]"#,
///     &mut classes,
/// )?;
/// let mut state = record.measure(&metric);
///
/// // Once all images are read, the classes are put into the order of their keys.
/// let (classes, indices) = classes.into_sorted();
/// state.renumber_classes(&indices)?;
/// assert_eq!(classes[1].name, "dog");
/// let score = metric.compute(&state);
/// assert_eq!(score.classes[&0].average_precision, Some(0.0));
/// assert_eq!(score.classes[&1].average_precision, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error if one of the texts is not such JSON, if a field is missing or of another type, if
/// a box is not four finite numbers, or if two ground-truth boxes have the same id. The error names the
/// record in its list and the field. No class is added to `classes` then.
///
/// # Cost
///
/// Linear in the length of the texts.
pub fn parse_record(
    image: impl Into<Key>,
    reference: &str,
    prediction: &str,
    classes: &mut Classes,
) -> Result<ImageRecord<BBox>, RecordError> {
    BOXES(image.into(), reference, prediction, &(), classes)
}

/// Reads the ground-truth masks and the detected masks of one image.
///
/// Like [`parse_record`], with `segmentation` as the shape: run lengths, compressed or not, or a list of
/// polygons, which need the `width` and `height` of the image in the reference. Whether detections have
/// boxes too is decided by the first detection of the image, as in
/// [`parse_coco_masks`](super::parse_coco_masks) by the first of the file.
///
/// ```
/// use metric_vision::Classes;
/// use metric_vision::read::parse_mask_record;
///
/// let square = "[[0, 0, 0, 2, 2, 2, 2, 0]]";
/// let reference = format!(
///     r#"{{"width": 4, "height": 4, "annotations": [{{"category_id": 1, "segmentation": {square}}}]}}"#
/// );
/// let prediction = format!(r#"[{{"category_id": 1, "segmentation": {square}, "score": 0.5}}]"#);
/// let record = parse_mask_record(7, &reference, &prediction, &mut Classes::new())?;
/// assert_eq!(record.predictions()[0].area, 4.0);
/// # Ok::<(), metric_vision::read::RecordError>(())
/// ```
///
/// # Errors
///
/// Returns an error as [`parse_record`] does, and if a mask is invalid or not of the size of the image.
pub fn parse_mask_record(
    image: impl Into<Key>,
    reference: &str,
    prediction: &str,
    classes: &mut Classes,
) -> Result<ImageRecord<Mask>, RecordError> {
    MASKS(image.into(), reference, prediction, &(), classes)
}

/// Reads the labeled keypoints and the detected keypoints of one image.
///
/// Like [`parse_record`], with `keypoints` as the shape, as in
/// [`parse_coco_keypoints`](super::parse_coco_keypoints).
///
/// ```
/// use metric_vision::read::parse_keypoint_record;
/// use metric_vision::{Classes, Sigmas};
///
/// let reference = r#"[{"category_id": 1, "area": 80, "keypoints": [3, 4, 2]}]"#;
/// let prediction = r#"[{"category_id": 1, "keypoints": [3, 4, 1], "score": 0.5}]"#;
/// let sigmas = Sigmas::new(vec![0.1])?;
/// let record = parse_keypoint_record(7, reference, prediction, &sigmas, &mut Classes::new())?;
/// assert_eq!(record.predictions()[0].shape.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error as [`parse_record`] does, and if keypoints are missing, or more or fewer than the sigmas.
pub fn parse_keypoint_record(
    image: impl Into<Key>,
    reference: &str,
    prediction: &str,
    sigmas: &Sigmas,
    classes: &mut Classes,
) -> Result<ImageRecord<Keypoints>, RecordError> {
    KEYPOINTS(image.into(), reference, prediction, sigmas, classes)
}

/// Reads the true objects and the detections of one image as Ultralytics compares them: their boxes, and with them the
/// masks of segments or the keypoints of poses.
///
/// # Errors
///
/// Returns an error as [`parse_record`], [`parse_mask_record`] and [`parse_keypoint_record`] do, and for oriented boxes,
/// which records do not have.
pub fn parse_object_record(
    image: impl Into<Key>,
    reference: &str,
    prediction: &str,
    kind: ObjectKind,
    sigmas: &Sigmas,
    classes: &mut Classes,
) -> Result<ImageRecord<YoloShape>, RecordError> {
    let key = image.into();
    let mut boxes = || BOXES(key.clone(), reference, prediction, &(), classes);
    match kind {
        ObjectKind::Box => Ok(boxes()?.map(|bbox| YoloShape::Box(*bbox))),
        ObjectKind::Segment => {
            let boxes = boxes();
            let masks = MASKS(key, reference, prediction, &(), classes)?;
            let bounds = |mask: &Mask| BBox::around(mask.bounds());
            with_boxes(boxes, &masks, bounds, YoloShape::with_mask)
        }
        ObjectKind::Pose => {
            let boxes = boxes();
            let poses = KEYPOINTS(key, reference, prediction, sigmas, classes)?;
            with_boxes(boxes, &poses, Keypoints::bbox, YoloShape::with_keypoints)
        }
        ObjectKind::Oriented => Err(RecordError::Reference(ReadError::new("", NO_ORIENTED))),
    }
}

/// The problem of oriented boxes in JSON.
pub(super) const NO_ORIENTED: &str =
    "has no oriented boxes: expected a data set of YOLO, data.yaml or a folder of label files";

/// The error of a record that cannot be read, by the side that it is on. It names no file: the file of the inner
/// error is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The ground truth.
    Reference(ReadError),
    /// The detections.
    Prediction(ReadError),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(error) => write!(f, "reference: {error}"),
            Self::Prediction(error) => write!(f, "prediction: {error}"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Reference(error) | Self::Prediction(error) => Some(error),
        }
    }
}

// Called through a static, a reader is compiled with this crate, although its caller is generic over the key.
static BOXES: Parse<BBox> = parse;
static MASKS: Parse<Mask> = parse;
static KEYPOINTS: Parse<Keypoints> = parse;

type Parse<S> = fn(
    Key,
    &str,
    &str,
    &<S as Readable>::Model,
    &mut Classes,
) -> Result<ImageRecord<S>, RecordError>;

fn parse<S: Readable>(
    key: Key,
    reference: &str,
    prediction: &str,
    model: &S::Model,
    classes: &mut Classes,
) -> Result<ImageRecord<S>, RecordError> {
    let mut warnings = Warnings::new();
    let mut local = Classes::new();
    let (mut image, fields) =
        truths(key, reference, model, &mut local, &mut warnings).map_err(RecordError::Reference)?;
    let size = fields.as_ref().and_then(|it| size(it.height, it.width));
    let mut predictions = detections(prediction, size, model, &mut local, &mut warnings)
        .map_err(RecordError::Prediction)?;
    let (keys, indices) = local.into_sorted_keys();
    if let Some(fields) = fields {
        // Classes that are neither in the ground truth nor in the detections have no effect.
        let (negative, not_exhaustive) =
            (fields.neg_category_ids, fields.not_exhaustive_category_ids);
        let listed = federated(negative, not_exhaustive, |id| {
            let key = Key::from(id.key.clone());
            keys.binary_search(&key)
                .ok()
                .and_then(|index| u32::try_from(index).ok())
        });
        let of_side = |problem: Problem| RecordError::Reference(problem.in_side());
        image.federated = listed.map_err(of_side)?;
    }
    for annotation in &mut image.annotations {
        annotation.class = indices[annotation.class as usize];
    }
    for prediction in &mut predictions {
        prediction.class = indices[prediction.class as usize];
    }
    Ok(ImageRecord {
        image,
        predictions,
        classes: keys.into_iter().map(|key| classes.index_of(key)).collect(),
        warnings,
    })
}

/// The data kept from a part of a list.
struct Kept<T> {
    all: Vec<T>,
    warnings: Warnings,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            warnings: Warnings::new(),
        }
    }
}

/// The text of a side, in which nothing has a name.
fn file(text: &str) -> File<'_> {
    let file = File { name: "", text };
    File {
        text: file.content(),
        ..file
    }
}

fn truths<'a, S: Readable>(
    key: Key,
    text: &'a str,
    model: &S::Model,
    classes: &mut Classes,
    warnings: &mut Warnings,
) -> Result<(Image<S>, Option<ImageFields<'a>>), ReadError> {
    let file = file(text);
    let (list, name, fields) = match json::kind(file.text) {
        Kind::Object => {
            let image: ImageFields<'_> = serde_json::from_str(file.text)
                .map_err(|error| file_error(file, plain_in(file.text, &error)))?;
            (image.annotations.0, "annotations", Some(image))
        }
        _ => (file.text, "", None),
    };
    let size = fields.as_ref().and_then(|it| size(it.height, it.width));
    let take = |kept: &mut Kept<_>, _: usize, record: TruthRecord<'_>| {
        let class = one_class([
            ("category_id", record.category_id),
            ("category", record.category),
            ("class", record.class),
        ])?;
        let fields = ShapeFields {
            bbox: record.bbox.as_ref(),
            segmentation: record.segmentation,
            keypoints: KeypointFields {
                keypoints: record.keypoints,
                count: record.num_keypoints,
                area: record.area.as_ref().map(|area| area.0),
            },
            sizes: MaskSizes::Image,
        };
        let shape = S::truth(fields, size, model)?;
        let is_ignored = S::is_ignored(fields)?;
        let is_inverted = shape.is_inverted();
        let is_set = |flag: Option<Flag>| flag.is_some_and(|flag| flag.0);
        let fields = TruthFields {
            class: 0,
            id: number_of(record.id.as_ref()),
            area: record.area.map(|area| area.0),
            crowd: record.iscrowd.map(|flag| flag.0),
            ignore: is_ignored || is_set(record.ignore) || is_set(record.difficult),
        };
        let annotation = fields.annotation(shape, is_inverted, &mut kept.warnings);
        kept.all
            .push((record.id.map(Id::into_key), class, annotation));
        Ok(())
    };
    let parts = records(list, |_, _| None, take)
        .map_err(|error| in_list::<TruthRecord<'_>>(file, name, list, error))?;
    let mut all = Vec::new();
    for (_, part) in parts {
        add(warnings, part.warnings);
        for (id, class, mut annotation) in part.all {
            annotation.class = classes.index_of(class);
            all.push(Identified::new(id, Some((0, annotation))));
        }
    }
    let placed = distinct(file, name, all, CocoOptions::default())?;
    let annotations = placed.into_iter().map(|(_, annotation)| annotation);
    Ok((Image::new(key, annotations.collect()), fields))
}

fn detections<S: Readable>(
    text: &str,
    size: Size,
    model: &S::Model,
    classes: &mut Classes,
    warnings: &mut Warnings,
) -> Result<Vec<Prediction<S>>, ReadError> {
    let file = file(text);
    let form = Form::from_list(file.text);
    let take = |kept: &mut Kept<_>, _: usize, record: FoundRecord<'_>| {
        let class = one_class([
            ("category_id", record.category_id),
            ("category", record.category),
            ("class", record.class),
        ])?;
        let fields = ShapeFields {
            bbox: record.bbox.as_ref(),
            segmentation: record.segmentation,
            keypoints: KeypointFields {
                keypoints: record.keypoints,
                ..KeypointFields::default()
            },
            sizes: MaskSizes::Image,
        };
        let (shape, area) = S::detection(fields, size, form, model)?;
        if shape.is_inverted() {
            warn(&mut kept.warnings, Warning::NegativeSize);
        }
        let score = record.score.0;
        let found = Prediction {
            area,
            ..Prediction::new(0, score, shape)
        };
        kept.all.push((class, found));
        Ok(())
    };
    let parts = records(file.text, |_, _| None, take)
        .map_err(|error| in_list::<FoundRecord<'_>>(file, "", file.text, error))?;
    let mut all = Vec::new();
    for (_, part) in parts {
        add(warnings, part.warnings);
        for (class, mut found) in part.all {
            found.class = classes.index_of(class);
            all.push(found);
        }
    }
    Ok(all)
}

/// A reference that is an object.
#[derive(Deserialize)]
struct ImageFields<'a> {
    #[serde(borrow)]
    annotations: Raw<'a>,
    // Only masks need them, as in a COCO file.
    #[serde(borrow)]
    height: Option<Raw<'a>>,
    #[serde(borrow)]
    width: Option<Raw<'a>>,
    // Only LVIS has them.
    #[serde(borrow)]
    neg_category_ids: Option<Raw<'a>>,
    #[serde(borrow)]
    not_exhaustive_category_ids: Option<Raw<'a>>,
}

/// The class of a record, which must be in exactly one of its fields.
fn one_class(fields: [(&'static str, Option<Id<'_>>); 3]) -> Result<Key, Problem> {
    let fields = fields.into_iter();
    let mut given = fields.filter_map(|(field, id)| Some((field, id?)));
    match (given.next(), given.next()) {
        (Some((_, id)), None) => Ok(id.into_key()),
        (Some((first, _)), Some((field, _))) => {
            let expected = "expected one of category_id, category and class";
            let problem = format!("found in addition to {first}: {expected}");
            Err(Problem::new(field, problem))
        }
        (None, _) => Err(Problem::new(
            "category_id",
            "missing: expected category_id, category or class",
        )),
    }
}

record! {
    struct TruthRecord<'a> {
        id: Option<Id<'a>>,
        category_id: Option<Id<'a>>,
        category: Option<Id<'a>>,
        class: Option<Id<'a>>,
        bbox: Option<Numbers>,
        area: Option<Number>,
        iscrowd: Option<Flag>,
        ignore: Option<Flag>,
        difficult: Option<Flag>,
        segmentation: Option<Raw<'a>>,
        keypoints: Option<Raw<'a>>,
        num_keypoints: Option<Raw<'a>>,
    }
}

record! {
    struct FoundRecord<'a> {
        category_id: Option<Id<'a>>,
        category: Option<Id<'a>>,
        class: Option<Id<'a>>,
        score: Number,
        bbox: Option<Numbers>,
        segmentation: Option<Raw<'a>>,
        keypoints: Option<Raw<'a>>,
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confusion, VocAp};

    fn refused(reference: &str, prediction: &str) -> String {
        let mut classes = Classes::new();
        let error = parse_record(1, reference, prediction, &mut classes).expect_err("no record");
        assert!(classes.is_empty());
        error.to_string()
    }

    #[test]
    fn records_that_are_refused() {
        let good = r#"{"class": 1, "bbox": [0, 0, 1, 1], "id": 5}"#;
        for (reference, expected) in [
            ("7".to_owned(), "reference: expected a list, [...]"),
            ("{}".to_owned(), "reference: missing field `annotations`"),
            (
                r#"{"annotations": [7]}"#.to_owned(),
                "reference: annotations[0]: found a number: expected an object",
            ),
            (
                r#"[{"bbox": [0, 0, 1, 1]}]"#.to_owned(),
                "reference: [0]: category_id: missing: expected category_id, category or class",
            ),
            (
                format!(r#"[{good}, {{"category": "a", "class": 1}}]"#),
                "reference: [1]: class: found in addition to category: expected one of category_id, category and class",
            ),
            (
                r#"[{"class": 1, "bbox": [0, 0, 1]}]"#.to_owned(),
                "reference: [0]: bbox: found 3 numbers, expected 4: [x, y, width, height]",
            ),
            (
                r#"[{"class": 1.5, "bbox": [0, 0, 1, 1]}]"#.to_owned(),
                "reference: [0]: class: found the number `1.5`, expected an id, an integer or text",
            ),
            (
                format!("[{good}, {good}]"),
                "reference: [1]: id: 5 is the id of [0] too: expected ids that differ",
            ),
        ] {
            assert_eq!(refused(&reference, "[]"), expected);
        }
        for (prediction, expected) in [
            ("{}", "prediction: expected a list, [...]"),
            (
                r#"[{"class": 1, "bbox": [0, 0, 1, 1]}]"#,
                "prediction: [0]: score: missing",
            ),
            (
                r#"[{"class": 1, "score": 1}]"#,
                "prediction: [0]: bbox: missing: expected [x, y, width, height]",
            ),
        ] {
            assert_eq!(refused("[]", prediction), expected);
        }
    }

    #[test]
    fn fields_and_defaults() {
        let reference = r#"{"height": 4, "annotations": [
            {"category": "17", "bbox": [0, 0, 2, 3]},
            {"class": 17, "bbox": [0, 0, 2, 3], "area": 5, "iscrowd": 1, "id": 0},
            {"category_id": "a", "bbox": [0, 0, 2, -3], "difficult": true, "iscrowd": 0}]}"#;
        let mut classes = Classes::new();
        assert_eq!(classes.index_of("a".into()), 0);
        let record = parse_record("x", reference, "[]", &mut classes).expect("a record");
        assert_eq!(record.image().key, "x".into());
        // 17 comes before "a", which came first.
        assert_eq!(record.classes(), [1, 0]);
        let rows = record.image().annotations.iter();
        let rows: Vec<_> = rows
            .map(|row| (row.class, row.crowd, row.ignore, row.id, row.area))
            .collect();
        let expected = [
            (0, false, false, -1, 6.0),
            (0, true, false, 0, 5.0),
            (1, false, true, -1, -6.0),
        ];
        assert_eq!(rows, expected);
        let warnings = [
            (Warning::MissingArea, 2),
            (Warning::MissingCrowd, 1),
            (Warning::NegativeSize, 1),
        ];
        assert_eq!(record.warnings(), &Warnings::from(warnings));
    }

    #[test]
    fn ties_do_not_go_by_the_order_of_appearance() {
        let truth = r#"[{"class": "a", "bbox": [0, 0, 9, 9]}]"#;
        let found = r#"[{"class": "b", "bbox": [0, 0, 9, 9], "score": 0.5}, {"class": "a", "bbox": [0, 0, 9, 9], "score": 0.5}]"#;
        let metric = Confusion::new(usize::MAX, 0.5).expect("a metric");
        for first in ["a", "b"] {
            let mut classes = Classes::new();
            classes.index_of(first.into());
            let record = parse_record(1, truth, found, &mut classes).expect("a record");
            let mut state = record.measure(&metric);
            let (_, indices) = classes.into_sorted();
            state.renumber_classes(&indices).expect("a table");
            let matrix = metric.with_classes(2).compute(&state);
            assert_eq!(matrix.count(Some(0), Some(0)), 1);
            assert_eq!(matrix.count(None, Some(1)), 1);
        }
        let nothing = parse_record(1, "[]", "[]", &mut Classes::new()).expect("a record");
        let voc = VocAp::new(0.5).expect("a metric");
        assert_eq!(voc.compute(&nothing.measure(&voc)).mean, None);
    }
}
