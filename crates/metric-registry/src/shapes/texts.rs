//! Two texts: a prediction, and a reference or, where one is enough, a list of references.

use std::borrow::Cow;

use metric_core::{Accuracy, Merge, Metric, NamedScores, Written};
use metric_record::{Batch, Column, FieldError, Kind, Message, Record, RecordError, Side, Texts};
use metric_text::normalize::differ_in_form;
use metric_text::read;

use crate::text::prepare::NORMALIZE;
use crate::{ComparedTexts, Counted, Named, Numbers, PairOf, Reading, Scope, Scorer, Sink, scorer};

/// A metric of two texts: its formula is [`Metric`], and its scores have names ([`NamedScores`]). A score without a name
/// has that of the metric. The whole numbers of its state are its counts.
///
/// ```
/// use metric_registry::record::{Record, Value};
/// use metric_registry::{Metric, TextMetric, fields, texts};
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Prefixes {
///     found: u64,
///     total: u64,
/// }
/// fields!(Prefixes { found, total });
///
/// /// The share of predictions that start with their reference.
/// struct PrefixMatch;
///
/// impl Metric for PrefixMatch {
///     type Prediction = str;
///     type Reference = str;
///     type State = Prefixes;
///     type Score = Option<f64>;
///
///     fn update(&self, state: &mut Prefixes, prediction: &str, reference: &str) {
///         state.found += u64::from(prediction.starts_with(reference));
///         state.total += 1;
///     }
///
///     fn compute(&self, state: &Prefixes) -> Option<f64> {
///         (state.total > 0).then(|| state.found as f64 / state.total as f64)
///     }
/// }
///
/// impl TextMetric for PrefixMatch {}
///
/// let scorer = texts("prefix-match", "0.1.0", PrefixMatch);
/// let record = |prediction| Record::new("1", Value::string(prediction), Value::string("the"));
/// let mut state = scorer.start();
/// state.update(&scorer, &mut [record("the cat"), record("a cat")])?;
/// assert_eq!(state.report().score("prefix_match"), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TextMetric:
    Metric<
        Prediction = str,
        Reference = str,
        State: Clone + Written + Send + Sync + 'static,
        Score: NamedScores,
    > + Send
    + Sync
    + 'static
{
    /// Returns the parts of the signature, by name.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Returns a text as it is compared: by default as it is given.
    fn compared<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// Refuses a text that cannot be compared.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be compared.
    fn check(&self, _text: &str) -> Result<(), String> {
        Ok(())
    }

    /// Returns the state of so many pairs of texts, of which so many are equal, if the metric counts texts that are equal
    /// as they are given. Whole columns are then compared at once.
    fn of_equal(&self, _equal: Accuracy) -> Option<Self::State> {
        None
    }

    /// Returns whether the prediction of an example with this state is correct, for metrics of which one of several
    /// references is enough.
    fn is_correct(&self, _state: &Self::State) -> Option<bool> {
        None
    }
}

/// Returns a metric of two texts as a scorer: what the `build` function of an entry gives.
pub fn texts<M: TextMetric>(metric: &str, version: &str, formula: M) -> Scorer {
    scorer(metric, version, OfTexts::new(metric, formula))
}

/// The reading of a metric of two texts.
pub(crate) struct OfTexts<M> {
    metric: M,
    /// The name of a score without a name.
    score: String,
}

impl<M: TextMetric> OfTexts<M> {
    pub(crate) fn new(name: &str, metric: M) -> Self {
        Self {
            metric,
            score: name.replace('-', "_"),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), FieldError> {
        let checked = self.metric.check(text);
        checked.map_err(|problem| FieldError::new(side, problem).limit())
    }

    fn check_both(&self, prediction: &str, reference: &str) -> Result<(), FieldError> {
        self.check(Side::Prediction, prediction)?;
        self.check(Side::Reference, reference)
    }

    /// Reads a record with a list of references.
    fn read_any_of(
        &self,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<(), FieldError> {
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let references = read::texts(&mut record.reference).map_err(FieldError::reference)?;
        self.check(Side::Prediction, &prediction)?;
        for reference in &references {
            self.check(Side::Reference, reference)?;
        }
        let is_correct = |reference: &&String| {
            let state = self.metric.measure(&prediction, reference);
            self.metric.is_correct(&state) == Some(true)
        };
        let correct = references.iter().find(is_correct);
        if correct.is_none() {
            let references = references.iter().map(String::as_str);
            note_forms(self, &prediction, references, sink);
        }
        let shown = correct.or(references.first());
        let shown =
            shown.ok_or_else(|| FieldError::reference("no references: expected at least one"))?;
        sink.example(&prediction, shown);
        Ok(())
    }

    fn scores(&self, state: &M::State) -> Named<Option<f64>> {
        let mut scores = self.metric.compute(state).named_scores();
        if let [(name, _)] = &mut *scores
            && name == "score"
        {
            name.clone_from(&self.score);
        }
        scores
    }
}

impl<M: TextMetric> Compared for OfTexts<M> {
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool {
        let compared = |text| self.metric.compared(text);
        differ_in_form(prediction, reference)
            && differ_in_form(&compared(prediction), &compared(reference))
    }
}

impl<M: TextMetric> Reading for OfTexts<M> {
    type Metric = M;
    type Header = ();

    fn metric(&self) -> &M {
        &self.metric
    }

    fn signature(&self) -> Named<String> {
        self.metric.definition()
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        let has_several = || self.metric.is_correct(&M::State::default()).is_some();
        if record.reference.kind() == Kind::List && has_several() {
            return self.read_any_of(record, sink);
        }
        let (prediction, reference) = both_texts(record)?;
        self.check_both(&prediction, &reference)?;
        note_forms(self, &prediction, [&*reference], sink);
        sink.example(&prediction, &reference);
        Ok(())
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        if !sink.wants_samples()
            && self.metric.of_equal(Accuracy::default()).is_some()
            && let Some((predictions, references)) = columns_of_texts(batch)
            && let Some(correct) = predictions.count_equal(references)
        {
            if correct < batch.len() {
                let pairs = predictions.iter().zip(references.iter());
                for (prediction, reference) in pairs.filter_map(|(a, b)| a.zip(b)) {
                    note_forms(self, prediction, [reference], sink);
                }
            }
            let (correct, total) = (correct as u64, batch.len() as u64);
            let state = self.metric.of_equal(Accuracy { correct, total })?;
            sink.pooled(total, &[], state);
            return Some(Ok(()));
        }
        read_texts(batch, sink, |prediction, reference, sink| {
            self.check_both(prediction, reference)?;
            note_forms(self, prediction, [reference], sink);
            sink.example(prediction, reference);
            Ok(())
        })
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        let mut state = M::State::default();
        for (prediction, reference) in pairs {
            let is_refused = self.check_both(prediction, reference).is_err();
            if is_refused || self.differ_in_form(prediction, reference) {
                return None;
            }
            self.metric.update(&mut state, prediction, reference);
        }
        let scores = self.scores(&state).into_iter();
        Some(scores.map(|(_, score)| score).collect())
    }

    fn is_empty_correct(&self, record: &mut Record<'_>) -> bool {
        let references = read::texts(&mut record.reference.clone()).unwrap_or_default();
        let mut states = references.iter().map(|text| self.metric.measure("", text));
        states.any(|state| self.metric.is_correct(&state) == Some(true))
    }

    fn closeness(&self, _: &M::State, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        pair.and_then(|(prediction, reference)| similarity(prediction, [reference]))
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let prediction = record.prediction.text().ok()?;
        let references = read::texts(&mut record.reference).ok()?;
        let compared = |text: &str| self.metric.compared(text).into_owned();
        Some(ComparedTexts::new(&prediction, &references, compared))
    }

    fn numbers(&self, state: &M::State, (): &(), _scope: Scope<'_>) -> Numbers {
        Numbers {
            scores: self.scores(state),
            counts: counts(state),
            ..Numbers::default()
        }
    }
}

/// The whole numbers of a state by the names of their fields.
pub(crate) fn counts(state: &impl Merge) -> Named<serde_json::Value> {
    let mut counts = Vec::new();
    state.counts("count", &mut counts);
    let named = counts.into_iter();
    named
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect()
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
pub(crate) fn both_texts<'a>(
    record: &mut Record<'a>,
) -> Result<(Cow<'a, str>, Cow<'a, str>), FieldError> {
    let prediction = record.prediction.text().map_err(FieldError::prediction)?;
    let reference = record.reference.text().map_err(FieldError::reference)?;
    Ok((prediction, reference))
}

/// How texts are compared.
pub(crate) trait Compared {
    /// Whether a prediction and a reference, as they are compared, have words that differ only in their Unicode form.
    fn differ_in_form(&self, prediction: &str, reference: &str) -> bool;
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

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use metric_record::Value;

    use super::*;
    use crate::StateError;

    /// A metric with any state, which stays empty.
    struct Empty<S>(PhantomData<S>);

    impl<S: Merge> Metric for Empty<S> {
        type Prediction = str;
        type Reference = str;
        type State = S;
        type Score = Option<f64>;

        fn update(&self, _: &mut S, _: &str, _: &str) {}

        fn compute(&self, _: &S) -> Option<f64> {
            None
        }
    }

    impl<S: Merge + Clone + Written + Send + Sync + 'static> TextMetric for Empty<S> {}

    /// A metric that replaces one of its name may have other states, which do not meet the states before.
    #[test]
    fn states_of_metrics_of_one_signature_do_not_mix() {
        let first = texts("mine", "1", Empty::<u64>(PhantomData));
        let second = texts("mine", "1", Empty::<Accuracy>(PhantomData));
        assert_eq!(first.signature(), second.signature());
        let mut state = first.start();
        let refused = state.merge(&second.start());
        assert!(matches!(refused, Err(StateError::Definition { .. })));
        let record = Record::new("1", Value::string("a"), Value::string("a"));
        let mut part = second.read(&state, &mut [record], true);
        assert!(state.add(&mut part).is_err());
        assert_eq!(part.samples(&state).len(), 1);
        assert_eq!(state.examples(), 0);
    }
}
