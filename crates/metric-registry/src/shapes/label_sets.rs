//! Sets of labels: a list of labels for a list of labels, or a score for each class.

use std::borrow::Cow;
use std::cmp::Ordering;

use metric_class::{Multilabel, MultilabelState};
use metric_core::{Key, Malformed, Reader, Writer, Written};
use metric_record::json::scan::Scanner;
use metric_record::json::{self, Entries, typed};
use metric_record::{
    Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Value, quoted_id,
};
use ndarray::{ArrayView1, ArrayView2};
use serde_json::value::RawValue;

use crate::numbers::present;
use crate::options::comma_separated;
use crate::shapes::Measured;
use crate::shapes::labels::{Label, quoted, read_label};
use crate::shapes::weights::{all_are_zero, weight_of};
use crate::{
    Asked, Facts, Header, Named, Numbers, OptionError, OptionKind, OptionSpec, Options, Reading,
    Sink, Unanswered, Unified, Weigher,
};

pub(crate) const CLASSES: OptionSpec = OptionSpec::list(
    "classes",
    "LABEL,...",
    &OptionKind::Text,
    "All classes, also those that do not occur [default: all labels of both sides]",
);
pub(crate) const THRESHOLD: OptionSpec = OptionSpec::number(
    "threshold",
    "X",
    f64::MIN..=f64::MAX,
    "With scores: predict the labels whose score is at least X",
);
pub(crate) const WEIGHT: OptionSpec = OptionSpec::text(
    "weight-field",
    "NAME",
    "Field next to the reference with the weight of the example",
);
pub(crate) const DELIMITER: OptionSpec = OptionSpec::text(
    "delimiter-in-field",
    "TEXT",
    "Split texts into labels at this text, such as a space, in CSV and other tables",
);

/// The numbers of a metric of label sets.
pub(crate) trait LabelSetMetric: Send + Sync + 'static {
    /// Returns the scores of sets, and of class scores.
    fn metric(&self) -> Multilabel;

    /// Returns the parts of the signature, by name.
    fn definition(&self) -> Named<String>;

    /// Returns the numbers of a state.
    fn numbers(&self, state: &MultilabelState, space: &LabelSpace, asked: Asked<'_>) -> Numbers;

    /// Returns what scores these states with a weight for each.
    fn weigher<'s>(
        &'s self,
        states: &[&'s MultilabelState],
        space: &'s LabelSpace,
    ) -> Option<Weigher<'s>>;
}

/// The reading of a metric of label sets.
pub(crate) struct OfLabelSets<M> {
    metric: M,
    /// The classes that are given, and their indices by label; none for those that occur.
    classes: Vec<Key>,
    by_label: Vec<(Key, u32)>,
    threshold: Option<f64>,
    weight_field: Option<String>,
    delimiter: Option<String>,
}

impl<M: LabelSetMetric> OfLabelSets<M> {
    /// Returns the reading of a metric under these options.
    pub(crate) fn new(metric: M, options: &Options) -> Result<Self, OptionError> {
        let delimiter: Option<String> = options.parse(DELIMITER.name)?;
        if delimiter.as_deref() == Some("") {
            let reason = "expected a text between labels";
            return Err(OptionError::new(DELIMITER.name, "", reason));
        }
        let has_texts = delimiter.is_some();
        let class = |text: &str| Some(key_of(text, has_texts));
        let classes = options.list(CLASSES.name, "a label", class)?;
        if let [Key::Number(number)] = classes[..] {
            let reason = "expected the labels of all classes, separated by commas";
            return Err(OptionError::new(CLASSES.name, &number.to_string(), reason));
        }
        let mut by_label: Vec<(Key, u32)> = classes.iter().cloned().zip(0..).collect();
        by_label.sort();
        let threshold = match options.get(THRESHOLD.name) {
            Some(_) => Some(options.number(THRESHOLD.name)?),
            None => None,
        };
        if let Some(infinite) = threshold.filter(|threshold| !threshold.is_finite()) {
            let (given, reason) = (infinite.to_string(), "expected a finite number");
            return Err(OptionError::new(THRESHOLD.name, &given, reason));
        }
        Ok(Self {
            metric,
            classes,
            by_label,
            threshold,
            weight_field: options.parse(WEIGHT.name)?,
            delimiter,
        })
    }

    /// Reads a list of labels. `None` is a value that is not one, and not a text either.
    fn labels<'t>(
        &self,
        value: &mut Value<'_>,
        json: &'t mut String,
    ) -> Result<Vec<Label<'t>>, Message> {
        // A cell of a table may hold JSON.
        let is_text = match value.as_line() {
            Some(line) => self.delimiter.is_some() || !line.trim_start().starts_with('['),
            None => value.kind() == Kind::String,
        };
        if is_text {
            let text = value.text()?;
            let Some(delimiter) = &self.delimiter else {
                let found = format!(
                    "expected a list of labels, found {}; to split texts into labels, use ",
                    quoted_id(&text)
                );
                return Err(Message::from(found).option(DELIMITER.name, ""));
            };
            text.as_ref().clone_into(json);
            if json.is_empty() {
                return Ok(Vec::new());
            }
            let labels = json.split(delimiter.as_str());
            let labels: Vec<Label<'_>> = labels
                .map(|label| Label::Text(Cow::Borrowed(label)))
                .collect();
            if labels
                .iter()
                .any(|label| matches!(label, Label::Text(text) if text.is_empty()))
            {
                return Err(format!(
                    "expected labels separated by {delimiter:?}, found an empty one in {}",
                    quoted_id(json)
                )
                .into());
            }
            return Ok(labels);
        }
        if let Some(integers) = value.as_integers() {
            return Ok(integers
                .iter()
                .map(|label| Label::Integer(*label))
                .collect());
        }
        if !matches!(value.kind(), Kind::List | Kind::Line) {
            return Err(format!("expected a list of labels, found {}", value.kind()).into());
        }
        value.to_json_or("[]")?.as_ref().clone_into(json);
        Ok(list(json)?)
    }

    /// Adds the examples' classes to what is known of them, if they are new.
    fn share(
        &self,
        side: Side,
        form: Form,
        classes: &mut dyn FnMut() -> Vec<Key>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let classes = if self.classes.is_empty() {
            let mut classes = classes();
            classes.sort();
            classes.dedup();
            classes
        } else {
            self.classes.clone()
        };
        sink.share(side, LabelSpace { form, classes })
    }

    /// The index of a label; `None` for an unknown one.
    fn index(&self, label: &Label<'_>, space: &LabelSpace) -> Option<u32> {
        if self.classes.is_empty() {
            let found = space.classes.binary_search_by(|key| order(key, label));
            return found.ok().map(|index| index as u32);
        }
        let found = self.by_label.binary_search_by(|(key, _)| order(key, label));
        found.ok().map(|at| self.by_label[at].1)
    }

    /// The indices of the labels of a side, in ascending order.
    fn indices(
        &self,
        side: Side,
        labels: &[Label<'_>],
        space: &LabelSpace,
    ) -> Result<Vec<u32>, FieldError> {
        let mut indices = Vec::with_capacity(labels.len());
        for label in labels {
            let index = self.index(label, space).ok_or_else(|| {
                let known: Vec<String> = space.classes.iter().take(20).map(quoted).collect();
                let more = if space.classes.len() > known.len() {
                    ", ..."
                } else {
                    ""
                };
                let label = quoted(&label.written().into());
                FieldError::new(
                    side,
                    format!(
                        "the label {label} is not among the classes {}{more}",
                        known.join(", ")
                    ),
                )
            })?;
            indices.push(index);
        }
        indices.sort_unstable();
        if let Some(again) = indices.windows(2).find(|two| two[0] == two[1]) {
            let label = space.classes.get(again[0] as usize).map(quoted);
            let problem = format!("the label {} is listed twice", label.unwrap_or_default());
            return Err(FieldError::new(side, problem));
        }
        Ok(indices)
    }

    /// Adds an example of two lists of labels.
    fn add_sets(
        &self,
        predicted: &[Label<'_>],
        actual: &[Label<'_>],
        weight: Option<f64>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        if self.threshold.is_some() {
            let problem =
                Message::from("expected a score for each class, found labels: only scores have a ");
            return Err(FieldError::prediction(problem.option(THRESHOLD.name, "")));
        }
        let is_known = |label: &Label<'_>| self.index(label, sink.header()).is_some();
        let all = || predicted.iter().chain(actual);
        if sink.header().form != Form::Sets || (self.classes.is_empty() && !all().all(is_known)) {
            let mut classes = || all().map(|label| label.written().into()).collect();
            self.share(Side::Prediction, Form::Sets, &mut classes, sink)?;
        }
        let predicted = self.indices(Side::Prediction, predicted, sink.header())?;
        let actual = self.indices(Side::Reference, actual, sink.header())?;
        let metric = self.metric.metric();
        sink.counted_in(|state| metric.add_sets(state, &predicted, &actual, weight));
        Ok(())
    }

    /// Adds an example of a score for each class, in the order of the classes, and the indices of its labels.
    fn add_scores(
        &self,
        scores: &[f64],
        actual: &[u32],
        weight: Option<f64>,
        sink: &mut Sink<'_, Self>,
    ) {
        let metric = self.metric.metric();
        sink.counted_in(|state| {
            if let Some(threshold) = self.threshold {
                let predicted = (0..).zip(scores).filter(|(_, score)| **score >= threshold);
                let predicted: Vec<u32> = predicted.map(|(class, _)| class).collect();
                metric.add_sets(state, &predicted, actual, weight);
            }
            metric.add_scores(state, scores, actual, weight);
        });
    }

    /// Adds an example whose prediction is an object of scores.
    fn add_object(
        &self,
        json: &str,
        actual: &[Label<'_>],
        weight: Option<f64>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let entries: Entries<'_> = match Entries::scan(json) {
            Some(entries) => entries,
            None => typed(json).map_err(FieldError::prediction)?,
        };
        let key = |text: &str| key_of(text, self.delimiter.is_some());
        let mut scores = Vec::with_capacity(entries.0.len());
        for (label, score) in &entries.0 {
            let number = typed::<f64>(score).map_err(|problem| {
                FieldError::prediction(format!("score of {}: {problem}", quoted_id(label)))
            })?;
            scores.push((key(label), number));
        }
        let mut classes = || scores.iter().map(|(key, _)| key.clone()).collect();
        self.share(Side::Prediction, Form::Scores, &mut classes, sink)?;
        // Where classes are given, these are not in the order of the labels.
        let mut in_order = vec![None; sink.header().classes.len()];
        for (key, score) in &scores {
            let label = match key {
                Key::Number(number) => Label::Integer(*number),
                Key::Text(text) => Label::Text(Cow::Borrowed(text)),
            };
            let index = self.indices(Side::Prediction, &[label], sink.header())?;
            if let Some(slot) = index
                .first()
                .and_then(|index| in_order.get_mut(*index as usize))
            {
                *slot = Some(*score);
            }
        }
        if let Some(absent) = in_order.iter().position(Option::is_none) {
            let label = quoted(&sink.header().classes[absent]);
            let problem = format!("expected a score for each class, found none for {label}");
            return Err(FieldError::prediction(problem));
        }
        let in_order: Vec<f64> = in_order.into_iter().flatten().collect();
        let actual = self.indices(Side::Reference, actual, sink.header())?;
        self.add_scores(&in_order, &actual, weight, sink);
        Ok(())
    }

    fn weight<'v>(
        &self,
        value: impl FnOnce(&str) -> Result<Option<Value<'v>>, FieldError>,
    ) -> Result<Option<f64>, FieldError> {
        let Some(field) = &self.weight_field else {
            return Ok(None);
        };
        let mut weight = value(field)?.ok_or_else(|| {
            FieldError::reference(format!("expected a field {field:?}")).of_field(field)
        })?;
        let weight = weight_of(&mut weight).and_then(|weight| {
            let expected = || format!("expected a finite weight of at least 0, found {weight}");
            (weight.is_finite() && weight >= 0.0)
                .then_some(weight)
                .ok_or_else(expected)
        });
        weight
            .map(Some)
            .map_err(|problem| FieldError::field(field, problem))
    }

    /// Adds rows of 0 and 1 for rows of 0 and 1, or for rows of scores; columns are classes.
    fn add_rows<T: Copy + Into<f64>>(
        &self,
        predictions: Rows<'_, T>,
        references: ArrayView2<'_, i64>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        let at = |index| move |error| RecordError { index, error };
        sink.row(batch, 0);
        let width = references.ncols();
        let (found, form) = match predictions {
            Rows::Bits(rows) => (rows.ncols(), Form::Sets),
            Rows::Scores(rows) => (rows.ncols(), Form::Scores),
        };
        let expected = match self.classes.len() {
            0 => width,
            classes => classes,
        };
        for (side, found) in [(Side::Prediction, found), (Side::Reference, width)] {
            if found != expected {
                let problem =
                    format!("a row of {found} columns: expected {expected}, one for each class");
                return Err(at(0)(FieldError::new(side, problem)));
            }
        }
        let mut classes = || (0..width as i64).map(Key::Number).collect();
        self.share(Side::Prediction, form, &mut classes, sink)
            .map_err(at(0))?;
        let metric = self.metric.metric();
        if let Rows::Bits(predictions) = predictions
            && !sink.wants_samples()
            && self.weight_field.is_none()
            && self.threshold.is_none()
        {
            let mut state = MultilabelState::default();
            if metric
                .add_indicators(&mut state, predictions, references)
                .is_ok()
            {
                sink.pooled(batch.len() as u64, &[], state);
                return Ok(());
            }
        }
        for (index, reference) in references.outer_iter().enumerate() {
            sink.row(batch, index);
            let weight = |field: &str| Ok(batch.field(field).map(|column| column.value(index)));
            let added = self.weight(weight).and_then(|weight| {
                let actual = bits(Side::Reference, reference)?;
                match predictions {
                    Rows::Bits(_) if self.threshold.is_some() => {
                        self.add_sets(&[], &[], weight, sink)?;
                    }
                    Rows::Bits(rows) => {
                        let predicted = bits(Side::Prediction, rows.row(index))?;
                        sink.counted_in(|state| {
                            metric.add_sets(state, &predicted, &actual, weight);
                        });
                    }
                    Rows::Scores(rows) => {
                        let scores: Vec<f64> = rows
                            .row(index)
                            .iter()
                            .map(|score| (*score).into())
                            .collect();
                        if let Some(score) = scores.iter().find(|score| !score.is_finite()) {
                            let problem = format!("expected finite scores, found {score}");
                            return Err(FieldError::prediction(problem));
                        }
                        self.add_scores(&scores, &actual, weight, sink);
                    }
                }
                Ok(())
            });
            added.map_err(at(index))?;
        }
        Ok(())
    }
}

/// The rows of predictions.
#[derive(Clone, Copy)]
enum Rows<'r, T> {
    Bits(ArrayView2<'r, i64>),
    Scores(ArrayView2<'r, T>),
}

/// The indices of the ones in a row of 0 and 1.
fn bits(side: Side, row: ArrayView1<'_, i64>) -> Result<Vec<u32>, FieldError> {
    if let Some(other) = row.iter().find(|cell| !matches!(cell, 0 | 1)) {
        let problem = format!(
            "expected 0 or 1 in each column, found {other}: an array has one column for each class, and labels are given as lists"
        );
        return Err(FieldError::new(side, problem));
    }
    let ones = (0..).zip(row).filter(|(_, cell)| **cell == 1);
    Ok(ones.map(|(class, _)| class).collect())
}

impl<M: LabelSetMetric> Reading for OfLabelSets<M> {
    type Metric = Measured<MultilabelState>;
    type Header = LabelSpace;

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let mut parts = self.metric.definition();
        let names: Vec<String> = self.classes.iter().map(ToString::to_string).collect();
        parts.extend(present([
            (
                CLASSES.name,
                (!names.is_empty()).then(|| comma_separated(&names)),
            ),
            (
                THRESHOLD.name,
                self.threshold.map(|threshold| threshold.to_string()),
            ),
            (WEIGHT.name, self.weight_field.clone()),
        ]));
        Facts {
            further_fields: self.weight_field.iter().cloned().collect(),
            has_proportions: self.weight_field.is_none(),
            ..Facts::signed(parts)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let fields = record.fields;
        let weight = self.weight(|field: &str| {
            let fields = json::fields(fields, &[field]).map_err(FieldError::reference)?;
            Ok(fields.get(field).map(Value::json))
        });
        let mut predicted_json = String::new();
        let mut object = None;
        let mut predicted = Vec::new();
        let cell = record.prediction.as_line();
        let is_cell = cell.is_some_and(|cell| cell.trim_start().starts_with('{'));
        if record.prediction.kind() == Kind::Object || (is_cell && self.delimiter.is_none()) {
            let json = record.prediction.to_json_or("{}");
            object = Some(json.map_err(FieldError::prediction)?);
        } else if !record.prediction.is_missing() {
            let labels = self.labels(&mut record.prediction, &mut predicted_json);
            predicted = labels.map_err(FieldError::prediction)?;
        }
        let mut json = String::new();
        let actual = self.labels(&mut record.reference, &mut json);
        let actual = actual.map_err(FieldError::reference)?;
        match object {
            Some(object) => self.add_object(&object, &actual, weight?, sink),
            None => self.add_sets(&predicted, &actual, weight?, sink),
        }
    }

    /// Takes arrays with a column for each class.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let Column::Labels(references) = batch.references() else {
            return None;
        };
        let references = references.view();
        Some(match batch.predictions() {
            Column::Labels(rows) => {
                self.add_rows(Rows::<f64>::Bits(rows.view()), references, batch, sink)
            }
            Column::Scores(rows) => {
                self.add_rows(Rows::Scores(rows.view()), references, batch, sink)
            }
            Column::ScoresF32(rows) => {
                self.add_rows(Rows::Scores(rows.view()), references, batch, sink)
            }
            _ => return None,
        })
    }

    fn numbers(&self, state: &MultilabelState, space: &LabelSpace, asked: Asked<'_>) -> Numbers {
        self.metric.numbers(state, space, asked)
    }

    fn problem(&self, state: &MultilabelState, _: &LabelSpace) -> Option<Message> {
        let is_weightless = state.is_weighted() && state.total() == 0.0;
        is_weightless.then(all_are_zero)
    }

    fn weigher<'s>(
        &'s self,
        states: &[&'s MultilabelState],
        space: &'s LabelSpace,
    ) -> Option<Weigher<'s>> {
        // Counts alone are merged faster.
        (space.form == Form::Scores)
            .then(|| self.metric.weigher(states, space))
            .flatten()
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        let mut json = String::new();
        let reference = self.labels(&mut record.reference, &mut json);
        reference.is_ok_and(|labels| labels.is_empty()).into()
    }

    fn renumber(&self, state: &mut MultilabelState, indices: &[u32]) {
        state.renumber(indices);
    }
}

/// The labels of a list.
fn list(json: &str) -> Result<Vec<Label<'_>>, String> {
    let mut labels = Vec::new();
    let mut scanner = Scanner::new(json);
    let scanned = scanner.list(|item| {
        labels.push(match item.peek()? {
            b'"' => Label::Text(Cow::Borrowed(item.string()?)),
            _ => Label::Integer(item.integer()?),
        });
        Some(())
    });
    if scanned.is_some() && scanner.is_at_end() {
        return Ok(labels);
    }
    let items: Vec<&RawValue> = typed(json)?;
    let label = |item: &&'_ RawValue| {
        let label = read_label(&mut Value::json(item.get()))?;
        let label = label.ok_or_else(|| "expected a label, found null".to_owned())?;
        // A line of text has no type; an item of a list has one.
        Ok(match label {
            Label::Integer(number) => Label::Integer(number),
            Label::Text(text) => Label::Text(Cow::Owned(text.into_owned())),
            Label::Line(text) => Label::Text(Cow::Owned(text.to_owned())),
        })
    };
    items.iter().map(label).collect()
}

/// The class that an item of an option or the key of an object names: the integer that it spells in its shortest form,
/// unless all labels are texts, or else the text.
fn key_of(text: &str, has_texts: bool) -> Key {
    let number = text.parse::<i64>().ok();
    let number = number.filter(|number| !has_texts && number.to_string() == text);
    number.map_or_else(|| Key::from(text), Key::Number)
}

/// The order of a class and a label: integers first, by value, then texts.
fn order(key: &Key, label: &Label<'_>) -> Ordering {
    match (key, label) {
        (Key::Number(key), Label::Integer(label)) => key.cmp(label),
        (Key::Number(_), _) => Ordering::Less,
        (Key::Text(_), Label::Integer(_)) => Ordering::Greater,
        (Key::Text(key), Label::Text(label)) => (**key).cmp(label),
        (Key::Text(key), Label::Line(label)) => (**key).cmp(label),
    }
}

/// What the predictions of a data set are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// No example has been seen.
    #[default]
    Unknown,
    /// Lists of labels.
    Sets,
    /// Scores of all classes.
    Scores,
}

/// The form of the predictions of a data set, and its classes by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSpace {
    pub(crate) form: Form,
    pub(crate) classes: Vec<Key>,
}

impl Written for LabelSpace {
    fn write(&self, to: &mut Writer) {
        to.list(2);
        to.text(match self.form {
            Form::Unknown => "unknown",
            Form::Sets => "sets",
            Form::Scores => "scores",
        });
        self.classes.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let invalid = || Malformed::from("expected the form of predictions and their classes");
        if from.list()? != 2 {
            return Err(invalid());
        }
        let form = match from.text()? {
            "unknown" => Form::Unknown,
            "sets" => Form::Sets,
            "scores" => Form::Scores,
            _ => return Err(invalid()),
        };
        let classes = Vec::read(from)?;
        Ok(Self { form, classes })
    }
}

impl Header for LabelSpace {
    fn unify(&mut self, other: &Self) -> Result<Unified, Message> {
        if self == other || other.form == Form::Unknown {
            return Ok(Unified::Kept);
        }
        if self.form == Form::Unknown {
            self.clone_from(other);
            return Ok(Unified::Kept);
        }
        match (self.form, other.form) {
            (Form::Sets, Form::Scores) => {
                return Err(
                    "expected a list of labels, as in the first record, found scores".into(),
                );
            }
            (Form::Scores, Form::Sets) => {
                return Err(
                    "expected scores, as in the first record, found a list of labels".into(),
                );
            }
            (Form::Scores, _) => {
                let names = |classes: &[Key]| {
                    let names: Vec<String> = classes.iter().take(20).map(quoted).collect();
                    names.join(", ")
                };
                let (found, expected) = (names(&other.classes), names(&self.classes));
                return Err(format!(
                    "scores of the classes {found}: expected {expected}, as in the first record"
                )
                .into());
            }
            _ => {}
        }
        let mut classes = [&self.classes[..], &other.classes].concat();
        classes.sort();
        classes.dedup();
        if classes == self.classes && classes == other.classes {
            return Ok(Unified::Kept);
        }
        let indices = |old: &[Key]| {
            let index = |key: &Key| classes.binary_search(key).unwrap_or_default() as u32;
            old.iter().map(index).collect()
        };
        let (ours, theirs) = (indices(&self.classes), indices(&other.classes));
        self.classes = classes;
        Ok(Unified::Renumbered { ours, theirs })
    }
}
