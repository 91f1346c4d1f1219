//! Scores of classifiers from their numbers: ROC AUC, average precision, log loss, Brier score, calibration error.

use metric_class::{
    ClassScores, Convention, Curves, MultiClass, Norm, Reliability, ScoreAverage, ScoreRows,
    ScoreTable, ScoreValues, VERSION,
};
use metric_core::Key;
use metric_record::{Batch, FieldError, Message, Record, RecordError};
use serde_json::{Map, Value, json};

use crate::numbers::{named, present};
use crate::options::comma_separated;
use crate::reading::Weigher;
use crate::shapes::Measured;
use crate::shapes::label_scores::{CLASSES, LabelScores, OFF_ONE, POSITIVE, ScoreReader, listed};
use crate::shapes::labels::{class_of_line, quoted};
use crate::shapes::scores::WEIGHT;
use crate::shapes::weights::all_are_zero;
use crate::{
    Asked, Chart, Counted, Demo, Entry, Facts, Group, Named, Numbers, OptionError, OptionKind,
    OptionSpec, Options, Reading, Remarks, Scope, ScoreSpec, Shape, Sink, scorer,
};

const AVERAGE: &str = "average";
const MULTI_CLASS: &str = "multi-class";
const BINS: &str = "bins";
const DECISION_VALUES: &str = "allow-decision-values";

/// The greatest number of bins of the calibration error.
const MOST_BINS: i64 = 10_000;

pub(crate) const CLASSIFICATION_SCORES: Entry = Entry {
    name: "classification-scores",
    question: "Do scores rank the classes, and are they probabilities? ROC AUC, log loss",
    programs: "scikit-learn, torchmetrics",
    shapes: &[Shape::LabelScores.as_is()],
    tried: &[
        &[("bins", "5"), ("norm", "l2"), ("groups", "class")],
        &[("profile", "torchmetrics"), ("norm", "max")],
        &[("weight-field", "weight"), ("profile", "sklearn")],
        &[("allow-decision-values", "")],
    ],
    help: "Scores of classes: ROC AUC, average precision, log loss, Brier score, calibration error",
    values: (
        "a label, which is an integer, a string or a boolean",
        "a number (two classes), or a list or an object of numbers, one per class",
    ),
    known_as: &[
        (
            &["roc-auc", "auroc", "auc", "pr-auc", "auprc", "log-loss", "cross-entropy", "brier", "brier-score", "ece", "calibration-error"],
            "it is a score of classification-scores",
        ),
    ],
    demos: &[
        Demo::new("spam", ["spam.jsonl", "spam-scores.jsonl"], &["roc_auc", "log_loss"])
            .with(&[("positive", "spam")]),
    ],
    options: &[
        OptionSpec::choice::<Convention>("profile", "PROFILE",
            "Convention: undefined scores are null (textbook), or 0 as in scikit-learn; or the bins of torchmetrics").or(Convention::Textbook.name()),
        OptionSpec::text(POSITIVE, "LABEL",
            "Label that a high score means, if there are two [default: 1 or true]"),
        OptionSpec::list(CLASSES, "LABEL,...", &OptionKind::Text,
            "Classes in the order of the scores of a row [default: the labels that occur, sorted]"),
        OptionSpec::choice::<ScoreAverage>(AVERAGE, "AVERAGE",
            "How to average ROC AUC and average precision over three or more classes").or(ScoreAverage::Macro.name()),
        OptionSpec::choice::<MultiClass>(MULTI_CLASS, "SPLIT",
            "ROC AUC of each class against the rest (ovr), or of each pair (ovo)").or(MultiClass::Ovr.name()),
        OptionSpec::integer(BINS, "N", 1..=MOST_BINS,
            "Number of bins of the calibration error [default: 10, or 15 of torchmetrics]"),
        OptionSpec::choice::<Norm>("norm", "NORM",
            "Calibration error: mean gap (l1), root of the mean square (l2), or greatest gap (max)").or(Norm::L1.name()),
        OptionSpec { help: "Field next to the reference with the weight of the example", ..WEIGHT },
        OptionSpec::flag(DECISION_VALUES,
            "Accept any finite score, and leave out the scores that need probabilities"),
        OptionSpec::groups(|| vec!["none", "class"],
            "Tables in addition to the total: each of three or more classes against the rest"),
    ],
    scores: &[
        ScoreSpec::higher("roc_auc"),
        ScoreSpec::higher("average_precision"),
        ScoreSpec::lower("log_loss"),
        ScoreSpec::lower("brier"),
        ScoreSpec::lower("calibration_error"),
    ],
    groups: &["class"],
    details: true,
    charts: &[Chart::Scores],
    build: &|options| {
        let metric = ClassificationScores::new(options)?;
        Ok(scorer("classification-scores", VERSION, metric))
    },
    ..Entry::BASE
};

/// The reading of scores for labels.
struct ClassificationScores {
    definition: ClassScores,
    reader: ScoreReader,
    by_class: bool,
}

impl ClassificationScores {
    fn new(options: &Options) -> Result<Self, OptionError> {
        let convention: Convention = options.require("profile")?;
        let default_bins = if convention == Convention::TorchMetrics {
            15
        } else {
            10
        };
        let definition = ClassScores {
            convention,
            average: options.require(AVERAGE)?,
            multi_class: options.require(MULTI_CLASS)?,
            bins: options
                .counting(BINS, MOST_BINS as usize)?
                .map_or(default_bins, Into::into),
            norm: options.require("norm")?,
            allows_decision_values: options.has(DECISION_VALUES),
        };
        let reader = ScoreReader {
            columns: ScoreReader::classes(options)?,
            positive: options
                .get(POSITIVE)
                .map(|label| Key::from(class_of_line(&label))),
            weight_field: options.parse(WEIGHT.name)?,
            allows_decision_values: definition.allows_decision_values,
        };
        let refuse = |option: &str, reason: Message| {
            Err(OptionError::new(option, &options.given(option), reason))
        };
        if definition.multi_class == MultiClass::Ovo {
            if definition.average == ScoreAverage::Micro {
                let reason = Message::from(
                    "pairs of classes have no such average: expected macro or weighted with ",
                );
                return refuse(AVERAGE, reason.option(MULTI_CLASS, "ovo"));
            }
            if reader.weight_field.is_some() {
                let reason =
                    Message::from("pairs of classes are not weighted: expected only with ");
                return refuse(WEIGHT.name, reason.option(MULTI_CLASS, "ovr"));
            }
        }
        if let Some(positive) = &reader.positive
            && !reader.columns.is_empty()
        {
            if reader.columns.len() > 2 {
                let reason = format!("goes with two classes, found {}", reader.columns.len());
                return refuse(POSITIVE, reason.into());
            }
            if !reader.columns.contains(positive) {
                return refuse(
                    POSITIVE,
                    Message::from("expected one of the classes ").data(listed(&reader.columns)),
                );
            }
        }
        Ok(Self {
            definition,
            reader,
            by_class: options.is("groups", "class"),
        })
    }

    /// The numbers of some rows. `table` is that of their states.
    fn numbers_of(
        &self,
        table: &ScoreTable<'_>,
        weights: Option<&[u64]>,
        header: &LabelScores,
        asked: Asked<'_>,
    ) -> Numbers {
        let classes = header.classes();
        let positive = position_of_positive(header, &classes);
        let mut values = self
            .definition
            .compute(table, positive, !header.has_doubles, weights);
        if header.problem().is_some() {
            // Without the classes of the scores, there is only the number of rows.
            values = ScoreValues {
                totals: values.totals,
                rows: values.rows,
                ..ScoreValues::default()
            };
        }
        let mut scores = vec![
            ("roc_auc".to_owned(), values.roc_auc),
            ("average_precision".to_owned(), values.average_precision),
        ];
        if !self.definition.allows_decision_values {
            scores.extend([
                ("log_loss".to_owned(), values.log_loss),
                ("brier".to_owned(), values.brier),
                ("calibration_error".to_owned(), values.calibration_error),
            ]);
        }
        let mut numbers = Numbers {
            scores,
            counts: self.counts(&values, positive, header),
            ..Numbers::default()
        };
        if asked.details {
            numbers.details = Some(self.details(table, &values, (positive, &classes)));
        }
        if let Some(remarks) = asked.remarks {
            numbers.warnings = self.warnings(&values, header, &classes, remarks);
        }
        if asked.scope == Scope::Total && self.by_class && !header.is_binary() {
            numbers.groups = named([("class", self.groups(&values, &classes))]);
        }
        numbers
    }

    /// A number of rows, or a sum of weights.
    fn amount(&self, amount: f64) -> Value {
        match self.reader.weight_field {
            Some(_) => amount.into(),
            None => (amount as u64).into(),
        }
    }

    fn counts(
        &self,
        values: &ScoreValues,
        positive: Option<u32>,
        header: &LabelScores,
    ) -> Named<Value> {
        let total = |is_counted: &dyn Fn(u32) -> bool| {
            let totals = (0..).zip(&values.totals);
            let totals = totals.filter(|(class, _)| is_counted(*class));
            let sum: metric_core::Sum = totals.map(|(_, total)| *total).collect();
            self.amount(sum.value())
        };
        match positive {
            Some(positive) if header.is_binary() => named([
                ("positive", total(&|class| class == positive)),
                ("negative", total(&|class| class != positive)),
            ]),
            _ => named([("total", total(&|_| true))]),
        }
    }

    fn groups(&self, values: &ScoreValues, classes: &[Key]) -> Vec<Group> {
        let names = names(classes).into_iter();
        let of_class = names.zip(&values.classes).zip(&values.totals);
        let groups = of_class.map(|((name, scores), total)| Group {
            name,
            scores: named([
                ("roc_auc", scores.roc_auc),
                ("average_precision", scores.average_precision),
            ]),
            counts: named([("support", self.amount(*total))]),
        });
        groups.collect()
    }

    fn details(
        &self,
        table: &ScoreTable<'_>,
        values: &ScoreValues,
        (positive, classes): (Option<u32>, &[Key]),
    ) -> Value {
        let mut details = match positive {
            Some(positive) => curves(&table.curves(0, positive)),
            None => {
                let of_class = (0..).zip(names(classes)).map(|(class, name)| {
                    (
                        name,
                        Value::from(curves(&table.curves(class as usize, class))),
                    )
                });
                Map::from_iter([("classes".to_owned(), of_class.collect())])
            }
        };
        if let Some(reliability) = &values.reliability {
            details.insert(
                "reliability".to_owned(),
                self.reliability(reliability, values),
            );
        }
        Value::from(details)
    }

    fn reliability(&self, reliability: &Reliability, values: &ScoreValues) -> Value {
        let bins = reliability.bins.iter().map(|bin| {
            json!({
                "from": bin.from,
                "to": bin.to,
                "examples": self.amount(bin.examples),
                "confidence": bin.confidence,
                "accuracy": bin.accuracy,
            })
        });
        json!({
            "not_probabilities": 0,
            "expected_calibration_error": reliability.error(Norm::L1),
            "calibration_error": values.calibration_error,
            "bins": bins.collect::<Value>(),
        })
    }

    fn warnings(
        &self,
        values: &ScoreValues,
        header: &LabelScores,
        classes: &[Key],
        remarks: Remarks<'_>,
    ) -> Vec<Message> {
        let mut warnings: Vec<Message> = header.problem().into_iter().collect();
        let present: Vec<&Key> = classes
            .iter()
            .zip(&values.totals)
            .filter(|(_, total)| **total > 0.0)
            .map(|(class, _)| class)
            .collect();
        if let [only] = &*present {
            let rows = values.rows;
            let all = if rows == 1 {
                "the only reference is ".to_owned()
            } else {
                format!("all {rows} references are ")
            };
            warnings.push(Message::from(format!("roc_auc is undefined: {all}")).data(quoted(only)));
        } else if !header.is_binary() && !present.is_empty() {
            let absent: Vec<Key> = classes
                .iter()
                .filter(|it| !present.contains(it))
                .cloned()
                .collect();
            let what = Counted::new(
                "class of the scores has no reference: ",
                "classes of the scores have no reference: ",
            );
            if !absent.is_empty() {
                warnings.push(what.warning(absent.len() as u64).data(listed(&absent)));
            }
        }
        // A model that gives few scores is nearly constant.
        if header.is_binary() && values.distinct.saturating_mul(10) < values.rows {
            let what = Counted::new("distinct score among ", "distinct scores among ");
            let rows = values.rows;
            warnings.push(what.warning(values.distinct).text(format_args!(
                "{rows} rows: pairs of equal scores count ½ in roc_auc"
            )));
        }
        if let Some((off, id)) = &header.worst_sum {
            let what = Counted::new(
                "row of scores does not have the sum 1: it is off by ",
                "rows of scores do not have the sum 1: the worst is off by ",
            );
            let off = if *off < 1e-3 {
                format!("{off:.1e}")
            } else {
                format!("{off:.3}")
            };
            let warning = what
                .warning(remarks.tally(OFF_ONE))
                .data(format!("{off}, "));
            warnings.push(warning.id(id.as_str()));
        }
        if let Some(reliability) = &values.reliability
            && self.definition.convention == Convention::TorchMetrics
            && reliability.certain > 0
        {
            let what = Counted::new(
                "row has a confidence of exactly 1, which has a bin of its own under ",
                "rows have a confidence of exactly 1, which has a bin of its own under ",
            );
            warnings.push(
                what.warning(reliability.certain)
                    .option("profile", "torchmetrics"),
            );
        }
        if self.by_class && header.is_binary() {
            warnings.push(
                Message::default()
                    .option("groups", "class")
                    .text(" has no table of two classes"),
            );
        }
        warnings
    }
}

/// The names of classes; the string of an integer that is a class as well is in quotes.
fn names(classes: &[Key]) -> Vec<String> {
    let name = |class: &Key| match class {
        Key::Text(text)
            if classes.contains(&Key::from(class_of_line(text)))
                && !matches!(class_of_line(text), metric_class::LabelRef::Text(_)) =>
        {
            quoted(class)
        }
        _ => class.to_string(),
    };
    classes.iter().map(name).collect()
}

fn position_of_positive(header: &LabelScores, classes: &[Key]) -> Option<u32> {
    let positive = header.positive().filter(|_| header.is_binary())?;
    let position = classes.iter().position(|class| *class == positive)?;
    u32::try_from(position).ok()
}

/// The points of both curves as data.
fn curves(curves: &Curves) -> Map<String, Value> {
    let roc = curves.roc();
    let curve = curves.precision_recall();
    let entries = [
        (
            "roc",
            json!({
                "false_positive_rate": roc.false_positive_rate,
                "true_positive_rate": roc.true_positive_rate,
                "thresholds": roc.thresholds,
            }),
        ),
        (
            "precision_recall",
            json!({
                "precision": curve.precision,
                "recall": curve.recall,
                "thresholds": curve.thresholds,
            }),
        ),
    ];
    entries
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

impl Reading for ClassificationScores {
    type Metric = Measured<ScoreRows>;
    type Header = LabelScores;

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let definition = &self.definition;
        let reader = &self.reader;
        let classes = (!reader.columns.is_empty()).then(|| comma_separated(&reader.columns));
        let signature = present([
            ("profile", Some(definition.convention.to_string())),
            (AVERAGE, Some(definition.average.to_string())),
            (MULTI_CLASS, Some(definition.multi_class.to_string())),
            (BINS, Some(definition.bins.to_string())),
            ("norm", Some(definition.norm.to_string())),
            (POSITIVE, reader.positive.as_ref().map(ToString::to_string)),
            (CLASSES, classes),
            (WEIGHT.name, reader.weight_field.clone()),
            (
                DECISION_VALUES,
                definition.allows_decision_values.then(|| "yes".to_owned()),
            ),
        ]);
        // One row has no area under a curve.
        let ranking = (!definition.allows_decision_values).then(|| "log_loss".to_owned());
        Facts {
            further_fields: reader.weight_field.iter().cloned().collect(),
            ranking_score: ranking,
            has_proportions: false,
            ..Facts::signed(signature)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        self.reader.read(record, sink)
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        self.reader.read_columns(batch, sink)
    }

    fn numbers(&self, state: &ScoreRows, header: &LabelScores, asked: Asked<'_>) -> Numbers {
        let states = [state];
        let table = ScoreTable::new(&states, &header.classes());
        self.numbers_of(&table, None, header, asked)
    }

    fn problem(&self, state: &ScoreRows, header: &LabelScores) -> Option<Message> {
        if state.is_empty() {
            return Some(all_are_zero());
        }
        header.problem()
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s ScoreRows],
        header: &'s LabelScores,
    ) -> Option<Weigher<'s>> {
        let table = ScoreTable::new(states, &header.classes()).sort();
        Some(Box::new(move |weights, scope| {
            self.numbers_of(&table, Some(weights), header, scope.into())
        }))
    }
}
