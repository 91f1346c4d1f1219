//! Strings.

use std::borrow::Cow;

use metric_core::{Accuracy, Metric};
use metric_text::{Normalizer, StringAccuracy, VERSION, read};

use metric_record::{Batch, Column, FieldError, Kind, Record, RecordError, Side, Texts};

use crate::text::prepare::{EXTRACT, NORMALIZE, extracting_scorer, normalize_parts};
use crate::{
    ComparedTexts, Entry, Input, Named, Numbers, PairOf, Reading, Scope, ScoreSpec, Sink,
    never_whole,
};

pub(crate) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
    help: "Share of texts that equal their reference",
    values: ("a string, or `references`: a list of strings", "a string"),
    options: &[EXTRACT, NORMALIZE],
    scores: &[ScoreSpec::higher("string_accuracy").proportion("correct", "total")],
    groups: &[],
    details: false,
    drawings: &[],
    report: crate::report::ANSWERS,
    input: Input::Records,
    whole_file: never_whole,
    state_format: 1,
    build: |options| {
        let normalizer: Normalizer = options.parse("normalize")?.unwrap_or_default();
        let reading = Strings {
            metric: StringAccuracy { normalizer },
        };
        extracting_scorer("string-accuracy", VERSION, reading, options)
    },
};

struct Strings {
    metric: StringAccuracy,
}

impl Reading for Strings {
    type Metric = StringAccuracy;
    type Header = ();

    fn metric(&self) -> &StringAccuracy {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        normalize_parts(&self.metric.normalizer)
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        read_checked(record, sink, |_, _| Ok(()))
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let references = read::texts(&mut record.reference.clone()).unwrap_or_default();
        let metric = &self.metric;
        references
            .iter()
            .any(|text| metric.measure("", text).correct > 0)
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let as_they_are = self.metric.normalizer.steps.is_empty();
        read_equal(batch, sink, as_they_are, |_, _| Ok(()))
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        let mut state = Accuracy::default();
        for (prediction, reference) in pairs {
            self.metric.update(&mut state, prediction, reference);
        }
        Some(vec![state.value()])
    }

    fn closeness(&self, _: &Accuracy, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        pair.and_then(|(prediction, reference)| similarity(prediction, [reference]))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let prediction = record.prediction.text().ok()?;
        let references = read::texts(&mut record.reference).ok()?;
        let apply = |text: &str| self.metric.normalizer.apply(text).into_owned();
        Some(ComparedTexts::new(&prediction, &references, apply))
    }

    fn numbers(&self, state: &Accuracy, (): &(), _scope: Scope<'_>) -> Numbers {
        accuracy_numbers("string_accuracy", state)
    }
}

/// The longest texts, in bytes, whose similarity is computed for the nearest misses of a report.
const COMPARED_BYTES: usize = 500;

/// Returns how similar a prediction is to the most similar reference, if these are short: 1 less the share of
/// characters that differ.
pub(crate) fn similarity<'r>(
    prediction: &str,
    references: impl IntoIterator<Item = &'r str>,
) -> Option<f64> {
    let is_short = |text: &str| text.len() <= COMPARED_BYTES;
    let short = references
        .into_iter()
        .filter(|text| is_short(text))
        .take(10);
    let similar = short.filter(|_| is_short(prediction));
    let similar = similar.map(|reference| metric_text::anls::similarity(prediction, reference));
    similar.reduce(f64::max)
}

/// Reads both sides of a record as strings.
pub(crate) fn texts<'a>(
    record: &mut Record<'a>,
) -> Result<(Cow<'a, str>, Cow<'a, str>), FieldError> {
    let prediction = record.prediction.text().map_err(FieldError::prediction)?;
    let reference = record.reference.text().map_err(FieldError::reference)?;
    Ok((prediction, reference))
}

/// Reads a record whose reference is a string or a list of strings, any of which is correct. `check` may refuse a text.
pub(crate) fn read_checked<R>(
    record: &mut Record<'_>,
    sink: &mut Sink<'_, R>,
    check: impl Fn(Side, &str) -> Result<(), FieldError>,
) -> Result<(), FieldError>
where
    R: Reading<Metric: Metric<Prediction = str, Reference = str, State = Accuracy>>,
{
    if record.reference.kind() != Kind::List {
        let (prediction, reference) = texts(record)?;
        check(Side::Prediction, &prediction)?;
        check(Side::Reference, &reference)?;
        sink.example(&prediction, &reference);
        return Ok(());
    }
    let prediction = record.prediction.text().map_err(FieldError::prediction)?;
    let references = read::texts(&mut record.reference).map_err(FieldError::reference)?;
    check(Side::Prediction, &prediction)?;
    for reference in &references {
        check(Side::Reference, reference)?;
    }
    let metric = sink.metric();
    let is_correct =
        |reference: &&String| metric.measure(&prediction, reference.as_str()).correct > 0;
    let shown = references.iter().find(is_correct).or(references.first());
    let shown =
        shown.ok_or_else(|| FieldError::reference("no references: expected at least one"))?;
    sink.example(&prediction, shown);
    Ok(())
}

/// Reads texts on both sides of a batch as examples, whole columns at once where they are compared `as_they_are`;
/// `None` for columns of other types. `check` may refuse a text.
pub(crate) fn read_equal<R>(
    batch: &Batch<'_>,
    sink: &mut Sink<'_, R>,
    as_they_are: bool,
    check: impl Fn(Side, &str) -> Result<(), FieldError>,
) -> Option<Result<(), RecordError>>
where
    R: Reading<Metric: Metric<Prediction = str, Reference = str, State = Accuracy>>,
{
    if as_they_are
        && !sink.wants_samples()
        && let Some((predictions, references)) = columns_of_texts(batch)
        && let Some(correct) = predictions.count_equal(references)
    {
        let (correct, total) = (correct as u64, batch.len() as u64);
        sink.pooled(total, &[], Accuracy { correct, total });
        return Some(Ok(()));
    }
    read_texts(batch, sink, |prediction, reference, sink| {
        check(Side::Prediction, prediction)?;
        check(Side::Reference, reference)?;
        sink.example(prediction, reference);
        Ok(())
    })
}

/// Reads texts on both sides of a batch as examples, which `add` adds or refuses; `None` for columns of other
/// types.
pub(crate) fn read_texts<R>(
    batch: &Batch<'_>,
    sink: &mut Sink<'_, R>,
    add: impl Fn(&str, &str, &mut Sink<'_, R>) -> Result<(), FieldError>,
) -> Option<Result<(), RecordError>>
where
    R: Reading<Metric: Metric<Prediction = str, Reference = str>>,
{
    let (predictions, references) = columns_of_texts(batch)?;
    let mut pairs = predictions.iter().zip(references.iter()).enumerate();
    Some(pairs.try_for_each(|(index, pair)| {
        sink.row(batch, index);
        let (Some(prediction), Some(reference)) = pair else {
            return sink.read_row(batch, index);
        };
        add(prediction, reference, sink).map_err(|error| RecordError { index, error })
    }))
}

/// The predictions and the references of a batch, if both are texts.
fn columns_of_texts<'b>(batch: &'b Batch<'_>) -> Option<(&'b Texts<'b>, &'b Texts<'b>)> {
    let texts = |column: &'b Column<'_>| match column {
        Column::Texts(texts) | Column::Lines(texts) => Some(texts),
        _ => None,
    };
    texts(batch.predictions()).zip(texts(batch.references()))
}

/// The numbers of a metric that is one accuracy.
pub(crate) fn accuracy_numbers(score: &str, state: &Accuracy) -> Numbers {
    Numbers {
        scores: vec![(score.to_owned(), state.value())],
        counts: accuracy_counts(state),
        ..Numbers::default()
    }
}

pub(crate) fn accuracy_counts(state: &Accuracy) -> Named<serde_json::Value> {
    vec![
        ("correct".to_owned(), state.correct.into()),
        ("total".to_owned(), state.total.into()),
    ]
}

#[cfg(test)]
mod tests {
    use metric_text::normalize::Step;

    use crate::steps::STEPS;

    use super::*;

    #[test]
    fn every_step_is_explained() {
        let names: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        for step in Step::ALL {
            assert!(names.contains(&step.name()), "{}", step.name());
        }
        // The others have an argument.
        let others = names.iter().filter(|name| name.ends_with(')'));
        assert_eq!(names.len(), Step::ALL.len() + others.count());
        for name in names {
            assert!(NORMALIZE.help.contains(name), "{name}");
        }
    }
}
