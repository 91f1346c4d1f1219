//! Detections under a matching rule of one's choice: an example is an image and a class.

mod files;
mod records;

use metric_core::NamedScores;
use metric_record::json::{self, Entries, typed};
use metric_record::{FieldError, Kind, Message, Record};
use metric_vision::read::{FindingRules, ListForm, ListSweep, is_coco};
use metric_vision::{
    BBox, BoxFormat, ClassTotals, DetectionProfile, DetectionState, DetectionSweep,
    DetectionSweepParams, DetectionSweepScore, DetectionSweepState, DynMetric, InvalidSweep, Key,
    Matching, VERSION,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::numbers::present;
use crate::options::{comma_separated, finite};
use crate::shapes::images::{
    COLUMNS, FIRST_CATEGORY, Finds, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageFiles, OfClass,
    Readers, WarningRules, curve_points, data_warnings, read_images, yes,
};
use crate::{
    Asked, Chart, Counted, DataSet, DataSetError, Demo, Entry, Facts, Input, Named, Numbers,
    ObjectsAt, OptionError, OptionKind, OptionSpec, Options, Reading, Remarks, ScoreSpec, Shape,
    Sink, Unanswered, Weigher, scorer,
};

pub(crate) const DETECTION: Entry = Entry {
    name: "detection",
    question: "Precision, recall and F1 under a chosen matching rule",
    programs: "pycocotools",
    shapes: &[Shape::Boxes.as_is()],
    tried: &[
        &[("groups", "both")],
        &[("profile", "fusion-brain-2021")],
        &[("profile", "fusion-brain-baseline")],
        &[("profile", "seed-text"), ("groups", "none")],
        &[("matching", "greedy"), ("best-f1", "")],
        &[("matching", "voc"), ("best-f1", ""), ("iou", "0.3,0.5")],
        &[("iou", "0.3,0.5"), ("score-threshold", "0,0.5")],
    ],
    help: "Precision, recall and F1 of boxes under a matching rule that you choose",
    values: (
        "a list of boxes, or of {\"box\": [...], \"crowd\": true, \"ignore\": true}, of one image and class, with `class` and `image` next to it if known, or {class: [box]} of one image; or a COCO ground-truth file, or a folder of Pascal VOC's annotations (.xml) or of YOLO's labels (.txt)",
        "a list of boxes, or of {\"box\": [...], \"score\": s}; or {class: [...]}; or a COCO results file, or a folder of results (.txt)",
    ),
    known_as: &[
        (&["iou"],
            "there is no mean IoU yet; detection and confusion-matrix match boxes by IoU, and coco averages over IoU thresholds"),
    ],
    demos: &[
        Demo::new("detections", ["boxes.json", "detected-boxes.json"], &["precision", "recall", "f1"]).with(&[("iou", "0.5")]),
    ],
    options: &[
        OptionSpec::choice::<DetectionProfile>("profile", "PROFILE",
            "Convention to follow").or(DetectionProfile::OneToOne.name()),
        OptionSpec::choice::<Matching>("matching", "RULE",
            "Matching rule, instead of the one of the profile"),
        OptionSpec::list("iou", "T,...", &OptionKind::Number(0.0, 1.0),
            "IoU threshold of a match. With several, scores have names like f1@0.5").or("0.5"),
        OptionSpec::list("score-threshold", "S,...", &OptionKind::Number(f64::MIN, f64::MAX),
            "Leave out detections below this score. With several, scores have names like f1@0.5,0.3, with the IoU first [default: all]"),
        OptionSpec::flag("best-f1",
            "Also report best_f1, the highest F1 at any score threshold, and best_f1_score, that threshold. Needs --matching greedy, voc or voc-strict. With --details, the whole precision-recall curve is written"),
        OptionSpec::choice::<ListForm>("box", "FORMAT",
            "Numbers of a box: xywh is [x,y,width,height] from the top left corner, xyxy two corners, cxcywh the center and the size, rotated [cx,cy,w,h,angle] in radians, polygon [[x,y],...]").or(BoxFormat::Xywh.name()),
        OptionSpec::list("groups", "KIND,...", &OptionKind::Choice(|| vec!["class", "image", "both", "none"]),
            "Tables in addition to the total: class, image, both, or none").or("class"),
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
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
    charts: &[Chart::Detections],
    main: Some("f1"),
    input: Input::Either(is_coco),
    examples: "image-class pairs",
    build: &|options| Ok(scorer("detection", VERSION, Boxes::new(options)?)),
    ..Entry::BASE
};

/// The form of boxes in lists, unless another one is chosen.
const FORM: ListForm = ListForm::Box(BoxFormat::Xywh);

struct Boxes {
    metric: DetectionSweep,
    /// Adds boxes of the chosen form, whose scores are those of `metric`.
    lists: Box<dyn ListSweep>,
    form: ListForm,
    by_class: bool,
    by_image: bool,
    files: ImageFiles<BBox>,
    /// Whether details are compact.
    is_compact: bool,
    /// The ends of the names of the scores, by pair of thresholds.
    suffixes: Vec<String>,
}

impl Boxes {
    fn new(options: &Options) -> Result<Self, OptionError> {
        let groups = options.parts("groups")?;
        let has = |group: &str| groups.iter().any(|it| it == group || it == "both");
        let known = ["class", "image", "both", "none", ""];
        if let Some(other) = groups.iter().find(|group| !known.contains(&&***group)) {
            let given = options.given("groups");
            let found = if *other == given {
                String::new()
            } else {
                format!("{other:?}: ")
            };
            let reason = format!("{found}expected class, image, both or none");
            return Err(OptionError::new("groups", &given, reason));
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
                OptionError::new("best-f1", "", reason)
            }
            InvalidSweep::Threshold(error) => {
                let out_of_range = ious.iter().find(|&&iou| !(iou > 0.0 && iou <= 1.0));
                let given = out_of_range.map_or_else(String::new, f64::to_string);
                OptionError::new("iou", &given, error.to_string())
            }
            InvalidSweep::NoThreshold => OptionError::new("iou", "", "a value is needed"),
            error => OptionError::new("score-threshold", "", error.to_string()),
        };
        let form: ListForm = options.require("box")?;
        let lists = form.sweep(params.clone()).map_err(invalid)?;
        let metric = DetectionSweep::new(params).map_err(invalid)?;
        Ok(Self {
            suffixes: metric.params().suffixes(),
            metric,
            lists,
            form,
            by_class: has("class"),
            by_image: has("image"),
            files: ImageFiles::new(Readers::boxes(), FindingRules::default(), None, options)?,
            is_compact: options.compact_details(),
        })
    }

    fn counts(&self, state: &DetectionSweepState, score: &DetectionSweepScore) -> Named<Value> {
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

    fn warnings(
        &self,
        state: &DetectionSweepState,
        score: &DetectionSweepScore,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let mut warnings = warnings(score);
        let is_listed = remarks.tally(UNLISTED) == 0;
        let of_class = |(class, totals): (&Key, ClassTotals)| OfClass {
            name: class.to_string(),
            is_listed,
            totals,
        };
        let classes: Vec<OfClass> = state.class_totals().map(of_class).collect();
        let finds = match self.metric.matching() {
            Some(Matching::Voc | Matching::VocStrict) => Finds::Nearest,
            Some(Matching::AnyOverlap) | None => Finds::AnyOverlap,
            Some(_) => Finds::OneToOne,
        };
        let rules = WarningRules {
            finds,
            scores_nothing: self.metric.params().profile.is_fusion_brain(),
            ..WarningRules::new("recall is undefined")
        };
        warnings.extend(data_warnings(&classes, false, remarks, rules));
        warnings
    }

    /// With the best F1 also the curves that it is on: one point per distinct score.
    fn details(&self, score: &DetectionSweepScore) -> Option<Value> {
        let params = self.metric.params();
        if !params.best_f1 {
            return None;
        }
        let curve = |(index, iou): (usize, &f64)| {
            let curve = score.curve(index);
            let points = curve.map_or_else(Vec::new, |curve| curve_points(curve, self.is_compact));
            json!({"iou": iou, "points": points})
        };
        let ious = params.iou_thresholds.iter().enumerate();
        let curves: Vec<_> = ious.map(curve).collect();
        Some(json!({ "precision_recall": curves }))
    }
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

impl Reading for Boxes {
    type Metric = DynMetric<DetectionSweep>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        self.metric.as_ref()
    }

    fn facts(&self) -> Facts {
        let DetectionSweepParams {
            profile,
            iou_thresholds,
            score_thresholds,
            best_f1,
            ..
        } = self.metric.params();
        let matching = self.metric.matching();
        let scores = (!score_thresholds.is_empty()).then(|| comma_separated(score_thresholds));
        let mut parts = present([
            ("profile", Some(profile.to_string())),
            ("matching", matching.map(|rule| rule.to_string())),
            ("iou", Some(comma_separated(iou_thresholds))),
            ("score-threshold", scores),
            ("best-f1", yes(*best_f1)),
            ("box", Some(self.form.to_string())),
        ]);
        parts.extend(self.files.signature());
        let wanted = [("class", self.by_class), ("image", self.by_image)];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        // F1 at the first threshold: an image without detections has no precision.
        let first = self.suffixes.first();
        Facts {
            signature: parts,
            objects: ObjectsAt::IMAGES,
            further_fields: wanted.map(|(name, _)| name.to_owned()).collect(),
            ranking_score: first.map(|suffix| format!("f1{suffix}")),
            scores_empty_data: self.metric.params().profile.is_fusion_brain(),
            ..Facts::default()
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        self.files.accept_records()?;
        let kind = match record.reference.kind() {
            Kind::Line => {
                let json = record.reference.to_json_or("[]");
                json::kind(&json.map_err(FieldError::reference)?)
            }
            kind => kind,
        };
        match kind {
            Kind::Object => self.read_image(record, sink),
            _ => self.read_item(record, sink),
        }
    }

    /// `precision`, `recall` and `f1` at each pair of thresholds; `macro_precision` and so on where two
    /// classes or more are known; `best_f1` and `best_f1_score` at each IoU threshold on request.
    fn numbers(&self, state: &DetectionSweepState, (): &(), asked: Asked<'_>) -> Numbers {
        let score = self.metric().compute(state);
        let mut scores = score.named_scores();
        // The average over one class is its own score.
        if state.classes().len() < 2 {
            scores.retain(|(name, _)| !name.starts_with("macro_"));
        }
        Numbers {
            scores,
            counts: self.counts(state, &score),
            warnings: match asked.remarks {
                Some(remarks) => self.warnings(state, &score, remarks),
                None => Vec::new(),
            },
            details: self.details(&score).filter(|_| asked.details),
            signature: match asked.remarks {
                Some(remarks) => self.files.known_parts(remarks),
                None => Named::new(),
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
            self.numbers(&merge(weights), &(), scope.into())
        }))
    }

    /// A record of one image and class without boxes, or of an image without a box in any class.
    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        let reference = record.reference.to_json_or("[]").unwrap_or_default();
        match typed::<Entries<'_>>(&reference) {
            Ok(classes) => Unanswered {
                examples: classes.0.len() as u64,
                is_correct: classes.0.iter().all(|(_, boxes)| is_empty_list(boxes)),
            },
            Err(_) => is_empty_list(&reference).into(),
        }
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        read_images(self, data, sink)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Report, Scorer};
    use metric_record::Value;

    fn scorer(options: &[(&str, &str)]) -> Result<Scorer, OptionError> {
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
                .update(&scorer, &mut [record])
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
