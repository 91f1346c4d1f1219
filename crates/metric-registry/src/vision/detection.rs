//! Detections.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use metric_core::{Counts, Merge, Metric};
use metric_vision::read::{ImageSizes, Warnings};
use metric_vision::{
    BBox, BoxFormat, Dataset, Detection, DetectionScore, DetectionState, Detections, Image,
    Matching, Polygon, Prediction, Profile, RotatedBox, ScoreHistogram, Shape, Truth, VERSION,
    by_class, macro_average,
};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::json;

use crate::vision::images::{IMAGE_SIZE, class_names, image_size, is_coco, read_boxes, size_part};
use crate::options::{finite, listed};
use metric_record::json::{beside, json, kind, name, typed};
use crate::scorer::{Adapter, Pool, noted};
use crate::{
    Document, DocumentError, Entries, Entry, FieldError, Input, JoinPolicy, Missing, Named, Notes,
    OptionError, OptionSpec, Options, Reading, Record, Scorer, Sink, Value, never_whole,
};

pub(crate) const DETECTION: Entry = Entry {
    name: "detection",
    help: "Precision, recall and F1 of boxes under a named matching rule",
    values: (
        "a list of boxes, or of {\"box\": [...], \"crowd\": true, \"ignore\": true}, of one image and class (`class` and `image` may stand beside it), or {class: [box]} of one image; or a COCO ground-truth file, or a folder of Pascal VOC's annotations (.xml) or of YOLO's labels (.txt)",
        "a list of boxes, or of {\"box\": [...], \"score\": s}; or {class: [...]}; or a COCO results file, or a folder of results (.txt)",
    ),
    options: &[
        OptionSpec {
            name: "profile",
            kind: OptionKind::Choice(|| Profile::ALL.iter().map(|choice| choice.name()).collect()),
    value: "PROFILE",
            default: Profile::OneToOne.name(),
            help: "Whose rules",
        },
        OptionSpec {
            name: "matching",
            kind: OptionKind::Choice(|| Matching::ALL.iter().map(|choice| choice.name()).collect()),
    value: "RULE",
            default: "",
            help: "The matching rule, in place of the profile's",
        },
        OptionSpec {
            name: "iou",
            kind: OptionKind::List(&OptionKind::Number(0.0, 1.0)),
            value: "T,...",
            default: "0.5",
            help: "The IoU from which two boxes match; of several, scores are named like f1@0.5",
        },
        OptionSpec {
            name: "score-threshold",
            kind: OptionKind::List(&OptionKind::Number(f64::MIN, f64::MAX)),
            value: "S,...",
            default: "",
            help: "Only detections with a score of at least this; of several, scores are named like f1@0.5,0.3, the IoU first [default: all]",
        },
        OptionSpec {
            name: "best-f1",
            kind: OptionKind::Flag,
            value: "",
            default: "",
            help: "Also the best F1 from any score on, and that score: best_f1, best_f1_score; and the precision-recall curve in --details (with --matching greedy, voc or voc-strict)",
        },
        OptionSpec {
            name: "box",
            kind: OptionKind::Choice(|| {
                let boxes = BoxFormat::ALL.iter().map(|choice| choice.name());
                boxes.chain([ROTATED, DEGREES, POLYGON]).collect()
            }),
    value: "FORMAT",
            default: BoxFormat::Xywh.name(),
            help: "What the numbers of a box are; rotated is [cx,cy,w,h,angle], polygon [[x,y],...]",
        },
        OptionSpec {
            name: "groups",
            kind: OptionKind::List(&OptionKind::Choice(|| vec!["class", "image", "both", "none"])),
            value: "KIND,...",
            default: "class",
            help: "Tables beside the total: class, image, both, or none",
        },
        IMAGE_SIZE,
    ],
    input: Input::Either(is_coco),
    whole_file: never_whole,
    build: |options| {
        let name = options.get("box").unwrap_or_default();
        match name {
            ROTATED | DEGREES => Rotated(name == DEGREES).scorer(options),
            POLYGON => Ring.scorer(options),
            _ => options.require::<BoxFormat>("box")?.scorer(options),
        }
    },
};

const ROTATED: &str = "rotated";
const DEGREES: &str = "rotated-degrees";
const POLYGON: &str = "polygon";

/// What a box is in a file.
trait Form: Sized + Send + Sync + 'static {
    type Shape: Shape + Clone + PartialEq + Send + Sync;

    /// The value of the option.
    fn name(&self) -> &'static str;

    /// The shape, or what is wrong after "box 3".
    fn read(&self, numbers: &Numbers) -> Result<Self::Shape, String>;

    /// The metric of a profile, with another matching rule if one is given.
    fn metric(
        profile: Profile,
        matching: Option<Matching>,
        iou: f64,
    ) -> Result<Detections<Self::Shape>, OptionError>;

    /// Reads whole files, of which there are such only for axis-aligned boxes.
    fn read_documents(
        &self,
        references: &Document,
        _predictions: &Document,
        _join: JoinPolicy,
        _sizes: &ImageSizes,
    ) -> Result<(Dataset<Self::Shape>, Warnings), DocumentError> {
        let name = &references.name;
        let form = self.name();
        Err(DocumentError(format!(
            "{name}: --box {form} goes with records: expected .jsonl or .json"
        )))
    }

    fn scorer(self, options: &Options) -> Result<Box<dyn Scorer>, OptionError> {
        let reading = Boxes::new(self, options)?;
        Ok(Adapter::boxed("detection", VERSION, reading))
    }
}

fn out_of_range(iou: f64, reason: impl fmt::Display) -> OptionError {
    OptionError::new("iou", &iou.to_string(), reason.to_string())
}

impl Form for BoxFormat {
    type Shape = BBox;

    fn name(&self) -> &'static str {
        BoxFormat::name(*self)
    }

    fn read(&self, numbers: &Numbers) -> Result<BBox, String> {
        BoxFormat::read(*self, numbers.exactly()?).map_err(|error| format!(": {error}"))
    }

    // These files say what their numbers are.
    fn read_documents(
        &self,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
        sizes: &ImageSizes,
    ) -> Result<(Dataset, Warnings), DocumentError> {
        if *self != Self::default() {
            let name = &references.name;
            let problem = "--box goes with records: these files say what their boxes are";
            return Err(DocumentError(format!("{name}: {problem}")));
        }
        read_boxes(references, predictions, join, sizes)
            .map_err(|error| DocumentError(error.to_string()))
    }

    fn metric(
        profile: Profile,
        matching: Option<Matching>,
        iou: f64,
    ) -> Result<Detections, OptionError> {
        let metric = Detections::new(profile, iou).map_err(|error| out_of_range(iou, error))?;
        Ok(match matching {
            Some(matching) => metric.with_matching(matching),
            None => metric,
        })
    }
}

/// The metric of shapes that only the first profile is for.
fn of_shapes<S: Shape + Clone + PartialEq>(
    profile: Profile,
    matching: Option<Matching>,
    iou: f64,
) -> Result<Detections<S>, OptionError> {
    if profile != Profile::OneToOne {
        let reason = "the profile is for axis-aligned boxes".to_owned();
        return Err(OptionError::new("profile", profile.name(), reason));
    }
    Detections::of_shapes(matching.unwrap_or_default(), iou)
        .map_err(|error| out_of_range(iou, error))
}

/// Rotated boxes, by whether their angle is in degrees.
struct Rotated(bool);

impl Form for Rotated {
    type Shape = RotatedBox;

    fn name(&self) -> &'static str {
        if self.0 { DEGREES } else { ROTATED }
    }

    fn read(&self, numbers: &Numbers) -> Result<RotatedBox, String> {
        let [cx, cy, width, height, angle] = numbers.exactly()?;
        let read = if self.0 {
            RotatedBox::from_degrees
        } else {
            RotatedBox::new
        };
        read([cx, cy, width, height], angle).map_err(|error| format!(": {error}"))
    }

    fn metric(
        profile: Profile,
        matching: Option<Matching>,
        iou: f64,
    ) -> Result<Detections<RotatedBox>, OptionError> {
        of_shapes(profile, matching, iou)
    }
}

/// Polygons of one ring.
struct Ring;

impl Form for Ring {
    type Shape = Polygon;

    fn name(&self) -> &'static str {
        POLYGON
    }

    fn read(&self, numbers: &Numbers) -> Result<Polygon, String> {
        Polygon::new(numbers.points()?).map_err(|error| format!(": {error}"))
    }

    fn metric(
        profile: Profile,
        matching: Option<Matching>,
        iou: f64,
    ) -> Result<Detections<Polygon>, OptionError> {
        of_shapes(profile, matching, iou)
    }
}

/// Precision, recall and F1 at several IoUs and score cuts.
struct Table<S> {
    profile: Profile,
    matching: Option<Matching>,
    /// By IoU, and for each by cut.
    settings: Vec<Setting<S>>,
    /// The IoUs, with what the names of their scores end in.
    ious: Vec<(f64, String)>,
    /// The rule that goes by score, where the best F1 is wanted.
    best: Option<Matching>,
}

struct Setting<S> {
    metric: Detections<S>,
    cut: Option<f64>,
    /// What the names of its scores end in.
    suffix: String,
}

impl<S> Table<S> {
    /// Whether a detection needs a score.
    fn goes_by_score(&self) -> bool {
        self.best.is_some() || self.settings.iter().any(|setting| setting.cut.is_some())
    }

    /// Whether the missed boxes are those that no detection was matched with, so that a class with
    /// truths can be told by its counts.
    fn is_one_to_one(&self) -> bool {
        self.profile == Profile::OneToOne && self.matching != Some(Matching::AnyOverlap)
    }
}

/// The truths of an image and class.
struct Item<S> {
    /// Its place among the classes, where they have an order, and its name.
    class: Option<(u32, String)>,
    truths: Vec<Truth<S>>,
}

/// The evidence of a [`Table`].
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
struct TableState {
    /// By setting.
    items: Vec<DetectionState>,
    /// Truths that do not count.
    uncounted: u64,
    /// By IoU, where the best F1 is wanted.
    histograms: Vec<ScoreHistogram>,
    /// Of each known class, by setting. The order matters to the last bit of a mean.
    #[serde(with = "pairs")]
    classes: BTreeMap<(u32, String), Vec<Counts>>,
}

mod pairs {
    //! A map as a list of pairs, since its keys are no text.

    use std::collections::BTreeMap;

    use metric_core::Counts;
    use serde::{Deserialize, Deserializer, Serializer};

    type Classes = BTreeMap<(u32, String), Vec<Counts>>;

    pub(crate) fn serialize<S: Serializer>(classes: &Classes, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(classes)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Classes, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

impl TableState {
    fn item(&self, setting: usize) -> DetectionState {
        self.items.get(setting).copied().unwrap_or_default()
    }
}

impl Merge for TableState {
    fn merge(&mut self, other: Self) {
        fn each<S: Merge>(mine: &mut Vec<S>, theirs: Vec<S>) {
            mine.resize_with(mine.len().max(theirs.len()), S::default);
            mine.iter_mut()
                .zip(theirs)
                .for_each(|(mine, theirs)| mine.merge(theirs));
        }
        each(&mut self.items, other.items);
        self.uncounted += other.uncounted;
        each(&mut self.histograms, other.histograms);
        for (class, counts) in other.classes {
            each(self.classes.entry(class).or_default(), counts);
        }
    }
}

impl<S: Shape + Clone> Metric for Table<S> {
    type Prediction = [Detection<S>];
    type Reference = Item<S>;
    type State = TableState;
    type Score = ();

    fn update(&self, state: &mut TableState, prediction: &[Detection<S>], reference: &Item<S>) {
        let truths = &reference.truths;
        let measure = |setting: &Setting<S>| match setting.cut {
            None => setting.metric.measure(prediction, truths),
            Some(cut) => {
                let kept = prediction.iter().filter(|found| found.score >= Some(cut));
                setting
                    .metric
                    .measure(&kept.cloned().collect::<Vec<_>>(), truths)
            }
        };
        let histogram = |matching: Matching, &(iou, _): &(f64, String)| {
            let matches = matching.matches(prediction, truths, iou);
            let mut histogram = ScoreHistogram::default();
            histogram.record(&matches, prediction, truths);
            histogram
        };
        let items: Vec<DetectionState> = self.settings.iter().map(measure).collect();
        let counts = |class: &(u32, String)| {
            let counts = items.iter().map(|item| item.counts).collect();
            (class.clone(), counts)
        };
        state.merge(TableState {
            classes: reference.class.iter().map(counts).collect(),
            uncounted: truths.iter().filter(|truth| !truth.is_counted()).count() as u64,
            histograms: match self.best {
                Some(matching) => self
                    .ious
                    .iter()
                    .map(|iou| histogram(matching, iou))
                    .collect(),
                None => Vec::new(),
            },
            items,
        });
    }

    fn compute(&self, _state: &TableState) {}
}

struct Boxes<F: Form> {
    metric: Table<F::Shape>,
    form: F,
    by_class: bool,
    by_image: bool,
    sizes: ImageSizes,
    /// The lists of the options, as they stand in the signature.
    iou: String,
    cuts: Option<String>,
}

const EXTRA_CLASSES: &str = "a predicted class is not asked for in its image and was left out";

impl<F: Form> Boxes<F> {
    fn new(form: F, options: &Options) -> Result<Self, OptionError> {
        let groups = options.get("groups").unwrap_or_default();
        let mut by = [false; 2];
        for group in groups.split(',').map(str::trim) {
            match group {
                "class" => by[0] = true,
                "image" => by[1] = true,
                "both" => by = [true; 2],
                "none" | "" => {}
                other => {
                    let reason = format!("{other:?}: expected class, image, both or none");
                    return Err(OptionError::new("groups", groups, reason));
                }
            }
        }
        let profile: Profile = options.require("profile")?;
        let matching: Option<Matching> = options.parse("matching")?;
        let ious = options.list("iou", "a number", finite)?;
        let cuts = options.list("score-threshold", "a number", finite)?;
        let mut settings = Vec::new();
        for &iou in &ious {
            let metric = F::metric(profile, matching, iou)?;
            let mut add = |cut, suffix| {
                settings.push(Setting {
                    metric: metric.clone(),
                    cut,
                    suffix,
                });
            };
            match (cuts.as_slice(), ious.len()) {
                ([], 1) => add(None, String::new()),
                ([], _) => add(None, format!("@{iou}")),
                ([cut], 1) => add(Some(*cut), String::new()),
                ([cut], _) => add(Some(*cut), format!("@{iou}")),
                (cuts, _) => cuts
                    .iter()
                    .for_each(|cut| add(Some(*cut), format!("@{iou},{cut}"))),
            }
        }
        let Some(matching) = settings.first().map(|setting| setting.metric.matching()) else {
            return Err(OptionError::new("iou", "", "a value is needed".to_owned()));
        };
        let best = match options.get("best-f1") {
            None => None,
            Some(value) => match matching {
                Some(matching) if matching.goes_by_score() => Some(matching),
                _ => {
                    let reason =
                        "the matching rule must go by score: greedy, voc or voc-strict".to_owned();
                    return Err(OptionError::new("best-f1", value, reason));
                }
            },
        };
        let suffix = |iou: f64| match ious.len() {
            1 => String::new(),
            _ => format!("@{iou}"),
        };
        Ok(Self {
            metric: Table {
                profile,
                matching,
                settings,
                ious: ious.iter().map(|&iou| (iou, suffix(iou))).collect(),
                best,
            },
            form,
            by_class: by[0],
            by_image: by[1],
            sizes: image_size(options)?,
            iou: listed(&ious),
            cuts: (!cuts.is_empty()).then(|| listed(&cuts)),
        })
    }
}

impl<F: Form> Reading for Boxes<F> {
    type Metric = Table<F::Shape>;

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let Table {
            profile,
            matching,
            best,
            ..
        } = &self.metric;
        [
            ("profile", Some(profile.to_string())),
            ("matching", matching.map(|rule| rule.to_string())),
            ("iou", Some(self.iou.clone())),
            ("score-threshold", self.cuts.clone()),
            ("best-f1", best.map(|_| "yes".to_owned())),
            ("box", Some(self.form.name().to_owned())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .chain(size_part(&self.sizes))
        .collect()
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), FieldError> {
        let reference = json(record.reference, "[]");
        if kind(reference) == "an object" {
            self.read_image(record, reference, sink)
        } else {
            self.read_item(record, reference, sink)
        }
    }

    /// An image is a record, a class of it an example.
    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        join: JoinPolicy,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), DocumentError> {
        let form = &self.form;
        let (dataset, warnings) =
            form.read_documents(&references, &predictions, join, &self.sizes)?;
        drop((references, predictions));
        let images = Images {
            boxes: self,
            names: class_names(dataset.classes()),
        };
        if sink.wants_samples() {
            for (predictions, image) in dataset.examples(0..dataset.images().len()) {
                sink.record(&image.key);
                images.add(predictions, image, sink);
            }
        } else {
            sink.add(dataset.measure(&images));
        }
        for (warning, times) in warnings {
            sink.note(warning.text(), times);
        }
        Ok(())
    }

    /// `precision`, `recall` and `f1` of each setting; `macro_precision` and so on where two classes
    /// or more are known; `best_f1` and `best_f1_score` of each IoU on request.
    fn scores(&self, state: &TableState) -> Named<Option<f64>> {
        let mut scores = Vec::new();
        let mut add = |prefix: &str, suffix: &str, score: DetectionScore| {
            for (name, value) in [
                ("precision", score.precision),
                ("recall", score.recall),
                ("f1", score.f1),
            ] {
                scores.push((format!("{prefix}{name}{suffix}"), value));
            }
        };
        for (place, setting) in self.metric.settings.iter().enumerate() {
            let score = setting.metric.compute(&state.item(place));
            add("", &setting.suffix, score);
        }
        if self.metric.is_one_to_one() && state.classes.len() > 1 {
            for (place, setting) in self.metric.settings.iter().enumerate() {
                let counts = state
                    .classes
                    .values()
                    .filter_map(|counts| counts.get(place));
                add("macro_", &setting.suffix, macro_average(counts.copied()));
            }
        }
        if self.metric.best.is_some() {
            for (place, (_, suffix)) in self.metric.ious.iter().enumerate() {
                let histogram = state.histograms.get(place);
                let best = histogram.and_then(|histogram| histogram.curve().best_f1());
                let f1 = best.and_then(|best| best.counts.f1());
                scores.push((format!("best_f1{suffix}"), f1));
                scores.push((
                    format!("best_f1_score{suffix}"),
                    best.map(|best| best.score),
                ));
            }
        }
        scores
    }

    fn counts(&self, state: &TableState) -> Named<serde_json::Value> {
        let mut counts = Vec::new();
        for (place, Setting { suffix, .. }) in self.metric.settings.iter().enumerate() {
            let item = state.item(place);
            let mut add = |name: &str, count: u64| {
                counts.push((format!("{name}{suffix}"), json!(count)));
            };
            add("tp", item.counts.true_positives);
            add("fp", item.counts.false_positives);
            add("fn", item.counts.false_negatives);
            add("repeated", item.repeated);
            if self.metric.profile == Profile::SeedText {
                add("undecided", item.undecided);
            }
            if state.uncounted > 0 {
                add("ignored", item.ignored);
            }
        }
        counts
    }

    /// With the best F1 also the curves that it is on: a point for each distinct score.
    fn details(&self, state: &TableState) -> Option<serde_json::Value> {
        self.metric.best?;
        let curve = |(place, &(iou, _)): (usize, &(f64, String))| {
            let curve = state.histograms.get(place).map(ScoreHistogram::curve);
            let points: Vec<_> = curve
                .iter()
                .flat_map(|curve| curve.points())
                .map(|point| {
                    json!({
                        "score": point.score,
                        "precision": point.counts.precision(),
                        "recall": point.counts.recall(),
                        "f1": point.counts.f1(),
                        "tp": point.counts.true_positives,
                        "fp": point.counts.false_positives,
                        "fn": point.counts.false_negatives,
                    })
                })
                .collect();
            json!({"iou": iou, "points": points})
        };
        let curves: Vec<_> = self.metric.ious.iter().enumerate().map(curve).collect();
        Some(json!({ "precision_recall": curves }))
    }

    fn warnings(&self, state: &TableState, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        let most = |count: fn(&DetectionState) -> u64| state.items.iter().map(count).max();
        let repeated = most(|item| item.repeated).unwrap_or(0);
        if repeated > 0 {
            warnings.push(format!(
                "{repeated} × a prediction counts as right on a true box that another prediction has already; --profile one-to-one counts each true box once"
            ));
        }
        let undecided = most(|item| item.undecided).unwrap_or(0);
        if undecided > 0 {
            warnings.push(format!(
                "{undecided} × a prediction has an IoU of exactly the threshold, which the text leaves undefined, and counts neither as right nor as wrong"
            ));
        }
        warnings
    }

    fn examples_in(&self, record: &Record<'_>) -> u64 {
        match typed::<Entries<'_>>(json(record.reference, "[]")) {
            Ok(classes) => classes.0.len() as u64,
            Err(_) => 1,
        }
    }

    fn scores_empty_data(&self) -> bool {
        is_fusion_brain(self.metric.profile)
    }
}

fn is_fusion_brain(profile: Profile) -> bool {
    matches!(
        profile,
        Profile::FusionBrain2021 | Profile::FusionBrainBaseline
    )
}

/// The metric of whole images, so that a data set can be measured on several threads.
struct Images<'a, F: Form> {
    boxes: &'a Boxes<F>,
    /// Of the classes.
    names: Vec<String>,
}

impl<F: Form> Images<'_, F> {
    /// Adds an image, of which each class is an example.
    fn add(
        &self,
        predictions: &[Prediction<F::Shape>],
        image: &Image<F::Shape>,
        sink: &mut Sink<'_, Table<F::Shape>>,
    ) {
        let key = image.key.to_string();
        by_class(predictions, image, |place, detections, truths| {
            let Some(name) = self.names.get(place as usize) else {
                return;
            };
            let item = Item {
                class: Some((place, name.clone())),
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
    type State = Pool<TableState>;
    type Score = ();

    fn update(
        &self,
        state: &mut Pool<TableState>,
        prediction: &[Prediction<F::Shape>],
        reference: &Image<F::Shape>,
    ) {
        let mut sink = Sink::of(&self.boxes.metric, state);
        self.add(prediction, reference, &mut sink);
    }

    fn compute(&self, _state: &Pool<TableState>) {}
}

impl<F: Form> Boxes<F> {
    /// One image and class.
    fn read_item(
        &self,
        record: &Record<'_>,
        reference: &str,
        sink: &mut Sink<'_, Table<F::Shape>>,
    ) -> Result<(), FieldError> {
        let truths = self.truths(reference).map_err(FieldError::reference)?;
        let detections = self
            .detections(json(record.prediction, "[]"))
            .map_err(FieldError::prediction)?;
        let outside = match self.by_class || self.by_image {
            true => beside(record.fields, &["class", "image"]).map_err(FieldError::reference)?,
            false => Entries::default(),
        };
        let field = |wanted: bool, field| match wanted {
            true => name(&outside, field).map_err(FieldError::reference),
            false => Ok(None),
        };
        let class = field(self.by_class, "class")?;
        let image = field(self.by_image, "image")?;
        let groups = self.groups(
            class.as_ref().map(|class| &*class.0),
            image.as_ref().map(|image| &*image.0),
        );
        let item = Item {
            class: class.as_ref().map(|class| (0, class.0.to_string())),
            truths,
        };
        sink.part(None, &groups, &detections, &item);
        Ok(())
    }

    /// One image with its classes, each of which is an example.
    fn read_image(
        &self,
        record: &Record<'_>,
        reference: &str,
        sink: &mut Sink<'_, Table<F::Shape>>,
    ) -> Result<(), FieldError> {
        let truth: Entries<'_> = typed(reference).map_err(FieldError::reference)?;
        let predicted: Entries<'_> = match record.prediction {
            Value::Missing => Entries::default(),
            value => typed(json(value, "{}")).map_err(FieldError::prediction)?,
        };
        let predictions: HashMap<&str, &str> = predicted
            .0
            .iter()
            .map(|(class, boxes)| (&**class, *boxes))
            .collect();
        let image = record.id.to_string();
        // The challenge's programs insist on an answer to each question.
        let missing = if is_fusion_brain(self.metric.profile) {
            Missing::Error
        } else {
            record.join.missing
        };
        for (class, boxes) in &truth.0 {
            let about = |problem: String| format!("class {class:?}: {problem}");
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
                    sink.missing(u64::from(record.prediction != Value::Missing));
                    match policy {
                        Missing::Skip => continue,
                        _ => Vec::new(),
                    }
                }
            };
            let truths = self
                .truths(boxes)
                .map_err(|problem| FieldError::reference(about(problem)))?;
            let groups = self.groups(Some(class), Some(&image));
            let item = Item {
                class: Some((0, class.to_string())),
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
        let ignored = record.join.ignore_extra || is_fusion_brain(self.metric.profile);
        match extra.first() {
            Some((class, _)) if !ignored => Err(FieldError::prediction(format!(
                "the class {class:?} is not in the reference; to leave such classes out, use --extra ignore"
            ))),
            _ => {
                sink.note(EXTRA_CLASSES, extra.len() as u64);
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

    fn truths(&self, json: &str) -> Result<Vec<Truth<F::Shape>>, String> {
        let items = items(json)?;
        let truths = items.iter().enumerate().map(|(index, item)| {
            if item.score.is_some() {
                return Err(format!("box {index}: a true box has no score"));
            }
            Ok(Truth {
                shape: self.shape(index, item)?,
                crowd: item.crowd.0,
                ignore: item.ignore.0,
            })
        });
        truths.collect()
    }

    fn detections(&self, json: &str) -> Result<Vec<Detection<F::Shape>>, String> {
        let items = items(json)?;
        let detections = items.iter().enumerate().map(|(index, item)| {
            if item.score.is_none() && self.metric.goes_by_score() {
                return Err(format!(
                    "box {index} has no score: --score-threshold and --best-f1 go by it"
                ));
            }
            Ok(Detection {
                shape: self.shape(index, item)?,
                score: item.score,
            })
        });
        detections.collect()
    }

    fn shape(&self, index: usize, item: &Listed) -> Result<F::Shape, String> {
        let shape = self.form.read(&item.numbers);
        shape.map_err(|error| format!("box {index}{error}"))
    }
}

/// The numbers of a box, of which most have four.
#[derive(Default)]
struct Numbers {
    first: [f64; 5],
    count: usize,
    /// All of them, where there are more than five.
    all: Vec<f64>,
    /// Whether they are pairs.
    points: bool,
}

impl Numbers {
    fn push(&mut self, number: f64) {
        match self.first.get_mut(self.count) {
            Some(place) => *place = number,
            None => {
                if self.all.is_empty() {
                    self.all.extend(self.first);
                }
                self.all.push(number);
            }
        }
        self.count += 1;
    }

    /// So many numbers.
    fn exactly<const N: usize>(&self) -> Result<[f64; N], String> {
        let count = self.count;
        if self.points {
            return Err(format!(" is a list of points: expected {N} numbers"));
        }
        match self
            .first
            .get(..count)
            .and_then(|numbers| numbers.try_into().ok())
        {
            Some(numbers) => Ok(numbers),
            None if count == 0 => Err(format!(" is empty: expected {N} numbers")),
            None => Err(format!(" has {count} numbers: expected {N}")),
        }
    }

    /// Points, as pairs or as x and y in turn.
    fn points(&self) -> Result<Vec<[f64; 2]>, String> {
        let numbers = if self.all.is_empty() {
            self.first.get(..self.count).unwrap_or_default()
        } else {
            &self.all
        };
        let (points, rest) = numbers.as_chunks::<2>();
        match rest {
            [] if points.is_empty() => Err(" is empty: expected points".to_owned()),
            [] => Ok(points.to_vec()),
            _ => Err(format!(" has {} numbers: expected pairs", self.count)),
        }
    }
}

/// A box as it stands in a file, with what stands beside it.
#[derive(Default)]
struct Listed {
    numbers: Numbers,
    score: Option<f64>,
    crowd: Flag,
    ignore: Flag,
}

/// The items of a list; a list of one empty box is empty, as the Fusion Brain files write it.
fn items(json: &str) -> Result<Vec<Listed>, String> {
    let items: Vec<Listed> = typed(json).map_err(|error| match kind(json) {
        "a list" => error,
        other => format!("expected a list of boxes, found {other}"),
    })?;
    Ok(match items.as_slice() {
        [one] if one.numbers.count == 0 => Vec::new(),
        _ => items,
    })
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListedVisitor)
    }
}

struct ListedVisitor;

impl<'de> Visitor<'de> for ListedVisitor {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a box of 4 numbers or {\"box\": [...], \"score\": s}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Listed, A::Error> {
        Ok(Listed {
            numbers: NumbersVisitor.visit_seq(elements)?,
            ..Listed::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Listed, A::Error> {
        let (mut numbers, mut score, mut crowd, mut ignore) = (None, None, None, None);
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            match &*name {
                "box" if numbers.is_none() => numbers = Some(fields.next_value()?),
                "score" if score.is_none() => score = Some(fields.next_value()?),
                "crowd" if crowd.is_none() => crowd = Some(fields.next_value()?),
                "ignore" | "difficult" if ignore.is_none() => ignore = Some(fields.next_value()?),
                "box" | "score" | "crowd" | "ignore" | "difficult" => {
                    return Err(A::Error::custom(format_args!("duplicate field {name:?}")));
                }
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Listed {
            numbers: numbers.ok_or_else(|| A::Error::missing_field("box"))?,
            score,
            crowd: crowd.unwrap_or_default(),
            ignore: ignore.unwrap_or_default(),
        })
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Numbers, A::Error> {
        let mut numbers = Numbers::default();
        while let Some(element) = elements.next_element()? {
            let points = matches!(element, Element::Point(_));
            if numbers.count > 0 && points != numbers.points {
                return Err(A::Error::custom("numbers and points in one box"));
            }
            numbers.points = points;
            match element {
                Element::Number(number) => numbers.push(number),
                Element::Point(point) => point.into_iter().for_each(|number| numbers.push(number)),
            }
        }
        Ok(numbers)
    }
}

enum Element {
    Number(f64),
    Point([f64; 2]),
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementVisitor;
        impl<'de> Visitor<'de> for ElementVisitor {
            type Value = Element;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Element, E> {
                Ok(Element::Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Element, E> {
                Ok(Element::Number(number as f64))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Element, E> {
                Ok(Element::Number(number as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Element, A::Error> {
                let mut next = || numbers.next_element::<f64>();
                match (next()?, next()?, next()?) {
                    (Some(x), Some(y), None) => Ok(Element::Point([x, y])),
                    _ => Err(A::Error::custom("expected points of two numbers")),
                }
            }
        }
        deserializer.deserialize_any(ElementVisitor)
    }
}

/// A flag: true, false, 1 or 0.
#[derive(Clone, Copy, Default)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;
        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, 1 or 0")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                match number {
                    0 | 1 => Ok(Flag(number == 1)),
                    other => Err(E::invalid_value(
                        serde::de::Unexpected::Unsigned(other),
                        &self,
                    )),
                }
            }
        }
        deserializer.deserialize_any(FlagVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;

    fn scorer(options: &[(&str, &str)]) -> Result<Box<dyn Scorer>, OptionError> {
        let chosen = options
            .iter()
            .fold(Options::default(), |chosen, (name, value)| {
                chosen.set(name, value)
            });
        DETECTION.scorer(&chosen)
    }

    /// Reads records of a reference and a prediction, each into evidence of its own.
    fn report(options: &[(&str, &str)], records: &[[&str; 2]]) -> Result<Report, String> {
        let scorer = scorer(options).map_err(|error| error.to_string())?;
        let mut total = scorer.start();
        for [reference, prediction] in records {
            let record = Record::new("1", Value::Json(prediction), Value::Json(reference));
            let mut evidence = scorer.start();
            evidence
                .update(&[record], None)
                .map_err(|error| error.error.to_string())?;
            let evidence = scorer
                .read(&evidence.write())
                .map_err(|error| error.to_string())?;
            total.merge(evidence).map_err(|error| error.to_string())?;
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
