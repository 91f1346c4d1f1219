//! Dataset files of images with objects: COCO's files, and folders of Pascal VOC or YOLO.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use metric_record::{Content, Document, FieldError, Message, ReadError, Side};
use metric_stats::fnv1a64;
use metric_vision::read::{
    self, BoxesOptions, CocoOptions, CocoStream, ExtraImages, FindingRules, ImageRecord,
    ImageSizes, InvalidColumns, OtherOrder, RecordError, Warning, Warnings, is_yolo,
};
use metric_vision::{
    Annotation, BBox, Class, Classes, Dataset, Image, Key, Keypoints, Mask, ObjectKind, Polygon,
    Prediction, Shape, Sigmas, YoloShape,
};
use serde_json::json;

use super::findings::{Observations, Order, SELECTION, Selected, number};
use super::image_key::{IMAGE_KEY, with_image_ids, with_image_key};
use super::selection::{IMAGES_LIST, selected};
use super::{class_names, is_listed};
use crate::numbers::present;
use crate::reading::{Gathered, WantedInputs};
use crate::{
    DataSet, DataSetError, Named, OF_DATA, OptionError, OptionSpec, Options, Plan, Reading,
    Remarks, Sink,
};

/// The forms of references and predictions of boxes, for help.
pub(crate) const BOXES: (&str, &str) = (
    "a COCO ground-truth file (.json), a folder of Pascal VOC's annotations (.xml, or .txt with lines `class xmin ymin xmax ymax`), or one of YOLO's labels (.txt)",
    "a COCO results file (.json), a folder of results by class or by image (.txt), or one of YOLO's labels with confidences (.txt)",
);

/// The size of images whose files have none.
pub(crate) const IMAGE_SIZE: OptionSpec = OptionSpec::text(
    "image-size",
    "WxH",
    "Width and height of images, for YOLO files without pictures that can be read. Without it, boxes stay in fractions of the image",
);

/// The order of the columns of text results.
pub(crate) const COLUMNS: OptionSpec = OptionSpec::text(
    "columns",
    "NAME,...",
    "Order of the columns of text results, if it is not the usual one, such as class,score,cx,cy,w,h. A column _ is skipped",
);

/// The number of the first class in `predictions.json`.
pub(crate) const FIRST_CATEGORY: OptionSpec = OptionSpec::one_of(
    "first-category",
    "N",
    || vec!["0", "1"],
    "Number of the first class in predictions.json of Ultralytics, beside a YOLO data set, if its ids do not tell",
);

/// The options for reading files: the values of [`IMAGE_SIZE`] and [`COLUMNS`], which are for folders, of
/// [`IMAGE_KEY`], and of COCO's `quirks`.
pub(crate) struct FileOptions {
    folders: BoxesOptions,
    /// Whether results name images by their files.
    by_file: bool,
    /// The name of the list of the images that are scored.
    images_list: Option<String>,
    quirks: bool,
    /// Whether the fields of LVIS are read.
    federated: bool,
}

impl FileOptions {
    fn new(options: &Options) -> Result<Self, OptionError> {
        let mut folders = BoxesOptions::default();
        if let Some(text) = options.get(IMAGE_SIZE.name) {
            let size = text.split_once('x');
            let size =
                size.and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
            let reason = "expected two whole numbers of pixels, for example 640x480";
            let invalid = || OptionError::new(IMAGE_SIZE.name, &text, reason);
            folders.sizes = ImageSizes::All(size.ok_or_else(invalid)?);
        }
        if let Some(list) = options.get(COLUMNS.name) {
            let invalid =
                |error: InvalidColumns| OptionError::new(COLUMNS.name, &list, error.to_string());
            folders.columns = Some(list.parse().map_err(invalid)?);
        }
        if options.has(FIRST_CATEGORY.name) {
            folders.first_category = Some(u32::from(options.is(FIRST_CATEGORY.name, "1")));
        }
        Ok(Self {
            folders,
            by_file: options.is(IMAGE_KEY.name, "file_name"),
            // The folders before it may be others elsewhere.
            images_list: options.get(IMAGES_LIST.name).map(|path| {
                let name = Path::new(&*path).file_name();
                name.unwrap_or_default().to_string_lossy().into_owned()
            }),
            quirks: options.is("quirks", "pycocotools"),
            federated: false,
        })
    }

    /// The options for folders, as they appear in a signature.
    fn of_folders(&self) -> Named<String> {
        let size = match &self.folders.sizes {
            ImageSizes::All([width, height]) => Some(format!("{width}x{height}")),
            _ => None,
        };
        let columns = self.folders.columns.map(|columns| columns.to_string());
        let first = self.folders.first_category.map(|first| first.to_string());
        present([
            (IMAGE_SIZE.name, size),
            (COLUMNS.name, columns),
            (FIRST_CATEGORY.name, first),
        ])
    }

    fn coco(&self, data: &DataSet) -> CocoOptions {
        CocoOptions::default()
            .with_ignore_unknown_images(data.join.ignore_extra)
            .with_quirks(self.quirks)
            .with_federated(self.federated)
            .with_shard(data.shard)
    }

    fn boxes(&self, data: &DataSet) -> BoxesOptions {
        let extra = if data.join.ignore_extra {
            ExtraImages::Ignore
        } else {
            ExtraImages::Error
        };
        let options = self.folders.clone().with_extra(extra);
        options.with_shard(data.shard)
    }
}

/// The readers of objects of one shape.
pub(crate) struct Readers<S> {
    record: Box<ParseRecord<S>>,
    /// Opens COCO's files to read them image by image, if that is possible.
    open: fn(&Document, &Document, CocoOptions) -> Option<CocoStream<S>>,
    /// Reads documents as a whole.
    documents: Box<ReadDocuments<S>>,
    /// Counts the detections of an image in another order of their numbers.
    add_order: AddOrder<S>,
    /// Whether the fields of LVIS are read.
    federated: bool,
    /// The kind of the objects of text files of which only the boxes are compared. Other files have boxes.
    kind_of_texts: Option<ObjectKind>,
}

impl<S> Readers<S> {
    /// The readers of data sets in which images are annotated for some classes only.
    pub(crate) fn federated(self) -> Self {
        Self {
            federated: true,
            ..self
        }
    }
}

/// The parser of the records of one image.
type ParseRecord<S> =
    dyn Fn(Key, &str, &str, &mut Classes) -> Result<ImageRecord<S>, RecordError> + Send + Sync;

type ReadDocuments<S> =
    dyn Fn(&DataSet, &FileOptions) -> Result<(Dataset<S>, Warnings), ReadError> + Send + Sync;

impl Readers<BBox> {
    /// Boxes of [`BOXES`].
    pub(crate) fn boxes() -> Self {
        Self {
            record: Box::new(read::parse_record),
            open: CocoStream::open,
            documents: Box::new(|data, options| {
                read::read_boxes(&data.references, &data.predictions, &options.boxes(data))
            }),
            add_order: |counts, predictions, image, order, sizes| match order {
                Order::Corners => counts.add_corners(predictions, image),
                Order::Yolo => counts.add_yolo(predictions, image, sizes),
            },
            federated: false,
            kind_of_texts: None,
        }
    }

    /// Boxes of [`BOXES`], whose files are read with COCO's options.
    pub(crate) fn coco_boxes() -> Self {
        let boxes = Self::boxes();
        let files = Self::files_of_boxes();
        Self {
            documents: Box::new(move |data, options| match data.references.content {
                Content::Folder(_) => (boxes.documents)(data, options),
                _ => (files.documents)(data, options),
            }),
            ..Self::boxes()
        }
    }

    /// Boxes of files, which are read with COCO's options. Folders are refused.
    pub(crate) fn files_of_boxes() -> Self {
        Self {
            documents: of_coco(read::read_coco_documents),
            ..Self::boxes()
        }
    }
}

impl Readers<Mask> {
    pub(crate) fn masks() -> Self {
        Self {
            record: Box::new(read::parse_mask_record),
            open: CocoStream::open_masks,
            documents: with_folders(
                of_coco(read::read_coco_mask_documents),
                read::read_yolo_masks,
            ),
            add_order: |_, _, _, _, _| {},
            federated: false,
            kind_of_texts: None,
        }
    }
}

impl Readers<Polygon> {
    /// Four-cornered shapes, which of all files only the texts of YOLO have.
    #[allow(
        clippy::result_large_err,
        reason = "readers of all shapes have this error"
    )]
    pub(crate) fn oriented() -> Self {
        const ONLY_TEXT: &str = "has no oriented boxes: expected a data set of YOLO, data.yaml or a folder of label files";
        Self {
            record: Box::new(|_, _, _, _| {
                Err(RecordError::Reference(ReadError::new("", ONLY_TEXT)))
            }),
            open: |_, _, _| None,
            documents: with_folders(
                of_coco(read::read_oriented_documents),
                read::read_yolo_polygons,
            ),
            add_order: |_, _, _, _, _| {},
            federated: false,
            kind_of_texts: None,
        }
    }
}

impl Readers<YoloShape> {
    /// Objects as Ultralytics compares them, of a kind if it is given, and else of the one that texts tell.
    /// Where only boxes are compared, those of segments and poses need no pixels.
    #[allow(
        clippy::result_large_err,
        reason = "readers of all shapes have this error"
    )]
    pub(crate) fn ultralytics(
        kind: Option<ObjectKind>,
        sigmas: Option<Sigmas>,
        boxes_only: bool,
    ) -> Self {
        let in_json = kind.unwrap_or_default();
        let of_records = sigmas.clone().unwrap_or_default();
        let of_files = of_records.clone();
        Self {
            record: Box::new(move |key, reference, prediction, classes| {
                let sides = (reference, prediction);
                read::parse_object_record(key, sides.0, sides.1, in_json, &of_records, classes)
            }),
            open: |_, _, _| None,
            documents: Box::new(move |data, options| match data.references.content {
                Content::Folder(_) => {
                    let options = options.boxes(data).with_strict(true);
                    let options = options.with_kind(kind).with_sigmas(sigmas.clone());
                    let options = options.with_boxes_only(boxes_only);
                    read::read_yolo_objects(&data.references, &data.predictions, &options)
                }
                _ => {
                    let (references, predictions) = (&data.references, &data.predictions);
                    let options = options.coco(data);
                    read::read_coco_objects(references, predictions, in_json, &of_files, options)
                }
            }),
            add_order: |_, _, _, _, _| {},
            federated: false,
            kind_of_texts: kind.filter(|kind| boxes_only && kind.as_boxes() != *kind),
        }
    }
}

/// The problem of a kind that only text files have.
fn of_texts(kind: ObjectKind) -> Message {
    let problem = Message::default().option("iou-type", &kind.to_string());
    problem.text(
        " is for folders of text files, of which boxes are compared as in Ultralytics; here there are boxes, and no masks or \
         keypoints are compared: remove the option",
    )
}

/// The reader of files and of folders.
fn with_folders<S: 'static>(
    files: Box<ReadDocuments<S>>,
    folders: ReadFolders<S>,
) -> Box<ReadDocuments<S>> {
    Box::new(move |data, options| match data.references.content {
        Content::Folder(_) => folders(&data.references, &data.predictions, &options.boxes(data)),
        _ => files(data, options),
    })
}

type ReadFolders<S> =
    fn(&Document, &Document, &BoxesOptions) -> Result<(Dataset<S>, Warnings), ReadError>;

impl Readers<Keypoints> {
    /// Keypoints that may be off by this much.
    #[allow(
        clippy::result_large_err,
        reason = "readers of all shapes have this error"
    )]
    pub(crate) fn keypoints(sigmas: Sigmas) -> Self {
        let same = sigmas.clone();
        Self {
            record: Box::new(move |key, reference, prediction, classes| {
                read::parse_keypoint_record(key, reference, prediction, &same, classes)
            }),
            open: |_, _, _| None,
            documents: of_coco(move |references, predictions, options| {
                read::read_coco_keypoint_documents(references, predictions, &sigmas, options)
            }),
            add_order: |_, _, _, _, _| {},
            federated: false,
            kind_of_texts: None,
        }
    }
}

type AddOrder<S> = fn(&mut OtherOrder, &[Prediction<S>], &Image<S>, Order, &ImageSizes);

/// The reader of COCO's files as a whole.
fn of_coco<S>(
    read: impl Fn(&Document, &Document, CocoOptions) -> Result<(Dataset<S>, Warnings), ReadError>
    + Send
    + Sync
    + 'static,
) -> Box<ReadDocuments<S>> {
    Box::new(move |data, options| read(&data.references, &data.predictions, options.coco(data)))
}

/// A reading of dataset files whose records are images.
pub(crate) trait ImageReading: Reading {
    /// The shape of an object.
    type Shape: Shape + Clone + Send + Sync;

    /// Whether an image has several examples.
    const HAS_PARTS: bool;

    fn files(&self) -> &ImageFiles<Self::Shape>;

    /// What images of these classes share.
    fn header(&self, classes: &[Class]) -> Self::Header;

    /// Refuses files that do not go with the options of the metric.
    fn accept(&self, _data: &DataSet) -> Result<(), ReadError> {
        Ok(())
    }

    /// Adds the examples of an image, or refuses one that would take minutes, or gigabytes of memory.
    fn add(
        &self,
        listing: &Listing,
        predictions: &[Prediction<Self::Shape>],
        image: &Image<Self::Shape>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), ReadError>
    where
        Self: Sized;
}

/// The classes of a data set.
pub(crate) struct Listing {
    pub(crate) classes: Vec<Class>,
    /// A name for each class.
    pub(crate) names: Vec<String>,
    /// Whether a list has any of them, and not only objects.
    pub(crate) has_list: bool,
    /// The name of the predictions.
    pub(crate) predictions: String,
}

/// Reads dataset files.
pub(crate) fn read_images<R: ImageReading>(
    reading: &R,
    mut data: DataSet,
    sink: &mut Sink<'_, R>,
) -> Result<(), DataSetError> {
    let files = reading.files();
    files.prepare(&mut data)?;
    reading.accept(&data)?;
    let is_whole = sink.needs_each() || R::HAS_PARTS && sink.wants_samples();
    if !is_whole && let Some(stream) = files.open(&data) {
        let order = Some(Order::Corners);
        let images = Images::new(reading, &data, stream.classes(), order);
        // Images are refused in their order, which is known once all are read.
        let fold = stream.fold(|part: &mut Part, index, predictions, image| {
            images.gather(part, index, predictions, image).ok()
        });
        if let Some(fold) = fold {
            images.put(fold.parts, Observations::of(fold.warnings), sink)?;
            return Ok(());
        }
    }
    let (dataset, warnings, selected) = files.read_selected(&mut data)?;
    selected.note(sink);
    let images = Images::new(
        reading,
        &data,
        dataset.classes(),
        files.order(&data.references),
    );
    // The texts are large, and done with.
    drop(data);
    let mut observations = Observations::of(warnings);
    let mut parts = Vec::new();
    if sink.wants_samples() {
        for (predictions, image) in dataset.examples(0..dataset.images().len()) {
            images.add(predictions, image, sink)?;
            images.observe(&mut observations, predictions, image);
        }
    } else {
        parts = dataset.fold(|part: &mut Part, index, predictions, image| {
            if part.refused.is_none() {
                let gathered = images.gather(part, index as u32, predictions, image);
                part.refused = gathered.err();
            }
        });
    }
    Ok(images.put(parts, observations, sink)?)
}

/// The images of a data set, which threads gather in parts.
struct Images<'i, R: ImageReading> {
    reading: &'i R,
    listing: Listing,
    header: R::Header,
    /// The other order in which the numbers of boxes may be.
    order: Option<Order>,
    plan: Arc<Plan>,
}

/// The data that a thread gathers.
#[derive(Default)]
struct Part {
    gathered: Option<Gathered>,
    observations: Observations,
    /// The first image that was refused.
    refused: Option<ReadError>,
}

impl<'i, R: ImageReading> Images<'i, R> {
    fn new(reading: &'i R, data: &DataSet, classes: &[Class], order: Option<Order>) -> Self {
        Self {
            reading,
            listing: Listing {
                classes: classes.to_vec(),
                names: class_names(classes),
                has_list: classes.iter().any(is_listed),
                predictions: data.predictions.name.clone(),
            },
            header: reading.header(classes),
            order,
            plan: Arc::clone(&data.plan),
        }
    }

    /// Adds an image, with what a report shows of it.
    fn add(
        &self,
        predictions: &[Prediction<R::Shape>],
        image: &Image<R::Shape>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), ReadError> {
        sink.record(&image.key);
        self.reading.add(&self.listing, predictions, image, sink)?;
        if sink.wants_inputs() {
            let [reference, prediction] = image_inputs(&self.listing.names, predictions, image);
            sink.inputs(reference, prediction);
        }
        Ok(())
    }

    /// Adds what is worth knowing of an image.
    fn observe(
        &self,
        observations: &mut Observations,
        predictions: &[Prediction<R::Shape>],
        image: &Image<R::Shape>,
    ) {
        let files = self.reading.files();
        let number = |class| number(&self.listing.classes.get(class as usize)?.key);
        let findings = &mut observations.findings;
        findings.add(predictions, image, files.rules, number);
        if let Some(order) = self.order {
            let counts = &mut observations.orders[order as usize];
            let sizes = &files.options.folders.sizes;
            (files.readers.add_order)(counts, predictions, image, order, sizes);
        }
    }

    /// Adds the image at an index to a part.
    fn gather(
        &self,
        part: &mut Part,
        index: u32,
        predictions: &[Prediction<R::Shape>],
        image: &Image<R::Shape>,
    ) -> Result<(), ReadError> {
        let gathered = part.gathered.get_or_insert_with(|| {
            let header = Box::new(self.header.clone());
            let mut gathered = Gathered::new(header, false, Arc::clone(&self.plan));
            // The files no longer exist when the worst are known.
            gathered.names_all |= self.plan.ranking.is_some();
            let ranking = self.plan.ranking.filter(|planned| planned.inputs);
            gathered.inputs = ranking.map(|_| WantedInputs::default());
            gathered
        });
        gathered.start_at(index as usize);
        self.add(predictions, image, &mut Sink::new(self.reading, gathered))?;
        self.observe(&mut part.observations, predictions, image);
        Ok(())
    }

    /// Puts the parts together, and notes what was observed.
    fn put(
        self,
        parts: Vec<Part>,
        mut observations: Observations,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), ReadError> {
        sink.share(Side::Reference, self.header)
            .map_err(|error| ReadError::new("", error.problem))?;
        for part in parts {
            part.refused.map_or(Ok(()), Err)?;
            observations.merge(&part.observations);
            let Some(gathered) = part.gathered else {
                continue;
            };
            sink.add(gathered.pool);
            if let Some(ranking) = gathered.ranking {
                sink.gathered.add_ranking(ranking);
            }
        }
        observations.note(sink);
        Ok(())
    }
}

/// The reader of files and records under the options of a metric.
pub(crate) struct ImageFiles<S> {
    readers: Readers<S>,
    options: FileOptions,
    rules: FindingRules,
    /// What needs boxes in pixels, worded to come before "pixels".
    needs_pixels: Option<Message>,
}

impl<S: Shape + Clone + Send + Sync> ImageFiles<S> {
    pub(crate) fn new(
        readers: Readers<S>,
        rules: FindingRules,
        needs_pixels: Option<Message>,
        options: &Options,
    ) -> Result<Self, OptionError> {
        let mut file_options = FileOptions {
            federated: readers.federated,
            ..FileOptions::new(options)?
        };
        file_options.folders.needs_pixels = needs_pixels.is_some();
        Ok(Self {
            readers,
            options: file_options,
            rules,
            needs_pixels,
        })
    }

    /// The options as parts of a signature.
    pub(crate) fn signature(&self) -> Named<String> {
        let by_file = self.options.by_file.then(|| "file_name".to_owned());
        let mut parts = self.options.of_folders();
        parts.extend(present([
            (IMAGE_KEY.name, by_file),
            (IMAGES_LIST.name, self.options.images_list.clone()),
            (
                SELECTION,
                (self.options.images_list.as_ref()).map(|_| OF_DATA.to_owned()),
            ),
        ]));
        parts
    }

    /// The parts of the signature that only the data tell.
    pub(crate) fn known_parts(&self, remarks: Remarks<'_>) -> Named<String> {
        let list = self.options.images_list.iter();
        list.map(|_| (SELECTION.to_owned(), Selected::known(remarks)))
            .collect()
    }

    /// Refuses records if only some images of a data set are to be scored.
    pub(crate) fn accept_records(&self) -> Result<(), FieldError> {
        if let Some(list) = &self.options.images_list {
            let problem = Message::default().option(IMAGES_LIST.name, list);
            let problem = problem.text(" goes with dataset files and folders, found records");
            return Err(FieldError::new(Side::Reference, problem));
        }
        let kind = self.readers.kind_of_texts;
        kind.map_or(Ok(()), |kind| {
            Err(FieldError::new(Side::Reference, of_texts(kind)))
        })
    }

    /// Parses a record of one image.
    pub(crate) fn parse(
        &self,
        image: Key,
        [reference, prediction]: [&str; 2],
        classes: &mut Classes,
    ) -> Result<(ImageRecord<S>, Observations), FieldError> {
        let record = (self.readers.record)(image, reference, prediction, classes);
        let record = record.map_err(|error| match error {
            RecordError::Reference(error) => FieldError::reference(error.to_string()),
            RecordError::Prediction(error) => FieldError::prediction(error.to_string()),
        })?;
        let keys = classes.keys();
        let number = |class: u32| number(keys.get(class as usize)?);
        let mut warnings = record.warnings().clone();
        if self.options.federated {
            // Crowds are objects like others, and ignored objects are part of the definition.
            warnings.remove(&Warning::MissingCrowd);
            warnings.remove(&Warning::IgnoredTruth);
        }
        let mut observations = Observations::of(warnings);
        let (found, image) = (record.predictions(), record.image());
        observations.findings.add(found, image, self.rules, number);
        Ok((record, observations))
    }

    /// Finds images by the names of their files, if results name them so, and refuses options that do not go with the
    /// files.
    fn prepare(&self, data: &mut DataSet) -> Result<(), ReadError> {
        let name = &data.references.name;
        let is_folder = matches!(data.references.content, Content::Folder(_));
        if self.options.by_file && !is_folder {
            data.predictions = with_image_ids(&data.references, &data.predictions)?;
        }
        if !is_folder {
            if let Some(kind) = self.readers.kind_of_texts {
                return Err(ReadError::new(name, of_texts(kind)));
            }
            let given = self.options.of_folders();
            return given.first().map_or(Ok(()), |(option, value)| {
                let problem = " is for folders of text files, found a file: remove the option";
                let problem = Message::default().option(option, value).text(problem);
                Err(ReadError::new(name, problem))
            });
        }
        let has_no_size = self.options.folders.sizes == ImageSizes::Unknown;
        match &self.needs_pixels {
            Some(need) if has_no_size && is_yolo(&data.references) => {
                let problem = Message::from("boxes are fractions of their image, and ")
                    .message(need)
                    .text(" pixels: expected ")
                    .option(IMAGE_SIZE.name, "")
                    .text(", such as 640x480");
                Err(ReadError::new(name, problem))
            }
            _ => Ok(()),
        }
    }

    /// Opens COCO's files to read them image by image. Returns `None` if they are to be read as a whole.
    fn open(&self, data: &DataSet) -> Option<CocoStream<S>> {
        if self.options.images_list.is_some() {
            return None;
        }
        let options = self.options.coco(data);
        (self.readers.open)(&data.references, &data.predictions, options)
    }

    /// Reads documents as a whole.
    fn read(&self, data: &DataSet) -> Result<(Dataset<S>, Warnings), ReadError> {
        let read = (self.readers.documents)(data, &self.options);
        read.map_err(|error| with_image_key(error, &data.references, &data.predictions))
    }

    /// Reads documents as a whole, and keeps the images that a list selects.
    fn read_selected(
        &self,
        data: &mut DataSet,
    ) -> Result<(Dataset<S>, Warnings, Selected), ReadError> {
        let Some(list) = data.file(IMAGES_LIST.name).cloned() else {
            let (dataset, warnings) = self.read(data)?;
            return Ok((dataset, warnings, Selected::default()));
        };
        // Whether an image is in no part of the data set is known of the whole.
        let shard = data.shard.take();
        let (dataset, warnings) = self.read(data)?;
        let images = dataset.images();
        let keys = images.iter().map(|image| &image.key);
        let selection = selected(&list, &data.references, keys)?;
        let is_held = |key: &Key| shard.is_none_or(|shard| shard.holds(&key.to_string()));
        let held = selection.iter().copied();
        let held: BTreeSet<usize> = held.filter(|&index| is_held(&images[index].key)).collect();
        let hash = |index: &usize| fnv1a64(images[*index].key.to_string().as_bytes()) >> 32;
        let mut counts = Selected {
            images: held.len() as u64,
            hashes: held.iter().map(hash).sum(),
            ..Selected::default()
        };
        // Each part reads the whole, of which the first one tells.
        let tells = shard.is_none_or(|shard| shard.index() == 0);
        if tells {
            let others = (0..images.len()).filter(|index| !selection.contains(index));
            let detections = others.map(|index| dataset.predictions(index).len() as u64);
            counts.of_images = images.len() as u64;
            counts.detections = detections.sum();
        }
        let dataset = dataset.with_images(|index, _| held.contains(&index));
        let warnings = if tells { warnings } else { Warnings::new() };
        Ok((dataset, warnings, counts))
    }

    /// The other order in which the numbers of boxes may be.
    fn order(&self, references: &Document) -> Option<Order> {
        match references.content {
            Content::Folder(_) if self.options.folders.columns.is_some() => None,
            Content::Folder(_) => is_yolo(references).then_some(Order::Yolo),
            _ => Some(Order::Corners),
        }
    }
}

/// The boxes of an image as data: objects with the name of the class and the corners, and those of predictions
/// with a score.
fn image_inputs<S: Shape>(
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
