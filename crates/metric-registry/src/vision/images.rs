//! The common parts of metrics over images: the classes of a data set, and the reading of boxes.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use metric_core::{Malformed, Merge, Metric as _, Reader, Writer, Written};
use metric_record::json::typed;
use metric_record::{
    Content, Document, FieldError, IdKey, Message, NAMED_IDS, ReadError, Record, Side, quoted_id,
};
use metric_vision::read::{
    self, BoxesOptions, CocoOptions, CocoStream, ExtraImages, FindingRules, Findings, ImageRecord,
    ImageSizes, InvalidColumns, OtherOrder, RecordError, TextColumns, Warning, Warnings, is_yolo,
};
use metric_vision::{
    Annotation, BBox, CheckedMetric, Class, ClassState, ClassTotals, Classes, Curve, Dataset,
    Image, Key, Prediction, Shape, TooManyPairs, unite_classes,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::ranking::Ranking;
use crate::reading::{AnyState, Measured, Ranked, View, downcast, rank_example};
use crate::vision::findings::{
    Definition, IGNORED, finding_warnings, number, number_of, ranked_by_order, tally_findings,
};
use crate::vision::image_key::{IMAGE_KEY, with_image_ids, with_image_key};
use crate::{
    Counted, DataSet, DataSetError, Header, Inputs, Named, OptionError, OptionSpec, Options,
    Reading, Remarks, Sink, StateOf, Unified,
};

/// The classes of a data set, in the order of their keys. States count classes by their index here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassList(pub(crate) Vec<Class>);

impl ClassList {
    fn index_of(&self, key: &Key) -> Option<u32> {
        let found = self.0.binary_search_by(|class| class.key.cmp(key));
        found.ok().and_then(|index| u32::try_from(index).ok())
    }
}

/// The list of the classes.
impl Written for ClassList {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Vec::read(from).map(Self)
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

/// A reading of a metric of images.
pub(crate) trait ImageReading<S>:
    Reading<
        Header = ClassList,
        Metric: CheckedMetric<
            Prediction = [Prediction<S>],
            Reference = Image<S>,
            State: ClassState,
        >,
    >
{
    /// Returns the rules that decide what is worth a warning. The default has no greatest number of detections.
    fn finding_rules(&self) -> FindingRules {
        FindingRules::default()
    }
}

fn of_fewer_detections(error: &TooManyPairs) -> Message {
    Message::from(format!("{error}; a smaller "))
        .option("max-detections", "")
        .text(" makes fewer")
}

/// The parser of the records of one image.
pub(crate) type ParseRecord<S> =
    dyn Fn(Key, &str, &str, &mut Classes) -> Result<ImageRecord<S>, RecordError> + Send + Sync;

/// Reads a record that is one image: its ground truth, and its detections.
pub(crate) fn read_image<R: ImageReading<S>, S: Shape>(
    record: &mut Record<'_>,
    sink: &mut Sink<'_, R>,
    parse: &ParseRecord<S>,
) -> Result<(), FieldError> {
    let (image, classes) = parse_image(record, parse)?;
    let keys = classes.keys().to_vec();
    // Nearly all classes have been seen before.
    if keys.iter().any(|key| sink.header().index_of(key).is_none()) {
        sink.share(Side::Reference, ClassList(classes.into_sorted().0))?;
    }
    let indices = keys.iter().filter_map(|key| sink.header().index_of(key));
    let indices: Vec<u32> = indices.collect();
    let checked = sink.metric().check_size(image.predictions(), image.image());
    checked.map_err(|error| FieldError::prediction(of_fewer_detections(&error)).limit())?;
    let mut state: StateOf<R> = image.measure(sink.metric());
    renumber_classes(&mut state, &indices);
    sink.measured(None, &[], state);
    let mut findings = Findings::default();
    let number = |class: u32| number(keys.get(class as usize)?);
    let rules = sink.reading.finding_rules();
    findings.add(image.predictions(), image.image(), rules, number);
    tally_findings(sink, &findings);
    note_warnings(sink, image.warnings());
    Ok(())
}

fn parse_image<S>(
    record: &mut Record<'_>,
    parse: &ParseRecord<S>,
) -> Result<(ImageRecord<S>, Classes), FieldError> {
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
    Ok((image, classes))
}

/// Whether the reference of a record is an image without objects.
pub(crate) fn is_empty_image(record: &mut Record<'_>) -> bool {
    #[derive(Deserialize)]
    struct Image {
        annotations: [IgnoredAny; 0],
    }
    let reference = record
        .reference
        .clone()
        .to_json_or("[]")
        .unwrap_or_default();
    typed::<[IgnoredAny; 0]>(&reference).is_ok()
        || typed::<Image>(&reference).is_ok_and(|image| image.annotations.is_empty())
}

/// The reader of COCO's files image by image.
pub(crate) struct Streaming<S> {
    pub(crate) open: fn(&Document, &Document, CocoOptions) -> Option<CocoStream<S>>,
    /// Counts the detections of an image in another order of their numbers, if there is one.
    pub(crate) count: Option<CountOrder<S>>,
}

type CountOrder<S> = fn(&mut OtherOrder, &[Prediction<S>], &Image<S>);

/// Boxes, which may be two corners.
pub(crate) const BOX_STREAM: Streaming<BBox> = Streaming {
    open: CocoStream::open,
    count: Some(OtherOrder::add_corners),
};

/// The data that a thread has gathered from COCO's files.
pub(crate) struct Gathered<S> {
    pub(crate) state: S,
    pub(crate) order: OtherOrder,
    pub(crate) findings: Findings,
    /// The worst images, if they are requested.
    pub(crate) ranking: Option<Ranking<Ranked>>,
}

impl<S: Default> Default for Gathered<S> {
    fn default() -> Self {
        Self {
            state: S::default(),
            order: OtherOrder::default(),
            findings: Findings::default(),
            ranking: None,
        }
    }
}

impl<S: Merge + Default> Gathered<S> {
    /// The sum of all threads.
    pub(crate) fn sum(parts: Vec<Self>) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.state.merge(part.state);
            sum.order.merge(part.order);
            sum.findings.merge(part.findings);
            match (&mut sum.ranking, part.ranking) {
                (Some(ours), Some(theirs)) => ours.merge(theirs),
                (ours, theirs) => *ours = ours.take().or(theirs),
            }
        }
        sum
    }
}

/// The options for reading COCO's files.
pub(crate) fn coco_options(data: &DataSet, quirks: bool) -> CocoOptions {
    CocoOptions::default()
        .with_ignore_unknown_images(data.join.ignore_extra)
        .with_quirks(quirks)
        .with_shard(data.shard)
}

/// Adds the images of COCO's files while these are read. Returns `None`, and has added nothing, if the files are to
/// be read as a whole: there images may be refused in their order, and each one may be wanted.
pub(crate) fn stream_images<R: ImageReading<S>, S: Shape + Clone + Send + Sync>(
    data: &DataSet,
    quirks: bool,
    streaming: &Streaming<S>,
    sink: &mut Sink<'_, R>,
) -> Option<()> {
    if sink.needs_each() {
        return None;
    }
    let options = coco_options(data, quirks);
    let stream = (streaming.open)(&data.references, &data.predictions, options)?;
    let classes = ClassList(stream.classes().to_vec());
    let images = stream.images() as u64;
    let (reading, metric) = (sink.reading, sink.metric());
    let plan = Arc::clone(&data.plan);
    let planned = plan.ranking;
    let names = planned.map_or_else(Vec::new, |_| class_names(&classes.0));
    let rules = reading.finding_rules();
    let fold = stream.fold(
        |part: &mut Gathered<StateOf<R>>, index, predictions, image| {
            metric.check_size(predictions, image).ok()?;
            if let Some(count) = streaming.count {
                count(&mut part.order, predictions, image);
            }
            let number = |class| number_of(&classes.0, class);
            part.findings.add(predictions, image, rules, number);
            let Some(planned) = planned else {
                metric.update(&mut part.state, predictions, image);
                return Some(());
            };
            let state = metric.measure(predictions, image);
            if part.ranking.is_none() {
                part.ranking = plan.new_ranking();
            }
            let ranking = part.ranking.as_mut()?;
            let view = View {
                state: &state,
                header: &classes,
            };
            let closeness = |state: &dyn AnyState| reading.closeness(downcast(state), None);
            rank_example(
                ranking,
                planned,
                reading,
                u64::from(index),
                view,
                &closeness,
                &|| {
                    let inputs = || image_inputs(&names, predictions, image);
                    let inputs = planned.inputs.then(inputs);
                    ranked(index, &image.key, Box::new(state.clone()), inputs)
                },
            );
            part.state.merge(state);
            Some(())
        },
    )?;
    let Gathered {
        state,
        order,
        findings,
        ranking,
    } = Gathered::sum(fold.parts);
    sink.share(Side::Reference, classes).ok()?;
    tally_order(sink, &streaming.count.map(|_| (CORNERS, order)));
    tally_findings(sink, &findings);
    sink.pooled(images, &[], state);
    if let Some(ranking) = ranking {
        sink.gathered.add_ranking(ranking);
    }
    note_warnings(sink, &fold.warnings);
    Some(())
}

/// One of the worst images.
fn ranked(index: u32, key: &Key, state: Box<dyn AnyState>, inputs: Option<[String; 2]>) -> Ranked {
    Ranked {
        example: Measured {
            record: index as usize,
            id: key.to_string(),
            part: None,
            state,
        },
        inputs: inputs.map(|values| Arc::new(Inputs::from(values))),
        is_unnamed: false,
    }
}

/// Adds all images of [`BOXES`].
pub(crate) fn add_boxes<R: ImageReading<BBox>>(
    mut data: DataSet,
    folders: &FolderOptions,
    sink: &mut Sink<'_, R>,
) -> Result<(), DataSetError> {
    folders.find_images(&mut data)?;
    folders.check_use(&data)?;
    if folders.columns.is_none() && stream_images(&data, false, &BOX_STREAM, sink).is_some() {
        return Ok(());
    }
    let boxes = read_boxes(&data, folders)?;
    drop(data);
    tally_order(sink, &boxes.order);
    add_images(&boxes.dataset, &boxes.warnings, sink)
}

/// Adds all images of a data set.
pub(crate) fn add_images<R: ImageReading<S>, S: Shape + Sync>(
    dataset: &Dataset<S>,
    warnings: &Warnings,
    sink: &mut Sink<'_, R>,
) -> Result<(), DataSetError> {
    let classes = ClassList(dataset.classes().to_vec());
    let names = class_names(dataset.classes());
    sink.share(Side::Reference, classes)
        .map_err(|error| ReadError::new("", error.problem))?;
    let images = dataset.images().len();
    for (predictions, image) in dataset.examples(0..images) {
        let checked = sink.metric().check_size(predictions, image);
        checked.map_err(|error| {
            let error = ReadError::new("", of_fewer_detections(&error));
            let error = error.at(format!("image {}", image.key));
            error.limit()
        })?;
    }
    let rules = sink.reading.finding_rules();
    tally_findings(sink, &findings_in(dataset, rules));
    if sink.wants_samples() {
        for (predictions, image) in dataset.examples(0..images) {
            sink.record(&image.key);
            sink.example(predictions, image);
            if sink.wants_inputs() {
                let [reference, prediction] = image_inputs(&names, predictions, image);
                sink.inputs(reference, prediction);
            }
        }
    } else {
        let state = dataset.measure(sink.metric());
        sink.pooled(images as u64, &[], state);
    }
    note_warnings(sink, warnings);
    Ok(())
}

/// The findings in all images of a data set.
pub(crate) fn findings_in<S: Shape>(dataset: &Dataset<S>, rules: FindingRules) -> Findings {
    let mut findings = Findings::default();
    let number = |class| number_of(dataset.classes(), class);
    for (predictions, image) in dataset.examples(0..dataset.images().len()) {
        findings.add(predictions, image, rules, number);
    }
    findings
}

/// Notes what a reader corrected or left out. The id 0 and the sizes of masks matter to COCO's metric alone.
pub(crate) fn note_warnings<R: Reading>(sink: &mut Sink<'_, R>, warnings: &Warnings) {
    for (warning, times) in warnings {
        match warning {
            Warning::UnknownClass(class) => {
                sink.count_name(&unknown_classes(), &class.to_string(), *times);
            }
            Warning::ZeroId => sink.tally(ZERO_ID, *times),
            Warning::OtherSize => sink.tally(OTHER_SIZE, *times),
            Warning::IgnoredTruth => sink.tally(IGNORED, *times),
            warning => {
                let [one, several] = warning.texts();
                sink.count(&Counted::new(one, several), *times);
            }
        }
    }
}

/// The tally of objects with the id 0.
pub(crate) const ZERO_ID: &str = "id 0";

/// The tally of masks of another size than their images.
pub(crate) const OTHER_SIZE: &str = "other size";

/// The note of detections whose classes a list of classes lacks.
pub(crate) fn unknown_classes() -> Counted {
    Counted::new(
        "detection is of a class that the ground truth does not list, and was left out",
        "detections are of classes that the ground truth does not list, and were left out",
    )
}

/// Returns the warnings about classes that only detections have, about the order of the numbers of boxes, and about
/// other patterns that explain low scores. A class that the ground truth lists is not one of the former, even if it has
/// no object.
pub(crate) fn image_warnings<S: ClassState>(
    ClassList(classes): &ClassList,
    state: &S,
    remarks: Remarks<'_>,
    definition: Definition,
) -> Vec<Message> {
    let totals = state.class_totals();
    let names = class_names(classes);
    let classes = totals.iter().filter_map(|(&index, totals)| {
        let index = index as usize;
        let (class, name) = classes.get(index).zip(names.get(index))?;
        Some(OfClass {
            name: name.clone(),
            is_listed: is_listed(class),
            totals: *totals,
        })
    });
    let classes: Vec<OfClass> = classes.collect();
    let left_out = remarks.times(&unknown_classes());
    let mut warnings = lacking_classes(&classes, left_out);
    warnings.extend(order_warning(remarks));
    let definition = Definition {
        lacks_classes: left_out > 0,
        has_no_common_class: has_no_common_class(&classes),
        ..definition
    };
    warnings.extend(finding_warnings(remarks, definition));
    warnings.extend(state.is_ranked_by_order().then(ranked_by_order));
    warnings
}

/// Whether a list has the class, and not only objects: a list gives it a name of its own. Numbers of classes in records
/// have no name.
pub(crate) fn is_listed(class: &Class) -> bool {
    !class.name.is_empty() && class.name != class.key.to_string()
}

/// A class of a data set with the number of its objects.
pub(crate) struct OfClass {
    pub(crate) name: String,
    pub(crate) is_listed: bool,
    pub(crate) totals: ClassTotals,
}

/// Returns the warnings about classes that only detections have, given how many detections were left out for
/// their classes.
pub(crate) fn lacking_classes(classes: &[OfClass], left_out: u64) -> Vec<Message> {
    let named = |count: fn(&OfClass) -> u64| {
        let counted = classes.iter().map(|class| (&class.name, count(class)));
        let counted: Vec<_> = counted.filter(|&(_, count)| count > 0).collect();
        let sum: u64 = counted.iter().map(|&(_, count)| count).sum();
        (with_counts(&counted), sum)
    };
    let (truths, all_truths) = named(|class| class.totals.truths);
    let (lacking, detections) = named(|class| match class.totals.truths {
        0 if !class.is_listed => class.totals.detections,
        _ => 0,
    });
    let mut warnings = Vec::new();
    if detections > 0 {
        let what = Counted::new(
            "detection is of a class of which the ground truth has no object",
            "detections are of classes of which the ground truth has no object",
        );
        warnings.push(what.warning(detections).text(": ").text(lacking));
    }
    if all_truths > 0 && has_no_common_class(classes) && detections + left_out > 0 {
        warnings.push(Message::from(format!(
            "NO CLASS IN COMMON: no detection is of a class of the ground truth, which has {truths}"
        )));
    }
    warnings
}

/// Whether no detection is of a class of the ground truth.
pub(crate) fn has_no_common_class(classes: &[OfClass]) -> bool {
    let mut of_truth = classes
        .iter()
        .filter(|class| class.totals.truths > 0 || class.is_listed);
    of_truth.all(|class| class.totals.detections == 0)
}

/// The first few classes, each with its count.
fn with_counts(classes: &[(&String, u64)]) -> String {
    let named = classes.iter().take(NAMED_IDS);
    let named: Vec<_> = named
        .map(|(name, count)| format!("{} ({count})", quoted_id(name)))
        .collect();
    let more = if classes.len() > NAMED_IDS {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", named.join(", "))
}

/// A name for each class: its own if all of them have different ones, else its id.
pub(crate) fn class_names(classes: &[Class]) -> Vec<String> {
    let names: BTreeSet<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    let by_name = names.len() == classes.len() && !names.contains("");
    let name = |class: &Class| {
        if by_name {
            class.name.clone()
        } else {
            class.key.to_string()
        }
    };
    classes.iter().map(name).collect()
}

/// The forms of references and predictions of boxes, for help.
pub(crate) const BOXES: (&str, &str) = (
    "a COCO ground-truth file (.json), a folder of Pascal VOC's annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt)",
    "a COCO results file (.json), a folder of results by class or by image (.txt), or one of YOLO's labels with confidences (.txt)",
);

/// The size of images whose files have none.
pub(crate) const IMAGE_SIZE: OptionSpec = OptionSpec::text(
    "image-size",
    "WxH",
    "Width and height of all images, for YOLO files. Without it, boxes stay in fractions of the image",
);

/// The order of the columns of text results.
pub(crate) const COLUMNS: OptionSpec = OptionSpec::text(
    "columns",
    "NAME,...",
    "Order of the columns of text results, if it is not the usual one, such as class,score,cx,cy,w,h",
);

/// The options for reading boxes: the values of [`IMAGE_SIZE`] and [`COLUMNS`], which are for folders, and of
/// [`IMAGE_KEY`].
#[derive(Clone, Debug, Default)]
pub(crate) struct FolderOptions {
    sizes: ImageSizes,
    pub(crate) columns: Option<TextColumns>,
    /// Whether results name images by their files.
    by_file: bool,
}

impl FolderOptions {
    pub(crate) fn new(options: &Options) -> Result<Self, OptionError> {
        let columns = options.get(COLUMNS.name).map(|list| {
            let invalid =
                |error: InvalidColumns| OptionError::new(COLUMNS.name, &list, error.to_string());
            list.parse().map_err(invalid)
        });
        Ok(Self {
            sizes: image_size(options)?,
            columns: columns.transpose()?,
            by_file: options.is(IMAGE_KEY.name, "file_name"),
        })
    }

    /// The boxes of YOLO's files are fractions, as the sizes of images are not known.
    pub(crate) fn has_fractions(&self, references: &Document) -> bool {
        is_yolo(references) && self.sizes == ImageSizes::Unknown
    }

    /// Refuses the options for data that are not folders, which do not use them.
    pub(crate) fn check_use(&self, data: &DataSet) -> Result<(), ReadError> {
        if matches!(data.references.content, Content::Folder(_)) {
            return Ok(());
        }
        let problem = "is for folders of text files, found a file: remove the option";
        self.parts().first().map_or(Ok(()), |(name, value)| {
            let problem = Message::from("")
                .option(name, value)
                .text(format_args!(" {problem}"));
            Err(ReadError::new(&data.references.name, problem))
        })
    }

    /// Replaces the names of files in results by the ids of their images, if they name images by these.
    pub(crate) fn find_images(&self, data: &mut DataSet) -> Result<(), ReadError> {
        if self.by_file {
            data.predictions = with_image_ids(&data.references, &data.predictions)?;
        }
        Ok(())
    }

    /// The meaning of `image_id` as a part of a signature, if it is not the id.
    pub(crate) fn image_key(&self) -> Option<(String, String)> {
        self.by_file
            .then(|| (IMAGE_KEY.name.to_owned(), "file_name".to_owned()))
    }

    /// The options for folders as parts of a signature.
    pub(crate) fn parts(&self) -> Named<String> {
        let columns = self
            .columns
            .map(|it| (COLUMNS.name.to_owned(), it.to_string()));
        size_part(&self.sizes).into_iter().chain(columns).collect()
    }
}

/// The value of [`IMAGE_SIZE`].
fn image_size(options: &Options) -> Result<ImageSizes, OptionError> {
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
fn size_part(sizes: &ImageSizes) -> Option<(String, String)> {
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
    folders: &FolderOptions,
) -> Result<ReadBoxes, DataSetError> {
    folders.check_use(data)?;
    let FolderOptions { sizes, columns, .. } = folders;
    let extra = if data.join.ignore_extra {
        ExtraImages::Ignore
    } else {
        ExtraImages::Error
    };
    let options = BoxesOptions::default()
        .with_extra(extra)
        .with_sizes(sizes.clone())
        .with_columns(*columns)
        .with_shard(data.shard);
    let (references, predictions) = (&data.references, &data.predictions);
    let read = read::read_boxes(references, predictions, &options);
    let (dataset, warnings) =
        read.map_err(|error| with_image_key(error, references, predictions))?;
    let order = match data.references.content {
        Content::Folder(_) if columns.is_none() && is_yolo(&data.references) => {
            Some((YOLO, OtherOrder::of_yolo(&dataset, sizes)))
        }
        Content::Folder(_) => None,
        _ => corners(&dataset),
    };
    Ok(ReadBoxes {
        dataset,
        warnings,
        order,
    })
}

/// A data set of [`BOXES`].
pub(crate) struct ReadBoxes<S = BBox> {
    pub(crate) dataset: Dataset<S>,
    pub(crate) warnings: Warnings,
    pub(crate) order: BoxOrder,
}

/// Another order of the numbers of boxes that other programs write.
pub(crate) struct KnownOrder {
    /// The names of the tallies of an [`OtherOrder`].
    tallies: [&'static str; 4],
    /// The warning about one detection, and about several.
    warning: [&'static str; 2],
}

/// The fit of the numbers of boxes in another order, for files that do not say what their numbers are.
pub(crate) type BoxOrder = Option<(KnownOrder, OtherOrder)>;

/// Two corners in COCO's results.
pub(crate) const CORNERS: KnownOrder = KnownOrder {
    tallies: [
        "coco detections",
        "coco no corners",
        "coco hits",
        "coco corner hits",
    ],
    warning: [
        "detection matches the ground truth only if its box is [x1, y1, x2, y2]; expected [x, y, width, height]",
        "detections match the ground truth only if their boxes are [x1, y1, x2, y2]; expected [x, y, width, height]",
    ],
};

/// The confidence as the second column of YOLO's files.
const YOLO: KnownOrder = KnownOrder {
    tallies: [
        "yolo detections",
        "yolo swapped outside",
        "yolo hits",
        "yolo swapped hits",
    ],
    warning: [
        "line of the predictions matches the ground truth only if its second column is the confidence; expected class cx cy width height confidence, so move the second column to the end if it is",
        "lines of the predictions match the ground truth only if their second column is the confidence; expected class cx cy width height confidence, so move the second column to the end if it is",
    ],
};

/// The fit of the boxes of COCO's results if they are read as corners.
pub(crate) fn corners(dataset: &Dataset<BBox>) -> BoxOrder {
    Some((CORNERS, OtherOrder::of_corners(dataset)))
}

/// Tallies how well the numbers of boxes fit in another order.
pub(crate) fn tally_order<R: Reading>(sink: &mut Sink<'_, R>, order: &BoxOrder) {
    if let Some((order, counts)) = order {
        let OtherOrder {
            detections,
            without,
            hits,
            other_hits,
        } = *counts;
        let counts = [detections, without, hits, other_hits];
        for (name, count) in order.tallies.into_iter().zip(counts) {
            sink.tally(name, count);
        }
    }
}

/// Returns the warning about boxes whose numbers seem to be in another order than they were read in.
pub(crate) fn order_warning(remarks: Remarks<'_>) -> Option<Message> {
    [CORNERS, YOLO].into_iter().find_map(|order| {
        let [detections, without, hits, other_hits] = order.tallies.map(|name| remarks.tally(name));
        let counts = OtherOrder {
            detections,
            without,
            hits,
            other_hits,
        };
        let [one, several] = order.warning;
        let what = Counted::new(one, several);
        counts.seems_meant().then(|| what.warning(other_hits))
    })
}

/// The boxes of an image as data: objects with the name of the class and the corners, and those of predictions
/// with a score.
pub(crate) fn image_inputs<S: Shape>(
    names: &[String],
    predictions: &[Prediction<S>],
    image: &Image<S>,
) -> [String; 2] {
    let name = |class: u32| names.get(class as usize);
    let truth = |annotation: &Annotation<S>| json!({"class": name(annotation.class), "corners": annotation.shape.bounds()});
    let found = |prediction: &Prediction<S>| {
        json!({
            "class": name(prediction.class),
            "score": prediction.score,
            "corners": prediction.shape.bounds(),
        })
    };
    let truths: Vec<_> = image.annotations.iter().map(truth).collect();
    let found: Vec<_> = predictions.iter().map(found).collect();
    [json!(truths), json!(found)].map(|list| list.to_string())
}

/// The points of a curve as data.
pub(crate) fn curve_points(curve: &Curve, is_compact: bool) -> Vec<serde_json::Value> {
    let points = curve.points().map(|point| (point.score, point.counts));
    crate::curves::points(points, is_compact)
}
