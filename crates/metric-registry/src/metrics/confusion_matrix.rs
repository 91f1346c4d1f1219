//! The confusion matrix of detections: which class is confused with which.

use metric_record::Message;
use metric_vision::{
    BBox, Class, Confusion, ConfusionMatrix, ConfusionState, InvalidThreshold, ObjectKind,
    UltralyticsConfusion, UltralyticsProfile, YoloShape,
};
use serde_json::{Value, json};

use crate::metrics::ultralytics;
use crate::numbers::present;
use crate::shapes::images::{
    BOXES, COLUMNS, FIRST_CATEGORY, Finds, IMAGE_KEY, IMAGE_SIZE, IMAGES_LIST, ImageDefinition,
    ImageMetric, Readers, WarningRules, class_names, images, yes,
};
use crate::{
    Chart, ConfusionTable, Demo, Entry, Input, Numbers, Objects, OptionError, OptionSpec, Options,
    ScoreSpec, Scorer, Shape,
};

pub(crate) const CONFUSION_MATRIX: Entry = Entry {
    name: "confusion-matrix",
    question: "Which classes does a detector confuse?",
    programs: "hotcoco, Ultralytics",
    shapes: &[Shape::Images.as_is()],
    tried: &[
        &[("score-threshold", "0.5"), (PREFER_CLASS, "")],
        &[("profile", "ultralytics")],
        &[("profile", "ultralytics-8.0"), ("iou", "0.6")],
    ],
    help: "Confusion matrix of box classes and the background",
    values: BOXES,
    known_as: &[(&["confusion", "cm"], "it is confusion-matrix (boxes), or classification --details (labels)")],
    demos: &[Demo::new("COCO detections", ["coco-truth.json", "coco-results.json"], &[])],
    options: &[
        OptionSpec::choice::<ConfusionProfile>("profile", "PROGRAM",
            "Matching rule and thresholds to follow").or(ConfusionProfile::Hotcoco.name()),
        OptionSpec::number("iou", "T", 0.0..=1.0,
            "IoU threshold of a match [default: 0.5], which Ultralytics' must be above [default: 0.45]"),
        OptionSpec::number("score-threshold", "S", f64::MIN..=f64::MAX,
            "Leave out detections below this score, of Ultralytics' also those at it [default: none, 0.001, or 0.25 of the older]"),
        IOU_TYPE,
        OptionSpec::flag(PREFER_CLASS,
            "Match an object of the same class, of several whose boxes are equal"),
        IMAGE_KEY,
        IMAGES_LIST,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total. --details writes the matrix, for more than 2,000 classes as a list of cells").or("class"),
    ],
    scores: &[
        ScoreSpec::higher("precision"),
        ScoreSpec::higher("recall"),
        ScoreSpec::higher("f1"),
    ],
    groups: &["class"],
    details: true,
    charts: &[Chart::Confusions],
    main: Some("f1"),
    input: Input::Documents,
    objects: |options| Objects::named(options).filter(|it| *it == Objects::Corners),
    build: &|options| {
        let profile: ConfusionProfile = options.require("profile")?;
        if let Some(generation) = profile.generation() {
            return of_ultralytics(profile, generation, options);
        }
        if options.has(IOU_TYPE.name) {
            let problem = Message::from("is for ").option("profile", "ultralytics");
            return Err(OptionError::new(IOU_TYPE.name, &options.given(IOU_TYPE.name), problem));
        }
        let iou = options.number_if_given("iou")?.unwrap_or(0.5);
        let given = options.given("iou");
        // The classes are known once the data are read; until then there may be any number.
        let mut metric = Confusion::new(usize::MAX, iou)
            .map_err(|error| OptionError::new("iou", &given, error.to_string()))?;
        metric = metric.with_class_preferred(options.has(PREFER_CLASS));
        if let Some(cut) = options.number_if_given("score-threshold")? {
            metric = metric.with_score_cut(cut);
        }
        let definition = ImageDefinition {
            signature: present([
                ("iou", Some(metric.iou_threshold().to_string())),
                ("score-threshold", metric.score_cut().map(|cut| cut.to_string())),
                (PREFER_CLASS, yes(options.has(PREFER_CLASS))),
            ]),
            warnings: WarningRules::new("recall is undefined"),
            // An image without detections has no precision.
            ranking_score: Some("f1"),
            ..ImageDefinition::default()
        };
        images("confusion-matrix", metric, Readers::boxes(), definition, options)
    },
    ..Entry::BASE
};

const PREFER_CLASS: &str = "prefer-class";

/// Ultralytics compares the boxes of segments and of poses here.
const IOU_TYPE: OptionSpec = OptionSpec {
    help: "Kind of the objects in text files, instead of the one that they tell; boxes are compared, also those of segments and poses",
    ..ultralytics::IOU_TYPE
};

/// The program whose matrix is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConfusionProfile {
    Hotcoco,
    /// The newest generation of Ultralytics.
    Ultralytics,
    Ultralytics84,
    /// The same rule as before.
    Ultralytics80,
}

impl ConfusionProfile {
    const ALL: &[Self] = &[
        Self::Hotcoco,
        Self::Ultralytics,
        Self::Ultralytics84,
        Self::Ultralytics80,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Hotcoco => "hotcoco",
            Self::Ultralytics => "ultralytics",
            Self::Ultralytics84 => "ultralytics-8.4.37",
            Self::Ultralytics80 => "ultralytics-8.0",
        }
    }

    fn generation(self) -> Option<UltralyticsProfile> {
        match self {
            Self::Hotcoco => None,
            Self::Ultralytics => Some(UltralyticsProfile::V8_4_176),
            Self::Ultralytics84 => Some(UltralyticsProfile::V8_4_37),
            Self::Ultralytics80 => Some(UltralyticsProfile::V8_0),
        }
    }
}

metric_core::named_choice!(ConfusionProfile, "profile");

/// The matrix of a generation of Ultralytics.
fn of_ultralytics(
    profile: ConfusionProfile,
    generation: UltralyticsProfile,
    options: &Options,
) -> Result<Scorer, OptionError> {
    if options.has(PREFER_CLASS) {
        let problem = Message::from("is for ").option("profile", "hotcoco");
        return Err(OptionError::new(PREFER_CLASS, "", problem));
    }
    let kind: Option<ObjectKind> = options.parse(IOU_TYPE.name)?;
    // The classes are known once the data are read; until then there may be any number.
    let mut metric = UltralyticsConfusion::new(generation, usize::MAX);
    if let Some(iou) = options.number_if_given("iou")? {
        let invalid = |error: InvalidThreshold| {
            OptionError::new("iou", &options.given("iou"), error.to_string())
        };
        metric = metric.with_iou_threshold(iou).map_err(invalid)?;
    }
    let cut = options.number_if_given("score-threshold")?;
    if let Some(cut) = cut {
        metric = metric.with_score_cut(cut);
    }
    let definition = ImageDefinition {
        signature: present([
            ("profile", Some(profile.to_string())),
            ("iou-type", kind.map(|kind| kind.to_string())),
            ("iou", Some(metric.iou_threshold().to_string())),
            ("score-threshold", cut.map(|cut| cut.to_string())),
        ]),
        warnings: WarningRules {
            finds: Finds::Distinct,
            ..WarningRules::new("recall is undefined")
        },
        ranking_score: Some("f1"),
        ..ImageDefinition::default()
    };
    let readers = Readers::ultralytics(kind, None, true);
    images("confusion-matrix", metric, readers, definition, options)
}

/// With more classes, the details have the pairs that occur instead of a matrix of gigabytes.
const MATRIX: usize = 2_000;

/// A matrix of more classes than this is not printed.
const MOST_PRINTED: usize = 20;

/// Implements the metric of images for both rules, whose states and matrices are the same.
macro_rules! of_matrix {
    ($($metric:ty, $shape:ty;)*) => {$(
        impl ImageMetric for $metric {
            type Shape = $shape;

            fn numbers(
                &self,
                matrix: &ConfusionMatrix,
                _: Option<&ConfusionState>,
                _: &[Class],
                class: Option<u32>,
            ) -> Option<Numbers> {
                Some(numbers(matrix, class))
            }

            fn confusions(
                &self,
                matrix: &ConfusionMatrix,
                classes: &[Class],
            ) -> Option<ConfusionTable> {
                (classes.len() <= MOST_PRINTED).then(|| ConfusionTable {
                    classes: with_background(classes),
                    rows: rows(matrix, classes),
                })
            }

            fn details(
                &self,
                _: &ConfusionState,
                matrix: &ConfusionMatrix,
                classes: &[Class],
                _: bool,
            ) -> Option<Value> {
                Some(details(matrix, classes))
            }
        }
    )*};
}

of_matrix! {
    Confusion, BBox;
    UltralyticsConfusion, YoloShape;
}

fn numbers(matrix: &ConfusionMatrix, class: Option<u32>) -> Numbers {
    let counts = class.map_or_else(|| matrix.total(), |class| matrix.counts(class));
    let of_all = |count: fn(&ConfusionMatrix) -> u64| class.is_none().then(|| json!(count(matrix)));
    Numbers {
        scores: present([
            ("precision", Some(counts.precision())),
            ("recall", Some(counts.recall())),
            ("f1", Some(counts.f1())),
        ]),
        counts: present([
            ("tp", Some(json!(counts.true_positives))),
            ("fp", Some(json!(counts.false_positives))),
            ("fn", Some(json!(counts.false_negatives))),
            ("confused", of_all(confused)),
            ("ignored", of_all(ConfusionMatrix::ignored)),
        ]),
        ..Numbers::default()
    }
}

/// The matrix, or its cells if there are too many classes for one.
fn details(matrix: &ConfusionMatrix, classes: &[Class]) -> Value {
    let names = with_background(classes);
    if classes.len() <= MATRIX {
        return json!({
            "rows": "truth",
            "columns": "prediction",
            "classes": names,
            "matrix": rows(matrix, classes),
        });
    }
    let name = |class: Option<u32>| {
        let index = class.map_or(classes.len(), |class| class as usize);
        names.get(index)
    };
    let cells = matrix.cells().iter().map(|cell| {
        let (truth, prediction) = (name(cell.truth), name(cell.prediction));
        json!({"truth": truth, "prediction": prediction, "count": cell.count})
    });
    let cells: Vec<_> = cells.collect();
    json!({"classes": names, "cells": cells})
}

/// The names of the classes. The last class is the background: what is not found, and what is found where nothing is.
fn with_background(classes: &[Class]) -> Vec<String> {
    let mut names = class_names(classes);
    names.push("background".to_owned());
    names
}

/// The rows of the matrix of these classes and the background.
fn rows(matrix: &ConfusionMatrix, classes: &[Class]) -> Vec<Vec<u64>> {
    let lines = (0..classes.len() as u32).map(Some).chain([None]);
    let row = |truth| {
        lines
            .clone()
            .map(|class| matrix.count(truth, class))
            .collect()
    };
    lines.clone().map(row).collect()
}

/// The number of true objects that were detected as one of another class.
fn confused(matrix: &ConfusionMatrix) -> u64 {
    let cells = matrix.cells().iter();
    let confused = cells.filter(|cell| {
        cell.truth.is_some() && cell.prediction.is_some() && cell.truth != cell.prediction
    });
    confused.map(|cell| cell.count).sum()
}
