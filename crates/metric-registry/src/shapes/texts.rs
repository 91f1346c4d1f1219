//! A text, and one or several references for it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use metric_core::{Accuracy, Merge, Metric, NamedScores, Written};
use metric_record::{Batch, Column, FieldError, Kind, Message, Record, RecordError, Texts, Value};
use metric_text::edit::TooManyCells;
use metric_text::normalize::differ_in_form;
use metric_text::read::{UNANSWERED, texts as list_of_texts};
use metric_text::{EditRate, VERSION};

use crate::numbers::named;
use crate::prepare::{NORMALIZE, prepared_scorer};
use crate::reading::takes_records;
use crate::{
    Asked, ComparedTexts, Counted, DataSet, DataSetError, Drawing, Facts, Named, Numbers,
    OptionError, OptionSpec, Options, PairOf, Reading, Remarks, Scorer, Show, Sink, Unanswered,
    scorer,
};

/// A metric of a text and its [`References`]: its formula is [`Metric`], and its scores have names ([`NamedScores`]). A
/// score without a name has that of the metric. The whole numbers of its state are its counts.
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
        Reference: References,
        State: Clone + Written + Send + Sync + 'static,
        Score: NamedScores,
    > + Send
    + Sync
    + 'static
{
    /// Returns the parts of the signature, by name. A metric that normalizes texts by itself names `normalize`.
    fn definition(&self) -> Named<String> {
        Vec::new()
    }

    /// Reads a record: by default a string, and [references](References::read) by their type.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not what the metric takes.
    fn read<'a>(&self, record: &mut Record<'a>) -> Result<TextExample<'a, Self>, FieldError> {
        let prediction = record.prediction.text().map_err(FieldError::prediction)?;
        let reference = References::read(&mut record.reference).map_err(FieldError::reference)?;
        Ok(TextExample::new(prediction, reference))
    }

    /// Says all that is to be said of texts before they are scored: refuses what cannot be compared, and notes what is
    /// worth a warning. By default these are words that differ only in their Unicode form.
    ///
    /// # Errors
    ///
    /// Returns an error if the texts cannot be compared.
    fn check(
        &self,
        prediction: &str,
        reference: &Self::Reference,
        note: Note<'_>,
    ) -> Result<(), FieldError> {
        note_forms(self, prediction, reference, note);
        Ok(())
    }

    /// Returns a text as it is compared: by default as it is given.
    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// Returns the scores and counts of a state, and what else is asked for.
    fn numbers(&self, state: &Self::State, _asked: Asked<'_>) -> Numbers {
        Numbers {
            scores: self.compute(state).named_scores(),
            counts: counts(state),
            ..Numbers::default()
        }
    }
}

/// Takes what [`TextMetric::check`] notes.
pub type Note<'n> = &'n mut dyn FnMut(Notice<'_>);

/// Something about texts that is worth a warning.
#[derive(Clone, Debug)]
pub enum Notice<'w> {
    /// The words of the warning, and how often to count them. `None` counts the record, which the warning then names.
    Words(&'w Counted, Option<u64>),
    /// A count by name that no warning says by itself, for warnings that [depend on all examples](Asked::remarks).
    Tally(&'static str, u64),
}

/// What a text is compared with: one text (`str`), or several (`[String]`).
pub trait References: ToOwned + 'static {
    /// Reads the reference of a record.
    ///
    /// # Errors
    ///
    /// Returns what was expected and what was found.
    fn read<'a>(value: &mut Value<'a>) -> Result<Cow<'a, Self>, String>;

    /// Returns the texts.
    fn texts(&self) -> impl Iterator<Item = &str>;
}

impl References for str {
    fn read<'a>(value: &mut Value<'a>) -> Result<Cow<'a, Self>, String> {
        value.text()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self)
    }
}

impl References for [String] {
    fn read<'a>(value: &mut Value<'a>) -> Result<Cow<'a, Self>, String> {
        match list_of_texts(value)? {
            texts if texts.is_empty() => Err(UNANSWERED.to_owned()),
            texts => Ok(texts.into()),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(String::as_str)
    }
}

/// A record as [`TextMetric::read`] reads it.
pub struct TextExample<'a, M: TextMetric + ?Sized> {
    /// The prediction.
    pub prediction: Cow<'a, str>,
    /// The reference, or several.
    pub reference: Cow<'a, M::Reference>,
    /// The groups that the example belongs to, by their kind.
    pub groups: Vec<(&'static str, Cow<'a, str>)>,
    /// The state of the example, where it does not follow from the texts.
    pub state: Option<Box<M::State>>,
}

impl<'a, M: TextMetric + ?Sized> TextExample<'a, M> {
    /// Returns an example that belongs to no group.
    pub fn new(prediction: Cow<'a, str>, reference: Cow<'a, M::Reference>) -> Self {
        Self {
            prediction,
            reference,
            groups: Vec::new(),
            state: None,
        }
    }

    pub(crate) fn pair(&self) -> (&str, &M::Reference) {
        (&self.prediction, &self.reference)
    }
}

/// Returns a metric of texts as a scorer: what the `build` function of an entry gives.
pub fn texts<M: TextMetric>(metric: &str, version: &str, formula: M) -> Scorer {
    scorer(metric, version, OfTexts::new(metric, formula))
}

/// The reading of a metric of texts, with what is true of the metric in addition to its formula.
pub(crate) struct OfTexts<M: TextMetric> {
    pub(crate) name: String,
    pub(crate) metric: M,
    pub(crate) facts: Facts,
    /// Whether the prediction of an example is correct, for metrics whose predictions are correct or not.
    pub(crate) is_correct: fn(&M::State) -> bool,
    /// Whether a record may have a list of references, of which one is enough.
    pub(crate) any_of: bool,
    /// The state of texts of which some are equal, for metrics that count the equal ones. Columns are compared at once.
    pub(crate) of_equal: Option<fn(Accuracy) -> M::State>,
    /// Makes a text a reference, for metrics of records that read two texts as they are. Columns of texts then need no
    /// records, which wins a quarter of the time of `text/wer/100k`.
    pub(crate) direct: Option<fn(&str) -> &M::Reference>,
    pub(crate) limit: Option<Limit<M>>,
    pub(crate) closeness: Closeness<M>,
    pub(crate) compared: Compared<M>,
    pub(crate) rate: Option<Rate<M>>,
    pub(crate) details: Option<fn(&M::State) -> serde_json::Value>,
    /// The warnings that depend on all examples and on what was noted of them.
    pub(crate) warnings: Option<Warnings<M>>,
    pub(crate) picture: Option<Picture<M>>,
    pub(crate) read_files: Option<ReadFiles<M>>,
    /// The problem of records, where the options are those of dataset files.
    pub(crate) no_records: Option<Message>,
    /// The problem of dataset files, where the options are those of records.
    pub(crate) no_files: Option<Message>,
}

type Warnings<M> = fn(&M, &<M as Metric>::State, Remarks<'_>) -> Vec<Message>;

/// Draws a record.
type Picture<M> = fn(&M, &mut Record<'_>, Drawing) -> Result<String, FieldError>;

/// Reads dataset files.
type ReadFiles<M> = fn(DataSet, &mut Sink<'_, OfTexts<M>>) -> Result<(), DataSetError>;

/// How close an example is to being correct: see [`Reading::closeness`].
type Closeness<M> =
    fn(&M, &<M as Metric>::State, Option<(&str, &<M as Metric>::Reference)>) -> Option<f64>;

/// Returns the texts with what is compared in their place.
type Compared<M> = fn(&M, &str, &<M as Metric>::Reference) -> ComparedTexts;

type RatedUpdate<M> =
    fn(&M, &mut <M as Metric>::State, &str, &<M as Metric>::Reference) -> Option<f64>;

type Measure<M> =
    fn(&M, &str, &<M as Metric>::Reference, u64) -> Result<<M as Metric>::State, TooManyCells>;

/// Whether a prediction and references of these lengths in bytes are certain to be within a number of cells.
type IsWithin<M> = fn(&M, usize, usize, u64) -> bool;

/// The most cells that an example may take, what tells examples that take fewer, and what measures the others.
pub(crate) struct Limit<M: TextMetric> {
    pub(crate) max_cells: u64,
    pub(crate) is_within: IsWithin<M>,
    pub(crate) measure: Measure<M>,
}

impl<M: TextMetric> Limit<M> {
    /// The limit of a metric whose table has a row and a column for each unit of the texts.
    pub(crate) fn of_distance(
        options: &Options,
        measure: Measure<M>,
    ) -> Result<Option<Self>, OptionError> {
        Ok(Some(Self {
            max_cells: options.integer(MAX_CELLS.name)?,
            is_within: |_, prediction, references, max_cells| {
                EditRate::is_within(prediction, references, max_cells)
            },
            measure,
        }))
    }
}

/// What adds an example to a state and returns its first score, and what returns the score of a state, for metrics that
/// know it without the others. They have no closeness.
pub(crate) struct Rate<M: TextMetric>(
    pub(crate) RatedUpdate<M>,
    pub(crate) fn(&M, &M::State) -> Option<f64>,
);

/// Changes no score: a pair within the limit has the same one under any other.
pub(crate) const MAX_CELLS: OptionSpec = OptionSpec::integer("max-cells", "N", 0..=i64::MAX,
    "Refuse records whose alignment takes more table cells than this. The default is about 5 s of work, where slow cells count several times").or(DEFAULT_MAX_CELLS);

/// `metric_text::edit::MAX_CELLS` as text.
const DEFAULT_MAX_CELLS: &str = "100000000000";

impl<M: TextMetric> OfTexts<M> {
    pub(crate) fn new(name: &str, metric: M) -> Self {
        Self {
            name: name.to_owned(),
            metric,
            facts: Facts::default(),
            is_correct: |_| false,
            any_of: false,
            of_equal: None,
            direct: None,
            limit: None,
            closeness: |_, _, pair| pair.and_then(|(text, reference)| similarity(text, reference)),
            compared: |metric, prediction, reference| {
                let apply = |text: &str| metric.apply(text).into_owned();
                ComparedTexts::new(prediction, reference.texts(), apply)
            },
            rate: None,
            details: None,
            warnings: None,
            picture: None,
            read_files: None,
            no_records: None,
            no_files: None,
        }
    }

    /// Returns the scorer, before which texts are prepared as the options say.
    pub(crate) fn scorer(self, options: &Options) -> Result<Scorer, OptionError> {
        let mut parts = self.metric.definition().into_iter();
        let normalizer = if parts.any(|(name, _)| name == NORMALIZE.name) {
            None
        } else {
            options.parse(NORMALIZE.name)?
        };
        prepared_scorer(
            &self.name.clone(),
            VERSION,
            self,
            options,
            normalizer.unwrap_or_default(),
        )
    }

    pub(super) fn is_correct(&self, prediction: &str, reference: &M::Reference) -> bool {
        (self.is_correct)(&self.metric.measure(prediction, reference))
    }

    /// Whether texts are certain to be within the limit.
    fn is_within(&self, prediction: &str, reference: &M::Reference) -> bool {
        self.limit.as_ref().is_none_or(|limit| {
            let bytes = reference.texts().map(str::len).sum();
            (limit.is_within)(&self.metric, prediction.len(), bytes, limit.max_cells)
        })
    }

    /// Whether a record has a list of references, of which one is enough.
    fn has_any_of(&self, record: &Record<'_>) -> bool {
        self.any_of && record.reference.kind() == Kind::List
    }

    /// Reads a record as the example that it is, or as one for each of the references of which one is enough. These are
    /// put into the list.
    fn examples<'r>(
        &self,
        mut record: Record<'r>,
        list: &'r mut Vec<String>,
    ) -> Result<Vec<TextExample<'r, M>>, FieldError> {
        if !self.has_any_of(&record) {
            return Ok(vec![self.metric.read(&mut record)?]);
        }
        record.prediction.text().map_err(FieldError::prediction)?;
        *list = list_of_texts(&mut record.reference).map_err(FieldError::reference)?;
        let one = |text: &'r String| {
            let reference = Value::string(text);
            self.metric.read(&mut Record {
                reference,
                ..record
            })
        };
        list.iter().map(one).collect()
    }

    /// Returns the example of the reference that a prediction is correct for, or else of the first.
    fn any_of<'r>(
        &self,
        record: Record<'r>,
        list: &'r mut Vec<String>,
        sink: &mut Sink<'_, Self>,
    ) -> Result<TextExample<'r, M>, FieldError> {
        let mut examples = self.examples(record, list)?;
        let mut said = None;
        for (prediction, reference) in examples.iter().map(TextExample::pair) {
            let mut note = |noted: Notice<'_>| {
                if let Notice::Words(what, times) = noted {
                    said = Some((what.clone(), times));
                }
            };
            self.metric.check(prediction, reference, &mut note)?;
        }
        let mut pairs = examples.iter().map(TextExample::pair);
        let correct = pairs.position(|(prediction, text)| self.is_correct(prediction, text));
        if let (None, Some((what, times))) = (correct, said) {
            note_in(sink, record.id)(Notice::Words(&what, times));
        }
        if examples.is_empty() {
            let problem = "no references: expected at least one";
            return Err(FieldError::reference(problem));
        }
        Ok(examples.swap_remove(correct.unwrap_or(0)))
    }
}

/// Counts what is noted of a record.
pub(super) fn note_in<R: Reading>(
    sink: &mut Sink<'_, R>,
    id: impl std::fmt::Display,
) -> impl FnMut(Notice<'_>) {
    move |noted| match noted {
        Notice::Words(what, Some(times)) => sink.count(what, times),
        Notice::Words(what, None) => sink.count_record(what, &id),
        Notice::Tally(name, times) => sink.tally(name, times),
    }
}

/// Adds an example that was checked.
pub(super) fn add<M: TextMetric>(example: TextExample<'_, M>, sink: &mut Sink<'_, OfTexts<M>>) {
    let groups = example.groups.iter();
    let groups: Vec<(&str, &str)> = groups.map(|(kind, name)| (*kind, &**name)).collect();
    match example.state {
        Some(state) => sink.measured(None, &groups, *state),
        None => sink.part(None, &groups, &example.prediction, &example.reference),
    }
}

impl<M: TextMetric> Reading for OfTexts<M> {
    type Metric = M;
    type Header = ();

    fn metric(&self) -> &M {
        &self.metric
    }

    fn facts(&self) -> Facts {
        Facts {
            signature: self.metric.definition(),
            ..self.facts.clone()
        }
    }

    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError> {
        if let Some(problem) = &self.no_records {
            return Err(FieldError::reference(problem.clone()));
        }
        if self.has_any_of(record) {
            let mut list = Vec::new();
            add(self.any_of(record.view(), &mut list, sink)?, sink);
            return Ok(());
        }
        let mut example = self.metric.read(record)?;
        let (prediction, reference) = example.pair();
        self.metric
            .check(prediction, reference, &mut note_in(sink, record.id))?;
        if let Some(limit) = &self.limit
            && !self.is_within(prediction, reference)
        {
            let state = (limit.measure)(&self.metric, prediction, reference, limit.max_cells);
            example.state = Some(Box::new(state.map_err(|error| too_many_cells(&error))?));
        }
        add(example, sink);
        Ok(())
    }

    fn read_columns(
        &self,
        batch: &Batch<'_>,
        sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>> {
        let [predictions, references] = [batch.predictions(), batch.references()].map(texts_of);
        let (predictions, references) = predictions.zip(references)?;
        self.facts.further_fields.is_empty().then_some(())?;
        if let Some(of_equal) = self.of_equal
            && !sink.wants_samples()
            && let Some(correct) = predictions.count_equal(references)
        {
            if correct < batch.len() {
                let pairs = predictions.iter().zip(references.iter());
                for (prediction, reference) in pairs.filter_map(|(a, b)| a.zip(b)) {
                    if differ_in_form(prediction, reference) {
                        sink.count(&other_forms(), 1);
                    }
                }
            }
            let (correct, total) = (correct as u64, batch.len() as u64);
            sink.pooled(total, &[], of_equal(Accuracy { correct, total }));
            return Some(Ok(()));
        }
        // Added up for the batch, as each name takes a search.
        let mut tallies: Vec<(&'static str, u64)> = Vec::new();
        let mut pairs = predictions.iter().zip(references.iter()).enumerate();
        let read = pairs.try_for_each(|(index, (prediction, reference))| {
            sink.row(batch, index);
            let pair = self
                .direct
                .and_then(|direct| prediction.zip(reference.map(direct)))
                .filter(|(text, reference)| self.is_within(text, reference));
            let Some((prediction, reference)) = pair else {
                return sink.read_row(batch, index);
            };
            let mut note = |noted: Notice<'_>| match (noted, batch.id(index)) {
                (Notice::Tally(name, times), _) => {
                    match tallies.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, sum)) => *sum += times,
                        None => tallies.push((name, times)),
                    }
                }
                (Notice::Words(what, None), Some(id)) => sink.count_record(what, id),
                (Notice::Words(what, times), _) => sink.count(what, times.unwrap_or(1)),
            };
            let checked = self.metric.check(prediction, reference, &mut note);
            checked.map_err(|error| RecordError { index, error })?;
            sink.part(None, &[], prediction, reference);
            Ok(())
        });
        for (name, times) in tallies {
            sink.tally(name, times);
        }
        Some(read)
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        self.no_records.is_none().then_some(())?;
        let mut state = M::State::default();
        let mut tallies = BTreeMap::new();
        for (prediction, reference) in pairs {
            let [prediction, reference] = [prediction, reference].map(|text| Value::string(text));
            let example = self
                .metric
                .read(&mut Record::new("", prediction, reference));
            let example = example.ok()?;
            let (prediction, reference) = example.pair();
            let mut is_plain = self.is_within(prediction, reference);
            let mut note = |noted: Notice<'_>| match noted {
                Notice::Tally(name, times) => *tallies.entry(name.to_owned()).or_default() += times,
                Notice::Words(..) => is_plain = false,
            };
            self.metric.check(prediction, reference, &mut note).ok()?;
            is_plain.then(|| self.metric.update(&mut state, prediction, reference))?;
        }
        if let Some(warnings) = self.warnings
            && !warnings(&self.metric, &state, Remarks::of_tallies(&tallies)).is_empty()
        {
            return None;
        }
        let scores = self.metric.compute(&state).named_scores().into_iter();
        Some(scores.map(|(_, score)| score).collect())
    }

    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, Self>) -> Result<(), DataSetError> {
        match self.read_files {
            Some(read_files) => read_files(data, sink),
            None => Err(takes_records(data)),
        }
    }

    fn unanswered(&self, record: &mut Record<'_>) -> Unanswered {
        let prediction = Value::missing();
        let record = Record {
            prediction,
            ..record.view()
        };
        let mut list = Vec::new();
        let examples = self.examples(record, &mut list).unwrap_or_default();
        let mut examples = examples.iter();
        let is_correct = examples.any(|example| self.is_correct("", &example.reference));
        is_correct.into()
    }

    fn closeness(&self, state: &M::State, pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        (self.closeness)(&self.metric, state, pair)
    }

    fn numbers(&self, state: &M::State, (): &(), asked: Asked<'_>) -> Numbers {
        if let (Some(Rate(_, of)), Some(name)) = (&self.rate, asked.score)
            && name == self.name
        {
            return Numbers::of_score(name, of(&self.metric, state));
        }
        let mut numbers = self.metric.numbers(state, asked);
        if let (Some(warnings), Some(remarks)) = (self.warnings, asked.remarks) {
            numbers
                .warnings
                .extend(warnings(&self.metric, state, remarks));
        }
        numbers.details = self
            .details
            .filter(|_| asked.details)
            .map(|details| details(state));
        if let [(name, _)] = &mut *numbers.scores
            && name == "score"
        {
            *name = self.name.replace('-', "_");
        }
        numbers
    }

    fn update_scored(
        &self,
        state: &mut M::State,
        (prediction, reference): PairOf<'_, Self>,
        name: &str,
    ) -> Option<Option<f64>> {
        let Rate(update, _) = self.rate.as_ref().filter(|_| name == self.name)?;
        Some(update(&self.metric, state, prediction, reference))
    }

    fn show(&self) -> &dyn Show {
        self
    }
}

impl<M: TextMetric> Show for OfTexts<M> {
    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        // An object is more than its text, and is shown as it is.
        (record.prediction.kind() != Kind::Object).then_some(())?;
        let mut list = Vec::new();
        let examples = self.examples(record.view(), &mut list).ok()?;
        let pairs = examples.iter().map(TextExample::pair);
        let all = pairs.map(|(prediction, text)| (self.compared)(&self.metric, prediction, text));
        all.reduce(|mut all, one| {
            all.references.extend(one.references);
            all
        })
    }

    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let picture = self.picture;
        picture.map_or_else(
            || Ok(String::new()),
            |picture| picture(&self.metric, record, drawing),
        )
    }
}

fn texts_of<'b>(column: &'b Column<'_>) -> Option<&'b Texts<'b>> {
    match column {
        Column::Texts(texts) | Column::Lines(texts) => Some(texts),
        _ => None,
    }
}

/// The whole numbers of a state by the names of their fields.
pub(crate) fn counts(state: &impl Merge) -> Named<serde_json::Value> {
    let mut counts = Vec::new();
    state.counts("count", &mut counts);
    named(counts)
}

/// Returns how similar a prediction is to the most similar of the first references, if these are short: 1 less the share
/// of characters that differ.
pub(crate) fn similarity<R: References + ?Sized>(prediction: &str, references: &R) -> Option<f64> {
    /// The longest texts, in bytes, whose similarity is computed for the nearest misses of a report.
    const COMPARED_BYTES: usize = 500;
    let is_short = |text: &&str| text.len() <= COMPARED_BYTES;
    let short = references.texts().filter(is_short).take(10);
    let similar = short.filter(|_| is_short(&prediction));
    let similar = similar.map(|reference| metric_text::anls::similarity(prediction, reference));
    similar.reduce(f64::max)
}

/// Notes a prediction with words that differ from those of a reference only in their Unicode form, also as they are
/// compared.
pub(crate) fn note_forms<M: TextMetric + ?Sized>(
    metric: &M,
    prediction: &str,
    reference: &M::Reference,
    note: Note<'_>,
) {
    // An answer of several that is the same is enough.
    let is_equal = reference.texts().any(|text| text == prediction);
    let differs = |text: &str| {
        differ_in_form(prediction, text)
            && differ_in_form(&metric.apply(prediction), &metric.apply(text))
    };
    if !is_equal && reference.texts().any(differs) {
        note(Notice::Words(&other_forms(), Some(1)));
    }
}

fn other_forms() -> Counted {
    let rest = |of: &str| {
        let text = format!(
            "{of} words that differ from the reference only in that letters with marks are composed in one of them, and decomposed in the other: to compare them as equal, use "
        );
        Message::from(text).option(NORMALIZE.name, "nfc")
    };
    Counted::new(rest("prediction has"), rest("predictions have"))
}

/// A prediction whose alignment takes too long.
fn too_many_cells(error: &TooManyCells) -> FieldError {
    let problem = Message::from(format!("{error}; to allow it, use "));
    let enough = error.enough().min(i64::MAX.unsigned_abs()).to_string();
    FieldError::prediction(problem.option(MAX_CELLS.name, &enough)).limit()
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use super::*;
    use crate::StateError;

    #[test]
    fn the_default_is_that_of_the_library() {
        assert_eq!(DEFAULT_MAX_CELLS, metric_text::edit::MAX_CELLS.to_string());
    }

    /// The share of predictions that are one of their references.
    struct OneOf;

    impl Metric for OneOf {
        type Prediction = str;
        type Reference = [String];
        type State = Accuracy;
        type Score = Option<f64>;

        fn update(&self, state: &mut Accuracy, prediction: &str, references: &[String]) {
            state.record(references.iter().any(|text| text == prediction));
        }

        fn compute(&self, state: &Accuracy) -> Option<f64> {
            state.value()
        }
    }

    impl TextMetric for OneOf {}

    #[test]
    fn one_reference_or_several() {
        let scorer = texts("one-of", "1", OneOf);
        let record = |reference| Record::new("1", Value::string("a"), reference);
        let list = || Value::json(r#"["b", "a"]"#);
        let mut state = scorer.start();
        let mut records = [record(Value::string("a")), record(list())];
        assert_eq!(state.update(&scorer, &mut records), Ok(()));
        let report = state.report();
        assert_eq!((report.score("one_of"), report.examples), (Some(1.0), 2));
        let none = state.update(&scorer, &mut [record(Value::json("[]"))]);
        assert!(none.is_err_and(|error| error.to_string().contains(UNANSWERED)));
        let compared = scorer.compared(&mut record(list()));
        assert_eq!(compared.map(|texts| texts.references.len()), Some(2));
        assert_eq!(scorer.score_texts(&[("a", "b")]), Some(vec![Some(0.0)]));
    }

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
