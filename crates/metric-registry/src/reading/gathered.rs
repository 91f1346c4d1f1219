//! All that is gathered of some records.

use std::collections::BTreeMap;
use std::sync::Arc;

use metric_record::{Message, Side};

use super::pool::Pool;
use super::{Reading, StateOf};
use crate::data_set::Inputs;
use crate::kept::{Kept, written};
use crate::plan::Plan;
use crate::ranking::Ranking;

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

/// Whether these indices leave everything as it is.
fn keeps_all(indices: &[u32]) -> bool {
    (0..).zip(indices).all(|(old, new)| old == *new)
}

/// Renumbers the states of kept examples.
pub(crate) fn renumber_kept<R: Reading>(reading: &R, kept: &mut Kept, indices: &[u32]) {
    if keeps_all(indices) {
        return;
    }
    kept.rewrite(&|bytes| {
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
    if let Some(ranking) = ranking {
        ranking.change_kept(|ranked| reading.renumber(&mut ranked.example.state, indices));
    }
}

/// Renumbers the states of a pool.
pub(crate) fn renumber<R: Reading>(reading: &R, pool: &mut Pool<StateOf<R>>, indices: &[u32]) {
    if keeps_all(indices) {
        return;
    }
    reading.renumber(&mut pool.total, indices);
    for state in pool.groups.states_mut() {
        reading.renumber(state, indices);
    }
}
