//! The numbers that Ultralytics prints.

use metric_record::Message;
use metric_vision::read::Finding;
use metric_vision::{
    Class, ObjectKind, Sigmas, Ultralytics, UltralyticsClass, UltralyticsCurves,
    UltralyticsProfile, UltralyticsScore, UltralyticsScores, UltralyticsState, YoloShape,
};
use serde_json::{Map, Value, json};

use crate::metrics::coco::SIGMAS;
use crate::numbers::present;
use crate::options::{comma_separated, finite};
use crate::shapes::images::{
    BOXES, COLUMNS, FIRST_CATEGORY, Finds, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageDefinition,
    ImageMetric, POINTS_AT_ORIGIN, Readers, WarningRules, Weighted, class_names, images,
};
use crate::{
    Counted, Demo, Entry, Input, Named, Numbers, OF_DATA, Objects, OptionError, OptionSpec,
    Options, PrintedRow, PrintedTable, Remarks, ScoreSpec, Scorer, Shape,
};

/// The kinds of objects, as text is to be read.
pub(crate) const IOU_TYPE: OptionSpec = OptionSpec::choice::<ObjectKind>(
    "iou-type",
    "TYPE",
    "Shapes to compare, instead of those that the texts tell; without texts, boxes",
);

pub(crate) const ULTRALYTICS: Entry = Entry {
    name: "ultralytics",
    question: "Which P, R, mAP50 and mAP50-95 does Ultralytics print for these files?",
    programs: "Ultralytics",
    shapes: &[
        Shape::Images.as_is(),
        Shape::Masks.with(&[("iou-type", "segm")]),
        Shape::Keypoints.with(&[("iou-type", "keypoints"), (SIGMAS.name, "0.1,0.2")]),
    ],
    tried: &[
        &[("groups", "class")],
        &[("profile", "8.4.37"), ("max-detections", "2")],
        &[("profile", "8.0"), ("score-threshold", "0.3")],
    ],
    help: "P, R, mAP50 and mAP50-95 of YOLO data sets as Ultralytics prints them: boxes, segments, oriented boxes and poses",
    values: BOXES,
    known_as: &[(
        &["yolo", "yolov5", "yolov8", "yolo11", "map50", "map50-95"],
        "the numbers that Ultralytics prints are ultralytics; those of pycocotools are coco",
    )],
    demos: &[Demo::new(
        "COCO detections",
        ["coco-truth.json", "coco-results.json"],
        &["P", "R", "mAP50", "mAP50-95"],
    )],
    options: &[
        OptionSpec::choice::<UltralyticsProfile>(
            "profile",
            "VERSION",
            "First version of the generation of Ultralytics to reproduce",
        )
        .or(UltralyticsProfile::V8_4_176.name()),
        IOU_TYPE,
        OptionSpec::integer(
            "max-detections",
            "N",
            1..=u32::MAX as i64,
            "Number of detections per image that count, of all classes",
        )
        .or("300"),
        OptionSpec::number(
            "score-threshold",
            "S",
            f64::MIN..=f64::MAX,
            "Leave out detections at or below this score",
        ),
        SIGMAS,
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
        OptionSpec::groups(
            || vec!["none", "class"],
            "Tables in addition to the total. --details writes the curves",
        ),
    ],
    scores: &[
        ScoreSpec::higher("P"),
        ScoreSpec::higher("R"),
        ScoreSpec::higher("mAP50"),
        ScoreSpec::higher("mAP75"),
        ScoreSpec::higher("mAP50-95"),
        ScoreSpec::neutral("best_confidence"),
        ScoreSpec::higher("AP50"),
        ScoreSpec::higher("AP75"),
        ScoreSpec::higher("AP50-95"),
        ScoreSpec::neutral("mask_best_confidence"),
        ScoreSpec::higher("mask_").by("SCORE"),
        ScoreSpec::neutral("pose_best_confidence"),
        ScoreSpec::higher("pose_").by("SCORE"),
    ],
    groups: &["class"],
    details: true,
    main: Some("mAP50-95"),
    input: Input::Documents,
    objects: |options| {
        Objects::named(options)
            .filter(|it| *it != Objects::Boxes)
            .map(Objects::with_boxes)
    },
    build: &build,
    ..Entry::BASE
};

fn build(options: &Options) -> Result<Scorer, OptionError> {
    let profile: UltralyticsProfile = options.require("profile")?;
    let kind: Option<ObjectKind> = options.parse("iou-type")?;
    let most = options.counting("max-detections", u32::MAX as usize)?;
    let most: usize = most.map_or(300, Into::into);
    let mut metric = Ultralytics::new(profile).with_max_detections(most);
    let cut = options.number_if_given("score-threshold")?;
    if let Some(cut) = cut {
        metric = metric.with_score_cut(cut);
    }
    let sigmas = options.sequence(SIGMAS.name, "a positive number", finite)?;
    let has_sigmas = !sigmas.is_empty();
    if has_sigmas && kind != Some(ObjectKind::Pose) {
        let problem = Message::from("is for ").option("iou-type", "keypoints");
        return Err(OptionError::new(SIGMAS.name, "", problem));
    }
    let in_signature = has_sigmas.then(|| comma_separated(&sigmas));
    let sigmas = has_sigmas.then(|| Sigmas::new(sigmas)).transpose();
    let sigmas = sigmas.map_err(|error| OptionError::new(SIGMAS.name, "", error.to_string()))?;
    let of_data = kind.map_or_else(|| OF_DATA.to_owned(), |kind| kind.to_string());
    let definition = ImageDefinition {
        signature: present([
            ("profile", Some(profile.to_string())),
            ("iou-type", Some(of_data)),
            ("max-detections", Some(most.to_string())),
            ("score-threshold", cut.map(|cut| cut.to_string())),
            (SIGMAS.name, in_signature),
        ]),
        warnings: WarningRules {
            finds: Finds::Distinct,
            ..WarningRules::new("all scores are undefined")
        },
        ranking_score: Some("mAP50-95"),
        ..ImageDefinition::default()
    };
    let readers = Readers::ultralytics(kind, sigmas, false);
    images("ultralytics", metric, readers, definition, options)
}

impl ImageMetric for Ultralytics {
    type Shape = YoloShape;

    fn numbers(
        &self,
        score: &UltralyticsScore,
        _: Option<&UltralyticsState>,
        _: &[Class],
        class: Option<u32>,
    ) -> Option<Numbers> {
        let of_set = |scores: &UltralyticsScores| match class {
            None => of_all(scores),
            Some(class) => of_class(scores.classes.get(&class)),
        };
        let mut scores = of_set(&score.boxes);
        if let Some((set, prefix)) = score.second.as_ref().zip(score.kind.second()) {
            let named = of_set(set).into_iter();
            scores.extend(named.map(|(name, value)| (format!("{prefix}_{name}"), value)));
        }
        let [images, instances, detections] = match class {
            None => [score.images, score.instances, score.detections],
            Some(class) => score.counts.get(&class).copied().unwrap_or_default(),
        };
        Some(Numbers {
            scores,
            counts: present([
                ("images", Some(json!(images))),
                ("instances", Some(json!(instances))),
                ("detections", Some(json!(detections))),
            ]),
            signature: vec![("iou-type".to_owned(), score.kind.to_string())],
            ..Numbers::default()
        })
    }

    /// The curves of each class, and for masks or poses a second set of them.
    fn details(
        &self,
        state: &UltralyticsState,
        score: &UltralyticsScore,
        classes: &[Class],
        is_compact: bool,
    ) -> Option<Value> {
        if is_compact {
            return None;
        }
        let names = class_names(classes);
        let curves = self.curves(state);
        let mut sets = curves.iter().map(curves_by_class);
        let mut by_class = sets.next()?;
        if let Some((name, second)) = score.kind.second().zip(sets.next()) {
            for ((_, entry), (_, of_second)) in by_class.iter_mut().zip(second) {
                entry.insert(name.to_owned(), of_second.into());
            }
        }
        let named = by_class.into_iter().filter_map(|(class, mut entry)| {
            entry.insert("class".to_owned(), json!(names.get(class as usize)?));
            Some(Value::Object(entry))
        });
        let confidences = (0..CONFIDENCES).map(|index| index as f64 / (CONFIDENCES - 1) as f64);
        let thresholds = (50..100)
            .step_by(5)
            .map(|percent| f64::from(percent) / 100.0);
        Some(json!({
            "confidence": confidences.collect::<Vec<_>>(),
            "thresholds": thresholds.collect::<Vec<_>>(),
            "classes": named.collect::<Vec<_>>(),
        }))
    }

    /// As Ultralytics prints it: all, then the classes that have objects.
    fn table(
        &self,
        score: &UltralyticsScore,
        classes: &[Class],
        by_class: bool,
    ) -> Option<PrintedTable> {
        let names = [
            "Class",
            "Images",
            "Instances",
            "P",
            "R",
            "mAP50",
            "mAP50-95",
        ];
        let mut columns: Vec<String> = names.map(str::to_owned).to_vec();
        if let Some(prefix) = score.kind.second() {
            columns.extend(names[3..].iter().map(|name| format!("{prefix}_{name}")));
        }
        let sets = || std::iter::once(&score.boxes).chain(&score.second);
        let all = PrintedRow {
            name: "all".to_owned(),
            counts: vec![score.images, score.instances],
            scores: sets()
                .flat_map(|set| [set.precision, set.recall, set.map50, set.map])
                .collect(),
        };
        let with_objects = score.boxes.classes.keys().filter(|_| by_class);
        let names = class_names(classes);
        let rows = with_objects.filter_map(|class| {
            let of_class = sets().filter_map(|set| set.classes.get(class));
            let scores =
                of_class.flat_map(|it| [it.precision, it.recall, it.ap50(), it.ap()].map(Some));
            Some(PrintedRow {
                name: names.get(*class as usize)?.clone(),
                counts: score.counts.get(class)?[..2].to_vec(),
                scores: scores.collect(),
            })
        });
        Some(PrintedTable {
            columns,
            rows: std::iter::once(all).chain(rows).collect(),
        })
    }

    fn warnings(
        &self,
        state: &UltralyticsState,
        score: &UltralyticsScore,
        _: &[Class],
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        /// Predictions of `predict` are at or above 0.25.
        const LOWEST: f64 = 0.2;
        /// So many points may be at (0, 0) by chance.
        const FEW: u64 = 3;
        let mut warnings = Vec::new();
        let lowest = state.lowest_confidence();
        if !self.has_score_cut() && lowest.is_some_and(|lowest| lowest >= LOWEST) {
            warnings.push(Message::from(
                "no confidence is below 0.2: these seem to be files of predict, which leaves out what is below 0.25; Ultralytics validates from 0.001, so its mAP is of more detections",
            ));
        }
        let without = score.counts.values().filter(|[_, truths, _]| *truths == 0);
        let without: u64 = without.map(|[_, _, found]| *found).sum();
        let points = remarks.tally(POINTS_AT_ORIGIN);
        let most = self.max_detections();
        let count = |finding: Finding| remarks.tally(finding.name());
        let crowds = count(Finding::Object).saturating_sub(count(Finding::CountedObject));
        let counted = [
            (
                crowds,
                Counted::new(
                    "ground-truth object is a crowd or ignored, and was left out: Ultralytics has none",
                    "ground-truth objects are crowds or ignored, and were left out: Ultralytics has none",
                ),
            ),
            (
                state.cut(),
                Counted::new(
                    format!("detection was left out in an image that has more than {most}"),
                    format!("detections were left out in images that have more than {most}"),
                ),
            ),
            (
                without,
                Counted::new(
                    "detection is of a class without labels, and counts nowhere",
                    "detections are of classes without labels, and count nowhere",
                ),
            ),
            (
                state.tied(),
                Counted::new(
                    "detection has the confidence of another one of its class, of which one is correct and one is not: in another order, the scores may differ",
                    "detections have the confidence of another one of their class, of which one is correct and one is not: in another order, the scores may differ",
                ),
            ),
            (
                if points > FEW { points } else { 0 },
                Counted::new(
                    "point of a detected pose is at (0, 0), where Ultralytics before 8.3.189 saved points of low confidence: its own scores are higher",
                    "points of detected poses are at (0, 0), where Ultralytics before 8.3.189 saved points of low confidence: its own scores are higher",
                ),
            ),
        ];
        warnings.extend(Counted::warnings(counted));
        if score.kind == ObjectKind::Segment {
            warnings.push(Message::from(
                "scores of segments are approximate: a text has the outer contour of a mask and no box, and Ultralytics compares masks and boxes that its network predicts",
            ));
        }
        warnings
    }

    fn weighted<'s>(&'s self, states: &[&'s UltralyticsState]) -> Option<Weighted<'s, Self>> {
        Some(Box::new(Ultralytics::weighted(self, states)))
    }
}

/// The number of confidences of a curve.
const CONFIDENCES: usize = 1_000;

fn of_all(scores: &UltralyticsScores) -> Named<Option<f64>> {
    present([
        ("P", Some(scores.precision)),
        ("R", Some(scores.recall)),
        ("mAP50", Some(scores.map50)),
        ("mAP75", Some(scores.map75)),
        ("mAP50-95", Some(scores.map)),
        ("best_confidence", Some(scores.best_confidence)),
    ])
}

fn of_class(class: Option<&UltralyticsClass>) -> Named<Option<f64>> {
    present([
        ("P", Some(class.map(|class| class.precision))),
        ("R", Some(class.map(|class| class.recall))),
        ("AP50", Some(class.map(UltralyticsClass::ap50))),
        ("AP75", Some(class.map(UltralyticsClass::ap75))),
        ("AP50-95", Some(class.map(UltralyticsClass::ap))),
    ])
}

/// The curves of each class as data.
fn curves_by_class(curves: &UltralyticsCurves) -> Vec<(u32, Map<String, Value>)> {
    let by_class = curves.classes().zip(curves.f1());
    let entry = by_class.map(|((class, precision, recall, average_precision), (_, f1))| {
        let named = [
            ("precision", json!(precision)),
            ("recall", json!(recall)),
            ("f1", json!(f1)),
            ("average_precision", json!(average_precision)),
        ];
        let named = named.map(|(name, value)| (name.to_owned(), value));
        (class, named.into_iter().collect())
    });
    entry.collect()
}
