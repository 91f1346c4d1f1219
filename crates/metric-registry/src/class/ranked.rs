//! Ranked labels.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;

use metric_class::{
    AccuracyAtK, AccuracyByK, Calibration, InvalidK, RankSpan, RankTable, Ranks, Score, ScoreError,
    Target, TiedRank, Ties, TopK, VERSION, label_ranks,
};
use metric_core::{Malformed, Metric, NamedScores, Reader, Writer, Written};
use metric_record::json::scan::{self, Scanner, each_integer};
use metric_record::json::{self, string, typed};
use metric_record::{
    Batch, Cells, Column, FieldError, Kind, Message, Record, RecordError, Side, Value,
};
use ndarray::{ArrayView1, ArrayView2};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde_json::json;
use serde_json::value::RawValue;

use crate::class::label::{integer, named_integer};
use crate::options::{comma_separated, counting, split_list};
use crate::{
    Counted, Demo, Entry, Facts, Header, Named, Numbers, OptionError, OptionKind, OptionSpec,
    Options, Reading, Remarks, Scope, ScoreSpec, Scorer, Sink, Unified, scorer,
};

const INPUT: OptionSpec = OptionSpec::one_of("input", "FORM", || vec!["labels", "scores"],
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
const IGNORE: OptionSpec = OptionSpec::integer(
    "ignore-index",
    "LABEL",
    i64::MIN..=i64::MAX,
    "With scores: leave out examples with this reference, such as -100",
);
const WEIGHT: OptionSpec = OptionSpec::text(
    "weight-field",
    "NAME",
    "With scores: field next to the reference with the weight of the example",
);
const INFINITE: OptionSpec = OptionSpec::flag(
    "allow-infinite",
    "With scores: accept \"inf\" and \"-inf\" as scores",
);

const VALUES: (&str, &str) = (
    "a label, an integer or a string; with --input scores, the index of a score, counted from 0",
    "a list of labels, the most likely first; with --input scores, a list of numbers, one per class",
);

pub(crate) const ACCURACY_AT_K: Entry = Entry {
    name: "accuracy-at-k",
    help: "Share of examples whose reference is among the first k predicted labels",
    values: VALUES,
    known_as: &[(
        &[
            "top-k",
            "topk",
            "top-1",
            "top1",
            "top-5",
            "top5",
            "hit-rate",
            "hits-at-k",
        ],
        "it is accuracy-at-k, with --k 1,5",
    )],
    demos: &[
        Demo::new(
            "ranked labels",
            ["labels.jsonl", "ranked-labels.jsonl"],
            &["accuracy@1", "accuracy@5"],
        )
        .with(&[("k", "1,5")]),
        Demo::new(
            "class scores",
            ["digits.jsonl", "digit-scores.jsonl"],
            &["accuracy@1", "accuracy@5"],
        )
        .with(&[("input", "scores"), ("k", "1,5")]),
    ],
    options: &[
        INPUT,
        OptionSpec::list(
            "k",
            "K,...",
            &OptionKind::Integer(1, i64::MAX),
            "Number of first labels that count, or several such numbers [default: 1 and the length of the rows, or with scores 1 and 5]",
        ),
        TIES,
        AVERAGE,
        IGNORE,
        WEIGHT,
        INFINITE,
    ],
    scores: &[ScoreSpec::higher("accuracy@")
        .by("K")
        .proportion("hits@", "total")],
    details: true,
    report: in_report!(class { sections: ranks }),
    allows_infinite: |options| options.has(INFINITE.name),
    build: &|options| {
        let ks = match options.get("k") {
            None => Vec::new(),
            Some(text) => numbers(&text).map_err(|reason| OptionError::new("k", &text, reason))?,
        };
        build("accuracy-at-k", options, Wanted::Accuracy(ks))
    },
    ..Entry::BASE
};

pub(crate) const MRR: Entry = Entry {
    name: "mrr",
    help: "Mean reciprocal rank of the reference among the predicted labels",
    values: VALUES,
    demos: &[Demo::new(
        "ranked labels",
        ["labels.jsonl", "ranked-labels.jsonl"],
        &[],
    )],
    options: &[
        INPUT,
        OptionSpec::integer("k", "K", 1..=i64::MAX, "Count only the first K labels"),
        TIES,
        AVERAGE,
        IGNORE,
        WEIGHT,
        INFINITE,
    ],
    scores: &[ScoreSpec::higher("mrr"), ScoreSpec::higher("mrr@").by("K")],
    details: true,
    report: in_report!(class { sections: ranks }),
    allows_infinite: |options| options.has(INFINITE.name),
    build: &|options| {
        let cutoff = options.counting("k", usize::MAX)?;
        build("mrr", options, Wanted::ReciprocalRank(cutoff))
    },
    ..Entry::BASE
};

/// The score that is read from the ranks.
enum Wanted {
    /// Accuracy at these k; empty for the default.
    Accuracy(Vec<usize>),
    /// The mean reciprocal rank; only of the first labels if there is a cutoff.
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
            comma_separated(&ks)
        };
        Some(("k".to_owned(), ks))
    }
}

impl Wanted {
    /// The number of first labels without which a reference is missed: the least k, or the cutoff.
    fn least(&self) -> usize {
        match self {
            Self::Accuracy(ks) => ks.iter().copied().min().unwrap_or(1),
            Self::ReciprocalRank(cutoff) => cutoff.map_or(usize::MAX, NonZeroUsize::get),
        }
    }
}

/// The name and the cutoff of the mean reciprocal rank.
fn reciprocal_rank(cutoff: Option<NonZeroUsize>) -> (String, usize) {
    match cutoff {
        None => ("mrr".to_owned(), usize::MAX),
        Some(k) => (format!("mrr@{k}"), k.get()),
    }
}

fn build(name: &str, options: &Options, mut wanted: Wanted) -> Result<Scorer, OptionError> {
    let scores = options.is("input", "scores");
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
                let reason = Message::from("expected only with ").option("input", "scores");
                return Err(OptionError::new(option.name, &value, reason));
            }
        }
        let reading = Labels {
            metric: AccuracyAtK::new(ks).map_err(invalid)?,
            wanted,
            counts_missed: options.details(),
        };
        return Ok(scorer(name, VERSION, reading));
    }
    let mut metric = TopK::new(ks).map_err(invalid)?;
    metric = metric.with_ties(options.parse("ties")?.unwrap_or_default());
    let by_class = options.is("average", "macro");
    if by_class {
        metric = metric.with_macro_average();
    }
    if let Some(text) = options.get("ignore-index") {
        let label = text
            .trim()
            .parse()
            .map_err(|_| OptionError::new("ignore-index", &text, "expected an integer"))?;
        metric = metric.with_ignored(label);
    }
    let weight_field: Option<String> = options.parse("weight-field")?;
    if weight_field.is_some() {
        metric = metric.with_weights();
    }
    let infinite = options.has("allow-infinite");
    if infinite {
        metric = metric.with_infinite_scores();
    }
    let reading = Scores {
        metric,
        wanted,
        by_class,
        calibrates: options.details() && weight_field.is_none(),
        counts_missed: options.details(),
        weight_field,
        infinite,
    };
    Ok(scorer(name, VERSION, reading))
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let mut numbers = Vec::new();
    for part in split_list(text)? {
        let k = counting(&part, usize::MAX).map_err(|reason| {
            if part == text {
                reason
            } else {
                format!("found {part:?}, {reason}")
            }
        })?;
        if !numbers.contains(&k.get()) {
            numbers.push(k.get());
        }
    }
    // Equal signatures print the same.
    numbers.sort_unstable();
    Ok(numbers)
}

/// The number of references with each rank, from 1; among ties, the number that may have any rank from the first to the
/// last.
fn ranks(found: impl Iterator<Item = ([usize; 2], u64)>, nowhere: u64) -> serde_json::Value {
    let ranks = found.map(|([first, last], count)| {
        serde_json::json!({"first": first + 1, "last": last + 1, "examples": count})
    });
    serde_json::json!({"ranks": ranks.collect::<Vec<_>>(), "without_rank": nowhere})
}

/// The start of the names of tallies of missed labels. After it comes the label as JSON.
const MISSED: &str = "missed:";

/// The labels that were missed at least once, the most missed ones first, and equal ones in the order of their JSON.
fn missed_labels(remarks: Remarks<'_>) -> serde_json::Value {
    let mut missed: Vec<(&str, u64)> = remarks.tallies(MISSED).collect();
    missed.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let missed = missed.into_iter().map(|(label, times)| {
        // The name was written as JSON.
        let label: serde_json::Value = serde_json::from_str(label).unwrap_or_default();
        json!({"label": label, "examples": times})
    });
    missed.collect()
}

struct Labels {
    metric: AccuracyAtK<Label>,
    wanted: Wanted,
    /// Whether missed labels are counted, for details.
    counts_missed: bool,
}

/// The rows of a data set, which all have one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rows {
    /// No row has been seen.
    #[default]
    Unknown,
    /// Rows of this many labels.
    Labels(usize),
    /// Rows of this many scores.
    Scores(usize),
}

impl Rows {
    fn width(self) -> Option<usize> {
        match self {
            Self::Unknown => None,
            Self::Labels(width) | Self::Scores(width) => Some(width),
        }
    }
}

/// The name of the kind of rows; with a width, a map from the name to it.
impl Written for Rows {
    fn write(&self, to: &mut Writer) {
        let (name, width) = match self {
            Self::Unknown => return to.text("Unknown"),
            Self::Labels(width) => ("Labels", width),
            Self::Scores(width) => ("Scores", width),
        };
        to.map(1);
        to.field(name, width);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        if from.attempt(|from| from.name("Unknown")).is_some() {
            return Ok(Self::Unknown);
        }
        from.map()?;
        match from.optional_field("Labels")? {
            Some(width) => Ok(Self::Labels(width)),
            None => from.field("Scores").map(Self::Scores),
        }
    }
}

impl Header for Rows {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        match (*self, *other) {
            (Self::Unknown, other) => *self = other,
            (_, Self::Unknown) => {}
            (ours, other) if ours == other => {}
            (ours, other) => {
                let (found, expected) = (other.width().unwrap_or(0), ours.width().unwrap_or(0));
                let problem = |what| {
                    let several = if found == 1 { "" } else { "s" };
                    let rest = format!("expected {expected}, as in the first row");
                    Message::from(format!("the row has {found} {what}{several}: {rest}"))
                };
                return Err(match other {
                    Self::Scores(_) => problem("score"),
                    _ => problem("label")
                        .text("; to allow any number, use ")
                        .option("k", ""),
                });
            }
        }
        Ok(Unified::Kept)
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
                integer(b) == Some(*a)
            }
            (Self::Text(a) | Self::Line(a), Self::Text(b) | Self::Line(b)) => a == b,
            (Self::Integer(_), Self::Text(_)) | (Self::Text(_), Self::Integer(_)) => false,
        }
    }
}

impl Label {
    /// The integer that the label names, however it is written.
    fn named_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) | Self::Line(text) => named_integer(text),
        }
    }

    /// The label as JSON.
    fn json(&self) -> serde_json::Value {
        match self {
            Self::Integer(number) => json!(number),
            Self::Text(text) | Self::Line(text) => json!(text),
        }
    }
}

/// A label whose text is in a value, or was unescaped.
#[derive(Clone, Debug)]
pub(crate) enum LabelView<'a> {
    Integer(i64),
    Text(Cow<'a, str>),
    Line(&'a str),
}

impl LabelView<'_> {
    /// The integer that the label names, however it is written.
    fn named_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => named_integer(text),
            Self::Line(text) => named_integer(text),
        }
    }

    /// The label as JSON.
    fn json(&self) -> serde_json::Value {
        match self {
            Self::Integer(number) => json!(number),
            Self::Text(text) => json!(text),
            Self::Line(text) => json!(text),
        }
    }

    fn into_label(self) -> Label {
        match self {
            Self::Integer(number) => Label::Integer(number),
            Self::Text(text) => Label::Text(text.into_owned()),
            Self::Line(text) => Label::Line(text.to_owned()),
        }
    }
}

/// Reads a label without a copy of its text; a missing value gives `None`.
pub(crate) fn view_label<'a>(value: &mut Value<'a>) -> Result<Option<LabelView<'a>>, String> {
    if let Some(text) = value.as_line() {
        return Ok(Some(LabelView::Line(text)));
    }
    let integer = value.as_json().and_then(scan::integer);
    if let Some(number) = integer.or_else(|| value.as_integer()) {
        return Ok(Some(LabelView::Integer(number)));
    }
    match value.kind() {
        Kind::String => value.text().map(|text| Some(LabelView::Text(text))),
        _ => {
            let label = value.to_json()?.map(|json| label(&json)).transpose()?;
            Ok(label.map(|label| match label {
                Label::Integer(number) => LabelView::Integer(number),
                Label::Text(text) | Label::Line(text) => LabelView::Text(Cow::Owned(text)),
            }))
        }
    }
}

fn label(json: &str) -> Result<Label, String> {
    if let Some(number) = scan::integer(json) {
        return Ok(Label::Integer(number));
    }
    match json.trim_start().as_bytes().first() {
        Some(b'"') => Ok(Label::Text(string(json)?.into_owned())),
        // serde_json reads it as a number that is not an integer.
        _ if json.trim() == "-0" => Ok(Label::Integer(0)),
        Some(b'-' | b'0'..=b'9') => typed(json).map(Label::Integer).map_err(|_| {
            let found = json.trim();
            let whole = named_integer(found)
                .map(|whole| format!(": write it as {whole} or, if it is a name, as \"{found}\""));
            let whole = whole.unwrap_or_default();
            format!("expected a label, an integer or a string, found {found}{whole}")
        }),
        Some(b't' | b'f') => {
            let found = json.trim();
            Err(format!(
                "expected a label, an integer or a string, found {found}: write it as \"{found}\", or as 0 or 1"
            ))
        }
        _ => Err(format!(
            "expected a label, an integer or a string, found {}",
            json::kind(json)
        )),
    }
}

/// The rank of a label in a list of labels in JSON, from 0, and the length of the list; `None` for a list that is
/// not plain.
fn rank_in_row(json: &str, reference: &LabelView<'_>) -> Option<(Option<usize>, usize)> {
    let (mut rank, mut width) = (None, 0);
    let integer_reference = match reference {
        LabelView::Integer(reference) => Some(*reference),
        LabelView::Line(reference) => integer(reference),
        LabelView::Text(_) => None,
    };
    let read = each_integer(json, |label| {
        if rank.is_none() && integer_reference == Some(label) {
            rank = Some(width);
        }
        width += 1;
    });
    if read.is_some() {
        return Some((rank, width));
    }
    (rank, width) = (None, 0);
    let mut scanner = Scanner::new(json);
    scanner.list(|item| {
        let is_it = match item.peek()? {
            b'"' => {
                let text = item.string()?;
                match reference {
                    LabelView::Integer(_) => false,
                    LabelView::Text(reference) => *text == **reference,
                    LabelView::Line(reference) => text == *reference,
                }
            }
            _ => integer_reference == Some(item.integer()?),
        };
        if is_it && rank.is_none() {
            rank = Some(width);
        }
        width += 1;
        Some(())
    })?;
    scanner.is_at_end().then_some((rank, width))
}

/// Whether a row in which a label is not found has the same integer in another form, such as 3 for the string "3".
fn has_other_form(json: &str, label: &LabelView<'_>) -> bool {
    let Some(number) = label.named_integer() else {
        return false;
    };
    // Integers differ in their values only.
    if matches!(label, LabelView::Integer(_)) && !json.contains('"') {
        return false;
    }
    let mut found = false;
    // A row that cannot be scanned is one that was read in another way.
    let _ = Scanner::new(json).list(|item| {
        found |= match item.peek()? {
            b'"' => named_integer(item.string()?) == Some(number),
            _ => item.integer()? == number,
        };
        Some(())
    });
    found
}

/// What is wrong with a row of labels. Rows of numbers are perhaps scores.
fn row_problem(problem: String, json: &str) -> Message {
    let message = Message::from(problem);
    if typed::<Vec<f64>>(json).is_err() {
        return message;
    }
    let message = message.text("; if a row has the scores of all classes, use ");
    message.option(INPUT.name, "scores")
}

/// The labels of a list.
fn read_row(json: &str) -> Result<Vec<Label>, String> {
    struct Row(usize);

    impl<'de> Visitor<'de> for Row {
        /// Or what is wrong with the first element that is not a label.
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

    // Growing may have to wait for the thread that had the memory before, so there is room for most rows.
    let commas = json.bytes().filter(|&byte| byte == b',');
    let room = commas.take(63).count() + 1;
    let mut labels = Vec::with_capacity(room);
    let mut scanner = Scanner::new(json);
    let scanned = scanner.list(|item| {
        labels.push(match item.peek()? {
            b'"' => Label::Text(item.string()?.to_owned()),
            _ => Label::Integer(item.integer()?),
        });
        Some(())
    });
    if scanned.is_some() && scanner.is_at_end() {
        return Ok(labels);
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let labels = deserializer.deserialize_seq(Row(room));
    let labels = labels.and_then(|labels| deserializer.end().map(|()| labels));
    labels.map_err(|_| format!("expected a list of labels, found {}", json::kind(json)))?
}

impl Reading for Labels {
    type Metric = AccuracyAtK<Label>;
    type Header = Rows;

    fn metric(&self) -> &Self::Metric {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        let input = ("input".to_owned(), "labels".to_owned());
        std::iter::once(input)
            .chain(self.wanted.signature())
            .collect()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let reference = view_label(&mut record.reference).map_err(FieldError::reference)?;
        if let (Some(reference), false) = (&reference, record.prediction.is_missing())
            && let Some(json) = record.prediction.as_json()
            && let Some(rank) = rank_in_row(json, reference)
        {
            return self.add_rank(rank, json, reference, sink);
        }
        let reference = reference.map(LabelView::into_label);
        let reference = reference.unwrap_or_else(|| Label::Text(String::new()));
        if record.prediction.is_missing() {
            sink.example(&[], &reference);
            self.count_missed(None, || reference.json(), sink);
            return Ok(());
        }
        let row: Vec<Label> = match record.prediction.as_integers() {
            Some(row) => row.iter().copied().map(Label::Integer).collect(),
            None => {
                let row = record.prediction.to_json_or("[]");
                let row = row.map_err(FieldError::prediction)?;
                read_row(&row)
                    .map_err(|problem| FieldError::prediction(row_problem(problem, &row)))?
            }
        };
        self.check_width(row.len(), 1, sink)?;
        sink.example(&row, &reference);
        let rank = row.iter().position(|label| *label == reference);
        if rank.is_none()
            && let Some(number) = reference.named_integer()
            && row
                .iter()
                .any(|label| label.named_integer() == Some(number))
        {
            sink.count(&other_form(), 1);
        }
        self.count_missed(rank, || reference.json(), sink);
        Ok(())
    }

    /// Takes integers as references, and rows or lists of integers as predictions; also both as JSON.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        if let (Column::Json(predictions), Column::Json(references)) =
            (batch.predictions(), batch.references())
        {
            let mut rows = predictions.iter().zip(references.iter()).enumerate();
            return Some(rows.try_for_each(|(index, (prediction, reference))| {
                sink.row(batch, index);
                let label = reference.and_then(scan::integer).map(LabelView::Integer);
                if let Some((json, label)) = prediction.zip(label)
                    && let Some(rank) = rank_in_row(json, &label)
                {
                    let added = self.add_rank(rank, json, &label, sink);
                    return added.map_err(|error| RecordError { index, error });
                }
                sink.read_row(batch, index)
            }));
        }
        let Column::Integers(references) = batch.references() else {
            return None;
        };
        match batch.predictions() {
            Column::Labels(rows) => Some(self.read_rows(rows.view(), *references, batch, sink)),
            Column::IntegerLists(lists) => {
                let rows = (0..lists.len()).map(|row| {
                    let list = lists.range(row)?;
                    Some(lists.items().slice(list).values())
                });
                Some(self.read_lists(rows, *references, batch, sink))
            }
            _ => None,
        }
    }

    fn details(
        &self,
        state: &Ranks,
        _header: &Rows,
        remarks: Remarks<'_>,
    ) -> Option<serde_json::Value> {
        let found = state.hits_at.iter().copied().enumerate();
        let found = found.filter(|(_, count)| *count > 0);
        let found_ones = state.hits_at.iter().copied().fold(0, u64::saturating_add);
        let nowhere = state.total.saturating_sub(found_ones);
        let found = found.map(|(rank, count)| ([rank; 2], count));
        let mut details = ranks(found, nowhere);
        details["missed"] = missed_labels(remarks);
        Some(details)
    }

    fn numbers(&self, state: &Ranks, header: &Rows, scope: Scope<'_>) -> Numbers {
        let hits = |k| state.accuracy_at(k).correct.into();
        let (scores, mut counts) = match &self.wanted {
            Wanted::Accuracy(ks) => {
                let ks = self.ks(ks, *header);
                let accuracy = ks.iter().map(|&k| (k, state.accuracy_at(k).value()));
                let accuracy = AccuracyByK(accuracy.collect());
                (accuracy.named_scores(), by_k(&ks, "hits", hits))
            }
            Wanted::ReciprocalRank(cutoff) => {
                let (name, cutoff) = reciprocal_rank(*cutoff);
                let scores = vec![(name, state.mean_reciprocal_rank(cutoff))];
                (scores, vec![("found".to_owned(), hits(cutoff))])
            }
        };
        counts.push(("total".to_owned(), state.total.into()));
        let mut warnings = Vec::new();
        if let (Wanted::Accuracy(ks), Scope::Total) = (&self.wanted, scope)
            && let ([], Some(width @ 2..)) = (ks.as_slice(), header.width())
        {
            let warning = Message::from(format!(
                "the k of accuracy@{width} is the number of labels in a row of the predictions; to choose it, use "
            ));
            warnings.push(warning.option("k", ""));
        }
        Numbers {
            scores,
            counts,
            warnings,
            ..Numbers::default()
        }
    }
}

impl Labels {
    /// Counts a row, as JSON, in which a label has this rank, and which has this length.
    fn add_rank(
        &self,
        (rank, width): (Option<usize>, usize),
        json: &str,
        label: &LabelView<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        self.check_width(width, 1, sink)?;
        sink.counted_in(|ranks| ranks.record(rank));
        if rank.is_none() && has_other_form(json, label) {
            sink.count(&other_form(), 1);
        }
        self.count_missed(rank, || label.json(), sink);
        Ok(())
    }

    /// Counts a label that is not among the first ones, for details.
    fn count_missed(
        &self,
        rank: Option<usize>,
        label: impl FnOnce() -> serde_json::Value,
        sink: &mut Sink<'_, Self>,
    ) {
        if self.counts_missed && rank.is_none_or(|rank| rank >= self.wanted.least()) {
            sink.tally(&format!("{MISSED}{}", label()), 1);
        }
    }

    /// Notes rows with fewer labels than the greatest k. Without `--k` refuses a row of another length than the
    /// first one, which is the k.
    fn check_width(
        &self,
        width: usize,
        rows: u64,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let most = match &self.wanted {
            Wanted::Accuracy(ks) => match ks.iter().max() {
                None => return sink.share(Side::Prediction, Rows::Labels(width)),
                Some(&most) => most,
            },
            Wanted::ReciprocalRank(cutoff) => cutoff.map_or(0, NonZeroUsize::get),
        };
        if width < most {
            let what = |rows, their| {
                let rest = "so that a reference after";
                Message::from(format!("{rows} fewer than the {most} labels of "))
                    .option("k", "")
                    .text(format_args!(", {rest} {their} end counts as not found"))
            };
            sink.count(
                &Counted::new(what("row has", "its"), what("rows have", "their")),
                rows,
            );
        }
        Ok(())
    }

    /// Reads the rows of an array, all at once if no reference is null.
    fn read_rows(
        &self,
        rows: ArrayView2<'_, i64>,
        references: Cells<'_, i64>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        if !sink.wants_samples()
            && !self.counts_missed
            && !batch.is_empty()
            && let Some(references) = references.without_nulls()
            && let Ok(ranks) = label_ranks(rows, ArrayView1::from(references))
        {
            sink.row(batch, 0);
            self.check_width(rows.ncols(), batch.len() as u64, sink)
                .map_err(|error| RecordError { index: 0, error })?;
            sink.pooled(batch.len() as u64, &[], ranks);
            return Ok(());
        }
        self.read_lists(rows.outer_iter().map(Some), references, batch, sink)
    }

    /// Reads rows one by one; `None` is null.
    fn read_lists<'r, I: IntoIterator<Item = &'r i64>>(
        &self,
        rows: impl Iterator<Item = Option<I>>,
        references: Cells<'_, i64>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError>
    where
        I::IntoIter: ExactSizeIterator,
    {
        let mut pooled = Ranks::default();
        for (index, row) in rows.enumerate() {
            sink.row(batch, index);
            let (Some(row), Some(reference)) = (row, references.get(index)) else {
                sink.read_row(batch, index)?;
                continue;
            };
            let mut labels = row.into_iter();
            self.check_width(labels.len(), 1, sink)
                .map_err(|error| RecordError { index, error })?;
            let rank = labels.position(|label| *label == reference);
            self.count_missed(rank, || json!(reference), sink);
            if sink.wants_samples() {
                let mut ranks = Ranks::default();
                ranks.record(rank);
                sink.measured(None, &[], ranks);
            } else {
                pooled.record(rank);
            }
        }
        sink.pooled(pooled.total, &[], pooled);
        Ok(())
    }

    /// The k that are reported: by default 1 and the length of the rows.
    fn ks<'k>(&self, ks: &'k [usize], rows: Rows) -> Cow<'k, [usize]> {
        match rows.width().unwrap_or(0) {
            _ if !ks.is_empty() => Cow::Borrowed(ks),
            0 | 1 => Cow::Borrowed(&[1]),
            width => Cow::Owned(vec![1, width]),
        }
    }
}

fn by_k<T>(ks: &[usize], name: &str, number: impl Fn(usize) -> T) -> Named<T> {
    ks.iter()
        .map(|&k| (format!("{name}@{k}"), number(k)))
        .collect()
}

struct Scores {
    metric: TopK,
    wanted: Wanted,
    by_class: bool,
    weight_field: Option<String>,
    infinite: bool,
    /// Whether the accuracy by confidence is counted: for details, of examples that count the same.
    calibrates: bool,
    /// Whether missed labels are counted, for details.
    counts_missed: bool,
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
    /// Whether a reference is the ignored label. Its example is then counted as left out.
    fn ignores(&self, label: i64, sink: &mut Sink<'_, Self>) -> bool {
        let ignored = self.metric.ignored() == Some(label);
        if ignored {
            sink.count(&ignored_examples(), 1);
        }
        ignored
    }

    fn rank<S: Score>(
        &self,
        scores: &[S],
        label: i64,
        sink: &mut Sink<'_, Self>,
    ) -> Result<TiedRank, FieldError> {
        sink.share(Side::Prediction, Rows::Scores(scores.len()))?;
        let rank = self.metric.rank(scores, label);
        let rank = rank.map_err(|error| match error {
            ScoreError::NoColumn { .. } => FieldError::reference(error.to_string()),
            ScoreError::Infinite { .. } => {
                let problem = Message::from(format!("{error}: allowed with "));
                FieldError::prediction(problem.option(INFINITE.name, ""))
            }
            _ => FieldError::prediction(error.to_string()),
        })?;
        if rank.tied_before + rank.tied_after + 1 == scores.len() {
            self.note_constant(scores.len(), 1, sink);
        }
        Ok(rank)
    }

    /// Notes rows of equal scores, whose reference comes first under `--ties optimistic`.
    fn note_constant(&self, width: usize, rows: u64, sink: &mut Sink<'_, Self>) {
        if self.metric.ties() == Ties::Optimistic && width > 1 {
            let what = |rows| {
                let why = "so that the reference comes first whatever it is; other rules of ";
                Message::from(format!("{rows} the same score for all classes, {why}"))
                    .option("ties", "")
                    .text(" count such rows as a guess or a miss")
            };
            sink.count(&Counted::new(what("row has"), what("rows have")), rows);
        }
    }

    fn target(&self, record: &Record<'_>, label: i64) -> Result<Target, FieldError> {
        let Some(field) = &self.weight_field else {
            return Ok(Target::new(label));
        };
        let fields = json::fields(record.fields, &[field]).map_err(FieldError::reference)?;
        let weight = fields.get(field).ok_or_else(|| no_weight(field))?;
        let weight = weight_of(weight).map_err(|problem| FieldError::field(field, problem))?;
        weighted(field, label, weight)
    }

    /// The target of a record of a batch.
    fn column_target(
        &self,
        batch: &Batch<'_>,
        row: usize,
        label: i64,
    ) -> Result<Target, FieldError> {
        let Some(field) = &self.weight_field else {
            return Ok(Target::new(label));
        };
        let column = batch.field(field);
        let column = column.ok_or_else(|| no_weight(field))?;
        if let Column::Numbers(weights) = column
            && let Some(weight) = weights.get(row).filter(|weight| weight.is_finite())
        {
            return weighted(field, label, weight);
        }
        let mut value = column.value(row);
        let weight = value.to_json_or("null").and_then(|json| weight_of(&json));
        let weight = weight.map_err(|problem| FieldError::field(field, problem))?;
        weighted(field, label, weight)
    }

    /// Reads the rows of an array, all at once if each reference is an integer and there are no weights.
    fn read_rows<S: Score + PartialEq>(
        &self,
        rows: ArrayView2<'_, S>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        if !sink.wants_samples()
            && !self.counts_missed
            && self.weight_field.is_none()
            && let Column::Integers(labels) = batch.references()
            && let Some(labels) = labels.without_nulls()
            && let Ok(state) = self
                .metric
                .measure_rows(rows, ArrayView1::from(labels), None)
        {
            if self.metric.ties() == Ties::Optimistic {
                let is_constant =
                    |row: &ArrayView1<'_, S>| row.iter().all(|score| *score == row[0]);
                let counted = rows.outer_iter().zip(labels);
                let counted = counted.filter(|(_, label)| self.metric.ignored() != Some(**label));
                let constant = counted.filter(|(row, _)| is_constant(row)).count();
                self.note_constant(rows.ncols(), constant as u64, sink);
            }
            return self.pool_rows(state, rows.ncols(), labels, batch, sink);
        }
        let mut copy = Vec::new();
        for (index, row) in rows.outer_iter().enumerate() {
            sink.row(batch, index);
            let row = row.to_slice().unwrap_or_else(|| {
                copy.clear();
                copy.extend(&row);
                &copy
            });
            self.read_scores_of(row, index, batch, sink)
                .map_err(|error| RecordError { index, error })?;
        }
        Ok(())
    }

    /// Adds the state of all rows of an array, whose references are `labels`.
    fn pool_rows(
        &self,
        state: RankTable,
        width: usize,
        labels: &[i64],
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        let is_counted = |label: &i64| self.metric.ignored() != Some(*label);
        let counted = labels.iter().filter(|label| is_counted(label)).count();
        sink.count(&ignored_examples(), (labels.len() - counted) as u64);
        // Rows of the ignored label may have any width.
        if let Some(index) = labels.iter().position(is_counted) {
            sink.row(batch, index);
            sink.share(Side::Prediction, Rows::Scores(width))
                .map_err(|error| RecordError { index, error })?;
        }
        sink.pooled(counted as u64, &[], state);
        Ok(())
    }

    fn read_scores_of<S: Score>(
        &self,
        scores: &[S],
        row: usize,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let label = read_index(&mut batch.references().value(row))?;
        if self.ignores(label, sink) {
            return Ok(());
        }
        let rank = self.rank(scores, label, sink)?;
        let target = self.column_target(batch, row, label);
        self.add(rank, scores, &target?, sink);
        self.count_missed(Some(rank), label, sink);
        Ok(())
    }

    /// Adds an example whose reference has this rank among the scores.
    fn add<S: Score>(
        &self,
        rank: TiedRank,
        scores: &[S],
        target: &Target,
        sink: &mut Sink<'_, Self>,
    ) {
        if !self.calibrates {
            return sink.example(&Some(rank), target);
        }
        let mut state = self.metric.measure(&Some(rank), target);
        self.metric.calibrate(&mut state, scores, rank);
        sink.measured(None, &[], state);
    }

    /// Counts a label that is not among the first ones, for details.
    fn count_missed(&self, rank: Option<TiedRank>, label: i64, sink: &mut Sink<'_, Self>) {
        if !self.counts_missed {
            return;
        }
        // Whatever the weight of the example is.
        let state = self.metric.measure(&rank, &Target::new(label));
        if self.metric.hits_at(&state.total, self.wanted.least()) == 0.0 {
            sink.tally(&format!("{MISSED}{label}"), 1);
        }
    }

    /// The accuracy by confidence as data, where it is counted.
    fn reliability(&self, calibration: &Calibration) -> serde_json::Value {
        if !self.calibrates {
            return serde_json::Value::Null;
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
            "bins": bins.collect::<Vec<_>>(),
        })
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
        let metric = &self.metric;
        match &self.wanted {
            Wanted::Accuracy(ks) => {
                let accuracy = ks.iter().map(|&k| (k, metric.accuracy_at(ranks, k)));
                AccuracyByK(accuracy.collect()).named_scores()
            }
            Wanted::ReciprocalRank(cutoff) => {
                let (name, cutoff) = reciprocal_rank(*cutoff);
                vec![(name, metric.mean_reciprocal_rank(ranks, cutoff))]
            }
        }
    }
}

/// The note of a reference that is in its row in another form.
fn other_form() -> Counted {
    let rest = "as another label: an integer, the string it is written as and one with decimals, such as 3, \"3\" and \"3.0\", are different labels";
    Counted::new(
        format!("row has its reference {rest}"),
        format!("rows have their reference {rest}"),
    )
}

/// The note of an example that is left out.
fn ignored_examples() -> Counted {
    Counted::new(
        "example of the ignored label was left out",
        "examples of the ignored label were left out",
    )
}

/// Reads a weight, which may be a text: the cells of CSV are.
fn weight_of(json: &str) -> Result<f64, String> {
    typed(json).or_else(|problem| {
        let text = string(json).ok();
        let number = text.and_then(|text| typed::<f64>(&text).ok());
        number.ok_or(problem)
    })
}

fn weighted(field: &str, label: i64, weight: f64) -> Result<Target, FieldError> {
    let target = Target::weighted(label, weight);
    target.map_err(|error| FieldError::field(field, error.to_string()))
}

/// The error of a record that has no weight.
fn no_weight(field: &str) -> FieldError {
    FieldError::reference(format!("expected a field {field:?}")).of_field(field)
}

/// Reads a reference that is the index of a score.
fn read_index(value: &mut Value<'_>) -> Result<i64, FieldError> {
    if let Some(label) = value.as_integer() {
        return Ok(label);
    }
    let text = value.to_json_or("null").map_err(FieldError::reference)?;
    if let Some(label) = scan::integer(&text) {
        return Ok(label);
    }
    typed(&text).map_err(|_| {
        let found = match json::kind(&text) {
            Kind::Number => text.to_string(),
            kind => kind.to_string(),
        };
        FieldError::reference(format!(
            "expected the index of a score, an integer, found {found}"
        ))
    })
}

/// Reads a row of scores.
fn read_scores<'a>(value: &mut Value<'a>) -> Result<Cow<'a, [f64]>, String> {
    if let Some(row) = value.as_numbers() {
        return Ok(Cow::Borrowed(row));
    }
    let Ok(json) = value.to_json_or("") else {
        // A row of a column with a number that JSON has no form for, or no JSON at all.
        return value.read().map(Cow::Owned);
    };
    let mut scores = Vec::new();
    if scan::numbers(&json, &mut scores).is_some() {
        return Ok(Cow::Owned(scores));
    }
    let scores: Vec<AnyNumber> = typed(&json).map_err(|problem| {
        if json.contains("Infinity") {
            "Infinity is not a JSON number: an infinite score is written \"inf\" or \"-inf\""
                .to_owned()
        } else {
            problem
        }
    })?;
    Ok(scores.into_iter().map(|score| score.0).collect())
}

impl Reading for Scores {
    type Metric = TopK;
    type Header = Rows;

    fn metric(&self) -> &TopK {
        &self.metric
    }

    fn facts(&self) -> Facts {
        let whole = self.metric.ties() != Ties::Expected;
        Facts {
            further_fields: self.weight_field.iter().cloned().collect(),
            has_proportions: whole && !self.by_class && self.weight_field.is_none(),
            ..Facts::default()
        }
    }

    fn signature(&self) -> Named<String> {
        let metric = &self.metric;
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

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let label = read_index(&mut record.reference)?;
        if self.ignores(label, sink) {
            return Ok(());
        }
        let mut prediction = record.prediction;
        let target = |record: &Record<'_>| self.target(record, label);
        if prediction.is_missing() {
            sink.example(&None, &target(record)?);
            self.count_missed(None, label, sink);
        } else if let Some(row) = prediction.as_numbers_f32() {
            let rank = self.rank(row, label, sink)?;
            self.add(rank, row, &target(record)?, sink);
            self.count_missed(Some(rank), label, sink);
        } else {
            let row = read_scores(&mut prediction).map_err(FieldError::prediction)?;
            let rank = self.rank(&row, label, sink)?;
            self.add(rank, &row, &target(record)?, sink);
            self.count_missed(Some(rank), label, sink);
        }
        Ok(())
    }

    /// Takes rows of scores.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        match batch.predictions() {
            Column::Scores(rows) => Some(self.read_rows(rows.view(), batch, sink)),
            Column::ScoresF32(rows) => Some(self.read_rows(rows.view(), batch, sink)),
            _ => None,
        }
    }

    fn numbers(&self, state: &RankTable, header: &Rows, scope: Scope<'_>) -> Numbers {
        let (metric, total) = (&self.metric, &state.total);
        let whole = metric.ties() != Ties::Expected;
        let hits = |k| self.number(metric.hits_at(total, k), whole);
        let mut counts = match &self.wanted {
            Wanted::Accuracy(ks) => by_k(ks, "hits", hits),
            Wanted::ReciprocalRank(cutoff) => {
                vec![("found".to_owned(), hits(reciprocal_rank(*cutoff).1))]
            }
        };
        counts.push(("total".to_owned(), self.number(metric.total(total), true)));
        let mut warnings = Vec::new();
        if scope == Scope::Total {
            let width = header.width().unwrap_or(usize::MAX);
            for k in self.wanted.ks().iter().filter(|&&k| k >= width) {
                warnings.push(Message::from(format!(
                    "accuracy@{k} of {width} classes is 1 whatever the scores"
                )));
            }
        }
        Numbers {
            scores: self.scores_of(state),
            counts,
            warnings,
            ..Numbers::default()
        }
    }

    fn details(
        &self,
        state: &RankTable,
        _header: &Rows,
        remarks: Remarks<'_>,
    ) -> Option<serde_json::Value> {
        let found = state.total.ranks().filter_map(|(span, count)| {
            let RankSpan { first, last } = span?;
            Some(([first, last], count))
        });
        let nowhere = state.total.ranks().filter(|(span, _)| span.is_none());
        let mut details = ranks(found, nowhere.map(|(_, count)| count).sum());
        details["reliability"] = self.reliability(&state.calibration);
        if !self.by_class {
            details["missed"] = missed_labels(remarks);
            return Some(details);
        }
        let classes = state.classes.iter().map(|(label, ranks)| {
            let mut table = RankTable::default();
            *table.classes.entry(*label) = ranks.clone();
            let scores = self.scores_of(&table).into_iter();
            let mut numbers: serde_json::Map<String, serde_json::Value> =
                scores.map(|(name, value)| (name, value.into())).collect();
            let total = self.number(self.metric.total(ranks), true);
            numbers.insert("total".to_owned(), total);
            (label.to_string(), numbers.into())
        });
        let classes: serde_json::Map<String, serde_json::Value> = classes.collect();
        details["classes"] = classes.into();
        details["missed"] = missed_labels(remarks);
        Some(details)
    }
}
