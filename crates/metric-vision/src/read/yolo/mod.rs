//! The texts of YOLO: folders of labels and predictions, and data sets of pictures.

mod data_set;
mod line;
mod names;
mod pictures;
mod results;
mod shape;
#[cfg(test)]
mod tests;
mod texts;
mod yaml;

use std::path::{Path, PathBuf};

use metric_record::{Content, DEFAULT_MAX_BYTES, Document, FileReader, Shard};

use super::folder::{self, ExtraImages, Folder, FolderFile as _, Part, is_held};
use super::image_sizes::ImageSizes;
use super::order::{YoloLine, is_other_order};
use super::text_columns::TextColumns;
use super::{File, ReadError, Warnings};
use crate::{BBox, Dataset, ObjectKind, Sigmas, YoloShape};

use data_set::DataSet;
pub(super) use data_set::has_pictures;
use line::LineForm;
use names::is_of_names;
pub(super) use shape::OfOutline;
use shape::Place;

/// The files that may hold the names of classes in a folder of truths; the first one found is used.
/// Files with these names do not belong to an image.
const NAMES: [&str; 3] = ["classes.txt", "obj.names", DATA];

/// Ultralytics' description of a data set, which names the classes under `names`.
const DATA: &str = "data.yaml";

/// The extension of labels.
const TEXT: &str = "txt";

/// The folder of the labels of a data set, next to which the others are.
const LABELS: &str = "labels";

/// How to read folders of YOLO.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct YoloOptions {
    /// The sizes of the images, by which the numbers in the files are converted to pixels. The sizes of pictures that can
    /// be read are those of their files.
    pub sizes: ImageSizes,
    /// What to do with a prediction file without a truth file.
    pub extra: ExtraImages,
    /// The columns of predictions; `None` for `class cx cy width height confidence`.
    pub columns: Option<TextColumns>,
    /// Read only the images that this shard holds, and everything about them. The list of classes stays
    /// that of the whole data set: where no file names the classes, the others are read for theirs as
    /// far as they can be.
    pub shard: Option<Shard>,
    /// The number of bytes of the files of one folder that may be held in memory; `None` for
    /// [`DEFAULT_MAX_BYTES`](metric_record::DEFAULT_MAX_BYTES).
    pub max_bytes: Option<u64>,
    /// The part of a data set of pictures; `None` for `val`.
    pub split: Option<String>,
    /// The kind of the objects; `None` for the one that the files tell. It has no effect where boxes are read.
    pub kind: Option<ObjectKind>,
    /// The tolerances of the points of poses, in place of those of the data set.
    pub sigmas: Option<Sigmas>,
    /// The number of the first class in `predictions.json`, 0 or 1; `None` if the numbers are to tell.
    pub first_category: Option<u32>,
    /// Whether fractions of images are an error.
    pub needs_pixels: bool,
    /// Whether a folder of labels is read with the rules that data sets of pictures have: a detection of a class without a
    /// name is an error, and so are boxes and segments in one file.
    pub strict: bool,
    /// Whether objects of the kind are read as their boxes.
    pub boxes_only: bool,
}

metric_core::setters!(YoloOptions {
    with_sizes => sizes: ImageSizes,
    with_extra => extra: ExtraImages,
    with_columns => columns: Option<TextColumns>,
    with_shard => shard: Option<Shard>,
    with_max_bytes => max_bytes: Option<u64>,
    with_split => split: Option<String>,
    with_kind => kind: Option<ObjectKind>,
    with_sigmas => sigmas: Option<Sigmas>,
    with_first_category => first_category: Option<u32>,
    with_needs_pixels => needs_pixels: bool,
    with_strict => strict: bool,
    with_boxes_only => boxes_only: bool,
});

impl YoloOptions {
    /// The kind that is made of lines of a kind.
    fn made(&self, kind: ObjectKind) -> ObjectKind {
        if self.boxes_only {
            kind.as_boxes()
        } else {
            kind
        }
    }
}

/// Reads a folder of YOLO labels and a folder of predictions, as Ultralytics writes them with
/// `save_txt=True save_conf=True`.
///
/// Both folders hold one file `<image>.txt` per image. A label is a line `class cx cy width height`, a prediction
/// `class cx cy width height confidence`: the class is a non-negative integer, the others are fractions of the image's
/// width and height. The id of a track may follow the confidence. Of the points of a segment or of an oriented box, which
/// take the place of the box, the extent is read, and of a pose, whose points follow the box, the box. Blank lines and empty files are fine. Images have the names of their files as [`Key::Text`](crate::Key::Text), even
/// if these are numerals. An image without a prediction file has no detections; [`YoloOptions::extra`] decides what
/// happens to a prediction file without a truth file. Hidden files, subfolders and files of other extensions are left
/// out. The detections of an image are in the order of the lines. Across images they have no order, so their
/// [`position`](crate::Prediction::position) is 0.
///
/// A folder that contains a folder `labels` is the root of a data set, whose files are in that one. Where `labels`
/// has a folder for each part of the data set, such as `labels/val`, that folder is given.
///
/// Names of classes, one per line, are read from `classes.txt` or else `obj.names`, or from `names` in `data.yaml`, in the
/// folder of truths or up to two folders above. Then a true object of a class beyond them
/// is an error, and a detection of one is left out with [`Warning::UnknownClass`](crate::read::Warning::UnknownClass). Without, the classes are those that
/// occur.
///
/// Coordinates and areas are in pixels if [`YoloOptions::sizes`] gives the sizes of the images, else
/// fractions (see [`ImageSizes::Unknown`]).
///
/// # Errors
///
/// Returns an error if a folder or file cannot be read or is not UTF-8; there is no truth file, or no prediction file; a
/// line has another count of numbers; the confidence of
/// predictions is the second column, as far as the boxes and the truths can tell; a number is not finite; a label has a
/// number that is not between 0 and 1; or a confidence is above 1 by more than rounding. Detections may reach beyond
/// the image by its own size: a center outside of -1 to 2 or a width or height outside of 0 to 2 is assumed to be in
/// pixels, and is an error.
///
/// See [`parse_yolo`] for an example.
pub fn read_yolo(
    truths: &Path,
    predictions: &Path,
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let options = options.clone().with_kind(Some(ObjectKind::Box));
    with_folders(truths, predictions, &options, |truths, predictions| {
        parse_boxes(truths, predictions, &options)
    })
}

/// Reads the objects of a data set of pictures or of a folder of labels.
pub(super) fn read_objects<S: OfOutline>(
    truths: &Path,
    predictions: &Document,
    options: &YoloOptions,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    read_set_or(truths, predictions, options, |found| {
        with_folders(truths, found, options, |truths, predictions| {
            texts::of_files(truths, predictions, options)
        })
    })
}

/// The same of boxes, which also are looked at for another order of their numbers.
pub(super) fn read_boxes(
    truths: &Path,
    predictions: &Document,
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let options = options.clone().with_kind(Some(ObjectKind::Box));
    read_set_or(truths, predictions, &options, |found| {
        read_yolo(truths, found, &options)
    })
}

/// Reads a data set of pictures, or else folders of labels and of predictions.
fn read_set_or<S: OfOutline>(
    truths: &Path,
    predictions: &Document,
    options: &YoloOptions,
    folders: impl FnOnce(&Path) -> Result<(Dataset<S>, Warnings), ReadError>,
) -> Result<(Dataset<S>, Warnings), ReadError> {
    let mut files = FileReader::new(options.max_bytes.unwrap_or(DEFAULT_MAX_BYTES));
    if let Some(set) = DataSet::find(truths, options.split.as_deref(), &mut files)? {
        return texts::of_set(&set, predictions, options, files);
    }
    let Content::Folder(found) = &predictions.content else {
        let problem = "is a file: expected a folder, as the references are";
        return Err(ReadError::new(&predictions.name, problem));
    };
    folders(&found.path)
}

/// Reads the files of folders of labels and of predictions, as far as their shard needs them.
fn with_folders<T>(
    truths: &Path,
    predictions: &Path,
    options: &YoloOptions,
    read: impl FnOnce(&[File<'_>], &[File<'_>]) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let [truths, predictions] = [truths, predictions].map(labels_of);
    let has_names = NAMES.iter().any(|name| truths.join(name).is_file());
    let mut files = FileReader::new(options.max_bytes.unwrap_or(DEFAULT_MAX_BYTES));
    let names = if has_names {
        None
    } else {
        names_above(&truths, &mut files)?
    };
    let is_named = has_names || names.is_some();
    let part = |image: &str| {
        if is_held(options.shard, image) {
            Part::All
        } else if is_named && options.kind.is_some() {
            Part::Name
        } else {
            Part::Readable
        }
    };
    let [truths, predictions] = [
        Folder::read(&truths, TEXT, &NAMES, options.max_bytes, part)?
            .with_some(&truths, "truths", TEXT, &NAMES)?,
        Folder::read(&predictions, TEXT, &[], options.max_bytes, part)?.with_some(
            &predictions,
            "predictions",
            TEXT,
            &NAMES,
        )?,
    ];
    let mut truths = truths.files();
    truths.extend(names.as_ref().map(|(name, text)| File { name, text }));
    read(&truths, &predictions.files())
}

/// The nearest file of names in a folder or up to two folders above, with its text.
fn names_above(
    folder: &Path,
    files: &mut FileReader,
) -> Result<Option<(String, String)>, ReadError> {
    let mut folder = folder.to_owned();
    for _ in 0..3 {
        let found = NAMES.iter().map(|name| folder.join(name));
        for path in found.filter(|path| path.is_file()) {
            let (name, text) = files.read(&path)?;
            let file = File {
                name: &name,
                text: &text,
            };
            // Without a name it may be of another program.
            let has_names = text.lines().any(|line| line.starts_with("names:"));
            if folder.ends_with(LABELS) || has_names || names::class_names(&file).is_ok() {
                return Ok(Some((name, text)));
            }
        }
        folder = match folder.parent() {
            Some(above) if above.as_os_str().is_empty() && folder != Path::new(".") => ".".into(),
            Some(above) if !above.as_os_str().is_empty() && !folder.ends_with("..") => above.into(),
            _ => folder.join(".."),
        };
    }
    Ok(None)
}

/// The folder of the labels: one called `labels`, if the folder is the root of a data set, and in that the only
/// folder, if that is all it holds.
fn labels_of(folder: &Path) -> PathBuf {
    let inner = folder.join(LABELS);
    let is_labels = folder.file_name().is_some_and(|name| name == LABELS);
    let labels = if inner.is_dir() {
        inner
    } else if is_labels {
        folder.to_owned()
    } else {
        return folder.to_owned();
    };
    match folder::subfolders(&labels).as_slice() {
        [one] if !folder::has_files(&labels, TEXT) => labels.join(one),
        _ => labels,
    }
}

/// Reads the boxes of YOLO files in memory, in any order, like [`read_yolo`] those of folders.
///
/// # Errors
///
/// Returns an error as [`read_yolo`] does, and if two files are of one image or of class names.
///
/// ```
/// use metric_vision::read::{File, YoloOptions, parse_yolo};
///
/// let file = |name, text| File { name, text };
/// let truths = [
///     file("labels/classes.txt", "person\ncar\n"),
///     file("labels/road.txt", ""),
///     file("labels/street.txt", "1 0.5 0.5 0.25 0.5\n"),
/// ];
/// let predictions = [file("runs/street.txt", "1 0.5 0.5 0.25 0.25 0.875\n")];
/// let (dataset, warnings) = parse_yolo(&truths, &predictions, &YoloOptions::default())?;
/// assert!(warnings.is_empty());
/// assert_eq!(dataset.classes()[1].name, "car");
/// assert_eq!(dataset.images()[1].annotations[0].shape.xywh(), [0.375, 0.25, 0.25, 0.5]);
/// assert_eq!(dataset.predictions(1)[0].score, 0.875);
///
/// let wrong = [file("runs/street.txt", "1 320 240 160 120 0.875\n")];
/// let error = parse_yolo(&truths, &wrong, &YoloOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "runs/street.txt:1: cx: found 320, expected a fraction of the image, -1 to 2",
/// );
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
pub fn parse_yolo(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let options = options.clone().with_kind(Some(ObjectKind::Box));
    parse_boxes(truths, predictions, &options)
}

/// Reads the objects of YOLO files in memory as Ultralytics compares them, of the [kind](YoloOptions::kind) that is given
/// or that the files tell. Shapes other than boxes need [`YoloOptions::sizes`], and poses `kpt_shape` in a `data.yaml`.
///
/// # Errors
///
/// Returns an error as [`parse_yolo`] does, and if the files do not tell the kind.
///
/// ```
/// use metric_vision::ObjectKind;
/// use metric_vision::read::{File, YoloOptions, parse_yolo_objects};
///
/// let file = |text| [File { name: "street.txt", text }];
/// let truths = file("0 0.1 0.1 0.4 0.1 0.4 0.3 0.1 0.3\n");
/// let found = file("0 0.1 0.1 0.4 0.1 0.4 0.3 0.1 0.3 0.5\n");
/// // Oriented boxes and segments look alike, and both need pixels.
/// let options = YoloOptions::default();
/// assert!(parse_yolo_objects(&truths, &found, &options).is_err());
/// let options = options.with_kind(Some(ObjectKind::Box));
/// let (dataset, _) = parse_yolo_objects(&truths, &found, &options)?;
/// assert_eq!(dataset.predictions(0).len(), 1);
/// # Ok::<(), metric_vision::read::ReadError>(())
/// ```
pub fn parse_yolo_objects(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &YoloOptions,
) -> Result<(Dataset<YoloShape>, Warnings), ReadError> {
    texts::of_files(truths, predictions, options)
}

fn parse_boxes(
    truths: &[File<'_>],
    predictions: &[File<'_>],
    options: &YoloOptions,
) -> Result<(Dataset<BBox>, Warnings), ReadError> {
    let (dataset, warnings) = texts::of_files(truths, predictions, options)?;
    if options.columns.is_none() && is_other_order(&dataset, &options.sizes) {
        return Err(other_order(predictions));
    }
    Ok((dataset, warnings))
}

/// The error of predictions whose confidence is the second column, at the first box that leaves its image.
fn other_order(predictions: &[File<'_>]) -> ReadError {
    let problem = "found a box that leaves the image, and boxes that fit the images if the confidence is the second column; expected class cx cy width height confidence, so move the second column to the end, or name the columns in their order";
    let form = LineForm {
        kind: ObjectKind::Box,
        pose: None,
        columns: None,
        of_labels: [0.0, 1.0],
    };
    let place = Place {
        scale: [1.0; 2],
        pixels: None,
        sigmas: None,
        is_label: false,
    };
    let mut files: Vec<File<'_>> = of_images(predictions).collect();
    files.sort_unstable_by_key(|file| file.name);
    for file in &files {
        for line in file.lines() {
            let read = form.prediction(&line).ok().and_then(|row| {
                let bbox = BBox::of_outline(&row.outline, ObjectKind::Box, place).ok()?;
                Some((row.confidence, bbox))
            });
            if read.is_some_and(|(score, bbox)| {
                YoloLine::of_box(&bbox, score, [1.0; 2]).is_far_outside()
            }) {
                return line.error("", problem.to_owned());
            }
        }
    }
    ReadError::new("", problem)
}

/// The files that are of images.
fn of_images<'a>(files: &[File<'a>]) -> impl Iterator<Item = File<'a>> {
    let files = files.iter().copied();
    files.filter(|file| !is_of_names(file))
}
