//! Detections.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use metric_core::{Metric, NamedScores};
use metric_record::json::{self, Entries, typed};
use metric_record::{Document, FieldError, Kind, Message, Missing, ReadError, Record};
use metric_vision::matching::MOST_PAIRS;
use metric_vision::read::{
    BoxForm, BoxNumbers, CocoOptions, PolygonForm, RotatedForm, is_coco, parse_detection_boxes,
    parse_truth_boxes,
};
use metric_vision::{
    BBox, BoxFormat, Class, ClassTotals, Curve, Detection, DetectionProfile, DetectionScore,
    DetectionState, DetectionSweep, DetectionSweepParams, DetectionSweepScore, DetectionSweepState,
    Image, InvalidSweep, Key, Matching, Prediction, SweepItem, Truth, VERSION, by_class,
};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::fields::objects_by_id;
use crate::options::{comma_separated, finite};
use crate::reading::{Gathered, Pool};
use crate::vision::images::{
    BOX_STREAM, COLUMNS, CORNERS, FolderOptions, Gathered as Streamed, IMAGE_SIZE, OfClass,
    ReadBoxes, Streaming, class_names, curve_points, image_inputs, is_listed, lacking_classes,
    note_warnings, order_warning, read_boxes, tally_order, unknown_classes,
};
use crate::{
    Counted, DataSet, DataSetError, Entry, Input, Named, Numbers, OptionError, OptionKind,
    OptionSpec, Options, ReadDataSet, Reading, Remarks, Scope, ScoreSpec, Scorer, Sink, Weigher,
    never_whole, scorer,
};

pub(crate) const DETECTION: Entry = Entry {
    name: "detection",
    help: "Precision, recall and F1 of boxes under a matching rule that you choose",
    values: (
        "a list of boxes, or of {\"box\": [...], \"crowd\": true, \"ignore\": true}, of one image and class, with `class` and `image` next to it if known, or {class: [box]} of one image; or a COCO ground-truth file, or a folder of Pascal VOC's annotations (.xml) or of YOLO's labels (.txt)",
        "a list of boxes, or of {\"box\": [...], \"score\": s}; or {class: [...]}; or a COCO results file, or a folder of results (.txt)",
    ),
    options: &[
        OptionSpec {
            name: "profile",
            kind: OptionKind::Choice(|| {
                DetectionProfile::ALL
                    .iter()
                    .map(|choice| choice.name())
                    .collect()
            }),
            value: "PROFILE",
            default: DetectionProfile::OneToOne.name(),
            help: "Convention to follow",
        },
        OptionSpec {
            name: "matching",
            kind: OptionKind::Choice(|| Matching::ALL.iter().map(|choice| choice.name()).collect()),
            value: "RULE",
            default: "",
            help: "Matching rule, instead of the one of the profile",
        },
        OptionSpec {
            name: "iou",
            kind: OptionKind::List(&OptionKind::Number(0.0, 1.0)),
            value: "T,...",
            default: "0.5",
            help: "IoU threshold of a match. With several, scores have names like f1@0.5",
        },
        OptionSpec {
            name: "score-threshold",
            kind: OptionKind::List(&OptionKind::Number(f64::MIN, f64::MAX)),
            value: "S,...",
            default: "",
            help: "Leave out detections below this score. With several, scores have names like f1@0.5,0.3, with the IoU first [default: all]",
        },
        OptionSpec {
            name: "best-f1",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Also report the best F1 over all score thresholds (best_f1) and its threshold (best_f1_score). The precision-recall curve is in --details. For --matching greedy, voc or voc-strict",
        },
        OptionSpec {
            name: "box",
            kind: OptionKind::Choice(|| {
                let boxes = BoxFormat::ALL.iter().map(|choice| choice.name());
                boxes
                    .chain(["rotated", "rotated-degrees", "polygon"])
                    .collect()
            }),
            value: "FORMAT",
            default: BoxFormat::Xywh.name(),
            help: "Meaning of the numbers of a box, where rotated is [cx,cy,w,h,angle] and polygon [[x,y],...]",
        },
        OptionSpec {
            name: "groups",
            kind: OptionKind::List(&OptionKind::Choice(|| {
                vec!["class", "image", "both", "none"]
            })),
            value: "KIND,...",
            default: "class",
            help: "Tables in addition to the total: class, image, both, or none",
        },
        IMAGE_SIZE,
        COLUMNS,
    ],
    scores: &[
        ScoreSpec::higher("precision"),
        ScoreSpec::higher("recall"),
        ScoreSpec::higher("f1"),
        ScoreSpec::higher("macro_precision"),
        ScoreSpec::higher("macro_recall"),
        ScoreSpec::higher("macro_f1"),
        ScoreSpec::higher("best_f1"),
        ScoreSpec::neutral("best_f1_score"),
        ScoreSpec::higher("precision@").by("T"),
        ScoreSpec::higher("recall@").by("T"),
        ScoreSpec::higher("f1@").by("T"),
        ScoreSpec::higher("macro_precision@").by("T"),
        ScoreSpec::higher("macro_recall@").by("T"),
        ScoreSpec::higher("macro_f1@").by("T"),
        ScoreSpec::higher("best_f1@").by("T"),
        ScoreSpec::neutral("best_f1_score@").by("T"),
    ],
    groups: &["class", "image"],
    details: true,
    drawings: &[],
    report: crate::report::DETECTION,
    input: Input::Either(is_coco),
    whole_file: never_whole,
    state_format: 1,
    build: |options| match &*options.given("box") {
        "rotated" => Shapes(RotatedForm::Radians).scorer(options),
        "rotated-degrees" => Shapes(RotatedForm::Degrees).scorer(options),
        "polygon" => Shapes(PolygonForm).scorer(options),
        _ => options.require::<BoxFormat>("box")?.scorer(options),
    },
};

/// A form of boxes, with the metric that takes them.
trait Form: BoxForm + Sized + Send + Sync + 'static {
    /// Builds the metric of this definition.
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep<Self::Shape>, InvalidSweep>;

    /// The reader of the files of a data set image by image, if they have these shapes.
    fn streaming(&self) -> Option<Streaming<Self::Shape>> {
        None
    }

    /// Reads dataset files, which only axis-aligned boxes have.
    fn read_data_set(
        &self,
        data: &DataSet,
        _folders: &FolderOptions,
    ) -> Result<ReadBoxes<Self::Shape>, DataSetError> {
        let problem = Message::default()
            .option("box", self.name())
            .text(" goes with records: expected .jsonl or .json");
        Err(ReadError::new(&data.references.name, problem).into())
    }

    fn scorer(self, options: &Options) -> Result<Box<dyn Scorer>, OptionError> {
        let reading = Boxes::new(self, options)?;
        Ok(scorer("detection", VERSION, reading))
    }
}

impl Form for BoxFormat {
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep, InvalidSweep> {
        DetectionSweep::new(params)
    }

    fn streaming(&self) -> Option<Streaming<BBox>> {
        (*self == Self::default()).then_some(BOX_STREAM)
    }

    // These files say what their numbers are.
    fn read_data_set(
        &self,
        data: &DataSet,
        folders: &FolderOptions,
    ) -> Result<ReadBoxes, DataSetError> {
        if *self != Self::default() {
            let problem = Message::default()
                .option("box", "")
                .text(" goes with records: these files say what their boxes are");
            return Err(ReadError::new(&data.references.name, problem).into());
        }
        read_boxes(data, folders)
    }
}

/// A form of shapes other than axis-aligned boxes.
struct Shapes<F>(F);

impl<F: BoxForm> BoxForm for Shapes<F> {
    type Shape = F::Shape;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn read(&self, numbers: &BoxNumbers) -> Result<F::Shape, String> {
        self.0.read(numbers)
    }
}

impl<F: BoxForm + Send + Sync + 'static> Form for Shapes<F> {
    fn sweep(params: DetectionSweepParams) -> Result<DetectionSweep<F::Shape>, InvalidSweep> {
        DetectionSweep::of_shapes(params)
    }
}

struct Boxes<F: Form> {
    metric: DetectionSweep<F::Shape>,
    form: F,
    by_class: bool,
    by_image: bool,
    folders: FolderOptions,
    /// Whether details are compact.
    compact: bool,
    /// The ends of the names of the scores, by pair of thresholds.
    suffixes: Vec<String>,
}

/// The note of predicted classes that are left out.
fn extra_classes() -> Counted {
    Counted::new(
        "predicted class is not asked for in its image and was left out",
        "predicted classes are not asked for in their images and were left out",
    )
}

/// The tally of images whose classes are those that occur in the data set.
const UNLISTED: &str = "images without a list of classes";

impl<F: Form> Boxes<F> {
    fn new(form: F, options: &Options) -> Result<Self, OptionError> {
        let groups = options.given("groups");
        let mut by = [false; 2];
        for group in groups.split(',').map(str::trim) {
            match group {
                "class" => by[0] = true,
                "image" => by[1] = true,
                "both" => by = [true; 2],
                "none" | "" => {}
                other => {
                    let reason = format!("{other:?}: expected class, image, both or none");
                    return Err(OptionError::new("groups", &groups, reason));
                }
            }
        }
        let profile: DetectionProfile = options.require("profile")?;
        let ious = options.list("iou", "a number", finite)?;
        let params = DetectionSweepParams::default()
            .with_profile(profile)
            .with_matching(options.parse("matching")?)
            .with_iou_thresholds(ious.clone())
            .with_score_thresholds(options.list("score-threshold", "a number", finite)?)
            .with_best_f1(options.has("best-f1"));
        let invalid = |error: InvalidSweep| match error {
            InvalidSweep::Profile(_) => {
                let reason = "the profile is for axis-aligned boxes";
                OptionError::new("profile", profile.name(), reason)
            }
            InvalidSweep::BestF1 => {
                let reason = "the matching rule must use scores: greedy, voc or voc-strict";
                OptionError::new("best-f1", &options.given("best-f1"), reason)
            }
            InvalidSweep::Threshold(error) => {
                let out_of_range = ious.iter().find(|&&iou| !(iou > 0.0 && iou <= 1.0));
                let given = out_of_range.map_or_else(String::new, f64::to_string);
                OptionError::new("iou", &given, error.to_string())
            }
            InvalidSweep::NoThreshold => OptionError::new("iou", "", "a value is needed"),
            error => OptionError::new("score-threshold", "", error.to_string()),
        };
        let metric = F::sweep(params).map_err(invalid)?;
        Ok(Self {
            suffixes: suffixes(metric.params()),
            metric,
            form,
            by_class: by[0],
            by_image: by[1],
            folders: FolderOptions::new(options)?,
            compact: options.compact_details(),
        })
    }
}

/// The ends of the names of the scores, by pair of thresholds: empty if there is one pair.
fn suffixes(params: &DetectionSweepParams) -> Vec<String> {
    let (ious, scores) = (&params.iou_thresholds, &params.score_thresholds);
    let of_iou = |&iou: &f64| -> Vec<String> {
        match (scores.as_slice(), ious.len()) {
            ([] | [_], 1) => vec![String::new()],
            ([] | [_], _) => vec![format!("@{iou}")],
            (scores, _) => scores
                .iter()
                .map(|score| format!("@{iou},{score}"))
                .collect(),
        }
    };
    ious.iter().flat_map(of_iou).collect()
}

impl<F: Form> Reading for Boxes<F> {
    type Metric = DetectionSweep<F::Shape>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    /// F1 at the first threshold: an image without detections has no precision.
    fn ranking_score(&self) -> Option<String> {
        let first = self.suffixes.first();
        first.map(|suffix| format!("f1{suffix}"))
    }

    fn further_fields(&self) -> Vec<String> {
        let wanted = [("class", self.by_class), ("image", self.by_image)];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(name, _)| name.to_owned()).collect()
    }

    fn signature(&self) -> Named<String> {
        let DetectionSweepParams {
            profile,
            iou_thresholds,
            score_thresholds,
            best_f1,
            ..
        } = self.metric.params();
        let matching = self.metric.matching();
        let scores = (!score_thresholds.is_empty()).then(|| comma_separated(score_thresholds));
        [
            ("profile", Some(profile.to_string())),
            ("matching", matching.map(|rule| rule.to_string())),
            ("iou", Some(comma_separated(iou_thresholds))),
            ("score-threshold", scores),
            ("best-f1", best_f1.then(|| "yes".to_owned())),
            ("box", Some(self.form.name().to_owned())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .chain(self.folders.parts())
        .collect()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        match record.reference.kind() {
            Kind::Object => self.read_image(record, sink),
            Kind::Line => {
                let json = record.reference.to_json_or("[]");
                let json = json.map_err(FieldError::reference)?;
                match json::kind(&json) {
                    Kind::Object => self.read_image(record, sink),
                    _ => self.read_item(record, sink),
                }
            }
            _ => self.read_item(record, sink),
        }
    }

    /// `precision`, `recall` and `f1` at each pair of thresholds; `macro_precision` and so on where two
    /// classes or more are known; `best_f1` and `best_f1_score` at each IoU threshold on request.
    fn numbers(&self, state: &DetectionSweepState, (): &(), scope: Scope<'_>) -> Numbers {
        let score = self.metric.compute(state);
        let points = || self.suffixes.iter().zip(score.points());
        let mut scores = Vec::new();
        let mut add = |prefix: &str, suffix: &str, score: DetectionScore| {
            for (name, value) in score.named_scores() {
                scores.push((format!("{prefix}{name}{suffix}"), value));
            }
        };
        for (suffix, point) in points() {
            add("", suffix, point.score);
        }
        if state.classes().len() > 1 {
            for (suffix, point) in points() {
                if let Some(average) = point.macro_average {
                    add("macro_", suffix, average);
                }
            }
        }
        if self.metric.params().best_f1 {
            let ious = &self.metric.params().iou_thresholds;
            for (index, iou) in ious.iter().enumerate() {
                let suffix = match ious.len() {
                    1 => String::new(),
                    _ => format!("@{iou}"),
                };
                let best = score.curve(index).and_then(Curve::best_f1);
                let f1 = best.and_then(|best| best.counts.f1());
                scores.push((format!("best_f1{suffix}"), f1));
                scores.push((
                    format!("best_f1_score{suffix}"),
                    best.map(|best| best.score),
                ));
            }
        }
        Numbers {
            scores,
            counts: self.counts(state, &score),
            warnings: match scope {
                Scope::Total => warnings(&score),
                _ => Vec::new(),
            },
            ..Numbers::default()
        }
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s DetectionSweepState],
        (): &'s (),
    ) -> Option<Weigher<'s>> {
        // Counts alone are merged faster where examples have the same.
        if !self.metric.params().best_f1 {
            return None;
        }
        let merge = DetectionSweepState::weighted(states);
        Some(Box::new(move |weights, scope| {
            self.numbers(&merge(weights), &(), scope)
        }))
    }

    fn further_warnings(
        &self,
        state: &DetectionSweepState,
        (): &(),
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let is_listed = remarks.tally(UNLISTED) == 0;
        let of_class = |(class, totals): (&Key, ClassTotals)| OfClass {
            name: class.to_string(),
            is_listed,
            totals,
        };
        let classes: Vec<OfClass> = state.class_totals().map(of_class).collect();
        let mut warnings = lacking_classes(&classes, remarks.times(&unknown_classes()));
        warnings.extend(order_warning(remarks));
        warnings
    }

    /// With the best F1 also the curves that it is on: one point per distinct score.
    fn details(&self, state: &DetectionSweepState, (): &()) -> Option<serde_json::Value> {
        let params = self.metric.params();
        if !params.best_f1 {
            return None;
        }
        let score = self.metric.compute(state);
        let curve = |(index, iou): (usize, &f64)| {
            let curve = score.curve(index);
            let points = curve.map_or_else(Vec::new, |curve| curve_points(curve, self.compact));
            json!({"iou": iou, "points": points})
        };
        let ious = params.iou_thresholds.iter().enumerate();
        let curves: Vec<_> = ious.map(curve).collect();
        Some(json!({ "precision_recall": curves }))
    }

    /// A record of one image and class without boxes, or of an image without a box in any class.
    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let reference = record
            .reference
            .clone()
            .to_json_or("[]")
            .unwrap_or_default();
        match typed::<Entries<'_>>(&reference) {
            Ok(classes) => classes.0.iter().all(|(_, boxes)| is_empty_list(boxes)),
            Err(_) => is_empty_list(&reference),
        }
    }

    fn examples_in(&self, record: &mut Record<'_>) -> u64 {
        let reference = record.reference.to_json_or("[]").unwrap_or_default();
        match typed::<Entries<'_>>(&reference) {
            Ok(classes) => classes.0.len() as u64,
            Err(_) => 1,
        }
    }

    fn scores_empty_data(&self) -> bool {
        is_fusion_brain(self.metric.params().profile)
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }
}

/// Whether JSON is a list without items.
fn is_empty_list(json: &str) -> bool {
    typed::<[IgnoredAny; 0]>(json).is_ok()
}

fn warnings(score: &DetectionSweepScore) -> Vec<Message> {
    let most = |count: fn(&DetectionState) -> u64| {
        let counts = score.points().iter().map(|point| count(&point.state));
        counts.max().unwrap_or(0)
    };
    let repeated = |predictions: &str| {
        let rest = "as correct on a ground-truth box that another prediction has already";
        Message::from(format!("{predictions} {rest}; "))
            .option("profile", "one-to-one")
            .text(" counts each box once")
    };
    let repeated = Counted::new(repeated("prediction counts"), repeated("predictions count"));
    let rest = "an IoU of exactly the threshold, which the text leaves undefined, and";
    let undecided = Counted::new(
        format!("prediction has {rest} counts neither as correct nor as incorrect"),
        format!("predictions have {rest} count neither as correct nor as incorrect"),
    );
    let counts = [
        (most(|counts| counts.repeated), repeated),
        (most(|counts| counts.undecided), undecided),
    ];
    Counted::warnings(counts).collect()
}

fn is_fusion_brain(profile: DetectionProfile) -> bool {
    matches!(
        profile,
        DetectionProfile::FusionBrain2021 | DetectionProfile::FusionBrainBaseline
    )
}

impl<F: Form> ReadDataSet<Self> for Boxes<F> {
    fn fields(&self, references: &Document) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(references, &["images"], "id")
    }

    /// An image is a record, a class of it an example.
    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        if self.stream(&data, sink).is_some() {
            return Ok(());
        }
        let ReadBoxes {
            dataset,
            warnings,
            order,
        } = self.form.read_data_set(&data, &self.folders)?;
        for (predictions, image) in dataset.examples(0..dataset.images().len()) {
            // Nearly all images have far fewer boxes.
            if predictions.len().saturating_mul(image.annotations.len()) <= MOST_PAIRS {
                continue;
            }
            let mut checked = Ok(());
            by_class(predictions, image, |index, detections, truths| {
                if checked.is_ok() {
                    let class = dataset.classes().get(index as usize);
                    let class = class.map_or_else(String::new, |class| class.key.to_string());
                    checked = self
                        .check_size(detections, truths)
                        .map_err(|error| (class, error));
                }
            });
            checked.map_err(|(class, error)| {
                let item = format!("image {}: class {class}", image.key);
                let error = ReadError::new(&data.predictions.name, error).at(item);
                error.limit()
            })?;
        }
        drop(data);
        tally_order(sink, &order);
        let images = Images {
            boxes: self,
            classes: dataset.classes(),
            names: class_names(dataset.classes()),
        };
        if !dataset.classes().iter().any(is_listed) {
            sink.tally(UNLISTED, dataset.images().len() as u64);
        }
        if sink.wants_samples() {
            for (predictions, image) in dataset.examples(0..dataset.images().len()) {
                sink.record(&image.key);
                images.add(predictions, image, sink);
                if sink.wants_inputs() {
                    let [reference, prediction] = image_inputs(&images.names, predictions, image);
                    sink.inputs(reference, prediction);
                }
            }
        } else {
            sink.add(dataset.measure(&images));
        }
        note_warnings(sink, &warnings);
        Ok(())
    }
}

impl<F: Form> Boxes<F> {
    /// Adds the images of COCO's files while these are read. Returns `None`, and has added nothing, if the files
    /// are to be read as a whole.
    fn stream(&self, data: &DataSet, sink: &mut Sink<'_, Self>) -> Option<()> {
        let streaming = self
            .form
            .streaming()
            .filter(|_| self.folders.columns.is_none())?;
        if sink.wants_samples() {
            return None;
        }
        let options = CocoOptions::default()
            .with_ignore_unknown_images(data.join.ignore_extra)
            .with_quirks(false)
            .with_shard(data.shard);
        let stream = (streaming.open)(&data.references, &data.predictions, options)?;
        let classes = stream.classes().to_vec();
        let count = stream.images() as u64;
        let images = Images {
            boxes: self,
            classes: &classes,
            names: class_names(&classes),
        };
        let fold = stream.fold(|part: &mut Streamed<_>, _, predictions, image| {
            let pairs = predictions.len().saturating_mul(image.annotations.len());
            (pairs <= MOST_PAIRS).then_some(())?;
            if let Some(count) = streaming.count {
                count(&mut part.order, predictions, image);
            }
            images.update(&mut part.state, predictions, image);
            Some(())
        })?;
        let Streamed {
            state: pool, order, ..
        } = Streamed::sum(fold.parts);
        tally_order(sink, &streaming.count.map(|_| (CORNERS, order)));
        if !classes.iter().any(is_listed) {
            sink.tally(UNLISTED, count);
        }
        sink.add(pool);
        note_warnings(sink, &fold.warnings);
        Some(())
    }
}

/// The metric of whole images, so that a data set can be measured on several threads.
struct Images<'a, F: Form> {
    boxes: &'a Boxes<F>,
    classes: &'a [Class],
    /// The names of the classes.
    names: Vec<String>,
}

impl<F: Form> Images<'_, F> {
    /// Adds an image, each class of which is an example.
    fn add(
        &self,
        predictions: &[Prediction<F::Shape>],
        image: &Image<F::Shape>,
        sink: &mut Sink<'_, Boxes<F>>,
    ) {
        let key = image.key.to_string();
        by_class(predictions, image, |index, detections, truths| {
            let class = self.classes.get(index as usize);
            let name = self.names.get(index as usize);
            let Some((class, name)) = class.zip(name) else {
                return;
            };
            let item = SweepItem {
                class: Some(class.key.clone()),
                truths: truths.to_vec(),
            };
            let groups = self.boxes.groups(Some(name), Some(&key));
            sink.part(Some(name), &groups, detections, &item);
        });
    }
}

impl<F: Form> Metric for Images<'_, F> {
    type Prediction = [Prediction<F::Shape>];
    type Reference = Image<F::Shape>;
    type State = Pool<DetectionSweepState>;
    type Score = ();

    fn update(
        &self,
        state: &mut Pool<DetectionSweepState>,
        prediction: &[Prediction<F::Shape>],
        reference: &Image<F::Shape>,
    ) {
        let mut gathered = Gathered::new((), false, Arc::default());
        std::mem::swap(state, &mut gathered.pool);
        let mut sink = Sink::new(self.boxes, &mut gathered);
        self.add(prediction, reference, &mut sink);
        std::mem::swap(state, &mut gathered.pool);
    }

    fn compute(&self, _state: &Pool<DetectionSweepState>) {}
}

impl<F: Form> Boxes<F> {
    fn counts(
        &self,
        state: &DetectionSweepState,
        score: &DetectionSweepScore,
    ) -> Named<serde_json::Value> {
        let mut counts = Vec::new();
        for (suffix, point) in self.suffixes.iter().zip(score.points()) {
            let item = &point.state;
            let mut add = |name: &str, count: u64| {
                counts.push((format!("{name}{suffix}"), json!(count)));
            };
            add("tp", item.counts.true_positives);
            add("fp", item.counts.false_positives);
            add("fn", item.counts.false_negatives);
            add("repeated", item.repeated);
            if self.metric.params().profile == DetectionProfile::SeedText {
                add("undecided", item.undecided);
            }
            if state.uncounted() > 0 {
                add("ignored", item.ignored);
            }
        }
        counts
    }

    /// One image and class.
    fn read_item(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let reference = record.reference.to_json_or("[]");
        let truths = reference.and_then(|json| self.truths(&json));
        let truths = truths.map_err(FieldError::reference)?;
        let prediction = record.prediction.to_json_or("[]");
        let prediction = prediction.map_err(FieldError::prediction)?;
        let detections = self
            .detections(&prediction)
            .map_err(FieldError::prediction)?;
        let outside = if self.by_class || self.by_image {
            json::fields(record.fields, &["class", "image"]).map_err(FieldError::reference)?
        } else {
            Entries::default()
        };
        let field = |wanted: bool, field| {
            if wanted {
                outside.name(field).map_err(FieldError::reference)
            } else {
                Ok(None)
            }
        };
        let class = field(self.by_class, "class")?;
        let image = field(self.by_image, "image")?;
        let groups = self.groups(class.as_deref(), image.as_deref());
        self.check_size(&detections, &truths)
            .map_err(|error| FieldError::prediction(error).limit())?;
        let item = SweepItem {
            class: class.as_deref().map(Key::from),
            truths,
        };
        sink.part(None, &groups, &detections, &item);
        Ok(())
    }

    /// One image with its classes, each of which is an example.
    fn read_image(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let reference = record.reference.to_json_or("{}");
        let reference = reference.map_err(FieldError::reference)?;
        let truth: Entries<'_> = typed(&reference).map_err(FieldError::reference)?;
        let is_missing = record.prediction.is_missing();
        let prediction = record.prediction.to_json_or("{}");
        let prediction = prediction.map_err(FieldError::prediction)?;
        let predicted: Entries<'_> = typed(&prediction).map_err(FieldError::prediction)?;
        let predictions: HashMap<&str, &str> = predicted
            .0
            .iter()
            .map(|(class, boxes)| (&**class, *boxes))
            .collect();
        let image = record.id.to_string();
        // The challenge's programs insist on an answer to each question.
        let fusion_brain = is_fusion_brain(self.metric.params().profile);
        let missing = if fusion_brain {
            Missing::Error
        } else {
            record.join.missing
        };
        for (class, boxes) in &truth.0 {
            let about =
                |message: Message| Message::from(format!("class {class:?}: ")).message(&message);
            let detections = match (predictions.get(&**class), missing) {
                (Some(detections), _) => self
                    .detections(detections)
                    .map_err(|problem| FieldError::prediction(about(problem)))?,
                (None, Missing::Error) => {
                    return Err(FieldError::prediction(format!(
                        "no prediction for the class {class:?}: expected one for each class of the reference, [] for none"
                    )));
                }
                (None, policy) => {
                    sink.missing(u64::from(!is_missing));
                    match policy {
                        Missing::Skip => continue,
                        _ => Vec::new(),
                    }
                }
            };
            let truths = self
                .truths(boxes)
                .map_err(|problem| FieldError::reference(about(problem.into())))?;
            self.check_size(&detections, &truths)
                .map_err(|error| FieldError::prediction(about(error)).limit())?;
            let groups = self.groups(Some(class), Some(&image));
            let item = SweepItem {
                class: Some(Key::from(&**class)),
                truths,
            };
            sink.part(Some(class), &groups, &detections, &item);
        }
        let asked: HashSet<&str> = truth.0.iter().map(|(class, _)| &**class).collect();
        let extra: Vec<_> = predicted
            .0
            .iter()
            .filter(|(class, _)| !asked.contains(&**class))
            .collect();
        // The challenge's programs look at no class that is not asked for.
        let ignored = record.join.ignore_extra || fusion_brain;
        match extra.first() {
            Some((class, _)) if !ignored => {
                let problem = format!(
                    "the class {class:?} is not in the reference; to leave such classes out, use "
                );
                let problem = Message::from(problem).option("extra", "ignore");
                Err(FieldError::prediction(problem))
            }
            _ => {
                for (class, _) in &extra {
                    sink.count_name(&extra_classes(), class, 1);
                }
                Ok(())
            }
        }
    }

    fn groups<'a>(
        &self,
        class: Option<&'a str>,
        image: Option<&'a str>,
    ) -> Vec<(&'static str, &'a str)> {
        [
            ("class", class.filter(|_| self.by_class)),
            ("image", image.filter(|_| self.by_image)),
        ]
        .into_iter()
        .filter_map(|(kind, group)| Some((kind, group?)))
        .collect()
    }

    /// Refuses an item that would take minutes, or gigabytes of memory.
    fn check_size(
        &self,
        detections: &[Detection<F::Shape>],
        truths: &[Truth<F::Shape>],
    ) -> Result<(), Message> {
        let rule = self.metric.matching().unwrap_or_default();
        let checked = rule.check_size(detections, truths);
        checked.map_err(|error| {
            let message = Message::from(error.to_string());
            match rule {
                Matching::OptimalSum => message
                    .text("; ")
                    .option("matching", Matching::Optimal.name())
                    .text(" has no such limit for boxes"),
                _ => message,
            }
        })
    }

    fn truths(&self, json: &str) -> Result<Vec<Truth<F::Shape>>, String> {
        parse_truth_boxes(json, &self.form).map_err(|error| error.to_string())
    }

    fn detections(&self, json: &str) -> Result<Vec<Detection<F::Shape>>, Message> {
        let detections =
            parse_detection_boxes(json, &self.form).map_err(|error| error.to_string())?;
        if self.metric.needs_scores()
            && let Some(index) = detections.iter().position(|found| found.score.is_none())
        {
            return Err(Message::from(format!("box {index} has no score: "))
                .option("score-threshold", "")
                .text(" and ")
                .option("best-f1", "")
                .text(" need it"));
        }
        Ok(detections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use metric_record::Value;

    fn scorer(options: &[(&str, &str)]) -> Result<Box<dyn Scorer>, OptionError> {
        let chosen = options
            .iter()
            .fold(Options::default(), |chosen, (name, value)| {
                chosen.set(name, *value)
            });
        DETECTION.scorer(&chosen)
    }

    /// Reads records of a reference and a prediction, each into a state of its own.
    fn report(options: &[(&str, &str)], records: &[[&str; 2]]) -> Result<Report, String> {
        let scorer = scorer(options).map_err(|error| error.to_string())?;
        let mut total = scorer.start();
        for [reference, prediction] in records {
            let record = Record::new("1", Value::json(prediction), Value::json(reference));
            let mut state = scorer.start();
            state
                .update(&*scorer, &mut [record])
                .map_err(|error| error.to_string())?;
            let body = state.body().map_err(|error| error.to_string())?;
            let state = scorer
                .read_state(&body)
                .map_err(|error| error.to_string())?;
            total.merge(&state).map_err(|error| error.to_string())?;
        }
        Ok(total.report())
    }

    #[track_caller]
    fn check(options: &[(&str, &str)], records: &[[&str; 2]], expected: &[(&str, Option<f64>)]) {
        let report = report(options, records).expect("a report");
        for (name, expected) in expected {
            let found = report.scores.iter().find(|(score, _)| score == name);
            assert_eq!(found.map(|(_, value)| *value), Some(*expected), "{name}");
        }
    }

    const IMAGE: [&str; 2] = [
        r#"{"cat": [[0,0,10,10], [50,0,10,10]], "dog": [[0,0,10,10]]}"#,
        r#"{"cat": [{"box": [0,0,10,6], "score": 0.9}, {"box": [90,0,1,1], "score": 0.5}], "dog": [{"box": [0,0,10,10], "score": 0.4}]}"#,
    ];

    #[test]
    fn several_thresholds_and_cuts() {
        let f1 = Some(4.0 / 6.0);
        check(&[], &[IMAGE], &[("f1", f1)]);
        check(
            &[("score-threshold", "0.45")],
            &[IMAGE],
            &[("f1", Some(2.0 / 5.0))],
        );
        check(
            &[("iou", "0.5,0.75")],
            &[IMAGE],
            &[("f1@0.5", f1), ("f1@0.75", Some(2.0 / 6.0))],
        );
        check(
            &[("iou", "0.5,0.75"), ("score-threshold", "0.5")],
            &[IMAGE],
            &[("recall@0.5", Some(1.0 / 3.0)), ("recall@0.75", Some(0.0))],
        );
        check(
            &[("score-threshold", "0.5,0")],
            &[IMAGE],
            &[
                ("recall@0.5,0.5", Some(1.0 / 3.0)),
                ("recall@0.5,0", Some(2.0 / 3.0)),
            ],
        );
    }

    #[test]
    fn classes_and_the_best_f1() {
        // Cats have 1 of 2 found with 1 of 2 right, dogs all.
        check(
            &[],
            &[IMAGE],
            &[
                ("macro_precision", Some(0.75)),
                ("macro_recall", Some(0.75)),
                ("macro_f1", Some(0.75)),
            ],
        );
        let one = report(&[], &[["[[0,0,1,1]]", "[[0,0,1,1]]"]]).expect("a report");
        assert_eq!(one.scores.len(), 3);
        let best = [("best-f1", ""), ("matching", "greedy")];
        check(
            &best,
            &[IMAGE],
            &[("best_f1", Some(4.0 / 6.0)), ("best_f1_score", Some(0.4))],
        );
        check(&best, &[], &[("best_f1", None), ("best_f1_score", None)]);
        assert!(scorer(&best[..1]).is_err_and(|error| error.option == "best-f1"));
        let no_score = report(&best, &[["[]", "[[0,0,1,1]]"]]);
        assert!(no_score.is_err_and(|error| error.contains("box 0 has no score")));
    }

    #[test]
    fn lists_that_are_none() {
        for (option, value) in [
            ("iou", "0.5,1.5"),
            ("iou", "0.5,0.5"),
            ("iou", "0.5,"),
            ("score-threshold", "high"),
            ("score-threshold", "nan"),
        ] {
            assert!(scorer(&[(option, value)]).is_err_and(|error| error.option == option));
        }
    }

    #[test]
    fn truths_that_do_not_count() {
        let truth = r#"[[0,0,9,9], {"box": [50,0,9,9], "crowd": 1}, {"box": [90,0,9,9], "difficult": true}]"#;
        let found = "[[50,0,9,9], [50,0,9,8], [90,0,9,9], [200,0,9,9]]";
        let counts = report(&[], &[[truth, found]]).expect("a report").counts;
        let count = |name: &str| counts.iter().find(|(count, _)| count == name);
        for (name, expected) in [("tp", 0), ("fp", 1), ("fn", 1), ("ignored", 3)] {
            assert_eq!(
                count(name).map(|(_, value)| value.as_u64()),
                Some(Some(expected))
            );
        }
        let odd = report(&[], &[[r#"[{"box": [0,0,1,1], "crowd": 2}]"#, "[]"]]);
        assert!(odd.is_err_and(|error| error.contains("true, false, 1 or 0")));
    }

    #[test]
    fn other_shapes() {
        let full = [("precision", Some(1.0)), ("recall", Some(1.0))];
        // A square turned by a right angle is itself.
        check(
            &[("box", "rotated-degrees"), ("iou", "0.99")],
            &[["[[5,5,4,4,0]]", "[[5,5,4,4,90]]"]],
            &full,
        );
        let diamond = "[[[0,2],[2,0],[4,2],[2,4]]]";
        check(&[("box", "polygon")], &[[diamond, diamond]], &full);
        check(
            &[("box", "polygon")],
            &[[diamond, r#"[{"box": [0,2,2,0,4,2,2,4]}]"#]],
            &full,
        );
        for (form, value, problem) in [
            ("rotated", "[[0,0,1,1]]", "box 0 has 4 numbers: expected 5"),
            (
                "polygon",
                "[[[0,0],[1,1],[2]]]",
                "expected points of two numbers",
            ),
            (
                "polygon",
                "[[0,0,1,1,2,0,1]]",
                "box 0 has 7 numbers: expected pairs",
            ),
            (
                "xyxy",
                "[[[0,0],[1,1]]]",
                "box 0 is a list of points: expected 4 numbers",
            ),
            (
                "xywh",
                "[[0,0,1,1], []]",
                "box 1 is empty: expected 4 numbers",
            ),
        ] {
            let error = report(&[("box", form)], &[[value, "[]"]]).expect_err("no shape");
            assert!(error.contains(problem), "{error}");
        }
        let program = scorer(&[("box", "rotated"), ("profile", "fusion-brain-2021")]);
        assert!(program.is_err_and(|error| error.option == "profile"));
    }
}
