//! Class scores: a list of numbers, one per class, and the index of the class of the reference.

use std::borrow::Cow;

use metric_class::{Score, ScoreError, Target};
use metric_core::{Merge, Written};
use metric_record::json::{self, scan, string, typed};
use metric_record::{Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Value};
use ndarray::ArrayView2;
use serde_json::value::RawValue;

use crate::numbers::present;
use crate::shapes::Measured;
use crate::shapes::ranked::Rows;
use crate::shapes::weights::weight_of;
use crate::{
    Asked, Counted, Facts, Named, Numbers, OptionError, OptionSpec, Options, Reading, Sink,
};

pub(crate) const IGNORE: OptionSpec = OptionSpec::integer(
    "ignore-index",
    "LABEL",
    i64::MIN..=i64::MAX,
    "With scores: leave out examples with this reference, such as -100",
);
pub(crate) const WEIGHT: OptionSpec = OptionSpec::text(
    "weight-field",
    "NAME",
    "With scores: field next to the reference with the weight of the example",
);
pub(crate) const INFINITE: OptionSpec = OptionSpec::flag(
    "allow-infinite",
    "With scores: accept \"inf\" and \"-inf\" as scores",
);

/// Reads the label and the weight of an example, after its scores: of two errors in a record, the first is in the scores.
pub(crate) type ReadTarget<'r> = &'r dyn Fn() -> Result<Target, FieldError>;

/// A metric of class scores.
pub(crate) trait ScoresMetric: Sized + Send + Sync + 'static {
    /// What is kept of the examples.
    type State: Merge + Clone + Written + Send + Sync + 'static;

    /// Returns the parts of the signature, by name, without those of the options of this shape.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Adds an example: one score per class, or none for a missing prediction; the index of the class of the reference; and
    /// its weight.
    ///
    /// # Errors
    ///
    /// Returns an error if the scores or the weight are invalid.
    fn add<S: Score>(
        &self,
        scores: Option<&[S]>,
        label: i64,
        target: ReadTarget<'_>,
        sink: &mut Sink<'_, OfScores<Self>>,
    ) -> Result<(), FieldError>;

    /// Returns the state of the rows of an array, of which examples of the ignored label are left out; `None` if the rows
    /// are better read one by one. There are no weights.
    fn measure_rows<S: Score>(
        &self,
        _rows: ArrayView2<'_, S>,
        _labels: &[i64],
        _sink: &mut Sink<'_, OfScores<Self>>,
    ) -> Option<Self::State> {
        None
    }

    /// Returns the numbers of a state.
    fn numbers(&self, state: &Self::State, rows: Rows, asked: Asked<'_>) -> Numbers;
}

/// The reading of a metric of class scores.
pub(crate) struct OfScores<M> {
    metric: M,
    ignored: Option<i64>,
    weight_field: Option<String>,
    has_infinite: bool,
    has_proportions: bool,
}

impl<M: ScoresMetric> OfScores<M> {
    /// Returns the reading of a metric under these options, whose scores may be proportions where there are no weights.
    pub(crate) fn new(
        metric: M,
        has_proportions: bool,
        options: &Options,
    ) -> Result<Self, OptionError> {
        let weight_field: Option<String> = options.parse(WEIGHT.name)?;
        Ok(Self {
            metric,
            ignored: ignored(options)?,
            has_infinite: options.has(INFINITE.name),
            has_proportions: has_proportions && weight_field.is_none(),
            weight_field,
        })
    }

    /// Reads a reference that is the index of a score; `None` for an ignored one, whose example is counted as left out.
    fn read_index(
        &self,
        value: &mut Value<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<Option<i64>, FieldError> {
        let label = index(value).map_err(FieldError::reference)?;
        if self.ignored == Some(label) {
            sink.count(&ignored_examples(), 1);
            return Ok(None);
        }
        Ok(Some(label))
    }

    fn add<S: Score>(
        &self,
        scores: &[S],
        label: i64,
        target: ReadTarget<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        sink.share(Side::Prediction, Rows::Scores(scores.len()))?;
        self.metric.add(Some(scores), label, target, sink)
    }

    /// The label with the weight of its example, of which `value` gives the field.
    fn target<'v>(
        &self,
        label: i64,
        value: impl FnOnce(&str) -> Result<Option<Value<'v>>, FieldError>,
    ) -> Result<Target, FieldError> {
        let Some(field) = &self.weight_field else {
            return Ok(Target::new(label));
        };
        let mut weight = value(field)?.ok_or_else(|| {
            FieldError::reference(format!("expected a field {field:?}")).of_field(field)
        })?;
        let target = weight_of(&mut weight)
            .and_then(|weight| Target::weighted(label, weight).map_err(|error| error.to_string()));
        target.map_err(|problem| FieldError::field(field, problem))
    }

    /// Adds the rows of an array, all at once if each reference is an integer and there are no weights.
    fn add_rows<S: Score>(
        &self,
        rows: ArrayView2<'_, S>,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), RecordError> {
        if !sink.wants_samples()
            && self.weight_field.is_none()
            && let Column::Integers(labels) = batch.references()
            && let Some(labels) = labels.without_nulls()
            && let Some(state) = self.metric.measure_rows(rows, labels, sink)
        {
            let is_counted = |label: &&i64| self.ignored != Some(**label);
            let counted = labels.iter().filter(is_counted).count();
            sink.count(&ignored_examples(), (labels.len() - counted) as u64);
            // Rows of the ignored label may have any width.
            if let Some(index) = labels.iter().position(|label| is_counted(&label)) {
                sink.row(batch, index);
                sink.share(Side::Prediction, Rows::Scores(rows.ncols()))
                    .map_err(|error| RecordError { index, error })?;
            }
            sink.pooled(counted as u64, &[], state);
            return Ok(());
        }
        // Rows of an array in another layout than the standard one are not slices.
        let mut copy = Vec::new();
        for (index, row) in rows.outer_iter().enumerate() {
            sink.row(batch, index);
            let row = row.to_slice().unwrap_or_else(|| {
                copy.clear();
                copy.extend(&row);
                &copy
            });
            let weight = |field: &str| Ok(batch.field(field).map(|column| column.value(index)));
            let label = self.read_index(&mut batch.references().value(index), sink);
            let added = label.and_then(|label| match label {
                Some(label) => self.add(row, label, &|| self.target(label, weight), sink),
                None => Ok(()),
            });
            added.map_err(|error| RecordError { index, error })?;
        }
        Ok(())
    }
}

impl<M: ScoresMetric> Reading for OfScores<M> {
    type Metric = Measured<M::State>;
    type Header = Rows;

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let mut all = present([("input", Some("scores".to_owned()))]);
        all.extend(self.metric.definition());
        all.extend(present([
            (IGNORE.name, self.ignored.map(|label| label.to_string())),
            (WEIGHT.name, self.weight_field.clone()),
            (INFINITE.name, self.has_infinite.then(|| "yes".to_owned())),
        ]));
        Facts {
            further_fields: self.weight_field.iter().cloned().collect(),
            has_proportions: self.has_proportions,
            ..Facts::signed(all)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let Some(label) = self.read_index(&mut record.reference, sink)? else {
            return Ok(());
        };
        let weight = |field: &str| {
            let fields = json::fields(record.fields, &[field]).map_err(FieldError::reference)?;
            Ok(fields.get(field).map(Value::json))
        };
        let target = || self.target(label, weight);
        let mut prediction = record.prediction;
        if prediction.is_missing() {
            return self.metric.add::<f64>(None, label, &target, sink);
        }
        if let Some(row) = prediction.as_numbers_f32() {
            return self.add(row, label, &target, sink);
        }
        let row = read_scores(&mut prediction).map_err(FieldError::prediction)?;
        self.add(&row, label, &target, sink)
    }

    /// Takes rows of scores.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        match batch.predictions() {
            Column::Scores(rows) => Some(self.add_rows(rows.view(), batch, sink)),
            Column::ScoresF32(rows) => Some(self.add_rows(rows.view(), batch, sink)),
            _ => None,
        }
    }

    fn numbers(&self, state: &M::State, header: &Rows, asked: Asked<'_>) -> Numbers {
        self.metric.numbers(state, *header, asked)
    }
}

/// Returns the label whose examples are left out.
pub(crate) fn ignored(options: &Options) -> Result<Option<i64>, OptionError> {
    let label = options.get(IGNORE.name).map(|text| {
        let label = text.trim().parse();
        label.map_err(|_| OptionError::new(IGNORE.name, &text, "expected an integer"))
    });
    label.transpose()
}

/// The note of an example that is left out.
fn ignored_examples() -> Counted {
    Counted::new(
        "example of the ignored label was left out",
        "examples of the ignored label were left out",
    )
}

/// Returns the error of a record whose scores have this one.
pub(crate) fn invalid(error: ScoreError) -> FieldError {
    let problem = Message::from(error.to_string());
    match error {
        ScoreError::NoColumn { .. } => FieldError::reference(problem),
        ScoreError::Infinite { .. } => {
            FieldError::prediction(problem.text(": allowed with ").option(INFINITE.name, ""))
        }
        _ => FieldError::prediction(problem),
    }
}

/// Reads the index of a score.
fn index(value: &mut Value<'_>) -> Result<i64, String> {
    if let Some(label) = value.as_integer() {
        return Ok(label);
    }
    let text = value.to_json_or("null")?;
    let label = scan::integer(&text).or_else(|| typed(&text).ok());
    label.ok_or_else(|| {
        let found = match json::kind(&text) {
            Kind::Number => text.to_string(),
            kind => kind.to_string(),
        };
        format!("expected the index of a score, an integer, found {found}")
    })
}

/// Reads a row of scores.
pub(crate) fn read_scores<'a>(value: &mut Value<'a>) -> Result<Cow<'a, [f64]>, String> {
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
    let items: Result<Vec<&RawValue>, String> = typed(&json);
    let scores = items.and_then(|items| items.iter().map(|item| any_number(item.get())).collect());
    scores.map(Cow::Owned).map_err(|problem| {
        if json.contains("Infinity") {
            "Infinity is not a JSON number: an infinite score is written \"inf\" or \"-inf\""
                .to_owned()
        } else {
            problem
        }
    })
}

/// Reads a number, which JSON has as a text if it is not finite.
fn any_number(json: &str) -> Result<f64, String> {
    typed(json).or_else(|problem| match string(json).as_deref() {
        Ok("inf" | "Infinity") => Ok(f64::INFINITY),
        Ok("-inf" | "-Infinity") => Ok(f64::NEG_INFINITY),
        Ok("nan" | "NaN") => Ok(f64::NAN),
        _ if problem.ends_with("expected a number") => Err(problem + ", \"inf\" or \"-inf\""),
        _ => Err(problem),
    })
}
