//! Ranked labels: a list of labels, the most likely first, and the label of the reference.

use std::borrow::Cow;

use metric_class::{LabelRef, RankSpan, RankTable, Ranks, TopK, label_ranks};
use metric_core::{Malformed, Reader, Writer, Written};
use metric_record::json::scan::{self, Scanner, each_integer};
use metric_record::json::{self, typed};
use metric_record::{Batch, Column, FieldError, Message, Record, RecordError, Side, Value};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::numbers::present;
use crate::options::comma_separated;
use crate::shapes::Measured;
use crate::shapes::labels::{Label, named_integer, read_label};
use crate::{Asked, Counted, Facts, Header, Numbers, Reading, Remarks, Sink, Unified};

/// A score of the ranks of references among the labels of their rows.
pub(crate) struct RankScore {
    /// The numbers of first labels that count, in ascending order: `usize::MAX` for all of them; none for 1 and the length
    /// of the rows, which is then that of the first one.
    pub(crate) ks: Vec<usize>,
    /// The names of the score at such a number, and of the number of references that are found.
    pub(crate) names: fn(usize) -> [String; 2],
    /// How it is read from the ranks in lists of labels, and from those in rows of scores.
    pub(crate) of_labels: fn(&Ranks, usize) -> Option<f64>,
    pub(crate) of_scores: fn(&TopK, &RankTable, usize) -> Option<f64>,
    /// Whether the score is 1 if all labels of a row count and the reference is one of them.
    pub(crate) is_one_of_all: bool,
}

impl RankScore {
    /// The part of the signature.
    pub(crate) fn definition(&self) -> Option<String> {
        match &*self.ks {
            [] => Some("1,all".to_owned()),
            [usize::MAX] => None,
            ks => Some(comma_separated(ks)),
        }
    }

    /// The number of first labels without which a reference counts as missed.
    pub(crate) fn least(&self) -> usize {
        self.ks.first().copied().unwrap_or(1)
    }

    /// The numbers of examples, of which `at` gives the score and the number of references that are found.
    pub(crate) fn numbers(
        &self,
        at: impl Fn(usize) -> (Option<f64>, Json),
        total: Json,
        rows: Rows,
        asked: Asked<'_>,
    ) -> Numbers {
        let mut numbers = Numbers::default();
        let ks = match (&*self.ks, rows) {
            ([], Rows::Labels(width @ 2..)) => &[1, width],
            ([], _) => &[1][..],
            (ks, _) => ks,
        };
        for &k in ks {
            let ([name, name_of_found], (score, found)) = ((self.names)(k), at(k));
            let warning = match rows {
                _ if asked.remarks.is_none() => None,
                Rows::Scores(width) if k >= width && self.is_one_of_all => {
                    let warning = format!("{name} of {width} classes is 1 whatever the scores");
                    Some(Message::from(warning))
                }
                Rows::Labels(_) if k > 1 && self.ks.is_empty() => {
                    let warning = format!(
                        "the k of {name} is the number of labels in a row of the predictions; to choose it, use "
                    );
                    Some(Message::from(warning).option("k", ""))
                }
                _ => None,
            };
            numbers.warnings.extend(warning);
            numbers.scores.push((name, score));
            numbers.counts.push((name_of_found, found));
        }
        numbers.counts.push(("total".to_owned(), total));
        numbers
    }
}

/// The rows of a data set, which all have one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rows {
    /// No row has been seen.
    #[default]
    Unknown,
    /// Rows of this many labels.
    Labels(usize),
    /// Rows of this many scores.
    Scores(usize),
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
        let problem = |what, found, expected| {
            let several = if found == 1 { "" } else { "s" };
            let rest = format!("expected {expected}, as in the first row");
            Message::from(format!("the row has {found} {what}{several}: {rest}"))
        };
        match (*self, *other) {
            (Self::Unknown, other) => *self = other,
            (Self::Labels(expected), Self::Labels(found)) if found != expected => {
                let problem = problem("label", found, expected);
                return Err(problem.text("; to allow any number, use ").option("k", ""));
            }
            (Self::Scores(expected), Self::Scores(found)) if found != expected => {
                return Err(problem("score", found, expected));
            }
            _ => {}
        }
        Ok(Unified::Kept)
    }
}

/// The start of the names of tallies of missed labels. After it comes the label as JSON.
const MISSED: &str = "missed:";

/// Counts a label that is not among the first ones, of which `least` is the number if missed labels are counted.
pub(crate) fn count_missed<R: Reading>(
    least: Option<usize>,
    rank: Option<usize>,
    label: LabelRef<'_>,
    sink: &mut Sink<'_, R>,
) {
    if least.is_some_and(|least| rank.is_none_or(|rank| rank >= least)) {
        let label = match label {
            LabelRef::Number(number) => json!(number),
            LabelRef::Text(text) => json!(text),
        };
        sink.tally(&format!("{MISSED}{label}"), 1);
    }
}

/// The number of references with each rank, from 1, and the labels that were missed at least once, the most missed ones
/// first, and equal ones in the order of their JSON. Among ties, it is the number that may have any rank from the first
/// to the last.
pub(crate) fn rank_details(
    found: impl Iterator<Item = (Option<RankSpan>, u64)>,
    remarks: Remarks<'_>,
) -> Json {
    let (mut ranks, mut nowhere) = (Vec::new(), 0);
    for (span, count) in found {
        match span {
            Some(RankSpan { first, last }) => {
                ranks.push(json!({"first": first + 1, "last": last + 1, "examples": count}));
            }
            None => nowhere += count,
        }
    }
    let mut missed: Vec<(&str, u64)> = remarks.tallies(MISSED).collect();
    missed.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let missed = missed.into_iter().map(|(label, times)| {
        // The name was written as JSON.
        let label: Json = serde_json::from_str(label).unwrap_or_default();
        json!({"label": label, "examples": times})
    });
    json!({"ranks": ranks, "without_rank": nowhere, "missed": missed.collect::<Json>()})
}

/// The reading of a score of ranked labels.
pub(crate) struct OfRankedLabels {
    pub(crate) score: RankScore,
    /// The number of first labels without which a reference is counted as missed, for details.
    pub(crate) missed: Option<usize>,
}

impl OfRankedLabels {
    /// Counts a row.
    fn add(
        &self,
        row: Row<'_>,
        reference: &Label<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let (rank, width) = row.find(reference).map_err(FieldError::prediction)?;
        self.check_width(width, 1, sink)?;
        sink.counted_in(|ranks| ranks.record(rank));
        let label = reference.written();
        if rank.is_none() && row.has_other_form(label) {
            sink.count(&other_form(), 1);
        }
        count_missed(self.missed, rank, label, sink);
        Ok(())
    }

    /// Counts rows one by one; `None` is for those that are read as values.
    fn add_rows<'r>(
        &self,
        rows: impl Iterator<Item = Option<Row<'r>>>,
        references: impl Iterator<Item = Option<i64>>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        let mut rows = rows.zip(references).enumerate();
        rows.try_for_each(|(index, pair)| {
            sink.row(batch, index);
            let (Some(row), Some(reference)) = pair else {
                return sink.read_row(batch, index);
            };
            self.add(row, &Label::Integer(reference), sink)
                .map_err(|error| RecordError { index, error })
        })
    }

    /// Notes rows with fewer labels than the greatest k. Without `--k` refuses a row of another length than the first one,
    /// which is the k.
    fn check_width(
        &self,
        width: usize,
        rows: u64,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let most = match self.score.ks.last() {
            None => return sink.share(Side::Prediction, Rows::Labels(width)),
            Some(&usize::MAX) => 0,
            Some(&most) => most,
        };
        if width < most {
            let what = |rows, their| {
                let rest = "so that a reference after";
                Message::from(format!("{rows} fewer than the {most} labels of "))
                    .option("k", "")
                    .text(format_args!(", {rest} {their} end counts as not found"))
            };
            let note = Counted::new(what("row has", "its"), what("rows have", "their"));
            sink.count(&note, rows);
        }
        Ok(())
    }
}

impl Reading for OfRankedLabels {
    type Metric = Measured<Ranks>;
    type Header = Rows;

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let input = Some("labels".to_owned());
        Facts::signed(present([("input", input), ("k", self.score.definition())]))
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let reference = read_label(&mut record.reference).map_err(FieldError::reference)?;
        let reference = reference.unwrap_or(Label::Text(Cow::Borrowed("")));
        if record.prediction.is_missing() {
            sink.counted_in(|ranks| ranks.record(None));
            count_missed(self.missed, None, reference.written(), sink);
            return Ok(());
        }
        if let Some(row) = record.prediction.as_integers() {
            return self.add(Row::Integers(row), &reference, sink);
        }
        let row = record.prediction.to_json_or("[]");
        let row = row.map_err(FieldError::prediction)?;
        self.add(Row::Json(&row), &reference, sink)
    }

    /// Takes integers as references, and rows or lists of integers as predictions; also both as JSON.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let integers = match (batch.predictions(), batch.references()) {
            (Column::Json(rows), Column::Json(references)) => {
                let rows = rows.iter().map(|row| row.map(Row::Json));
                let references = references.iter().map(|json| scan::integer(json?));
                return Some(self.add_rows(rows, references, batch, sink));
            }
            (_, Column::Integers(references)) => *references,
            _ => return None,
        };
        let references = (0..batch.len()).map(|row| integers.get(row));
        match batch.predictions() {
            Column::Labels(rows) => {
                if !sink.wants_samples()
                    && self.missed.is_none()
                    && !batch.is_empty()
                    && let Some(references) = integers.without_nulls()
                    && let Ok(ranks) = label_ranks(rows.view(), references.into())
                {
                    sink.row(batch, 0);
                    let checked = self.check_width(rows.ncols(), batch.len() as u64, sink);
                    sink.pooled(batch.len() as u64, &[], ranks);
                    return Some(checked.map_err(|error| RecordError { index: 0, error }));
                }
                // Rows of an array in another layout than the standard one are not slices.
                let rows = rows.as_standard_layout();
                let rows = rows.outer_iter();
                let rows = rows.map(|row| row.to_slice().map(Row::Integers));
                Some(self.add_rows(rows, references, batch, sink))
            }
            Column::IntegerLists(lists) => {
                let rows = (0..lists.len()).map(|row| {
                    let list = lists.range(row)?;
                    Some(Row::Integers(lists.items().slice(list).values()))
                });
                Some(self.add_rows(rows, references, batch, sink))
            }
            _ => None,
        }
    }

    fn numbers(&self, state: &Ranks, header: &Rows, asked: Asked<'_>) -> Numbers {
        let hits = |k| state.accuracy_at(k).correct.into();
        let at = |k| ((self.score.of_labels)(state, k), hits(k));
        let remarks = asked.remarks.filter(|_| asked.details);
        Numbers {
            details: remarks.map(|remarks| rank_details(state.ranks(), remarks)),
            ..self.score.numbers(at, state.total.into(), *header, asked)
        }
    }
}

/// A row of labels as it arrived.
#[derive(Clone, Copy)]
enum Row<'r> {
    Integers(&'r [i64]),
    Json(&'r str),
}

impl Row<'_> {
    /// The rank of a label, from 0, and the length of the row.
    fn find(self, label: &Label<'_>) -> Result<(Option<usize>, usize), Message> {
        let integer = match label.class(None) {
            LabelRef::Number(number) => Some(number),
            LabelRef::Text(_) => None,
        };
        let text = match label.written() {
            LabelRef::Number(_) => None,
            LabelRef::Text(text) => Some(text),
        };
        if let Self::Integers(row) = self {
            let rank = integer.and_then(|number| row.iter().position(|label| *label == number));
            return Ok((rank, row.len()));
        }
        self.fold(|(rank, width): &mut (Option<usize>, usize), label| {
            let is_it = match label {
                LabelRef::Number(number) => integer == Some(number),
                LabelRef::Text(label) => text == Some(label),
            };
            if is_it && rank.is_none() {
                *rank = Some(*width);
            }
            *width += 1;
        })
    }

    /// Whether the row, in which a label is not found, has the same integer in another form, such as 3 for the string "3".
    fn has_other_form(self, label: LabelRef<'_>) -> bool {
        // Integers differ in their values only.
        let may_differ = match (self, label) {
            (_, LabelRef::Text(_)) => true,
            (Self::Json(json), LabelRef::Number(_)) => json.contains('"'),
            (Self::Integers(_), LabelRef::Number(_)) => false,
        };
        let Some(number) = named_integer(label).filter(|_| may_differ) else {
            return false;
        };
        self.fold(|found, label| *found |= named_integer(label) == Some(number))
            .unwrap_or(false)
    }

    /// Lets `add` add each label to what is returned.
    fn fold<T: Default>(self, mut add: impl FnMut(&mut T, LabelRef<'_>)) -> Result<T, Message> {
        let mut all = T::default();
        let json = match self {
            Self::Integers(row) => {
                row.iter()
                    .for_each(|label| add(&mut all, LabelRef::Number(*label)));
                return Ok(all);
            }
            Self::Json(json) => json,
        };
        if each_integer(json, |label| add(&mut all, LabelRef::Number(label))).is_some() {
            return Ok(all);
        }
        all = T::default();
        let mut scanner = Scanner::new(json);
        let scanned = scanner.list(|item| {
            let label = match item.peek()? {
                b'"' => LabelRef::Text(item.string()?),
                _ => LabelRef::Number(item.integer()?),
            };
            add(&mut all, label);
            Some(())
        });
        if scanned.is_some() && scanner.is_at_end() {
            return Ok(all);
        }
        all = T::default();
        let items: Vec<&RawValue> = serde_json::from_str(json)
            .map_err(|_| format!("expected a list of labels, found {}", json::kind(json)))?;
        for item in items {
            let label = read_label(&mut Value::json(item.get()));
            if let Some(label) = label.map_err(|problem| row_problem(problem, json))? {
                add(&mut all, label.written());
            }
        }
        Ok(all)
    }
}

/// What is wrong with a row of labels. Rows of numbers are perhaps scores.
fn row_problem(problem: String, json: &str) -> Message {
    let message = Message::from(problem);
    if typed::<Vec<f64>>(json).is_err() {
        return message;
    }
    let message = message.text("; if a row has the scores of all classes, use ");
    message.option("input", "scores")
}

/// The note of a reference that is in its row in another form.
fn other_form() -> Counted {
    let rest = "as another label: an integer, the string it is written as and one with decimals, such as 3, \"3\" and \"3.0\", are different labels";
    Counted::new(
        format!("row has its reference {rest}"),
        format!("rows have their reference {rest}"),
    )
}
