use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use metric_core::{Merge, Metric, PerClass};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::{
    Document, DocumentError, FieldError, JoinPolicy, Missing, Record, RecordError, Value,
};

/// Version of the written form of evidence.
pub(crate) const FORMAT: u32 = 1;

/// Names with what they name, in the order in which they are printed.
pub type Named<T> = Vec<(String, T)>;

/// How often something happened that is worth a warning, by what it is.
pub type Notes = BTreeMap<String, u64>;

/// How a picture is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// As a file of Scalable Vector Graphics.
    Svg,
    /// As lines of text.
    Text,
    /// As lines of text for a terminal with 256 colours.
    ColouredText,
}

/// How a metric reads records and names its numbers: what an entry of the registry implements.
pub trait Reading: Send + Sync + 'static {
    /// The metric.
    type Metric: Metric<State: Clone + Send + Serialize + DeserializeOwned>;

    /// The metric with its definition.
    fn metric(&self) -> &Self::Metric;

    /// The parts of the signature, by name; metric and version stand around them.
    fn signature(&self) -> Named<String>;

    /// Reads a record into examples. Most records are one example.
    ///
    /// # Errors
    ///
    /// A value that is not what the metric takes.
    fn read(
        &self,
        record: &Record<'_>,
        sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), FieldError>;

    /// Reads whole files or folders into records, each of which begins with [`Sink::record`]; for
    /// metrics whose entry says that they take documents.
    ///
    /// # Errors
    ///
    /// Documents that cannot be read.
    fn read_documents(
        &self,
        references: Document,
        _predictions: Document,
        _join: JoinPolicy,
        _sink: &mut Sink<'_, Self::Metric>,
    ) -> Result<(), DocumentError> {
        Err(DocumentError::only_records(&references))
    }

    /// The scores of a state, by name.
    fn scores(&self, state: &<Self::Metric as Metric>::State) -> Named<Option<f64>>;

    /// The counts of a state, by name.
    fn counts(&self, state: &<Self::Metric as Metric>::State) -> Named<serde_json::Value>;

    /// What is too much for a report, such as curves; `None` if the metric has nothing such.
    fn details(&self, _state: &<Self::Metric as Metric>::State) -> Option<serde_json::Value> {
        None
    }

    /// What the user should know beside the scores.
    fn warnings(&self, _state: &<Self::Metric as Metric>::State, notes: &Notes) -> Vec<String> {
        noted(notes)
    }

    /// Groups that are known only from the whole state, after those of [`Sink::part`].
    fn groups(&self, _state: &<Self::Metric as Metric>::State) -> Named<Vec<Group>> {
        Vec::new()
    }

    /// The scores and counts of a group of [`Sink::part`]; for metrics of whose numbers some say
    /// nothing of a group.
    fn group(&self, name: &str, state: &<Self::Metric as Metric>::State) -> Group {
        Group {
            name: name.to_owned(),
            scores: self.scores(state),
            counts: self.counts(state),
        }
    }

    /// The report of a state, without the numbers of examples; for metrics that would compute the
    /// same for each of its parts.
    fn report(&self, state: &<Self::Metric as Metric>::State, notes: &Notes) -> Report {
        Report {
            examples: 0,
            missing: 0,
            scores: self.scores(state),
            counts: self.counts(state),
            groups: self.groups(state),
            warnings: self.warnings(state, notes),
        }
    }

    /// Whether records have a [`picture`](Self::picture) of this kind.
    fn draws(&self, _drawing: Drawing) -> bool {
        false
    }

    /// The record as a picture of this kind; empty where the metric does not draw it.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn picture(&self, _record: &Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        Ok(String::new())
    }

    /// Gives the id of each record of whole files or folders, with what draws it.
    ///
    /// # Errors
    ///
    /// As [`read_documents`](Self::read_documents).
    fn draw_documents(
        &self,
        _references: &Document,
        _predictions: &Document,
        _join: JoinPolicy,
        _drawing: Drawing,
        _put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DocumentError> {
        Ok(())
    }

    /// The number of examples in a record that has no prediction.
    fn examples_in(&self, _record: &Record<'_>) -> u64 {
        1
    }

    /// Whether a data set without examples has scores.
    fn scores_empty_data(&self) -> bool {
        false
    }
}

/// Notes as warnings, "3 × a prediction is ...": a note speaks of one case.
pub(crate) fn noted(notes: &Notes) -> Vec<String> {
    let sentence = |(note, times): (&String, &u64)| format!("{times} × {note}");
    notes.iter().map(sentence).collect()
}

/// Where [`Reading::read`] puts its examples.
pub struct Sink<'a, M: Metric> {
    metric: &'a M,
    pool: &'a mut Pool<M::State>,
    samples: Option<&'a mut Measured<M::State>>,
}

/// The states of single examples.
struct Measured<S> {
    /// The number of records that have begun.
    records: usize,
    /// The id of the last of them.
    id: String,
    /// Place and id of the record, part of the record, state.
    examples: Vec<(usize, String, Option<String>, S)>,
}

impl<S> Default for Measured<S> {
    fn default() -> Self {
        Self {
            records: 0,
            id: String::new(),
            examples: Vec::new(),
        }
    }
}

impl<S> Measured<S> {
    fn samples<R: Reading<Metric: Metric<State = S>>>(
        self,
        reading: &R,
    ) -> impl Iterator<Item = Sample> {
        let examples = self.examples.into_iter();
        examples.map(|(record, id, part, state)| Sample {
            record,
            id,
            part,
            scores: reading.scores(&state),
            counts: reading.counts(&state),
        })
    }
}

impl<M: Metric<State: Clone>> Sink<'_, M> {
    /// Begins a record; in [`Reading::read`] it has begun already.
    pub fn record(&mut self, id: impl fmt::Display) {
        if let Some(samples) = &mut self.samples {
            samples.records += 1;
            samples.id = id.to_string();
        }
    }

    /// Adds the record as one example.
    pub fn example(&mut self, prediction: &M::Prediction, reference: &M::Reference) {
        self.part(None, &[], prediction, reference);
    }

    /// Adds an example that is a part of the record or belongs to groups, each given as the kind of
    /// group and the group.
    pub fn part(
        &mut self,
        part: Option<&str>,
        groups: &[(&str, &str)],
        prediction: &M::Prediction,
        reference: &M::Reference,
    ) {
        if self.samples.is_none() && groups.is_empty() {
            self.pool.examples += 1;
            self.metric
                .update(&mut self.pool.total, prediction, reference);
            return;
        }
        let state = self.metric.measure(prediction, reference);
        self.measured(part, groups, state);
    }

    /// Adds the state of an example that was measured already.
    pub fn measured(&mut self, part: Option<&str>, groups: &[(&str, &str)], state: M::State) {
        if let Some(samples) = &mut self.samples {
            let (record, id) = (samples.records - 1, samples.id.clone());
            let part = part.map(str::to_owned);
            samples.examples.push((record, id, part, state.clone()));
        }
        self.pooled(1, groups, state);
    }

    /// Adds the state of several examples of the same groups, where samples are not wanted.
    pub(crate) fn pooled(&mut self, examples: u64, groups: &[(&str, &str)], state: M::State) {
        self.pool.examples += examples;
        for &(kind, group) in groups {
            let groups = self.pool.groups.entry(kind.to_owned()).or_default();
            groups.entry(group.to_owned()).merge(state.clone());
        }
        self.pool.total.merge(state);
    }

    /// Adds the state of several examples that were measured together; their own states, with the
    /// name of each, are only for samples.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn joint(
        &mut self,
        groups: &[(&str, &str)],
        state: M::State,
        examples: usize,
        parts: impl Iterator<Item = (String, M::State)>,
    ) {
        if let Some(samples) = &mut self.samples {
            for (part, state) in parts {
                let (record, id) = (samples.records - 1, samples.id.clone());
                samples.examples.push((record, id, Some(part), state));
            }
        }
        self.pooled(examples as u64, groups, state);
    }

    /// Gathers on its own, for [`Sink::add`]; without samples.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn of<'a>(metric: &'a M, pool: &'a mut Pool<M::State>) -> Sink<'a, M> {
        Sink {
            metric,
            pool,
            samples: None,
        }
    }

    /// Whether single examples are wanted, which only one after the other can be added.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn wants_samples(&self) -> bool {
        self.samples.is_some()
    }

    /// Adds what was gathered elsewhere.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add(&mut self, pool: Pool<M::State>) {
        self.pool.merge(pool);
    }

    /// Counts parts of the record that have no prediction.
    pub fn missing(&mut self, parts: u64) {
        self.pool.missing += parts;
    }

    /// Counts something worth a warning.
    pub fn note(&mut self, what: &str, times: u64) {
        if times > 0 {
            *self.pool.notes.entry(what.to_owned()).or_default() += times;
        }
    }
}

/// All that a scorer gathers.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Pool<S> {
    examples: u64,
    missing: u64,
    total: S,
    groups: BTreeMap<String, PerClass<String, S>>,
    notes: Notes,
}

impl<S: Merge> Merge for Pool<S> {
    fn merge(&mut self, other: Self) {
        self.examples += other.examples;
        self.missing += other.missing;
        self.total.merge(other.total);
        for (kind, groups) in other.groups {
            self.groups.entry(kind).or_default().merge(groups);
        }
        for (note, times) in other.notes {
            *self.notes.entry(note).or_default() += times;
        }
    }
}

/// A metric with its options: starts and reads evidence.
///
/// A scorer reads one data set: what all its records share (such as the length of a row) is held
/// against the first one read.
pub trait Scorer: Send + Sync {
    /// What the scores were computed under: metric, options that matter, version.
    fn signature(&self) -> &str;

    /// The evidence of no examples.
    fn start(&self) -> Box<dyn Evidence>;

    /// Reads evidence that [`Evidence::write`] wrote.
    ///
    /// # Errors
    ///
    /// The text is no evidence, or that of another metric, definition or format version.
    fn read(&self, text: &str) -> Result<Box<dyn Evidence>, StateError>;

    /// The evidence of a data set that is given as whole files or folders; with `samples`, also puts
    /// the scores of each example there.
    ///
    /// # Errors
    ///
    /// Documents that cannot be read; any, for a metric that only takes records.
    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        join: JoinPolicy,
        samples: Option<&mut Vec<Sample>>,
    ) -> Result<Box<dyn Evidence>, DocumentError> {
        let _ = (predictions, join, samples);
        Err(DocumentError::only_records(&references))
    }

    /// Whether a data set without examples has scores; for most it is an error.
    fn scores_empty_data(&self) -> bool;

    /// Whether records have a [`picture`](Self::picture) of this kind.
    fn draws(&self, _drawing: Drawing) -> bool {
        false
    }

    /// The record as a picture of this kind; empty where the metric does not draw it.
    ///
    /// # Errors
    ///
    /// A record that cannot be read.
    fn picture(&self, _record: &Record<'_>, _drawing: Drawing) -> Result<String, FieldError> {
        Ok(String::new())
    }

    /// Gives the id of each record of whole files or folders, with what draws it.
    ///
    /// # Errors
    ///
    /// Documents that cannot be read.
    fn draw_documents(
        &self,
        _references: &Document,
        _predictions: &Document,
        _join: JoinPolicy,
        _drawing: Drawing,
        _put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DocumentError> {
        Ok(())
    }

    /// Whether evidence has [`Evidence::details`].
    fn has_details(&self) -> bool {
        self.start().details().is_some()
    }
}

/// What has been seen of a data set, or of a part of it.
///
/// Evidence merges by the law of [`Merge`]: parts of a data set in any order give the report of
/// the whole.
pub trait Evidence: Send {
    /// Adds records; with `samples`, also puts the scores of each example there.
    ///
    /// # Errors
    ///
    /// The first record that cannot be read. The evidence is then incomplete and of no use.
    fn update(
        &mut self,
        records: &[Record<'_>],
        samples: Option<&mut Vec<Sample>>,
    ) -> Result<(), RecordError>;

    /// Adds the evidence of other examples.
    ///
    /// # Errors
    ///
    /// `other` is evidence of another metric or definition; nothing was added.
    fn merge(&mut self, other: Box<dyn Evidence>) -> Result<(), StateError>;

    /// The scores and counts.
    fn report(&self) -> Report;

    /// What is too much for a report, such as curves, as JSON; `None` if there is nothing.
    fn details(&self) -> Option<serde_json::Value> {
        None
    }

    /// The evidence as JSON, for [`Scorer::read`].
    fn write(&self) -> String;

    /// For [`merge`](Evidence::merge): the evidence as its own type.
    #[doc(hidden)]
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The scores of one example.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Place of its record in the batch, from 0.
    pub record: usize,
    /// The id of the record.
    pub id: String,
    /// The part of the record, if the record has several examples.
    pub part: Option<String>,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
}

/// The scores of one group of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The group.
    pub name: String,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
}

/// Scores and counts by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The number of examples.
    pub examples: u64,
    /// The number of examples without a prediction, whether they count as empty or were left out.
    pub missing: u64,
    /// Scores; `None` is undefined.
    pub scores: Named<Option<f64>>,
    /// Counts.
    pub counts: Named<serde_json::Value>,
    /// By kind of group, the groups in their order.
    pub groups: Named<Vec<Group>>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Report {
    /// The score of this name, if there is one and it is defined.
    #[must_use]
    pub fn score(&self, name: &str) -> Option<f64> {
        self.scores
            .iter()
            .find(|(score, _)| score == name)
            .and_then(|(_, value)| *value)
    }
}

/// Evidence that cannot be read or merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// Not the written form of evidence.
    Malformed(String),
    /// Evidence of another metric, definition or format version.
    Mismatch {
        /// What was needed.
        expected: String,
        /// What was found.
        found: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "not evidence of a metric: {reason}"),
            Self::Mismatch { expected, found } => {
                write!(f, "expected evidence of {expected}, found {found}")
            }
        }
    }
}

impl std::error::Error for StateError {}

/// The signature `metric|name:value|...|v:version`.
///
/// A bar in a value is written `%7C` and a percent sign `%25`: other choices have another signature,
/// and every `|` is the end of a part.
///
/// ```
/// use metric_registry::signature;
///
/// let parts = [("k".to_owned(), "5".to_owned())];
/// assert_eq!(signature("accuracy-at-k", &parts, "0.1.0"), "accuracy-at-k|k:5|v:0.1.0");
///
/// let parts = [("labels".to_owned(), "a|b,100%".to_owned())];
/// let text = signature("classification", &parts, "0.1.0");
/// assert_eq!(text, "classification|labels:a%7Cb,100%25|v:0.1.0");
/// ```
#[must_use]
pub fn signature(metric: &str, parts: &[(String, String)], version: &str) -> String {
    let mut text = metric.to_owned();
    for (name, value) in parts {
        let value = value.replace('%', "%25").replace('|', "%7C");
        text.extend(["|", name, ":", &value]);
    }
    text + "|v:" + version
}

/// Evidence as JSON, with the signature that it is evidence for.
pub(crate) fn written(signature: &str, evidence: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Written<'a, E> {
        format: u32,
        signature: &'a str,
        evidence: &'a E,
    }
    let written = Written {
        format: FORMAT,
        signature,
        evidence,
    };
    // Evidence is plain data with string keys, which JSON always has a form for.
    serde_json::to_string(&written).unwrap_or_default()
}

/// Reads what [`written`] gives, if it is evidence for this signature.
pub(crate) fn read_written<E: DeserializeOwned>(
    text: &str,
    expected: &str,
) -> Result<E, StateError> {
    // The head first: the evidence for another metric has another shape.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        signature: String,
    }
    #[derive(Deserialize)]
    struct Body<E> {
        evidence: E,
    }
    let malformed = |error: serde_json::Error| StateError::Malformed(error.to_string());
    let head: Head = serde_json::from_str(text).map_err(malformed)?;
    if (head.format, head.signature.as_str()) != (FORMAT, expected) {
        return Err(StateError::Mismatch {
            expected: format!("{expected} (format {FORMAT})"),
            found: format!("{} (format {})", head.signature, head.format),
        });
    }
    let body: Body<E> = serde_json::from_str(text).map_err(malformed)?;
    Ok(body.evidence)
}

/// A [`Reading`] as a [`Scorer`].
pub(crate) struct Adapter<R> {
    shared: Arc<(R, String)>,
}

impl<R: Reading> Adapter<R> {
    pub(crate) fn boxed(metric: &str, version: &str, reading: R) -> Box<dyn Scorer> {
        let signature = signature(metric, &reading.signature(), version);
        Box::new(Self {
            shared: Arc::new((reading, signature)),
        })
    }
}

impl<R: Reading> Scorer for Adapter<R> {
    fn signature(&self) -> &str {
        &self.shared.1
    }

    fn start(&self) -> Box<dyn Evidence> {
        Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool: Pool::default(),
        })
    }

    fn read(&self, text: &str) -> Result<Box<dyn Evidence>, StateError> {
        Ok(Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool: read_written(text, &self.shared.1)?,
        }))
    }

    fn read_documents(
        &self,
        references: Document,
        predictions: Document,
        join: JoinPolicy,
        samples: Option<&mut Vec<Sample>>,
    ) -> Result<Box<dyn Evidence>, DocumentError> {
        let (reading, _) = &*self.shared;
        let mut pool = Pool::default();
        let mut measured = Measured::default();
        let mut sink = Sink {
            metric: reading.metric(),
            pool: &mut pool,
            samples: samples.is_some().then_some(&mut measured),
        };
        reading.read_documents(references, predictions, join, &mut sink)?;
        if let Some(samples) = samples {
            samples.extend(measured.samples(reading));
        }
        Ok(Box::new(Gathered::<R> {
            shared: Arc::clone(&self.shared),
            pool,
        }))
    }

    fn scores_empty_data(&self) -> bool {
        self.shared.0.scores_empty_data()
    }

    fn draws(&self, drawing: Drawing) -> bool {
        self.shared.0.draws(drawing)
    }

    fn picture(&self, record: &Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        self.shared.0.picture(record, drawing)
    }

    fn draw_documents(
        &self,
        references: &Document,
        predictions: &Document,
        join: JoinPolicy,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DocumentError> {
        let reading = &self.shared.0;
        reading.draw_documents(references, predictions, join, drawing, put)
    }
}

struct Gathered<R: Reading> {
    shared: Arc<(R, String)>,
    pool: Pool<<R::Metric as Metric>::State>,
}

impl<R: Reading> Evidence for Gathered<R> {
    fn update(
        &mut self,
        records: &[Record<'_>],
        mut samples: Option<&mut Vec<Sample>>,
    ) -> Result<(), RecordError> {
        let (reading, _) = &*self.shared;
        let mut measured = Measured::default();
        for (index, record) in records.iter().enumerate() {
            let mut sink = Sink {
                metric: reading.metric(),
                pool: &mut self.pool,
                samples: samples.is_some().then_some(&mut measured),
            };
            sink.record(record.id);
            if record.prediction == Value::Missing {
                sink.pool.missing += reading.examples_in(record);
                if record.join.missing == Missing::Skip {
                    continue;
                }
            }
            reading
                .read(record, &mut sink)
                .map_err(|error| RecordError { index, error })?;
        }
        if let Some(samples) = &mut samples {
            samples.extend(measured.samples(reading));
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn Evidence>) -> Result<(), StateError> {
        let mismatch = |found: &str| StateError::Mismatch {
            expected: self.shared.1.clone(),
            found: found.to_owned(),
        };
        let other = other
            .into_any()
            .downcast::<Self>()
            .map_err(|_| mismatch("evidence of another metric"))?;
        if other.shared.1 != self.shared.1 {
            return Err(mismatch(&other.shared.1));
        }
        self.pool.merge(other.pool);
        Ok(())
    }

    fn report(&self) -> Report {
        let (reading, _) = &*self.shared;
        let groups = self.pool.groups.iter().map(|(kind, groups)| {
            let groups = groups
                .iter()
                .map(|(name, state)| reading.group(name, state));
            (kind.clone(), groups.collect())
        });
        let report = reading.report(&self.pool.total, &self.pool.notes);
        Report {
            examples: self.pool.examples,
            missing: self.pool.missing,
            groups: groups.chain(report.groups).collect(),
            ..report
        }
    }

    fn details(&self) -> Option<serde_json::Value> {
        let (reading, _) = &*self.shared;
        reading.details(&self.pool.total)
    }

    fn write(&self) -> String {
        written(&self.shared.1, &self.pool)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
