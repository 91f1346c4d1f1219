//! The trait that each entry of the registry implements: it reads records into a sink, and names numbers.

mod any;
mod gathered;
mod notes;
mod pool;
mod sink;

use std::fmt;

use metric_core::{Metric, Written};
use metric_record::{Batch, FieldError, Message, ReadError, Record, RecordError};

pub(crate) use any::{AnyHeader, AnyReading, AnyState, View, written};
#[allow(unused_imports, reason = "used by whichever domains are switched on")]
pub(crate) use gathered::rank_example;
pub(crate) use gathered::{Gathered, Measured, Ranked, WantedInputs, renumber};
pub(crate) use notes::missing_is_correct;
pub use notes::{Counted, Remarks};
pub(crate) use pool::Pool;
pub use sink::Sink;

use crate::data_set::DataSet;
use crate::error::DataSetError;
use crate::numbers::{Named, Numbers, Scope};
use crate::show::Show;

/// The state of a reading's metric.
pub type StateOf<R> = <<R as Reading>::Metric as Metric>::State;

/// The prediction and the reference of an example.
pub type PairOf<'p, R> = (
    &'p <<R as Reading>::Metric as Metric>::Prediction,
    &'p <<R as Reading>::Metric as Metric>::Reference,
);

/// Scores states by their weights: see [`Reading::weigher`].
pub type Weigher<'s> = Box<dyn Fn(&[u64], Scope<'_>) -> Numbers + Send + Sync + 's>;

/// How close an example is to being perfect: see [`Reading::closeness`].
pub(crate) type Closeness<'c> = &'c dyn Fn(&dyn AnyState) -> Option<f64>;

/// What is true of a metric under its options, whatever the data are.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The parts of the signature, by name, without metric and version.
    pub signature: Named<String>,
    /// The names of the further fields of a record that the metric looks for among the references. Formats in which a
    /// field costs time to read give a record no others.
    pub further_fields: Vec<String>,
    /// The field whose values tell which records are the samples of one example, if records are samples. The values of these
    /// records are then a list, and the id of the example is the value of the field.
    pub group_field: Option<String>,
    /// The objects of dataset files whose fields tell clusters and slices apart; none if their examples have no
    /// further fields.
    pub objects: &'static [ObjectsAt],
    /// The name of the score that ranks examples, unless another one is requested; `None` for the first that has a
    /// direction. Precision, for one, is undefined for an image in which nothing was found.
    pub ranking_score: Option<String>,
    /// Scores that a single example has under a name of their own, because they are not what a corpus of one example has:
    /// the score, and its name for an example.
    pub example_scores: &'static [(&'static str, &'static str)],
    /// Whether the scores that the entry declares as proportions are proportions: a macro average and a score of
    /// partial credit are not.
    pub has_proportions: bool,
    /// Whether a data set without examples has scores; for most metrics it is an error.
    pub scores_empty_data: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            signature: Vec::new(),
            further_fields: Vec::new(),
            group_field: None,
            objects: &[],
            ranking_score: None,
            example_scores: &[],
            has_proportions: true,
            scores_empty_data: false,
        }
    }
}

impl Facts {
    /// Returns the name of the score that a single example has for a score.
    pub(crate) fn example_score<'s>(&self, score: &'s str) -> &'s str {
        let mut named = self.example_scores.iter();
        named
            .find(|(of_all, _)| *of_all == score)
            .map_or(score, |(_, of_example)| of_example)
    }

    /// Returns the facts of a metric of which nothing is special but its signature.
    ///
    /// ```
    /// use metric_registry::Facts;
    ///
    /// let facts = Facts::signed([("k", 5)]);
    /// assert_eq!(facts.signature, [("k".to_owned(), "5".to_owned())]);
    /// ```
    pub fn signed<N: Into<String>, V: ToString>(parts: impl IntoIterator<Item = (N, V)>) -> Self {
        let parts = parts.into_iter();
        Self {
            signature: parts
                .map(|(name, value)| (name.into(), value.to_string()))
                .collect(),
            ..Self::default()
        }
    }
}

/// The objects in nested lists of a dataset file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectsAt {
    /// The option that names the file; empty for the references. Objects of another file add the
    /// [question](crate::Inputs::QUESTION) to those of the references.
    pub file: &'static str,
    /// The keys that lead from an object to its list, the last of which holds the objects.
    pub keys: &'static [&'static str],
    /// The field with the id of an object.
    pub id: &'static str,
}

impl ObjectsAt {
    /// The images of COCO's files.
    pub const IMAGES: &'static [Self] = &[Self {
        file: "",
        keys: &["images"],
        id: "id",
    }];
}

/// What is requested of a state in addition to its scores and counts.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Whose numbers they are.
    pub scope: Scope<'a>,
    /// The notes on all records, if warnings and details of the whole data set are requested.
    pub remarks: Option<Remarks<'a>>,
    /// Whether [details](Numbers::details) are requested.
    pub details: bool,
    /// The only score that is requested, if not all are; a metric whose other ones take long leaves these out.
    pub score: Option<&'a str>,
}

impl<'a> From<Scope<'a>> for Asked<'a> {
    fn from(scope: Scope<'a>) -> Self {
        Self {
            scope,
            remarks: None,
            details: false,
            score: None,
        }
    }
}

/// What a record is whose prediction is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The number of its examples.
    pub examples: u64,
    /// Whether an empty prediction is correct. A missing prediction that counts as empty is then worth a warning.
    pub is_correct: bool,
}

impl From<bool> for Unanswered {
    /// One example.
    fn from(is_correct: bool) -> Self {
        Self {
            examples: 1,
            is_correct,
        }
    }
}

/// Reads records and names numbers for a metric: the trait that each shape of input implements once for the metrics on
/// it.
///
/// A reading never learns from data. Whatever the examples of a data set share is its
/// [`Header`](Self::Header), which is stored next to the state.
pub trait Reading: Send + Sync + 'static {
    /// The metric.
    type Metric: Metric<State: Clone + Send + Sync + Written + 'static> + ?Sized;

    /// The properties that all examples of a data set share, such as the length of a row; `()` if there are none.
    type Header: Header;

    /// The metric with its definition.
    fn metric(&self) -> &Self::Metric;

    /// Returns the signature, and what else is true of the metric under its options.
    fn facts(&self) -> Facts;

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

    /// Reads a data set that is given as files of the metric's own format into records, each of which begins with
    /// [`Sink::record`]. The default has no such format.
    ///
    /// # Errors
    ///
    /// Returns an error if a document cannot be read, or if the two sides do not join.
    fn read_data_set(&self, data: DataSet, _sink: &mut Sink<'_, Self>) -> Result<(), DataSetError>
    where
        Self: Sized,
    {
        Err(takes_records(data))
    }

    /// Returns the numbers of a state, with what else is requested.
    fn numbers(&self, state: &StateOf<Self>, header: &Self::Header, asked: Asked<'_>) -> Numbers;

    /// Returns what is missing for numbers of all examples of a data set, in words; only the whole of it can tell, such
    /// as which classes there are. The default finds nothing missing.
    fn problem(&self, _state: &StateOf<Self>, _header: &Self::Header) -> Option<Message> {
        None
    }

    /// Returns the scores of [`numbers`](Self::numbers) for these predictions and references without their names, if
    /// reading the pairs has no errors, notes or warnings. The default has no such short way.
    fn score_texts(&self, _pairs: &[(&str, &str)]) -> Option<Vec<Option<f64>>> {
        None
    }

    /// Adds an example to a state, and returns its score of this name, for metrics that know the score of an example
    /// without a state of it. `None` changes nothing: the example is then measured, and its state merged, as for
    /// metrics without such a way, which is the default. Metrics that have a [closeness](Self::closeness) have none.
    fn update_scored(
        &self,
        _state: &mut StateOf<Self>,
        _pair: PairOf<'_, Self>,
        _name: &str,
    ) -> Option<Option<f64>> {
        None
    }

    /// Returns how close an example with a score that is not perfect is to it, for the nearest misses of a report:
    /// more is closer, and 0 is not close. The default has no such order.
    /// There is no `pair` of prediction and reference where the example was measured elsewhere.
    fn closeness(&self, _state: &StateOf<Self>, _pair: Option<PairOf<'_, Self>>) -> Option<f64> {
        None
    }

    /// Returns what scores these states with a weight for each, for metrics whose states keep rows: sorting
    /// them once is faster than merging copies. The numbers are those of the states merged as often as
    /// their weights say. The default has none.
    fn weigher<'s>(
        &'s self,
        _states: &[&'s StateOf<Self>],
        _header: &'s Self::Header,
    ) -> Option<Weigher<'s>> {
        None
    }

    /// Returns what a record is whose prediction is missing: by default one example, of which an empty prediction is
    /// not correct.
    fn unanswered(&self, _record: &mut Record<'_>) -> Unanswered {
        false.into()
    }

    /// Renumbers what the state counts by its index in the header, for headers that
    /// [unite with others](Unified::Renumbered): the index `i` becomes `indices[i]`.
    fn renumber(&self, _state: &mut StateOf<Self>, _indices: &[u32]) {}

    /// Returns what shows records: by default nothing.
    fn show(&self) -> &dyn Show {
        &()
    }
}

/// The error of a metric without dataset files.
pub(crate) fn takes_records(data: DataSet) -> DataSetError {
    let problem = "this metric reads records, not whole files";
    ReadError::new(data.references.name, problem).into()
}

/// The properties that all examples of a data set share. The default is that of no examples.
///
/// Headers of parts unite in record order, so the error names the first record that differs. Uniting is associative,
/// and commutative except for the words of the error.
pub trait Header:
    Clone + Default + PartialEq + fmt::Debug + Send + Sync + Written + 'static
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
