use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use metric_core::Merge;
use metric_record::{
    Batch, Document, FieldError, JoinError, JoinPolicy, Kind, Message, Missing, ReadError, Record,
    RecordError, Shard, Value,
};
use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::plan::{Described, Plan};
use crate::ranking::Ranking;
use crate::reading::{
    ComparedTexts, ConfusionTable, Counted, Draw, Gathered, Group, Header, Inputs, Numbers, Pool,
    Ranked, Reading, Scope, Sink, StateOf, Unified, WantedInputs, missing_is_correct, renumber,
    renumber_kept, renumber_ranking,
};
use crate::resample::{Paired, Resampler, StateAmounts, Table};

/// Names with what they name, in the order in which they are printed.
pub type Named<T> = Vec<(String, T)>;

/// The form of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// A file of Scalable Vector Graphics.
    Svg,
    /// Lines of text.
    Text,
    /// Lines of text for a terminal with 256 colors.
    ColoredText,
    /// An alignment as JSON.
    Alignment,
}

/// A metric with its options.
///
/// A scorer holds the definition and nothing of any data: it can read any number of data sets, on any
/// number of threads.
pub trait Scorer: Send + Sync {
    /// Returns what the scores are computed under: metric, options that matter, version.
    fn signature(&self) -> &str;

    /// Returns the state of no examples.
    fn start(&self) -> State;

    /// Reads records into a part, which [`State::add`] adds to a state. Parts can be read in parallel.
    /// `state` is the state so far: what it knows of the data set also holds for the part.
    fn read(&self, state: &State, records: &mut [Record<'_>], samples: bool) -> Part;

    /// Reads further records into a part that this scorer read. `first` is the index of the first of them, for errors
    /// and samples. A record that cannot be read ends the reading, and the part has that error for good.
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::record::{Record, Value};
    /// use metric_registry::{Options, find};
    ///
    /// let entry = find("string-accuracy").ok_or("not there")?;
    /// let scorer = entry.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let record = |id, prediction| Record::new(id, Value::line(prediction), Value::line("a"));
    /// let mut part = scorer.read(&state, &mut [record("1", "a")], false);
    /// scorer.read_more(&mut part, 1, &mut [record("2", "b"), record("3", "a")]);
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("string_accuracy"), Some(2.0 / 3.0));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn read_more(&self, part: &mut Part, first: usize, records: &mut [Record<'_>]);

    /// Reads a batch of columns into a part: what [`read`](Self::read) reads of its records, but faster where
    /// the metric has a path for columns of these types.
    ///
    /// ```
    /// # #[cfg(feature = "class")] {
    /// use metric_registry::record::{Batch, Cells, Column, Ids};
    /// use metric_registry::{Options, find};
    ///
    /// let labels = |labels| Column::Integers(Cells::from(labels));
    /// let batch = Batch::new(Ids::Positions(1), labels(&[3, 1, 2][..]), labels(&[3, 2, 2]), vec![])?;
    /// let entry = find("classification").ok_or("not there")?;
    /// let scorer = entry.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let mut part = scorer.read_columns(&state, &batch, false);
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("accuracy"), Some(2.0 / 3.0));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn read_columns(&self, state: &State, batch: &Batch<'_>, samples: bool) -> Part;

    /// Returns the scores of pairs of a prediction and a reference, in the order in which the entry lists them,
    /// without a state: for calls with a few texts, where a state and a report take longer than the scores. `None`
    /// if the metric has no such way, or if a pair is not for it.
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::{Options, find};
    ///
    /// let scorer = find("string-accuracy").ok_or("not there")?.scorer(&Options::default())?;
    /// assert_eq!(scorer.score_texts(&[("a", "a"), ("b", "c")]), Some(vec![Some(0.5)]));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>>;

    /// Reads a data set that is given as files or folders of the metric's own format.
    ///
    /// # Errors
    ///
    /// Returns an error if a document cannot be read, if the two sides do not join, or if the metric only
    /// takes records.
    fn read_data_set(&self, data: DataSet, samples: bool) -> Result<Part, DataSetError>;

    /// Reads the body of a state that [`State::body`] wrote.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not the body of a state of this metric.
    fn read_state(&self, body: &[u8]) -> Result<State, StateError>;

    /// Whether the scores that the entry declares as proportions are proportions under these options.
    fn has_proportions(&self) -> bool;

    /// Returns the names of the further fields of a record that the metric looks for among the references.
    fn further_fields(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the name of the score that ranks examples, unless another one is requested; `None` for the first that has
    /// a direction.
    fn ranking_score(&self) -> Option<String> {
        None
    }

    /// Returns the texts of a record with what is compared in their place, after all that options do to them; `None`
    /// for metrics of other values, and for records that cannot be read.
    fn compared(&self, _record: &mut Record<'_>) -> Option<ComparedTexts> {
        None
    }

    /// Returns what draws records, if the metric has pictures.
    fn pictures(&self) -> Option<&dyn Draw>;
}

/// A data set that is given as documents of a metric's own formats.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The references.
    pub references: Document,
    /// The predictions.
    pub predictions: Document,
    /// The files that options name, by option.
    pub files: Named<Document>,
    /// The strictness of joining the two sides.
    pub join: JoinPolicy,
    /// The part of the data set that is read, by image, question or task; `None` for all of it.
    pub shard: Option<Shard>,
    /// The data to gather from each record in addition to the counts.
    pub plan: Arc<Plan>,
    /// Whether samples have the values of their records.
    pub inputs: bool,
}

impl DataSet {
    /// Returns a whole data set, joined strictly.
    #[must_use]
    pub fn new(references: Document, predictions: Document) -> Self {
        Self {
            references,
            predictions,
            files: Vec::new(),
            join: JoinPolicy::default(),
            shard: None,
            plan: Arc::default(),
            inputs: false,
        }
    }

    /// Returns the file that an option names.
    #[must_use]
    pub fn file(&self, option: &str) -> Option<&Document> {
        let mut files = self.files.iter();
        files
            .find(|(name, _)| name == option)
            .map(|(_, document)| document)
    }

    /// Returns whether the image, question or task with this id is read.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        self.shard.is_none_or(|shard| shard.holds(id)) && self.plan.holds(id)
    }
}

/// A data set that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataSetError {
    /// A document cannot be read.
    Read(ReadError),
    /// The two sides do not join.
    Join(Box<JoinError>),
}

impl DataSetError {
    /// Returns the error as a message.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Read(error) => error.message(),
            Self::Join(error) => error.message(),
        }
    }
}

impl From<ReadError> for DataSetError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<JoinError> for DataSetError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

impl fmt::Display for DataSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for DataSetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Join(error) => Some(&**error),
        }
    }
}

/// The scores of one example.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Index of its record in the batch, counted from 0; of one of the [worst](State::ranking), among all
    /// references.
    pub record: usize,
    /// The id of the record.
    pub id: String,
    /// The part of the record, if the record has several examples.
    pub part: Option<String>,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
    /// The values of its record, if it is one of a [data set](DataSet::inputs) and they are requested.
    pub inputs: Option<Arc<Inputs>>,
}

/// Scores and counts by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The number of examples.
    pub examples: u64,
    /// The number of examples without a prediction, whether they count as empty or were left out.
    pub missing: u64,
    /// The number of predictions without a reference, which were left out.
    pub extra: u64,
    /// Scores; `None` is undefined.
    pub scores: Named<Option<f64>>,
    /// Counts.
    pub counts: Named<serde_json::Value>,
    /// The groups, by kind of group.
    pub groups: Named<Vec<Group>>,
    /// Warnings for the user.
    pub warnings: Vec<Message>,
}

impl Report {
    /// Returns the counts of a group, given by its kind and its name, or of all examples; `None` if there is no
    /// such group.
    #[must_use]
    pub fn counts_of(&self, group: Option<&(String, String)>) -> Option<&Named<serde_json::Value>> {
        let Some((kind, name)) = group else {
            return Some(&self.counts);
        };
        let of_kind = self.groups.iter().filter(|(found, _)| found == kind);
        let mut groups = of_kind.flat_map(|(_, groups)| groups);
        groups
            .find(|group| group.name == *name)
            .map(|group| &group.counts)
    }

    /// Returns the score of this name, if there is one and it is defined.
    #[must_use]
    pub fn score(&self, name: &str) -> Option<f64> {
        self.scores
            .iter()
            .find(|(score, _)| score == name)
            .and_then(|(_, value)| *value)
    }
}

/// The data read from a data set, or from a part of it.
///
/// States merge by the law of [`Merge`]: any partition of the examples, merged in any order, gives the
/// same report and the same [body](Self::body).
pub struct State(Box<dyn ErasedState>);

/// The data read from some records, not yet added to a [`State`].
pub struct Part(Box<dyn ErasedPart>);

trait ErasedState: Any + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn ErasedState>;
    fn signature(&self) -> &str;
    fn add(&mut self, part: &mut dyn ErasedPart) -> Result<(), AddError>;
    fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError>;
    fn extra(&mut self, predictions: u64);
    fn count(&mut self, what: &Counted, times: u64);
    fn examples(&self) -> u64;
    fn has_scores(&self) -> bool;
    fn merge_times(&mut self, other: &dyn ErasedState, times: u64) -> Result<(), StateError>;
    fn report(&self) -> Report;
    fn report_with_details(&self) -> (Report, Option<serde_json::Value>);
    fn ranking(&self) -> Option<Ranking<Sample>>;
    fn details(&self) -> Option<serde_json::Value>;
    fn confusions(&self) -> Option<ConfusionTable>;
    fn follow(&mut self, plan: Arc<Plan>);
    fn kept(&self) -> Option<&Kept>;
    fn resampler(&self) -> Result<Resampler, StateError>;
    fn paired(&self, other: &dyn ErasedState) -> Result<Paired, StateError>;
    fn body(&self) -> Result<Vec<u8>, StateError>;
}

trait ErasedPart: Any + Send + Sync {
    fn samples(&self, state: &dyn ErasedState) -> Vec<Sample>;
    fn start_at(&mut self, position: u64, index: usize);
    fn name_ranked(&mut self, named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>);
}

/// The reason why a part cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddError {
    /// A record that cannot be read, or that contradicts the state.
    Record(RecordError),
    /// The part is of another metric or definition.
    State(StateError),
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AddError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Record(error) => Some(error),
            Self::State(error) => Some(error),
        }
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.signature()).finish()
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Part").finish_non_exhaustive()
    }
}

impl State {
    /// Returns the definition that the state was gathered under.
    #[must_use]
    pub fn signature(&self) -> &str {
        self.0.signature()
    }

    /// Adds what was read of some records. The order of parts decides which of several errors is found,
    /// and nothing else.
    ///
    /// # Errors
    ///
    /// Returns the first record of the part that cannot be read, or that shares less with the records of the state than
    /// a data set's records must. The state is then unchanged.
    pub fn add(&mut self, part: &mut Part) -> Result<(), AddError> {
        self.0.add(&mut *part.0)
    }

    /// Takes over what the records of parts share, and not yet their examples, so that parts that are still
    /// [read into](Scorer::read_more) are known to fit.
    ///
    /// # Errors
    ///
    /// Returns an error if a part has a record that cannot be read, or one that shares less with the others than a data
    /// set's records must; of several such records, any one. The state is then unchanged.
    pub fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError> {
        self.0.agree(parts)
    }

    /// Reads records and adds them: all of them or, where there is an error, none.
    ///
    /// # Errors
    ///
    /// Returns the first record that cannot be read.
    pub fn update(
        &mut self,
        scorer: &dyn Scorer,
        records: &mut [Record<'_>],
    ) -> Result<(), AddError> {
        let mut part = scorer.read(self, records, false);
        self.add(&mut part)
    }

    /// Returns the number of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.0.examples()
    }

    /// Returns whether there are examples, or the metric scores a data set without any; for most metrics such a data
    /// set is an error.
    #[must_use]
    pub fn has_scores(&self) -> bool {
        self.0.has_scores()
    }

    /// Counts predictions that have no reference and were left out.
    pub fn count_extra(&mut self, predictions: u64) {
        self.0.extra(predictions);
    }

    /// Counts something about the data that is worth a warning.
    pub fn count(&mut self, what: &Counted, times: u64) {
        self.0.count(what, times);
    }

    /// Adds the state of other examples.
    ///
    /// # Errors
    ///
    /// Returns an error if `other` is of another definition, or if its examples do not share with these what those of
    /// one data set share. The state is then unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), StateError> {
        self.merge_times(other, 1)
    }

    /// Adds the state of other examples as often as `times` says.
    ///
    /// # Errors
    ///
    /// Returns an error as [`merge`](Self::merge) does.
    pub fn merge_times(&mut self, other: &Self, times: u64) -> Result<(), StateError> {
        self.0.merge_times(&*other.0, times)
    }

    /// Returns the scores and counts.
    #[must_use]
    pub fn report(&self) -> Report {
        self.0.report()
    }

    /// Returns the scores and counts with the [details](Self::details), in less time than one after the other.
    #[must_use]
    pub fn report_with_details(&self) -> (Report, Option<serde_json::Value>) {
        self.0.report_with_details()
    }

    /// Returns the worst examples, if the [plan](Plan::ranking) wants them.
    #[must_use]
    pub fn ranking(&self) -> Option<Ranking<Sample>> {
        self.0.ranking()
    }

    /// Returns what is too large for a report, such as curves, as JSON; `None` if there is nothing.
    #[must_use]
    pub fn details(&self) -> Option<serde_json::Value> {
        self.0.details()
    }

    /// Returns the confusion matrix, if the metric counts confusions and there are few enough classes to print them.
    #[must_use]
    pub fn confusions(&self) -> Option<ConfusionTable> {
        self.0.confusions()
    }

    /// Sets the plan of what to gather from the examples that are read next.
    pub fn follow(&mut self, plan: Arc<Plan>) {
        self.0.follow(plan);
    }

    /// Returns what resamples the examples, if the state [keeps](Plan::keeps_examples) them.
    ///
    /// # Errors
    ///
    /// Returns an error if a kept example cannot be read; those that this crate wrote can be.
    pub fn resampler(&self) -> Result<Option<Resampler>, StateError> {
        let resampler = self.0.kept().map(|_| self.0.resampler());
        resampler.transpose()
    }

    /// Returns what exchanges the examples of this state, the baseline, with those of another system, if both
    /// states keep them.
    ///
    /// # Errors
    ///
    /// Returns an error if the states are of different definitions, or if a kept example cannot be read.
    pub fn paired(&self, system: &Self) -> Result<Option<Paired>, StateError> {
        if self.0.kept().is_none() || system.0.kept().is_none() {
            return Ok(None);
        }
        self.0.paired(&*system.0).map(Some)
    }

    /// Returns the hashes of the ids of the records whose examples the state keeps.
    #[must_use]
    pub fn kept_ids(&self) -> BTreeSet<u64> {
        self.0.kept().map_or_else(BTreeSet::new, Kept::keys)
    }

    /// Returns about how much memory the examples that the state keeps take, in bytes. A run ends when this is
    /// more than [`MOST_KEPT_BYTES`](crate::MOST_KEPT_BYTES).
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.0.kept().map_or(0, Kept::bytes)
    }

    /// Writes the state in its canonical form, for [`Scorer::read_state`]: CBOR, with named fields.
    ///
    /// # Errors
    ///
    /// Returns an error if the examples that the state keeps take more than [`MOST_WRITTEN_BYTES`], or if CBOR cannot
    /// represent a part of it, which does not happen with the built-in metrics.
    pub fn body(&self) -> Result<Vec<u8>, StateError> {
        let written = self.0.kept().map_or(0, Kept::written_bytes);
        if written > MOST_WRITTEN_BYTES {
            return Err(StateError::TooLarge(written));
        }
        self.0.body()
    }
}

impl Part {
    /// Returns the scores of each example, where the part was read with samples, as the examples of
    /// `state`, to which the part was added.
    #[must_use]
    pub fn samples(&self, state: &State) -> Vec<Sample> {
        self.0.samples(&*state.0)
    }

    /// Says that the record at `index` of those that are read next is at `position` among all references, and that
    /// each record after it is at the next one. Of examples with equal scores, the first ones are the
    /// [worst](State::ranking).
    pub fn start_at(&mut self, position: u64, index: usize) {
        self.0.start_at(position, index);
    }

    /// Asks for the ids of the records of the worst examples, by their index, and for their values if these are needed.
    /// Each is asked for once, so call this before the records are dropped.
    pub fn name_ranked(
        &mut self,
        named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>,
    ) {
        self.0.name_ranked(named);
    }
}

/// A state that cannot be read or merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes are not the body of a state.
    Malformed(String),
    /// The state is of another metric, definition or format version.
    Definition {
        /// The definition that was needed.
        expected: String,
        /// The definition that was found.
        found: String,
    },
    /// The examples do not share what those of one data set share.
    Header(Message),
    /// The examples that are kept take this many bytes in a file.
    TooLarge(u64),
}

/// By how many bytes the examples that a state keeps may make a state file larger.
pub const MOST_WRITTEN_BYTES: u64 = 64 << 20;

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) => write!(f, "not the state of this metric: {reason}"),
            Self::Definition { expected, found } => {
                write!(f, "found a state of {found}: expected one of {expected}")
            }
            Self::Header(difference) => write!(f, "not of the same data set: {difference}"),
            Self::TooLarge(bytes) => write!(
                f,
                "the counts of single examples, which replicates need, make the state {} MB larger: expected at most {} MB (divide the data into more shards)",
                bytes >> 20,
                MOST_WRITTEN_BYTES >> 20
            ),
        }
    }
}

impl std::error::Error for StateError {}

/// Returns the signature `metric|name:value|...|v:version`.
///
/// A bar in a value is written `%7C` and a percent sign `%25`, so different choices have different
/// signatures, and every `|` ends a part.
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

/// Returns a [`Reading`] as a [`Scorer`]: what the `build` function of an entry gives.
pub fn scorer<R: Reading>(metric: &str, version: &str, reading: R) -> Box<dyn Scorer> {
    scorer_after(metric, version, reading, None)
}

/// The same of a reading whose records are prepared first.
pub(crate) fn scorer_after<R: Reading>(
    metric: &str,
    version: &str,
    reading: R,
    before: Option<Box<dyn Prepare>>,
) -> Box<dyn Scorer> {
    let mut parts = reading.signature();
    parts.extend(before.iter().flat_map(|before| before.signature()));
    let signature = signature(metric, &parts, version);
    Box::new(Adapter {
        shared: Arc::new(Shared {
            reading,
            signature,
            before,
        }),
    })
}

/// The preparation of the values of a record before they are read.
pub(crate) trait Prepare: Send + Sync {
    /// The parts of the signature, by name.
    fn signature(&self) -> Named<String>;

    /// Returns the values that are read in place of those of a record.
    fn prepare(&self, record: &Record<'_>) -> Result<Prepared, FieldError>;
}

/// The values of a record that are not read as they are.
pub(crate) struct Prepared {
    pub(crate) prediction: Option<String>,
    /// The reference, and whether it is JSON.
    pub(crate) reference: Option<(String, bool)>,
    /// The events that are worth a warning.
    pub(crate) note: Option<Counted>,
}

impl Prepared {
    fn record<'r>(&'r self, mut record: Record<'r>) -> Record<'r> {
        if let Some(text) = &self.prediction {
            record.prediction = Value::string(text);
        }
        match &self.reference {
            Some((json, true)) => record.reference = Value::json(json),
            Some((text, false)) => record.reference = Value::string(text),
            None => {}
        }
        record
    }
}

pub(crate) struct Shared<R> {
    pub(crate) reading: R,
    pub(crate) signature: String,
    before: Option<Box<dyn Prepare>>,
}

struct Adapter<R> {
    shared: Arc<Shared<R>>,
}

/// A [`State`] of a reading.
struct Held<R: Reading> {
    shared: Arc<Shared<R>>,
    header: R::Header,
    pool: Pool<StateOf<R>>,
    plan: Arc<Plan>,
    kept: Option<Kept>,
    ranking: Option<Ranking<Ranked<StateOf<R>>>>,
}

/// A [`Part`] of a reading.
struct Read<R: Reading> {
    shared: Arc<Shared<R>>,
    gathered: Gathered<R>,
    /// The record that ended the reading.
    error: Option<RecordError>,
}

impl<R: Reading> Scorer for Adapter<R>
where
    R::Header: Header,
{
    fn signature(&self) -> &str {
        &self.shared.signature
    }

    fn start(&self) -> State {
        State(Box::new(Held::<R> {
            shared: Arc::clone(&self.shared),
            header: R::Header::default(),
            pool: Pool::default(),
            plan: Arc::default(),
            kept: None,
            ranking: None,
        }))
    }

    fn read(&self, state: &State, records: &mut [Record<'_>], samples: bool) -> Part {
        self.part(state, samples, |sink| {
            let mut records = records.iter_mut().enumerate();
            records.try_for_each(|(index, record)| self.read_record(index, record, sink))
        })
    }

    fn read_more(&self, part: &mut Part, first: usize, records: &mut [Record<'_>]) {
        let part: &mut dyn Any = &mut *part.0;
        // A part of another metric is refused where it is added.
        let Some(part) = part.downcast_mut::<Read<R>>() else {
            return;
        };
        let mut sink = Sink::new(&self.shared.reading, &mut part.gathered);
        sink.index = first;
        let mut records = (first..).zip(records);
        let read =
            records.try_for_each(|(index, record)| self.read_record(index, record, &mut sink));
        if let (None, Err(error)) = (&part.error, read) {
            part.error = Some(error);
        }
    }

    fn read_columns(&self, state: &State, batch: &Batch<'_>, samples: bool) -> Part {
        self.part(state, samples, |sink| {
            // The records of a plan have further fields.
            let as_rows = self.shared.before.is_some() || !sink.gathered.plan.is_empty();
            let read = if as_rows {
                None
            } else {
                self.shared.reading.read_columns(batch, sink)
            };
            read.unwrap_or_else(|| self.read_rows(batch, sink))
        })
    }

    fn score_texts(&self, pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        match self.shared.before {
            Some(_) => None,
            None => self.shared.reading.score_texts(pairs),
        }
    }

    fn read_data_set(&self, data: DataSet, samples: bool) -> Result<Part, DataSetError> {
        let reading = &self.shared.reading;
        if let Some(before) = &self.shared.before {
            let name = before.signature().into_iter().next().unwrap_or_default().0;
            let problem = Message::default()
                .option(&name, "")
                .text(" goes with records: expected a file of records, such as JSON Lines");
            return Err(ReadError::new(data.references.name, problem).into());
        }
        let Some(reader) = reading.data_sets() else {
            let problem = "this metric reads records, not whole files";
            return Err(ReadError::new(data.references.name, problem).into());
        };
        let name = data.references.name.clone();
        let mut gathered = Gathered::new(R::Header::default(), samples, Arc::clone(&data.plan));
        if data.inputs {
            // Values are shown without fields where there are none.
            let fields = reader.fields(&data.references).ok().flatten();
            gathered.inputs = Some(WantedInputs {
                fields: fields.unwrap_or_default(),
                ..WantedInputs::default()
            });
        }
        let mut sink = Sink::new(reading, &mut gathered);
        // The files no longer exist when the worst are known.
        sink.names_all |= data.plan.ranking.is_some();
        if data.plan.needs_fields() {
            let fields = reader.fields(&data.references)?;
            let problem = "the examples of these files have no further fields";
            sink.fields = fields.ok_or_else(|| ReadError::new(&name, problem))?;
        }
        reader.read_data_set(data, &mut sink)?;
        if let Some(problem) = gathered.problem.take() {
            return Err(ReadError::new(name, problem).into());
        }
        Ok(Part(Box::new(Read {
            shared: Arc::clone(&self.shared),
            gathered,
            error: None,
        })))
    }

    fn read_state(&self, body: &[u8]) -> Result<State, StateError> {
        let Body { header, pool, kept } =
            cbor4ii::serde::from_slice::<Body<R::Header, Pool<StateOf<R>>, Kept>>(body)
                .map_err(|error| StateError::Malformed(error.to_string()))?;
        let other_form = || StateError::Malformed("not in its canonical form".to_owned());
        for contribution in kept.iter().flat_map(Kept::contributions) {
            let state = crate::kept::read::<StateOf<R>>(contribution)?;
            if crate::kept::written(&state)? != contribution {
                return Err(other_form());
            }
        }
        let state = State(Box::new(Held::<R> {
            shared: Arc::clone(&self.shared),
            header,
            pool,
            plan: Arc::default(),
            kept,
            ranking: None,
        }));
        // A key twice, rows out of order, or bytes after the end: nothing that `body` writes.
        if state.body()? == body {
            Ok(state)
        } else {
            Err(other_form())
        }
    }

    fn has_proportions(&self) -> bool {
        self.shared.reading.has_proportions()
    }

    fn further_fields(&self) -> Vec<String> {
        self.shared.reading.further_fields()
    }

    fn ranking_score(&self) -> Option<String> {
        self.shared.reading.ranking_score()
    }

    fn compared(&self, record: &mut Record<'_>) -> Option<ComparedTexts> {
        let reading = &self.shared.reading;
        let Some(before) = &self.shared.before else {
            return reading.compared(record);
        };
        let prepared = before.prepare(record).ok()?;
        let compared = reading.compared(&mut prepared.record(record.view()))?;
        Some(compared.given_as(reading.compared(record)?))
    }

    fn pictures(&self) -> Option<&dyn Draw> {
        self.shared.reading.pictures().map(|_| self as &dyn Draw)
    }
}

/// Draws what is scored: records are prepared as they are for scores.
impl<R: Reading> Draw for Adapter<R> {
    fn draws(&self, drawing: Drawing) -> bool {
        let draw = self.shared.reading.pictures();
        draw.is_some_and(|draw| draw.draws(drawing))
    }

    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError> {
        let Some(draw) = self.shared.reading.pictures() else {
            return Ok(String::new());
        };
        let Some(before) = &self.shared.before else {
            return draw.picture(record, drawing);
        };
        let prepared = before.prepare(record)?;
        draw.picture(&mut prepared.record(record.view()), drawing)
    }

    fn draw_data_set(
        &self,
        data: DataSet,
        drawing: Drawing,
        put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        let draw = self.shared.reading.pictures();
        draw.map_or(Ok(()), |draw| draw.draw_data_set(data, drawing, put))
    }
}

impl<R: Reading> Adapter<R> {
    /// The part of what `read` puts into a sink.
    fn part(
        &self,
        state: &State,
        samples: bool,
        read: impl FnOnce(&mut Sink<'_, R>) -> Result<(), RecordError>,
    ) -> Part {
        let state: &dyn Any = &*state.0;
        // The header of another metric's state is of no use here; adding the part will fail.
        let state = state.downcast_ref::<Held<R>>();
        let header = state.map_or_else(R::Header::default, |state| state.header.clone());
        let plan = state.map_or_else(Arc::default, |state| Arc::clone(&state.plan));
        let mut gathered = Gathered::new(header, samples, plan);
        let error = read(&mut Sink::new(&self.shared.reading, &mut gathered));
        Part(Box::new(Read {
            shared: Arc::clone(&self.shared),
            gathered,
            error: error.err(),
        }))
    }

    fn read_record(
        &self,
        index: usize,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), RecordError> {
        let Some(before) = &self.shared.before else {
            return self.read_prepared(index, record, sink);
        };
        let prepared = before.prepare(record);
        let prepared = prepared.map_err(|error| RecordError { index, error })?;
        self.read_prepared(index, &mut prepared.record(record.view()), sink)?;
        if let Some(note) = &prepared.note {
            sink.count_record(note, record.id);
        }
        Ok(())
    }

    fn read_prepared(
        &self,
        index: usize,
        record: &mut Record<'_>,
        sink: &mut Sink<'_, R>,
    ) -> Result<(), RecordError> {
        let reading = &self.shared.reading;
        sink.record(record.id);
        if sink.has_plan && !sink.gathered.plan.holds(&sink.id) {
            return Ok(());
        }
        if record.prediction.is_missing() {
            sink.missing(reading.examples_in(record));
            if record.join.missing == Missing::Skip {
                return Ok(());
            }
            if record.join.missing == Missing::Empty && reading.is_empty_correct(record) {
                sink.count_record(&missing_is_correct(), record.id);
            }
        }
        if sink.has_plan {
            let described = describe(&sink.gathered.plan, &sink.id, record);
            sink.described = described.map_err(|problem| RecordError {
                index,
                error: FieldError::reference(problem),
            })?;
        }
        reading
            .read(record, sink)
            .map_err(|error| RecordError { index, error })
    }

    /// Reads the records of a batch one by one.
    fn read_rows(&self, batch: &Batch<'_>, sink: &mut Sink<'_, R>) -> Result<(), RecordError> {
        let mut fields = String::new();
        for index in 0..batch.len() {
            let record = batch.record_with_fields(index, &mut fields);
            let record = record.map_err(|error| RecordError { index, error })?;
            if let Some(mut record) = record {
                self.read_record(index, &mut record, sink)?;
            }
        }
        Ok(())
    }
}

/// Returns what a plan wants of a record. In a map of ids to values, the fields are those of the value.
fn describe(plan: &Plan, id: &str, record: &Record<'_>) -> Result<Described, Message> {
    let value = match record.fields {
        None if plan.needs_fields() && record.reference.kind() == Kind::Object => {
            record.reference.clone().to_json_or("{}").ok()
        }
        fields => fields.map(Cow::Borrowed),
    };
    plan.describe(id, value.as_deref())
}

/// The written form of a state.
#[derive(Serialize, Deserialize)]
struct Body<H, P, K> {
    header: H,
    pool: P,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    kept: Option<K>,
}

impl<R: Reading> Held<R> {
    /// Unites the headers, and renumbers the states of both sides where that is needed.
    fn unite(
        &mut self,
        header: &R::Header,
        renumber_theirs: impl FnOnce(&[u32]),
    ) -> Result<(), Message> {
        if *header == self.header {
            return Ok(());
        }
        if let Unified::Renumbered { ours, theirs } = self.header.unify(header)? {
            renumber(&self.shared.reading, &mut self.pool, &ours);
            if let Some(kept) = &mut self.kept {
                renumber_kept(&self.shared.reading, kept, &ours);
            }
            renumber_ranking(&self.shared.reading, self.ranking.as_mut(), &ours);
            renumber_theirs(&theirs);
        }
        Ok(())
    }

    /// Keeps other examples as well.
    fn keep(&mut self, kept: Option<&Kept>, times: u64) {
        if let Some(kept) = kept {
            self.kept.get_or_insert_default().merge_times(kept, times);
        }
    }

    fn clone_held(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            header: self.header.clone(),
            pool: self.pool.clone(),
            plan: Arc::clone(&self.plan),
            kept: self.kept.clone(),
            ranking: self.ranking.clone(),
        }
    }

    /// The report with these numbers of all examples.
    fn report_of(&self, numbers: Numbers) -> Report {
        let reading = &self.shared.reading;
        let mut groups = Vec::new();
        for (kind, states) in &self.pool.groups {
            let of_kind = states.iter().map(|(name, state)| {
                let numbers = reading.numbers(state, &self.header, Scope::Group(kind, name));
                Group {
                    name: name.clone(),
                    scores: numbers.scores,
                    counts: numbers.counts,
                }
            });
            groups.push((kind.clone(), of_kind.collect()));
        }
        groups.extend(numbers.groups);
        let mut warnings: Vec<Message> = self.pool.notes.warnings().collect();
        warnings.extend(numbers.warnings);
        let remarks = self.pool.remarks();
        warnings.extend(reading.further_warnings(&self.pool.total, &self.header, remarks));
        Report {
            examples: self.pool.examples,
            missing: self.pool.missing,
            extra: self.pool.extra,
            scores: numbers.scores,
            counts: numbers.counts,
            groups,
            warnings,
        }
    }

    fn refuse_other(&self, other: Option<&str>) -> Result<(), StateError> {
        match other {
            Some(signature) if signature == self.shared.signature => Ok(()),
            other => Err(StateError::Definition {
                expected: self.shared.signature.clone(),
                found: other.unwrap_or("another metric").to_owned(),
            }),
        }
    }
}

impl<R: Reading> ErasedState for Held<R> {
    fn boxed_clone(&self) -> Box<dyn ErasedState> {
        Box::new(self.clone_held())
    }

    fn signature(&self) -> &str {
        &self.shared.signature
    }

    fn add(&mut self, part: &mut dyn ErasedPart) -> Result<(), AddError> {
        let part: &mut dyn Any = part;
        let part = part.downcast_mut::<Read<R>>();
        let found = part.as_ref().map(|part| part.shared.signature.as_str());
        self.refuse_other(found).map_err(AddError::State)?;
        let Some(Read {
            gathered, error, ..
        }) = part
        else {
            return Ok(());
        };
        // The first record that differs comes before whatever else is wrong with the part.
        let mut header = self.header.clone();
        for (index, side, said) in &gathered.said {
            header.unify(said).map_err(|problem| {
                AddError::Record(RecordError {
                    index: *index,
                    error: FieldError::new(*side, problem),
                })
            })?;
        }
        if let Some(error) = error {
            return Err(AddError::Record(error.clone()));
        }
        let shared = Arc::clone(&self.shared);
        let header = gathered.header.clone();
        self.unite(&header, |theirs| gathered.renumber(&shared.reading, theirs))
            .map_err(|problem| AddError::State(StateError::Header(problem)))?;
        self.pool.merge(std::mem::take(&mut gathered.pool));
        self.keep(gathered.kept.take().as_ref(), 1);
        if let Some(theirs) = gathered.ranking.take() {
            match &mut self.ranking {
                Some(ours) => ours.merge(theirs),
                ours => *ours = Some(theirs),
            }
        }
        Ok(())
    }

    fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError> {
        let mut header = None;
        for part in parts.iter_mut() {
            let part: &mut dyn Any = &mut *part.0;
            let part = part.downcast_mut::<Read<R>>();
            let found = part.as_ref().map(|part| part.shared.signature.as_str());
            self.refuse_other(found).map_err(AddError::State)?;
            let Some(part) = part else {
                continue;
            };
            if let Some(error) = &part.error {
                return Err(AddError::Record(error.clone()));
            }
            for (index, side, said) in &part.gathered.said {
                let header = header.get_or_insert_with(|| self.header.clone());
                let unified = header.unify(said);
                unified.map_err(|problem| {
                    AddError::Record(RecordError {
                        index: *index,
                        error: FieldError::new(*side, problem),
                    })
                })?;
            }
        }
        for part in parts.iter_mut() {
            let part: &mut dyn Any = &mut *part.0;
            if let Some(part) = part.downcast_mut::<Read<R>>() {
                part.gathered.said.clear();
            }
        }
        let Some(header) = header else {
            return Ok(());
        };
        self.unite(&header, |_| {})
            .map_err(|problem| AddError::State(StateError::Header(problem)))
    }

    fn extra(&mut self, predictions: u64) {
        self.pool.extra += predictions;
    }

    fn count(&mut self, what: &Counted, times: u64) {
        self.pool.notes.count(what, times);
    }

    fn examples(&self) -> u64 {
        self.pool.examples
    }

    fn has_scores(&self) -> bool {
        self.pool.examples > 0 || self.shared.reading.scores_empty_data()
    }

    fn merge_times(&mut self, other: &dyn ErasedState, times: u64) -> Result<(), StateError> {
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>();
        self.refuse_other(other.map(|other| other.shared.signature.as_str()))?;
        let Some(other) = other else {
            return Ok(());
        };
        if times == 0 {
            return Ok(());
        }
        let mut renumbered = None;
        let reading = Arc::clone(&self.shared);
        self.unite(&other.header, |theirs| {
            let mut pool = other.pool.clone();
            renumber(&reading.reading, &mut pool, theirs);
            let mut kept = other.kept.clone();
            if let Some(kept) = &mut kept {
                renumber_kept(&reading.reading, kept, theirs);
            }
            renumbered = Some((pool, kept));
        })
        .map_err(StateError::Header)?;
        let renumbered = renumbered.as_ref();
        let (pool, kept) =
            renumbered.map_or((&other.pool, &other.kept), |(pool, kept)| (pool, kept));
        self.pool.merge_times(pool, times);
        self.keep(kept.as_ref(), times);
        Ok(())
    }

    fn follow(&mut self, plan: Arc<Plan>) {
        if plan.keeps_examples {
            self.kept.get_or_insert_default();
        }
        self.plan = plan;
    }

    fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    fn resampler(&self) -> Result<Resampler, StateError> {
        let kept: Vec<&Kept> = self.kept.iter().collect();
        let amounts = StateAmounts::new(&self.shared, self.header.clone());
        let table = Table::new(Box::new(amounts), &kept)?;
        Ok(Resampler::new(table, &self.report()))
    }

    fn paired(&self, other: &dyn ErasedState) -> Result<Paired, StateError> {
        let mut baseline = self.clone_held();
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>();
        self.refuse_other(other.map(|other| other.shared.signature.as_str()))?;
        let mut system = other.map_or_else(|| self.clone_held(), Self::clone_held);
        // Classes that only one of them has are numbered alike.
        let mut theirs = None;
        let header = system.header.clone();
        baseline
            .unite(&header, |indices| theirs = Some(indices.to_vec()))
            .map_err(StateError::Header)?;
        if let (Some(indices), Some(kept)) = (theirs, &mut system.kept) {
            renumber_kept(&self.shared.reading, kept, &indices);
        }
        let reports = [
            self.report(),
            other.map_or_else(|| self.report(), Self::report),
        ];
        let kept: Vec<&Kept> = baseline.kept.iter().chain(&system.kept).collect();
        let amounts = StateAmounts::new(&self.shared, baseline.header.clone());
        let table = Table::new(Box::new(amounts), &kept)?;
        Ok(Paired::new(table, &reports))
    }

    fn report(&self) -> Report {
        let reading = &self.shared.reading;
        self.report_of(reading.numbers(&self.pool.total, &self.header, Scope::Total))
    }

    fn report_with_details(&self) -> (Report, Option<serde_json::Value>) {
        let reading = &self.shared.reading;
        let (numbers, mut details) = reading.numbers_with_details(&self.pool.total, &self.header);
        if let Some(details) = &mut details {
            reading.add_to_details(details, self.pool.remarks());
        }
        (self.report_of(numbers), details)
    }

    fn ranking(&self) -> Option<Ranking<Sample>> {
        let ranking = self.ranking.as_ref()?;
        Some(ranking.map(|position, ranked| {
            let Ranked {
                example, inputs, ..
            } = ranked;
            let numbers = self
                .shared
                .reading
                .numbers(&example.state, &self.header, Scope::Example);
            Sample {
                record: usize::try_from(position).unwrap_or(usize::MAX),
                id: example.id.clone(),
                part: example.part.clone(),
                scores: numbers.scores,
                counts: numbers.counts,
                inputs: inputs.clone(),
            }
        }))
    }

    fn details(&self) -> Option<serde_json::Value> {
        let reading = &self.shared.reading;
        let mut details = reading.details(&self.pool.total, &self.header)?;
        reading.add_to_details(&mut details, self.pool.remarks());
        Some(details)
    }

    fn confusions(&self) -> Option<ConfusionTable> {
        self.shared
            .reading
            .confusions(&self.pool.total, &self.header)
    }

    fn body(&self) -> Result<Vec<u8>, StateError> {
        let body = Body {
            header: &self.header,
            pool: &self.pool,
            kept: self.kept.as_ref(),
        };
        cbor4ii::serde::to_vec(Vec::new(), &body)
            .map_err(|error| StateError::Malformed(error.to_string()))
    }
}

impl<R: Reading> ErasedPart for Read<R> {
    fn samples(&self, state: &dyn ErasedState) -> Vec<Sample> {
        let state: &dyn Any = state;
        let header = state.downcast_ref::<Held<R>>().map(|state| &state.header);
        let header = header.unwrap_or(&self.gathered.header);
        let inputs = self.gathered.inputs.as_ref();
        let sample = |example: &crate::reading::Measured<StateOf<R>>| {
            let reading = &self.shared.reading;
            let Numbers { scores, counts, .. } =
                reading.numbers(&example.state, header, Scope::Example);
            Sample {
                record: example.record,
                id: example.id.clone(),
                part: example.part.clone(),
                scores,
                counts,
                inputs: inputs.and_then(|inputs| inputs.by_record.get(&example.record).cloned()),
            }
        };
        self.gathered
            .measured
            .iter()
            .flatten()
            .map(sample)
            .collect()
    }

    fn start_at(&mut self, position: u64, index: usize) {
        self.gathered.first_position = position.wrapping_sub(index as u64);
    }

    fn name_ranked(&mut self, named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>) {
        let worst = self.gathered.ranking.iter_mut();
        for ranked in worst.flat_map(Ranking::kept_mut) {
            if !ranked.is_unnamed {
                continue;
            }
            ranked.is_unnamed = false;
            if let Some((id, inputs)) = named(ranked.example.record) {
                ranked.example.id = id;
                ranked.inputs = inputs.map(Arc::new);
            }
        }
    }
}
