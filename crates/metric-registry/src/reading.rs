use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use metric_core::{Mean, Merge, Metric, PerClass};
use metric_record::{
    Batch, Document, FieldError, Message, ReadError, Record, RecordError, Side, quoted_id,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kept::{JOINT, Kept, written};
use crate::plan::{Described, Plan, PlannedRanking};
use crate::ranking::Ranking;
use crate::{DataSet, DataSetError, Drawing, Named};

/// The state of a reading's metric.
pub type StateOf<R> = <<R as Reading>::Metric as Metric>::State;

/// The prediction and the reference of an example.
pub type PairOf<'p, R> = (
    &'p <<R as Reading>::Metric as Metric>::Prediction,
    &'p <<R as Reading>::Metric as Metric>::Reference,
);

/// Scores states by their weights: see [`Reading::weigher`].
pub type Weigher<'s> = Box<dyn Fn(&[u64], Scope<'_>) -> Numbers + Send + Sync + 's>;

/// The parts that add up to a state: see [`Reading::addends`].
#[derive(Debug, Default)]
pub struct Addends<'s> {
    /// Whole numbers.
    pub counts: Vec<&'s mut u64>,
    /// Means.
    pub means: Vec<&'s mut Mean>,
}

/// Texts as they are given, each with what a metric compares in its place.
///
/// ```
/// # #[cfg(feature = "text")] {
/// use metric_registry::record::{Record, Value};
/// use metric_registry::{Options, find};
///
/// let entry = find("exact-match").ok_or("not there")?;
/// let options = Options::default().set("ignore-case", "").set("normalize", "strip");
/// let scorer = entry.scorer(&options)?;
/// let mut record = Record::new("1", Value::string(" Yes"), Value::string("YES"));
/// let compared = scorer.compared(&mut record).ok_or("not a text")?;
/// assert_eq!(compared.prediction, [" Yes", "yes"]);
/// assert_eq!(compared.references, [["YES", "yes"]]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedTexts {
    /// The prediction.
    pub prediction: [String; 2],
    /// The references; there may be several or none.
    pub references: Vec<[String; 2]>,
}

impl ComparedTexts {
    /// The texts of both sides, each with what `apply` makes of it.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn new<T: AsRef<str>>(
        prediction: &str,
        references: &[T],
        apply: impl Fn(&str) -> String,
    ) -> Self {
        let both = |text: &str| [text.to_owned(), apply(text)];
        Self {
            prediction: both(prediction),
            references: references.iter().map(|text| both(text.as_ref())).collect(),
        }
    }

    /// The same texts as they were before they were prepared.
    pub(crate) fn given_as(mut self, given: Self) -> Self {
        let [prediction, _] = given.prediction;
        self.prediction[0] = prediction;
        for (ours, [reference, _]) in self.references.iter_mut().zip(given.references) {
            ours[0] = reference;
        }
        self
    }
}

/// Reads records and names numbers for a metric: the trait that each entry of the registry implements.
///
/// A reading never learns from data. Whatever the examples of a data set share is its
/// [`Header`](Self::Header), which is stored next to the state.
pub trait Reading: Send + Sync + 'static {
    /// The metric.
    type Metric: Metric<State: Clone + Send + Sync + Serialize + DeserializeOwned>;

    /// The properties that all examples of a data set share, such as the length of a row; `()` if there are none.
    type Header: Header;

    /// The metric with its definition.
    fn metric(&self) -> &Self::Metric;

    /// The parts of the signature, by name, without metric and version.
    fn signature(&self) -> Named<String>;

    /// Reads a record into examples. Most records are one example.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not what the metric takes, or if it contradicts the header.
    fn read(&self, record: &mut Record<'_>, sink: &mut Sink<'_, Self>) -> Result<(), FieldError>
    where
        Self: Sized;

    /// Reads a batch of columns into examples, for metrics that are faster on columns than on records.
    ///
    /// Returns `None`, without a change to the sink, if there is no such path for columns of these types. The
    /// records of the batch are then [read](Self::read) one by one, with the further fields that the batch
    /// has. Both ways give the same state and the same errors. The default has no path.
    ///
    /// # Errors
    ///
    /// Returns the first record that cannot be read, with its index in the batch.
    fn read_columns(
        &self,
        _batch: &Batch<'_>,
        _sink: &mut Sink<'_, Self>,
    ) -> Option<Result<(), RecordError>>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the numbers of a state.
    fn numbers(&self, state: &StateOf<Self>, header: &Self::Header, scope: Scope<'_>) -> Numbers;

    /// Returns one score of an example by its name, as [`numbers`](Self::numbers) gives it. The default computes
    /// all numbers. A metric whose others take long computes one alone.
    fn example_score(
        &self,
        state: &StateOf<Self>,
        header: &Self::Header,
        name: &str,
    ) -> Option<f64> {
        let numbers = self.numbers(state, header, Scope::Example);
        let mut scores = numbers.scores.into_iter();
        scores.find(|(score, _)| score == name)?.1
    }

    /// Returns the scores of [`numbers`](Self::numbers) for these predictions and references without their names, if
    /// reading the pairs has no errors, notes or warnings. The default has no such short way.
    fn score_texts(&self, _pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        None
    }

    /// Adds an example to a state, and returns what the scores of the example are computed from, for metrics whose
    /// states also keep what no score of one example needs. The default has no such way: the example is measured,
    /// and its state merged.
    fn measure_in(
        &self,
        _state: &mut StateOf<Self>,
        _pair: PairOf<'_, Self>,
    ) -> Option<StateOf<Self>> {
        None
    }

    /// Returns the name of the score that ranks examples, unless another one is requested; by default the first that
    /// has a direction. Precision, for one, is undefined for an image in which nothing was found.
    fn ranking_score(&self) -> Option<String> {
        None
    }

    /// Returns how close an example with a score that is not perfect is to it, for the nearest misses of a report:
    /// more is closer, and 0 is not close. The default has no such order.
    /// There is no `pair` of prediction and reference where the example was measured elsewhere.
    fn closeness(&self, _state: &StateOf<Self>, _pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        None
    }

    /// Returns the numbers of a replicate. Only the scores and the scores of groups are used. A metric whose other
    /// numbers take long leaves them out.
    fn resampled_numbers(
        &self,
        state: &StateOf<Self>,
        header: &Self::Header,
        scope: Scope<'_>,
    ) -> Numbers {
        self.numbers(state, header, scope)
    }

    /// Returns what scores these states with a weight for each, for metrics whose states keep rows: sorting
    /// them once is faster than merging copies. The numbers are those of the states merged as often as
    /// their weights say, as [`resampled_numbers`](Self::resampled_numbers) gives them. The default has none.
    fn weigher<'s>(
        &'s self,
        _states: &[&'s StateOf<Self>],
        _header: &'s Self::Header,
    ) -> Option<Weigher<'s>> {
        None
    }

    /// Returns the counts and means that all scores of a state are read from, for metrics whose states merge by
    /// adding them. There are always as many, in the same order. Replicates are then sums of columns of numbers,
    /// which is many times faster than merging states. The default has none.
    fn addends<'s>(&self, _state: &'s mut StateOf<Self>) -> Option<Addends<'s>> {
        None
    }

    /// Returns the warnings about a whole data set that depend on what was noted of its records. They are
    /// printed after those of [`numbers`](Self::numbers).
    fn further_warnings(
        &self,
        _state: &StateOf<Self>,
        _header: &Self::Header,
        _remarks: Remarks<'_>,
    ) -> Vec<Message> {
        Vec::new()
    }

    /// Returns the names of the further fields of a record that the metric looks for among the references.
    /// Formats in which a field costs time to read give a record no others.
    fn further_fields(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether an empty prediction is correct for the reference of a record. A missing prediction that counts as empty
    /// is then worth a warning. By default it is not.
    fn is_empty_correct(&self, _record: &mut Record<'_>) -> bool {
        false
    }

    /// Returns what is too large for a report, such as curves.
    fn details(&self, _state: &StateOf<Self>, _header: &Self::Header) -> Option<serde_json::Value> {
        None
    }

    /// Adds to the details what was [tallied](Sink::tally) on the way. The default adds nothing.
    fn add_to_details(&self, _details: &mut serde_json::Value, _remarks: Remarks<'_>) {}

    /// Returns the confusion matrix of a state, if the metric counts confusions and the matrix is small enough to be
    /// printed. The default has none.
    fn confusions(&self, _state: &StateOf<Self>, _header: &Self::Header) -> Option<ConfusionTable> {
        None
    }

    /// Returns the numbers of all examples with the [details](Self::details), for metrics that compute both from
    /// what takes long.
    fn numbers_with_details(
        &self,
        state: &StateOf<Self>,
        header: &Self::Header,
    ) -> (Numbers, Option<serde_json::Value>) {
        let numbers = self.numbers(state, header, Scope::Total);
        (numbers, self.details(state, header))
    }

    /// Renumbers what the state counts by its index in the header, for headers that
    /// [unite with others](Unified::Renumbered): the index `i` becomes `indices[i]`.
    fn renumber(&self, _state: &mut StateOf<Self>, _indices: &[u32]) {}

    /// Returns the number of examples in a record that has no prediction.
    fn examples_in(&self, _record: &mut Record<'_>) -> u64 {
        1
    }

    /// Whether a data set without examples has scores; for most metrics it is an error.
    fn scores_empty_data(&self) -> bool {
        false
    }

    /// Whether the scores that the entry declares as proportions are proportions under these options:
    /// a macro average and a score of partial credit are not.
    fn has_proportions(&self) -> bool {
        true
    }

    /// Returns the reader of the metric's dataset files, if it has such files.
    fn data_sets(&self) -> Option<&dyn ReadDataSet<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the texts of a record as the metric compares them; `None` for metrics of other values, and for
    /// records that cannot be read.
    fn compared(&self, _record: &mut Record<'_>) -> Option<ComparedTexts> {
        None
    }

    /// Returns what draws records, if the metric has pictures.
    fn pictures(&self) -> Option<&dyn Draw> {
        None
    }
}

/// A reading whose metric has files of its own, which hold a whole data set.
pub trait ReadDataSet<R: Reading> {
    /// Returns the objects of the references by id, whose fields tell clusters and slices apart; `None` if
    /// examples have no further fields. Only asked where they are needed.
    ///
    /// # Errors
    ///
    /// Returns an error if the references cannot be read.
    fn fields(
        &self,
        _references: &Document,
    ) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        Ok(None)
    }

    /// Reads a data set into records, each of which begins with [`Sink::record`].
    ///
    /// # Errors
    ///
    /// Returns an error if a document cannot be read, or if the two sides do not join.
    fn read_data_set(&self, data: DataSet, sink: &mut Sink<'_, R>) -> Result<(), DataSetError>;
}

/// A reading that draws records.
pub trait Draw {
    /// Whether records have a picture of this kind.
    fn draws(&self, drawing: Drawing) -> bool;

    /// Draws a record; the picture is empty where the metric does not draw it.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read.
    fn picture(&self, record: &mut Record<'_>, drawing: Drawing) -> Result<String, FieldError>;

    /// Gives `put` the id of each record of a data set, with a function that draws it.
    ///
    /// # Errors
    ///
    /// Returns an error if the data set cannot be read.
    fn draw_data_set(
        &self,
        _data: DataSet,
        _drawing: Drawing,
        _put: &mut dyn FnMut(&str, &dyn Fn() -> String),
    ) -> Result<(), DataSetError> {
        Ok(())
    }
}

/// The properties that all examples of a data set share. The default is that of no examples.
///
/// Headers of parts unite in record order, so the error names the first record that differs. Uniting is associative,
/// and commutative except for the words of the error.
pub trait Header:
    Clone + Default + PartialEq + fmt::Debug + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// Takes over what `other` says of the data set.
    ///
    /// # Errors
    ///
    /// Returns how `other` differs, as words about the record that it comes from; nothing was changed.
    fn unify(&mut self, other: &Self) -> Result<Unified, Message>;
}

/// The way in which two headers became one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unified {
    /// States need no change.
    Kept,
    /// Counts by index have moved: index `i` of a state is now `ours[i]` or `theirs[i]`.
    Renumbered {
        /// The new indices of the header that took over the other.
        ours: Vec<u32>,
        /// The new indices of the other header.
        theirs: Vec<u32>,
    },
}

impl Header for () {
    fn unify(&mut self, (): &Self) -> Result<Unified, Message> {
        Ok(Unified::Kept)
    }
}

/// The counts of confusions: a row per class of the ground truth, and a column per predicted class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfusionTable {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The counts by row.
    pub rows: Vec<Vec<u64>>,
}

/// The examples whose numbers are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All examples.
    Total,
    /// A group of examples: the kind of group and the group.
    Group(&'a str, &'a str),
    /// One example.
    Example,
}

/// The numbers of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Scores by name, in the order in which they are printed; `None` is undefined.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
    /// Groups that are known only from the whole state, by kind; only asked of the total.
    pub groups: Named<Vec<Group>>,
    /// Remarks for the user, in addition to the notes; only requested for the total.
    pub warnings: Vec<Message>,
}

/// The numbers of one group of examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The group.
    pub name: String,
    /// Scores by name.
    pub scores: Named<Option<f64>>,
    /// Counts by name.
    pub counts: Named<serde_json::Value>,
}

/// The words of a warning that begins with a count: what follows "1 ", and what follows any other count.
///
/// ```
/// use metric_registry::Counted;
///
/// let words = Counted::new("prediction is empty", "predictions are empty");
/// assert_eq!(words.warning(1).to_string(), "1 prediction is empty");
/// assert_eq!(words.warning(2).to_string(), "2 predictions are empty");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    one: Message,
    several: Message,
}

impl Counted {
    /// Returns the words for one case, and those for several.
    pub fn new(one: impl Into<Message>, several: impl Into<Message>) -> Self {
        Self {
            one: one.into(),
            several: several.into(),
        }
    }

    /// Returns the warning about this many cases.
    #[must_use]
    pub fn warning(&self, times: u64) -> Message {
        let words = if times == 1 { &self.one } else { &self.several };
        Message::from(format!("{times} ")).message(words)
    }

    /// The warnings about those of several things that happened.
    pub(crate) fn warnings(
        counts: impl IntoIterator<Item = (u64, Self)>,
    ) -> impl Iterator<Item = Message> {
        let happened = counts.into_iter().filter(|(times, _)| *times > 0);
        happened.map(|(times, what)| what.warning(times))
    }
}

/// The note of a missing prediction that counts as empty, where the empty prediction is correct.
pub(crate) fn missing_is_correct() -> Counted {
    Counted::new(
        "missing prediction scores as correct, as its reference is empty",
        "missing predictions score as correct, as their references are empty",
    )
}

/// An event that is worth a warning, with its count and its examples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes(BTreeMap<Message, Noted>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    times: u64,
    /// The words for several cases.
    several: Message,
    /// The first few ids in byte order, where a note names them.
    ids: BTreeSet<String>,
    /// The first few names in byte order with how often each occurs, where a note counts them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, u64>,
}

impl Noted {
    fn add(&mut self, times: u64, ids: impl IntoIterator<Item = String>) {
        self.times += times;
        for id in ids {
            // The least ids are the same in whatever order they come.
            if self.ids.len() < metric_record::NAMED_IDS {
                self.ids.insert(id);
            } else if self.ids.last().is_some_and(|last| id < *last) && self.ids.insert(id) {
                self.ids.pop_last();
            }
        }
    }

    /// Counts a name. One that is dropped here is not among the least ones of any larger set, so the
    /// counts of those that stay are complete.
    fn add_name(&mut self, name: &str, times: u64) {
        if let Some(count) = self.names.get_mut(name) {
            *count += times;
            return;
        }
        self.names.insert(name.to_owned(), times);
        if self.names.len() > metric_record::NAMED_IDS {
            self.names.pop_last();
        }
    }

    /// Returns the note as a warning, such as "3 predictions are ...".
    fn warning(&self, what: &Message) -> Message {
        let mut warning = Counted::new(what.clone(), self.several.clone()).warning(self.times);
        let ids = self.ids.iter().map(|id| quoted_id(id));
        let names = self.names.iter();
        let names = names.map(|(name, times)| format!("{} ({times})", quoted_id(name)));
        let named: Vec<String> = ids.chain(names).collect();
        if !named.is_empty() {
            let counted: u64 = self.names.values().sum();
            let more = self.times > self.ids.len() as u64 + counted;
            let more = if more { ", ..." } else { "" };
            let named = format!(": {}{more}", named.join(", "));
            // Names, such as those of classes, are not ids.
            warning = if self.ids.is_empty() {
                warning.text(named)
            } else {
                warning.data(named)
            };
        }
        warning
    }
}

impl Notes {
    fn entry(&mut self, what: &Message) -> &mut Noted {
        self.0.entry(what.clone()).or_default()
    }

    fn counted(&mut self, what: &Counted) -> &mut Noted {
        let noted = self.entry(&what.one);
        if noted.several.is_empty() {
            noted.several = what.several.clone();
        }
        noted
    }

    /// Counts something that is worth a warning.
    pub(crate) fn count(&mut self, what: &Counted, times: u64) {
        if times > 0 {
            self.counted(what).add(times, None);
        }
    }

    /// Returns the notes as warnings, each of which begins with its count.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Message> {
        self.0.iter().map(|(what, noted)| noted.warning(what))
    }
}

impl Merge for Notes {
    fn merge(&mut self, other: Self) {
        self.merge_times(&other, 1);
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        for (what, noted) in &other.0 {
            let ours = self.entry(what);
            ours.add(noted.times * times, noted.ids.iter().cloned());
            ours.several.clone_from(&noted.several);
            for (name, count) in &noted.names {
                ours.add_name(name, count * times);
            }
        }
    }
}

/// Remarks on the examples of a data set, for warnings that depend on all of them.
#[derive(Clone, Copy, Debug)]
pub struct Remarks<'a> {
    notes: &'a Notes,
    tallies: &'a BTreeMap<String, u64>,
}

impl Remarks<'_> {
    /// Returns how often [`Sink::count`] and its relatives counted something.
    #[must_use]
    pub fn times(&self, what: &Counted) -> u64 {
        self.notes.0.get(&what.one).map_or(0, |noted| noted.times)
    }

    /// Returns how often [`Sink::tally`] counted something.
    #[must_use]
    pub fn tally(&self, name: &str) -> u64 {
        self.tallies.get(name).copied().unwrap_or_default()
    }

    /// Returns the tallies whose names start in this way: the rest of each name, in order, and how often it was counted.
    pub fn tallies(&self, start: &str) -> impl Iterator<Item = (&str, u64)> {
        let from = (Bound::Included(start), Bound::Unbounded);
        let from = self.tallies.range::<str, _>(from);
        from.map_while(move |(name, times)| Some((name.strip_prefix(start)?, *times)))
    }
}

/// All that is gathered of some examples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pool<S> {
    pub(crate) examples: u64,
    pub(crate) missing: u64,
    pub(crate) extra: u64,
    pub(crate) total: S,
    pub(crate) groups: BTreeMap<String, PerClass<String, S>>,
    pub(crate) notes: Notes,
    /// The remarks that warnings about the whole or details depend on, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tallies: BTreeMap<String, u64>,
}

impl<S> Pool<S> {
    /// Remarks on the examples.
    pub(crate) fn remarks(&self) -> Remarks<'_> {
        Remarks {
            notes: &self.notes,
            tallies: &self.tallies,
        }
    }

    fn tally(&mut self, name: &str, times: u64) {
        if times == 0 {
            return;
        }
        match self.tallies.get_mut(name) {
            Some(count) => *count += times,
            None => drop(self.tallies.insert(name.to_owned(), times)),
        }
    }
}

impl<S: Merge + Clone> Merge for Pool<S> {
    fn merge(&mut self, other: Self) {
        self.examples += other.examples;
        self.missing += other.missing;
        self.extra += other.extra;
        self.total.merge(other.total);
        for (kind, groups) in other.groups {
            self.groups.entry(kind).or_default().merge(groups);
        }
        self.notes.merge(other.notes);
        for (name, times) in other.tallies {
            self.tally(&name, times);
        }
    }

    fn merge_times(&mut self, other: &Self, times: u64) {
        if times == 0 {
            return;
        }
        self.examples += other.examples * times;
        self.missing += other.missing * times;
        self.extra += other.extra * times;
        self.total.merge_times(&other.total, times);
        for (kind, groups) in &other.groups {
            let ours = self.groups.entry(kind.clone()).or_default();
            ours.merge_times(groups, times);
        }
        self.notes.merge_times(&other.notes, times);
        for (name, count) in &other.tallies {
            self.tally(name, count * times);
        }
    }
}

/// An example on its own: for the scores of each example.
#[derive(Clone)]
pub(crate) struct Measured<S> {
    /// Index of its record in the batch.
    pub(crate) record: usize,
    pub(crate) id: String,
    /// The part of the record, if the record has several examples.
    pub(crate) part: Option<String>,
    pub(crate) state: S,
}

/// The data read from some records: [`Pool`] and header, with what is needed to unite them with others.
pub(crate) struct Gathered<R: Reading> {
    pub(crate) pool: Pool<StateOf<R>>,
    pub(crate) header: R::Header,
    /// The records that changed the header, each with what it said.
    pub(crate) said: Vec<(usize, Side, R::Header)>,
    /// The examples on their own, if they are requested.
    pub(crate) measured: Option<Vec<Measured<StateOf<R>>>>,
    /// The additional data to gather from each record.
    pub(crate) plan: Arc<Plan>,
    /// The examples that are kept to be resampled, if the plan keeps them.
    pub(crate) kept: Option<Kept>,
    /// The first record of a data set that the plan finds no fields in.
    pub(crate) problem: Option<Message>,
    /// The values of the records of a data set, if they are requested.
    pub(crate) inputs: Option<WantedInputs>,
    /// The worst examples, if they are requested.
    pub(crate) ranking: Option<Ranking<Ranked<StateOf<R>>>>,
    /// The position of a record among all references is this and its index.
    pub(crate) first_position: u64,
}

/// One of the worst examples.
#[derive(Clone)]
pub(crate) struct Ranked<S> {
    pub(crate) example: Measured<S>,
    /// The values of its record, if they are requested.
    pub(crate) inputs: Option<Arc<Inputs>>,
    /// Whether the id and the values of the record are still to come.
    pub(crate) is_unnamed: bool,
}

/// The values of the records of a data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct WantedInputs {
    /// The objects of the references by id.
    pub(crate) fields: BTreeMap<String, String>,
    /// By index of the record.
    pub(crate) by_record: BTreeMap<usize, Arc<Inputs>>,
}

/// The values of a record of a data set, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The reference, in a form of the metric's own.
    pub reference: String,
    /// The prediction.
    pub prediction: String,
    /// The object of the references that has the id of the record, such as a question or an image.
    pub fields: Option<String>,
}

impl<R: Reading> Gathered<R> {
    pub(crate) fn new(header: R::Header, with_samples: bool, plan: Arc<Plan>) -> Self {
        Self {
            pool: Pool::default(),
            header,
            said: Vec::new(),
            measured: with_samples.then(Vec::new),
            kept: plan.keeps_examples.then(Kept::default),
            ranking: plan.new_ranking(),
            plan,
            problem: None,
            inputs: None,
            first_position: 0,
        }
    }

    /// Renumbers all states.
    pub(crate) fn renumber(&mut self, reading: &R, indices: &[u32]) {
        renumber(reading, &mut self.pool, indices);
        for example in self.measured.iter_mut().flatten() {
            reading.renumber(&mut example.state, indices);
        }
        renumber_ranking(reading, self.ranking.as_mut(), indices);
        if let Some(kept) = &mut self.kept {
            renumber_kept(reading, kept, indices);
        }
    }
}

/// Whether these indices leave everything as it is.
fn keeps_all(indices: &[u32]) -> bool {
    (0..).zip(indices).all(|(old, new)| old == *new)
}

/// Renumbers the states of kept examples.
pub(crate) fn renumber_kept<R: Reading>(reading: &R, kept: &mut Kept, indices: &[u32]) {
    if keeps_all(indices) {
        return;
    }
    kept.rewrite(|bytes| {
        // They were written by this program, or checked when they were read.
        let mut state: StateOf<R> = crate::kept::read(bytes).unwrap_or_default();
        reading.renumber(&mut state, indices);
        written(&state).unwrap_or_default()
    });
}

/// Renumbers the states of the worst examples.
pub(crate) fn renumber_ranking<R: Reading>(
    reading: &R,
    ranking: Option<&mut Ranking<Ranked<StateOf<R>>>>,
    indices: &[u32],
) {
    for ranked in ranking.into_iter().flat_map(Ranking::kept_mut) {
        reading.renumber(&mut ranked.example.state, indices);
    }
}

/// Renumbers the states of a pool.
pub(crate) fn renumber<R: Reading>(reading: &R, pool: &mut Pool<StateOf<R>>, indices: &[u32]) {
    if keeps_all(indices) {
        return;
    }
    reading.renumber(&mut pool.total, indices);
    for groups in pool.groups.values_mut() {
        for (_, state) in groups.iter_mut() {
            reading.renumber(state, indices);
        }
    }
}

/// The place to which [`Reading::read`] adds its examples.
pub struct Sink<'a, R: Reading> {
    pub(crate) reading: &'a R,
    pub(crate) gathered: &'a mut Gathered<R>,
    /// Index of the current record.
    pub(crate) index: usize,
    /// The id of the current record, if examples are requested on their own.
    pub(crate) id: String,
    /// Whether a record has begun.
    pub(crate) begun: bool,
    /// Whether only the counts of all examples together are requested.
    plain: bool,
    /// Whether each record needs its id.
    pub(crate) names_all: bool,
    /// Whether the current record has one of the worst examples.
    is_ranked: bool,
    /// Whether something is requested of each record in addition.
    pub(crate) has_plan: bool,
    /// The additional data of the current record.
    pub(crate) described: Described,
    /// The fields of the records of a data set by id, where the plan needs them.
    pub(crate) fields: BTreeMap<String, String>,
}

impl<'a, R: Reading> Sink<'a, R> {
    pub(crate) fn new(reading: &'a R, gathered: &'a mut Gathered<R>) -> Self {
        let plan = &gathered.plan;
        Self {
            reading,
            index: 0,
            id: String::new(),
            begun: false,
            plain: gathered.measured.is_none() && plan.is_empty() && plan.ranking.is_none(),
            names_all: gathered.measured.is_some() || !plan.is_empty(),
            is_ranked: false,
            has_plan: !plan.is_empty(),
            described: Described::default(),
            fields: BTreeMap::new(),
            gathered,
        }
    }

    /// Begins a record. In [`Reading::read`] the record has begun already.
    pub fn record(&mut self, id: impl fmt::Display) {
        if self.begun {
            self.index += 1;
        }
        self.begun = true;
        self.is_ranked = false;
        if self.names_all {
            self.id = id.to_string();
            self.describe();
        }
    }

    /// Describes the record of a data set at hand. Records are described where they are read.
    fn describe(&mut self) {
        let plan = &self.gathered.plan;
        if !self.has_plan || (plan.needs_fields() && self.fields.is_empty()) {
            return;
        }
        let fields = self.fields.get(&self.id).map(String::as_str);
        match plan.describe(&self.id, fields) {
            Ok(described) => self.described = described,
            Err(problem) => {
                let location = Message::from(format!("id {}: ", quoted_id(&self.id)));
                self.gathered
                    .problem
                    .get_or_insert(location.message(&problem));
            }
        }
    }

    /// Begins the record of a batch at an index.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn row(&mut self, batch: &Batch<'_>, index: usize) {
        self.index = index;
        self.begun = true;
        self.is_ranked = false;
        if self.names_all {
            self.id = batch.id(index).map(|id| id.to_string()).unwrap_or_default();
            self.describe();
        }
    }

    /// Reads the record of a batch at an index as [`Reading::read`] does, without further fields. Columns go
    /// this way where a cell is not what they are read for, and so have the same errors.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn read_row(&mut self, batch: &Batch<'_>, index: usize) -> Result<(), RecordError> {
        let reading = self.reading;
        let Some(mut record) = batch.record(index) else {
            return Ok(());
        };
        reading
            .read(&mut record, self)
            .map_err(|error| RecordError { index, error })
    }

    /// Returns the metric.
    #[must_use]
    pub fn metric(&self) -> &'a R::Metric {
        self.reading.metric()
    }

    /// Returns what the examples share, as far as it is known.
    #[must_use]
    pub fn header(&self) -> &R::Header {
        &self.gathered.header
    }

    /// Says what the current record shares with all others.
    ///
    /// # Errors
    ///
    /// Returns an error about this side of the record if it differs from what earlier records said.
    pub fn share(&mut self, side: Side, header: R::Header) -> Result<(), FieldError> {
        if header == self.gathered.header {
            return Ok(());
        }
        let before = self.gathered.header.clone();
        let unified = self.gathered.header.unify(&header);
        let unified = unified.map_err(|problem| FieldError::new(side, problem))?;
        if let Unified::Renumbered { ours, .. } = unified {
            self.gathered.renumber(self.reading, &ours);
        }
        if self.gathered.header != before {
            self.gathered.said.push((self.index, side, header));
        }
        Ok(())
    }

    /// Adds the record as one example.
    pub fn example(
        &mut self,
        prediction: &<R::Metric as Metric>::Prediction,
        reference: &<R::Metric as Metric>::Reference,
    ) {
        self.part(None, &[], prediction, reference);
    }

    /// Adds an example that is a part of the record, or that belongs to groups. A group is given by its
    /// kind and its name.
    pub fn part(
        &mut self,
        part: Option<&str>,
        groups: &[(&str, &str)],
        prediction: &<R::Metric as Metric>::Prediction,
        reference: &<R::Metric as Metric>::Reference,
    ) {
        let metric = self.reading.metric();
        if self.plain && groups.is_empty() {
            let pool = &mut self.gathered.pool;
            pool.examples += 1;
            metric.update(&mut pool.total, prediction, reference);
            return;
        }
        let pair = (prediction, reference);
        if groups.is_empty() && !self.needs_each() {
            let pool = &mut self.gathered.pool;
            if let Some(state) = self.reading.measure_in(&mut pool.total, pair) {
                pool.examples += 1;
                self.rank(part, &state, Some(pair));
                return;
            }
        }
        let state = metric.measure(prediction, reference);
        self.rank(part, &state, Some(pair));
        self.unranked(part, groups, state);
    }

    /// Adds the record as one example, which `add` adds to a state: to that of all examples, if no others are
    /// requested.
    pub fn counted_in(&mut self, add: impl FnOnce(&mut StateOf<R>)) {
        if self.plain {
            let pool = &mut self.gathered.pool;
            pool.examples += 1;
            add(&mut pool.total);
            return;
        }
        let mut state = StateOf::<R>::default();
        add(&mut state);
        self.measured(None, &[], state);
    }

    /// Adds the state of an example that was measured already.
    pub fn measured(&mut self, part: Option<&str>, groups: &[(&str, &str)], state: StateOf<R>) {
        self.rank(part, &state, None);
        self.unranked(part, groups, state);
    }

    /// Adds the state of an example that was ranked already.
    fn unranked(&mut self, part: Option<&str>, groups: &[(&str, &str)], state: StateOf<R>) {
        if self.gathered.measured.is_some() {
            self.keep(part.map(str::to_owned), state.clone());
        }
        if self.gathered.kept.is_some() {
            self.keep_for_resampling(1, groups, &state);
        }
        self.pooled(1, groups, state);
    }

    /// Keeps what examples add to the counts; of 0 examples, one that is also in a row of several.
    fn keep_for_resampling(&mut self, examples: u32, groups: &[(&str, &str)], state: &StateOf<R>) {
        let groups = self.described.groups_with(groups);
        let Some(kept) = &mut self.gathered.kept else {
            return;
        };
        match written(state) {
            Ok(bytes) => kept.push(&self.described, &groups, examples, bytes),
            Err(error) => {
                let problem = Message::from(error.to_string());
                self.gathered.problem.get_or_insert(problem);
            }
        }
    }

    /// Adds the state of several examples that belong to the same groups. Only for where the examples
    /// are not [wanted on their own](Self::wants_samples).
    pub fn pooled(&mut self, examples: u64, groups: &[(&str, &str)], state: StateOf<R>) {
        let groups = self.described.groups_with(groups);
        let pool = &mut self.gathered.pool;
        pool.examples += examples;
        for &(kind, group) in &*groups {
            // A kind and a group are nearly always known.
            let groups = match pool.groups.get_mut(kind) {
                Some(groups) => groups,
                None => pool.groups.entry(kind.to_owned()).or_default(),
            };
            groups.entry(group.to_owned()).merge_times(&state, 1);
        }
        pool.total.merge(state);
    }

    /// Adds the state of several examples that were measured together. Their own states, with the name of each, are
    /// only used where they are requested on their own.
    pub fn joint(
        &mut self,
        groups: &[(&str, &str)],
        state: StateOf<R>,
        examples: usize,
        parts: impl Iterator<Item = (String, StateOf<R>)>,
    ) {
        if self.gathered.kept.is_some() {
            self.keep_for_resampling(JOINT | examples as u32, groups, &state);
        }
        if !self.plain {
            for (part, state) in parts {
                if self.gathered.kept.is_some() {
                    self.keep_for_resampling(0, groups, &state);
                }
                self.rank(Some(&part), &state, None);
                self.keep(Some(part), state);
            }
        }
        self.pooled(examples as u64, groups, state);
    }

    /// Adds what was gathered elsewhere, without examples on their own.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add(&mut self, pool: Pool<StateOf<R>>) {
        self.gathered.pool.merge(pool);
    }

    /// Ranks an example of the current record, if the worst ones are requested.
    fn rank(&mut self, part: Option<&str>, state: &StateOf<R>, pair: Option<PairOf<'_, R>>) {
        let Gathered {
            ranking: Some(ranking),
            plan,
            header,
            first_position,
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        let position = first_position.wrapping_add(self.index as u64);
        let (record, id, names_all) = (self.index, &self.id, self.names_all);
        let Some(planned) = plan.ranking else {
            return;
        };
        self.is_ranked |= rank_example(
            ranking,
            planned,
            self.reading,
            header,
            position,
            state,
            pair,
            || Ranked {
                example: Measured {
                    record,
                    id: if names_all { id.clone() } else { String::new() },
                    part: part.map(str::to_owned),
                    state: state.clone(),
                },
                inputs: None,
                is_unnamed: true,
            },
        );
    }

    /// Adds what was ranked elsewhere.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn add_ranking(&mut self, mut ranking: Ranking<Ranked<StateOf<R>>>) {
        let Gathered {
            inputs,
            ranking: Some(ours),
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        for Ranked {
            example,
            inputs: of,
            ..
        } in ranking.kept_mut()
        {
            if let (Some(wanted), Some(of)) = (&mut *inputs, of.as_mut().and_then(Arc::get_mut)) {
                of.fields = wanted.fields.remove(&example.id);
            }
        }
        ours.merge(ranking);
    }

    /// Whether the examples must be given one by one, each with its id.
    #[allow(dead_code, reason = "used by whichever domains are switched on")]
    pub(crate) fn needs_each(&self) -> bool {
        self.gathered.measured.is_some() || self.has_plan
    }

    fn keep(&mut self, part: Option<String>, state: StateOf<R>) {
        let (record, id) = (self.index, self.id.clone());
        if let Some(measured) = &mut self.gathered.measured {
            measured.push(Measured {
                record,
                id,
                part,
                state,
            });
        }
    }

    /// Returns whether the examples are requested on their own.
    #[must_use]
    pub fn wants_samples(&self) -> bool {
        !self.plain
    }

    /// Returns whether the values of the record of a data set at hand are requested, whose examples have been added.
    #[must_use]
    pub fn wants_inputs(&self) -> bool {
        self.gathered.inputs.is_some() && (self.gathered.measured.is_some() || self.is_ranked)
    }

    /// Takes the values of the record of a data set at hand, as JSON, if they are [wanted](Self::wants_inputs).
    pub fn inputs(&mut self, reference: String, prediction: String) {
        let (index, id) = (self.index, &self.id);
        let Gathered {
            inputs: Some(wanted),
            ranking,
            measured,
            ..
        } = &mut *self.gathered
        else {
            return;
        };
        let inputs = Arc::new(Inputs {
            reference,
            prediction,
            fields: wanted.fields.remove(id),
        });
        if self.is_ranked {
            let worst = ranking.iter_mut().flat_map(Ranking::kept_mut);
            for ranked in worst.filter(|ranked| ranked.example.record == index) {
                ranked.inputs = Some(Arc::clone(&inputs));
            }
        }
        if measured.is_some() {
            wanted.by_record.insert(index, inputs);
        }
    }

    /// Counts examples that have no prediction.
    pub fn missing(&mut self, examples: u64) {
        self.gathered.pool.missing += examples;
    }

    /// Counts predictions that have no reference and are left out.
    pub fn extra(&mut self, predictions: u64) {
        self.gathered.pool.extra += predictions;
    }

    /// Counts something that is worth a warning.
    pub fn count(&mut self, what: &Counted, times: u64) {
        self.gathered.pool.notes.count(what, times);
    }

    /// Counts the current record as worth a warning, which names the first few ids.
    pub fn count_record(&mut self, what: &Counted, id: impl fmt::Display) {
        self.counted(what).add(1, [id.to_string()]);
    }

    /// Counts something that is worth a warning by name, such as by class. The warning has the first few
    /// names, each with its count.
    pub fn count_name(&mut self, what: &Counted, name: &str, times: u64) {
        if times > 0 {
            let noted = self.counted(what);
            noted.add(times, None);
            noted.add_name(name, times);
        }
    }

    /// Counts something that no warning says by itself, but that [`further_warnings`](Reading::further_warnings) or
    /// [details](Reading::add_to_details) depend on.
    pub fn tally(&mut self, name: &str, times: u64) {
        self.gathered.pool.tally(name, times);
    }

    fn counted(&mut self, what: &Counted) -> &mut Noted {
        self.gathered.pool.notes.counted(what)
    }
}

/// Adds an example to a ranking. Returns whether it is kept.
#[allow(
    clippy::too_many_arguments,
    reason = "threads that read a data set have no sink yet"
)]
pub(crate) fn rank_example<R: Reading>(
    ranking: &mut Ranking<Ranked<StateOf<R>>>,
    planned: PlannedRanking,
    reading: &R,
    header: &R::Header,
    position: u64,
    state: &StateOf<R>,
    pair: Option<PairOf<'_, R>>,
    example: impl Fn() -> Ranked<StateOf<R>>,
) -> bool {
    if ranking.score().is_none() {
        let name = reading.ranking_score();
        ranking.choose_of(planned.scores, name.as_deref());
    }
    if ranking.score().is_none() {
        let numbers = reading.numbers(state, header, Scope::Example);
        let names = numbers.scores.iter().map(|(name, _)| name.as_str());
        ranking.choose_of(planned.scores, names);
    }
    let name = ranking.score().map(|(name, _)| name);
    let value = name.and_then(|name| reading.example_score(state, header, name));
    ranking.add(value, position, || reading.closeness(state, pair), example)
}
