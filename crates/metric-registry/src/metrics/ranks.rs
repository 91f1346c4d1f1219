//! What metrics of ranks share: their options, and the ranks of references among the scores of classes.

use metric_class::{Calibration, LabelRef, RankTable, Score, TiedRank, Ties, TopK, VERSION};
use metric_core::Metric;
use metric_record::{FieldError, Message};
use ndarray::ArrayView2;
use serde_json::{Map, Value, json};

use crate::numbers::present;
use crate::shapes::ranked::{OfRankedLabels, RankScore, Rows, count_missed, rank_details};
use crate::shapes::scores::{
    IGNORE, INFINITE, OfScores, ReadTarget, ScoresMetric, WEIGHT, ignored, invalid,
};
use crate::{
    Asked, Counted, Named, Numbers, OptionError, OptionSpec, Options, Remarks, Scope, Scorer, Sink,
    scorer,
};

pub(crate) const INPUT: OptionSpec = OptionSpec::one_of("input", "FORM", || vec!["labels", "scores"],
    "Form of a prediction: a list of labels, or the scores of all classes. With scores, the reference is an index").or("labels");

/// The options of the form `scores`.
const TIES: OptionSpec = OptionSpec::choice::<Ties>(
    "ties",
    "RULE",
    "With scores: tie-breaking rule for classes with equal scores [default: highest-index]",
);
const AVERAGE: OptionSpec = OptionSpec::one_of(
    "average",
    "AVERAGE",
    || vec!["micro", "macro"],
    "With scores: equal weight for each example (micro) or for each class (macro) [default: micro]",
);

/// Returns the options of a metric of ranks, of which it has one of its own.
pub(crate) const fn options(k: OptionSpec) -> [OptionSpec; 7] {
    [INPUT, k, TIES, AVERAGE, IGNORE, WEIGHT, INFINITE]
}

/// Returns a score of ranks as a scorer, which reads labels or scores.
pub(crate) fn ranked(
    name: &str,
    options: &Options,
    score: RankScore,
) -> Result<Scorer, OptionError> {
    let missed = options.details().then(|| score.least());
    if options.is(INPUT.name, "scores") {
        let metric = RanksOfScores::new(score, missed, options)?;
        let has_proportions = !metric.by_class && metric.has_whole_hits();
        let reading = OfScores::new(metric, has_proportions, options)?;
        return Ok(scorer(name, VERSION, reading));
    }
    for option in [TIES, AVERAGE, IGNORE, WEIGHT, INFINITE] {
        if let Some(value) = options.get(option.name) {
            let reason = Message::from("expected only with ").option(INPUT.name, "scores");
            return Err(OptionError::new(option.name, &value, reason));
        }
    }
    Ok(scorer(name, VERSION, OfRankedLabels { score, missed }))
}

/// A score of the ranks of references among the scores of all classes.
struct RanksOfScores {
    score: RankScore,
    ranks: TopK,
    by_class: bool,
    is_weighted: bool,
    /// The number of first classes without which a reference is counted as missed, for details.
    missed: Option<usize>,
}

impl RanksOfScores {
    fn new(
        score: RankScore,
        missed: Option<usize>,
        options: &Options,
    ) -> Result<Self, OptionError> {
        let ranks = TopK::new(vec![1]);
        let ranks = ranks.map_err(|error| OptionError::new("k", "", error.to_string()))?;
        let mut ranks = ranks.with_ties(options.parse(TIES.name)?.unwrap_or_default());
        let by_class = options.is(AVERAGE.name, "macro");
        if by_class {
            ranks = ranks.with_macro_average();
        }
        if let Some(label) = ignored(options)? {
            ranks = ranks.with_ignored(label);
        }
        let is_weighted = options.has(WEIGHT.name);
        if is_weighted {
            ranks = ranks.with_weights();
        }
        if options.has(INFINITE.name) {
            ranks = ranks.with_infinite_scores();
        }
        Ok(Self {
            score,
            ranks,
            by_class,
            is_weighted,
            missed,
        })
    }

    /// Whether the hits of examples that count the same are a whole number.
    fn has_whole_hits(&self) -> bool {
        self.ranks.ties() != Ties::Expected
    }

    /// Whether the accuracy by confidence is counted: for details, of examples that count the same.
    fn calibrates(&self) -> bool {
        self.missed.is_some() && !self.is_weighted
    }

    fn rank<S: Score>(
        &self,
        scores: &[S],
        label: i64,
        sink: &mut Sink<'_, OfScores<Self>>,
    ) -> Result<TiedRank, FieldError> {
        let rank = self.ranks.rank(scores, label).map_err(invalid)?;
        let is_constant = rank.tied_before + rank.tied_after + 1 == scores.len();
        if is_constant && self.minds_constant(scores.len()) {
            sink.count(&constant_rows(), 1);
        }
        Ok(rank)
    }

    /// Whether rows of equal scores are worth a warning: the reference comes first in them.
    fn minds_constant(&self, width: usize) -> bool {
        self.ranks.ties() == Ties::Optimistic && width > 1
    }

    /// The accuracy by confidence as data, where it is counted.
    fn reliability(&self, calibration: &Calibration) -> Value {
        if !self.calibrates() {
            return Value::Null;
        }
        let bins = (0_u8..).zip(calibration.bins()).map(|(index, bin)| {
            json!({
                "from": f64::from(index) / 10.0,
                "to": f64::from(index + 1) / 10.0,
                "examples": bin.examples,
                "confidence": bin.confidence(),
                "accuracy": bin.accuracy(),
            })
        });
        json!({
            "not_probabilities": calibration.others(),
            "expected_calibration_error": calibration.expected_error(),
            "bins": bins.collect::<Value>(),
        })
    }

    /// A number of examples, which weights and ties that count in part make a real one.
    fn number(&self, value: f64, is_whole: bool) -> Value {
        if is_whole && !self.is_weighted {
            (value as u64).into()
        } else {
            value.into()
        }
    }

    /// The ranks of references, the accuracy by confidence, and the scores of classes.
    fn details(&self, state: &RankTable, remarks: Remarks<'_>) -> Value {
        let mut details = rank_details(state.total.ranks(), remarks);
        details["reliability"] = self.reliability(&state.calibration);
        if self.by_class {
            details["classes"] = self.classes(state);
        }
        details
    }

    /// The scores of the examples of each class.
    fn classes(&self, ranks: &RankTable) -> Value {
        let classes = ranks.classes.iter().map(|(label, ranks)| {
            let mut table = RankTable::default();
            *table.classes.entry(*label) = ranks.clone();
            let scores = self
                .numbers(&table, Rows::Unknown, Scope::Example.into())
                .scores;
            let mut numbers: Map<String, Value> = scores
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            let total = self.number(self.ranks.total(ranks), true);
            numbers.insert("total".to_owned(), total);
            (label.to_string(), Value::from(numbers))
        });
        classes.collect()
    }
}

impl ScoresMetric for RanksOfScores {
    type State = RankTable;

    fn definition(&self) -> Named<String> {
        let average = if self.by_class { "macro" } else { "micro" };
        present([
            ("k", self.score.definition()),
            (TIES.name, Some(self.ranks.ties().to_string())),
            (AVERAGE.name, Some(average.to_owned())),
        ])
    }

    fn add<S: Score>(
        &self,
        scores: Option<&[S]>,
        label: i64,
        target: ReadTarget<'_>,
        sink: &mut Sink<'_, OfScores<Self>>,
    ) -> Result<(), FieldError> {
        let rank = scores.map(|scores| self.rank(scores, label, sink));
        let rank = rank.transpose()?;
        let target = target()?;
        sink.counted_in(|state| {
            self.ranks.update(state, &rank, &target);
            if let (Some(scores), Some(rank), true) = (scores, rank, self.calibrates()) {
                self.ranks.calibrate(state, scores, rank);
            }
        });
        let rank = rank.map(|rank| self.ranks.ties().span(rank).first);
        count_missed(self.missed, rank, LabelRef::Number(label), sink);
        Ok(())
    }

    fn measure_rows<S: Score>(
        &self,
        rows: ArrayView2<'_, S>,
        labels: &[i64],
        sink: &mut Sink<'_, OfScores<Self>>,
    ) -> Option<RankTable> {
        if self.missed.is_some() {
            return None;
        }
        let ranks = self.ranks.measure_rows(rows, labels.into(), None).ok()?;
        if self.minds_constant(rows.ncols()) {
            let constant = rows.outer_iter().zip(labels).filter(|(row, label)| {
                let first: f64 = row[0].into();
                let is_constant = || row.iter().all(|score| (*score).into() == first);
                self.ranks.ignored() != Some(**label) && is_constant()
            });
            sink.count(&constant_rows(), constant.count() as u64);
        }
        Some(ranks)
    }

    fn numbers(&self, ranks: &RankTable, rows: Rows, asked: Asked<'_>) -> Numbers {
        let has_whole_hits = self.has_whole_hits();
        let hits = |k| self.number(self.ranks.hits_at(&ranks.total, k), has_whole_hits);
        let at = |k| ((self.score.of_scores)(&self.ranks, ranks, k), hits(k));
        let total = self.number(self.ranks.total(&ranks.total), true);
        let remarks = asked.remarks.filter(|_| asked.details);
        Numbers {
            details: remarks.map(|remarks| self.details(ranks, remarks)),
            ..self.score.numbers(at, total, rows, asked)
        }
    }
}

/// The note of a row of equal scores, whose reference comes first under `--ties optimistic`.
fn constant_rows() -> Counted {
    let what = |rows| {
        let why = "so that the reference comes first whatever it is; other rules of ";
        Message::from(format!("{rows} the same score for all classes, {why}"))
            .option("ties", "")
            .text(" count such rows as a guess or a miss")
    };
    Counted::new(what("row has"), what("rows have"))
}
