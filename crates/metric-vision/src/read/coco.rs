use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, btree_set};
use std::fmt;
use std::path::Path;

use metric_record::json::scan::Scanner;
use metric_record::json::{Raw, is_json_lines};
use metric_record::{DEFAULT_MAX_BYTES, FileReader, IdKey, Kind, Message, Shard, json};
use serde::Deserialize;

use super::fields::{Flag, Id, Number, Numbers, record};
use super::list::{Item, ListError, first, read_part, records, set, trimmed};
use super::{File, ReadError, Warning, Warnings};
use crate::dataset::UNLISTED;
use crate::{
    Annotation, BBox, Class, Dataset, Federated, Frequency, Image, Key, Keypoints, Mask,
    Prediction, Shape, Sigmas,
};

/// Options for reading COCO files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CocoOptions {
    /// Leave out detections of images that are not in the list, with a [`Warning`], rather than
    /// refuse the file.
    pub ignore_unknown_images: bool,
    /// Take true objects of the same id as pycocotools 2.0.11 does, for which the last of them
    /// stands for all. Otherwise the same id twice is an error. Also accept masks of another size than their
    /// image, with [`Warning::OtherSize`]; they overlap masks of their own size only. Polygons may have a number
    /// without partner, which is left out, and the field `ignore` has no effect.
    pub quirks: bool,
    /// Read the fields of LVIS: the frequency of each class, and the classes that each image is annotated for. A
    /// crowd is an object like others, and `ignore` needs no [`Warning`]. Detections of classes that are not in the list
    /// are kept, since they count towards a limit per image, and a number that results write as text is an error.
    pub federated: bool,
    /// Read only the images that this shard holds, and everything about them. The list of classes stays
    /// that of the whole data set, and so do the positions of detections in their list: the states of all
    /// shards merge to the state of the whole, and the warnings add up. A repeated class is counted by
    /// the shard that holds its id.
    pub shard: Option<Shard>,
}

metric_core::setters!(CocoOptions {
    with_ignore_unknown_images => ignore_unknown_images: bool,
    with_quirks => quirks: bool,
    with_federated => federated: bool,
    with_shard => shard: Option<Shard>,
});

/// Reads the boxes of a COCO ground-truth file and of a results file.
///
/// - Ids are integers, or text: `17`, `17.0` and `"17"` are the same id. If the ids of all images are
///   text they rank as text, else as numbers.
/// - A box is `[x, y, width, height]`. If the first record of the results has no `bbox`, they have
///   masks, and the bounding boxes of these are used, as in pycocotools.
/// - A missing `iscrowd` is 0, and a missing `area` is that of the box; objects of unknown classes, and true objects
///   of unknown images, are left out. The [`Warnings`] count all of these.
/// - An object with `ignore` does not count, and neither do detections of it. pycocotools does not know the field, so
///   the [`Warnings`] count these objects too, and with [`quirks`](CocoOptions::quirks) it has no effect.
///
/// With the feature `rayon`, the lists are read on all threads of the current thread pool.
///
/// With a [`shard`](CocoOptions::shard), objects of other images are skipped without a check of anything
/// except their syntax, their `image_id`, and that no annotation has the id of one before it.
///
/// ```
/// use metric_vision::read::{self, CocoOptions, File};
///
/// let truth = r#"{
///     "images": [{"id": 1}], "categories": [{"id": 18, "name": "dog"}],
///     "annotations": [{"id": 7, "image_id": 1, "category_id": 18, "bbox": [0, 0, 10, 10], "area": 80, "iscrowd": 0}]
/// }"#;
/// let results = r#"[{"image_id": 1, "category_id": 18, "bbox": [0, 0, 10, 9], "score": 0.8}]"#;
/// let (dataset, warnings) = read::parse_coco(
///     File { name: "truth.json", text: truth },
///     File { name: "results.json", text: results },
///     CocoOptions::default(),
/// )?;
/// assert_eq!(dataset.classes()[0].name, "dog");
/// assert_eq!(dataset.predictions(0)[0].area, 90.0);
/// assert!(warnings.is_empty());
/// # Ok::<(), read::ReadError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the text is not such JSON, a field is missing or of another type, a box is
/// not four finite numbers, a detection is of an unknown image, or two true objects have the same
/// id.
pub fn parse_coco(
    references: File<'_>,
    predictions: File<'_>,
    options: CocoOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    read(references, predictions, &(), options)
}

/// Reads the masks of a COCO ground-truth file and of a results file.
///
/// Like [`parse_coco`], with `segmentation` as the shape: run lengths, compressed or not, or a list of polygons, for
/// which the image must have a `height` and a `width`.
///
/// Where the first result has a `bbox` too, the area range of a detection is that of its box, and a
/// result without `segmentation` is the mask of its box, as in pycocotools.
///
/// # Errors
///
/// See [`parse_coco`]. Also returns an error if a mask is invalid or not of the size of its image;
/// [`quirks`](CocoOptions::quirks) allow these.
pub fn parse_coco_masks(
    references: File<'_>,
    predictions: File<'_>,
    options: CocoOptions,
) -> Result<(Dataset<Mask>, Warnings), ReadError> {
    read(references, predictions, &(), options)
}

/// Reads the keypoints of a COCO ground-truth file and of a results file.
///
/// Like [`parse_coco`], with `keypoints` as the shape: x, y and visibility of each point that has a sigma, in one
/// list.
///
/// - True objects whose `num_keypoints` is 0 are left out of the count. Where it is missing, points of a visibility
///   above 0 are counted. An object needs a `bbox` only if it has no such point, or no `area`.
/// - The area range of a detection is that of its box if the first result has a `bbox`, of its mask if it has a
///   `segmentation`, and else of the box around its points.
///
/// ```
/// use metric_vision::read::{self, CocoOptions, File};
/// use metric_vision::{Shape, Sigmas};
///
/// let truth = r#"{
///     "images": [{"id": 1}], "categories": [{"id": 1, "name": "person"}],
///     "annotations": [{"id": 7, "image_id": 1, "category_id": 1, "iscrowd": 0, "area": 80, "num_keypoints": 1,
///         "keypoints": [3, 4, 2, 0, 0, 0]}]
/// }"#;
/// let results = r#"[{"image_id": 1, "category_id": 1, "score": 0.8, "keypoints": [3, 4, 1, 9, 6, 1]}]"#;
/// let file = |text| File { name: "", text };
/// let sigmas = Sigmas::new(vec![0.05, 0.1])?;
/// let (dataset, _) =
///     read::parse_coco_keypoints(file(truth), file(results), &sigmas, CocoOptions::default())?;
/// let found = &dataset.predictions(0)[0];
/// assert_eq!(found.shape.iou(&dataset.images()[0].annotations[0].shape), 1.0);
/// assert_eq!(found.area, 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error as [`parse_coco`] does, and if keypoints are missing, or more or fewer than the sigmas.
pub fn parse_coco_keypoints(
    references: File<'_>,
    predictions: File<'_>,
    sigmas: &Sigmas,
    options: CocoOptions,
) -> Result<(Dataset<Keypoints>, Warnings), ReadError> {
    read(references, predictions, sigmas, options)
}

/// Reads the boxes of COCO files at these paths, like [`parse_coco`] those of texts.
///
/// # Errors
///
/// Returns an error as [`parse_coco`] does, and if a file cannot be read or is not UTF-8.
pub fn read_coco(
    references: &Path,
    predictions: &Path,
    options: CocoOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    of_files(references, predictions, options)
}

/// Reads the masks of COCO files at these paths, like [`parse_coco_masks`] those of texts.
///
/// # Errors
///
/// Returns an error as [`parse_coco_masks`] does, and if a file cannot be read or is not UTF-8.
pub fn read_coco_masks(
    references: &Path,
    predictions: &Path,
    options: CocoOptions,
) -> Result<(Dataset<Mask>, Warnings), ReadError> {
    of_files(references, predictions, options)
}

fn of_files<S: Readable<Model = ()>>(
    references: &Path,
    predictions: &Path,
    options: CocoOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let mut reader = FileReader::new(DEFAULT_MAX_BYTES);
    let (truth, truth_text) = reader.read(references)?;
    let (found, found_text) = reader.read(predictions)?;
    let file = |name, text| File { name, text };
    read(
        file(&truth, &truth_text),
        file(&found, &found_text),
        &(),
        options,
    )
}

/// A shape that is read from the fields of a record.
pub(super) trait Readable: Shape + Clone + Send + Sync + Sized {
    /// The facts about all shapes of a data set that are needed to read one.
    type Model: Sync;

    /// Whether it is a mask, which has an area of its own next to that of its box.
    const IS_MASK: bool = false;

    /// The shape of a true object.
    fn truth(fields: ShapeFields<'_>, size: Size, model: &Self::Model) -> Result<Self, Problem>;

    /// Whether a true object is left out of the count for what its fields say of its shape.
    fn is_ignored(_: ShapeFields<'_>) -> Result<bool, Problem> {
        Ok(false)
    }

    /// Whether it is a mask of another size than the image, where that is known.
    fn is_of_other_size(&self, _: Size) -> bool {
        false
    }

    /// The shape of a detection, and the area that decides its area range.
    fn detection(
        fields: ShapeFields<'_>,
        size: Size,
        form: Form,
        model: &Self::Model,
    ) -> Result<(Self, f64), Problem>;

    /// Whether it has a negative width or height.
    fn is_inverted(&self) -> bool {
        false
    }
}

/// The fields of a record that a shape is read from.
#[derive(Clone, Copy)]
pub(super) struct ShapeFields<'a> {
    pub(super) bbox: Option<&'a Numbers>,
    pub(super) segmentation: Option<Raw<'a>>,
    pub(super) keypoints: KeypointFields<'a>,
    pub(super) sizes: MaskSizes,
}

/// The fields of a record that keypoints are read from, in addition to its box.
#[derive(Clone, Copy, Default)]
pub(super) struct KeypointFields<'a> {
    pub(super) keypoints: Option<Raw<'a>>,
    /// The number of labeled points; only a true object has it.
    pub(super) count: Option<Raw<'a>>,
    /// The area of a true object.
    pub(super) area: Option<f64>,
}

/// The sizes of masks that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MaskSizes {
    /// That of the image.
    Image,
    /// That of the image; other sizes have an option.
    ImageOrQuirks,
    /// Any, as in pycocotools, which only compares the sizes of two masks.
    Any,
}

impl From<CocoOptions> for MaskSizes {
    fn from(options: CocoOptions) -> Self {
        if options.quirks {
            Self::Any
        } else if options.federated {
            Self::Image
        } else {
            Self::ImageOrQuirks
        }
    }
}

/// Height and width of an image, where they are known.
pub(super) type Size = Option<(u32, u32)>;

/// The field that the first result has, which is looked for in all of them: so the program decides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Box,
    Mask,
    Keypoints,
}

impl Form {
    /// The form of a list of results; of an empty one it does not matter.
    pub(super) fn from_list(list: &str) -> Self {
        Self::of_records(trimmed(list).get(1..).unwrap_or_default())
    }

    /// The form of a list that goes on like this after its bracket.
    pub(super) fn of_records(records: &str) -> Self {
        #[derive(Deserialize)]
        struct First<'a> {
            bbox: Option<Numbers>,
            #[serde(borrow)]
            segmentation: Option<Raw<'a>>,
            #[serde(borrow)]
            keypoints: Option<Raw<'a>>,
        }
        let mut values = serde_json::Deserializer::from_str(records).into_iter::<First<'_>>();
        match values.next() {
            Some(Ok(First {
                bbox: None | Some(Numbers { count: 0, .. }),
                segmentation: Some(_),
                ..
            })) => Self::Mask,
            Some(Ok(First {
                bbox: None | Some(Numbers { count: 0, .. }),
                keypoints: Some(_),
                ..
            })) => Self::Keypoints,
            _ => Self::Box,
        }
    }
}

impl Readable for BBox {
    type Model = ();

    fn truth(fields: ShapeFields<'_>, _: Size, (): &()) -> Result<Self, Problem> {
        bbox(fields.bbox)
    }

    fn detection(
        fields: ShapeFields<'_>,
        size: Size,
        form: Form,
        (): &(),
    ) -> Result<(Self, f64), Problem> {
        if form != Form::Mask {
            let bbox = bbox(fields.bbox)?;
            return Ok((bbox, bbox.area()));
        }
        let mask = mask(fields, size)?;
        let bbox = match fields.bbox {
            Some(numbers) if numbers.count > 0 => bbox(Some(numbers))?,
            _ => {
                let [x, y, width, height] = mask.bbox().map(f64::from);
                BBox::from_xywh(x, y, width, height).map_err(|error| Problem::new("bbox", error))?
            }
        };
        Ok((bbox, mask.area()))
    }

    fn is_inverted(&self) -> bool {
        let [_, _, width, height] = self.xywh();
        width < 0.0 || height < 0.0
    }
}

impl Readable for Mask {
    type Model = ();

    const IS_MASK: bool = true;

    fn truth(fields: ShapeFields<'_>, size: Size, (): &()) -> Result<Self, Problem> {
        mask(fields, size)
    }

    fn detection(
        fields: ShapeFields<'_>,
        size: Size,
        form: Form,
        (): &(),
    ) -> Result<(Self, f64), Problem> {
        if form != Form::Box {
            let mask = mask(fields, size)?;
            let area = mask.area();
            return Ok((mask, area));
        }
        let bbox = bbox(fields.bbox)?;
        let mask = match fields.segmentation {
            Some(_) => mask(fields, size)?,
            None => {
                let [x, y, width, height] = bbox.xywh();
                let (x2, y2) = (x + width, y + height);
                drawn(&[vec![x, y, x, y2, x2, y2, x2, y]], size, fields.sizes)?
            }
        };
        Ok((mask, bbox.area()))
    }

    fn is_of_other_size(&self, size: Size) -> bool {
        size.is_some_and(|size| size != self.size())
    }
}

impl Readable for Keypoints {
    type Model = Sigmas;

    fn truth(fields: ShapeFields<'_>, _: Size, sigmas: &Sigmas) -> Result<Self, Problem> {
        let points = points(fields.keypoints.keypoints, sigmas)?;
        let labeled: Vec<bool> = points.iter().map(|point| point[2] > 0.0).collect();
        let area = fields.keypoints.area;
        // The box is compared if no point is labeled, and its area is used if the object has none.
        let needs_box = area.is_none() || !labeled.contains(&true);
        let bbox = match fields.bbox {
            None if !needs_box => None,
            numbers => Some(bbox(numbers)?),
        };
        let area = area.or_else(|| Some(bbox?.area())).unwrap_or_default();
        let points = points.into_iter().map(|[x, y, _]| [x, y]).collect();
        Ok(Self::truth(points, labeled, bbox, area, sigmas))
    }

    fn is_ignored(fields: ShapeFields<'_>) -> Result<bool, Problem> {
        let KeypointFields {
            keypoints, count, ..
        } = fields.keypoints;
        let Some(count) = count else {
            let numbers = keypoint_numbers(keypoints)?;
            return Ok(!numbers.iter().skip(2).step_by(3).any(|&flag| flag > 0.0));
        };
        let count: Number = serde_json::from_str(count.0)
            .map_err(|error| Problem::new("num_keypoints", plain(&error)))?;
        Ok(count.0 == 0.0)
    }

    fn detection(
        fields: ShapeFields<'_>,
        size: Size,
        form: Form,
        sigmas: &Sigmas,
    ) -> Result<(Self, f64), Problem> {
        let points = points(fields.keypoints.keypoints, sigmas)?;
        let keypoints = Self::detection(points.into_iter().map(|[x, y, _]| [x, y]).collect());
        let area = match form {
            Form::Box => bbox(fields.bbox)?.area(),
            Form::Mask => mask(fields, size)?.area(),
            Form::Keypoints => keypoints.area(),
        };
        Ok((keypoints, area))
    }
}

fn keypoint_numbers(json: Option<Raw<'_>>) -> Result<Vec<f64>, Problem> {
    let Some(json) = json else {
        let problem = "missing: expected x, y and visibility of each point, [x, y, v, ...]";
        return Err(Problem::new("keypoints", problem));
    };
    let numbers: Vec<Number> =
        serde_json::from_str(json.0).map_err(|error| Problem::new("keypoints", plain(&error)))?;
    Ok(numbers.into_iter().map(|number| number.0).collect())
}

/// The points of a field `keypoints`: x, y and visibility of each.
fn points(json: Option<Raw<'_>>, sigmas: &Sigmas) -> Result<Vec<[f64; 3]>, Problem> {
    let numbers = keypoint_numbers(json)?;
    let (points, rest) = numbers.as_chunks();
    let count = sigmas.count();
    if rest.is_empty() && points.len() == count {
        return Ok(points.to_vec());
    }
    let found = numbers.len();
    let expected = count * 3;
    let problem = format!(
        "found {found} numbers, expected {expected}: x, y and visibility of {count} points, as many as "
    );
    let problem = Message::from(problem).option("oks-sigmas", "").text(" has");
    Err(Problem {
        field: "keypoints",
        problem,
    })
}

/// Run lengths as they appear in a file.
#[derive(Deserialize)]
struct RunLengths<'a> {
    size: [u32; 2],
    #[serde(borrow)]
    counts: Raw<'a>,
}

fn mask(fields: ShapeFields<'_>, size: Size) -> Result<Mask, Problem> {
    let text = fields.segmentation.map_or("null", |raw| raw.0);
    let wrong = |error: serde_json::Error| Problem::new("segmentation", plain(&error));
    let invalid = |error| Problem::new("segmentation", error);
    match text.as_bytes().first() {
        Some(b'[') => drawn(
            &serde_json::from_str::<Vec<Vec<f64>>>(text).map_err(wrong)?,
            size,
            fields.sizes,
        ),
        Some(b'{') => {
            let runs: RunLengths<'_> = serde_json::from_str(text).map_err(wrong)?;
            let [height, width] = runs.size;
            if let Some((h, w)) = size.filter(|&size| size != (height, width))
                && fields.sizes != MaskSizes::Any
            {
                let problem =
                    format!("size is [{height}, {width}]: expected that of the image, [{h}, {w}]");
                let mut problem = Problem::new("segmentation", problem);
                if fields.sizes == MaskSizes::ImageOrQuirks {
                    let text = std::mem::take(&mut problem.problem);
                    let text = text.text(" (").option("quirks", "pycocotools");
                    problem.problem = text.text(" accepts other sizes)");
                }
                return Err(problem);
            }
            if runs.counts.0.starts_with('"') {
                let text: Cow<'_, str> = serde_json::from_str(runs.counts.0).map_err(wrong)?;
                Mask::from_compressed(height, width, &text).map_err(invalid)
            } else {
                let counts: Vec<u32> = serde_json::from_str(runs.counts.0).map_err(wrong)?;
                Mask::from_counts(height, width, &counts).map_err(invalid)
            }
        }
        _ => {
            let found = match json::kind(text) {
                Kind::Null | Kind::Invalid => "missing".to_owned(),
                found => format!("found {found}"),
            };
            let expected =
                "expected a list of polygons or {\"size\": [height, width], \"counts\": ...}";
            Err(Problem::new("segmentation", format!("{found}: {expected}")))
        }
    }
}

/// The mask of polygons.
fn drawn(polygons: &[Vec<f64>], size: Size, sizes: MaskSizes) -> Result<Mask, Problem> {
    let Some((height, width)) = size else {
        let problem = "polygons need the height and width of their image";
        return Err(Problem::new("segmentation", problem));
    };
    let invalid = |error| Problem::new("segmentation", error);
    // pycocotools decides by the first polygon, and refuses such a list too.
    match polygons.first() {
        Some(first) if first.len() > 4 => {}
        Some(first) => {
            let problem = format!(
                "found a polygon of {} numbers, expected x and y of at least 3 points",
                first.len()
            );
            return Err(Problem::new("segmentation", problem));
        }
        None => {
            return Err(Problem::new(
                "segmentation",
                "no polygons: expected at least one",
            ));
        }
    }
    let odd = polygons.iter().find(|polygon| polygon.len() % 2 == 1);
    // pycocotools leaves out the last number, where any mask is accepted.
    if let Some(polygon) = odd.filter(|_| sizes != MaskSizes::Any) {
        let problem = format!(
            "found a polygon of {} numbers, expected pairs of x and y",
            polygon.len()
        );
        return Err(Problem::new("segmentation", problem));
    }
    Mask::from_polygons(height, width, polygons).map_err(invalid)
}

/// The error in a field.
pub(super) struct Problem {
    field: &'static str,
    problem: Message,
}

impl Problem {
    pub(super) fn new(field: &'static str, problem: impl fmt::Display) -> Self {
        Self {
            field,
            problem: Message::from(problem.to_string()),
        }
    }

    /// The error of a text in which nothing has a name.
    pub(super) fn in_side(self) -> ReadError {
        ReadError::new("", self.problem).field(self.field)
    }

    /// The error of a record in a list.
    pub(super) fn in_record(self, file: File<'_>, list: &str, position: usize) -> ReadError {
        ReadError::new(file.name, self.problem)
            .at(format!("{list}[{position}]"))
            .field(self.field)
    }
}

fn bbox(numbers: Option<&Numbers>) -> Result<BBox, Problem> {
    let Some(Numbers {
        numbers: [x, y, width, height],
        count,
    }) = numbers
    else {
        return Err(Problem::new(
            "bbox",
            "missing: expected [x, y, width, height]",
        ));
    };
    if *count != 4 {
        let problem = format!("found {count} numbers, expected 4: [x, y, width, height]");
        return Err(Problem::new("bbox", problem));
    }
    BBox::from_signed_xywh(*x, *y, *width, *height).map_err(|error| Problem::new("bbox", error))
}

/// The lists of a ground-truth file.
#[derive(Deserialize)]
struct TruthFile<'a> {
    #[serde(borrow)]
    images: Raw<'a>,
    #[serde(borrow)]
    categories: Raw<'a>,
    #[serde(borrow)]
    annotations: Raw<'a>,
}

impl<'a> TruthFile<'a> {
    fn scan(text: &'a str) -> Option<Self> {
        let (mut images, mut categories, mut annotations) = (None, None, None);
        let mut scanner = Scanner::new(text);
        scanner.object(|value, key| match key {
            "images" => set(&mut images, value.raw()),
            "categories" => set(&mut categories, value.raw()),
            "annotations" => set(&mut annotations, value.raw()),
            _ => value.skip_value(),
        })?;
        let lists = Self {
            images: images?,
            categories: categories?,
            annotations: annotations?,
        };
        scanner.is_at_end().then_some(lists)
    }
}

/// Whether a text is an object with the lists of a ground truth.
pub(super) fn is_ground_truth(text: &str) -> bool {
    TruthFile::scan(text).is_some()
}

record! {
    struct ImageRecord<'a> {
        id: Id<'a>,
        // Only masks need them, and files that have none may hold anything here.
        height: Option<Raw<'a>>,
        width: Option<Raw<'a>>,
        // Only LVIS has them.
        neg_category_ids: Option<Raw<'a>>,
        not_exhaustive_category_ids: Option<Raw<'a>>,
    }
}

record! {
    struct ClassRecord<'a> {
        id: Id<'a>,
        name: Option<Raw<'a>>,
        // Only LVIS has it.
        frequency: Option<Raw<'a>>,
    }
}

record! {
    struct AnnotationRecord<'a> {
        id: Option<Id<'a>>,
        image_id: Id<'a>,
        category_id: Id<'a>,
        bbox: Option<Numbers>,
        area: Option<Number>,
        iscrowd: Option<Flag>,
        segmentation: Option<Raw<'a>>,
        keypoints: Option<Raw<'a>>,
        num_keypoints: Option<Raw<'a>>,
        ignore: Option<Raw<'a>>,
    }
}

record! {
    pub(super) struct ResultRecord<'a> {
        image_id: Id<'a>,
        category_id: Id<'a>,
        score: Number,
        bbox: Option<Numbers>,
        segmentation: Option<Raw<'a>>,
        keypoints: Option<Raw<'a>>,
    }
}

/// The fields that are read from an annotation of another shard.
#[derive(Deserialize)]
struct AnnotationElsewhere<'a> {
    #[serde(borrow)]
    image_id: Id<'a>,
    // The shard of the annotation reports what is wrong with these.
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow)]
    category_id: Option<Raw<'a>>,
}

/// The id that a value is.
fn id_in(json: Option<Raw<'_>>) -> Option<Id<'_>> {
    serde_json::from_str(json?.0).ok()
}

/// The fields that are read from a detection of another shard.
#[derive(Deserialize)]
struct ResultElsewhere<'a> {
    #[serde(borrow)]
    image_id: Id<'a>,
}

fn read<S: Readable>(
    references: File<'_>,
    predictions: File<'_>,
    model: &S::Model,
    options: CocoOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    // Some editors mark a text by its first character.
    let [references, predictions] = [references, predictions].map(|file| File {
        text: file.content(),
        ..file
    });
    let mut warnings = Warnings::new();
    let mut truth = Truth::<S>::read(references, model, options, &mut warnings)?;
    let mut results = results(predictions, &truth, model, options, &mut warnings)?;
    truth.positions.keep_held(&mut truth.images, &mut results);
    let dataset = Dataset::placed(truth.classes, truth.images, results);
    let dataset = dataset.map_err(|error| file_error(references, error.to_string()))?;
    Ok((dataset, warnings))
}

/// The content of a ground-truth file.
pub(super) struct Truth<S> {
    pub(super) classes: Vec<Class>,
    pub(super) images: Vec<Image<S>>,
    positions: Positions,
    sizes: Vec<Size>,
}

/// The positions of the ids of classes and images in their lists.
pub(super) struct Positions {
    classes: Ids,
    images: Ids,
    /// The shard, with whether it holds each listed image.
    shard: Option<(Shard, Vec<bool>)>,
}

impl<S: Readable> Truth<S> {
    pub(super) fn read(
        file: File<'_>,
        model: &S::Model,
        options: CocoOptions,
        warnings: &mut Warnings,
    ) -> Result<Self, ReadError> {
        if trimmed(file.text).starts_with('[') {
            let problem = "found a list, as results are: expected an object with images, categories and annotations";
            return Err(file_error(file, problem.to_owned()));
        }
        let lists = match TruthFile::scan(file.text) {
            Some(lists) => lists,
            None => serde_json::from_str(file.text)
                .map_err(|error| file_error(file, json::located(file.text, &error)))?,
        };
        let mut truth = Self::without_annotations(file, &lists, options, warnings)?;
        let known = (&truth.positions, &*truth.sizes);
        let annotations = annotations_of(file, lists.annotations, known, model, options, warnings)?;
        distribute(annotations, &mut truth.images);
        Ok(truth)
    }

    /// The content of the lists of images and classes.
    fn without_annotations(
        file: File<'_>,
        lists: &TruthFile<'_>,
        options: CocoOptions,
        warnings: &mut Warnings,
    ) -> Result<Self, ReadError> {
        let class_records: Vec<ClassRecord<'_>> = all(file, "categories", lists.categories)?;
        let image_records: Vec<ImageRecord<'_>> = all(file, "images", lists.images)?;
        let (positions, mut classes, mut images) = Positions::new(
            class_records.iter().map(|record| &record.id),
            image_records.iter().map(|record| &record.id),
            options.shard,
            warnings,
        );
        if options.federated {
            let known = Known {
                file,
                positions: &positions,
            };
            known.add_frequencies(&class_records, &mut classes)?;
            known.add_federated(&image_records, &mut images, warnings)?;
        }
        for record in class_records {
            if let Some(position) = positions.classes.find(&record.id) {
                classes[position as usize].name = record.name.map(name_of).unwrap_or_default();
            }
        }
        let mut sizes = vec![None; images.len()];
        for record in image_records {
            if let Some(position) = positions.images.find(&record.id) {
                sizes[position as usize] = size(record.height, record.width);
            }
        }
        Ok(Self {
            classes,
            images,
            positions,
            sizes,
        })
    }
}

/// A ground-truth file with the positions of its classes and images.
struct Known<'a> {
    file: File<'a>,
    positions: &'a Positions,
}

impl Known<'_> {
    /// Adds the frequencies of classes.
    fn add_frequencies(
        &self,
        records: &[ClassRecord<'_>],
        classes: &mut [Class],
    ) -> Result<(), ReadError> {
        for (index, record) in records.iter().enumerate() {
            let Some(text) = record.frequency else {
                continue;
            };
            let name: Result<Cow<'_, str>, _> = serde_json::from_str(text.0);
            let frequency = name.ok().and_then(|name| Frequency::from_name(&name));
            let problem = || {
                let id = record.id.shown();
                let problem = format!(
                    "category {id} has {}, expected \"r\", \"c\" or \"f\"",
                    text.0
                );
                Problem::new("frequency", problem).in_record(self.file, "categories", index)
            };
            let frequency = frequency.ok_or_else(problem)?;
            let position = self.positions.classes.find(&record.id);
            if let Some(class) = position.and_then(|position| classes.get_mut(position as usize)) {
                class.frequency = Some(frequency);
            }
        }
        Ok(())
    }

    /// Adds the classes that images are annotated for.
    fn add_federated<S>(
        &self,
        records: &[ImageRecord<'_>],
        images: &mut [Image<S>],
        warnings: &mut Warnings,
    ) -> Result<(), ReadError> {
        for (index, record) in records.iter().enumerate() {
            for (warning, list) in [
                (Warning::MissingNegatives, record.neg_category_ids),
                (
                    Warning::MissingNotExhaustive,
                    record.not_exhaustive_category_ids,
                ),
            ] {
                if list.is_none() && self.positions.warns_of(&record.id) {
                    warn(warnings, warning);
                }
            }
            let lists = federated(
                record.neg_category_ids,
                record.not_exhaustive_category_ids,
                |id| self.positions.classes.find(id),
            );
            let lists = lists.map_err(|error| error.in_record(self.file, "images", index))?;
            let position = self.positions.images.find(&record.id);
            if let Some(image) = position.and_then(|position| images.get_mut(position as usize)) {
                image.federated = lists;
            }
        }
        Ok(())
    }
}

/// The classes that an image is annotated for, from its fields. Ids of other classes have no effect.
pub(super) fn federated(
    negative: Option<Raw<'_>>,
    not_exhaustive: Option<Raw<'_>>,
    class: impl Fn(&Id<'_>) -> Option<u32>,
) -> Result<Federated, Problem> {
    let classes = |field: &'static str, list: Option<Raw<'_>>| {
        let Some(list) = list else {
            return Ok(Vec::new());
        };
        let ids: Vec<Id<'_>> =
            serde_json::from_str(list.0).map_err(|error| Problem::new(field, plain(&error)))?;
        let mut classes: Vec<u32> = ids.iter().filter_map(&class).collect();
        classes.sort_unstable();
        classes.dedup();
        Ok(classes)
    };
    Ok(Federated {
        negative: classes("neg_category_ids", negative)?,
        not_exhaustive: classes("not_exhaustive_category_ids", not_exhaustive)?,
    })
}

impl<S: Readable<Model = ()>> Truth<S> {
    /// Reads the images and classes of a file from the text around its list of annotations: up to the bracket that opens
    /// the list, and from the one that closes it. `None` if a list is missing or has an error.
    pub(super) fn around(
        name: &str,
        text: &str,
        options: CocoOptions,
        warnings: &mut Warnings,
    ) -> Option<Self> {
        let lists = TruthFile::scan(text)?;
        Self::without_annotations(File { name, text }, &lists, options, warnings).ok()
    }

    /// Takes the annotations of parts of the list, in their order. `None` where they have an error.
    pub(super) fn add_parts(
        &mut self,
        name: &str,
        parts: impl IntoIterator<Item = Annotations<S>>,
        options: CocoOptions,
        warnings: &mut Warnings,
    ) -> Option<()> {
        let all = in_one(parts, warnings);
        let file = File { name, text: "" };
        let annotations = distinct(file, "annotations", all, options).ok()?;
        distribute(annotations, &mut self.images);
        Some(())
    }
}

impl<S: Readable<Model = ()>> Annotations<S> {
    /// Reads the annotations of a part of the list: `{...}, {...}, ...`.
    pub(super) fn read(part: &str, truth: &Truth<S>, options: CocoOptions) -> Option<Self> {
        let known = (&truth.positions, &*truth.sizes);
        let take = |kept: &mut Self, _: usize, record: AnnotationRecord<'_>| {
            kept.take(record, known, &(), options)
        };
        let mut kept = Self::default();
        read_part(part, &mut kept, |_, _| None, take).ok()?;
        Some(kept)
    }
}

/// The annotations of all parts.
fn in_one<S>(
    parts: impl IntoIterator<Item = Annotations<S>>,
    warnings: &mut Warnings,
) -> Vec<Identified<S>> {
    let mut all = Vec::new();
    for mut part in parts {
        add(warnings, part.warnings);
        if all.is_empty() {
            all = part.all;
        } else {
            all.append(&mut part.all);
        }
    }
    all
}

impl Positions {
    /// The positions of these ids, with the classes, which have no names yet, and the images, also those
    /// of other shards.
    pub(super) fn new<'a, S>(
        classes: impl Iterator<Item = &'a Id<'a>> + Clone,
        images: impl Iterator<Item = &'a Id<'a>> + Clone,
        shard: Option<Shard>,
        warnings: &mut Warnings,
    ) -> (Self, Vec<Class>, Vec<Image<S>>) {
        let mut repeated = |warning, id: &Id<'_>| {
            if shard.is_none_or(|shard| shard.holds(&id.key.to_string())) {
                warn(warnings, warning);
            }
        };
        let (class_ids, class_keys) = Ids::new(classes, |id| repeated(Warning::RepeatedClass, id));
        let (image_ids, image_keys) = Ids::new(images, |id| repeated(Warning::RepeatedImage, id));
        let classes = class_keys.map(|key| Class::new(key, ""));
        let images = image_keys.map(|key| Image::new(key, Vec::new()));
        let images: Vec<Image<S>> = images.collect();
        let holds = |shard: Shard| {
            let held = images
                .iter()
                .map(|image| shard.holds(&image.key.to_string()));
            (shard, held.collect())
        };
        let positions = Self {
            classes: class_ids,
            images: image_ids,
            shard: shard.map(holds),
        };
        (positions, classes.collect(), images)
    }

    /// Whether an image, which may be one that is not listed, belongs to another shard.
    pub(super) fn is_elsewhere(&self, image: &Id<'_>) -> bool {
        let Some((shard, held)) = &self.shard else {
            return false;
        };
        let listed = self.images.find(image);
        let held = listed.and_then(|position| held.get(position as usize).copied());
        !held.unwrap_or_else(|| shard.holds(&image.key.to_string()))
    }

    /// Whether this shard warns of what the image or class with this id lacks.
    pub(super) fn warns_of(&self, id: &Id<'_>) -> bool {
        let shard = self.shard.as_ref();
        shard.is_none_or(|(shard, _)| shard.holds(&id.key.to_string()))
    }

    /// The part of an annotation that counts if its image belongs to another shard.
    pub(super) fn elsewhere<S>(
        &self,
        id: Option<Key>,
        image: &Id<'_>,
        class: Option<&Id<'_>>,
    ) -> Identified<S> {
        let class = class.and_then(|class| self.classes.find(class));
        Identified {
            id,
            image: class.and_then(|_| self.images.find(image)),
            annotation: None,
            is_elsewhere: true,
        }
    }

    /// Removes the images of other shards, and counts those of predictions accordingly.
    pub(super) fn keep_held<S>(
        &self,
        images: &mut Vec<Image<S>>,
        predictions: &mut [Prediction<S>],
    ) {
        let Some((_, held)) = &self.shard else {
            return;
        };
        let mut count = 0;
        let positions = held.iter().map(|&is_held| {
            let position = count;
            count += u32::from(is_held);
            position
        });
        let positions: Vec<u32> = positions.collect();
        for prediction in predictions {
            if let Some(&position) = positions.get(prediction.image as usize) {
                prediction.image = position;
            }
        }
        let mut held = held.iter();
        images.retain(|_| held.next().copied().unwrap_or_default());
    }

    /// The position of an image.
    pub(super) fn image(&self, image: &Id<'_>) -> Option<u32> {
        self.images.find(image)
    }

    /// The position of a class.
    pub(super) fn class(&self, class: &Id<'_>) -> Option<u32> {
        self.classes.find(class)
    }

    /// The positions of the image and the class of a true object, which is left out with a warning where
    /// one of them is not listed.
    pub(super) fn of_truth(
        &self,
        image: &Id<'_>,
        class: &Id<'_>,
        warnings: &mut Warnings,
    ) -> Option<(u32, u32)> {
        let warning = match (self.images.find(image), self.classes.find(class)) {
            (Some(image), Some(class)) => return Some((image, class)),
            (None, _) => Warning::UnknownImageOfTruth,
            (_, None) => Warning::UnknownClassOfTruth,
        };
        warn(warnings, warning);
        None
    }

    /// The position of the image of a detection, which is left out with a warning if that is what the
    /// options say of images that are not listed.
    pub(super) fn image_of_detection(
        &self,
        image: &Id<'_>,
        options: CocoOptions,
        warnings: &mut Warnings,
    ) -> Result<Option<u32>, Problem> {
        match self.images.find(image) {
            Some(position) => Ok(Some(position)),
            None if options.ignore_unknown_images => {
                warn(warnings, Warning::UnknownImage);
                Ok(None)
            }
            None => {
                let problem = format!("{} is not an image of the ground truth", image.shown());
                Err(Problem::new("image_id", problem))
            }
        }
    }

    /// The position of the class of a detection, which is left out with a warning where it is not listed.
    pub(super) fn class_of_detection(
        &self,
        class: &Id<'_>,
        warnings: &mut Warnings,
    ) -> Option<u32> {
        let position = self.classes.find(class);
        if position.is_none() {
            warn(
                warnings,
                Warning::UnknownClass(Key::from(class.key.clone())),
            );
        }
        position
    }
}

pub(super) fn warn(warnings: &mut Warnings, warning: Warning) {
    *warnings.entry(warning).or_default() += 1;
}

/// Puts annotations into their images, in their order.
pub(super) fn distribute<S>(annotations: Vec<Placed<S>>, images: &mut [Image<S>]) {
    let mut counts = vec![0; images.len()];
    for &(image, _) in &annotations {
        counts[image as usize] += 1;
    }
    for (image, count) in images.iter_mut().zip(counts) {
        image.annotations.reserve_exact(count);
    }
    for (image, annotation) in annotations {
        if let Some(image) = images.get_mut(image as usize) {
            image.annotations.push(annotation);
        }
    }
}

/// Height and width of an image, where both are numbers of pixels.
pub(super) fn size(height: Option<Raw<'_>>, width: Option<Raw<'_>>) -> Size {
    height.and_then(pixels).zip(width.and_then(pixels))
}

/// A name, which should be text, but may be another value that is shown as it is.
fn name_of(json: Raw<'_>) -> String {
    serde_json::from_str(json.0).unwrap_or_else(|_| json.0.to_owned())
}

/// A number of pixels, also with a fraction of 0.
fn pixels(json: Raw<'_>) -> Option<u32> {
    let number: f64 = serde_json::from_str(json.0).ok()?;
    let whole = number as u32;
    (f64::from(whole) == number).then_some(whole)
}

/// An annotation that is to be counted, with the position of its image.
pub(super) type Placed<S> = (u32, Annotation<S>);

/// An annotation of a list, also one that is not counted, since its id is.
pub(super) struct Identified<S> {
    id: Option<Key>,
    /// The position of its image, if the whole data set counts the annotation.
    image: Option<u32>,
    /// The annotation, if this shard counts it.
    annotation: Option<Annotation<S>>,
    /// Whether its image belongs to another shard.
    is_elsewhere: bool,
}

impl<S> Identified<S> {
    /// An annotation of this shard, or one that is left out.
    pub(super) fn new(id: Option<Key>, placed: Option<Placed<S>>) -> Self {
        let (image, annotation) = placed.unzip();
        Self {
            id,
            image,
            annotation,
            is_elsewhere: false,
        }
    }
}

/// The fields of a true object in addition to its shape.
pub(super) struct TruthFields {
    pub(super) class: u32,
    pub(super) id: i64,
    pub(super) area: Option<f64>,
    pub(super) crowd: Option<bool>,
    pub(super) ignore: bool,
}

impl TruthFields {
    /// The annotation of a shape, in which defaults stand for missing fields with a warning each.
    pub(super) fn annotation<S: Shape>(
        self,
        shape: S,
        is_inverted: bool,
        warnings: &mut Warnings,
    ) -> Annotation<S> {
        let Self {
            class,
            id,
            area,
            crowd,
            ignore,
        } = self;
        for (warning, applies) in [
            (Warning::NegativeSize, is_inverted),
            (Warning::MissingArea, area.is_none()),
            (Warning::MissingCrowd, crowd.is_none()),
            (Warning::ZeroId, id == 0 && crowd != Some(true)),
        ] {
            if applies {
                warn(warnings, warning);
            }
        }
        Annotation {
            class,
            crowd: crowd.unwrap_or(false),
            ignore,
            id,
            area: area.unwrap_or_else(|| shape.area()),
            shape,
        }
    }
}

/// The annotations of a part of the list; those that are left out too, since their ids count.
pub(super) struct Annotations<S> {
    all: Vec<Identified<S>>,
    warnings: Warnings,
}

impl<S> Default for Annotations<S> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            warnings: Warnings::new(),
        }
    }
}

impl<S: Readable> Annotations<S> {
    fn take(
        &mut self,
        record: AnnotationRecord<'_>,
        (positions, sizes): (&Positions, &[Size]),
        model: &S::Model,
        options: CocoOptions,
    ) -> Result<(), Problem> {
        let position =
            positions.of_truth(&record.image_id, &record.category_id, &mut self.warnings);
        let placed = match position {
            None => None,
            Some((image, class)) => {
                let size = sizes.get(image as usize).copied().flatten();
                let fields = ShapeFields {
                    bbox: record.bbox.as_ref(),
                    segmentation: record.segmentation,
                    keypoints: KeypointFields {
                        keypoints: record.keypoints,
                        count: record.num_keypoints,
                        area: record.area.as_ref().map(|area| area.0),
                    },
                    sizes: options.into(),
                };
                let shape = S::truth(fields, size, model)?;
                if shape.is_of_other_size(size) {
                    warn(&mut self.warnings, Warning::OtherSize);
                }
                let is_inverted = shape.is_inverted();
                let is_crowd = record.iscrowd.is_some_and(|flag| flag.0);
                // pycocotools overwrites the field by `iscrowd`.
                let is_marked = !options.quirks && is_marked(record.ignore)?;
                let is_ignored = S::is_ignored(fields)?;
                if is_marked && !is_crowd && !is_ignored && !options.federated {
                    warn(&mut self.warnings, Warning::IgnoredTruth);
                }
                let of_truth = TruthFields {
                    class,
                    id: number_of(record.id.as_ref()),
                    area: record.area.map(|area| area.0),
                    crowd: if options.federated {
                        Some(false)
                    } else {
                        record.iscrowd.map(|flag| flag.0)
                    },
                    ignore: is_marked || is_ignored,
                };
                let annotation = of_truth.annotation(shape, is_inverted, &mut self.warnings);
                Some((image, annotation))
            }
        };
        let id = record.id.map(Id::into_key);
        self.all.push(Identified::new(id, placed));
        Ok(())
    }
}

/// Whether the field `ignore` of an annotation says that it is left out of the count.
fn is_marked(ignore: Option<Raw<'_>>) -> Result<bool, Problem> {
    let Some(json) = ignore else {
        return Ok(false);
    };
    let flag: Flag =
        serde_json::from_str(json.0).map_err(|error| Problem::new("ignore", plain(&error)))?;
    Ok(flag.0)
}

fn annotations_of<S: Readable>(
    file: File<'_>,
    list: Raw<'_>,
    (positions, sizes): (&Positions, &[Size]),
    model: &S::Model,
    options: CocoOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Placed<S>>, ReadError> {
    let skip = |kept: &mut Annotations<S>, rest| {
        positions.shard.as_ref()?;
        let (record, length) = first::<AnnotationElsewhere<'_>>(rest)?;
        if !positions.is_elsewhere(&record.image_id) {
            return None;
        }
        let (own, class) = (id_in(record.id), id_in(record.category_id));
        let own = own.map(Id::into_key);
        kept.all
            .push(positions.elsewhere(own, &record.image_id, class.as_ref()));
        Some(length)
    };
    let take = |kept: &mut Annotations<S>, _: usize, record: AnnotationRecord<'_>| {
        kept.take(record, (positions, sizes), model, options)
    };
    let parts = records(list.0, skip, take);
    let parts = parts
        .map_err(|error| in_list::<AnnotationRecord<'_>>(file, "annotations", list.0, error))?;
    let all = in_one(parts.into_iter().map(|(_, part)| part), warnings);
    distinct(file, "annotations", all, options)
}

/// The annotations that are to be counted, once it is clear that no id occurs twice.
pub(super) fn distinct<S: Clone>(
    file: File<'_>,
    list: &str,
    all: Vec<Identified<S>>,
    options: CocoOptions,
) -> Result<Vec<Placed<S>>, ReadError> {
    let counted = |all: Vec<Identified<S>>| {
        let placed = all.into_iter();
        let placed = placed.filter_map(|annotation| annotation.image.zip(annotation.annotation));
        Ok(placed.collect())
    };
    // Programs number them.
    let number = |annotation: &Identified<S>| match annotation.id {
        Some(Key::Number(number)) => Some(number),
        _ => None,
    };
    let rise =
        |two: &[Identified<S>]| number(&two[0]).is_some() && number(&two[0]) < number(&two[1]);
    if all.windows(2).all(rise) {
        return counted(all);
    }
    let ids = all
        .iter()
        .enumerate()
        .filter_map(|(position, annotation)| Some((annotation.id.as_ref()?, position)));
    let mut ids: Vec<(&Key, usize)> = ids.collect();
    ids.sort_unstable();
    // With the quirks, annotations of other shards matter too.
    let matters = |position: usize| options.quirks || !all[position].is_elsewhere;
    let twice = ids
        .windows(2)
        .find(|pair| pair[0].0 == pair[1].0 && matters(pair[1].1));
    let Some(&[(id, earlier), (_, position)]) = twice else {
        return counted(all);
    };
    if !options.quirks {
        let problem = format!("{id} is the id of {list}[{earlier}] too: expected ids that differ");
        return Err(Problem::new("id", problem).in_record(file, list, position));
    }
    // The program lists annotations by image, and then looks each up by its id.
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&position| all[position].image);
    for position in &mut order {
        let annotation = &all[*position];
        if let (Some(id), Some(_)) = (&annotation.id, annotation.image) {
            let end = ids.partition_point(|&(other, _)| other <= id);
            *position = ids[end - 1].1;
        }
    }
    Ok(order
        .into_iter()
        .filter_map(|position| all[position].image.zip(all[position].annotation.clone()))
        .collect())
}

/// The id of an annotation as a number; one that is not 0 where it is missing or text.
pub(super) fn number_of(id: Option<&Id<'_>>) -> i64 {
    match id {
        Some(&Id {
            key: IdKey::Number(id),
            is_text: false,
        }) => id,
        _ => -1,
    }
}

/// The detections of a part of the list.
pub(super) struct Results<S> {
    pub(super) all: Vec<Prediction<S>>,
    pub(super) warnings: Warnings,
    /// The image of the last detection: most files list detections by image.
    last: Option<(i64, u32)>,
}

impl<S> Default for Results<S> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            warnings: Warnings::new(),
            last: None,
        }
    }
}

impl<S> Results<S> {
    /// No results yet, in memory that was used before.
    pub(super) fn of_memory(all: Vec<Prediction<S>>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }
}

impl<S: Readable> Results<S> {
    /// Takes the record at a position of a part.
    pub(super) fn take(
        &mut self,
        index: usize,
        record: &ResultRecord<'_>,
        truth: &Truth<S>,
        model: &S::Model,
        form: Form,
        options: CocoOptions,
    ) -> Result<(), Problem> {
        let positions = &truth.positions;
        if options.federated {
            for (field, id) in [
                ("image_id", &record.image_id),
                ("category_id", &record.category_id),
            ] {
                if let (IdKey::Number(_), true) = (&id.key, id.is_text) {
                    let problem = format!("found the text {}, expected a number", id.shown());
                    return Err(Problem::new(field, problem));
                }
            }
        }
        let image = match (&record.image_id.key, self.last) {
            (&IdKey::Number(id), Some((last, index))) if id == last => Some(index),
            _ => positions.image_of_detection(&record.image_id, options, &mut self.warnings)?,
        };
        let Some(image) = image else {
            return Ok(());
        };
        if let IdKey::Number(id) = record.image_id.key {
            self.last = Some((id, image));
        }
        let size = truth.sizes.get(image as usize).copied().flatten();
        let fields = ShapeFields {
            bbox: record.bbox.as_ref(),
            segmentation: record.segmentation,
            keypoints: KeypointFields {
                keypoints: record.keypoints,
                ..KeypointFields::default()
            },
            sizes: options.into(),
        };
        let (shape, area) = S::detection(fields, size, form, model)?;
        let class = positions.class_of_detection(&record.category_id, &mut self.warnings);
        let Some(class) = class.or(options.federated.then_some(UNLISTED)) else {
            return Ok(());
        };
        let has_two_areas = S::IS_MASK && form == Form::Box && record.segmentation.is_some();
        for (warning, applies) in [
            (Warning::AreaOfBox, options.federated && has_two_areas),
            (Warning::NegativeSize, shape.is_inverted()),
            (Warning::OtherSize, shape.is_of_other_size(size)),
        ] {
            if applies {
                warn(&mut self.warnings, warning);
            }
        }
        let score = record.score.0;
        self.all.push(Prediction {
            image,
            position: position(index),
            class,
            score,
            area,
            shape,
        });
        Ok(())
    }
}

fn results<S: Readable>(
    file: File<'_>,
    truth: &Truth<S>,
    model: &S::Model,
    options: CocoOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Prediction<S>>, ReadError> {
    if trimmed(file.text).starts_with('{') {
        let problem = if is_json_lines(file.content()) {
            "found JSON Lines, one object per line: expected a list of results, or a name that ends in .jsonl"
        } else {
            "found an object, as a ground truth is: expected a list of results"
        };
        return Err(file_error(file, problem.to_owned()));
    }
    let form = Form::from_list(file.text);
    let skip = |_: &mut Results<S>, rest| {
        truth.positions.shard.as_ref()?;
        let (record, length) = first::<ResultElsewhere<'_>>(rest)?;
        let is_elsewhere = truth.positions.is_elsewhere(&record.image_id);
        is_elsewhere.then_some(length)
    };
    let take = |kept: &mut Results<S>, index: usize, record: ResultRecord<'_>| {
        kept.take(index, &record, truth, model, form, options)
    };
    let parts = records(file.text, skip, take)
        .map_err(|error| in_list::<ResultRecord<'_>>(file, "", file.text, error))?;
    let mut all = Vec::new();
    for (start, mut part) in parts {
        add(warnings, part.warnings);
        let start = position(start);
        for found in &mut part.all {
            found.position = found.position.saturating_add(start);
        }
        if all.is_empty() {
            all = part.all;
        } else {
            all.append(&mut part.all);
        }
    }
    Ok(all)
}

/// The position of a detection in a list. A list of more than 2^32 records has more than 200 GB; the
/// records at its end have the same position.
pub(super) fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

pub(super) fn add(warnings: &mut Warnings, more: Warnings) {
    for (warning, times) in more {
        *warnings.entry(warning).or_default() += times;
    }
}

/// A problem with a whole file.
pub(super) fn file_error(file: File<'_>, problem: String) -> ReadError {
    ReadError::new(file.name, problem)
}

/// All records of a list.
fn all<'a, R: Item<'a> + Send>(
    file: File<'_>,
    list: &str,
    json: Raw<'a>,
) -> Result<Vec<R>, ReadError> {
    let take = |kept: &mut Vec<R>, _: usize, record| {
        kept.push(record);
        Ok::<_, Problem>(())
    };
    let parts = records(json.0, |_, _| None, take);
    let parts = parts.map_err(|error| in_list::<R>(file, list, json.0, error))?;
    Ok(parts.into_iter().flat_map(|(_, part)| part).collect())
}

/// The error of a list in a file.
pub(super) fn in_list<'a, R: Item<'a>>(
    file: File<'_>,
    list: &str,
    json: &'a str,
    error: ListError<Problem>,
) -> ReadError {
    let record = |position: usize| format!("{list}[{position}]");
    match error {
        ListError::NoList => {
            let name = if list.is_empty() {
                String::new()
            } else {
                format!("{list}: ")
            };
            file_error(file, format!("{name}expected a list, [...]"))
        }
        ListError::NoEnd { records } => {
            let last = records.checked_sub(1).map(record).unwrap_or_default();
            let problem = "the text ends here: expected ] at the end of the list";
            ReadError::new(file.name, problem).at(last)
        }
        ListError::NoObject { position, found } => {
            let problem = format!("found {found}: expected an object");
            ReadError::new(file.name, problem).at(record(position))
        }
        ListError::NoComma { position } => {
            let problem = "expected a comma and a record after it, or the end of the list";
            ReadError::new(file.name, problem).at(record(position))
        }
        ListError::Refused { position, error } => error.in_record(file, list, position),
        ListError::Malformed {
            position,
            start,
            error,
        } => {
            let problem = explained::<R>(json, start, &error).unwrap_or_else(|| {
                let problem = if error.is_data() {
                    plain(&error)
                } else {
                    format!("not JSON: {}", at_position(json, start, &error))
                };
                Problem::new("", problem)
            });
            problem.in_record(file, list, position)
        }
    }
}

/// The field with the error in the record at an index in a list, and the reason, if it is one field.
fn explained<'a, R: Item<'a>>(
    list: &'a str,
    start: usize,
    error: &serde_json::Error,
) -> Option<Problem> {
    let said = error.to_string();
    let missing = said
        .strip_prefix("missing field `")
        .and_then(|rest| rest.split_once('`'));
    if let Some((missing, _)) = missing {
        let field = R::KEYS.iter().find(|field| **field == missing);
        return field.map(|field| Problem::new(field, "missing"));
    }
    let rest = trimmed(list).get(start + 1..)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    let fields: HashMap<Cow<'_, str>, Raw<'_>> = values.next()?.ok()?;
    R::KEYS.iter().find_map(|field| {
        let error = R::test(field, fields.get(*field)?.0).err()?;
        Some(Problem::new(field, plain(&error)))
    })
}

/// serde's error for a record that starts this many bytes after the bracket of a list, with the position in the list. A
/// list in an object was JSON when the object was read, so the list is the file.
fn at_position(list: &str, start: usize, error: &serde_json::Error) -> String {
    let bracket = list.len() - list.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let before = list.get(..bracket + 1 + start).unwrap_or_default();
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + error.line();
    let column = match error.line() {
        1 => before.len() - before.rfind('\n').map_or(0, |position| position + 1) + error.column(),
        _ => error.column(),
    };
    let record = list.get(before.len()..).unwrap_or_default();
    let problem = plain_in(record, error);
    format!("{problem} at line {line} column {column}")
}

/// [`plain`], which names the number of Python that is not one of JSON where the text has it.
pub(super) fn plain_in(text: &str, error: &serde_json::Error) -> String {
    match json::no_number(text, error) {
        Some(word) => format!("{word} is not a JSON number"),
        None => plain(error),
    }
}

/// serde's error, without a position in a text that the reader cannot see and without words that
/// only serde uses.
pub(super) fn plain(error: &serde_json::Error) -> String {
    const WORDS: [(&str, &str); 9] = [
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("floating point `", "the number `"),
        ("integer `", "the number `"),
        ("found map", "found an object"),
        ("found sequence", "found a list"),
        ("found string", "found the string"),
        ("expected u32", "expected a whole number"),
        ("expected f64", "expected a number"),
    ];
    let text = error.to_string();
    let text = json::without_position(&text).to_owned();
    shortened(
        WORDS
            .iter()
            .fold(text, |text, (from, to)| text.replace(from, to)),
    )
}

/// A text whose middle is left out where it is long: values can be of any length.
fn shortened(text: String) -> String {
    const MOST: usize = 200;
    let characters = text.chars().count();
    if characters <= MOST {
        return text;
    }
    let part = |skip: usize| text.chars().skip(skip).take(MOST / 2).collect::<String>();
    format!("{} ... {}", part(0), part(characters - MOST / 2))
}

/// The positions of ids in an ascending list of keys.
pub(super) struct Ids {
    /// Integers and their positions, rising.
    numbers: Vec<(i64, u32)>,
    /// The index of each integer, starting at the least, if there are few gaps; `u32::MAX` in a gap.
    dense: Vec<u32>,
    texts: HashMap<Box<str>, u32>,
}

impl Ids {
    /// The positions of ids, and their keys. Tells those that are `repeated`.
    fn new<'a>(
        ids: impl Iterator<Item = &'a Id<'a>> + Clone,
        mut repeated: impl FnMut(&Id<'_>),
    ) -> (Self, btree_set::IntoIter<Key>) {
        // Ids that are all text rank as text, as numpy sorts them.
        let all_text = ids.clone().all(|id| id.is_text);
        let mut keys = BTreeSet::new();
        for id in ids {
            let key = if all_text {
                Key::Text(id.key.to_string().into())
            } else {
                Key::from(id.key.clone())
            };
            if !keys.insert(key) {
                repeated(id);
            }
        }
        let mut found = Self {
            numbers: Vec::new(),
            dense: Vec::new(),
            texts: HashMap::new(),
        };
        for (position, key) in (0..).zip(&keys) {
            match key {
                Key::Number(number) => found.numbers.push((*number, position)),
                Key::Text(text) => match IdKey::from(&**text) {
                    IdKey::Number(number) => found.numbers.push((number, position)),
                    IdKey::Text(_) => {
                        found.texts.insert(text.clone(), position);
                    }
                },
            }
        }
        found.numbers.sort_unstable();
        found.fill();
        (found, keys.into_iter())
    }

    /// Lists the positions of integers that have few gaps between them.
    fn fill(&mut self) {
        let (Some(&(least, _)), Some(&(greatest, _))) = (self.numbers.first(), self.numbers.last())
        else {
            return;
        };
        let span = greatest.abs_diff(least);
        if span < 4 * self.numbers.len() as u64 + 256 {
            self.dense = vec![u32::MAX; span as usize + 1];
            for &(number, position) in &self.numbers {
                self.dense[number.abs_diff(least) as usize] = position;
            }
        }
    }

    fn find(&self, id: &Id<'_>) -> Option<u32> {
        match &id.key {
            IdKey::Number(number) if !self.dense.is_empty() => {
                let index = number.checked_sub(self.numbers.first()?.0)?;
                let position = *self.dense.get(usize::try_from(index).ok()?)?;
                (position != u32::MAX).then_some(position)
            }
            IdKey::Number(number) => {
                let position = self
                    .numbers
                    .binary_search_by_key(number, |&(number, _)| number)
                    .ok()?;
                Some(self.numbers[position].1)
            }
            IdKey::Text(text) => self.texts.get(&**text).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use metric_record::json::scan::Keys;
    use proptest::prelude::*;

    use super::*;

    /// The results of the two readers, in a form that can be compared.
    trait Shown {
        fn shown(&self) -> String;
    }

    fn id(id: &Id<'_>) -> String {
        id.shown()
    }

    fn numbers(numbers: &Numbers) -> String {
        let bits = numbers.numbers.map(f64::to_bits);
        format!("{} {bits:?}", numbers.count)
    }

    impl Shown for ImageRecord<'_> {
        fn shown(&self) -> String {
            format!("{} {:?} {:?}", id(&self.id), self.height, self.width)
        }
    }

    impl Shown for AnnotationRecord<'_> {
        fn shown(&self) -> String {
            let own = self.id.as_ref().map(id);
            let bbox = self.bbox.as_ref().map(numbers);
            let area = self.area.map(|area| area.0.to_bits());
            let crowd = self.iscrowd.map(|flag| flag.0);
            let (image, class) = (id(&self.image_id), id(&self.category_id));
            format!(
                "{own:?} {image} {class} {bbox:?} {area:?} {crowd:?} {:?}",
                self.segmentation
            )
        }
    }

    impl Shown for ResultRecord<'_> {
        fn shown(&self) -> String {
            let bbox = self.bbox.as_ref().map(numbers);
            let (image, class) = (id(&self.image_id), id(&self.category_id));
            format!(
                "{image} {class} {:x} {bbox:?} {:?}",
                self.score.0.to_bits(),
                self.segmentation
            )
        }
    }

    /// A record that is scanned is the one that serde reads; returns whether it was scanned.
    fn check<'a, R: Item<'a> + Shown>(json: &'a str) -> bool {
        let mut scanner = Scanner::new(json);
        let mut keys = Keys::new(R::KEYS);
        let scanned = R::scan(&mut scanner, &mut keys);
        let Some(scanned) = scanned.filter(|_| scanner.is_at_end()) else {
            return false;
        };
        let read = serde_json::from_str::<R>(json).map(|record| record.shown());
        assert_eq!(read.ok(), Some(scanned.shown()), "{json}");
        true
    }

    /// What reading an annotation gives, and how many warn of the field `ignore`.
    fn annotation(fields: &str, quirks: bool) -> Result<(bool, u64), String> {
        let truth = format!(
            r#"{{"images": [{{"id": 1, "width": 9, "height": 9}}], "categories": [{{"id": 1}}],
                "annotations": [{{"id": 1, "image_id": 1, "category_id": 1, "area": 9, {fields}}}]}}"#
        );
        let file = |text| File { name: "", text };
        let options = CocoOptions::default().with_quirks(quirks);
        let read = if fields.contains("segmentation") {
            let read = parse_coco_masks(file(&truth), file("[]"), options);
            read.map(|(dataset, warnings)| (dataset.images()[0].annotations[0].ignore, warnings))
        } else {
            let read = parse_coco(file(&truth), file("[]"), options);
            read.map(|(dataset, warnings)| (dataset.images()[0].annotations[0].ignore, warnings))
        };
        let (ignore, warnings) = read.map_err(|error| error.to_string())?;
        let times = warnings.get(&Warning::IgnoredTruth);
        Ok((ignore, times.copied().unwrap_or_default()))
    }

    #[test]
    fn objects_may_be_left_out_of_the_count() {
        for (ignore, quirks, expected) in [
            ("1", false, Ok((true, 1))),
            ("true", false, Ok((true, 1))),
            ("0", false, Ok((false, 0))),
            ("null", false, Ok((false, 0))),
            ("1", true, Ok((false, 0))),
            ("\"no\"", true, Ok((false, 0))),
        ] {
            let fields = format!(r#""bbox": [0, 0, 3, 3], "iscrowd": 0, "ignore": {ignore}"#);
            assert_eq!(annotation(&fields, quirks), expected, "{ignore} {quirks}");
        }
        // pycocotools leaves crowds out as well.
        let crowd = r#""bbox": [0, 0, 3, 3], "iscrowd": 1, "ignore": 1"#;
        assert_eq!(annotation(crowd, false), Ok((true, 0)));
        let text = annotation(
            r#""bbox": [0, 0, 3, 3], "iscrowd": 0, "ignore": "no""#,
            false,
        );
        let problem = r#"annotations[0]: ignore: found the string "no", expected 0 or 1"#;
        assert_eq!(text, Err(problem.to_owned()));
    }

    #[test]
    fn polygons_are_pairs_of_numbers() {
        let fields = |polygons| format!(r#""iscrowd": 0, "segmentation": {polygons}"#);
        let odd = fields("[[0, 0, 5, 0, 5, 5], [0, 0, 5, 0, 5, 5, 7]]");
        let problem =
            "annotations[0]: segmentation: found a polygon of 7 numbers, expected pairs of x and y";
        assert_eq!(annotation(&odd, false), Err(problem.to_owned()));
        // pycocotools leaves out the last number.
        assert_eq!(annotation(&odd, true), Ok((false, 0)));
        assert_eq!(
            annotation(&fields("[[0, 0, 5, 0, 5, 5]]"), false),
            Ok((false, 0))
        );
    }

    #[test]
    fn records_as_programs_write_them_are_scanned() {
        assert!(check::<ImageRecord<'_>>(
            r#"{"license": 4, "file_name": "1.jpg", "height": 427, "width": null, "id": 397133}"#
        ));
        assert!(check::<AnnotationRecord<'_>>(
            r#"{"segmentation": [[1.5, 2]], "area": 702.1, "iscrowd": 0, "image_id": 1, "bbox": [473.07, 395.93, 38.65, 28.67], "category_id": 18, "id": 1768}"#
        ));
        assert!(check::<ResultRecord<'_>>(
            r#"{"image_id":"a","category_id":18,"bbox":[1,2e1,-3.5,4],"score":0.236}"#
        ));
    }

    proptest! {
        #[test]
        fn a_scanned_record_is_what_serde_reads(
            fields in proptest::collection::vec(
                (
                    prop_oneof![
                        Just("id"), Just("image_id"), Just("category_id"), Just("bbox"), Just("score"),
                        Just("area"), Just("iscrowd"), Just("segmentation"), Just("height"), Just("more"),
                    ],
                    prop_oneof![
                        Just("1"), Just("0"), Just("-7"), Just("1.0"), Just("-0"), Just("0.25"), Just("1e400"),
                        Just("null"), Just("true"), Just("\"17\""), Just("\"a\\n\""), Just("[1, 2.5, 3, 4]"),
                        Just("[1, 2]"), Just("[0.1, 1e22, 123456789012345678901, 4, 5]"), Just("[]"),
                        Just("{\"size\": [1, 2]}"), Just("12345678901234567890"), Just("[\"1\"]"),
                    ],
                ),
                0..8,
            ),
            space in "[ \n]{0,1}",
        ) {
            let fields = fields.iter().map(|(name, value)| format!("{space}\"{name}\"{space}:{space}{value}"));
            let json = format!("{{{}{space}}}", fields.collect::<Vec<_>>().join(","));
            check::<ImageRecord<'_>>(&json);
            check::<AnnotationRecord<'_>>(&json);
            check::<ResultRecord<'_>>(&json);
        }
    }
}
