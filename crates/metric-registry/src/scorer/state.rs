//! The data of some examples, whatever the metric.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use metric_record::Record;

use super::Scorer;
use crate::data_set::Inputs;
use crate::error::{AddError, MOST_WRITTEN_BYTES, StateError};
use crate::kept::Kept;
use crate::numbers::{ConfusionTable, Named, Report};
use crate::plan::Plan;
use crate::ranking::Ranking;
use crate::reading::Counted;
use crate::resample::{Paired, Resampler};

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
    /// The values of its record, if it is one of a [data set](crate::DataSet::inputs) and they are requested.
    pub inputs: Option<Arc<Inputs>>,
}

/// The data read from a data set, or from a part of it.
///
/// States merge by the law of [`Merge`](metric_core::Merge): any partition of the examples, merged in any order,
/// gives the same report and the same [body](Self::body).
pub struct State(pub(super) Box<dyn ErasedState>);

/// The data read from some records, not yet added to a [`State`].
pub struct Part(pub(super) Box<dyn ErasedPart>);

pub(super) trait ErasedState: Any + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn ErasedState>;
    fn signature(&self) -> &str;
    fn add(&mut self, part: &mut dyn ErasedPart) -> Result<(), AddError>;
    fn agree(&mut self, parts: &mut [&mut Part]) -> Result<(), AddError>;
    fn extra(&mut self, predictions: u64);
    fn count(&mut self, what: &Counted, times: u64);
    fn examples(&self) -> u64;
    fn slice_counts(&self, kind: &str, name: &str) -> [u64; 2];
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

pub(super) trait ErasedPart: Any + Send + Sync {
    fn samples(&self, state: &dyn ErasedState) -> Vec<Sample>;
    fn start_at(&mut self, position: u64, index: usize);
    fn name_ranked(&mut self, named: &mut dyn FnMut(usize) -> Option<(String, Option<Inputs>)>);
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

    /// Returns the number of examples of a slice, and the number of these that have no prediction, if the plan
    /// [counts](Plan::counts_slices) them.
    #[must_use]
    pub fn slice_counts(&self, slice: &str, value: &str) -> [u64; 2] {
        self.0.slice_counts(slice, value)
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
