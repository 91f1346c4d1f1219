//! Single-label classification.

use std::collections::BTreeSet;

use metric_class::{
    Average, ConfusionMatrix, KappaWeights, PrecisionRecallF1, VERSION, ZeroDivision,
};
use metric_core::{Counts, Key, NamedScores};
use metric_record::{Message, NAMED_IDS, quoted_id};
use serde_json::json;

use crate::numbers::{named, present};
use crate::options::comma_separated;
#[cfg(feature = "text")]
use crate::prepare::{EXTRACT, NORMALIZE, label_scorer};
use crate::shapes::labels::{LabelMetric, LabelSet, Matrix, OfLabels, quoted};
use crate::{
    Asked, Chart, Demo, Entry, Group, Named, Numbers, OptionKind, OptionSpec, Scope, ScoreSpec,
    Shape,
};

pub(crate) const CLASSIFICATION: Entry = Entry {
    name: "classification",
    question: "Are labels correct? Accuracy, F1, kappa, MCC",
    programs: "scikit-learn",
    shapes: &[Shape::Labels.as_is()],
    tried: &[
        &[("average", "weighted"), ("zero-division", "1")],
        &[("groups", "class"), ("labels", "a,1")],
        &[("kappa", "quadratic")],
    ],
    help: "Single-label classification: accuracy, precision, recall and F1, as in scikit-learn except for --zero-division",
    values: (
        "a label, which is an integer or a string",
        "a label, which is an integer or a string",
    ),
    known_as: &[
        (&["f1", "f-score", "f-measure", "precision", "recall"],
            "precision, recall and F1 are scores of classification (labels), detection (boxes), squad (answers) and lanes"),
        (&["accuracy", "acc"],
            "accuracy is a score of classification (labels), accuracy-at-k (ranked labels or scores), string-accuracy (texts) and vqa"),
    ],
    demos: &[
        Demo::new("classes", ["classes.jsonl", "predicted-classes.jsonl"], &["accuracy", "precision", "recall", "f1"]),
    ],
    options: &[
        #[cfg(feature = "text")]
        EXTRACT,
        #[cfg(feature = "text")]
        NORMALIZE,
        OptionSpec::choice::<Average>("average", "AVERAGE",
            "How to average precision, recall and F1 over classes").or(Average::Macro.name()),
        OptionSpec::choice::<ZeroDivision>("zero-division", "VALUE",
            "Score to report for 0 / 0, such as the precision of a class that is never predicted. Also used for Cohen's kappa and the Matthews correlation if all labels are equal. scikit-learn uses 0").or(ZeroDivision::Undefined.name()),
        OptionSpec::list("labels", "LABEL,...", &OptionKind::Text,
            "Classes to include in the averages and the table, for example only the positive class [default: all]"),
        OptionSpec::choice::<KappaWeights>("kappa", "WEIGHTS",
            "Cost of a disagreement in cohen_kappa, by the distance of both classes. --labels then gives their order, and examples with other labels do not count [default: every disagreement costs the same, over all labels]"),
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total. --details writes the confusions, for up to 1,000 classes as a matrix"),
    ],
    scores: &[
        ScoreSpec::higher("accuracy").proportion("correct", "total"),
        ScoreSpec::higher("precision"),
        ScoreSpec::higher("recall"),
        ScoreSpec::higher("f1"),
        ScoreSpec::higher("balanced_accuracy"),
        ScoreSpec::higher("cohen_kappa"),
        ScoreSpec::higher("matthews_correlation"),
    ],
    groups: &["class"],
    details: true,
    charts: &[Chart::Classes],
    build: &|options| {
        let labels = options.list("labels", "a label", |label| Some(label.to_owned()))?;
        let metric = Classes {
            average: options.require("average")?,
            zero_division: options.require("zero-division")?,
            labels,
            kappa: options.parse("kappa")?,
            by_class: options.is("groups", "class"),
        };
        #[cfg(feature = "text")]
        return label_scorer("classification", VERSION, OfLabels(metric), options);
        #[cfg(not(feature = "text"))]
        Ok(crate::scorer("classification", VERSION, OfLabels(metric)))
    },
    ..Entry::BASE
};

/// Beyond this number of classes, details list the pairs of classes that occur instead of a matrix,
/// whose size is the square.
const MATRIX: usize = 1000;

struct Classes {
    average: Average,
    zero_division: ZeroDivision,
    /// The classes that count; empty for all.
    labels: Vec<String>,
    /// The weights of kappa, if they are given.
    kappa: Option<KappaWeights>,
    by_class: bool,
}

impl LabelMetric for Classes {
    fn definition(&self) -> Named<String> {
        let mut labels = self.labels.clone();
        // Only distances depend on the order.
        if !self.has_distances() {
            labels.sort();
        }
        let labels = (!labels.is_empty()).then(|| comma_separated(&labels));
        present([
            ("average", Some(self.average.to_string())),
            ("zero-division", Some(self.zero_division.to_string())),
            ("labels", labels),
            ("kappa", self.kappa.map(|weights| weights.to_string())),
        ])
    }

    fn needs_labels(&self) -> bool {
        self.has_distances() && self.labels.is_empty()
    }

    fn numbers(
        &self,
        (classes, matrix): &Matrix<'_>,
        labels: &LabelSet,
        asked: Asked<'_>,
    ) -> Numbers {
        let counted = self.counts(classes, matrix);
        let counts: Vec<Counts> = counted.iter().map(|it| it.counts).collect();
        let accuracy = matrix.accuracy();
        let mut scores = vec![("accuracy".to_owned(), accuracy.value())];
        scores.extend(self.scores_of(&counts));
        // Without examples there is nothing to divide.
        let zero_division = match accuracy.total {
            0 => None,
            _ => self.zero_division.value(),
        };
        for (name, score) in [
            ("balanced_accuracy", matrix.balanced_accuracy()),
            ("cohen_kappa", self.kappa((classes, matrix), labels)),
            ("matthews_correlation", matrix.matthews_correlation()),
        ] {
            scores.push((name.to_owned(), score.or(zero_division)));
        }
        let mut numbers = Numbers {
            scores,
            counts: named([("correct", accuracy.correct), ("total", accuracy.total)]),
            details: asked.details.then(|| details(classes, matrix)),
            ..Numbers::default()
        };
        if asked.remarks.is_some() {
            numbers.warnings = self.warnings(&counted);
            if self.needs_labels() && classes.iter().any(|class| matches!(class, Key::Text(_))) {
                let warning = Message::from(
                    "cohen_kappa takes the distances of the labels in alphabetical order; to give another one, use ",
                );
                numbers.warnings.push(warning.option("labels", ""));
            }
        }
        if asked.scope == Scope::Total && self.by_class {
            numbers.groups = named([("class", self.groups(counted))]);
        }
        numbers
    }
}

/// The confusions: as a list of cells, and as a matrix if there are few enough classes.
fn details(classes: &[&Key], matrix: &ConfusionMatrix<u32>) -> serde_json::Value {
    let class = |index: &u32| classes[*index as usize];
    let (mut cells, mut without) = (Vec::new(), Vec::new());
    for (reference, prediction, count) in matrix.cells() {
        let reference = class(reference);
        match prediction.map(class) {
            Some(prediction) => cells
                .push(json!({"reference": reference, "prediction": prediction, "count": count})),
            None => without.push(json!({"reference": reference, "examples": count})),
        }
    }
    let mut details = json!({
        "classes": classes,
        "cells": cells,
        "without_prediction": without,
    });
    if classes.len() <= MATRIX {
        details["rows"] = json!("reference");
        details["columns"] = json!("prediction");
        details["matrix"] = json!(matrix.rows());
    }
    details
}

/// The counts of a class that is averaged.
struct ClassCounts {
    /// The name in tables.
    name: String,
    /// The name in messages.
    quoted: String,
    counts: Counts,
}

impl Classes {
    /// Whether the order of classes counts.
    fn has_distances(&self) -> bool {
        !matches!(self.kappa, None | Some(KappaWeights::None))
    }

    /// Cohen's kappa over the labels that are given, or over those of the whole data set.
    fn kappa(
        &self,
        (classes, matrix): (&[&Key], &ConfusionMatrix<u32>),
        labels: &LabelSet,
    ) -> Option<f64> {
        let Some(weights) = self.kappa else {
            return matrix.cohen_kappa();
        };
        // A label that these examples do not have is a step between others all the same.
        let index = |label: &Key| classes.iter().position(|class| *class == label);
        let absent = |position: usize| classes.len() + position;
        let order = |labels: &mut dyn Iterator<Item = Option<usize>>| -> Vec<u32> {
            let labels = labels.zip(0..);
            let index = |(index, position): (Option<usize>, usize)| {
                index.unwrap_or_else(|| absent(position)) as u32
            };
            labels.map(index).collect()
        };
        let order = if !self.labels.is_empty() {
            let named = |label: &String| classes.iter().position(|it| it.to_string() == *label);
            order(&mut self.labels.iter().map(named))
        } else if self.has_distances() {
            order(&mut labels.0.iter().map(index))
        } else {
            (0..classes.len() as u32).collect()
        };
        matrix.weighted_kappa(&order, weights)
    }

    /// The names of the classes that count, each with its counts: all 0 for one of the labels that
    /// does not occur, which is a class in scikit-learn as well.
    fn counts(&self, classes: &[&Key], matrix: &ConfusionMatrix<u32>) -> Vec<ClassCounts> {
        let (mut counts, mut names) = (Vec::new(), BTreeSet::new());
        for (&index, its) in matrix.counts() {
            let class = classes[index as usize];
            let name = class.to_string();
            if !self.labels.is_empty() && !self.labels.contains(&name) {
                continue;
            }
            // Integers come first: the second of a name is the string that one of them is written as.
            let is_first = names.insert(name.clone());
            counts.push(ClassCounts {
                name: if is_first { name } else { format!("{name:?}") },
                quoted: quoted(class),
                counts: its,
            });
        }
        let absent = self.labels.iter().filter(|label| !names.contains(*label));
        counts.extend(absent.map(|label| ClassCounts {
            name: label.clone(),
            quoted: quoted_id(label),
            counts: Counts::default(),
        }));
        counts
    }

    fn scores_of(&self, counts: &[Counts]) -> Named<Option<f64>> {
        PrecisionRecallF1::average(counts, self.average, self.zero_division).named_scores()
    }

    fn groups(&self, classes: Vec<ClassCounts>) -> Vec<Group> {
        let group = |ClassCounts { name, counts, .. }: ClassCounts| Group {
            name,
            scores: self.scores_of(&[counts]),
            counts: named([
                ("tp", counts.true_positives),
                ("fp", counts.false_positives),
                ("fn", counts.false_negatives),
                ("support", counts.actual()),
            ]),
        };
        classes.into_iter().map(group).collect()
    }

    fn warnings(&self, counts: &[ClassCounts]) -> Vec<Message> {
        let mut warnings = Vec::new();
        let averaged = self.average != Average::Micro;
        if averaged && self.zero_division == ZeroDivision::Undefined {
            let undefined = |it: &ClassCounts| {
                [it.counts.precision(), it.counts.recall()].map(|score| score.is_none())
            };
            for (index, (score, is_never)) in [
                ("precision", "never predicted"),
                ("recall", "never a reference"),
            ]
            .into_iter()
            .enumerate()
            {
                let classes = counts.iter().filter(|it| undefined(it)[index]);
                let classes: Vec<&str> = classes.map(|it| it.quoted.as_str()).collect();
                let (class, them) = match classes.len() {
                    0 => continue,
                    1 => ("class is", "it"),
                    _ => ("classes are", "them"),
                };
                let count = classes.len();
                let warning = Message::from(format!(
                    "{count} {class} {is_never} and left out of the average {score}"
                ))
                .data(format!(": {}", first_few(&classes)))
                .text("; ")
                .option("zero-division", "0")
                .text(format!(" counts {them} as 0, as scikit-learn does"));
                warnings.push(warning);
            }
        }
        for class in counts.iter().filter(|it| it.counts == Counts::default()) {
            let name = &class.name;
            warnings.push(Message::from(format!("no example has the class {name:?}")));
        }
        warnings
    }
}

/// The first few names of classes.
fn first_few(classes: &[&str]) -> String {
    let more = (classes.len() > NAMED_IDS).then_some("...");
    let named = classes.iter().copied().take(NAMED_IDS).chain(more);
    named.collect::<Vec<_>>().join(", ")
}
