use std::fs;
use std::path::Path;

use metric_record::{Content, Document, File, Folder, ReadError, Shard};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::coco::Readable;
use super::objects::dataset_from_objects;
use super::record::{NO_ORIENTED, lacks_boxes};
use super::voc::{self, is_corner_text};
use super::yolo;
use super::{
    CocoOptions, ExtraImages, ImageSizes, TextColumns, VocOptions, Warnings, YoloOptions,
    parse_coco, parse_coco_keypoints, parse_coco_masks,
};
use crate::{
    BBox, Dataset, Keypoints, Mask, ObjectKind, OrientedBox, Polygon, Shape, Sigmas, YoloShape,
};

/// How to read a data set of boxes in any format.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BoxesOptions {
    /// What to do with predictions for an image that the references do not have. COCO's files list their images, so
    /// [`ExtraImages::Empty`] is the same as [`ExtraImages::Error`] for them.
    pub extra: ExtraImages,
    /// The sizes of the images, which only YOLO's files need.
    pub sizes: ImageSizes,
    /// The order of the columns of text results, where it is not the usual one.
    pub columns: Option<TextColumns>,
    /// Read only the images that this shard holds, see [`CocoOptions::shard`].
    pub shard: Option<Shard>,
    /// The kind of the objects of YOLO's files, see [`YoloOptions::kind`].
    pub kind: Option<ObjectKind>,
    /// The tolerances of poses, see [`YoloOptions::sigmas`].
    pub sigmas: Option<Sigmas>,
    /// The number of the first class, see [`YoloOptions::first_category`].
    pub first_category: Option<u32>,
    /// Whether fractions of images are an error.
    pub needs_pixels: bool,
    /// See [`YoloOptions::strict`].
    pub strict: bool,
    /// See [`YoloOptions::boxes_only`].
    pub boxes_only: bool,
}

metric_core::setters!(BoxesOptions {
    with_extra => extra: ExtraImages,
    with_sizes => sizes: ImageSizes,
    with_columns => columns: Option<TextColumns>,
    with_shard => shard: Option<Shard>,
    with_kind => kind: Option<ObjectKind>,
    with_sigmas => sigmas: Option<Sigmas>,
    with_first_category => first_category: Option<u32>,
    with_needs_pixels => needs_pixels: bool,
    with_strict => strict: bool,
    with_boxes_only => boxes_only: bool,
});

impl BoxesOptions {
    /// The options for the folder of references of YOLO.
    fn yolo(&self, truths: &Folder) -> YoloOptions {
        YoloOptions {
            sizes: self.sizes.clone(),
            extra: self.extra,
            columns: self.columns,
            shard: self.shard,
            max_bytes: Some(truths.max_bytes),
            split: truths.split.clone(),
            kind: self.kind,
            sigmas: self.sigmas.clone(),
            first_category: self.first_category,
            needs_pixels: self.needs_pixels,
            strict: self.strict,
            boxes_only: self.boxes_only,
        }
    }
}

/// Reads the boxes of a data set, and detects its format from the documents.
///
/// | references | predictions | read as |
/// |---|---|---|
/// | a file | a file | COCO, see [`parse_coco`] |
/// | objects in memory | objects in memory | COCO, see [`read_coco_documents`] |
/// | a folder with `.xml` files, or with text that begins with names | a folder | Pascal VOC, see [`read_voc`](super::read_voc) |
/// | another folder | a folder | YOLO, see [`read_yolo`](super::read_yolo) |
/// | `data.yaml`, `obj.data`, or a folder with one of them or with pictures | a folder, or `predictions.json` | a data set of YOLO |
///
/// ```
/// use metric_record::Document;
/// use metric_vision::read::{BoxesOptions, read_boxes};
///
/// let references = r#"{
///     "images": [{"id": 1}], "categories": [{"id": 18, "name": "dog"}],
///     "annotations": [{"id": 7, "image_id": 1, "category_id": 18, "bbox": [0, 0, 10, 10], "area": 80, "iscrowd": 0}]
/// }"#;
/// let predictions = r#"[{"image_id": 1, "category_id": 18, "bbox": [0, 0, 10, 9], "score": 0.8}]"#;
/// let (dataset, warnings) = read_boxes(
///     &Document::text("truth.json", references),
///     &Document::text("results.json", predictions),
///     &BoxesOptions::default(),
/// )?;
/// assert_eq!(dataset.predictions(0)[0].score, 0.8);
/// assert!(warnings.is_empty());
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
///
/// # Errors
///
/// Returns an error if the predictions have another form than the references, and as the reader of the
/// format does.
pub fn read_boxes(
    references: &Document,
    predictions: &Document,
    options: &BoxesOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let BoxesOptions {
        extra,
        columns,
        shard,
        ..
    } = *options;
    match (&references.content, &predictions.content) {
        (Content::Folder(truths), Content::Folder(found)) if is_voc(truths) => {
            let options = VocOptions {
                files: None,
                extra,
                columns,
                shard,
                max_bytes: Some(truths.max_bytes),
            };
            let original = truths.original.as_deref();
            voc::read_copy(&truths.path, &found.path, &options, original)
        }
        (Content::Folder(truths), Content::Folder(_) | Content::Text(_) | Content::Stream(_))
            if !is_voc(truths) =>
        {
            yolo::read_boxes(&truths.path, predictions, &options.yolo(truths))
        }
        (Content::Folder(_), _) | (_, Content::Folder(_)) => Err(unlike(references, predictions)),
        _ => {
            if let Some(columns) = columns {
                let problem = format!(
                    "is a file: expected a folder of text files, whose columns are {columns}"
                );
                return Err(ReadError::new(&predictions.name, problem));
            }
            let options = CocoOptions {
                ignore_unknown_images: extra == ExtraImages::Ignore,
                quirks: false,
                federated: false,
                shard,
            };
            read_coco_documents(references, predictions, options)
        }
    }
}

/// Reads the boxes of COCO documents (files, or objects in memory), like [`parse_coco`] those of texts.
///
/// [`Objects`](metric_record::Objects) follow the rules of files, as in
/// [`dataset_from_columns`](super::dataset_from_columns): images and classes are those that the ground
/// truth lists, and a column that is absent is a field that no object has. The exception is `ignore`,
/// which is used as it is.
///
/// ```
/// use metric_record::{Document, IdKey, ObjectColumns, Objects};
/// use metric_vision::read::{CocoOptions, read_coco_documents};
///
/// let found = ObjectColumns {
///     image: vec![1].into(),
///     class: vec![IdKey::from("dog")].into(),
///     bbox: Some(vec![[0.0, 0.0, 10.0, 9.0]]),
///     ..ObjectColumns::default()
/// };
/// let truth = ObjectColumns {
///     images: vec![IdKey::Number(1), IdKey::Number(2)],
///     classes: vec![("dog".into(), "dog".to_owned())],
///     ..found.clone()
/// };
/// let found = ObjectColumns { score: Some(vec![0.8]), ..found };
/// let (dataset, _) = read_coco_documents(
///     &Document::objects("truth", Objects::new(truth)?),
///     &Document::objects("predictions", Objects::new(found)?),
///     CocoOptions::default(),
/// )?;
/// assert_eq!(dataset.images().len(), 2);
/// assert_eq!(dataset.predictions(0)[0].score, 0.8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error if a document is a folder, if only one of them holds objects in memory, if the
/// ground truth in memory has scores or the detections have none, and as [`parse_coco`] does.
pub fn read_coco_documents(
    references: &Document,
    predictions: &Document,
    options: CocoOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    read_documents(references, predictions, options, parse_coco)
}

/// Reads the masks of COCO documents, like [`parse_coco_masks`] those of texts.
///
/// # Errors
///
/// Returns an error as [`read_coco_documents`] and [`parse_coco_masks`] do.
pub fn read_coco_mask_documents(
    references: &Document,
    predictions: &Document,
    options: CocoOptions,
) -> Result<(Dataset<Mask>, Warnings), ReadError> {
    read_documents(references, predictions, options, parse_coco_masks)
}

/// Reads the keypoints of COCO documents, like [`parse_coco_keypoints`] those of texts.
///
/// # Errors
///
/// Returns an error if a document is a folder or holds objects in columns, which have no keypoints, and as
/// [`parse_coco_keypoints`] does.
pub fn read_coco_keypoint_documents(
    references: &Document,
    predictions: &Document,
    sigmas: &Sigmas,
    options: CocoOptions,
) -> Result<(Dataset<Keypoints>, Warnings), ReadError> {
    let is_columns = |document: &&Document| matches!(document.content, Content::Objects(_));
    if let Some(document) = [references, predictions].into_iter().find(is_columns) {
        let problem =
            "holds columns of boxes or masks: expected objects with keypoints, as in a COCO file";
        return Err(ReadError::new(&document.name, problem));
    }
    let (truths, found) = (coco_file(references)?, coco_file(predictions)?);
    parse_coco_keypoints(truths, found, sigmas, options)
}

type Parse<S> = fn(File<'_>, File<'_>, CocoOptions) -> Result<(Dataset<S>, Warnings), ReadError>;

fn read_documents<S: Readable<Model = ()>>(
    references: &Document,
    predictions: &Document,
    options: CocoOptions,
    parse: Parse<S>,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    match (&references.content, &predictions.content) {
        (Content::Objects(truths), Content::Objects(found)) => dataset_from_objects(
            (&references.name, truths),
            (&predictions.name, found),
            options,
        ),
        (Content::Objects(_), _) | (Content::Text(_) | Content::Stream(_), Content::Objects(_)) => {
            Err(unlike(references, predictions))
        }
        _ => parse(coco_file(references)?, coco_file(predictions)?, options),
    }
}

/// Reads the objects of YOLO's texts as Ultralytics compares them, of the [kind](BoxesOptions::kind) that is given or that
/// the texts tell.
///
/// # Errors
///
/// Returns an error as [`read_yolo`](super::read_yolo) does, if the references are no folder and no description of a data set, if the texts
/// do not tell the kind, and if objects other than boxes are in images of unknown size.
pub fn read_yolo_objects(
    references: &Document,
    predictions: &Document,
    options: &BoxesOptions,
) -> Result<(Dataset<YoloShape>, Warnings), ReadError> {
    read_of_kind(references, predictions, options)
}

/// Reads the objects of COCO documents as Ultralytics compares them: their boxes, and with them the masks of segments or
/// the keypoints of poses. Images rank by their ids.
///
/// # Errors
///
/// Returns an error as [`read_coco_documents`], [`read_coco_mask_documents`] and [`read_coco_keypoint_documents`] do, and
/// for oriented boxes in files, which these do not have.
pub fn read_coco_objects(
    references: &Document,
    predictions: &Document,
    kind: ObjectKind,
    sigmas: &Sigmas,
    options: CocoOptions,
) -> Result<(Dataset<YoloShape>, Warnings), ReadError> {
    let boxes = read_coco_documents(references, predictions, options);
    match kind {
        ObjectKind::Box => {
            let (dataset, warnings) = boxes?;
            Ok((dataset.with_shapes(|bbox| YoloShape::Box(*bbox)), warnings))
        }
        ObjectKind::Segment => {
            let masks = read_coco_mask_documents(references, predictions, options)?;
            let bounds = |mask: &Mask| BBox::around(mask.bounds());
            with_boxes(boxes, masks, bounds, YoloShape::with_mask)
        }
        ObjectKind::Pose => {
            let poses = read_coco_keypoint_documents(references, predictions, sigmas, options)?;
            with_boxes(boxes, poses, Keypoints::bbox, YoloShape::with_keypoints)
        }
        ObjectKind::Oriented => {
            let (dataset, warnings) = read_oriented_documents(references, predictions, options)?;
            Ok((dataset.with_shapes(oriented), warnings))
        }
    }
}

/// Boxes with what another reading has of the same objects, whose bounds are their boxes if they have no other.
fn with_boxes<T: Shape + Clone>(
    boxes: Result<(Dataset<BBox>, Warnings), ReadError>,
    (others, of_others): (Dataset<T>, Warnings),
    bounds: fn(&T) -> BBox,
    combine: fn(YoloShape, T) -> YoloShape,
) -> Result<(Dataset<YoloShape>, Warnings), ReadError> {
    let (boxes, warnings) = match boxes {
        Err(error) if lacks_boxes(&error) => (others.with_shapes(bounds), of_others),
        boxes => boxes?,
    };
    let real = others.images().iter().flat_map(|image| &image.annotations);
    let found = (0..others.images().len()).flat_map(|image| others.predictions(image));
    let shapes = real.map(|real| &real.shape);
    let mut shapes = shapes.chain(found.map(|found| &found.shape));
    let dataset = boxes.with_shapes(|bbox| match shapes.next() {
        Some(other) => combine(YoloShape::Box(*bbox), other.clone()),
        None => YoloShape::Box(*bbox),
    });
    Ok((dataset, warnings))
}

/// Reads the four-cornered shapes of YOLO's texts, in pixels.
///
/// # Errors
///
/// Returns an error as [`read_yolo_objects`] does.
pub fn read_yolo_polygons(
    references: &Document,
    predictions: &Document,
    options: &BoxesOptions,
) -> Result<(Dataset<Polygon>, Warnings), ReadError> {
    let options = options.clone().with_kind(Some(ObjectKind::Oriented));
    read_of_kind(references, predictions, &options)
}

/// Reads the oriented boxes of objects in memory, whose segmentations are lists of x and y of four corners.
///
/// # Errors
///
/// Returns an error as [`read_coco_documents`] does, and for files, which have no oriented boxes.
pub fn read_oriented_documents(
    references: &Document,
    predictions: &Document,
    options: CocoOptions,
) -> Result<(Dataset<Polygon>, Warnings), ReadError> {
    let none = |references: File<'_>, _: File<'_>, _: CocoOptions| {
        Err(ReadError::new(references.name, NO_ORIENTED))
    };
    read_documents(references, predictions, options, none)
}

/// The oriented box of a polygon, which may have a corner less than four.
fn oriented(polygon: &Polygon) -> YoloShape {
    let points = polygon.points();
    let corner = |index: usize| {
        points
            .get(index)
            .or(points.last())
            .copied()
            .unwrap_or_default()
    };
    YoloShape::Oriented(OrientedBox::around(std::array::from_fn(corner)))
}

/// Reads the segments of YOLO's texts as masks of the size of their images.
///
/// # Errors
///
/// Returns an error as [`read_yolo_objects`] does.
pub fn read_yolo_masks(
    references: &Document,
    predictions: &Document,
    options: &BoxesOptions,
) -> Result<(Dataset<Mask>, Warnings), ReadError> {
    let options = options.clone().with_kind(Some(ObjectKind::Segment));
    read_of_kind(references, predictions, &options)
}

fn read_of_kind<S: yolo::OfOutline>(
    references: &Document,
    predictions: &Document,
    options: &BoxesOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    match &references.content {
        Content::Folder(truths) if !is_voc(truths) => {
            yolo::read_objects(&truths.path, predictions, &options.yolo(truths))
        }
        _ => {
            let problem = "expected a data set of YOLO: data.yaml, or a folder of label files";
            Err(ReadError::new(&references.name, problem))
        }
    }
}

/// Returns whether references are a folder of YOLO's labels, whose boxes are fractions of their images.
///
/// # Cost
///
/// Lists the folder, and reads the first line of a text if it has no `.xml` file.
#[must_use]
pub fn is_yolo(references: &Document) -> bool {
    matches!(&references.content, Content::Folder(folder) if !is_voc(folder) && !yolo::has_pictures(&folder.path))
}

/// Returns whether references are a data set of YOLO with pictures, whose sizes make pixels of fractions.
#[must_use]
pub fn is_yolo_data_set(references: &Document) -> bool {
    matches!(&references.content, Content::Folder(folder) if !is_voc(folder) && yolo::has_pictures(&folder.path))
}

/// Whether a folder holds ground truth of Pascal VOC, as XML or as text.
fn is_voc(folder: &Folder) -> bool {
    let folder = folder.original.as_ref().unwrap_or(&folder.path);
    !folder.is_file() && has_xml(folder) || is_corner_text(folder)
}

/// Returns whether a JSON text is a COCO ground truth: an object with `images` and `annotations`.
///
/// ```
/// use metric_vision::read::is_coco;
///
/// assert!(is_coco(r#"{"images": [], "annotations": [], "categories": []}"#));
/// assert!(!is_coco(r#"{"images": []}"#));
/// assert!(!is_coco(r#"["images", "annotations"]"#));
/// ```
///
/// # Cost
///
/// Reads the whole text if both words occur in it.
#[must_use]
pub fn is_coco(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        #[serde(rename = "images")]
        _images: IgnoredAny,
        #[serde(rename = "annotations")]
        _annotations: IgnoredAny,
    }
    // Few other files have these words, and need to be read.
    let text = File { name: "", text }.content();
    let text = text.trim_start();
    text.starts_with('{')
        && ["\"images\"", "\"annotations\""]
            .iter()
            .all(|key| text.contains(key))
        && serde_json::from_str::<Keys>(text).is_ok()
}

/// A document that must be one file.
fn coco_file(document: &Document) -> Result<File<'_>, ReadError> {
    match &document.content {
        Content::Folder(_) => Err(ReadError::new(
            &document.name,
            "is a folder: expected a COCO file (.json)",
        )),
        _ => document.file(),
    }
}

/// Whether a folder is one of Pascal VOC's annotations.
fn has_xml(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .filter_map(|path| Some(path.extension()?.eq_ignore_ascii_case("xml")))
        .any(|is_xml| is_xml)
}

/// The error of predictions that have another form than the references.
fn unlike(references: &Document, predictions: &Document) -> ReadError {
    let found = match predictions.content {
        Content::Folder(_) => "is a folder",
        Content::Objects(_) => "holds objects in memory",
        _ => "is a file",
    };
    let expected = match references.content {
        Content::Folder(_) => "a folder",
        Content::Objects(_) => "objects in memory",
        _ => "a file",
    };
    let problem = format!("{found}: expected {expected}, as the references are");
    ReadError::new(&predictions.name, problem)
}

#[cfg(test)]
mod tests {
    use metric_record::{IdKey, ObjectColumns, Objects};

    use super::*;

    #[test]
    fn forms_that_differ() {
        let (file, folder) = (Document::text("a.json", "{}"), Document::folder("b"));
        let objects = Document::objects("c", Objects::default());
        for (references, predictions, expected) in [
            (
                &file,
                &folder,
                "b: is a folder: expected a file, as the references are",
            ),
            (
                &folder,
                &file,
                "a.json: is a file: expected a folder, as the references are",
            ),
            (
                &file,
                &objects,
                "c: holds objects in memory: expected a file, as the references are",
            ),
            (
                &folder,
                &objects,
                "c: holds objects in memory: expected a folder, as the references are",
            ),
            (
                &objects,
                &file,
                "a.json: is a file: expected objects in memory, as the references are",
            ),
            (
                &objects,
                &folder,
                "b: is a folder: expected objects in memory, as the references are",
            ),
        ] {
            let error = read_boxes(references, predictions, &BoxesOptions::default());
            assert_eq!(error.expect_err(expected).to_string(), expected);
        }
        let error = read_coco_mask_documents(&folder, &file, CocoOptions::default());
        let expected = "b: is a folder: expected a COCO file (.json)";
        assert_eq!(error.expect_err(expected).to_string(), expected);
    }

    #[test]
    fn folders_are_told_from_their_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str, file: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("a folder");
            fs::write(path.join(file), text).expect("a file");
            Document::folder(path)
        };
        let voc = of("voc", "1.XML", "<annotation/>");
        let yolo = of("yolo", "1.txt", "0 0.5 0.5 1 1");
        let found = of("found", "1.txt", "0 0.5 0.5 1 1 1");
        assert!(!is_yolo(&voc));
        assert!(is_yolo(&yolo));
        assert!(!is_yolo(&Document::text("a.json", "{}")));
        let options = BoxesOptions::default();
        let (dataset, _) = read_boxes(&yolo, &found, &options).expect("a data set");
        assert_eq!(dataset.predictions(0).len(), 1);
        let (dataset, _) = read_boxes(&voc, &found, &options).expect("a data set");
        assert_eq!(dataset.images().len(), 1);
    }

    #[test]
    fn oriented_boxes_are_objects_in_memory() {
        // A square, and the same one moved by half of its side.
        let objects = |score, corners: &str| {
            Objects::new(ObjectColumns {
                images: vec![IdKey::Number(1)],
                classes: vec![(IdKey::Number(7), "car".to_owned())],
                image: vec![1].into(),
                class: vec![7].into(),
                segmentation: Some(vec![corners.to_owned()]),
                score,
                ..ObjectColumns::default()
            })
        };
        let truth = objects(None, "[0, 0, 10, 0, 10, 10, 0, 10]").unwrap();
        let truth = Document::objects("truth", truth);
        let read = |corners| {
            let found = objects(Some(vec![0.5]), corners).unwrap();
            let found = Document::objects("found", found);
            read_oriented_documents(&truth, &found, CocoOptions::default())
        };
        let (dataset, _) = read("[5, 0, 15, 0, 15, 10, 5, 10]").unwrap();
        let found = &dataset.predictions(0)[0];
        assert_eq!(found.area, 100.0);
        let iou = found.shape.iou(&dataset.images()[0].annotations[0].shape);
        assert!((iou - 1.0 / 3.0).abs() < 1e-12, "{iou}");
        for corners in [
            "[0, 0, 10, 0, 10, 10]",
            "[0, 0, 10, 0, 10, 10, 0, \"a\"]",
            "{}",
        ] {
            let error = read(corners).unwrap_err().to_string();
            assert!(error.contains("segmentation"), "{error}");
        }
        let file = Document::text("a.json", "{}");
        assert!(read_oriented_documents(&file, &file, CocoOptions::default()).is_err());
        let sigmas = Sigmas::default();
        let kind = ObjectKind::Oriented;
        let options = CocoOptions::default();
        let found = Document::objects(
            "found",
            objects(Some(vec![0.5]), "[0, 0, 0, 0, 10, 10, 0, 10]").unwrap(),
        );
        let objects = read_coco_objects(&truth, &found, kind, &sigmas, options);
        assert_eq!(objects.unwrap().0.predictions(0)[0].shape.kind(), kind);
    }

    #[test]
    fn ground_truths_of_coco() {
        for (text, expected) in [
            ("\u{feff}{\"annotations\": 1, \"images\": 2}", true),
            (r#"{"images": [], "annotations": []"#, false),
            (r#"{"a": {"images": [], "annotations": []}}"#, false),
            ("", false),
        ] {
            assert_eq!(is_coco(text), expected, "{text}");
        }
    }
}
