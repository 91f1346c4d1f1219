//! Single-label classification.

use std::collections::{BTreeMap, BTreeSet};

use metric_class::{
    Average, Classification, ConfusionMatrix, PrecisionRecallF1, VERSION, ZeroDivision,
    confusion_matrix,
};
use metric_core::{Counts, NamedScores};
use serde_json::json;

use metric_record::json::scan;
use metric_record::{
    Batch, Column, FieldError, Kind, Message, NAMED_IDS, Record, RecordError, Texts, Value,
    quoted_id,
};

use crate::class::label::{Class, ClassView, integer};
use crate::class::ranked::{LabelView, view_label};
use crate::class::tally::{ShortLabels, Tallied, Tally};
use crate::options::comma_separated;
use crate::{
    Counted, Demo, Entry, Group, Named, Numbers, OptionKind, OptionSpec, Reading, Remarks, Scope,
    ScoreSpec, Sink, scorer,
};

pub(crate) const CLASSIFICATION: Entry = Entry {
    name: "classification",
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
        OptionSpec::choice::<Average>("average", "AVERAGE",
            "How to average precision, recall and F1 over classes").or(Average::Macro.name()),
        OptionSpec::choice::<ZeroDivision>("zero-division", "VALUE",
            "Score to report for 0 / 0, such as the precision of a class that is never predicted. Also used for Cohen's kappa and the Matthews correlation if all labels are equal. scikit-learn uses 0").or(ZeroDivision::Undefined.name()),
        OptionSpec::list("labels", "LABEL,...", &OptionKind::Text,
            "Classes to include in the averages and the table, for example only the positive class [default: all]"),
        OptionSpec::one_of("groups", "KIND", || vec!["none", "class"],
            "Tables in addition to the total. --details writes the confusions, for up to 1,000 classes as a matrix").or("none"),
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
    report: in_report!(class { sections: sections }),
    build: &|options| {
        let labels = options.list("labels", "a label", |label| Some(label.to_owned()))?;
        let reading = Classes {
            metric: Tallied(Classification::new(
                options.require("average")?,
                options.require("zero-division")?,
            )),
            labels,
            by_class: options.is("groups", "class"),
        };
        Ok(scorer("classification", VERSION, reading))
    },
    ..Entry::BASE
};

/// Beyond this number of classes, details list the pairs of classes that occur instead of a matrix,
/// whose size is the square.
const MATRIX: usize = 1000;

struct Classes {
    metric: Tallied,
    /// The classes that count; empty for all.
    labels: Vec<String>,
    by_class: bool,
}

/// The counts of a class that is averaged.
struct ClassCounts {
    /// The name in tables.
    name: String,
    /// The name in messages.
    quoted: String,
    counts: Counts,
}

/// Reads the one label of an example.
fn one_label<'a>(value: &mut Value<'a>) -> Result<Option<LabelView<'a>>, String> {
    let is_list = value.kind() == Kind::List;
    view_label(value).map_err(|problem| {
        if is_list {
            "expected a label, an integer or a string, found a list: several labels per example are multilabel classification, which this metric does not score".to_owned()
        } else {
            problem
        }
    })
}

/// The class of a label; a line of text is what the label on the other side is, and an integer
/// if both are lines and it is written as one.
fn class_of<'a>(label: &'a LabelView<'_>, other: Option<&LabelView<'_>>) -> ClassView<'a> {
    match (label, other) {
        (LabelView::Integer(number), _) => ClassView::Integer(*number),
        (LabelView::Text(text), _) => ClassView::Text(text),
        (LabelView::Line(text), Some(LabelView::Text(_))) => ClassView::Text(text),
        (LabelView::Line(text), _) => {
            integer(text).map_or(ClassView::Text(text), ClassView::Integer)
        }
    }
}

/// Reads labels as they are written: `class_of` gives the class of one, or `None` for values that are read one by one.
fn read_written<'b>(
    batch: &'b Batch<'_>,
    (predictions, references): (&'b Texts<'_>, &'b Texts<'_>),
    class_of: impl Fn(&'b str) -> Option<ClassView<'b>>,
    sink: &mut Sink<'_, Classes>,
) -> Result<(), RecordError> {
    let mut pairs = predictions.iter().zip(references.iter());
    let mut known = ShortLabels::default();
    let mut row = 0;
    while row < batch.len() {
        row += sink.counted_together(|tally| {
            let mut add = |(prediction, reference): (Option<&'b str>, Option<&'b str>)| {
                let reference = known.number(reference?, &class_of, tally)?;
                let prediction = known.number(prediction?, &class_of, tally)?;
                tally.add_numbers(Some(prediction), reference, 1);
                Some(())
            };
            pairs.by_ref().map_while(&mut add).count()
        });
        if row < batch.len() {
            sink.row(batch, row);
            sink.read_row(batch, row)?;
            row += 1;
        }
    }
    Ok(())
}

impl Classes {
    /// The names of the classes that count, each with its counts: all 0 for one of the labels that
    /// does not occur, which is a class in scikit-learn as well.
    fn counts(&self, classes: &[&Class], matrix: &ConfusionMatrix<u32>) -> Vec<ClassCounts> {
        let (mut counts, mut names) = (Vec::new(), BTreeSet::new());
        for (&index, its) in matrix.counts() {
            let class = classes[index as usize];
            let name = class.to_string();
            if !self.labels.is_empty() && !self.labels.contains(&name) {
                continue;
            }
            // Integers come first: this is the string that one of them is written as.
            let shown = if names.contains(&name) {
                format!("{name:?}")
            } else {
                name.clone()
            };
            names.insert(name);
            counts.push(ClassCounts {
                name: shown,
                quoted: class.quoted(),
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
        let (average, zero_division) = (self.metric.0.average(), self.metric.0.zero_division());
        PrecisionRecallF1::average(counts, average, zero_division).named_scores()
    }
}

impl Reading for Classes {
    type Metric = Tallied;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let mut labels = self.labels.clone();
        labels.sort();
        let mut parts = vec![
            ("average".to_owned(), self.metric.0.average().to_string()),
            (
                "zero-division".to_owned(),
                self.metric.0.zero_division().to_string(),
            ),
        ];
        if !labels.is_empty() {
            parts.push(("labels".to_owned(), comma_separated(&labels)));
        }
        parts
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let prediction = one_label(&mut record.prediction).map_err(FieldError::prediction)?;
        let reference = one_label(&mut record.reference).map_err(FieldError::reference)?;
        let reference = reference.ok_or_else(|| FieldError::reference("expected a label"))?;
        let class = class_of(&reference, prediction.as_ref());
        let predicted = prediction.as_ref();
        let predicted = predicted.map(|label| class_of(label, Some(&reference)));
        sink.counted_in(|tally: &mut Tally| tally.add(predicted, class, 1));
        Ok(())
    }

    /// Takes integers on both sides, and labels as they are written on both sides.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let (predictions, references) = match (batch.predictions(), batch.references()) {
            (Column::Integers(predictions), Column::Integers(references)) => {
                (predictions, references)
            }
            (Column::Lines(predictions), Column::Lines(references)) => {
                let class =
                    |text| Some(integer(text).map_or(ClassView::Text(text), ClassView::Integer));
                return Some(read_written(batch, (predictions, references), class, sink));
            }
            (Column::Texts(predictions), Column::Texts(references)) => {
                let class = |text| Some(ClassView::Text(text));
                return Some(read_written(batch, (predictions, references), class, sink));
            }
            (Column::Json(predictions), Column::Json(references)) => {
                let class = |text: &_| scan::integer(text).map(ClassView::Integer);
                return Some(read_written(batch, (predictions, references), class, sink));
            }
            _ => return None,
        };
        if !sink.wants_samples()
            && let (Some(predictions), Some(references)) =
                (predictions.without_nulls(), references.without_nulls())
            && let Ok(matrix) = confusion_matrix(predictions, references, Class::Integer)
        {
            sink.pooled(batch.len() as u64, &[], matrix.into());
            return Some(Ok(()));
        }
        let read = |row| {
            sink.row(batch, row);
            let (Some(prediction), Some(reference)) = (predictions.get(row), references.get(row))
            else {
                return sink.read_row(batch, row);
            };
            let [prediction, reference] = [prediction, reference].map(Class::Integer);
            sink.example(&Some(prediction), &reference);
            Ok(())
        };
        Some((0..batch.len()).try_for_each(read))
    }

    fn numbers(&self, state: &Tally, (): &(), scope: Scope<'_>) -> Numbers {
        let (all, state) = state.matrix();
        let classes = self.counts(&all, &state);
        let counts: Vec<Counts> = classes.iter().map(|it| it.counts).collect();
        let accuracy = state.accuracy();
        let mut scores = vec![("accuracy".to_owned(), accuracy.value())];
        scores.extend(self.scores_of(&counts));
        // Without examples there is nothing to divide.
        let zero_division = match accuracy.total {
            0 => None,
            _ => self.metric.0.zero_division().value(),
        };
        for (name, score) in [
            ("balanced_accuracy", state.balanced_accuracy()),
            ("cohen_kappa", state.cohen_kappa()),
            ("matthews_correlation", state.matthews_correlation()),
        ] {
            scores.push((name.to_owned(), score.or(zero_division)));
        }
        let total = scope == Scope::Total;
        Numbers {
            scores,
            counts: vec![
                ("correct".to_owned(), json!(accuracy.correct)),
                ("total".to_owned(), json!(accuracy.total)),
            ],
            warnings: if total {
                self.warnings(&all, &classes)
            } else {
                Vec::new()
            },
            groups: if total && self.by_class {
                vec![("class".to_owned(), self.groups(classes))]
            } else {
                Vec::new()
            },
        }
    }

    fn details(&self, state: &Tally, (): &(), _: Remarks<'_>) -> Option<serde_json::Value> {
        let (classes, state) = state.matrix();
        let class = |index: &u32| classes[*index as usize];
        let without = state.cells().filter(|cell| cell.1.is_none());
        let without: Vec<_> = without
            .map(|(index, _, examples)| json!({"reference": class(index), "examples": examples}))
            .collect();
        let cell = |(reference, prediction, count): (&u32, Option<&u32>, u64)| {
            let (reference, prediction) = (class(reference), class(prediction?));
            Some(json!({"reference": reference, "prediction": prediction, "count": count}))
        };
        let cells: Vec<_> = state.cells().filter_map(cell).collect();
        let mut details = json!({
            "classes": classes,
            "cells": cells,
            "without_prediction": without,
        });
        if classes.len() <= MATRIX {
            details["rows"] = json!("reference");
            details["columns"] = json!("prediction");
            details["matrix"] = json!(state.rows());
        }
        Some(details)
    }
}

impl Classes {
    fn groups(&self, classes: Vec<ClassCounts>) -> Vec<Group> {
        let group = |ClassCounts { name, counts, .. }: ClassCounts| Group {
            name,
            scores: self.scores_of(&[counts]),
            counts: vec![
                ("tp".to_owned(), json!(counts.true_positives)),
                ("fp".to_owned(), json!(counts.false_positives)),
                ("fn".to_owned(), json!(counts.false_negatives)),
                ("support".to_owned(), json!(counts.actual())),
            ],
        };
        classes.into_iter().map(group).collect()
    }

    fn warnings(&self, classes: &[&Class], counts: &[ClassCounts]) -> Vec<Message> {
        let mut warnings = Vec::new();
        let averaged = self.metric.0.average() != Average::Micro;
        if averaged && self.metric.0.zero_division() == ZeroDivision::Undefined {
            for (score, is_never, left_out) in [
                (
                    Counts::precision as fn(&Counts) -> Option<f64>,
                    "never predicted",
                    "left out of the average precision",
                ),
                (
                    Counts::recall,
                    "never a reference",
                    "left out of the average recall",
                ),
            ] {
                let classes = counts.iter().filter(|it| score(&it.counts).is_none());
                let classes: Vec<&str> = classes.map(|it| it.quoted.as_str()).collect();
                let (class, them) = match classes.len() {
                    0 => continue,
                    1 => ("class is", "it"),
                    _ => ("classes are", "them"),
                };
                let count = classes.len();
                let warning = Message::from(format!("{count} {class} {is_never} and {left_out}"))
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
        warnings.extend(written_alike(classes));
        warnings
    }
}

/// The first few names of classes.
fn first_few(classes: &[&str]) -> String {
    let more = if classes.len() > NAMED_IDS {
        ", ..."
    } else {
        ""
    };
    let named = classes.iter().take(NAMED_IDS).copied();
    named.collect::<Vec<_>>().join(", ") + more
}

/// The warnings about classes that are one number, written in several ways.
fn written_alike(classes: &[&Class]) -> Vec<Message> {
    let names: BTreeSet<String> = classes.iter().map(|class| class.to_string()).collect();
    let as_strings = Counted::new(
        "integer and the string it is written as are two classes",
        "integers and the strings they are written as are two classes each",
    );
    let times = (classes.len() - names.len()) as u64;
    let mut warnings: Vec<Message> = Counted::warnings([(times, as_strings)]).collect();
    let has_decimals = |class: &&&Class| matches!(class, Class::Text(text) if text.contains('.'));
    if !classes.iter().any(|class| has_decimals(&class)) {
        return warnings;
    }
    let mut by_number: BTreeMap<i64, Vec<&Class>> = BTreeMap::new();
    for class in classes {
        if let Some(number) = class.named_integer() {
            by_number.entry(number).or_default().push(class);
        }
    }
    // The string that an integer is written as has a warning of its own.
    by_number.retain(|_, classes| {
        let mut names = classes.iter().map(ToString::to_string);
        let first = names.next();
        names.any(|name| Some(name) != first)
    });
    if let Some(pair) = by_number.values().next() {
        let pair: Vec<String> = pair.iter().map(|class| class.quoted()).collect();
        let (number, is) = match by_number.len() {
            1 => ("number", "is"),
            _ => ("numbers", "are"),
        };
        let count = by_number.len();
        let warning = format!("{count} {number} with and without decimals {is} several classes");
        warnings.push(
            Message::from(warning)
                .data(format!(", such as {}", pair.join(" and ")))
                .text("; to count them as one class, write them in one way"),
        );
    }
    warnings
}
