//! Ranked labels.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

use metric_class::{
    AccuracyAtK, InvalidK, RankTable, Ranks, ScoreError, Target, TiedRank, Ties, TopK, VERSION,
};
use metric_core::{Merge, Metric};
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::options::{counting, listed};
use crate::read::{beside, json, kind, string, typed};
use crate::scorer::{Adapter, noted};
use crate::{
    Entry, FieldError, Input, Named, Notes, OptionError, OptionSpec, Options, Reading, Record,
    Scorer, Sink, Value, never_whole,
};

const INPUT: OptionSpec = OptionSpec {
    name: "input",
    value: "FORM",
    default: "labels",
    choices: || vec!["labels", "scores"],
    help: "What a prediction is: a list of labels, or the scores of all classes with an index as the reference",
};

/// The options of the form `scores`.
const TIES: OptionSpec = OptionSpec {
    name: "ties",
    value: "RULE",
    default: "",
    choices: || Ties::ALL.iter().map(|ties| ties.name()).collect(),
    help: "With scores: which of several classes with the same score comes first [default: highest-index]",
};
const AVERAGE: OptionSpec = OptionSpec {
    name: "average",
    value: "AVERAGE",
    default: "",
    choices: || vec!["micro", "macro"],
    help: "With scores: whether all examples or all classes count the same [default: micro]",
};
const IGNORE: OptionSpec = OptionSpec {
    name: "ignore-index",
    value: "LABEL",
    default: "",
    choices: Vec::new,
    help: "With scores: leave out the examples of this reference, such as -100",
};
const WEIGHT: OptionSpec = OptionSpec {
    name: "weight-field",
    value: "NAME",
    default: "",
    choices: Vec::new,
    help: "With scores: the field beside the reference that holds the example's weight",
};
const INFINITE: OptionSpec = OptionSpec {
    name: "allow-infinite",
    value: "",
    default: "",
    choices: Vec::new,
    help: "With scores: take \"inf\" and \"-inf\" as scores",
};

const VALUES: (&str, &str) = (
    "a label, an integer or a string; with --input scores the index of a score, from 0",
    "a list of labels, the most likely first; with --input scores a list of numbers, one a class",
);

pub(crate) const ACCURACY_AT_K: Entry = Entry {
    name: "accuracy-at-k",
    help: "Share of references among the first k predicted labels",
    values: VALUES,
    options: &[
        INPUT,
        OptionSpec {
            name: "k",
            value: "K,...",
            default: "",
            choices: Vec::new,
            help: "How many of the first labels count, one number or several [default: 1 and the length of the rows; with scores 1 and 5]",
        },
        TIES,
        AVERAGE,
        IGNORE,
        WEIGHT,
        INFINITE,
    ],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let ks = match options.get("k") {
            None => Vec::new(),
            Some(text) => numbers(text).map_err(|reason| OptionError::new("k", text, reason))?,
        };
        build("accuracy-at-k", options, Wanted::Accuracy(ks))
    },
};

pub(crate) const MRR: Entry = Entry {
    name: "mrr",
    help: "Mean reciprocal rank: 1 over the place of the reference among the predicted labels",
    values: VALUES,
    options: &[
        INPUT,
        OptionSpec {
            name: "k",
            value: "K",
            default: "",
            choices: Vec::new,
            help: "Only the first K labels count",
        },
        TIES,
        AVERAGE,
        IGNORE,
        WEIGHT,
        INFINITE,
    ],
    input: Input::Records,
    whole_file: never_whole,
    build: |options| {
        let cutoff = options.counting("k", usize::MAX)?;
        build("mrr", options, Wanted::ReciprocalRank(cutoff))
    },
};

/// What is read from the ranks.
enum Wanted {
    /// Accuracy at these k; empty for the default.
    Accuracy(Vec<usize>),
    /// The mean reciprocal rank, of the first so many labels.
    ReciprocalRank(Option<NonZeroUsize>),
}

impl Wanted {
    fn ks(&self) -> &[usize] {
        match self {
            Self::Accuracy(ks) => ks,
            Self::ReciprocalRank(_) => &[],
        }
    }

    fn signature(&self) -> Option<(String, String)> {
        let ks = match self {
            Self::Accuracy(ks) => ks.clone(),
            Self::ReciprocalRank(cutoff) => vec![(*cutoff)?.get()],
        };
        let ks = if ks.is_empty() {
            "1,all".to_owned()
        } else {
            listed(&ks)
        };
        Some(("k".to_owned(), ks))
    }
}

/// The name and the cutoff of the mean reciprocal rank.
fn reciprocal_rank(cutoff: Option<NonZeroUsize>) -> (String, usize) {
    match cutoff {
        None => ("mrr".to_owned(), usize::MAX),
        Some(k) => (format!("mrr@{k}"), k.get()),
    }
}

fn build(
    name: &str,
    options: &Options,
    mut wanted: Wanted,
) -> Result<Box<dyn Scorer>, OptionError> {
    let scores = options.get("input") == Some("scores");
    if let Wanted::Accuracy(ks) = &mut wanted
        && scores
        && ks.is_empty()
    {
        ks.extend([1, 5]);
    }
    let ks = match wanted.ks() {
        [] => vec![1],
        ks => ks.to_vec(),
    };
    let invalid = |error: InvalidK| OptionError::new("k", "", error.to_string());
    if !scores {
        for option in [TIES, AVERAGE, IGNORE, WEIGHT, INFINITE] {
            if let Some(value) = options.get(option.name) {
                let reason = "expected only with --input scores".to_owned();
                return Err(OptionError::new(option.name, value, reason));
            }
        }
        let reading = Labels {
            metric: RankedRows(AccuracyAtK::new(ks).map_err(invalid)?),
            wanted,
            width: OnceLock::new(),
        };
        return Ok(Adapter::boxed(name, VERSION, reading));
    }
    let mut metric = TopK::new(ks).map_err(invalid)?;
    metric = metric.with_ties(options.parse("ties")?.unwrap_or_default());
    let by_class = options.get("average") == Some("macro");
    if by_class {
        metric = metric.with_macro_average();
    }
    if let Some(text) = options.get("ignore-index") {
        let label = text.trim().parse().map_err(|_| {
            OptionError::new("ignore-index", text, "expected an integer".to_owned())
        })?;
        metric = metric.with_ignored(label);
    }
    let weight_field: Option<String> = options.parse("weight-field")?;
    if weight_field.is_some() {
        metric = metric.with_weights();
    }
    let infinite = options.get("allow-infinite").is_some();
    if infinite {
        metric = metric.with_infinite_scores();
    }
    let reading = Scores {
        metric: ScoredRows(metric),
        wanted,
        by_class,
        weight_field,
        infinite,
        width: OnceLock::new(),
    };
    Ok(Adapter::boxed(name, VERSION, reading))
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let k = counting(part, usize::MAX).map_err(|reason| format!("found {part:?}, {reason}"))?;
        if !numbers.contains(&k.get()) {
            numbers.push(k.get());
        }
    }
    // Equal signatures print the same.
    numbers.sort_unstable();
    Ok(numbers)
}

struct Labels {
    metric: RankedRows,
    wanted: Wanted,
    /// The length of the first row, which all others have.
    width: OnceLock<usize>,
}

/// [`AccuracyAtK`] that remembers how long the rows are, for the default k.
struct RankedRows(AccuracyAtK<Label>);

#[derive(Clone, Default, Serialize, Deserialize)]
struct RankedRowsState {
    ranks: Ranks,
    widths: Widths,
}

/// The lengths of the shortest and of the longest row; none without rows.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Widths(Option<(usize, usize)>);

impl Widths {
    fn of(width: usize) -> Self {
        Self((width > 0).then_some((width, width)))
    }

    fn longest(self) -> Option<usize> {
        self.0.map(|(_, longest)| longest)
    }

    fn warning(self) -> Option<String> {
        let (shortest, longest) = self.0.filter(|(shortest, longest)| shortest != longest)?;
        Some(format!(
            "rows of {shortest} to {longest} values were merged"
        ))
    }
}

impl Merge for Widths {
    fn merge(&mut self, other: Self) {
        if let Some((shortest, longest)) = other.0 {
            let (least, most) = self.0.unwrap_or((shortest, longest));
            self.0 = Some((least.min(shortest), most.max(longest)));
        }
    }
}

impl Merge for RankedRowsState {
    fn merge(&mut self, other: Self) {
        self.ranks.merge(other.ranks);
        self.widths.merge(other.widths);
    }
}

impl Metric for RankedRows {
    type Prediction = [Label];
    type Reference = Label;
    type State = RankedRowsState;
    type Score = Vec<(usize, Option<f64>)>;

    fn update(&self, state: &mut RankedRowsState, prediction: &[Label], reference: &Label) {
        self.0.update(&mut state.ranks, prediction, reference);
        state.widths.merge(Widths::of(prediction.len()));
    }

    fn compute(&self, state: &RankedRowsState) -> Self::Score {
        self.0.compute(&state.ranks)
    }
}

/// A class label. The integer 3 and the string "3" are two labels; a line of text has no type and
/// may be either.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    Integer(i64),
    Text(String),
    Line(String),
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Integer(a), Self::Line(b)) | (Self::Line(b), Self::Integer(a)) => {
                a.to_string() == *b
            }
            (Self::Text(a) | Self::Line(a), Self::Text(b) | Self::Line(b)) => a == b,
            (Self::Integer(_), Self::Text(_)) | (Self::Text(_), Self::Integer(_)) => false,
        }
    }
}

pub(crate) fn label(json: &str) -> Result<Label, String> {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => Ok(Label::Text(string(json)?.into_owned())),
        Some(b'-' | b'0'..=b'9') => typed(json)
            .map(Label::Integer)
            .map_err(|_| format!("expected a label, an integer or a string, found {json}")),
        Some(b't' | b'f') => {
            let found = json.trim();
            Err(format!(
                "expected a label, an integer or a string, found {found}: write it as \"{found}\", or as 0 or 1"
            ))
        }
        _ => Err(format!(
            "expected a label, an integer or a string, found {}",
            kind(json)
        )),
    }
}

/// The labels of a list.
fn row(json: &str) -> Result<Vec<Label>, String> {
    struct Row(usize);

    impl<'de> Visitor<'de> for Row {
        /// Or what is wrong with the first that is no label.
        type Value = Result<Vec<Label>, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of labels")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut labels = Ok(Vec::with_capacity(self.0));
            while let Some(json) = list.next_element::<&RawValue>()? {
                match (&mut labels, label(json.get())) {
                    (Ok(labels), Ok(label)) => labels.push(label),
                    (Ok(_), Err(problem)) => labels = Err(problem),
                    (Err(_), _) => {}
                }
            }
            Ok(labels)
        }
    }

    // What grows may have to wait for the thread that had its memory before: room for most rows.
    let commas = json.bytes().filter(|&byte| byte == b',');
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let labels = deserializer.deserialize_seq(Row(commas.take(63).count() + 1));
    let labels = labels.and_then(|labels| deserializer.end().map(|()| labels));
    labels.map_err(|_| format!("expected a list of labels, found {}", kind(json)))?
}

impl Reading for Labels {
    type Metric = RankedRows;

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let input = ("input".to_owned(), "labels".to_owned());
        std::iter::once(input)
            .chain(self.wanted.signature())
            .collect()
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), FieldError> {
        let reference = match record.reference {
            Value::Text(text) => Label::Line(text.to_owned()),
            Value::Json(json) => label(json).map_err(FieldError::reference)?,
            Value::Missing => Label::Text(String::new()),
        };
        if record.prediction == Value::Missing {
            sink.example(&[], &reference);
            return Ok(());
        }
        let row = row(json(record.prediction, "[]")).map_err(FieldError::prediction)?;
        let Wanted::Accuracy(ks) = &self.wanted else {
            sink.example(&row, &reference);
            return Ok(());
        };
        let width = *self.width.get_or_init(|| row.len());
        if row.len() != width {
            return Err(FieldError::prediction(format!(
                "the row has {} labels: expected {width}, as in the first row",
                row.len()
            )));
        }
        let needed = ks.iter().copied().max().unwrap_or(1);
        if row.len() < needed {
            return Err(FieldError::prediction(format!(
                "the row has {} labels: expected at least {needed}, the greatest k",
                row.len()
            )));
        }
        sink.example(&row, &reference);
        Ok(())
    }

    fn scores(&self, state: &RankedRowsState) -> Named<Option<f64>> {
        match &self.wanted {
            Wanted::Accuracy(ks) => self.by_k(ks, state, "accuracy", |k| {
                state.ranks.accuracy_at(k).value()
            }),
            Wanted::ReciprocalRank(cutoff) => {
                let (name, cutoff) = reciprocal_rank(*cutoff);
                vec![(name, state.ranks.mean_reciprocal_rank(cutoff))]
            }
        }
    }

    fn counts(&self, state: &RankedRowsState) -> Named<serde_json::Value> {
        let hits = |k| state.ranks.accuracy_at(k).correct.into();
        let mut counts = match &self.wanted {
            Wanted::Accuracy(ks) => self.by_k(ks, state, "hits", hits),
            Wanted::ReciprocalRank(cutoff) => {
                vec![("found".to_owned(), hits(reciprocal_rank(*cutoff).1))]
            }
        };
        counts.push(("total".to_owned(), state.ranks.total.into()));
        counts
    }

    fn warnings(&self, state: &RankedRowsState, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        if let Wanted::Accuracy(_) = self.wanted {
            warnings.extend(state.widths.warning());
        }
        warnings
    }
}

impl Labels {
    /// A number for each k, under its name.
    fn by_k<T>(
        &self,
        ks: &[usize],
        state: &RankedRowsState,
        name: &str,
        number: impl Fn(usize) -> T,
    ) -> Named<T> {
        // One example may have no row; the length of the rows is that of the data set.
        let longest = state.widths.longest().unwrap_or(0);
        let width = longest.max(self.width.get().copied().unwrap_or(0));
        let default = if width <= 1 { vec![1] } else { vec![1, width] };
        by_k(if ks.is_empty() { &default } else { ks }, name, number)
    }
}

fn by_k<T>(ks: &[usize], name: &str, number: impl Fn(usize) -> T) -> Named<T> {
    ks.iter()
        .map(|&k| (format!("{name}@{k}"), number(k)))
        .collect()
}

struct Scores {
    metric: ScoredRows,
    wanted: Wanted,
    by_class: bool,
    weight_field: Option<String>,
    infinite: bool,
    /// The length of the first row, which all others have.
    width: OnceLock<usize>,
}

/// [`TopK`] that remembers how long the rows are, for the k that cannot miss.
struct ScoredRows(TopK);

/// The rank of the reference in a row of so many scores; `None` without a row.
struct ScoredRow(Option<(TiedRank, usize)>);

#[derive(Clone, Default, Serialize, Deserialize)]
struct ScoredRowsState {
    ranks: RankTable,
    widths: Widths,
}

impl Merge for ScoredRowsState {
    fn merge(&mut self, other: Self) {
        self.ranks.merge(other.ranks);
        self.widths.merge(other.widths);
    }
}

impl Metric for ScoredRows {
    type Prediction = ScoredRow;
    type Reference = Target;
    type State = ScoredRowsState;
    type Score = Vec<(usize, Option<f64>)>;

    fn update(&self, state: &mut ScoredRowsState, prediction: &ScoredRow, reference: &Target) {
        let rank = prediction.0.map(|(rank, _)| rank);
        self.0.update(&mut state.ranks, &rank, reference);
        let width = prediction.0.map_or(0, |(_, width)| width);
        state.widths.merge(Widths::of(width));
    }

    fn compute(&self, state: &ScoredRowsState) -> Self::Score {
        self.0.compute(&state.ranks)
    }
}

/// A score, which JSON has no number for if it is not finite.
struct AnyNumber(f64);

impl<'de> Deserialize<'de> for AnyNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = AnyNumber;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"inf\" or \"-inf\"")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<AnyNumber, E> {
                Ok(AnyNumber(number))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<AnyNumber, E> {
                Ok(AnyNumber(number as f64))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<AnyNumber, E> {
                Ok(AnyNumber(number as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<AnyNumber, E> {
                match text {
                    "inf" | "Infinity" => Ok(AnyNumber(f64::INFINITY)),
                    "-inf" | "-Infinity" => Ok(AnyNumber(f64::NEG_INFINITY)),
                    "nan" | "NaN" => Ok(AnyNumber(f64::NAN)),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl Scores {
    fn row(&self, json: &str, label: i64) -> Result<(TiedRank, usize), FieldError> {
        let scores: Vec<AnyNumber> = typed(json).map_err(|problem| {
            let hint = match json.contains("Infinity") {
                true => ": an infinite score is written \"inf\" or \"-inf\"",
                false => "",
            };
            FieldError::prediction(problem + hint)
        })?;
        let scores: Vec<f64> = scores.into_iter().map(|score| score.0).collect();
        let width = *self.width.get_or_init(|| scores.len());
        if scores.len() != width {
            return Err(FieldError::prediction(format!(
                "the row has {} scores: expected {width}, as in the first row",
                scores.len()
            )));
        }
        let rank = self.metric.0.rank(&scores, label);
        let rank = rank.map_err(|error| match error {
            ScoreError::NoColumn { .. } => FieldError::reference(error),
            ScoreError::Infinite { .. } => {
                FieldError::prediction(format_args!("{error}: allowed with --allow-infinite"))
            }
            _ => FieldError::prediction(error),
        })?;
        Ok((rank, width))
    }

    fn target(&self, record: &Record<'_>, label: i64) -> Result<Target, String> {
        let Some(field) = &self.weight_field else {
            return Ok(Target::new(label));
        };
        let fields = beside(record.fields, &[field])?;
        let weight = fields.get(field);
        let weight = weight.ok_or_else(|| format!("expected a field {field:?}"))?;
        let weight: f64 = typed(weight).map_err(|problem| format!("field {field:?}: {problem}"))?;
        let target = Target::weighted(label, weight);
        target.map_err(|error| format!("field {field:?}: {error}"))
    }

    /// A number of examples, which weights and ties that count in part make a real one.
    fn number(&self, value: f64, whole: bool) -> serde_json::Value {
        if whole && self.weight_field.is_none() {
            (value as u64).into()
        } else {
            value.into()
        }
    }

    fn scores_of(&self, ranks: &RankTable) -> Named<Option<f64>> {
        let metric = &self.metric.0;
        match &self.wanted {
            Wanted::Accuracy(ks) => by_k(ks, "accuracy", |k| metric.accuracy_at(ranks, k)),
            Wanted::ReciprocalRank(cutoff) => {
                let (name, cutoff) = reciprocal_rank(*cutoff);
                vec![(name, metric.mean_reciprocal_rank(ranks, cutoff))]
            }
        }
    }
}

impl Reading for Scores {
    type Metric = ScoredRows;

    fn metric(&self) -> &ScoredRows {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let metric = &self.metric.0;
        let input = ("input".to_owned(), "scores".to_owned());
        let mut parts = vec![input];
        parts.extend(self.wanted.signature());
        parts.push(("ties".to_owned(), metric.ties().to_string()));
        let average = if self.by_class { "macro" } else { "micro" };
        parts.push(("average".to_owned(), average.to_owned()));
        let ignored = metric.ignored().map(|label| label.to_string());
        let infinite = self.infinite.then(|| "yes".to_owned());
        for (name, value) in [
            (IGNORE.name, ignored),
            (WEIGHT.name, self.weight_field.clone()),
            (INFINITE.name, infinite),
        ] {
            parts.extend(value.map(|value| (name.to_owned(), value)));
        }
        parts
    }

    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), FieldError> {
        let text = json(record.reference, "null");
        let label: i64 = typed(text).map_err(|_| {
            FieldError::reference(format!(
                "expected the index of a score, an integer, found {}",
                match kind(text) {
                    "a number" => text,
                    kind => kind,
                }
            ))
        })?;
        if self.metric.0.ignored() == Some(label) {
            sink.note("an example of the ignored label was left out", 1);
            return Ok(());
        }
        let row = match record.prediction {
            Value::Missing => None,
            value => Some(self.row(json(value, ""), label)?),
        };
        let target = self.target(record, label).map_err(FieldError::reference)?;
        sink.example(&ScoredRow(row), &target);
        Ok(())
    }

    fn scores(&self, state: &ScoredRowsState) -> Named<Option<f64>> {
        self.scores_of(&state.ranks)
    }

    fn counts(&self, state: &ScoredRowsState) -> Named<serde_json::Value> {
        let (metric, total) = (&self.metric.0, &state.ranks.total);
        let whole = metric.ties() != Ties::Expected;
        let hits = |k| self.number(metric.hits_at(total, k), whole);
        let mut counts = match &self.wanted {
            Wanted::Accuracy(ks) => by_k(ks, "hits", hits),
            Wanted::ReciprocalRank(cutoff) => {
                vec![("found".to_owned(), hits(reciprocal_rank(*cutoff).1))]
            }
        };
        counts.push(("total".to_owned(), self.number(metric.total(total), true)));
        counts
    }

    fn details(&self, state: &ScoredRowsState) -> Option<serde_json::Value> {
        if !self.by_class {
            return None;
        }
        let classes = state.ranks.classes.iter().map(|(label, ranks)| {
            let mut table = RankTable::default();
            *table.classes.entry(*label) = ranks.clone();
            let scores = self.scores_of(&table).into_iter();
            let mut numbers: serde_json::Map<String, serde_json::Value> =
                scores.map(|(name, value)| (name, value.into())).collect();
            let total = self.number(self.metric.0.total(ranks), true);
            numbers.insert("total".to_owned(), total);
            (label.to_string(), numbers.into())
        });
        let classes: serde_json::Map<String, serde_json::Value> = classes.collect();
        Some(serde_json::json!({ "classes": classes }))
    }

    fn warnings(&self, state: &ScoredRowsState, notes: &Notes) -> Vec<String> {
        let mut warnings = noted(notes);
        warnings.extend(state.widths.warning());
        let longest = state.widths.longest().unwrap_or(usize::MAX);
        for k in self.wanted.ks().iter().filter(|&&k| k >= longest) {
            warnings.push(format!(
                "accuracy@{k} of {longest} classes is 1 whatever the scores"
            ));
        }
        warnings
    }
}
