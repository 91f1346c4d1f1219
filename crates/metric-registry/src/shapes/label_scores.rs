//! Scores for labels: a number, or a number for each class as a list or an object, and the label of the reference.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use metric_class::{LabelRef, Score, ScoreRows, Target};
use metric_core::{Key, Malformed, Metric, Reader, Writer, Written};
use metric_record::json::scan;
use metric_record::{
    Batch, Cells, Column, FieldError, Id, Kind, Message, NAMED_IDS, Record, RecordError, Side,
    Texts, Value, json,
};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};

use super::labels::{class_of_line, quoted, read_label};
use super::scores::read_scores;
use super::weights::weight_of;
use crate::{Header, OptionError, Options, Reading, Sink, Unified};

/// The tally of rows whose scores miss the sum 1 by more than rounding explains.
pub(crate) const OFF_ONE: &str = "sum is not 1";

/// What the rows of a data set share: their form and their classes, and the labels that are known so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelScores {
    pub(crate) form: Form,
    /// The classes in the order of the scores of a row, from an option or the keys of objects; otherwise none.
    pub(crate) columns: Vec<Key>,
    /// The positive label that an option names.
    pub(crate) positive: Option<Key>,
    /// The labels of references, in order.
    pub(crate) labels: Vec<Key>,
    /// Whether a score is a number of 64 bits.
    pub(crate) has_doubles: bool,
    /// The greatest distance of the sum of a row to 1, and the least id that has it.
    pub(crate) worst_sum: Option<(f64, String)>,
}

/// The form of a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// No row has been seen.
    #[default]
    Unknown,
    /// A number, the greater the more likely the positive label.
    Number,
    /// A list of this many numbers.
    List(usize),
    /// An object with this many numbers by class.
    Object(usize),
}

impl Form {
    const fn parts(self) -> (u8, usize) {
        match self {
            Self::Unknown => (0, 0),
            Self::Number => (1, 1),
            Self::List(width) => (2, width),
            Self::Object(width) => (3, width),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("nothing"),
            Self::Number => f.write_str("a number"),
            Self::List(1) => f.write_str("a list of 1 number"),
            Self::List(width) => write!(f, "a list of {width} numbers"),
            Self::Object(width) => write!(f, "an object of {width} numbers"),
        }
    }
}

impl Written for LabelScores {
    fn write(&self, to: &mut Writer) {
        to.map(6);
        let (form, width) = self.form.parts();
        to.field("form", &(form, width));
        to.field("columns", &self.columns);
        to.field("positive", &self.positive);
        to.field("labels", &self.labels);
        to.field("has_doubles", &self.has_doubles);
        to.field("worst_sum", &self.worst_sum);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.map()?;
        let form = match from.field::<(u8, usize)>("form")? {
            (0, 0) => Form::Unknown,
            (1, 1) => Form::Number,
            (2, width) => Form::List(width),
            (3, width) => Form::Object(width),
            _ => return Err(Malformed::from("unknown form of scores")),
        };
        Ok(Self {
            form,
            columns: from.field("columns")?,
            positive: from.field("positive")?,
            labels: from.field("labels")?,
            has_doubles: from.field("has_doubles")?,
            worst_sum: from.field("worst_sum")?,
        })
    }
}

impl Header for LabelScores {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        let mut ours = self.clone();
        match (ours.form, other.form) {
            (_, Form::Unknown) => {}
            (Form::Unknown, form) => {
                ours.form = form;
                ours.columns.clone_from(&other.columns);
                ours.positive.clone_from(&other.positive);
            }
            (ours, theirs) if ours != theirs => {
                let problem = format!("found {theirs}: expected {ours}, as in the first row");
                return Err(problem.into());
            }
            _ if ours.columns != other.columns => {
                let [expected, found] = [&ours.columns, &other.columns].map(|it| listed(it));
                return Err(Message::from("the classes of the scores are ")
                    .data(found)
                    .text(": expected those of the first row, ")
                    .data(expected));
            }
            _ => {}
        }
        ours.labels.extend(other.labels.iter().cloned());
        ours.labels.sort();
        ours.labels.dedup();
        ours.has_doubles |= other.has_doubles;
        if let Some((off, id)) = &other.worst_sum
            && ours
                .worst_sum
                .as_ref()
                .is_none_or(|(most, least)| off > most || off == most && id < least)
        {
            ours.worst_sum = Some((*off, id.clone()));
        }
        ours.check_labels()?;
        *self = ours;
        Ok(Unified::Kept)
    }
}

impl LabelScores {
    /// Whether the rows are of two classes, and the score that is kept is that of the positive one.
    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.form, Form::Number | Form::List(2) | Form::Object(2))
    }

    /// Returns the positive label of rows of two classes, if it is known.
    pub(crate) fn positive(&self) -> Option<Key> {
        if self.positive.is_some() {
            return self.positive.clone();
        }
        if self.form != Form::Number {
            return self.columns.get(1).cloned();
        }
        let positive = [Key::from(1), Key::from(1), Key::from("true")];
        let negative = [Key::from(0), Key::from(-1), Key::from("false")];
        let mut pairs = positive.into_iter().zip(negative);
        let is_pair = |(positive, negative): &(Key, Key)| {
            let mut labels = self.labels.iter();
            labels.all(|label| label == positive || label == negative)
        };
        pairs.find(is_pair).map(|(positive, _)| positive)
    }

    /// Returns the classes in their order.
    pub(crate) fn classes(&self) -> Vec<Key> {
        if !self.columns.is_empty() {
            return self.columns.clone();
        }
        let mut classes = self.labels.clone();
        if self.is_binary() {
            classes.extend(self.positive());
            classes.sort();
            classes.dedup();
        }
        classes
    }

    /// Checks what part of the labels can tell.
    fn check_labels(&self) -> Result<(), Message> {
        let labels = &self.labels;
        match self.form {
            Form::Number if self.columns.is_empty() => {
                let found = self.classes();
                if let ([_, _], Some(positive)) = (&labels[..], &self.positive)
                    && !labels.contains(positive)
                {
                    return Err(Message::default()
                        .option(POSITIVE, &positive.to_string())
                        .text(" is not one of the labels, ")
                        .data(listed(labels)));
                }
                if found.len() > 2 {
                    let several = "labels of one number per row, which scores two classes: ";
                    let problem = format!("{} {several}", found.len());
                    return Err(Message::from(problem).data(listed(&found)));
                }
                if labels.len() == 2 && self.positive().is_none() {
                    return Err(Message::from("the labels are ")
                        .data(listed(labels))
                        .text(": name the one that a high score means, with ")
                        .option(POSITIVE, &labels[1].to_string()));
                }
            }
            Form::List(width) if self.columns.is_empty() && labels.len() > width => {
                let problem = format!("{} labels of rows of {width} numbers: ", labels.len());
                let problem = Message::from(problem).data(listed(labels));
                return Err(problem
                    .text("; to name the classes of the numbers, use ")
                    .option(CLASSES, ""));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns what only the labels of the whole data set can tell.
    pub(crate) fn problem(&self) -> Option<Message> {
        let labels = &self.labels;
        match self.form {
            Form::Number if self.positive().is_none() => Some(
                Message::from("all labels are ")
                    .data(listed(labels))
                    .text(": name the label that a high score means, with ")
                    .option(POSITIVE, ""),
            ),
            Form::List(width) if self.columns.is_empty() && labels.len() < width => {
                let problem =
                    format!("rows of {width} numbers, but the references have the labels ");
                let problem = Message::from(problem).data(listed(labels));
                Some(
                    problem
                        .text(": to name the classes of the numbers, use ")
                        .option(CLASSES, ""),
                )
            }
            _ => None,
        }
    }
}

pub(crate) const POSITIVE: &str = "positive";
pub(crate) const CLASSES: &str = "classes";

/// The first few labels of a list in words.
pub(crate) fn listed(labels: &[Key]) -> String {
    let more = (labels.len() > NAMED_IDS).then(|| "...".to_owned());
    let named = labels.iter().take(NAMED_IDS).map(quoted).chain(more);
    named.collect::<Vec<_>>().join(", ")
}

/// How rows of scores are read.
#[derive(Clone, Debug)]
pub(crate) struct ScoreReader {
    pub(crate) columns: Vec<Key>,
    pub(crate) positive: Option<Key>,
    pub(crate) weight_field: Option<String>,
    pub(crate) allows_decision_values: bool,
}

impl ScoreReader {
    /// Reads the options of classes.
    pub(crate) fn classes(options: &Options) -> Result<Vec<Key>, OptionError> {
        let classes = options.list(CLASSES, "a label", |text| {
            Some(Key::from(class_of_line(text)))
        })?;
        let problem = match &*classes {
            [Key::Number(_)] => {
                "expected the labels of the classes, such as 0,1,2, not their number"
            }
            [_] => "expected at least two classes",
            _ => return Ok(classes),
        };
        Err(OptionError::new(CLASSES, &options.given(CLASSES), problem))
    }

    /// Reads a record, and adds it to the state.
    pub(crate) fn read<R>(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), FieldError>
    where
        R: Reading<Header = LabelScores>,
        R::Metric: Metric<State = ScoreRows>,
    {
        let id = record.id;
        let mut prediction = record.prediction;
        if prediction.is_missing() {
            let problem = "no scores: a missing prediction has no empty form here. To leave its record out, use ";
            return Err(FieldError::prediction(
                Message::from(problem).option("missing", "skip"),
            ));
        }
        let label = label(&mut record.reference).map_err(FieldError::reference)?;
        let weight = self.weight(record.fields)?;
        let row = Row {
            id,
            weight,
            label: &label,
            columns: None,
        };
        if let Some(score) = prediction.as_number_f32() {
            return self.add(&row, Form::Number, &[score], sink);
        }
        if let Some(scores) = prediction.as_numbers_f32() {
            return self.add(&row, Form::List(scores.len()), scores, sink);
        }
        // A cell of a table may hold a list or an object as JSON.
        let kind = match prediction.as_line().map(str::trim_start) {
            Some(cell) if cell.starts_with('[') => Kind::List,
            Some(cell) if cell.starts_with('{') => Kind::Object,
            _ => prediction.kind(),
        };
        match kind {
            Kind::List => {
                let scores = read_scores(&mut prediction).map_err(FieldError::prediction)?;
                self.add(&row, Form::List(scores.len()), &scores, sink)
            }
            Kind::Object => {
                let (columns, scores) = self.read_object(&mut prediction, sink.header())?;
                let row = Row { columns, ..row };
                self.add(&row, Form::Object(scores.len()), &scores, sink)
            }
            _ => {
                let score: f64 = prediction.read().map_err(FieldError::prediction)?;
                self.add(&row, Form::Number, &[score], sink)
            }
        }
    }

    /// Reads the batch as columns, if it has some; the rows of a batch with weights are read one by one.
    pub(crate) fn read_columns<R>(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Option<Result<(), RecordError>>
    where
        R: Reading<Header = LabelScores>,
        R::Metric: Metric<State = ScoreRows>,
    {
        if sink.wants_samples() || self.weight_field.is_some() {
            return None;
        }
        match batch.predictions() {
            Column::Numbers(cells) => Some(self.add_numbers(batch, sink, |row| cells.get(row))),
            Column::NumbersF32(cells) => Some(self.add_numbers(batch, sink, |row| cells.get(row))),
            Column::Lines(texts) | Column::Json(texts) => {
                Some(self.add_numbers(batch, sink, |row| number(texts.get(row)?)))
            }
            Column::Scores(rows) => {
                let rows = rows.as_standard_layout();
                let width = rows.ncols();
                let row = |index: usize| rows.as_slice()?.get(index * width..(index + 1) * width);
                Some(self.add_rows(batch, sink, row))
            }
            Column::ScoresF32(rows) => {
                let rows = rows.as_standard_layout();
                let width = rows.ncols();
                let row = |index: usize| rows.as_slice()?.get(index * width..(index + 1) * width);
                Some(self.add_rows(batch, sink, row))
            }
            _ => None,
        }
    }

    /// Adds rows of one number each, sorted by label. A row that is new in any way is read as a record.
    fn add_numbers<R, S: Score>(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, R>,
        number: impl Fn(usize) -> Option<S>,
    ) -> Result<(), RecordError>
    where
        R: Reading<Header = LabelScores>,
        R::Metric: Metric<State = ScoreRows>,
    {
        let mut known = KnownLabels::new(batch.references());
        let mut columns: Vec<Vec<S>> = Vec::new();
        let mut examples = 0;
        for row in 0..batch.len() {
            let is_known =
                sink.header().form == Form::Number && (S::IS_SINGLE || sink.header().has_doubles);
            let score = number(row).filter(|score| is_known && self.accepts((*score).into()));
            if let Some(score) = score
                && let Some(slot) = known.slot(row, &sink.header().labels)
            {
                if columns.len() <= slot {
                    columns.resize_with(slot + 1, Vec::new);
                }
                columns[slot].push(score);
                examples += 1;
            } else {
                sink.row(batch, row);
                sink.read_row(batch, row)?;
            }
        }
        let columns: BTreeMap<Key, Vec<S>> = known.labels.into_iter().zip(columns).collect();
        sink.pooled(examples, &[], ScoreRows::of_columns(columns));
        Ok(())
    }

    /// Adds rows of several numbers. A row with a new label is read as a record.
    fn add_rows<'s, R, S: Score + 's>(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, R>,
        scores: impl Fn(usize) -> Option<&'s [S]>,
    ) -> Result<(), RecordError>
    where
        R: Reading<Header = LabelScores>,
        R::Metric: Metric<State = ScoreRows>,
    {
        let mut known = KnownLabels::new(batch.references());
        for row in 0..batch.len() {
            sink.row(batch, row);
            let added = scores(row)
                .zip(known.slot(row, &sink.header().labels))
                .zip(batch.id(row));
            if let Some(((scores, slot), id)) = added {
                let row_of = Row {
                    id,
                    weight: None,
                    label: &known.labels[slot],
                    columns: None,
                };
                let added = self.add(&row_of, Form::List(scores.len()), scores, sink);
                added.map_err(|error| RecordError { index: row, error })?;
            } else {
                sink.read_row(batch, row)?;
            }
        }
        Ok(())
    }

    /// The classes of the scores of a row as far as they are known.
    fn known_columns<'k>(&'k self, header: &'k LabelScores) -> &'k Vec<Key> {
        if self.columns.is_empty() {
            &header.columns
        } else {
            &self.columns
        }
    }

    fn accepts(&self, score: f64) -> bool {
        score.is_finite() && (self.allows_decision_values || (0.0..=1.0).contains(&score))
    }

    /// Adds a row.
    fn add<R, S: Score>(
        &self,
        row: &Row<'_>,
        form: Form,
        scores: &[S],
        sink: &mut Sink<'_, R>,
    ) -> Result<(), FieldError>
    where
        R: Reading<Header = LabelScores>,
        R::Metric: Metric<State = ScoreRows>,
    {
        // What is wrong with the row by itself comes before what differs from other rows, however these are divided.
        let columns = match &row.columns {
            Some(columns) => columns,
            None if matches!(form, Form::Object(_)) => self.known_columns(sink.header()),
            None => &self.columns,
        };
        self.check_form(form, columns)?;
        if let Some(index) = scores
            .iter()
            .position(|score| !self.accepts((*score).into()))
        {
            let index = (scores.len() > 1).then_some(index);
            return Err(invalid(scores, index));
        }
        if !columns.is_empty() && !columns.contains(row.label) {
            let problem = format!(
                "the label is {}: expected one of the classes ",
                quoted(row.label)
            );
            return Err(FieldError::reference(
                Message::from(problem).data(listed(columns)),
            ));
        }
        let header = sink.header();
        let is_new =
            header.form != form || row.columns.is_some() || !S::IS_SINGLE && !header.has_doubles;
        if is_new {
            let header = LabelScores {
                form,
                columns: columns.clone(),
                positive: self.positive.clone(),
                has_doubles: !S::IS_SINGLE,
                ..LabelScores::default()
            };
            sink.share(Side::Prediction, header)?;
        }
        let header = sink.header();
        let off = self.distance_to_one(scores);
        let worst_sum = off.filter(|off| {
            let worst = &header.worst_sum;
            worst.as_ref().is_none_or(|(most, _)| off >= most)
        });
        if worst_sum.is_some() || header.labels.binary_search(row.label).is_err() {
            let header = LabelScores {
                form,
                columns: header.columns.clone(),
                positive: self.positive.clone(),
                labels: vec![row.label.clone()],
                has_doubles: !S::IS_SINGLE,
                worst_sum: worst_sum.map(|off| (off, row.id.to_string())),
            };
            sink.share(Side::Reference, header)?;
        }
        if off.is_some() {
            sink.tally(OFF_ONE, 1);
        }
        let header = sink.header();
        // Of two columns, that of the positive class is the score.
        let only = header.is_binary() && scores.len() == 2;
        let only = only.then(|| header.positive()).flatten();
        let only = only.and_then(|positive| {
            let column = header.columns.iter().position(|class| *class == positive)?;
            scores.get(column..=column)
        });
        let (label, weight) = (row.label, row.weight);
        sink.counted_in(|rows: &mut ScoreRows| rows.add(label, only.unwrap_or(scores), weight));
        Ok(())
    }

    /// Checks that a row of these classes has a form that there is.
    fn check_form(&self, form: Form, columns: &[Key]) -> Result<(), FieldError> {
        let (_, width) = form.parts();
        let found = |rest: &str| Message::from(format!("found {form}{rest}"));
        let problem = match form {
            Form::Number if columns.len() > 2 => {
                found(": expected one number for each of the classes ").data(listed(columns))
            }
            Form::List(0 | 1) | Form::Object(0 | 1) => {
                found(": expected a number, or one number for each class")
            }
            Form::List(_) | Form::Object(_) if !columns.is_empty() && width != columns.len() => {
                found(": expected one for each of the classes ").data(listed(columns))
            }
            Form::List(2) if columns.is_empty() => {
                found(": expected the classes in the order of the numbers, with ")
                    .option(CLASSES, "")
            }
            Form::List(3..) | Form::Object(3..) if self.positive.is_some() => found(", but ")
                .option(POSITIVE, "")
                .text(" goes with two classes"),
            Form::List(2) | Form::Object(2)
                if self
                    .positive
                    .as_ref()
                    .is_some_and(|it| !columns.contains(it)) =>
            {
                Message::from("expected one of the classes ")
                    .data(listed(columns))
                    .text(" as ")
                    .option(POSITIVE, "")
            }
            _ => return Ok(()),
        };
        Err(FieldError::prediction(problem))
    }

    /// The distance of the sum of a row to 1, if rounding does not explain it.
    fn distance_to_one<S: Score>(&self, scores: &[S]) -> Option<f64> {
        if scores.len() < 2 || self.allows_decision_values {
            return None;
        }
        let sum: f64 = scores.iter().map(|score| (*score).into()).sum();
        let epsilon = if S::IS_SINGLE {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        };
        Some((1.0 - sum).abs()).filter(|off| *off > epsilon.sqrt())
    }

    fn weight(&self, fields: Option<&str>) -> Result<Option<f64>, FieldError> {
        let Some(field) = &self.weight_field else {
            return Ok(None);
        };
        let found = json::fields(fields, &[field]).map_err(FieldError::reference)?;
        let mut value = found.get(field).map(Value::json).ok_or_else(|| {
            FieldError::reference(format!("expected a field {field:?}")).of_field(field)
        })?;
        let weight = weight_of(&mut value).and_then(|weight| {
            let checked = Target::weighted(0, weight).map_err(|error| error.to_string());
            checked.map(|_| weight)
        });
        weight
            .map(Some)
            .map_err(|problem| FieldError::field(field, problem))
    }

    /// Reads an object of scores: the classes, if they are new, and the scores in the order of the classes.
    fn read_object(
        &self,
        value: &mut Value<'_>,
        header: &LabelScores,
    ) -> Result<(Option<Vec<Key>>, Vec<f64>), FieldError> {
        let scores: ScoresByName<'_> = value.read().map_err(FieldError::prediction)?;
        let mut by_class = BTreeMap::new();
        for (name, score) in scores.0 {
            if by_class
                .insert(Key::from(class_of_line(&name)), score)
                .is_some()
            {
                let problem = format!("the class {name:?} is there twice");
                return Err(FieldError::prediction(problem));
            }
        }
        let known = self.known_columns(header);
        let is_known =
            known.len() == by_class.len() && known.iter().all(|it| by_class.contains_key(it));
        if is_known {
            let row = known
                .iter()
                .filter_map(|class| by_class.get(class).copied());
            let columns = header.columns.is_empty().then(|| known.clone());
            return Ok((columns, row.collect()));
        }
        if !self.columns.is_empty() {
            let found: Vec<Key> = by_class.into_keys().collect();
            return Err(FieldError::prediction(
                Message::from("the scores are of the classes ")
                    .data(listed(&found))
                    .text(": expected ")
                    .data(listed(&self.columns)),
            ));
        }
        let (columns, row) = by_class.into_iter().unzip();
        Ok((Some(columns), row))
    }
}

/// A row of scores without these.
#[derive(Clone)]
struct Row<'r> {
    id: Id<'r>,
    label: &'r Key,
    weight: Option<f64>,
    /// The classes of the scores, where these are not known yet or other ones.
    columns: Option<Vec<Key>>,
}

/// The error of the first score that is not accepted, by its index in a row of several.
fn invalid<S: Score>(scores: &[S], index: Option<usize>) -> FieldError {
    let at = index.map_or_else(String::new, |index| format!(" at index {index}"));
    let score: f64 = scores
        .get(index.unwrap_or(0))
        .map_or(f64::NAN, |score| (*score).into());
    if score.is_finite() {
        let problem = format!(
            "the score{at} is {score}: expected a probability, from 0 to 1. For other scores, which log_loss, brier and calibration_error do not take, use "
        );
        FieldError::prediction(Message::from(problem).option("allow-decision-values", ""))
    } else {
        FieldError::prediction(format!(
            "the score{at} is {score}: expected a finite number"
        ))
    }
}

/// Reads the label of a reference.
fn label(value: &mut Value<'_>) -> Result<Key, String> {
    if value.kind() == Kind::Boolean {
        return Ok(Key::from(&*value.to_json_or("null")?));
    }
    let label = read_label(value)?.ok_or("expected a label")?;
    Ok(label.class(None).into())
}

/// Reads a number of a column of texts.
fn number(text: &str) -> Option<f64> {
    let mut scanner = scan::Scanner::new(text);
    let number = scanner.number()?;
    scanner.is_at_end().then_some(number)
}

/// The labels of a column that have been met, by the text or the number of their cells.
struct KnownLabels<'c, 'd> {
    cells: LabelCells<'c, 'd>,
    /// The last cells with a new label, each with the position of the label.
    met: Vec<(LabelRef<'c>, usize)>,
    labels: Vec<Key>,
}

enum LabelCells<'c, 'd> {
    Integers(&'c Cells<'d, i64>),
    Texts(&'c Texts<'d>, fn(&str) -> Option<Key>),
    Other,
}

/// Cells are compared with this many that were met before: most columns have few labels.
const MET: usize = 256;

impl<'c, 'd> KnownLabels<'c, 'd> {
    fn new(column: &'c Column<'d>) -> Self {
        let cells = match column {
            Column::Integers(cells) => LabelCells::Integers(cells),
            Column::Texts(texts) => LabelCells::Texts(texts, |text| Some(Key::from(text))),
            Column::Lines(texts) => {
                LabelCells::Texts(texts, |text| Some(class_of_line(text).into()))
            }
            Column::Json(texts) => {
                LabelCells::Texts(texts, |text| label(&mut Value::json(text)).ok())
            }
            _ => LabelCells::Other,
        };
        Self {
            cells,
            met: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// The position of the label of a row, if the label is one of the data set that is known already.
    fn slot(&mut self, row: usize, known: &[Key]) -> Option<usize> {
        let cell = match &self.cells {
            LabelCells::Integers(cells) => LabelRef::Number(cells.get(row)?),
            LabelCells::Texts(texts, _) => LabelRef::Text(texts.get(row)?),
            LabelCells::Other => return None,
        };
        if let Some((_, slot)) = self.met.iter().find(|(met, _)| *met == cell) {
            return Some(*slot);
        }
        let label = match (&self.cells, cell) {
            (LabelCells::Texts(_, label), LabelRef::Text(text)) => label(text)?,
            (_, cell) => Key::from(cell),
        };
        known.binary_search(&label).ok()?;
        let slot = self
            .labels
            .iter()
            .position(|it| *it == label)
            .unwrap_or_else(|| {
                self.labels.push(label);
                self.labels.len() - 1
            });
        if self.met.len() < MET {
            self.met.push((cell, slot));
        }
        Some(slot)
    }
}

/// The numbers of an object by name, as they are written.
struct ScoresByName<'a>(Vec<(Cow<'a, str>, f64)>);

impl<'de> Deserialize<'de> for ScoresByName<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = ScoresByName<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut scores = Vec::new();
                while let Some((name, score)) = map.next_entry::<Cow<'de, str>, f64>()? {
                    scores.push((name, score));
                }
                Ok(ScoresByName(scores))
            }
        }

        deserializer.deserialize_map(Names)
    }
}
