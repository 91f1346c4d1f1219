//! What metrics over images share: the classes of a data set, and the reading of boxes.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use metric_core::Metric;
use metric_record::{FieldError, IdKey, Message, ReadError, Record, Side};
use metric_vision::read::{
    self, BoxesOptions, ExtraImages, ImageRecord, ImageSizes, RecordError, Warnings,
};
use metric_vision::{
    Class, ClassState, Classes, CocoAp, Confusion, Dataset, Image, Key, Prediction, Shape, Tide,
    TooManyPairs, VocAp, unite_classes,
};
use serde::{Deserialize, Serialize};

use crate::{
    DataSet, DataSetError, Header, OptionError, OptionKind, OptionSpec, Options, Reading, Sink,
    StateOf, Unified,
};

/// The classes of a data set, in the order of their keys. States count classes by their index here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ClassList(pub(crate) Vec<Class>);

impl ClassList {
    fn index_of(&self, key: &Key) -> Option<u32> {
        let found = self.0.binary_search_by(|class| class.key.cmp(key));
        found.ok().and_then(|index| u32::try_from(index).ok())
    }
}

impl Header for ClassList {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        if self == other {
            return Ok(Unified::Kept);
        }
        let (classes, [ours, theirs]) =
            unite_classes(&self.0, &other.0).map_err(|error| Message::from(error.to_string()))?;
        self.0 = classes;
        Ok(Unified::Renumbered { ours, theirs })
    }
}

/// Renumbers the classes of a state whose classes are all in the table.
pub(crate) fn renumber_classes<S: ClassState>(state: &mut S, indices: &[u32]) {
    // A state of other classes is left as it is; such a state cannot be built, and is refused when read.
    let _ = state.renumber_classes(indices);
}

/// A metric of images that can tell which of them would take minutes, or gigabytes of memory.
pub(crate) trait CheckSize<S> {
    /// Refuses such an image.
    fn check_size(&self, predictions: &[Prediction<S>], image: &Image<S>) -> Result<(), Message>;
}

impl<S: Shape> CheckSize<S> for CocoAp<S> {
    fn check_size(&self, predictions: &[Prediction<S>], image: &Image<S>) -> Result<(), Message> {
        let checked = CocoAp::check_size(self, predictions, image);
        checked.map_err(|error| of_fewer_detections(&error))
    }
}

impl<S: Shape> CheckSize<S> for Tide<S> {
    fn check_size(&self, predictions: &[Prediction<S>], image: &Image<S>) -> Result<(), Message> {
        let checked = Tide::check_size(self, predictions, image);
        checked.map_err(|error| of_fewer_detections(&error))
    }
}

fn of_fewer_detections(error: &TooManyPairs) -> Message {
    Message::from(format!("{error}; a smaller "))
        .option("max-detections", "")
        .text(" makes fewer")
}

impl<S> CheckSize<S> for VocAp<S> {
    fn check_size(&self, _: &[Prediction<S>], _: &Image<S>) -> Result<(), Message> {
        Ok(())
    }
}

impl<S> CheckSize<S> for Confusion<S> {
    fn check_size(&self, _: &[Prediction<S>], _: &Image<S>) -> Result<(), Message> {
        Ok(())
    }
}

/// How the records of one image are parsed.
pub(crate) type ParseRecord<S> =
    fn(Key, &str, &str, &mut Classes) -> Result<ImageRecord<S>, RecordError>;

/// Reads a record that is one image: its ground truth, and its detections.
pub(crate) fn read_image<R, S: Shape>(
    record: &mut Record<'_>,
    sink: &mut Sink<'_, R>,
    parse: ParseRecord<S>,
) -> Result<(), FieldError>
where
    R: Reading<Header = ClassList>,
    R::Metric: Metric<Prediction = [Prediction<S>], Reference = Image<S>, State: ClassState>
        + CheckSize<S>,
{
    let reference = record.reference.to_json_or("[]");
    let reference = reference.map_err(FieldError::reference)?;
    let prediction = record.prediction.to_json_or("[]");
    let prediction = prediction.map_err(FieldError::prediction)?;
    let mut classes = Classes::new();
    let key = Key::from(IdKey::from(record.id));
    let image = parse(key, &reference, &prediction, &mut classes);
    let image = image.map_err(|error| match error {
        RecordError::Reference(error) => FieldError::reference(error.to_string()),
        RecordError::Prediction(error) => FieldError::prediction(error.to_string()),
    })?;
    let keys = classes.keys().to_vec();
    let index_of = |sink: &Sink<'_, R>, key: &Key| sink.header().index_of(key);
    // Nearly all classes have been seen before.
    if keys.iter().any(|key| index_of(sink, key).is_none()) {
        sink.share(Side::Reference, ClassList(classes.into_sorted().0))?;
    }
    let indices: Vec<u32> = keys.iter().filter_map(|key| index_of(sink, key)).collect();
    sink.metric()
        .check_size(image.predictions(), image.image())
        .map_err(|error| FieldError::prediction(error).limit())?;
    let mut state: StateOf<R> = image.measure(sink.metric());
    renumber_classes(&mut state, &indices);
    sink.measured(None, &[], state);
    note_warnings(sink, image.warnings());
    Ok(())
}

/// Adds all images of a data set.
pub(crate) fn add_images<R, S: Shape + Sync>(
    dataset: &Dataset<S>,
    warnings: &Warnings,
    sink: &mut Sink<'_, R>,
) -> Result<(), DataSetError>
where
    R: Reading<Header = ClassList>,
    R::Metric: Metric<Prediction = [Prediction<S>], Reference = Image<S>, State: ClassState>
        + CheckSize<S>
        + Sync,
{
    let classes = ClassList(dataset.classes().to_vec());
    sink.share(Side::Reference, classes)
        .map_err(|error| ReadError::new("", error.problem))?;
    let images = dataset.images().len();
    for (predictions, image) in dataset.examples(0..images) {
        let checked = sink.metric().check_size(predictions, image);
        checked.map_err(|error| {
            let error = ReadError::new("", error).at(format!("image {}", image.key));
            error.limit()
        })?;
    }
    if sink.wants_samples() {
        for (predictions, image) in dataset.examples(0..images) {
            sink.record(&image.key);
            sink.example(predictions, image);
        }
    } else {
        let state = dataset.measure(sink.metric());
        sink.pooled(images as u64, &[], state);
    }
    note_warnings(sink, warnings);
    Ok(())
}

pub(crate) fn note_warnings<R: Reading>(sink: &mut Sink<'_, R>, warnings: &Warnings) {
    for (warning, times) in warnings {
        sink.note(warning.text(), *times);
    }
}

/// A name for each class: its own if all of them have different ones, else its id.
pub(crate) fn class_names(classes: &[Class]) -> Vec<String> {
    let names: BTreeSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    let by_name = names.len() == classes.len() && !names.contains("");
    let name = |class: &Class| match by_name {
        true => class.name.clone(),
        false => class.key.to_string(),
    };
    classes.iter().map(name).collect()
}

/// What references and predictions of boxes are, for help.
pub(crate) const BOXES: (&str, &str) = (
    "a COCO ground-truth file (.json), a folder of Pascal VOC's annotations (.xml), or one of YOLO's labels (.txt)",
    "a COCO results file (.json), a folder of results by class or by image (.txt), or one of YOLO's labels with confidences (.txt)",
);

/// The size of images whose files have none.
pub(crate) const IMAGE_SIZE: OptionSpec = OptionSpec {
    name: "image-size",
    kind: OptionKind::Text,
    value: "WxH",
    default: "",
    help: "Width and height of all images, where the files are of YOLO; without it boxes stay fractions of the image",
};

/// The value of [`IMAGE_SIZE`].
pub(crate) fn image_size(options: &Options) -> Result<ImageSizes, OptionError> {
    let Some(text) = options.get("image-size") else {
        return Ok(ImageSizes::Unknown);
    };
    let text = &*text;
    let numbers: Option<[NonZeroU32; 2]> = text
        .split_once('x')
        .and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    let reason = || "expected two whole numbers of pixels, for example 640x480".to_owned();
    numbers
        .map(ImageSizes::All)
        .ok_or_else(|| OptionError::new("image-size", text, reason()))
}

/// [`IMAGE_SIZE`] as a part of a signature.
pub(crate) fn size_part(sizes: &ImageSizes) -> Option<(String, String)> {
    match sizes {
        ImageSizes::All([width, height]) => {
            Some(("image-size".to_owned(), format!("{width}x{height}")))
        }
        _ => None,
    }
}

/// Reads [`BOXES`].
pub(crate) fn read_boxes(
    data: &DataSet,
    sizes: &ImageSizes,
) -> Result<(Dataset, Warnings), DataSetError> {
    let options = BoxesOptions {
        extra: match data.join.ignore_extra {
            true => ExtraImages::Ignore,
            false => ExtraImages::Error,
        },
        sizes: sizes.clone(),
        shard: data.shard,
    };
    Ok(read::read_boxes(
        &data.references,
        &data.predictions,
        &options,
    )?)
}
