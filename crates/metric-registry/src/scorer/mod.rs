//! A metric with its options, whatever the metric: it reads records into states, and scores those.

mod adapter;
mod held;
mod state;

use metric_record::{Batch, Record};

pub use adapter::scorer;
#[allow(unused_imports, reason = "used by whichever domains are switched on")]
pub(crate) use adapter::scorer_after;
pub use state::{Part, Sample, State};

use crate::compared_texts::ComparedTexts;
use crate::data_set::DataSet;
use crate::drawing::Draw;
use crate::error::{DataSetError, StateError};

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

    /// Reads the records of a further batch into a part that this scorer read, if the metric has a path for columns of
    /// these types. Returns whether it has; if not, nothing was read. `first` is the index of the first record, and an
    /// error ends the reading, as in [`read_more`](Self::read_more).
    ///
    /// ```
    /// # #[cfg(feature = "text")] {
    /// use metric_registry::record::{Batch, Column, Ids, Texts};
    /// use metric_registry::{Options, find};
    ///
    /// let lines = |lines| Column::Lines(Texts::from(lines));
    /// let batch = Batch::new(Ids::Positions(1), lines(&["a", "b"][..]), lines(&["a", "c"]), vec![])?;
    /// let scorer = find("string-accuracy").ok_or("not there")?.scorer(&Options::default())?;
    /// let mut state = scorer.start();
    /// let mut part = scorer.read(&state, &mut [], false);
    /// assert!(scorer.read_more_columns(&mut part, 0, &batch));
    /// state.add(&mut part)?;
    /// assert_eq!(state.report().score("string_accuracy"), Some(0.5));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn read_more_columns(&self, part: &mut Part, first: usize, batch: &Batch<'_>) -> bool;

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
