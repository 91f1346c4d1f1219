//! The errors of detections: their types, and which class is confused with which.

use std::collections::BTreeMap;

use metric_core::{Counts, Mean, Metric, NamedScores};
use metric_record::{FieldError, Message, ReadError, Record};
use metric_vision::read::{FindingRules, parse_record};
use metric_vision::{
    BBox, Confusion, ConfusionMatrix, ConfusionState, DynMetric, InvalidTide, Tide, TideErrorType,
    TideOracle, TideScore, TideState, VERSION,
};
use serde_json::json;

use crate::fields::objects_by_id;
use crate::vision::findings::Definition;
use crate::vision::image_key::IMAGE_KEY;
use crate::vision::images::{
    BOXES, COLUMNS, ClassList, FolderOptions, IMAGE_SIZE, ImageReading, add_boxes, class_names,
    image_warnings, is_empty_image, read_image, renumber_classes,
};
use crate::{
    ConfusionTable, DataSet, DataSetError, Demo, Entry, Facts, Group, Input, Named, Numbers,
    OptionError, OptionSpec, ReadDataSet, Reading, Remarks, Scope, ScoreSpec, Sink, Weigher,
    scorer,
};

pub(crate) const TIDE: Entry = Entry {
    name: "tide",
    help: "TIDE: average precision that each of six types of box errors costs, matching tidecv 1.0.1",
    values: BOXES,
    demos: &[Demo::new(
        "COCO detections",
        ["coco-truth.json", "coco-results.json"],
        &[],
    )],
    options: &[
        OptionSpec::number("iou", "T", 0.0..=1.0, "IoU threshold of a match").or("0.5"),
        OptionSpec::number(
            "background",
            "T",
            0.0..=1.0,
            "Largest IoU of a detection that belongs to the background",
        )
        .or("0.1"),
        OptionSpec::integer(
            "max-detections",
            "N",
            1..=u32::MAX as i64,
            "Number of detections per image that count",
        )
        .or("100"),
        IMAGE_KEY,
        IMAGE_SIZE,
        COLUMNS,
    ],
    scores: &[
        ScoreSpec::higher("AP"),
        ScoreSpec::lower("dAP_").by("ERROR"),
    ],
    details: true,
    report: in_report!(vision { sections: tide, example: example }, has_images: true),
    input: Input::Documents,
    build: &|options| {
        let foreground = options.number("iou")?;
        let background = options.number("background")?;
        let most = options.integer("max-detections")?;
        let metric =
            Tide::new(foreground, background).and_then(|metric| metric.with_max_detections(most));
        let metric = metric.map_err(|error| {
            let name = match error {
                InvalidTide::Foreground(_) => "iou",
                InvalidTide::Background { .. } => "background",
                _ => "max-detections",
            };
            OptionError::new(name, &options.given(name), error.to_string())
        })?;
        let reading = Errors {
            metric,
            folders: FolderOptions::new(options)?,
        };
        Ok(scorer("tide", VERSION, reading))
    },
    ..Entry::BASE
};

struct Errors {
    metric: Tide,
    folders: FolderOptions,
}

impl ImageReading<BBox> for Errors {
    fn finding_rules(&self) -> FindingRules {
        FindingRules::default()
            .with_max_detections(Some(self.metric.max_detections()))
            .with_max_by_class(false)
    }
}

impl Reading for Errors {
    type Metric = DynMetric<Tide>;
    type Header = ClassList;

    fn metric(&self) -> &Self::Metric {
        self.metric.as_ref()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        read_image(record, sink, &parse_record)
    }

    fn renumber(&self, state: &mut TideState, indices: &[u32]) {
        renumber_classes(state, indices);
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        is_empty_image(record)
    }

    fn further_warnings(
        &self,
        state: &TideState,
        classes: &ClassList,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let definition = Definition::new("average precision is undefined");
        image_warnings(classes, state, remarks, definition)
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }

    fn signature(&self) -> Named<String> {
        let metric = &self.metric;
        let mut parts = vec![
            ("iou".to_owned(), metric.foreground().to_string()),
            ("background".to_owned(), metric.background().to_string()),
            (
                "max-detections".to_owned(),
                metric.max_detections().to_string(),
            ),
        ];
        parts.extend(self.folders.parts());
        parts.extend(self.folders.image_key());
        parts
    }

    /// The average precision of each class, and what it is once the errors of a type are corrected.
    fn details(
        &self,
        state: &TideState,
        ClassList(classes): &ClassList,
        _: Remarks<'_>,
    ) -> Option<serde_json::Value> {
        let score = self.metric.compute(state);
        let errors = TideErrorType::ALL.iter().map(|&error| {
            let found = score.error(error);
            json!({"error": error.name(), "dAP": found.delta_ap, "count": found.count})
        });
        let errors: Vec<_> = errors.collect();
        let corrected = TideErrorType::ALL.iter().copied().map(TideOracle::Error);
        let oracles: Vec<_> = std::iter::once(TideOracle::None).chain(corrected).collect();
        let mut found = state.average_precisions_by(&oracles).into_iter();
        let before = found.next().unwrap_or_default();
        let corrected: Vec<_> = TideErrorType::ALL.iter().copied().zip(found).collect();
        let by_class = (0..)
            .zip(class_names(classes))
            .filter_map(|(class, name): (u32, _)| {
                let average_precision = before.get(&class)?;
                let of_error = |(error, after): &(TideErrorType, BTreeMap<u32, f64>)| {
                    (error.name().to_owned(), json!(after.get(&class)))
                };
                let corrected: serde_json::Map<_, _> = corrected.iter().map(of_error).collect();
                Some(json!({"class": name, "AP": average_precision, "AP_corrected": corrected}))
            });
        let by_class: Vec<_> = by_class.collect();
        Some(json!({
            "AP": score.average_precision,
            "errors": errors,
            "dAP_FP": score.false_positives,
            "dAP_FN": score.false_negatives,
            "classes": by_class,
        }))
    }

    fn numbers(&self, state: &TideState, _classes: &ClassList, _scope: Scope<'_>) -> Numbers {
        of_tide(&self.metric.compute(state))
    }

    /// AP alone takes one pass over the detections, all scores nine.
    fn example_score(&self, state: &TideState, classes: &ClassList, name: &str) -> Option<f64> {
        if name == "AP" {
            let of_classes = state.average_precisions(TideOracle::None).into_values();
            return of_classes.collect::<Mean>().value();
        }
        self.numbers(state, classes, Scope::Example).score(name)
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s TideState],
        _classes: &'s ClassList,
    ) -> Option<Weigher<'s>> {
        let weighted = self.metric.weighted(states);
        Some(Box::new(move |weights, _scope| of_tide(&weighted(weights))))
    }
}

fn of_tide(score: &TideScore) -> Numbers {
    let errors = score.errors.iter();
    let counts = errors.map(|found| (found.error.name().to_owned(), json!(found.count)));
    Numbers {
        scores: score.named_scores(),
        counts: counts.collect(),
        ..Numbers::default()
    }
}

impl ReadDataSet<Self> for Errors {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["images"], "id")
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        add_boxes(data, &self.folders, sink)
    }
}

pub(crate) const CONFUSION_MATRIX: Entry = Entry {
    name: "confusion-matrix",
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
    report: in_report!(vision { sections: confusions, example: example }, has_images: true, main: Some("f1")),
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
        let reading = Matrix {
            metric,
            by_class: options.is("groups", "class"),
            folders: FolderOptions::new(options)?,
        };
        Ok(scorer("confusion-matrix", VERSION, reading))
    },
    ..Entry::BASE
};

/// With more classes, the details have the pairs that occur instead of a matrix of gigabytes.
const MATRIX: usize = 2_000;

struct Matrix {
    metric: Confusion,
    by_class: bool,
    folders: FolderOptions,
}

impl ImageReading<BBox> for Matrix {}

impl Reading for Matrix {
    type Metric = DynMetric<Confusion>;
    type Header = ClassList;

    fn metric(&self) -> &Self::Metric {
        self.metric.as_ref()
    }

    /// An image without detections has no precision.
    fn facts(&self) -> Facts {
        Facts {
            ranking_score: Some("f1".to_owned()),
            ..Facts::default()
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        read_image(record, sink, &parse_record)
    }

    fn renumber(&self, state: &mut ConfusionState, indices: &[u32]) {
        renumber_classes(state, indices);
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        is_empty_image(record)
    }

    fn further_warnings(
        &self,
        state: &ConfusionState,
        classes: &ClassList,
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let definition = Definition::new("recall is undefined");
        image_warnings(classes, state, remarks, definition)
    }

    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>> {
        Some(self)
    }

    fn signature(&self) -> Named<String> {
        let cut = self.metric.score_cut();
        let cut = cut.map(|cut| ("score-threshold".to_owned(), cut.to_string()));
        let iou = ("iou".to_owned(), self.metric.iou_threshold().to_string());
        std::iter::once(iou)
            .chain(cut)
            .chain(self.folders.parts())
            .chain(self.folders.image_key())
            .collect()
    }

    fn numbers(
        &self,
        state: &ConfusionState,
        ClassList(classes): &ClassList,
        scope: Scope<'_>,
    ) -> Numbers {
        let matrix = self.metric.with_classes(classes.len()).compute(state);
        let indices = || 0..classes.len() as u32;
        let mut numbers = Numbers {
            scores: matrix.named_scores(),
            counts: counts(matrix.total()),
            ..Numbers::default()
        };
        numbers
            .counts
            .push(("confused".to_owned(), json!(confused(&matrix))));
        numbers
            .counts
            .push(("ignored".to_owned(), json!(matrix.ignored())));
        if scope == Scope::Total && self.by_class {
            let groups = indices().zip(class_names(classes)).map(|(class, name)| {
                let of_class = matrix.counts(class);
                Group {
                    name,
                    scores: scores(of_class),
                    counts: counts(of_class),
                }
            });
            numbers.groups.push(("class".to_owned(), groups.collect()));
        }
        numbers
    }

    /// The last class is the background: what is not found, and what is found where nothing is.
    fn confusions(
        &self,
        state: &ConfusionState,
        ClassList(classes): &ClassList,
    ) -> Option<ConfusionTable> {
        if classes.len() > MOST_PRINTED {
            return None;
        }
        let matrix = self.metric.with_classes(classes.len()).compute(state);
        let mut names = class_names(classes);
        names.push("background".to_owned());
        Some(ConfusionTable {
            classes: names,
            rows: matrix.rows().collect(),
        })
    }

    fn details(
        &self,
        state: &ConfusionState,
        ClassList(classes): &ClassList,
        _: Remarks<'_>,
    ) -> Option<serde_json::Value> {
        let matrix = self.metric.with_classes(classes.len()).compute(state);
        let mut names = class_names(classes);
        names.push("background".to_owned());
        if classes.len() > MATRIX {
            let name = |class: Option<u32>| {
                let index = class.map_or(classes.len(), |class| class as usize);
                names.get(index)
            };
            let cells = matrix.cells().iter().map(|cell| {
                let (truth, prediction) = (name(cell.truth), name(cell.prediction));
                json!({"truth": truth, "prediction": prediction, "count": cell.count})
            });
            let cells: Vec<_> = cells.collect();
            return Some(json!({"classes": names, "cells": cells}));
        }
        let rows: Vec<Vec<u64>> = matrix.rows().collect();
        Some(json!({
            "rows": "truth",
            "columns": "prediction",
            "classes": names,
            "matrix": rows,
        }))
    }
}

/// A matrix of more classes than this is not printed.
const MOST_PRINTED: usize = 20;

impl ReadDataSet<Self> for Matrix {
    fn fields(&self, data: &DataSet) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        objects_by_id(&data.references, &["images"], "id")
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        add_boxes(data, &self.folders, sink)
    }
}

/// The number of true objects that were detected as one of another class.
fn confused(matrix: &ConfusionMatrix) -> u64 {
    let cells = matrix.cells().iter();
    let confused = cells.filter(|cell| {
        cell.truth.is_some() && cell.prediction.is_some() && cell.truth != cell.prediction
    });
    confused.map(|cell| cell.count).sum()
}

fn scores(counts: Counts) -> Named<Option<f64>> {
    vec![
        ("precision".to_owned(), counts.precision()),
        ("recall".to_owned(), counts.recall()),
        ("f1".to_owned(), counts.f1()),
    ]
}

fn counts(counts: Counts) -> Named<serde_json::Value> {
    vec![
        ("tp".to_owned(), json!(counts.true_positives)),
        ("fp".to_owned(), json!(counts.false_positives)),
        ("fn".to_owned(), json!(counts.false_negatives)),
    ]
}
