//! Strings.

use std::borrow::Cow;

use metric_core::{Accuracy, Metric};
use metric_text::normalize::differ_in_form;
use metric_text::{Normalizer, StringAccuracy, VERSION, read};

use metric_record::{Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Texts};

use crate::text::prepare::{EXTRACT, NORMALIZE, extracting_scorer, normalize_parts};
use crate::{
    ComparedTexts, Counted, Demo, Entry, Named, Numbers, PairOf, Reading, Scope, ScoreSpec, Sink,
};

pub(crate) const STRING_ACCURACY: Entry = Entry {
    name: "string-accuracy",
    help: "Share of texts that equal their reference",
    values: ("a string, or `references`: a list of strings", "a string"),
    #[rustfmt::skip]
    demos: &[
        Demo::new("transcriptions", ["words.txt", "read-words.txt"], &["string_accuracy"]).with(&[("normalize", "nfc,casefold")]),
    ],
    options: &[EXTRACT, NORMALIZE],
    scores: &[ScoreSpec::higher("string_accuracy").proportion("correct", "total")],
    report: in_report!(text { example: answer }),
    build: |options| {
        let normalizer: Normalizer = options.parse("normalize")?.unwrap_or_default();
        let reading = Strings {
            metric: StringAccuracy { normalizer },
        };
        extracting_scorer("string-accuracy", VERSION, reading, options)
    },
    ..Entry::BASE
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
        read_any_of(record, sink, self)
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
        read_equal(batch, sink, as_they_are, self)
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        let mut state = Accuracy::default();
        for (prediction, reference) in pairs {
            if !is_plain(self, prediction, reference) {
                return None;
            }
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

/// What is looked at before texts are compared.
pub(crate) trait Compared {
    /// Refuses a text that cannot be compared.
    fn check(&self, _side: Side, _text: &str) -> Result<(), FieldError> {
        Ok(())
    }

    /// Whether a prediction and a reference, as they are compared, have words that differ only in their Unicode form.
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool;
}

impl Compared for Strings {
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool {
        let normalizer = &self.metric.normalizer;
        differ_in_form(prediction, reference)
            && differ_in_form(&normalizer.apply(prediction), &normalizer.apply(reference))
    }
}

/// Reads a record whose reference is a string or a list of strings, any of which is correct.
pub(crate) fn read_any_of<R>(
    record: &mut Record<'_>,
    sink: &mut Sink<'_, R>,
    compared: &impl Compared,
) -> Result<(), FieldError>
where
    R: Reading<Metric: Metric<Prediction = str, Reference = str, State = Accuracy>>,
{
    if record.reference.kind() != Kind::List {
        let (prediction, reference) = texts(record)?;
        compared.check(Side::Prediction, &prediction)?;
        compared.check(Side::Reference, &reference)?;
        note_forms(compared, &prediction, [&*reference], sink);
        sink.example(&prediction, &reference);
        return Ok(());
    }
    let prediction = record.prediction.text().map_err(FieldError::prediction)?;
    let references = read::texts(&mut record.reference).map_err(FieldError::reference)?;
    compared.check(Side::Prediction, &prediction)?;
    for reference in &references {
        compared.check(Side::Reference, reference)?;
    }
    let metric = sink.metric();
    let is_correct =
        |reference: &&String| metric.measure(&prediction, reference.as_str()).correct > 0;
    let correct = references.iter().find(is_correct);
    if correct.is_none() {
        note_forms(
            compared,
            &prediction,
            references.iter().map(String::as_str),
            sink,
        );
    }
    let shown = correct.or(references.first());
    let shown =
        shown.ok_or_else(|| FieldError::reference("no references: expected at least one"))?;
    sink.example(&prediction, shown);
    Ok(())
}

/// Reads texts on both sides of a batch as examples, whole columns at once where they are compared `as_they_are`;
/// `None` for columns of other types.
pub(crate) fn read_equal<R>(
    batch: &Batch<'_>,
    sink: &mut Sink<'_, R>,
    as_they_are: bool,
    compared: &impl Compared,
) -> Option<Result<(), RecordError>>
where
    R: Reading<Metric: Metric<Prediction = str, Reference = str, State = Accuracy>>,
{
    if as_they_are
        && !sink.wants_samples()
        && let Some((predictions, references)) = columns_of_texts(batch)
        && let Some(correct) = predictions.count_equal(references)
    {
        if correct < batch.len() {
            let pairs = predictions.iter().zip(references.iter());
            for (prediction, reference) in pairs.filter_map(|(a, b)| a.zip(b)) {
                note_forms(compared, prediction, [reference], sink);
            }
        }
        let (correct, total) = (correct as u64, batch.len() as u64);
        sink.pooled(total, &[], Accuracy { correct, total });
        return Some(Ok(()));
    }
    read_texts(batch, sink, |prediction, reference, sink| {
        compared.check(Side::Prediction, prediction)?;
        compared.check(Side::Reference, reference)?;
        note_forms(compared, prediction, [reference], sink);
        sink.example(prediction, reference);
        Ok(())
    })
}

/// Whether a pair of texts has no errors and no notes.
pub(crate) fn is_plain(compared: &impl Compared, prediction: &str, reference: &str) -> bool {
    compared.check(Side::Prediction, prediction).is_ok()
        && compared.check(Side::Reference, reference).is_ok()
        && !compared.differ_in_form(prediction, reference)
}

/// The note on an example whose texts have the same characters in different Unicode forms.
pub(crate) fn other_forms() -> Counted {
    let rest = |of: &str| {
        let text = format!(
            "{of} words that differ from the reference only in that letters with marks are composed in one of them, and decomposed in the other: to compare them as equal, use "
        );
        Message::from(text).option(NORMALIZE.name, "nfc")
    };
    Counted::new(rest("prediction has"), rest("predictions have"))
}

/// Notes a prediction that differs from a reference in the Unicode form.
pub(crate) fn note_forms<'r, R: Reading>(
    compared: &impl Compared,
    prediction: &str,
    references: impl IntoIterator<Item = &'r str>,
    sink: &mut Sink<'_, R>,
) {
    // An answer of several that is the same is enough.
    let mut differ = false;
    for reference in references {
        if prediction == reference {
            return;
        }
        differ |= compared.differ_in_form(prediction, reference);
    }
    if differ {
        sink.count(&other_forms(), 1);
    }
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
