//! COCO's average precision.

use std::collections::BTreeMap;

use metric_core::Metric;
use metric_record::{Content, Document, FieldError, Message, ReadError, Record};
use metric_vision::read::{self, CocoOptions, CocoStream, FindingRules, Warnings};
use metric_vision::{
    AreaRange, BBox, Class, CocoAp, CocoCurves, CocoParams, CocoSlice, CocoState, CocoWeights,
    Dataset, DynMetric, Keypoints, Mask, Shape, Sigmas, VERSION,
};
use serde_json::{Value, json};

use crate::fields::objects_by_id;
use crate::options::{comma_separated, finite};
use crate::vision::findings::Definition;
use crate::vision::image_key::{IMAGE_KEY, with_image_key};
use crate::vision::images::{
    BOX_STREAM, BoxOrder, COLUMNS, ClassList, FolderOptions, IMAGE_SIZE, ImageReading, OTHER_SIZE,
    ParseRecord, ReadBoxes, Streaming, ZERO_ID, add_images, class_names, coco_options, corners,
    curve_points, image_warnings, is_empty_image, read_boxes, read_image, renumber_classes,
    stream_images, tally_order,
};
use crate::{
    Counted, DataSet, DataSetError, Demo, Entry, Group, Input, Named, Numbers, Objects,
    OptionError, OptionKind, OptionSpec, ReadDataSet, Reading, Remarks, Scope, ScoreSpec, Sink,
    Weigher,
};

pub(crate) const COCO: Entry = Entry {
    name: "coco",
    help: "COCO's average precision and recall of boxes, masks or keypoints, matching pycocotools 2.0.11 (except for the errors under --quirks)",
    values: (
        "a COCO ground-truth file with images, categories and annotations, a folder of Pascal VOC annotations (.xml) or of YOLO labels (.txt), or one image per record: a list of its annotations, or {\"width\", \"height\", \"annotations\": [...]}",
        "a COCO results file: a list of detections (or JSON Lines), each with image_id, category_id, score, and one of bbox, segmentation and keypoints; a folder of results (.txt); or one image per record: a list of its detections",
    ),
    known_as: &[
        (&["map", "ap", "average-precision", "mean-average-precision", "detection-map"],
            "for mean average precision, use coco (AP, as COCO computes it) or voc (mAP, as Pascal VOC computes it)"),
        (&["keypoints", "oks"], "it is coco with --iou-type keypoints"),
    ],
    demos: &[
        Demo::new("COCO detections", ["coco-truth.json", "coco-results.json"], &["AP", "AP50", "AR_100"]),
    ],
    options: &[
        OptionSpec::one_of("iou-type", "TYPE", || vec!["bbox", "segm", "keypoints"],
            "Shapes to compare: boxes, masks or keypoints").or("bbox"),
        OptionSpec::list(SIGMAS, "S,...", &OptionKind::Number(0.0, 1e6),
            "With --iou-type keypoints: tolerance of each keypoint, instead of COCO's sigmas of the 17 keypoints of a person"),
        OptionSpec::list("iou", "T,...", &OptionKind::Number(0.0, 1.0),
            "IoU thresholds, instead of 0.50,0.55,...,0.95"),
        OptionSpec::list("recalls", "R,...", &OptionKind::Number(0.0, 1.0),
            "Recall values at which precision is sampled, instead of 0,0.01,...,1"),
        OptionSpec::list("areas", "NAME:FROM:TO,...", &OptionKind::Text,
            "Area ranges in square pixels, both bounds included, instead of small:0:1024,medium:1024:9216,large:9216:1e10 (for keypoints, without small)"),
        OptionSpec::list("max-detections", "N,...", &OptionKind::Integer(1, u32::MAX as i64),
            "Maximum numbers of detections per image and class, instead of 1,10,100 (for keypoints, 20)"),
        IMAGE_KEY,
        IMAGE_SIZE,
        COLUMNS,
        OptionSpec::flag("class-agnostic", "Treat all objects as one class"),
        OptionSpec::one_of("quirks", "PROGRAM", || vec!["none", "pycocotools"],
            "Reproduce the known errors of a program. They affect annotations with the id 0, a repeated id or the field ignore, masks that differ in size from their image, polygons of an odd number of values, and AP if 100 is not in --max-detections").or("none"),
        OptionSpec::one_of("groups", "KIND", || vec!["none", "class"],
            "Tables in addition to the total. With --class-agnostic there is no table of classes").or("none"),
    ],
    scores: &[
        ScoreSpec::higher("AP"),
        ScoreSpec::higher("AP").by("T"),
        ScoreSpec::higher("AP_").by("AREA"),
        ScoreSpec::higher("AR_").by("N"),
        ScoreSpec::higher("AR"),
        ScoreSpec::higher("AR").by("T"),
    ],
    groups: &["class"],
    details: true,
    report: in_report!(vision { sections: coco, example: example }, has_images: true),
    input: Input::Documents,
    objects: |options| match options.get("iou-type").as_deref() {
        None | Some("bbox") => Some(Objects::Boxes),
        Some("segm") => Some(Objects::Masks),
        _ => None,
    },
    build: &|options| {
        let iou_type = options.given("iou-type");
        let mut params = match iou_type.as_str() {
            "keypoints" => CocoParams::keypoints(),
            _ => CocoParams::default(),
        }
        .with_by_class(!options.has("class-agnostic"))
        .with_quirks(options.is("quirks", "pycocotools"));
        let mut signature = vec![("iou-type".to_owned(), iou_type.clone())];
        let mut changed = |name: &str, value: String| signature.push((name.to_owned(), value));
        let sigmas = options.sequence(SIGMAS, "a positive number", finite)?;
        if !sigmas.is_empty() {
            changed(SIGMAS, comma_separated(&sigmas));
        }
        let thresholds = options.list("iou", "a number", finite)?;
        if !thresholds.is_empty() {
            changed("iou", comma_separated(&thresholds));
            params.iou_thresholds = thresholds;
        }
        let recalls = options.list("recalls", "a number", finite)?;
        if !recalls.is_empty() {
            changed("recalls", comma_separated(&recalls));
            params.recall_thresholds = recalls;
        }
        let areas = options.list("areas", "NAME:FROM:TO with FROM no more than TO", area)?;
        if !areas.is_empty() {
            let areas_text =
                |area: &AreaRange| format!("{}:{}:{}", area.name, area.least, area.greatest);
            let texts: Vec<String> = areas.iter().map(areas_text).collect();
            changed("areas", comma_separated(&texts));
            params.areas.truncate(1);
            params.areas.extend(areas);
        }
        let most = options.list("max-detections", "a whole number", |text| text.parse().ok())?;
        if !most.is_empty() {
            changed("max-detections", comma_separated(&most));
            params.max_detections = most;
        }
        if !params.by_class {
            changed("class-agnostic", "yes".to_owned());
        }
        if params.quirks {
            changed("quirks", "pycocotools".to_owned());
        }
        let folders = FolderOptions::new(options)?;
        for (name, value) in folders.parts() {
            changed(&name, value);
        }
        if let Some((name, value)) = folders.image_key() {
            changed(&name, value);
        }
        let by_class = options.is("groups", "class");
        let of_keypoints = iou_type == "keypoints";
        if !of_keypoints && !sigmas.is_empty() {
            let problem = Message::from("is for ").option("iou-type", "keypoints");
            return Err(OptionError::new(SIGMAS, "", problem));
        }
        let switches = [by_class, options.compact_details()];
        match iou_type.as_str() {
            "segm" => scorer(params, signature, switches, folders, masks()),
            "keypoints" => scorer(params, signature, switches, folders, keypoints(sigmas)?),
            _ => scorer(params, signature, switches, folders, boxes()),
        }
    },
    ..Entry::BASE
};

const SIGMAS: &str = "oks-sigmas";

fn area(text: &str) -> Option<AreaRange> {
    let (name, bounds) = text.split_once(':')?;
    let (least, greatest) = bounds.split_once(':')?;
    // An upper bound may be infinite.
    let least: f64 = least.parse().ok()?;
    let greatest: f64 = greatest.parse().ok()?;
    (!name.is_empty() && least <= greatest).then(|| AreaRange::new(name, least, greatest))
}

/// The way in which references and predictions become a data set.
type ReadDocuments<S> = Box<
    dyn Fn(&Document, &Document, CocoOptions) -> Result<(Dataset<S>, Warnings), ReadError>
        + Send
        + Sync,
>;

/// The readers for the files and the records of a shape.
struct Reader<S: Shape> {
    documents: ReadDocuments<S>,
    record: Box<ParseRecord<S>>,
    /// The metric as a trait object, which is compiled with its crate.
    metric: fn(&CocoAp<S>) -> &DynMetric<CocoAp<S>>,
    /// The reader of files image by image, if there is one.
    streaming: Option<Streaming<S>>,
    order: fn(&Dataset<S>) -> BoxOrder,
    /// The readers of folders in other formats, for the shapes that they hold.
    folders: Option<ReadFolders<S>>,
}

type ReadFolders<S> = fn(&DataSet, &FolderOptions) -> Result<ReadBoxes<S>, DataSetError>;

fn boxes() -> Reader<BBox> {
    Reader {
        documents: Box::new(read::read_coco_documents),
        record: Box::new(read::parse_record),
        metric: AsRef::as_ref,
        streaming: Some(BOX_STREAM),
        order: corners,
        folders: Some(read_boxes),
    }
}

fn masks() -> Reader<Mask> {
    Reader {
        documents: Box::new(read::read_coco_mask_documents),
        record: Box::new(read::parse_mask_record),
        metric: AsRef::as_ref,
        streaming: Some(Streaming {
            open: CocoStream::open_masks,
            count: None,
        }),
        order: |_| None,
        folders: None,
    }
}

/// The reader of keypoints that may be off by this much; COCO's of a person if there are no numbers.
#[allow(
    clippy::result_large_err,
    reason = "readers of all shapes have this error"
)]
fn keypoints(sigmas: Vec<f64>) -> Result<Reader<Keypoints>, OptionError> {
    let sigmas = if sigmas.is_empty() {
        Sigmas::default()
    } else {
        Sigmas::new(sigmas).map_err(|error| OptionError::new(SIGMAS, "", error.to_string()))?
    };
    let same = sigmas.clone();
    Ok(Reader {
        documents: Box::new(move |references, predictions, options| {
            read::read_coco_keypoint_documents(references, predictions, &sigmas, options)
        }),
        record: Box::new(move |key, reference, prediction, classes| {
            read::parse_keypoint_record(key, reference, prediction, &same, classes)
        }),
        metric: AsRef::as_ref,
        streaming: None,
        order: |_| None,
        folders: None,
    })
}

fn scorer<S: Shape + Clone + Send + Sync + 'static>(
    params: CocoParams,
    signature: Named<String>,
    [by_class, compact]: [bool; 2],
    folders: FolderOptions,
    read: Reader<S>,
) -> Result<crate::Scorer, OptionError> {
    let metric = CocoAp::new(params).map_err(|error| {
        let option = match error {
            metric_vision::InvalidCocoParams::RecallThreshold(_) => "recalls",
            metric_vision::InvalidCocoParams::Area(_)
            | metric_vision::InvalidCocoParams::AreaName(_)
            | metric_vision::InvalidCocoParams::TooManyAreas(_) => "areas",
            metric_vision::InvalidCocoParams::MaxDetections(_) => "max-detections",
            _ => "iou",
        };
        OptionError::new(option, "", error.to_string())
    })?;
    let reading = Coco {
        metric,
        signature,
        by_class,
        compact,
        folders,
        read,
    };
    Ok(crate::scorer("coco", VERSION, reading))
}

struct Coco<S: Shape> {
    metric: CocoAp<S>,
    signature: Named<String>,
    by_class: bool,
    /// Whether details are compact.
    compact: bool,
    /// The sizes of the images of YOLO's folders.
    folders: FolderOptions,
    read: Reader<S>,
}

impl<S: Shape> Coco<S> {
    /// Summaries of the arrays: the mean curve over classes of each IoU threshold, then that of all thresholds, and the
    /// counts of all classes by score.
    fn curves(&self, curves: &CocoCurves, state: &CocoState) -> serde_json::Map<String, Value> {
        let params = self.metric.params();
        let curve = |index: Option<usize>| {
            let slice = CocoSlice {
                iou_threshold: index,
                ..CocoSlice::default()
            };
            let points = params
                .recall_thresholds
                .iter()
                .zip(curves.precisions(slice));
            let points =
                points.map(|(recall, precision)| json!({"recall": recall, "precision": precision}));
            json!({
                "iou": index.and_then(|index| params.iou_thresholds.get(index)),
                "average_precision": curves.average_precision(slice),
                "points": points.collect::<Vec<_>>(),
            })
        };
        let indices = (0..params.iou_thresholds.len()).map(Some).chain([None]);
        let by_recall: Vec<_> = indices.map(curve).collect();
        let half = params.iou_thresholds.iter().position(|&iou| iou == 0.5);
        let index = half.unwrap_or(0);
        let by_score = json!({
            "iou": params.iou_thresholds.get(index),
            "points": curve_points(&state.curve(params, index), true),
        });
        [
            ("precision_recall", json!(by_recall)),
            ("by_score", by_score),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
    }

    /// The numbers of a state that has these curves.
    fn all_numbers(
        &self,
        curves: &CocoCurves,
        state: &CocoState,
        classes: &[Class],
        scope: Scope<'_>,
    ) -> Numbers {
        let mut numbers = self.of_curves(curves, classes, scope);
        let detections = json!(state.detections());
        numbers.counts.push(("detections".to_owned(), detections));
        numbers
    }

    /// The details of a state that has these curves.
    fn details_of(
        &self,
        curves: &CocoCurves,
        state: &CocoState,
        classes: &[Class],
    ) -> Option<Value> {
        let params = self.metric.params();
        let count = if params.by_class { classes.len() } else { 1 };
        let mut details = self.curves(curves, state);
        if self.compact {
            return Some(details.into());
        }
        let arrays = curves.arrays(count)?;
        let areas: Vec<_> = params
            .areas
            .iter()
            .map(|area| json!({"name": area.name, "range": [area.least, area.greatest]}))
            .collect();
        let keys: Vec<_> = classes.iter().map(|class| &class.key).collect();
        let arrays = json!({
            "shape": arrays.shape,
            "axes": ["iou_thresholds", "recall_thresholds", "classes", "areas", "max_detections"],
            "iou_thresholds": params.iou_thresholds,
            "recall_thresholds": params.recall_thresholds,
            "classes": if params.by_class { json!(keys) } else { json!([null]) },
            "areas": areas,
            "max_detections": params.max_detections,
            "precision": arrays.precision,
            "recall": arrays.recall,
            "scores": arrays.scores,
        });
        if let Value::Object(arrays) = arrays {
            details.extend(arrays);
        }
        Some(details.into())
    }

    /// The numbers that curves have, those of classes as well if they are requested.
    fn of_curves(&self, curves: &CocoCurves, classes: &[Class], scope: Scope<'_>) -> Numbers {
        let truths = json!(curves.truths(CocoSlice::default()));
        let mut numbers = Numbers {
            scores: curves.summary(None),
            counts: vec![("truths".to_owned(), truths)],
            ..Numbers::default()
        };
        if scope == Scope::Total && self.by_class && self.metric.params().by_class {
            let named = (0..).zip(classes).zip(class_names(classes));
            let groups = named.map(|((index, class), name): ((u32, &Class), String)| {
                let slice = CocoSlice {
                    class: Some(index),
                    ..CocoSlice::default()
                };
                Group {
                    name,
                    scores: curves.summary(Some(index)),
                    counts: vec![
                        ("category_id".to_owned(), json!(class.key)),
                        ("truths".to_owned(), json!(curves.truths(slice))),
                    ],
                }
            });
            numbers.groups.push(("class".to_owned(), groups.collect()));
        }
        numbers
    }
}

impl<S: Shape + Clone + Send + Sync + 'static> ImageReading<S> for Coco<S> {
    fn finding_rules(&self) -> FindingRules {
        let params = self.metric.params();
        FindingRules::default()
            .with_max_detections(params.max_detections.iter().max().copied())
            .with_max_by_class(params.by_class)
            .with_by_class(params.by_class)
    }
}

impl<S: Shape + Clone + Send + Sync + 'static> Reading for Coco<S> {
    type Metric = DynMetric<CocoAp<S>>;
    type Header = ClassList;

    fn metric(&self) -> &Self::Metric {
        (self.read.metric)(&self.metric)
    }

    fn signature(&self) -> Named<String> {
        self.signature.clone()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        read_image(record, sink, &*self.read.record)
    }

    fn renumber(&self, state: &mut CocoState, indices: &[u32]) {
        renumber_classes(state, indices);
    }

    fn numbers(
        &self,
        state: &CocoState,
        ClassList(classes): &ClassList,
        scope: Scope<'_>,
    ) -> Numbers {
        self.all_numbers(&self.metric.compute(state), state, classes, scope)
    }

    fn numbers_with_details(
        &self,
        state: &CocoState,
        ClassList(classes): &ClassList,
        _: Remarks<'_>,
    ) -> (Numbers, Option<Value>) {
        let curves = self.metric.compute(state);
        let numbers = self.all_numbers(&curves, state, classes, Scope::Total);
        (numbers, self.details_of(&curves, state, classes))
    }

    fn example_score(&self, state: &CocoState, _: &ClassList, name: &str) -> Option<f64> {
        match name {
            "AP" => self.metric.average_precision(state),
            _ => {
                let summary = self.metric.compute(state).summary(None);
                summary.into_iter().find(|(score, _)| score == name)?.1
            }
        }
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s CocoState],
        ClassList(classes): &'s ClassList,
    ) -> Option<Weigher<'s>> {
        let weights = CocoWeights::new(&self.metric, states);
        Some(Box::new(move |images, scope| {
            self.of_curves(&weights.curves(images), classes, scope)
        }))
    }

    fn details(
        &self,
        state: &CocoState,
        ClassList(classes): &ClassList,
        _: Remarks<'_>,
    ) -> Option<serde_json::Value> {
        self.details_of(&self.metric.compute(state), state, classes)
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        is_empty_image(record)
    }

    fn further_warnings(
        &self,
        state: &CocoState,
        classes: &ClassList,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let definition = Definition {
            has_quirks: true,
            ..Definition::new("recall and average precision are undefined")
        };
        let mut warnings = image_warnings(classes, state, remarks, definition);
        let zero = remarks.tally(ZERO_ID);
        if zero > 0 && !self.metric.params().quirks {
            let what = Counted::new(
                "object of the ground truth has the id 0, which pycocotools never counts as found; to get its numbers, use ",
                "objects of the ground truth have the id 0, which pycocotools never counts as found; to get its numbers, use ",
            );
            warnings.push(what.warning(zero).option("quirks", "pycocotools"));
        }
        let sizes = remarks.tally(OTHER_SIZE);
        if sizes > 0 {
            let what = Counted::new(
                "mask is not of the size of its image; it overlaps only masks of its own size",
                "masks are not of the size of their images; they overlap only masks of their own size",
            );
            warnings.push(what.warning(sizes));
        }
        warnings
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }
}

impl<S: Shape + Clone + Send + Sync + 'static> Coco<S> {
    /// Reads folders of Pascal VOC or YOLO. Area ranges need pixels.
    fn read_folders(
        &self,
        read: ReadFolders<S>,
        data: DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), DataSetError> {
        if self.folders.has_fractions(&data.references) {
            let problem = Message::from(
                "boxes are fractions of their image, and area ranges need pixels: expected ",
            )
            .option(IMAGE_SIZE.name, "")
            .text(", such as 640x480");
            return Err(ReadError::new(&data.references.name, problem).into());
        }
        let boxes = read(&data, &self.folders)?;
        drop(data);
        tally_order(sink, &boxes.order);
        add_images(&boxes.dataset, &boxes.warnings, sink)
    }
}

impl<S: Shape + Clone + Send + Sync + 'static> ReadDataSet<Self> for Coco<S> {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["images"], "id")
    }

    fn read_data_set(
        &self,
        mut data: DataSet,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), DataSetError> {
        self.folders.find_images(&mut data)?;
        if let (Some(read), Content::Folder(_)) = (self.read.folders, &data.references.content) {
            return self.read_folders(read, data, sink);
        }
        self.folders.check_use(&data)?;
        let quirks = self.metric.params().quirks;
        if let Some(streaming) = &self.read.streaming
            && stream_images(&data, quirks, streaming, sink).is_some()
        {
            return Ok(());
        }
        let options = coco_options(&data, quirks);
        let read = (self.read.documents)(&data.references, &data.predictions, options);
        let (dataset, warnings) =
            read.map_err(|error| with_image_key(error, &data.references, &data.predictions))?;
        // The texts are large, and done with.
        drop(data);
        tally_order(sink, &(self.read.order)(&dataset));
        add_images(&dataset, &warnings, sink)
    }
}
