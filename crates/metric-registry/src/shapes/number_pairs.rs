//! Pairs of numbers: a number for a number, of which each pair may have a weight.

use metric_core::{Merge, Written};
use metric_number::NumbersError;
use metric_record::json::scan::Scanner;
use metric_record::json::{self, typed};
use metric_record::{
    Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Value, quoted_id,
};

use crate::numbers::present;
use crate::shapes::Measured;
use crate::shapes::weights::{all_are_zero, weight_of};
use crate::{
    Asked, Facts, Named, Numbers, OptionError, OptionSpec, Options, Reading, Remarks, Scope, Sink,
    Weigher,
};

pub(crate) const WEIGHT: OptionSpec = OptionSpec::text(
    "weight-field",
    "NAME",
    "Field next to the reference with the weight of the example",
);

/// A metric of pairs of numbers.
pub(crate) trait PairMetric: Send + Sync + 'static {
    /// What is kept of the examples.
    type State: Merge + Clone + Written + Send + Sync + 'static;

    /// Returns the parts of the signature, by name.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Adds an example of a prediction and its reference, which are finite.
    fn add(&self, state: &mut Self::State, pair: [f64; 2]);

    /// Adds an example with a weight, for metrics with the option [`WEIGHT`].
    ///
    /// # Errors
    ///
    /// Returns an error if the weight is invalid.
    fn add_weighted(
        &self,
        state: &mut Self::State,
        pair: [f64; 2],
        _weight: f64,
    ) -> Result<(), NumbersError> {
        self.add(state, pair);
        Ok(())
    }

    /// Returns the scores and the counts of a state.
    fn numbers(&self, state: &Self::State, scope: Scope<'_>) -> Numbers;

    /// Returns the warnings about all examples.
    fn warnings(&self, _state: &Self::State, _remarks: Remarks<'_>) -> Vec<Message> {
        Vec::new()
    }

    /// Returns whether examples have weights that are all 0.
    fn is_weightless(&self, _state: &Self::State) -> bool {
        false
    }

    /// Returns what scores these states with a weight for each.
    fn weigher<'s>(&'s self, states: &[&'s Self::State]) -> Weigher<'s>;
}

/// The reading of a metric of pairs of numbers.
pub(crate) struct OfNumberPairs<M> {
    metric: M,
    weight_field: Option<String>,
}

impl<M: PairMetric> OfNumberPairs<M> {
    /// Returns the reading of a metric under these options, of which it need not have any.
    pub(crate) fn new(metric: M, options: &Options) -> Result<Self, OptionError> {
        let weight_field = options.parse(WEIGHT.name)?;
        Ok(Self {
            metric,
            weight_field,
        })
    }

    /// Adds an example, of whose weight `value` gives the field.
    fn add<'v>(
        &self,
        [prediction, reference]: [&mut Value<'_>; 2],
        value: impl FnOnce(&str) -> Result<Option<Value<'v>>, FieldError>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let side = |side, value| read_number(value).map_err(|error| FieldError::new(side, error));
        let pair = [
            side(Side::Prediction, prediction)?,
            side(Side::Reference, reference)?,
        ];
        let Some(field) = &self.weight_field else {
            sink.counted_in(|state| self.metric.add(state, pair));
            return Ok(());
        };
        let mut weight = value(field)?.ok_or_else(|| {
            FieldError::reference(format!("expected a field {field:?}")).of_field(field)
        })?;
        let invalid = |problem: String| FieldError::field(field, problem);
        let weight = weight_of(&mut weight).map_err(invalid)?;
        let mut added = Ok(());
        sink.counted_in(|state| added = self.metric.add_weighted(state, pair, weight));
        added.map_err(|error| invalid(error.to_string()))
    }
}

impl<M: PairMetric> Reading for OfNumberPairs<M> {
    type Metric = Measured<M::State>;
    type Header = ();

    fn metric(&self) -> &Self::Metric {
        &Measured::METRIC
    }

    fn facts(&self) -> Facts {
        let mut parts = self.metric.definition();
        parts.extend(present([(WEIGHT.name, self.weight_field.clone())]));
        Facts {
            further_fields: self.weight_field.iter().cloned().collect(),
            ..Facts::signed(parts)
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let fields = record.fields;
        let weight = |field: &str| {
            let fields = json::fields(fields, &[field]).map_err(FieldError::reference)?;
            Ok(fields.get(field).map(Value::json))
        };
        self.add(
            [&mut record.prediction, &mut record.reference],
            weight,
            sink,
        )
    }

    /// Takes numbers in any form.
    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let sides = [batch.predictions(), batch.references()];
        if !sides.iter().all(|side| is_of_numbers(side)) {
            return None;
        }
        let together = |state: &mut M::State, row| {
            // Weights are fields, which are read with their rows.
            let end = self.weight_field.as_ref().map_or(batch.len(), |_| row);
            let pairs = (row..end).map(|row| sides.map(|side| number_at(side, row)));
            let pairs = pairs.map_while(|[prediction, reference]| prediction.zip(reference));
            pairs
                .map(|(prediction, reference)| self.metric.add(state, [prediction, reference]))
                .count()
        };
        Some(sink.read_rows(batch, together, |sink, index| {
            let [mut prediction, mut reference] = sides.map(|side| side.value(index));
            let weight = |field: &str| Ok(batch.field(field).map(|column| column.value(index)));
            let added = self.add([&mut prediction, &mut reference], weight, sink);
            added.map_err(|error| RecordError { index, error })
        }))
    }

    fn numbers(&self, state: &M::State, (): &(), asked: Asked<'_>) -> Numbers {
        let warnings = asked
            .remarks
            .map(|remarks| self.metric.warnings(state, remarks));
        Numbers {
            warnings: warnings.unwrap_or_default(),
            ..self.metric.numbers(state, asked.scope)
        }
    }

    fn problem(&self, state: &M::State, (): &()) -> Option<Message> {
        self.metric.is_weightless(state).then(all_are_zero)
    }

    fn weigher<'s>(&'s self, states: &[&'s M::State], (): &'s ()) -> Option<Weigher<'s>> {
        Some(self.metric.weigher(states))
    }
}

pub(crate) fn is_of_numbers(column: &Column<'_>) -> bool {
    matches!(
        column,
        Column::Numbers(_)
            | Column::NumbersF32(_)
            | Column::Integers(_)
            | Column::Lines(_)
            | Column::Json(_)
    )
}

/// The number of a cell; `None` for anything else, which is read as a value.
#[inline]
pub(crate) fn number_at(column: &Column<'_>, row: usize) -> Option<f64> {
    let number = match column {
        Column::Numbers(cells) => cells.get(row)?,
        Column::Integers(cells) => cells.get(row)? as f64,
        Column::NumbersF32(cells) => Value::number_f32(cells.get(row)?).read().ok()?,
        Column::Lines(texts) | Column::Json(texts) => {
            let mut scanner = Scanner::new(texts.get(row)?);
            let number = scanner.number()?;
            scanner.is_at_end().then_some(number)?
        }
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// Reads a finite number.
pub(crate) fn read_number(value: &mut Value<'_>) -> Result<f64, Message> {
    if value.is_missing() {
        let message = Message::from("expected a number; to leave out records without one, use ");
        return Err(message.option("missing", "skip"));
    }
    // Cells and lines have no type: tables write numbers in more forms than JSON has.
    let line = value.as_line().map(str::trim);
    let number = match line {
        Some(text) => text.parse().map_err(|_| match text {
            "" => "expected a number, found an empty text".to_owned(),
            text => format!("expected a number, found {}", quoted_id(text)),
        })?,
        None => match value.read::<f64>() {
            Ok(number) => number,
            Err(_) => return Err(no_number(value).into()),
        },
    };
    if number.is_finite() {
        return Ok(number);
    }
    let found = if number.is_nan() { "NaN" } else { "infinity" };
    Err(format!("expected a finite number, found {found}").into())
}

/// What is wrong with a value that is not a number.
fn no_number(value: &mut Value<'_>) -> String {
    match value.kind() {
        Kind::String => match value.text() {
            Ok(text) => format!("expected a number, found the string {}", quoted_id(&text)),
            Err(problem) => problem,
        },
        Kind::Number | Kind::Invalid => {
            let json = value.to_json_or("null");
            let read = json.and_then(|json| typed::<f64>(&json));
            read.err().unwrap_or_default()
        }
        kind => format!("expected a number, found {kind}"),
    }
}
