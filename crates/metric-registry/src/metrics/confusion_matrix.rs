//! The confusion matrix of detections: which class is confused with which.

use metric_vision::{BBox, Class, Confusion, ConfusionMatrix, ConfusionState};
use serde_json::{Value, json};

use crate::numbers::present;
use crate::shapes::images::{
    BOXES, COLUMNS, FIRST_CATEGORY, IMAGE_KEY, IMAGE_SIZE, ImageDefinition, ImageMetric, Readers,
    WarningRules, class_names, images,
};
use crate::{
    Chart, ConfusionTable, Demo, Entry, Input, Numbers, OptionError, OptionSpec, ScoreSpec, Shape,
};

pub(crate) const CONFUSION_MATRIX: Entry = Entry {
    name: "confusion-matrix",
    question: "Which classes does a detector confuse?",
    programs: "hotcoco",
    shapes: &[Shape::Images.as_is()],
    tried: &[&[("score-threshold", "0.5")]],
    help: "Confusion matrix of box classes and the background",
    values: BOXES,
    known_as: &[(&["confusion", "cm"], "it is confusion-matrix (boxes), or classification --details (labels)")],
    demos: &[Demo::new("COCO detections", ["coco-truth.json", "coco-results.json"], &[])],
    options: &[
        OptionSpec::number("iou", "T", 0.0..=1.0, "IoU threshold of a match").or("0.5"),
        OptionSpec::number("score-threshold", "S", f64::MIN..=f64::MAX,
            "Leave out detections below this score"),
        IMAGE_KEY,
        IMAGE_SIZE,
        COLUMNS,
        FIRST_CATEGORY,
        OptionSpec::one_of("groups", "KIND", || vec!["none", "class"],
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
    build: &|options| {
        let iou = options.number("iou")?;
        let given = options.given("iou");
        // The classes are known once the data are read; until then there may be any number.
        let mut metric = Confusion::new(usize::MAX, iou)
            .map_err(|error| OptionError::new("iou", &given, error.to_string()))?;
        if options.has("score-threshold") {
            metric = metric.with_score_cut(options.number("score-threshold")?);
        }
        let definition = ImageDefinition {
            signature: present([
                ("iou", Some(metric.iou_threshold().to_string())),
                ("score-threshold", metric.score_cut().map(|cut| cut.to_string())),
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

/// With more classes, the details have the pairs that occur instead of a matrix of gigabytes.
const MATRIX: usize = 2_000;

/// A matrix of more classes than this is not printed.
const MOST_PRINTED: usize = 20;

impl ImageMetric for Confusion {
    type Shape = BBox;

    fn numbers(
        &self,
        matrix: &ConfusionMatrix,
        _: Option<&ConfusionState>,
        _: &[Class],
        class: Option<u32>,
    ) -> Option<Numbers> {
        let counts = class.map_or_else(|| matrix.total(), |class| matrix.counts(class));
        let of_all =
            |count: fn(&ConfusionMatrix) -> u64| class.is_none().then(|| json!(count(matrix)));
        Some(Numbers {
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
        })
    }

    fn confusions(&self, matrix: &ConfusionMatrix, classes: &[Class]) -> Option<ConfusionTable> {
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
        let names = with_background(classes);
        if classes.len() <= MATRIX {
            return Some(json!({
                "rows": "truth",
                "columns": "prediction",
                "classes": names,
                "matrix": rows(matrix, classes),
            }));
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
        Some(json!({"classes": names, "cells": cells}))
    }
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
